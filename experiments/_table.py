"""What the experiments share: the papers' figures, ours beside them, a verdict, and RESULTS.md.

A folder of a paper holds

- `expected.csv`, the paper's figures: where (table or figure), page, what, expected (as printed; empty when it is
  only drawn), note;
- `run.py` with `run(quick) -> list[Row]`, and optionally `TITLE`, `NOTES` (a list of paragraphs),
  `times() -> list[Time]` for what the last run took, `claims` (what is said of time in words, see `_claims`) and
  `draw(rows)` for the figures;
- `RESULTS.md`, which `write_results` writes, the same bytes from the same rows, and `TIMES.md`, which changes with the
  machine and is never compared.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

HERE = Path(__file__).parent
FIELDS = ("where", "page", "what", "expected", "note")
HEAD = ("what", "page", "paper", "ours", "difference", "tolerance", "verdict", "why")
EQUAL, WITHIN, DIFFERS = "equal", "within tolerance", "differs"
NOT_PRINTED, NOT_HAD, SKIPPED = "not printed", "not to be had", "skipped"
VERDICTS = (EQUAL, WITHIN, DIFFERS, NOT_PRINTED, NOT_HAD, SKIPPED)


def number(text: str) -> Decimal | None:
    """Read a printed number; None when it is none."""
    try:
        return Decimal(text.replace("−", "-").replace(" ", "").replace(" ", "").replace(",", ""))
    except InvalidOperation:
        return None


@dataclass(frozen=True)
class Expected:
    """A figure of a paper, as printed."""

    where: str
    page: str
    what: str
    expected: str
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A figure of a paper and ours.

    Parameters
    ----------
    where : str
        The paper and its table or figure.
    page : str
    what : str
        The one cell of it that is meant.
    expected : str
        As the paper prints it; empty when it only draws it.
    ours : float, int, str or None
        A number is rounded to the decimals that the paper prints (six significant digits when it prints none) before
        anything is compared. None: it cannot be had, or this run skipped it; `reason` says why ("skipped: ...").
    tolerance : str
        "2 %" of the paper's figure, or "1.5" in its unit; empty: none.
    reason : str
        Why it differs, or cannot be had; required then.
    """

    where: str
    page: str
    what: str
    expected: str
    ours: float | int | str | None
    tolerance: str = ""
    reason: str = ""

    @property
    def shown(self) -> str:
        """Ours, with the decimals of the paper."""
        if self.ours is None:
            return ""
        if isinstance(self.ours, str):
            return self.ours
        printed = number(self.expected)
        if printed is None:
            return f"{self.ours:.6g}"
        return f"{self.ours:.{max(0, -int(printed.as_tuple().exponent))}f}"

    def _pair(self) -> tuple[Decimal, Decimal] | None:
        printed, ours = number(self.expected), number(self.shown)
        return None if printed is None or ours is None else (printed, ours)

    @property
    def difference(self) -> str:
        """Ours minus the paper's: in percent of it where the tolerance is, else in its unit."""
        pair = self._pair()
        if pair is None:
            return ""
        printed, ours = pair
        if self.tolerance.endswith("%") and printed:
            text = f"{100 * (ours - printed) / abs(printed):+.2f} %"
        else:
            text = f"{ours - printed:+}"
        return text.replace("-", "−")

    @property
    def verdict(self) -> str:
        """Equal to one unit of the last digit printed, within the tolerance, or not."""
        if self.ours is None:
            return SKIPPED if self.reason.startswith(SKIPPED) else NOT_HAD
        if not self.expected:
            return NOT_PRINTED
        pair = self._pair()
        if pair is None:
            return EQUAL if self.shown == self.expected else DIFFERS
        printed, ours = pair
        gap = abs(ours - printed)
        exponent = int(printed.as_tuple().exponent)
        if gap <= (Decimal(1).scaleb(exponent) if exponent < 0 else 0):  # counts are equal or not
            return EQUAL
        if self.tolerance:
            allowed = Decimal(self.tolerance.removesuffix("%").strip())
            if gap <= (allowed * abs(printed) / 100 if self.tolerance.endswith("%") else allowed):
                return WITHIN
        return DIFFERS


def of_made_data(row: Row) -> Row:
    """Return the row of a figure whose data cannot be had: what was found on made data is told, and not judged."""
    found = row.shown + (f" ({row.reason})" if row.reason else "")
    reason = f"the paper's file is not available; on a file made in its place: {found}"
    return replace(row, ours=None, tolerance="", reason=reason)


