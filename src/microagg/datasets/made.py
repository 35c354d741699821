"""Synthetic data, and data with a known dependence tree: the same seed gives the same, and nobody is in it."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.checks import check_option, check_whole
from microagg.errors import InvalidParameter, a_type

FRAMES: tuple[Any, ...] = ("pyarrow", "pandas", "polars")


def check_frame(frame: Any) -> None:
    """Refuse a library that is not known."""
    if frame not in FRAMES:
        raise InvalidParameter(
            f"frame={frame!r} is not known. Pass one of {', '.join(map(repr, FRAMES))}.", parameter="frame"
        )


def as_frame(columns: dict[str, NDArray[Any]], frame: Any) -> Any:
    """Build a frame of this library from named columns."""
    import narwhals as nw

    check_frame(frame)
    try:
        return nw.to_native(nw.from_dict({k: np.asarray(v) for k, v in columns.items()}, backend=frame))
    except ModuleNotFoundError:
        raise _not_installed(frame) from None


def table_as_frame(table: Any, frame: Any) -> Any:
    """Return an Arrow table as a frame of this library; ordered categories keep their order, and dates are dates."""
    check_frame(frame)
    try:
        if frame == "pandas":
            return table.to_pandas(date_as_object=False)
        return _polars_frame(table) if frame == "polars" else table
    except ModuleNotFoundError:
        raise _not_installed(frame) from None


def _polars_frame(table: Any) -> Any:
    """Polars takes any dictionary for a category without an order; only its enumerations have one."""
    import polars as pl
    import pyarrow as pa

    ordered = {
        field.name: pl.Enum(table[field.name].chunk(0).dictionary.to_pylist())
        for field in table.schema
        if pa.types.is_dictionary(field.type) and field.type.ordered
    }
    return pl.from_arrow(table).with_columns(pl.col(name).cast(kind) for name, kind in ordered.items())


def _not_installed(frame: Any) -> InvalidParameter:
    return InvalidParameter(f"{frame} is not installed. Install it, or pass frame='pyarrow'.")


REGIONS = np.array(["Coast", "Delta", "Hills", "Lakes", "North", "Plains", "South", "Valley"])
REGION_SHARES = np.array([0.22, 0.05, 0.10, 0.12, 0.08, 0.15, 0.18, 0.10])
_RICH_REGIONS = {"Coast": 1.15, "Lakes": 1.05, "Hills": 0.9, "Delta": 0.85}


def uniform(n: int, d: int = 10, *, seed: int = 0) -> NDArray[np.float64]:
    """Draw records uniformly from the unit cube.

    Parameters
    ----------
    n, d : int
        Records and columns.
    seed : int

    Returns
    -------
    array of shape (n, d)

    Examples
    --------
    >>> import microagg as ma
    >>> ma.datasets.uniform(2, 3, seed=0).round(2)
    array([[0.64, 0.27, 0.04],
           [0.02, 0.81, 0.91]])
    """
    _check_size(n, d)
    return np.random.default_rng(seed).random((n, d))


def normal(n: int, d: int = 10, *, seed: int = 0) -> NDArray[np.float64]:
    """Draw records from independent standard normal columns.

    Parameters
    ----------
    n, d : int
        Records and columns.
    seed : int

    Returns
    -------
    array of shape (n, d)

    Examples
    --------
    >>> import microagg as ma
    >>> ma.datasets.normal(2, 3, seed=0).round(2)
    array([[ 0.13, -0.13,  0.64],
           [ 0.1 , -0.54,  0.36]])
    """
    _check_size(n, d)
    return np.random.default_rng(seed).standard_normal((n, d))


def survey(n: int = 2000, *, seed: int = 0, frame: str = "pyarrow") -> Any:
    """Make a believable household survey: zeros, heaping, skew, outliers and strong correlations.

    Columns: `person` (an identifier), `region` (a stratum), `weight` (of the sample), and ten numeric
    ones: `age`, `education` (years), `hours` (a week), `wage`, `business`, `capital`, `pension`
    (incomes a year), their sum `income`, `tax` and `contributions` (social security).

    Parameters
    ----------
    n : int
        Persons.
    seed : int
    frame : {"pyarrow", "pandas", "polars"}

    Returns
    -------
    dataframe of n rows and 13 columns

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(1000, seed=0)
    >>> survey.column_names[:6]
    ['person', 'region', 'weight', 'age', 'education', 'hours']
    """
    _check_size(n, 1)
    rng = np.random.default_rng(seed)
    region = rng.choice(REGIONS, size=n, p=REGION_SHARES)
    wealth = np.array([_RICH_REGIONS.get(name, 1.0) for name in REGIONS])[np.searchsorted(REGIONS, region)]

    age = np.clip(np.rint(16 + 74 * rng.beta(1.6, 2.1, n)), 16, 90).astype(np.int64)
    age = np.where(rng.random(n) < 0.08, 5 * np.rint(age / 5).astype(np.int64), age)  # "about fifty"
    schooling = rng.choice([9, 10, 12, 13, 15, 17, 20], size=n, p=[0.14, 0.16, 0.32, 0.12, 0.14, 0.10, 0.02])
    education = np.minimum(schooling, np.maximum(9, age - 6))

    works = rng.random(n) < np.where(age < 20, 0.35, np.where(age < 62, 0.82, np.where(age < 70, 0.25, 0.04)))
    self_employed = works & (rng.random(n) < 0.11)
    part_time = rng.random(n) < 0.24
    hours = np.where(part_time, rng.integers(8, 33, n), np.rint(rng.normal(41, 5, n)).astype(np.int64))
    hours = np.where(~part_time & (rng.random(n) < 0.45), 40, hours)
    hours = np.where(works, np.clip(hours, 4, 80), 0)

    experience = np.clip(age - education - 6, 0, 45)
    rate = np.exp(1.9 + 0.085 * education + 0.035 * experience - 0.0006 * experience**2 + rng.normal(0, 0.38, n))
    earned = hours * 50 * rate * wealth
    wage = heap(np.where(works & ~self_employed, earned, 0), rng)
    side_job = works & ~self_employed & (rng.random(n) < 0.04)
    business = np.where(self_employed, earned * np.exp(rng.normal(0, 0.7, n)), 0)
    business = np.rint(np.where(side_job, rng.lognormal(7.6, 0.9, n), business))
    saver = rng.random(n) < np.clip(0.12 + 0.006 * (age - 20) + 0.02 * (education - 9), 0.05, 0.75)
    capital = np.rint(np.where(saver, rng.lognormal(4.2 + 0.03 * age + 0.06 * (education - 9), 1.5, n), 0))
    retired = (age >= 60) & ~works
    pension = heap(np.where(retired, 9000 + 0.45 * 1900 * rate * wealth, 0), rng)
    income = wage + business + capital + pension

    taxable = np.maximum(income - 9000, 0)
    brackets = 0.14 * taxable + 0.10 * np.maximum(taxable - 20_000, 0) + 0.14 * np.maximum(taxable - 60_000, 0)
    tax = np.rint(brackets * rng.uniform(0.88, 1.02, n))
    contributions = np.rint(0.0765 * np.minimum(wage, 90_000) + 0.153 * np.minimum(business, 90_000))
    weight = (rng.lognormal(6.2, 0.35, n) / np.array([1.3, 1.0])[(age > 65).astype(int)]).round(2)
    amounts = {
        "wage": wage,
        "business": business,
        "capital": capital,
        "pension": pension,
        "income": income,
        "tax": tax,
        "contributions": contributions,
    }
    columns: dict[str, NDArray[Any]] = {
        "person": rng.permutation(n) + 10_000_001,
        "region": region,
        "weight": weight,
        "age": age,
        "education": education,
        "hours": hours,
        **{name: amount.astype(np.int64) for name, amount in amounts.items()},
    }
    return as_frame(columns, frame)


def panel(n: int = 500, *, waves: int = 7, seed: int = 0, frame: str = "pyarrow") -> Any:
    """Make a panel: the same persons in several years, with columns that stay the same for a person.

    Columns: `person` (the unit) and `year`; constant for a person `birth` (year), `education` (years), `height` (cm)
    and `parents` (what the parents earned in a year); from year to year `hours` (a week), `wage`, `rent` and `savings`.

    Parameters
    ----------
    n : int
        Persons.
    waves : int
        Years, in each of which every person is asked.
    seed : int
    frame : {"pyarrow", "pandas", "polars"}

    Returns
    -------
    dataframe of n times `waves` rows and 10 columns

    Examples
    --------
    >>> import microagg as ma
    >>> panel = ma.datasets.panel(100, waves=5)
    >>> panel.num_rows, panel.column_names[:4]
    (500, ['person', 'year', 'birth', 'education'])
    """
    _check_size(n, waves)
    rng = np.random.default_rng(seed)
    person, year = np.repeat(np.arange(n), waves), np.tile(np.arange(2015, 2015 + waves), n)
    birth = 2015 - np.rint(18 + 42 * rng.beta(1.5, 1.8, n)).astype(np.int64)
    education = rng.choice([9, 10, 12, 13, 15, 17, 20], size=n, p=[0.14, 0.16, 0.32, 0.12, 0.14, 0.10, 0.02])
    height = np.rint(rng.normal(171, 9, n)).astype(np.int64)
    parents = np.rint(rng.lognormal(9.6 + 0.05 * (education - 12), 0.45, n)).astype(np.int64)
    ability = rng.normal(0, 0.35, n) + 0.15 * (np.log(parents) - 9.6)
    hours = np.clip(np.rint(np.repeat(rng.normal(37, 7, n), waves) + rng.normal(0, 3, n * waves)), 4, 70)
    worked = np.clip(year - birth[person] - education[person] - 6, 0, 45)
    rate = np.exp(1.9 + 0.08 * education[person] + 0.03 * worked - 0.0005 * worked**2 + ability[person])
    wage = heap(50 * hours * rate * np.exp(rng.normal(0, 0.08, n * waves)), rng)
    rent = np.rint(0.22 * wage / 12 * np.exp(rng.normal(0, 0.2, n * waves)))
    savings = np.maximum(np.rint(wage * rng.normal(0.08, 0.06, n * waves)), 0)
    numbers = rng.permutation(n) + 700_001
    columns = {
        "person": numbers[person],
        "year": year,
        "birth": birth[person],
        "education": education[person],
        "height": height[person],
        "parents": parents[person],
        "hours": hours,
        "wage": wage,
        "rent": rent,
        "savings": savings,
    }
    return as_frame({name: values.astype(np.int64) for name, values in columns.items()}, frame)


def heap(amount: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Round some answers the way people do: a third to thousands, a quarter to hundreds."""
    habit = rng.random(amount.shape[0])
    unit = np.where(habit < 0.33, 1000.0, np.where(habit < 0.58, 100.0, 1.0))
    return np.asarray(np.rint(amount / unit) * unit)


