"""What the modules of the two IAMAT papers share: files, losses, and the rows so far."""

import time
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import microagg as ma
from experiments._table import DIFFERS, Expected, Row, read_expected

METHODS = {"MDAV": "cbfs", "IAMAT": "iamat"}
CENSUS_KEYS = ["FEDTAX", "AFNLWGT", "AGI", "EMCONTRB", "PTOTVAL", "TAXINC", "STATETAX"]
SIZES = range(10, 101, 10)
SIZE, COLUMNS, GROUPS = (
    "IAMAT-C table 2, size (k=4, d=10)",
    "IAMAT-C table 2, columns (n=10 000, k=3)",
    "IAMAT-C table 2, group size (n=10 000, d=10)",
)
seconds: dict[tuple[str, str], float] = {}


def as_table(X: NDArray[np.float64]) -> pa.Table:
    """Return an array's columns names."""
    return pa.table({f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])})


@cache
def file(kind: str, n: int, d: int, seed: int) -> pa.Table:
    """Draw, or load, a file."""
    if kind in ("uniform", "normal"):
        return as_table(getattr(ma.datasets, kind)(n, d, seed=seed))
    return ma.datasets.load(kind.lower())


@cache
def loss(method: str, k: int, kind: str, n: int = 0, d: int = 0, seed: int = 0) -> tuple[float, float]:
    """Return the information loss in percent, and seconds."""
    began = time.perf_counter()
    release = ma.protect(file(kind, n, d, seed), k=k, method=method, blocks="none", rounding="none")
    return release.information.percent, time.perf_counter() - began


def figures(k: int, kind: str, n: int = 0, d: int = 0, seed: int = 0) -> dict[str, float]:
    """Return the three figures of a line of their tables."""
    found = {name: loss(method, k, kind, n, d, seed)[0] for name, method in METHODS.items()}
    return {
        "MDAV IL": found["MDAV"],
        "IAMAT IL": found["IAMAT"],
        "improvement": 100 * (1 - found["IAMAT"] / found["MDAV"]),
    }


class Rows:
    """The rows so far; each takes its page and its figure from `expected.csv`."""

    def __init__(self, most: int | None, wide: int | None) -> None:
        self.expected = {(e.where, e.what): e for e in read_expected("iamat")}
        self.rows: list[Row] = []
        self.most, self.wide = most, wide

    def skips(self, n: int, d: int = 0) -> bool:
        """Return whether a file is too large for this run."""
        return (self.most is not None and n > self.most) or (self.wide is not None and d > self.wide)

    def add(
        self, where: str, what: str, ours: float | str | None, tolerance: str = "", reason: str | object = ""
    ) -> None:
        """Add a row; `reason` may be a function, which is asked only when ours differs."""
        e: Expected = self.expected[where, what]
        row = Row(where, e.page, what, e.expected, ours, tolerance)
        if callable(reason):
            reason = reason() if row.verdict == DIFFERS else ""
        self.rows.append(replace(row, reason=str(reason)))

    def skip(self, where: str, whats: Iterable[str], why: str = "skipped: too large for this run") -> None:
        """Add rows that this run does not fill."""
        for what in whats:
            self.add(where, what, None, reason=why)
