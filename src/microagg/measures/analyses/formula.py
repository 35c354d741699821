"""What the terms of a formula such as "income ~ age + sex" make of a sample: columns, none of them superfluous."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, product
from math import prod

import numpy as np

from microagg.errors import InvalidParameter
from microagg.measures.analyses.fitting import Column
from microagg.measures.analyses.records import Sample, Values
from microagg.measures.analyses.terms import Term
from microagg.recipe.grammar import Call, Expression, Name

INTERCEPT = "intercept"
MOST_COEFFICIENTS = 1000
_Factor = tuple[Expression, bool]
"""A factor of a term, and whether it is reduced: its dummies then leave out the commonest category."""
_Coded = tuple[_Factor, ...]


def columns_of(sample: Sample, terms: Sequence[tuple[Expression, ...]]) -> list[tuple[str, Column]]:
    """Return the columns that terms make, with their names, in the order and the coding of R and formulaic.

    Categories are dummies: against the commonest one where the terms before span the constant already, else all.
    """
    coded = list(_without_overlap(sample, terms))
    n = sum(prod(_width(sample, *factor) for factor in one) for one in coded)
    if n > MOST_COEFFICIENTS:
        raise InvalidParameter(
            f"the formula has {n} coefficients, and {MOST_COEFFICIENTS} are the most. Leave out an interaction, or "
            f"recode columns to fewer categories.",
            parameter="formula",
        )
    made = {factor: _made(sample, *factor) for one in coded for factor in one}
    return [column for one in coded for column in _multiplied(sample, [made[factor] for factor in one])]


def numbers_of(sample: Sample, node: Expression) -> Values:
    """Compute the numbers of a node for the records of a sample."""
    return np.broadcast_to(node.values(lambda name: sample.values(Term.of(name))), sample.size)


def _multiplied(sample: Sample, factors: Sequence[list[tuple[str, Column]]]) -> Iterator[tuple[str, Column]]:
    """Multiply each column of a factor with each of the others; those of the first change fastest."""
    if not factors:
        yield INTERCEPT, np.ones(sample.size)
        return
    for backwards in product(*reversed(factors)):
        (name, found), *others = reversed(backwards)
        for more, own in others:
            name, found = f"{name}:{more}", found * own
        yield name, found


def _category(sample: Sample, factor: Expression) -> Name | None:
    """Return the column of whose categories a factor is; None where it is of numbers."""
    own = factor.argument if isinstance(factor, Call) and factor.function == "C" else factor
    return own if isinstance(own, Name) and (own is not factor or sample.records.column(own.name).shown) else None


def _width(sample: Sample, factor: Expression, reduced: bool) -> int:
    category = _category(sample, factor)
    if category is not None:
        return len(sample.records.shared.levels(category.name)) - reduced
    return factor.degree if isinstance(factor, Call) and factor.degree else 1


def _made(sample: Sample, factor: Expression, reduced: bool) -> list[tuple[str, Column]]:
    """Return the columns of a factor."""
    category = _category(sample, factor)
    if category is not None:
        shared, codes = sample.records.shared, sample.codes(category.name)
        usual = shared.commonest(category.name)
        levels = sorted(enumerate(shared.levels(category.name)), key=lambda level: level[0] != usual)[int(reduced) :]
        return [(f"{factor}[{'T.' if reduced else ''}{level}]", codes == code) for code, level in levels]
    if isinstance(factor, Call) and factor.degree:
        found = _polynomials(numbers_of(sample, factor.argument), factor.degree)
        return [(f"{factor}[{degree}]", own) for degree, own in enumerate(found, 1)]
    return [(str(factor), numbers_of(sample, factor))]


def _polynomials(values: Values, degree: int) -> list[Values]:
    """Return orthonormal polynomials of numbers, by the three-term recurrence.

    Of numbers that are too few, or too close to each other, for a degree, its polynomial is not a number anywhere.
    """
    known = np.isfinite(values)
    x = values[known]
    before, own, size_before = np.zeros(x.size), np.ones(x.size), np.float64(1)
    found = []
    for _ in range(degree):
        size = np.float64(own @ own)  # which divided by zero is not a number, and no error
        before, own = own, (x - (x * own) @ own / size) * own - size / size_before * before
        size_before = size
        whole = np.full(values.size, np.nan)
        whole[known] = own / np.sqrt(own @ own)
        found.append(whole)
    return found


def _without_overlap(sample: Sample, terms: Iterable[tuple[Expression, ...]]) -> Iterator[_Coded]:
    """Code terms so that no column is spanned by those before.

    A factor of categories spans its reduced dummies and the constant. What earlier terms span is left out of a term,
    and what is left is joined again: (others) + (others and a reduced factor) is (others and the whole factor).
    """
    spanned: set[frozenset[_Factor]] = set()
    for term in terms:
        parts = [[((one, False),)] if _category(sample, one) is None else [((one, True),), ()] for one in term]
        span = [one for one in (tuple(chain(*chosen)) for chosen in product(*parts)) if frozenset(one) not in spanned]
        spanned |= set(map(frozenset, span))
        yield from _joined(span)


def _joined(terms: Iterable[_Coded]) -> list[_Coded]:
    found: list[_Coded] = []
    for one in sorted(terms, key=len):
        for other in found:
            more = set(one) - set(other)
            if len(other) == len(one) - 1 and len(more) == 1 and more <= {(factor, True) for factor, _ in one}:
                whole = tuple((factor, reduced and (factor, reduced) not in more) for factor, reduced in one)
                found = _joined([*(own for own in found if own != other), whole])
                break
        else:
            found.append(one)
    return found
