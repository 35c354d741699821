"""Synthetic data: the same seed gives the same data, and nobody is in it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.datasets._frame import as_frame
from microagg.errors import InvalidParameter

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
