"""How little any grouping could lose, beside what a release loses."""

from typing import TYPE_CHECKING, Any

import numpy as np

from microagg.algorithms.equivalence import codes_of
from microagg.checks import check_jobs
from microagg.columns import frames
from microagg.judge.parts import Bound, finite
from microagg.measures.bound import LossBound, bound_of_release
from microagg.measures.loss import InformationLoss
from microagg.work import Progress

if TYPE_CHECKING:
    from microagg.release import Release


def bound_of(release: "Release[Any]", information: InformationLoss, progress: Progress | None = None) -> LossBound:
    """Return how little any grouping of the same file could lose, beside the loss of a release.

    Whatever groups release, at least k records of a stratum are released with the same values. So the bound holds for
    medians, weights, moments, rounding, units and demands too: each of them can only lose more.
    """
    recipe, units = release.recipe, release._units
    if release.whole is not None:  # neighbours in a sample are too far
        why_not = "only some of the records are in memory"
        return LossBound(None, None, "information loss", recipe.k, why_not=why_not)
    alike, strata = release.groups, recipe.roles.strata
    if units is not None and units.slots is not None:  # of whole units, rows in the same slot get the same values
        alike = codes_of(alike * (int(units.slots.max()) + 1) + units.slots)
    original = release._both()[0]
    none = np.zeros(original.n_records, dtype=np.int64)
    return bound_of_release(
        original,
        information,
        frames.category_codes(frames.open_frame(release.data), strata) if strata else none,
        alike,
        recipe.k,
        spike=recipe.masking.spike,
        weighted=release.weights is not None,
        n_jobs=check_jobs(None),
        progress=progress,
    )


def judged_bound(release: "Release[Any]", progress: Progress | None = None) -> Bound | None:
    """Return the bound of a release as plain values, with the sentence that says it."""
    found = release.loss.find_bound(progress)
    if found is None:
        return None
    return Bound(found.percent, None if found.reached is None else finite(found.reached), found.of, str(found))
