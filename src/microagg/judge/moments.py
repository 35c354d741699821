"""What became of variances and covariances that are to be kept."""

from typing import TYPE_CHECKING, Any

from microagg.judge.names import shown
from microagg.judge.parts import JudgedMoments

if TYPE_CHECKING:
    from microagg.release import Release


def moments_of(release: "Release[Any]") -> JudgedMoments | None:
    """Return how exactly they are kept, and how many values left their range; None where none are to be kept."""
    facts = release.moments
    if facts is None:
        return None
    return JudgedMoments(
        columns=tuple(map(shown, facts.columns)),
        variance_error=100.0 * facts.variance_error,
        covariance_error=facts.covariance_error,
        outside={shown(name): cells for name, cells in facts.outside.items()},
        clipped={shown(name): cells for name, cells in facts.clipped.items()},
        left=facts.left,
    )
