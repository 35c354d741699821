"""The rows of the 2^d-tree paper so far."""

from collections.abc import Callable
from dataclasses import replace

from experiments._table import DIFFERS, Row, read_expected


class Rows:
    """The rows so far; each takes its page and its figure from `expected.csv`."""

    def __init__(self, most: int | None) -> None:
        self.expected = {(e.where, e.what): e for e in read_expected("orthants")}
        self.rows: list[Row] = []
        self.most = most

    def skips(self, n: int) -> bool:
        """Return whether a file is too large for this run."""
        return self.most is not None and n > self.most

    def add(
        self,
        where: str,
        what: str,
        ours: Callable[[], float | str] | float | str,
        *,
        n: int = 0,
        tolerance: str = "",
        reason: Callable[[], str] | str = "",
    ) -> None:
        """Add a row; `ours` may be a function, not asked when the file is too large, and `reason` when it agrees."""
        e = self.expected[where, what]
        if self.skips(n):
            self.rows.append(Row(where, e.page, what, e.expected, None, tolerance, "skipped: too large for this run"))
            return
        row = Row(where, e.page, what, e.expected, ours() if callable(ours) else ours, tolerance)
        if callable(reason):
            reason = reason() if row.verdict == DIFFERS else ""
        self.rows.append(replace(row, reason=reason))

    def skip(self, where: str, what: str, why: str) -> None:
        """Add a row that this run does not fill."""
        e = self.expected[where, what]
        self.rows.append(Row(where, e.page, what, e.expected, None, "", why))
