"""Values that all rows of a unit have in common, computed from the means of one release.

The intruder knows some masked columns of everybody, in every row, and which rows are a person's; not the column that
they want. They give each group the nearest rows by what they know, until its released means are theirs. Each such group
is an equation: its mean is that of the persons whose rows are in it. A value that stays the same for a person is one
unknown in many equations.
"""

import argparse
import os
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import lsqr

import microagg as ma
from microagg.algorithms.equivalence import codes_of, first_of_each
from microagg.columns.frames import category_codes
from microagg.study.joint import nearest

Values = NDArray[np.float64]

_NEAR = 0.01  # of the value itself: what counts as found


class Attack(NamedTuple):
    """Shares, in percent.

    Of persons, whose value the equations give, and what one guesses without solving them; of groups, whose members the
    intruder knows: those that they link to it have its released means in all columns that they know.
    """

    found: float
    guessed: float
    sure: float


def attack(original: Any, released: Any, unit: str, known: list[str], wanted: str) -> Attack:
    """Compute a column that is constant in units, by what the intruder knows of everybody."""
    before, after = (nw.from_native(one, eager_only=True).select(known) for one in (original, released))
    matched = nearest(before, after, known, True, None)
    assert matched is not None
    rows = first_of_each(codes_of(category_codes(after, known)))  # of the release: one of each group
    values = np.asarray(released[wanted], dtype=np.float64)[rows]
    persons = np.unique(np.asarray(original[unit]), return_inverse=True)[1].ravel()
    n_persons = int(persons.max()) + 1
    sure = matched.agree[matched.groups]
    holds = sparse.csr_matrix(
        (np.ones(np.count_nonzero(sure)), (matched.groups[sure], persons[sure])), shape=(values.size, n_persons)
    )
    middle = float(values.mean())
    sums = np.asarray(holds.sum(axis=1)).ravel() * (values - middle)
    solution = lsqr(holds, sums, atol=1e-12, btol=1e-12, iter_lim=20 * n_persons)[0] + middle
    mean = np.bincount(persons, weights=values[matched.groups]) / np.bincount(persons)
    truth = np.zeros(n_persons)
    truth[persons] = np.asarray(original[wanted], dtype=np.float64)

    def share(guess: Values) -> float:
        return 100.0 * float((np.abs(guess - truth) <= _NEAR * np.abs(truth)).mean())

    return Attack(share(solution), share(mean), 100.0 * float(matched.agree.mean()))


def panel(persons: int, seed: int) -> tuple[Any, str, list[str], str]:
    """A synthetic panel: what the parents earned is wanted."""
    known = ["birth", "height", "hours", "wage", "rent"]
    return ma.datasets.panel(persons, seed=seed, frame="pandas"), "person", known, "parents"


def psid(folder: str) -> tuple[Any, str, list[str], str]:
    """A real panel; the years of education are wanted."""
    import pandas as pd

    return pd.read_csv(Path(folder) / "psid.csv"), "id", ["experience", "weeks", "wage"], "education"


def eusilc(folder: str) -> tuple[Any, str, list[str], str]:
    """A household survey: the income of the household is wanted."""
    import pandas as pd

    rows = pd.read_csv(Path(folder) / "eusilc.csv").fillna({"py010n": 0.0, "hy090n": 0.0})
    return rows, "db030", ["age", "hsize", "py010n", "hy090n"], "eqIncome"


def main(arguments: list[str]) -> int:
    """Print how many values an intruder computes, if they are masked by row and once for each unit."""
    parser = argparse.ArgumentParser(prog="python -m adversary constants", description=__doc__)
    parser.add_argument("--persons", type=int, default=600, help="of the synthetic panel")
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    folder = os.environ.get("MICROAGG_DATA")
    files = {"synthetic panel": panel(chosen.persons, chosen.seed)}
    if folder and (Path(folder) / "psid.csv").exists():
        files |= {"psid": psid(folder), "eusilc": eusilc(folder)}
    print("In percent. groups: whose members the intruder knows; computed: units whose value follows to within 1 %;")
    print("guessed: the same by the mean of what their groups release; solvable: if the members of all were known.")
    print("".join(f"{word:>10}" for word in ("k", "masked", "loss", "groups", "computed", "guessed", "solvable")))
    for name, (frame, unit, known, wanted) in files.items():
        print(name)
        for k in (3, 5):
            for how in ("row", "once"):
                roles = {"quasi": [*known, wanted], "unit": unit, "rest": "drop"}
                release = ma.protect(frame, k=k, rounding="none", unit_constant=how, **roles)
                found, solvable = attack(frame, release.data, unit, known, wanted), release.risk.constants
                assert solvable is not None
                shares = (release.information.percent, found.sure, found.found, found.guessed, solvable.percent or 0.0)
                print(f"{k:>10}{how:>10}" + "".join(f"{share:>10.1f}" for share in shares))
    return 0
