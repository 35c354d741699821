"""Means, totals, shares and ratios."""

from collections.abc import Collection
from typing import Any

import numpy as np

from microagg.errors import InvalidParameter
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.analyses.definition import AnalysisKind, Estimates, Option, one_figure
from microagg.measures.analyses.records import Sample, Values, errors_of, errors_of_totals
from microagg.measures.analyses.terms import Condition, Term, as_condition, known


def _column(sample: Sample, analysis: Analysis, place: int = 0) -> Values:
    return sample.values(Term.parse(analysis.columns[place], sample.names))


def _ratio(sample: Sample, above: Values, below: Values) -> tuple[Values, Values]:
    """Return Σwy/Σwx with its error; the influence is (y − Rx)/Σwx."""
    w = sample.weights
    totals = sample.summed(w * below)
    totals = np.where((totals == 0) | (sample.counts == 0), np.nan, totals)
    found = sample.summed(w * above) / totals
    influences = w * (above - found[sample.domains] * below) / totals[sample.domains]
    return found, errors_of(sample, influences)


def _mean(sample: Sample, analysis: Analysis) -> Estimates:
    return one_figure(*_ratio(sample, _column(sample, analysis), np.ones(sample.size)))


def _total(sample: Sample, analysis: Analysis) -> Estimates:
    amounts = sample.weights * _column(sample, analysis)
    found = np.where(sample.counts > 0, sample.summed(amounts), np.nan)
    return one_figure(found, np.where(sample.counts > 0, errors_of_totals(sample, amounts), np.nan))


def _quotient(sample: Sample, analysis: Analysis) -> Estimates:
    return one_figure(*_ratio(sample, _column(sample, analysis), _column(sample, analysis, 1)))


def _share_terms(analysis: Analysis, names: Collection[Any]) -> list[Term]:
    column = known(analysis.columns[0], names)
    value = analysis.option("value")
    return [Term.of(column, None if value is None else Condition.parse(value))]


def _share(sample: Sample, analysis: Analysis) -> Estimates:
    (term,) = _share_terms(analysis, sample.names)
    one = np.ones(sample.size)
    if term.condition is not None:
        found = [(str(term.condition), sample.values(term))]
    else:
        if not sample.records.column(term.column).shown:
            raise InvalidParameter(
                f"a share of column {term.column!r}, which holds numbers, needs a condition. Pass value='= 0', say.",
                parameter="value",
                columns=(term.column,),
            )
        codes = sample.codes(term.column)
        levels = enumerate(sample.records.shared.levels(term.column))
        found = [(f"= {shown}", (codes == code).astype(np.float64)) for code, shown in levels]
    shares = [_ratio(sample, own, one) for _, own in found]
    values, errors = (100.0 * np.array(part) for part in zip(*shares, strict=True))
    return Estimates([name for name, _ in found], values, errors)


MEAN = AnalysisKind("mean", "Mean", _mean)
TOTAL = AnalysisKind("total", "Total", _total)
RATIO = AnalysisKind(
    "ratio",
    lambda analysis: f"Ratio of {analysis.columns[0]} to {analysis.columns[1]}",
    _quotient,
    n_columns=(2, 2),
    wanted="Name two columns of numbers, the numerator first.",
)
SHARE = AnalysisKind(
    "share",
    "Share",
    _share,
    wanted="Name one column.",
    terms=_share_terms,
    options={"value": Option(None, as_condition)},
    unit="%",
    tested=False,
)