def _check_size(n: int, d: int) -> None:
    if n < 1 or d < 1:
        raise InvalidParameter(f"n={n}, d={d}: there must be at least 1 record and 1 column.", parameter="n")


TREES: dict[str, tuple[int | None, ...]] = {
    "eight": (None, 0, 0, 1, 1, 2, 2, 5),
    "sixteen": (None, 0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 4, 6, 9, 9, 13),
    "twenty-two": (None, 0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 4, 5, 7, 7, 7, 10, 11, 11, 14, 18),
}
"""Trees of 8, 16 and 22 columns, by each column's parent: stars, chains and some of both."""

# Pr(x_1 = 0), then for each other column its parent and Pr(x = 0 | parent = 0), Pr(x = 0 | parent = 1).
_ROOT = 0.40
_RELATED = ((0, 0.30, 0.10), (0, 0.70, 0.90), (0, 0.20, 0.60), (2, 0.80, 0.40), (2, 0.15, 0.76))
_UNRELATED = ((0, 0.30, 0.10), (0, 0.60, 0.70), (0, 0.20, 0.60), (2, 0.40, 0.50), (2, 0.15, 0.76))


def dependence_tree(
    parents: str | Sequence[int | None],
    n: int = 5000,
    *,
    categories: int = 10,
    width: int = 100,
    seed: int = 0,
    frame: str = "pyarrow",
) -> Any:
    """Draw records whose columns depend on each other along a given tree, by random conditional tables.

    A column's category depends on its parent's alone; within a category the value is a whole number,
    equally likely: category c holds c · width + 1 to (c + 1) · width.

    Parameters
    ----------
    parents : {"eight", "sixteen", "twenty-two"} or list
        For each column the number of its parent, which comes before it; None for the first.
    n : int
        Records.
    categories, width : int
        How many categories a column has, and how wide each is.
    seed : int
        Draws the tables and the records.
    frame : {"pyarrow", "pandas", "polars"}

    Returns
    -------
    dataframe of n rows, with columns `v1`, `v2`, ...

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing dependence-based information to enhance micro-aggregation for
    secure statistical databases. Pattern Analysis and Applications 16, 2013, section 4.1.

    Examples
    --------
    >>> import microagg as ma
    >>> table = ma.datasets.dependence_tree([None, 0, 0, 1], n=1000, seed=0)
    >>> table.column_names
    ['v1', 'v2', 'v3', 'v4']
    >>> ma.DependenceTree(width=100).fit(table).edges_[0][:2]
    (0, 1)
    """
    links = _check_parents(parents)
    check_whole("n", n, 1)
    check_whole("categories", categories, 2)
    check_whole("width", width, 1)
    rng = np.random.default_rng(seed)
    drawn: list[NDArray[np.int64]] = []
    for parent in links:
        if parent is None:
            table = _shares(rng.random((1, categories)))
            above = np.zeros(n, dtype=np.int64)
        else:
            table = _shares(rng.random((categories, categories)))
            above = drawn[parent]
        drawn.append(_draw(table, above, rng))
    columns = {f"v{j}": c * width + rng.integers(1, width + 1, n) for j, c in enumerate(drawn, start=1)}
    return as_frame(columns, frame)


