"""Dataframes in memory: pandas, polars and Arrow, with types that files do not have."""

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa

from adversary.arrow import table_of
from adversary.case import Case
from adversary.choices import Plan, draw_plan, promise_of
from adversary.values import LEVELS, Column, Random, chance, draw_columns, one_of, secrets_of

_NOT_IN_MEMORY = ("same_order", "excel_safe", "public", "file_kind", "keys", "sample", "sample_seed")


def draw(rng: Random) -> Case:
    """Draw a dataframe and the choices that it is masked with."""
    level = one_of(rng, LEVELS)
    columns = draw_columns(rng, level)
    plan = draw_plan(rng, columns, level)
    for key in _NOT_IN_MEMORY:
        plan.choices.pop(key, None)
    library = one_of(rng, ["pandas", "pandas", "polars", "arrow"])
    index = chance(rng, 0.2)
    return Case(
        "frame",
        chosen=promise_of(plan, columns) | {"library": library},
        secrets=secrets_of(columns),
        act=lambda: _protect(_frame(library, columns, index), plan),
    )


def _frame(library: str, columns: list[Column], index: bool) -> Any:
    table = table_of(columns)
    if library == "pandas":
        if len({*table.column_names}) < table.num_columns:
            frame = pd.DataFrame(dict(enumerate(column.cells for column in columns)))
            frame.columns = pd.Index(table.column_names)
        else:
            try:
                frame = table.to_pandas()
            except Exception:  # noqa: BLE001 - pandas does not know every type
                frame = pd.DataFrame({column.name: pd.Series(column.cells, dtype=object) for column in columns})
        if index:
            frame.index = pd.Index([f"person {row}" for row in range(len(frame))])
        return frame
    known = not any(pa.types.is_decimal256(own.type) or pa.types.is_nested(own.type) for own in table.schema)
    if library == "polars" and known:
        try:
            return pl.from_arrow(table)
        except (pl.exceptions.PolarsError, pa.ArrowException, ValueError, TypeError):  # it does not know every type
            return table
    return table


def _protect(frame: Any, plan: Plan) -> Any:
    """Mask a frame and give what is released; the frame itself must stay as it was."""
    import microagg as ma

    choices = dict(plan.choices)
    for ours, theirs in (("relation", "relations"), ("analysis", "analyses")):
        if ours in choices:
            choices[theirs] = choices.pop(ours)
    choices.pop("header", None)
    before = frame.copy(deep=True) if isinstance(frame, pd.DataFrame) else None
    release = ma.protect(frame, plan.k, **choices)
    repr(release)
    if before is not None:
        pd.testing.assert_frame_equal(frame, before)
    return release.data
