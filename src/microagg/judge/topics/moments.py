"""Variances and covariances that are kept: how, how exactly, and what becomes public by it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from microagg.columns.roles import Role
from microagg.judge.parts import Fact, Finding, finite
from microagg.judge.run import JudgedRun
from microagg.judge.text import at_most, count, counted, first_of, listed, quoted, sentence, shown
from microagg.judge.topics.topic import Topic
from microagg.mask.moments import MomentFacts

if TYPE_CHECKING:
    from microagg.judge.judgement import Judgement
    from microagg.release import Release

_CLOSE = 0.01  # variances that miss those of the original by a larger share are not called the same
_NO_COVARIANCE = 1e-4  # of standard scores: what is less has no figure


class Moments(Topic[MomentFacts]):
    """Variances and covariances that are kept."""

    name = "moments"

    def find(self, release: "Release[Any]", run: JudgedRun) -> MomentFacts | None:
        """Return what was done to keep them; None where none are to be kept."""
        return release.moments

    def done(self, judgement: "Judgement") -> list[Fact]:
        """Return how variances were kept; in public nothing that was counted."""
        run, found = judgement.run, self.of(judgement)
        if run.moments == "none":
            return []
        value = f"{run.moments}s kept"
        if judgement.public:
            return [Fact("moments", value, _in_public(judgement))]
        if found is None or not found.columns:
            return [Fact("moments", value, "No masked number varies, so nothing was done.")]
        were = "are the same as those" if found.variance_error < _CLOSE else "were brought close to those"
        words = [
            f"{run.moments.capitalize()}s of {counted(len(found.columns), 'column')} {were} of the original: "
            f"{_how(judgement)}.",
            _left_out(judgement),
            _exactness(judgement, found),
            *_values(found),
        ]
        if found.left:
            stay = counted(
                found.left, "stratum was not spread, because it has", "strata were not spread, because they have"
            )
            stay = stay if run.names(Role.STRATUM) else "The file, or a part of it, was not spread: it has"
            words.append(f"{stay} only one group, or groups that do not vary.")
        return [Fact("moments", value, sentence(words))]

    def findings(self, judgement: "Judgement") -> list[Finding]:
        """Return that original variances become public, what follows from them, and which values cannot be."""
        run, found = judgement.run, self.of(judgement)
        if found is None or not found.columns:
            return []
        what = "variances" if run.moments == "variance" else "variances and covariances"
        short = f"the original {what} of {listed(found.columns, 4)} become public with the release"
        return [
            Finding(
                "look", "variances",
                f"{short[0].upper()}{short[1:]}. Anybody who knows, or works out, the {run.aggregate}s of a few groups "
                f"learns how far they were spread, and from that the information loss. If numbers are whole and not "
                f"rounded, the masked file alone is enough for that. The public report does not show that loss. If it "
                f"must stay internal, do not keep {what}.",
                f"{short}, and the information loss can be worked out from them.",
            ),
            *_out_of_range(found),
        ]  # fmt: skip

    def as_json(self, found: MomentFacts) -> dict[str, Any]:
        """Return which variances or covariances are kept, how exactly, and what that did to values."""
        return {
            "moments": {
                "kept": found.which,
                "columns": list(map(shown, found.columns)),
                "variance_error_percent": finite(100.0 * found.variance_error),
                "covariance_error": finite(found.covariance_error),
                "cells_outside_range": {shown(name): cells for name, cells in found.outside.items()},
                "cells_cut_back": {shown(name): cells for name, cells in found.clipped.items()},
                "strata_left_as_they_are": found.left,
            }
        }


def dominance(judgement: "Judgement") -> str:
    """Return what the rule of dominance takes to be known, where groups do not release their means."""
    if judgement.run.moments == "none":
        return ""
    return "Released means were spread. This does not protect: how far can be worked out from the masked file."


def varies(judgement: "Judgement") -> str:
    """Return, for the limits, what analyses find of variation."""
    run = judgement.run
    if run.moments == "none":
        return (
            "Analyses of the masked file find too little variation: the larger the loss, the smaller the variation. "
            "Means of whole columns are kept where all members of a group get its mean, unrounded. Medians and "
            "commonest categories do not keep totals."
        )
    kept = "variances" if run.moments == "variance" else "variances and covariances"
    cut = " and uncut" if run.moments_clip else ""
    return (
        f"Analyses of the masked file find the right {kept} of numbers, but too little variation of anything else: of "
        f"other columns, and inside parts of the file. Single values may be outside the range of the original. Means "
        f"of whole columns are kept where all members of a group get its mean, unrounded{cut}. Medians and commonest "
        f"categories do not keep totals."
    )


def _how(judgement: "Judgement") -> str:
    each = " for each stratum" if judgement.run.names(Role.STRATUM) else ""
    return f"released {judgement.run.aggregate}s were spread (moved apart) by one linear map{each}"


def _in_public(judgement: "Judgement") -> str:
    """Return whose variances they are, and what the recipe alone shows of how exact that is."""
    run = judgement.run
    but = [
        *(["rounding"] if run.rounding != "none" else []),
        *(["values that were cut back"] if run.moments_clip else []),
        *(["strata of one group"] if run.names(Role.STRATUM) else []),
    ]
    what = "Variances" if run.moments == "variance" else "Variances and covariances"
    several = ", ".join(but[:-1]) + " and " if len(but) > 1 else ""
    allow = f", as far as {several}{but[-1]} {'allows' if but == ['rounding'] else 'allow'}" if but else ""
    same = f"{what} of numbers are the same as those of the original{allow}: {_how(judgement)}."
    return sentence([same, _left_out(judgement)])


def _left_out(judgement: "Judgement") -> str:
    """Return of which records variances are kept, where some were left out."""
    found = judgement.left_out
    return "This is about the released records: some were left out." if found.records != 0 else ""


def _exactness(judgement: "Judgement", found: MomentFacts) -> str:
    words = f"Variances differ from those of the original by {at_most(100.0 * found.variance_error)}"
    if judgement.run.moments == "variance":
        return f"{words}."
    error = found.covariance_error
    most = "less than 0.0001" if error < _NO_COVARIANCE else f"at most {error:.2g}"
    return f"{words}, covariances of standard scores by {most}."


def _values(found: MomentFacts) -> list[str]:
    """Return how many cells left the range of the original, and how many were cut back."""
    words = ["No value is outside the range of the original column."]
    if found.outside:
        cells = counted(sum(found.outside.values()), "value is", "values are")
        words = [f"{cells} outside the range of the original column: {_by_column(found.outside)}."]
    if found.clipped:
        cells = counted(sum(found.clipped.values()), "value was", "values were")
        words.append(f"{cells} cut back, to the mean of the lowest or highest values: {_by_column(found.clipped)}.")
    return words


def _by_column(cells: Mapping[Any, int]) -> str:
    return first_of([f"{quoted(name)} ({count(number)})" for name, number in cells.items()])


def _out_of_range(found: MomentFacts) -> list[Finding]:
    """Return in which columns spreading made values that the original column does not reach."""
    if not found.outside:
        return []
    cells = counted(sum(found.outside.values()), "released value is", "released values are")
    short = f"{cells} below the lowest or above the highest original value: {_by_column(found.outside)}"
    return [
        Finding(
            "look", "values out of range",
            f"{short}. An amount may have become negative. Check whether users can accept that, or cut such values "
            f"back (moments_clip), which makes the variances inexact.",
            f"{short}.",
        )
    ]  # fmt: skip


MOMENTS = Moments()