def binary_tree(n: int = 5000, *, siblings: str = "related", seed: int = 0, frame: str = "pyarrow") -> Any:
    """Draw six columns of zeros and ones along the tree 1-2, 1-3, 1-4, 3-5, 3-6.

    Parameters
    ----------
    n : int
        Records.
    siblings : {"related", "unrelated"}
        Whether the second column's probabilities and the third's add up to 1, or are free.
    seed : int
    frame : {"pyarrow", "pandas", "polars"}

    Returns
    -------
    dataframe of n rows, with columns `x1` to `x6`

    References
    ----------
    B. J. Oommen, E. Fayyoumi: On utilizing dependence-based information to enhance micro-aggregation for
    secure statistical databases. Pattern Analysis and Applications 16, 2013, tables 2 and 3.

    Examples
    --------
    >>> import microagg as ma
    >>> ma.datasets.binary_tree(1000, seed=0).column_names
    ['x1', 'x2', 'x3', 'x4', 'x5', 'x6']
    """
    check_whole("n", n, 1)
    check_option("siblings", siblings, ("related", "unrelated"))
    rng = np.random.default_rng(seed)
    drawn = [_draw(np.array([[_ROOT, 1.0]]), np.zeros(n, dtype=np.int64), rng)]
    for parent, if_zero, if_one in _RELATED if siblings == "related" else _UNRELATED:
        drawn.append(_draw(np.array([[if_zero, 1.0], [if_one, 1.0]]), drawn[parent], rng))
    return as_frame({f"x{j}": values for j, values in enumerate(drawn, start=1)}, frame)


