"""Columns of every kind, made by Hypothesis: as the library takes them, and as the oracles do."""

import numpy as np
from hypothesis import strategies as st

from microagg.columns.kinds import Cells, Date, Nominal, Number, Ordinal, Semi
from microagg.columns.table import Coded

KINDS = {"number": Number(), "date": Date(), "ordinal": Ordinal(5), "nominal": Nominal(), "semi": Semi(0.0)}

_VALUES = {
    "number": st.sampled_from([-2.5, 0.1, 0.3, 1.0, 7.25, 1e6]) | st.floats(-1e3, 1e3).map(lambda v: round(v, 3)),
    "date": st.integers(-3000, 20000).map(float),
    "ordinal": st.integers(0, 4).map(float),
    "nominal": st.integers(0, 5).map(float),
    "semi": st.just(0.0) | st.integers(1, 400).map(lambda cents: cents / 4),
}


@st.composite
def columns(draw, n, kinds=tuple(KINDS), missing=True):
    """Draw a column of n cells: its kind's name, and the cells as oracles have them, at least one present."""
    kind = draw(st.sampled_from(kinds))
    cell = _VALUES[kind]
    if missing and draw(st.booleans()):
        cell = cell | st.sampled_from([("missing", 1), ("missing", 2)])
    cells = draw(st.lists(cell, min_size=n, max_size=n))
    cells[draw(st.integers(0, n - 1))] = draw(_VALUES[kind])
    return kind, cells


def coded(name, kind, cells, importance=1.0):
    """Give a column as the library has it."""
    states = np.array([cell[1] if isinstance(cell, tuple) else 0 for cell in cells], dtype=np.uint8)
    values = np.array([np.nan if isinstance(cell, tuple) else cell for cell in cells])
    return Coded(name, KINDS[kind], Cells(values, states if states.any() else None), importance=importance)


def plain(cells):
    """Give the cells of a column of the library as oracles have them."""
    states = np.zeros(cells.values.size) if cells.states is None else cells.states
    return [
        ("missing", int(state)) if state else float(value) for value, state in zip(cells.values, states, strict=True)
    ]


def units_of(data, labels, k):
    """Draw the units of groups: k different ones in each, and of those one may have any number of rows."""
    found = data.draw(st.lists(st.integers(0, 5), min_size=labels.size, max_size=labels.size))
    for group in range(labels.max() + 1):
        for unit, row in enumerate(np.flatnonzero(labels == group)[:k]):
            found[row] = unit
    return found
