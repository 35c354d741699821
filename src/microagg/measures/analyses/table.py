"""Tables of two categories: counts, and how strongly the two belong together."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np

from microagg.checks import shown_name
from microagg.columns.weights import Labels
from microagg.errors import InvalidData
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.analyses.definition import AnalysisKind, Estimates
from microagg.measures.analyses.records import Sample, Values, errors_of, errors_of_totals
from microagg.measures.analyses.terms import Term, known

_MOST_CELLS = 10_000  # more than anybody reads


def _terms(analysis: Analysis, names: Collection[Any]) -> list[Term]:
    return [Term.of(known(name, names)) for name in analysis.columns]


def _table(sample: Sample, analysis: Analysis) -> Estimates:
    """Return Cramér's V, and the weight of each cell that records of either file have."""
    shared = sample.records.shared
    rows, columns = (shared.levels(name) for name in analysis.columns)
    wanted = len(rows) * len(columns) * sample.n_domains
    if wanted > _MOST_CELLS:
        named = " and ".join(map(shown_name, analysis.columns))
        raise InvalidData(
            f"a table of {named} would have {wanted} cells, and {_MOST_CELLS} are the most. Name columns "
            f"of fewer different values.",
            parameter="analyses",
            columns=tuple(analysis.columns),
        )
    cells = sample.codes(analysis.columns[0]) * len(columns) + sample.codes(analysis.columns[1])
    strength, error = _cramer(sample, cells, len(rows), len(columns))
    n = len(rows) * len(columns)
    # A cell is a domain: its count is the total of 1 there.
    finer = replace(sample, domains=sample.domains * n + cells, n_domains=sample.n_domains * n, parts=None, _kept={})
    counts = finer.summed(sample.weights).reshape(sample.n_domains, n).T
    errors = errors_of_totals(finer, sample.weights).reshape(sample.n_domains, n).T
    names = [f"{a} and {b}" for a in rows for b in columns]
    nobody = sample.counts == 0
    return Estimates(
        ["Cramér's V", *names],
        np.vstack([strength, np.where(nobody, np.nan, counts)]),
        np.vstack([error, np.where(nobody, np.nan, errors)]),
    )


def _cramer(sample: Sample, cells: Labels, n_rows: int, n_columns: int) -> tuple[Values, Values]:
    """Return V = √(φ²/m), φ² = Σ p²/(r c) − 1, m + 1 being the fewer of rows and columns that have records.

    A record in cell (i, j) has the influence (2 p_ij/(r_i c_j) − Σ_b p_ib²/(r_i² c_b) − Σ_a p_aj²/(r_a c_j²))/W on φ².
    """
    n = n_rows * n_columns
    places = sample.domains * n + cells
    weighed = np.bincount(places, weights=sample.weights, minlength=sample.n_domains * n)
    p = weighed.reshape(sample.n_domains, n_rows, n_columns) / sample.totals[:, None, None]
    r, c = p.sum(axis=2, keepdims=True), p.sum(axis=1, keepdims=True)
    below = np.where(r * c > 0, r * c, 1.0)
    squares = p**2 / below
    phi = np.maximum(squares.sum(axis=(1, 2)) - 1.0, 0.0)
    m = np.minimum((r > 0).sum(axis=(1, 2)), (c > 0).sum(axis=(1, 2))) - 1.0
    m = np.where(m > 0, m, np.nan)
    found = np.sqrt(phi / m)
    slopes = 2.0 * p / below
    slopes -= squares.sum(axis=2, keepdims=True) / np.where(r > 0, r, 1.0)
    slopes -= squares.sum(axis=1, keepdims=True) / np.where(c > 0, c, 1.0)
    own = sample.domains
    steep = np.where(found > 0, 2.0 * found * m, np.nan)  # independent columns have no tangent
    influences = sample.weights * slopes.reshape(-1)[places] / (sample.totals * steep)[own]
    return found, errors_of(sample, influences)


TABLE = AnalysisKind(
    "table",
    "Table",
    _table,
    n_columns=(2, 2),
    wanted="Name two columns of categories.",
    terms=_terms,
    hides_zeros=True,
    tested=False,
)