def _shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Make each row of positive numbers a cumulative distribution."""
    cumulative = np.cumsum(table, axis=1)
    return np.asarray(cumulative / cumulative[:, -1:])


def _draw(table: NDArray[np.float64], above: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw a category for each record, by the row of the table that its parent's category names."""
    chances = rng.random(above.size)
    return np.asarray((table[above] <= chances[:, None]).sum(axis=1))


def _check_parents(parents: Any) -> tuple[int | None, ...]:
    if isinstance(parents, str):
        if parents not in TREES:
            raise InvalidParameter(
                f"parents={parents!r} is not known. Pass one of {', '.join(TREES)}, or a list.", parameter="parents"
            )
        return TREES[parents]
    if not isinstance(parents, Iterable):
        raise InvalidParameter(f"parents is {a_type(parents)}. Pass {', '.join(TREES)}, or a list.")
    links = tuple(parents)
    if not links or links[0] is not None:
        raise InvalidParameter("the first column is the root of the tree. Start the list of parents with None.")
    for j, parent in enumerate(links[1:], start=1):
        whole = isinstance(parent, (int, np.integer)) and not isinstance(parent, bool)
        if not (whole and 0 <= parent < j):
            shown = parent if whole or parent is None else a_type(parent)
            raise InvalidParameter(f"the parent of column {j} is {shown}. Pass the number of a column before it.")
    return links
