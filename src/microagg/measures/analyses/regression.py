"""Linear, logistic and log-linear regressions, by columns or by a formula."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from microagg.errors import InvalidParameter
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.analyses.definition import AnalysisKind, Estimates, Option
from microagg.measures.analyses.fitting import BINOMIAL, NORMAL, POISSON, Column, Family, fit
from microagg.measures.analyses.formula import INTERCEPT, columns_of, numbers_of
from microagg.measures.analyses.records import FileRecords, Rows, Sample, Values
from microagg.measures.analyses.terms import Condition, Term, as_condition, as_formula, formula_of, known

_FEW = 0.05  # of the records: if more have a response that a regression cannot take, another one was meant


class Explained(NamedTuple):
    """A response and what explains it, and which records of the sample have both."""

    response: Values
    columns: Sequence[Column]
    names: list[str]
    rows: Rows | None = None


def _terms(analysis: Analysis, names: Collection[Any]) -> list[Term]:
    if (formula := analysis.option("formula")) is not None:
        return [Term.of(known(name, names)) for name in formula_of(formula).columns]
    return [Term.parse(one, names) for one in analysis.columns]


def _response(term: Term, analysis: Analysis, records: FileRecords) -> Term:
    """Return the response as a term of numbers: of two categories, the rarer one, or that of `value`, counts as 1."""
    value = dict(analysis.options).get("value")
    if value is not None:
        return Term.of(term.column, Condition.parse(value))
    column = records.column(term.column)
    if not term.is_plain or not column.shown or analysis.kind != "logistic":
        return term
    if len(column.shown) != 2:
        raise InvalidParameter(
            f"the response {term.column!r} has {len(column.shown)} categories, and one must count as 1. Name it in "
            f"value.",
            parameter="value",
            columns=(term.column,),
        )
    return Term.of(term.column, Condition("=", column.shown[1 - records.shared.commonest(term.column)]))


def _by_columns(sample: Sample, analysis: Analysis) -> Explained:
    first, *others = _terms(analysis, sample.names)
    columns: list[Column] = [np.ones(sample.size)]
    names = [INTERCEPT]
    for term in others:
        shown = sample.records.column(term.column).shown
        if not term.is_plain or not shown:
            columns.append(sample.values(term))
            names.append(str(term))
            continue
        codes, usual = sample.codes(term.column), sample.records.shared.commonest(term.column)
        for code in (code for code in range(len(shown)) if code != usual):
            columns.append(codes == code)
            names.append(f"{term.column} = {shown[code]}")
    return Explained(sample.values(_response(first, analysis, sample.records)), columns, names)


def _by_formula(sample: Sample, analysis: Analysis) -> Explained:
    """Compute what a formula says; a record for which something is not a number is left out."""
    formula = formula_of(analysis.option("formula"))
    first = _response(Term(formula.response), analysis, sample.records)
    with np.errstate(all="ignore"):
        response = numbers_of(sample, first.made) if first.condition is None else sample.values(first)
        made = columns_of(sample, formula.terms)
    rows = np.isfinite(response)
    for _, own in made:
        rows &= np.isfinite(own)
    return Explained(response[rows], [own[rows] for _, own in made], [name for name, _ in made], rows)


def _regression(sample: Sample, analysis: Analysis, family: Family, allowed: Callable[[Values], Rows]) -> Estimates:
    made = (_by_columns if analysis.option("formula") is None else _by_formula)(sample, analysis)
    response, columns = made.response, made.columns
    domains, weights, clusters = sample.domains, sample.weights, sample.clusters
    if made.rows is not None:
        domains, weights = domains[made.rows], weights[made.rows]
        clusters = None if clusters is None else clusters[made.rows]
    fits = _allowed(response, allowed, analysis)
    left_out = sample.size - int(fits.sum())
    if not fits.all():
        response, columns = response[fits], [column[fits] for column in columns]
        domains, weights = domains[fits], weights[fits]
        clusters = None if clusters is None else clusters[fits]
    values, errors = np.full((2, len(columns), sample.n_domains), np.nan)
    for domain in range(sample.n_domains):
        rows: Any = slice(None) if sample.n_domains == 1 else np.flatnonzero(domains == domain)
        own = None if clusters is None else clusters[rows]
        found = fit([column[rows] for column in columns], response[rows], weights[rows], own, family, sample.check)
        values[:, domain], errors[:, domain] = found
    return Estimates(made.names, values, errors, left_out=left_out)


def _allowed(response: Values, allowed: Callable[[Values], Rows], analysis: Analysis) -> Rows:
    """Mark the records whose response a regression can take; a few others, which masking may make, are left out."""
    fits = allowed(response)
    wrong = int(fits.size - fits.sum())
    if wrong > _FEW * fits.size:
        wanted = "from 0 to 1; name what counts as 1 in value" if analysis.kind == "logistic" else "0 or more"
        raise InvalidParameter(
            f"the response of {analysis.name!r} has {wrong} value(s) that a {analysis.kind} regression cannot take: it "
            f"must be {wanted}.",
            parameter="columns",
            columns=analysis.columns[:1],
        )
    return fits


def _title(word: str) -> Callable[[Analysis], str]:
    def title(analysis: Analysis) -> str:
        if (formula := dict(analysis.options)["formula"]) is not None:
            return f"{word} regression {formula}"
        return f"{word} regression of {analysis.columns[0]} on {', '.join(map(str, analysis.columns[1:]))}"

    return title


def _kind(name: str, word: str, family: Family, allowed: Callable[[Values], Rows], **options: Option) -> AnalysisKind:
    return AnalysisKind(
        name,
        _title(word),
        partial(_regression, family=family, allowed=allowed),
        n_columns=(2, None),
        wanted="Name the response, then what explains it; or pass a formula.",
        terms=_terms,
        options={"formula": Option(None, as_formula), **options},
        untested=(INTERCEPT,),
    )


LINEAR = _kind("linear", "Linear", NORMAL, np.isfinite)
LOGISTIC = _kind("logistic", "Logistic", BINOMIAL, lambda y: (y >= 0) & (y <= 1), value=Option(None, as_condition))
LOGLINEAR = _kind("loglinear", "Log-linear", POISSON, lambda y: y >= 0)
