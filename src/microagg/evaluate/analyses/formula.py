"""Formulas such as "income ~ age + sex", read by formulaic, an extra."""

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from microagg import _pandas
from microagg.errors import InvalidParameter
from microagg.evaluate.analyses.records import Rows, Sample, Values
from microagg.evaluate.analyses.terms import Term


def require_extra() -> Any:
    """Import formulaic, or say how to install it."""
    _pandas.fetch()  # which it needs
    try:
        return importlib.import_module("formulaic")
    except ImportError:
        raise InvalidParameter(
            "formulas need formulaic. Run: pip install 'microagg[analyses]'; or name the columns of the regression.",
            parameter="formula",
        ) from None


def by_formula(
    sample: Sample, formula: str, names: Sequence[Any]
) -> tuple[Values | None, list[Values], list[str], Rows]:
    """Return the response (None, if it holds categories), what explains it with names, and for which records.

    Categories are dummies against the commonest one. A record for which something is not a number is left out.
    """
    package = require_extra()
    pandas = importlib.import_module("pandas")
    columns: dict[Any, Any] = {}
    for name in names:
        if not sample.records.column(name).shown:
            columns[name] = sample.values(Term(name))
            continue
        shared = sample.records.shared
        levels, usual = shared.levels(name), shared.commonest(name)
        order = [usual, *(code for code in range(len(levels)) if code != usual)]
        rank = np.argsort(order)
        columns[name] = pandas.Categorical.from_codes(rank[sample.codes(name)], [levels[code] for code in order])
    try:
        with np.errstate(all="ignore"):
            made = package.model_matrix(
                formula, pandas.DataFrame(columns), na_action="ignore", context={"sqrt": np.sqrt, "abs": np.abs}
            )
        left, right = made.lhs, made.rhs
    except (package.errors.FormulaicError, AttributeError, TypeError, ValueError, SyntaxError):
        # Its own message may show cells.
        raise InvalidParameter(
            f"the formula {formula!r} cannot be read. Write it as 'response ~ term + term'.", parameter="formula"
        ) from None
    explaining = [np.asarray(right[name], dtype=np.float64) for name in right.columns]
    response = np.asarray(left.iloc[:, 0], dtype=np.float64) if left.shape[1] == 1 else None
    rows = np.ones(sample.size, dtype=bool)
    for own in explaining if response is None else [*explaining, response]:
        rows &= np.isfinite(own)
    said = [str(name) if name != "Intercept" else "intercept" for name in right.columns]
    return None if response is None else response[rows], [own[rows] for own in explaining], said, rows