@dataclass(frozen=True)
class Time:
    """Seconds of a run, and the paper's where it prints them."""

    where: str
    what: str
    paper: float | None
    ours: float


def read_expected(folder: str | Path) -> list[Expected]:
    """Read `expected.csv` of a folder ("iamat", or a path), in order."""
    with (HERE / folder / "expected.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        if tuple(reader.fieldnames or ()) != FIELDS:
            raise ValueError(f"{folder}/expected.csv has the columns {reader.fieldnames}, not {FIELDS}")
        found = [Expected(**{field: line[field].strip() for field in FIELDS}) for line in reader]
    keys = [(e.where, e.what) for e in found]
    if twice := {key for key in keys if keys.count(key) > 1}:
        raise ValueError(f"{folder}/expected.csv says twice: {sorted(twice)}")
    return found


def unmatched(folder: str | Path, rows: Iterable[Row]) -> list[Expected]:
    """Return what the paper prints and no row answers."""
    answered = {(row.where, row.what) for row in rows}
    return [e for e in read_expected(folder) if (e.where, e.what) not in answered]


def format_results(title: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> str:
    """Write RESULTS.md's text: a count of verdicts, the notes, and a table for each table of the paper."""
    for row in rows:
        if row.verdict in (DIFFERS, NOT_HAD, SKIPPED) and not row.reason:
            raise ValueError(f"{row.where}, {row.what}: {row.verdict}, and no reason is given")
        if any("|" in text or "\n" in text for text in (row.where, row.what, row.shown, row.reason)):
            raise ValueError(f"{row.where}, {row.what}: neither | nor a line's end may stand in a cell")
    counts = [(verdict, sum(row.verdict == verdict for row in rows)) for verdict in VERDICTS]
    lines = [f"# {title}", "", "; ".join(f"{verdict}: {count}" for verdict, count in counts if count) + ".", ""]
    for note in notes:
        lines += [f"> {note}", ""]
    for where in dict.fromkeys(row.where for row in rows):
        lines += [f"## {where}", "", _line(HEAD), _line(["---"] * len(HEAD))]
        for row in rows:
            if row.where == where:
                cells = (row.what, row.page, row.expected, row.shown, row.difference, row.tolerance)
                lines.append(_line([*cells, row.verdict, row.reason]))
        lines.append("")
    return "\n".join(lines).rstrip("\n") + "\n"


def write_results(folder: str | Path, title: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> Path:
    """Write RESULTS.md of a folder; every figure of `expected.csv` must have its row."""
    if missing := unmatched(folder, rows):
        raise ValueError(f"{folder}: no row for " + ", ".join(f"{e.where}: {e.what}" for e in missing))
    path = HERE / folder / "RESULTS.md"
    path.write_text(format_results(title, rows, notes), encoding="utf-8")
    return path


def read_results(folder: str | Path) -> tuple[str, list[Row], list[str]]:
    """Read RESULTS.md back: title, rows, notes. `format_results` of them gives the file again."""
    title, where, rows, notes = "", "", [], []
    for line in (HERE / folder / "RESULTS.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            title = line[2:]
        elif line.startswith("## "):
            where = line[3:]
        elif line.startswith("> "):
            notes.append(line[2:])
        elif line.startswith("|") and not re.match(r"\| (what|---) \|", line):
            what, page, expected, ours, _, tolerance, verdict, reason = (c.strip() for c in line[1:-1].split("|"))
            value = None if verdict in (NOT_HAD, SKIPPED) else ours
            rows.append(Row(where, page, what, expected, value, tolerance, reason))
    return title, rows, notes


def write_times(folder: str | Path, title: str, times: Sequence[Time], claims: Sequence[Sequence[str]] = ()) -> Path:
    """Write TIMES.md of a folder; `claims` is a table of what is said of time in words, its head first."""
    lines = [f"# {title}: seconds", "", "Of the last run; they change with the machine.", ""]
    for where in dict.fromkeys(time.where for time in times):
        lines += [f"## {where}", "", _line(["what", "paper", "ours", "times as fast"]), _line(["---"] * 4)]
        for time in times:
            if time.where == where:
                paper = ("", "") if time.paper is None else (f"{time.paper:g}", f"{time.paper / time.ours:.0f}")
                lines.append(_line([time.what, paper[0], f"{time.ours:.3g}", paper[1]]))
        lines.append("")
    if claims:
        lines += ["## In words", "", _line(claims[0]), _line(["---"] * len(claims[0])), *map(_line, claims[1:])]
    path = HERE / folder / "TIMES.md"
    path.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")
    return path


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"
