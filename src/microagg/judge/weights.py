"""What weights did to a release, and what they disclose."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.equivalence import codes_of
from microagg.algorithms.kernels.sums import exact_sum
from microagg.algorithms.units import Units
from microagg.columns import frames
from microagg.columns.kinds import Nominal
from microagg.columns.roles import Role
from microagg.errors import InvalidData
from microagg.judge.names import shown
from microagg.judge.parts import JudgedWeights, WeightFound, finite
from microagg.judge.run import JudgedRun, columns_of
from microagg.measures.weights import fingerprint, weights_to_link

if TYPE_CHECKING:
    from microagg.release import Release


def weighing_of(release: "Release[Any]", run: JudgedRun) -> JudgedWeights | None:
    """Return what weights did, for the internal report; None where no column is a weight."""
    if not columns_of(release, Role.WEIGHT):
        return None
    facts, weights = release.weights, release._weights
    moved = {} if facts is None else {shown(name): 100.0 * share for name, share in facts.moved.items()}
    return JudgedWeights(
        found=() if run.weights_by_group else _found(release, run.k),
        percent=None if facts is None else finite(facts.information.percent),
        dominated=0 if facts is None else facts.dominated,
        moved=tuple(sorted(moved.items(), key=lambda one: -abs(one[1]))),
        factors=None if facts is None else facts.factors,
        missed=0.0 if facts is None else 100.0 * facts.missed,
        steps=() if facts is None else tuple((shown(name), step) for name, step in facts.steps.items()),
        rounding_moved=0.0 if facts is None else 100.0 * max(map(abs, facts.rounding_moved.values()), default=0.0),
        revealing=() if facts is None else tuple((shown(name), own) for name, own in facts.revealing.items()),
        groups=int(release.groups.max()) + 1,
        population=None if weights is None else _population(weights.values, release._units),
        expected_links=release.risk.expected_links,
    )


def _population(weights: NDArray[np.float64], units: Units | None) -> float:
    """Return how many persons, or whole units, a sample represents."""
    whole = None if units is None or units.slots is None else units.codes
    return exact_sum(weights_to_link(weights, whole))


def _found(release: "Release[Any]", k: int) -> tuple[WeightFound, ...]:
    """Return what each weight that is released unchanged discloses of records and of masked categories."""
    frame = frames.open_frame(release.data)
    categories = {
        shown(column.name): codes_of(column.cells.classes)
        for column in release._both()[0]
        if isinstance(column.kind, Nominal)
    }
    units = None if release._units is None else release._units.codes
    found = []
    for name in columns_of(release, Role.WEIGHT):
        try:
            own = fingerprint(frames.category_codes(frame, [name]), categories, k, units)
        except InvalidData:  # lists and mixed types cannot be counted
            continue
        found.append(WeightFound(shown(name), own.distinct, own.rare, own.telling))
    return tuple(found)
