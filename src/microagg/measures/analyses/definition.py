"""What a kind of analysis is: one definition, by which it is checked, computed and said."""

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.checks import check_between, check_names
from microagg.errors import InvalidParameter

if TYPE_CHECKING:
    from microagg.measures.analyses.analysis import Analysis
    from microagg.measures.analyses.records import Sample
    from microagg.measures.analyses.terms import Term

Values = NDArray[np.float64]


class Estimates(NamedTuple):
    """The estimates of an analysis in one file.

    Attributes
    ----------
    terms : list of str
        What is estimated in each domain; one empty text where that is one figure.
    values, errors : arrays of shape (terms, domains)
        Estimates and their standard errors; NaN where there is none.
    intervals : tuple of two such arrays, optional
        Where they are not symmetric.
    left_out : int
        Records of the sample that it turned out not to be of.
    """

    terms: list[str]
    values: Values
    errors: Values
    intervals: tuple[Values, Values] | None = None
    left_out: int = 0


class Option(NamedTuple):
    """What can be said of a kind of analysis: the usual value, and what checks another: check(name, value)."""

    usual: Any
    check: Callable[[str, Any], Any]


@frozen()
class AnalysisKind:
    """A kind of analysis.

    Enter it in `microagg.measures.analyses.kinds.ANALYSES` under its name, and recipes, reports and the command line
    know it.

    Attributes
    ----------
    name : str
        Its word in a recipe.
    title : str or callable
        What it is in words, followed by its columns; a callable gets the analysis and gives the whole.
    estimate : callable
        estimate(sample, analysis) gives a `Estimates`. The sample has the records that lack nothing.
    n_columns : tuple of two
        The fewest and the most columns; None: any number.
    wanted : str
        Which columns it needs, as a remedy.
    terms : callable, optional
        terms(analysis, names) gives what it reads; by default its columns.
    options : mapping
    unit : str
        "%" or "".
    hides_zeros : bool
        Whether a figure that is 0 in both files is left out, as the count of a cell without records.
    tested : bool
        Whether users ask if it differs from 0, so that its sign and its significance are conclusions.
    untested : tuple of str
        Terms of which nobody asks that, as of an intercept.
    """

    name: str
    title: "str | Callable[[Analysis], str]"
    estimate: "Callable[[Sample, Analysis], Estimates]"
    n_columns: tuple[int, int | None] = (1, 1)
    wanted: str = "Name one column of numbers."
    terms: "Callable[[Analysis, Any], list[Term]] | None" = None
    options: Mapping[str, Option] = field(default_factory=dict)
    unit: str = ""
    hides_zeros: bool = False
    tested: bool = True
    untested: tuple[str, ...] = ()

    def titled(self, analysis: "Analysis") -> str:
        """Return what an analysis of this kind is."""
        if callable(self.title):
            return self.title(analysis)
        return f"{self.title} of {' and '.join(map(str, analysis.columns))}"


def one_figure(values: Values, errors: Values) -> Estimates:
    """Return the estimates of an analysis that has one figure in each domain."""
    return Estimates([""], values[None, :], errors[None, :])


def probability(name: str, value: Any) -> float:
    """Check a number between 0 and 1."""
    return check_between(name, value, 0.0, 1.0, "It is a share.")


def probabilities(name: str, value: Any) -> tuple[float, ...]:
    """Check one or several numbers between 0 and 1."""
    return tuple(probability(name, one) for one in check_names(value))


def positive(name: str, value: Any) -> float:
    """Check a number above 0."""
    return check_between(name, value, 1e-9, 1e9, "0.6 is usual.")


def as_text(name: str, value: Any) -> str:
    """Take a value, of whatever type, as text."""
    try:
        return str(value)
    except ValueError:  # a whole number of more digits than Python writes
        raise InvalidParameter(
            f"{name} is a number of thousands of digits. Write a shorter one.", parameter=name
        ) from None
