"""What digits give away of a weighted release: `python -m adversary weights`.

Two attacks, each on the release as it was once possible and on the one that can be written now:

- Weights are released unchanged, and weighted means of ages with all digits. The intruder looks in every group for
  whole numbers near the mean that give it to the last digit. Where there is one way only, ages are known.
- Weights are released by group with all digits. The intruder knows the weight of every cell of the design, and looks
  for the cells whose mean it is. Where all that are found have the same regions, the regions of the members are known.

Nothing of the original is used but to see whether the intruder is right.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import microagg as ma

Values = NDArray[np.float64]

K = 5
NEAR = 15  # years from the mean within which ages are sought
MOST = 2_000_000  # sums that are laid out at a time
LOOKED_AT = 400  # ways to reach a weight that are compared, of many
LARGEST = 6  # members of a group whose cells are sought: more ways than memory has room for
EXACT = 1e-9  # how far sums may be from what all digits give


@dataclass(frozen=True)
class Survey:
    """A survey, and what is masked of it."""

    name: str
    frame: pd.DataFrame
    numbers: list[str]  # by which groups are formed
    region: str  # masked too where regions are sought
    weight: str


@dataclass(frozen=True)
class Found:
    """What an intruder claims to know, of how many, and how much of that is right."""

    of: int
    known: int
    right: int

    def __str__(self) -> str:
        share = 100.0 * self.known / self.of if self.of else 0.0
        return f"{self.known:6d} of {self.of:6d} = {share:5.1f} %, right {self.right:6d}"


def eusilc() -> Survey:
    """Return the survey of incomes that the documents speak of: a weight goes with one region."""
    frame = pd.read_csv(Path(os.environ.get("MICROAGG_DATA", ".")) / "eusilc.csv")
    return Survey("EU-SILC", frame, ["age", "eqIncome"], "db040", "rb050")


def synthetic(n: int, seed: int = 0) -> Survey:
    """Make a survey whose weights are persons over persons asked, for each region and size of household."""
    rng = np.random.default_rng(seed)
    region, size = rng.integers(0, 8, n), rng.integers(1, 6, n)
    cell = region * 5 + size - 1
    weights = rng.integers(20_000, 90_000, 40)[cell] / np.bincount(cell, minlength=40)[cell]
    frame = pd.DataFrame(
        {
            "age": rng.integers(16, 95, n),
            "income": rng.lognormal(10, 0.6, n).round(2),
            "region": pd.Series(region).map("r{}".format),
            "w": weights,
        }
    )
    return Survey("synthetic", frame, ["age", "income"], "region", "w")


def decoded(means: Values, labels: NDArray[np.int64], weights: Values, ages: NDArray[np.int64], step: float) -> Found:
    """Look for the ages of every group, by its mean and the weights of its members; `step` is that of the mean."""
    known = right = 0
    for rows in _groups(labels):
        own, counts = np.unique(weights[rows], return_counts=True)
        if counts.min() > 1:
            continue  # of members with the same weight only the sum of ages follows
        mean, total = float(means[rows[0]]), float(weights[rows].sum())
        sums = _only_way(own, counts, mean, total * mean, EXACT if step == 0 else total * step / 2)
        if sums is None:
            continue
        for weight, count, found in zip(own, counts, sums, strict=True):
            if count == 1:
                known += 1
                right += int(found == ages[rows[weights[rows] == weight][0]])
    return Found(len(labels), known, right)


def _groups(labels: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)


def _only_way(weights: Values, counts: NDArray[Any], mean: float, wanted: float, tolerance: float) -> list[int] | None:
    """Return the sums of ages, one for each weight, that give a weighted total, if there is only one way."""
    low, high = max(0, int(mean) - NEAR), int(mean) + 1 + NEAR
    ranges = [np.arange(low * count, high * count + 1) for count in counts]
    middle = max(1, len(ranges) // 2)
    if any(np.prod([own.size for own in half]) > MOST for half in (ranges[:middle], ranges[middle:])):
        return None
    left, right = (_sums(weights[half], ranges[half]) for half in (slice(middle), slice(middle, None)))
    order = np.argsort(right)
    first = np.searchsorted(right[order], wanted - left - tolerance)
    last = np.searchsorted(right[order], wanted - left + tolerance, "right")
    if (last - first).sum() != 1:
        return None
    at = int(np.flatnonzero(last > first)[0])
    places = [*_places(at, ranges[:middle]), *_places(int(order[first[at]]), ranges[middle:])]
    return [int(own[place]) for own, place in zip(ranges, places, strict=True)]


def _sums(weights: Values, ranges: Sequence[NDArray[Any]]) -> Values:
    found = np.zeros(1)
    for weight, own in zip(weights, ranges, strict=True):
        found = (found[:, None] + weight * own[None, :]).ravel()
    return found


def _places(number: int, ranges: Sequence[NDArray[Any]]) -> list[int]:
    return [int(one) for one in np.unravel_index(number, [own.size for own in ranges])] if ranges else []


class Design:
    """The weights of all cells, and in which region each is."""

    def __init__(self, weights: Values, regions: NDArray[Any]) -> None:
        self.weights, first = np.unique(weights, return_index=True)
        self.regions = regions[first]

    @cache  # noqa: B019 - one design lives as long as the attack
    def of(self, members: int) -> tuple[Values, NDArray[np.int64]]:
        """Return the sums of so many weights, ascending, and whose they are."""
        cells = np.array(list(combinations_with_replacement(range(self.weights.size), members)), dtype=np.int64)
        sums = self.weights[cells].sum(axis=1) if members else np.zeros(1)
        order = np.argsort(sums, kind="stable")
        return sums[order], cells[order]

    def told(self, mean: float, members: int, tolerance: float) -> frozenset[Any] | None:
        """Return the regions of all members, if every way to reach their mean weight has the same."""
        few, many = self.of(members // 2), self.of(members - members // 2)
        rest = members * mean - few[0]
        first = np.searchsorted(many[0], rest - members * tolerance)
        counts = np.searchsorted(many[0], rest + members * tolerance, "right") - first
        ends = np.cumsum(counts)
        if not ends[-1]:
            return None
        found = set()
        for place in np.unique(np.linspace(0, ends[-1] - 1, LOOKED_AT).astype(np.int64)):
            at = int(np.searchsorted(ends, place, "right"))
            other = int(first[at] + place - (ends[at] - counts[at]))
            cells = np.concatenate([few[1][at], many[1][other]])
            found.add(frozenset(self.regions[cells].tolist()))
        return found.pop() if len(found) == 1 else None


def regions_told(survey: Survey, design: Design, labels: NDArray[np.int64], released: Values, step: float) -> Found:
    """Look for the regions of mixed groups, by their released weights, in multiples of a step; 0: all digits."""
    regions = survey.frame[survey.region].to_numpy()
    mixed = known = right = 0
    for rows in _groups(labels):
        own = frozenset(regions[rows].tolist())
        if len(own) == 1 or rows.size > LARGEST:
            continue
        mixed += 1
        found = design.told(float(released[rows[0]]), rows.size, EXACT if step == 0 else step / 2)
        known += found is not None
        right += found == own
    return Found(mixed, known, right)


def attack(survey: Survey) -> list[tuple[str, Found]]:
    """Do both attacks, before and after."""
    frame, weight = survey.frame, survey.weight
    weights, lines = frame[weight].to_numpy(np.float64), []
    roles = {"weight": weight, "rest": "drop", "weight_cap": True}
    for what, rounding, step in (("ages, means with all digits", "none", 0.0), ("ages, as written now", "auto", 1.0)):
        release = ma.protect(frame, K, quasi=survey.numbers, rounding=rounding, **roles)
        means = release.data["age"].to_numpy(np.float64)
        lines.append((what, decoded(means, release.groups, weights, frame["age"].to_numpy(), step)))
    roles |= {"quasi": [*survey.numbers, survey.region], "select": survey.numbers, "weight_release": "group"}
    release = ma.protect(frame, K, **roles)
    design = Design(weights, frame[survey.region].to_numpy())
    exact = frame[weight].groupby(release.groups).transform("mean").to_numpy()
    now, step = release.data[weight].to_numpy(np.float64), release.weights.steps[weight]
    for what, released, own in (("all digits", exact, 0.0), ("as written now", now, step)):
        found = regions_told(survey, design, release.groups, released, own)
        lines.append((f"regions of mixed groups, weights {'with ' if own == 0 else ''}{what}", found))
    return lines


def main(arguments: list[str]) -> int:
    """Do the attacks and print what they find."""
    parser = argparse.ArgumentParser(prog="python -m adversary weights", description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=8000, help="of the synthetic survey")
    parser.add_argument("--only-synthetic", action="store_true", help="leave out EU-SILC")
    given = parser.parse_args(arguments)
    surveys = [synthetic(given.records)]
    if not given.only_synthetic:
        surveys.insert(0, eusilc())
    for survey in surveys:
        print(f"{survey.name}: {len(survey.frame)} persons, k = {K}")
        for what, found in attack(survey):
            print(f"  {what:50s} {found}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
