"""Columns: names and cells, calm and odd."""

import datetime as dt
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

Random = np.random.Generator

CALM, ODD, WILD = 0, 1, 2
LEVELS = [CALM] * 5 + [ODD] * 3 + [WILD]
ODD_NAMES = [
    "a b", "größe", "שם", "x.y", ".a", "[a]", "a]", "a]]b[[", "a\"b", "it's", "=1+1", "+x", "-x", "@cmd",
    "<b>&amp;</b>", "<img src=x onerror=alert(1)>", "\x1b[31mred", "\u202eabc", "two\nlines", "tab\tname", "k",
    "name", "out", "n" * 300, "\u200b", "\ufeffx", "a,b", "a;b", "a|b", "a/b\\c", "{x}", "%s", "$HOME", "`x`", "NULL",
    "nan", "0", "1.5", "2020", "true", "__index_level_0__", "select", "😀", "ǅ", "ß" * 40, "a=b", "a:b", "#c",
    "--force", " lead", "trail ", "",
]  # fmt: skip
WORDS = [["north", "south"], ["red", "green", "blue"], ["low", "middle", "high"], ["yes", "no"], ["a", "b", "c", "d"]]


@dataclass
class Column:
    """A column: its name, cells as Python has them, their type as Arrow has it, and what it is good for."""

    name: str
    cells: list[Any]
    type: pa.DataType
    use: str  # number, category, date, text, flag, unit, weight, stratum, row, odd

    def array(self) -> Any:
        """Return the column as Arrow has it."""
        return pa.array(self.cells, self.type)


def one_of(rng: Random, things: Any) -> Any:
    """Choose one of some things."""
    return things[int(rng.integers(len(things)))]


def chance(rng: Random, share: float) -> bool:
    """Say yes in this share of all cases."""
    return bool(rng.random() < share)


def secret_word(rng: Random) -> str:
    """Make a word that occurs nowhere else."""
    return "".join(one_of(rng, "bcdfghjkmnpqrstvwxz") for _ in range(11))


def rows_of(rng: Random) -> int:
    """Draw the number of rows: few, and now and then many or hardly any."""
    draw = rng.random()
    if draw < 0.05:
        return int(rng.integers(0, 6)) if chance(rng, 0.5) else 8
    return int(rng.integers(150, 600)) if draw > 0.985 else int(rng.integers(8, 61))


def numbers(rng: Random, n: int, level: int) -> tuple[list[Any], pa.DataType]:
    """Draw a column of numbers."""
    usual = [_prices, _counts, _fractions, _spiked, _constant, _steps]
    draw = one_of(rng, usual if level == CALM else [*usual, *_ODD_NUMBERS] if level == ODD else _ODD_NUMBERS)
    return draw(rng, n)


