"""What weights disclose of a release, and what being a sample takes from its risk."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.units import held_by
from microagg.base.frozen import ReadOnly, frozen
from microagg.columns.weights import DOMINATED, Labels

Values = NDArray[np.float64]


@frozen()
class Telling:
    """What a weight discloses of a masked category.

    Attributes
    ----------
    weights : int
        Different weights all of whose records have one category.
    share : float
        Of the records of one weight, those with the same category, at most; of weights that k records or more share.
    """

    weights: int
    share: float


@frozen()
class Fingerprint(ReadOnly):
    """What a column of weights discloses when it is released unchanged.

    Attributes
    ----------
    distinct : int
        Different weights.
    rare : int
        Records whose weight fewer than k records, or units, share.
    telling : mapping
        For each masked column of categories, what the weights disclose of it.
    """

    distinct: int
    rare: int
    telling: Mapping[Any, Telling]

    @property
    def given_away(self) -> list[Any]:
        """The columns of which some weight discloses the category."""
        return [name for name, own in self.telling.items() if own.share == 1.0]


def fingerprint(weights: Labels, categories: Mapping[Any, Labels], k: int, units: Labels | None = None) -> Fingerprint:
    """Return what weights disclose; they and the categories, before masking, are numbered from 0.

    With `units`, those who share a weight are counted, not their records.
    """
    sizes = np.bincount(weights)
    holders = sizes if units is None else held_by(weights, units, sizes.size).units
    telling = {name: _telling(weights, sizes, own, holders >= k) for name, own in categories.items()}
    return Fingerprint(int(np.count_nonzero(sizes)), int(sizes[holders < k].sum()), telling)


def _telling(weights: Labels, sizes: Labels, categories: Labels, shared: NDArray[np.bool_]) -> Telling:
    """Return what weights disclose of a column; those that are not `shared` by k are reported as such."""
    n_categories = int(categories.max()) + 1
    pairs, counts = np.unique(weights * n_categories + categories, return_counts=True)
    most = np.zeros(sizes.size, dtype=np.int64)
    np.maximum.at(most, pairs // n_categories, counts)
    share = float((most[shared] / sizes[shared]).max()) if shared.any() else 0.0
    return Telling(int(np.count_nonzero((most == sizes) & (sizes > 0))), share)


def reveal_categories(
    before: Labels,
    after: Labels,
    categories: Mapping[Any, Labels],
    groups: Labels,
    k: int,
    units: Labels | None = None,
) -> NDArray[np.bool_]:
    """Return which groups have a released weight that shows which categories of the design their members have.

    A column is of the design if some original weight that k records, or units, share is one category's alone.
    A released weight shows the categories of such a column if all groups with this weight have members of the same
    categories: an intruder who knows which categories go with which weights then knows those of the members, and of
    mixed groups too. All are numbered from 0, record by record: `before` and `after` are the weights in the original
    and in the release.
    """
    own, n_groups = fingerprint(before, categories, k, units), int(groups.max()) + 1
    found = np.zeros(n_groups, dtype=bool)
    weights = np.zeros(n_groups, dtype=np.int64)
    weights[groups] = after
    for name in own.given_away:
        n_categories = int(categories[name].max()) + 1
        of_groups, of_weights = (
            np.bincount(np.unique(one * n_categories + categories[name]) // n_categories) for one in (groups, after)
        )
        fewest = np.full(of_weights.size, n_categories)
        np.minimum.at(fewest, weights, of_groups)
        found |= (fewest == of_weights)[weights]
    return found


def could_dominate(values: Values, fewest: int) -> bool:
    """Return whether some group of so many members could hold one with more than 0.8 of its weight."""
    return _exceeds(float(values.max()), DOMINATED / (1.0 - DOMINATED), values, fewest)


def unit_could_dominate(values: Values, units: Labels, k: int, *, in_part: bool, gaps: bool) -> bool:
    """Return whether some group of k units could hold one with more than 0.8 of its weight.

    Where no unit has more than 1/k of the rows (`in_part`), each of its rows stands beside those of k - 1 others. With
    `gaps`, others may lack the value; but no value is released unless those who have it have half of the weight, so
    that all others weigh less than 1.5 times what such a unit does.
    """
    largest = float((values if in_part else np.bincount(units, weights=values)).max())
    return _exceeds(largest, 1.0 / 1.5 if gaps else DOMINATED / (1.0 - DOMINATED), values, k)


def _exceeds(largest: float, times: float, values: Values, members: int) -> bool:
    others = float(np.sort(values)[: members - 1].sum())
    return largest > times * others * (1.0 - 1e-9)  # rather once too often


def individual_risks(sizes: Labels, weights: Values) -> Values:
    """Return the chance that a record of a class is linked rightly by who cannot know who is in the sample.

    A class of f records of the sample that stand for F persons: the intruder picks one of all persons who would be in
    it. How many these are is not known; given f, they are taken to be negative binomial with p = f / F, and the chance
    is the mean of 1 over their number: p / f · 2F1(1, 1; f + 1; 1 − p), from 1 / F up to 1 / f.

    References
    ----------
    R. Benedetti, L. Franconi: Statistical and technological solutions for controlled data dissemination. Proceedings
    of New Techniques and Technologies for Statistics 1, 1998.
    """
    from scipy.special import hyp2f1  # only files with weights need it

    f = sizes.astype(np.float64)
    p = f / np.maximum(weights, f)
    return np.asarray(p / f * hyp2f1(1.0, 1.0, f + 1.0, 1.0 - p))


def expected_links(classes: Labels, weights: Values) -> float:
    """Return how many records of a sample an intruder links rightly who finds everybody's class (see above)."""
    sizes = np.bincount(classes)
    sums = np.bincount(classes, weights=weights).astype(np.float64)
    found = sizes > 0
    return float((sizes[found] * individual_risks(sizes[found], sums[found])).sum())


def weights_to_link(weights: Values, units: Labels | None) -> Values:
    """Return the weight of each record, or of each whole unit: the mean of its rows, as it stands for whole units."""
    return weights if units is None else np.bincount(units, weights=weights) / np.bincount(units)
