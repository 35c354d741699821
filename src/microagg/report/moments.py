"""What is said of variances and covariances that are kept: how, how exactly, and what becomes public by it."""

from collections.abc import Mapping

from microagg.judgement import Judgement
from microagg.judgement.parts import JudgedMoments
from microagg.report.parts import Fact, Finding
from microagg.report.text import at_most, count, counted, first_of, listed, quoted, sentence
from microagg.schema import Role

_CLOSE = 1.0  # percent: variances that miss those of the original by more are not called the same
_NO_COVARIANCE = 1e-4  # of standard scores: what is less is told as less


def done(judgement: Judgement) -> list[Fact]:
    """Tell how variances were kept; in public nothing that was counted."""
    run, found = judgement.run, judgement.moments
    if run.moments == "none":
        return []
    value = f"{run.moments}s kept"
    if judgement.public:
        return [Fact("moments", value, _in_public(judgement))]
    if found is None or not found.columns:
        return [Fact("moments", value, "No masked number varies, so nothing was done.")]
    were = "are those" if found.variance_error < _CLOSE else "were brought near those"
    words = [
        f"{run.moments.capitalize()}s of {counted(len(found.columns), 'column')} {were} of the original: "
        f"{_how(judgement)}.",
        _exactness(judgement, found),
        *_values(found),
    ]
    if found.left:
        stay = counted(found.left, "stratum stays as it is: it has", "strata stay as they are: they have")
        stay = stay if run.names(Role.STRATUM) else "The file, or some of it, stays as it is: it has"
        words.append(f"{stay} one group, or groups that do not vary.")
    return [Fact("moments", value, sentence(words))]


def _how(judgement: Judgement) -> str:
    each = " for each stratum" if judgement.run.names(Role.STRATUM) else ""
    return f"released {judgement.run.aggregate}s were spread by one map{each}"


def _in_public(judgement: Judgement) -> str:
    """Say whose variances they are, and what the recipe alone tells of how exact that is."""
    run = judgement.run
    but = [
        *(["rounding"] if run.rounding != "none" else []),
        *(["values that were cut back"] if run.moments_clip else []),
        *(["strata of one group"] if run.names(Role.STRATUM) else []),
    ]
    what = "Variances" if run.moments == "variance" else "Variances and covariances"
    several = ", ".join(but[:-1]) + " and " if len(but) > 1 else ""
    allow = f", as far as {several}{but[-1]} {'allows' if but == ['rounding'] else 'allow'}" if but else ""
    return f"{what} of numbers are those of the original{allow}: {_how(judgement)}."


def _exactness(judgement: Judgement, found: JudgedMoments) -> str:
    words = f"Variances miss those of the original by {at_most(found.variance_error)}"
    if judgement.run.moments == "variance":
        return f"{words}."
    error = found.covariance_error
    most = "less than 0.0001" if error < _NO_COVARIANCE else f"at most {error:.2g}"
    return f"{words}, covariances of standard scores by {most}."


def _values(found: JudgedMoments) -> list[str]:
    """Say how many cells left the range of the original, and how many were cut back."""
    words = ["No cell left the range of the original."]
    if found.outside:
        cells = counted(sum(found.outside.values()), "cell")
        words = [f"{cells} left the range of the original: {_by_column(found.outside)}."]
    if found.clipped:
        cells = counted(sum(found.clipped.values()), "cell was", "cells were")
        words.append(f"{cells} cut back, to the mean of the lowest or highest values: {_by_column(found.clipped)}.")
    return words


def _by_column(cells: Mapping[str, int]) -> str:
    return first_of([f"{quoted(name)} ({count(number)})" for name, number in cells.items()])


def findings(judgement: Judgement) -> list[Finding]:
    """Tell that original variances become public, and what follows from them."""
    run, found = judgement.run, judgement.moments
    if found is None or not found.columns:
        return []
    what = "variances" if run.moments == "variance" else "variances and covariances"
    short = f"the original {what} of {listed(found.columns, 4)} become public with the release"
    return [
        Finding(
            "look", "variances",
            f"{short[0].upper()}{short[1:]}. Anybody who knows, or works out, the {run.aggregate}s of a few groups "
            f"learns how far they were spread, and with that the information loss. The public report does not tell "
            f"that loss. If it must not get out, do not keep {what}.",
            f"{short}, and the information loss can be worked out from them.",
        )
    ]  # fmt: skip


def dominance(judgement: Judgement) -> str:
    """Say what the rule of dominance takes to be known, where groups do not release their means."""
    if judgement.run.moments == "none":
        return ""
    return "Released means were spread: he must first learn how far."


def varies(judgement: Judgement) -> str:
    """Say of the limits what analyses find of variation."""
    run = judgement.run
    if run.moments == "none":
        return (
            "Analyses of the masked file find too little variation, the less the larger the loss; means of whole "
            "columns are kept where means are released unrounded, for all members of a group. Medians and commonest "
            "categories keep no total."
        )
    kept = "variances" if run.moments == "variance" else "variances and covariances"
    cut = " and uncut" if run.moments_clip else ""
    return (
        f"Analyses of the masked file find the {kept} of numbers, and too little variation of anything else: of other "
        f"columns, and inside parts of the file. Single values may lie beyond those of the original. Means of whole "
        f"columns are kept where means are released unrounded{cut}, for all members of a group. Medians and commonest "
        f"categories keep no total."
    )