def _prices(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [round(float(x), 2) for x in rng.lognormal(5, 1, n)], pa.float64()


def _counts(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [int(x) for x in rng.integers(0, 90, n)], one_of(rng, [pa.int64(), pa.int16(), pa.int32(), pa.uint8()])


def _fractions(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [float(x) for x in rng.normal(0, 1, n)], pa.float64()


def _spiked(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [0.0 if x < 0.5 else round(float(x) * 1000, 1) for x in rng.random(n)], pa.float64()


def _constant(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [7] * n if chance(rng, 0.3) else [int(x) for x in rng.integers(0, 3, n)], pa.int64()


def _steps(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [int(x) * 100 for x in rng.integers(0, 40, n)], pa.int64()


def _extreme(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    ends = [2**63 - 1, -(2**63), 2**53 + 1, 0, 1, -1, 2**62]
    return [one_of(rng, ends) for _ in range(n)], pa.int64()


def _unsigned(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [one_of(rng, [2**64 - 1, 0, 2**63, 5, 2**53 + 1]) for _ in range(n)], pa.uint64()


def _huge(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    scale = one_of(rng, [1.7e308, 1e300, 1e160, 1e155])
    return [float(x) * scale for x in rng.uniform(-1, 1, n)], pa.float64()


def _tiny(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    scale = one_of(rng, [5e-324, 1e-310, 1e-200, 1e-160])
    return [float(x) * scale for x in rng.integers(0, 50, n)], pa.float64()


def _not_finite(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [one_of(rng, [math.inf, -math.inf, math.nan, 1.5, 2.5, -0.0]) for _ in range(n)], pa.float64()


def _nan(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [math.nan if x < 0.2 else float(x) for x in rng.random(n)], pa.float64()


def _shifted(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [1e15 + float(x) for x in rng.integers(0, 9, n)], pa.float64()


def _zeros(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [one_of(rng, [0.0, -0.0, 1e-300]) for _ in range(n)], one_of(rng, [pa.float64(), pa.float32()])


def _half(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [np.float16(x) for x in rng.normal(0, 100, n)], pa.float16()


def _single(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [float(np.float32(x)) for x in rng.lognormal(0, 20, n)], pa.float32()


def _decimals(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    kind, step = one_of(
        rng,
        [
            (pa.decimal128(12, 2), "0.01"),
            (pa.decimal128(38, 10), "0.0000000001"),
            (pa.decimal256(60, 3), "0.001"),
            (pa.decimal128(20, -2), "1E+2"),
        ],
    )
    return [Decimal(int(x)).quantize(Decimal(step)) for x in rng.integers(-(10**6), 10**6, n) * 100], kind


def _all_missing(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    return [None] * n, one_of(rng, [pa.float64(), pa.int64(), pa.null(), pa.string()])


_ODD_NUMBERS = [
    _extreme, _unsigned, _huge, _tiny, _not_finite, _nan, _shifted, _zeros, _half, _single, _decimals, _all_missing,
]  # fmt: skip


def categories(rng: Random, n: int, level: int) -> tuple[list[Any], pa.DataType]:
    """Draw a column of few words, codes or truths."""
    draw = rng.random()
    if draw < 0.15:
        return [bool(x) for x in rng.integers(0, 2, n)], pa.bool_()
    if draw < 0.25:
        return [f"{int(x):03d}" for x in rng.integers(0, 4, n)], pa.string()
    words = list(one_of(rng, WORDS))
    if level != CALM and chance(rng, 0.4):
        words[0] = one_of(
            rng,
            [
                "",
                " ",
                "=2+3",
                "\x1b[1mx",
                "two\nlines",
                'q"uote',
                "NA",
                "<b>x",
                "é",
                "a\x00b" if level == WILD else "b",
                "1",
            ],
        )
    kinds = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]
    kinds += [pa.string_view(), pa.dictionary(pa.int32(), pa.large_string(), True)] if level != CALM else []
    return [one_of(rng, words) for _ in range(n)], one_of(rng, kinds)


def dates(rng: Random, n: int, level: int) -> tuple[list[Any], pa.DataType]:
    """Draw a column of days, moments or lengths of time."""
    days = [dt.date(1950, 1, 1) + dt.timedelta(days=int(x)) for x in rng.integers(0, 20000, n)]
    moments = [dt.datetime(day.year, day.month, day.day, int(rng.integers(24))) for day in days]
    usual = [(days, pa.date32()), (moments, pa.timestamp("us"))]
    if level == CALM:
        return one_of(rng, usual)
    ends = [one_of(rng, [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1)]) for _ in days]
    zone = one_of(rng, ["UTC", "Europe/Berlin", "+05:30"])
    odd = [
        (ends, pa.date32()), (days, pa.date64()), (moments, pa.timestamp("ns")), (moments, pa.timestamp("s", zone)),
        ([dt.timedelta(days=int(x)) for x in rng.integers(-99, 99, n)], pa.duration("s")),
        ([dt.time(int(x)) for x in rng.integers(0, 24, n)], pa.time32("s")),
        ([int(x) for x in rng.integers(-(2**62), 2**62, n)], pa.timestamp("us")),
    ]  # fmt: skip
    return one_of(rng, [*usual, *odd])


def nested(rng: Random, n: int) -> tuple[list[Any], pa.DataType]:
    """Draw a column of a type that nobody masks."""
    word = secret_word(rng)
    return one_of(
        rng,
        [
            ([[1, 2], None] * n, pa.list_(pa.int64())),
            ([{"a": 1, "b": word}] * n, pa.struct({"a": "int8", "b": "str"})),
            ([word.encode()] * n, pa.binary()), ([None] * n, pa.null()), ([b"abcd"] * n, pa.binary(4)),
            ([[("k", word)]] * n, pa.map_(pa.string(), pa.string())), ([[1.5, 2.5]] * n, pa.list_(pa.float32(), 2)),
            ([[word]] * n, pa.list_view(pa.string())), ([word.encode()] * n, pa.binary_view()),
            ([[word]] * n, pa.large_list(pa.dictionary(pa.int8(), pa.string()))), ([3] * n, pa.time64("ns")),
            ([b"\xff\xfe"] * n, pa.large_binary()), ([[]] * n, pa.list_(pa.null())), ([word] * n, "run-end"),
            ([(1, 2, 3)] * n, pa.month_day_nano_interval()), ([[word]] * n, pa.large_list_view(pa.string())),
        ],
    )  # fmt: skip


def draw_names(rng: Random, count: int, level: int) -> list[str]:
    """Draw names of columns; odd ones now and then."""
    found: list[str] = []
    for number in range(count):
        name = f"{'abcdefghij'[number % 10]}{number}"
        if level != CALM and chance(rng, 0.35 if level == ODD else 0.7):
            name = one_of(rng, ODD_NAMES)
        if name in found and not (level == WILD and chance(rng, 0.3)):
            name = f"{name}{number}"
        found.append(name)
    return found


def draw_columns(rng: Random, level: int, *, arrow: bool = True) -> list[Column]:
    """Draw the columns of a file: some to mask, some of other use; `arrow` if types beside those of text are wanted."""
    n = rows_of(rng)
    uses = ["number"] * int(rng.integers(1, 4)) + ["category"] * int(rng.integers(0, 3))
    for use, share in (("date", 0.2), ("text", 0.3), ("unit", 0.2), ("weight", 0.2), ("stratum", 0.25), ("flag", 0.1)):
        uses += [use] if chance(rng, share) else []
    uses += ["nested"] if arrow and level != CALM and chance(rng, 0.25) else []
    uses += ["row"] if "unit" in uses else []
    uses = [uses[i] for i in rng.permutation(len(uses))]
    names = draw_names(rng, len(uses), level)
    columns = [_column(rng, name, use, n, level) for name, use in zip(names, uses, strict=True)]
    for column in columns:
        if column.use in ("number", "category", "date") and chance(rng, 0.25):
            some = rng.random(n) < one_of(rng, [0.1, 0.3, 0.9 if level == WILD else 0.2])
            column.cells = [None if lost else cell for cell, lost in zip(column.cells, some, strict=True)]
    return columns


def _column(rng: Random, name: str, use: str, n: int, level: int) -> Column:
    # Most columns stay calm in an odd file too: what is refused at once shows little of what comes later.
    own = level if chance(rng, 0.4) else CALM
    if use == "number":
        cells, kind = numbers(rng, n, own)
        if kind == pa.float64() and n and chance(rng, 0.6):
            cells[int(rng.integers(n))] = 40 + float(rng.integers(10**8, 10**9)) / 1e9
        return Column(name, cells, kind, use)
    if use in ("category", "stratum"):
        if use == "stratum":
            return Column(name, [one_of(rng, ["in", "out"]) for _ in range(n)], pa.string(), use)
        cells, kind = categories(rng, n, own)
        return Column(name, cells, kind, use)
    if use == "date":
        return Column(name, *dates(rng, n, own), use)
    if use == "unit":
        most = one_of(rng, [1, 2, 3, 4])
        return Column(name, [f"h{int(x):02d}" for x in rng.integers(0, max(2, n // most + 1), n)], pa.string(), use)
    if use == "weight":
        return Column(name, [round(float(x), 2) for x in rng.uniform(1, 3, n)], pa.float64(), use)
    if use == "row":
        return Column(name, [f"r{i:05d}" for i in range(n)], pa.string(), use)
    if use == "flag":
        return Column(name, [bool(x) for x in rng.integers(0, 2, n)], pa.bool_(), use)
    if use == "nested":
        cells, kind = nested(rng, n)
        return Column(name, cells[:n], kind, use)
    return Column(name, [secret_word(rng) for _ in range(n)], pa.string(), "text")


def secrets_of(columns: list[Column]) -> list[str]:
    """Return cells that no message may show: words and digits that occur nowhere else."""
    found: set[str] = set()
    for column in columns:
        if column.use == "text":
            found.update(column.cells[:3])
        if column.use == "number" and column.type == pa.float64():
            digits = [repr(cell).partition(".")[2] for cell in column.cells if isinstance(cell, float)]
            found.update([one for one in digits if len(one) >= 8 and one.isdecimal()][:3])
    return sorted(found)
