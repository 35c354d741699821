"""Synthetic persons in households, with the columns that real surveys have; nobody is in it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.base.frozen import frozen
from microagg.checks import check_whole
from microagg.datasets.made import REGION_SHARES, REGIONS, check_frame, heap, table_as_frame


class Occupation(NamedTuple):
    """A code, how common it is, its usual level of education (0 to 4), its pay (log) and its share of women."""

    code: str
    share: float
    level: float
    pay: float
    women: float


OCCUPATIONS = (
    Occupation("0110", 0.6, 3.2, 0.05, 0.10),  # officers of the armed forces; the code begins with a zero
    Occupation("1120", 0.8, 3.9, 0.65, 0.22),  # managing directors
    Occupation("1211", 1.2, 3.9, 0.45, 0.45),  # finance managers
    Occupation("1321", 1.3, 3.6, 0.40, 0.18),  # production managers
    Occupation("1411", 1.0, 3.1, 0.10, 0.42),  # hotel managers
    Occupation("2142", 1.8, 4.0, 0.35, 0.15),  # civil engineers
    Occupation("2211", 1.0, 4.0, 0.70, 0.50),  # physicians
    Occupation("2221", 2.4, 3.9, 0.12, 0.86),  # nurses, qualified
    Occupation("2310", 0.9, 4.0, 0.30, 0.45),  # university teachers
    Occupation("2330", 2.6, 4.0, 0.18, 0.62),  # secondary school teachers
    Occupation("2341", 2.6, 3.9, 0.05, 0.85),  # primary school teachers
    Occupation("2411", 2.2, 3.8, 0.28, 0.52),  # accountants
    Occupation("2512", 2.6, 3.8, 0.38, 0.18),  # software developers
    Occupation("2611", 0.6, 4.0, 0.45, 0.46),  # lawyers
    Occupation("3112", 2.4, 3.3, 0.15, 0.14),  # engineering technicians
    Occupation("3221", 1.9, 3.2, 0.00, 0.86),  # nurses, assistant
    Occupation("3313", 2.8, 3.3, 0.05, 0.75),  # bookkeepers
    Occupation("3322", 2.6, 3.2, 0.15, 0.36),  # sales representatives
    Occupation("3412", 1.9, 3.3, -0.05, 0.78),  # social workers
    Occupation("4110", 5.2, 2.9, -0.05, 0.78),  # office clerks
    Occupation("4221", 0.9, 2.9, -0.10, 0.70),  # travel consultants
    Occupation("4312", 1.6, 3.0, 0.05, 0.62),  # insurance clerks
    Occupation("4321", 2.2, 2.5, -0.08, 0.28),  # stock clerks
    Occupation("5120", 2.8, 2.3, -0.22, 0.45),  # cooks
    Occupation("5131", 2.8, 2.3, -0.32, 0.66),  # waiters
    Occupation("5141", 1.4, 2.6, -0.35, 0.88),  # hairdressers
    Occupation("5223", 6.0, 2.5, -0.22, 0.68),  # shop assistants
    Occupation("5311", 2.0, 2.7, -0.25, 0.94),  # child care workers
    Occupation("5412", 1.0, 3.1, 0.12, 0.20),  # police officers
    Occupation("6111", 1.6, 2.2, -0.30, 0.28),  # crop growers
    Occupation("6121", 1.4, 2.2, -0.30, 0.32),  # dairy farmers
    Occupation("7112", 2.6, 2.4, -0.02, 0.02),  # bricklayers
    Occupation("7231", 2.8, 2.6, 0.00, 0.03),  # motor mechanics
    Occupation("7411", 2.4, 2.8, 0.08, 0.03),  # electricians
    Occupation("7512", 1.0, 2.4, -0.18, 0.35),  # bakers
    Occupation("8160", 1.8, 2.0, -0.08, 0.35),  # food machine operators
    Occupation("8332", 3.2, 2.1, -0.05, 0.04),  # lorry drivers
    Occupation("9112", 4.2, 1.4, -0.42, 0.84),  # cleaners
    Occupation("9313", 1.8, 1.5, -0.20, 0.03),  # building labourers
    Occupation("9412", 1.8, 1.5, -0.38, 0.66),  # kitchen helpers
)

PUBLIC_SERVICE = ("0110", "5412")
"""Codes of those who are never self-employed."""


EDUCATION = ("none", "primary", "lower secondary", "upper secondary", "tertiary")
"""The levels of education, lowest first."""
STATUSES = ("employed", "self-employed", "unemployed", "student", "retired", "home", "unable")
DIAGNOSES = ("none", "asthma", "back pain", "cancer", "depression", "diabetes", "heart disease", "rare disease")
_EMPLOYED, _SELF_EMPLOYED, _UNEMPLOYED, _STUDENT, _RETIRED, _HOME, _UNABLE = range(len(STATUSES))
_SEXES = ("female", "male")
_INTERVIEWS = np.datetime64("2024-06-30")  # age is in completed years on this day
_ADULT = 16  # younger persons are not asked about education, work and incomes

_PAY = np.array([0.12, -0.08, -0.06, 0.05, 0.0, 0.0, -0.04, 0.02])  # by region, as a logarithm
_RENTS = np.array([0.30, -0.15, -0.10, 0.12, 0.0, 0.0, 0.05, 0.08])

# By the head's age, from 18: how many households, and of which kind.
_BANDS = np.array([18, 30, 45, 60, 75, 93])
_BAND_SHARES = np.array([0.12, 0.26, 0.28, 0.22, 0.12])
_ALONE, _COUPLE, _LONE_PARENT, _FAMILY, _GROWN_FAMILY = range(5)
_KINDS = np.array(
    [
        [0.50, 0.25, 0.06, 0.17, 0.02],
        [0.24, 0.15, 0.09, 0.50, 0.02],
        [0.25, 0.30, 0.07, 0.21, 0.17],
        [0.32, 0.56, 0.01, 0.02, 0.09],
        [0.54, 0.42, 0.00, 0.00, 0.04],
    ]
)

Numbers = NDArray[np.int64]
Amounts = NDArray[np.float64]
Flags = NDArray[np.bool_]


@frozen()
class _Homes:
    """Households: each with its kind, its members and where they live."""

    kind: Numbers
    size: Numbers
    grown: Numbers  # children of 16 or more who still live there
    head_age: Numbers
    region: Numbers


@frozen()
class _People:
    """Persons in the order of the file: the household of each, the place in it, and who they are."""

    home: Numbers
    place: Numbers
    age: Numbers
    female: Flags
    level: Numbers  # of education; -1 below 16

    @property
    def adult(self) -> Flags:
        return self.age >= _ADULT


@frozen()
class _Work:
    """What adults do: codes are -1, and hours 0, if there is no work."""

    status: Numbers
    occupation: Numbers
    hours: Numbers


def households(n: int = 2000, *, seed: int = 0, frame: str = "pyarrow") -> Any:
    """Return a synthetic household survey: categories, dates, zeros, skipped questions and refused answers.

    The persons of a household are in consecutive rows. `household` and `person` are numbers that identify.
    `region`, `size` (persons), `capital` (income from it, a year), `rent` (a month, 0 for owners), `income`
    (of the household, a year, equivalised) and `weight` (of the sample) are the household's, and the same for
    all its persons. `sex`, `birth`, `age`, `education` (ordered), `status` (employment), `occupation` (40
    codes of 4 digits, as text), `hours` (a week), `wage`, `business`, `pension` (a year) and `diagnosis` are
    the person's.

    Values are missing for two reasons. Children below 16 are not asked about education, status and incomes,
    and only those who work have an occupation and hours. And some who are asked do not answer: 2 to 6 % in
    `hours`, `wage`, `business`, `pension`, `capital`, `rent` and `diagnosis`.

    Parameters
    ----------
    n : int
        Persons. The last household is cut so that there are exactly n.
    seed : int
    frame : {"pyarrow", "pandas", "polars"}
        Categories and dates have the types of the library. In pandas, whole numbers with missing values are
        floats.

    Returns
    -------
    dataframe of n rows and 19 columns

    Examples
    --------
    >>> import microagg as ma
    >>> people = ma.datasets.households(1000, seed=0, frame="pandas")
    >>> people.columns[:10].tolist()
    ['household', 'person', 'region', 'size', 'sex', 'birth', 'age', 'education', 'status', 'occupation']
    >>> people["education"].cat.categories.tolist()
    ['none', 'primary', 'lower secondary', 'upper secondary', 'tertiary']
    >>> bool(people.loc[people["age"] < 16, "wage"].isna().all())
    True
    """
    check_whole("n", n, 1)
    check_frame(frame)
    rng = np.random.default_rng(seed)
    homes = _draw_homes(n, rng)
    people = _draw_people(homes, rng)
    work = _draw_work(people, homes, rng)
    return table_as_frame(_table(homes, people, work, rng), frame)


def _draw_homes(n: int, rng: np.random.Generator) -> _Homes:
    """Draw households until they hold n persons; the last one may be cut."""
    band = rng.choice(_BAND_SHARES.size, size=n, p=_BAND_SHARES)  # n are always enough
    kind = (_KINDS.cumsum(axis=1)[band, :-1] <= rng.random(n)[:, None]).sum(axis=1)
    children = np.where(kind == _FAMILY, 1 + rng.poisson(0.85, n), np.where(kind == _LONE_PARENT, 1, 0))
    children = np.minimum(children + ((kind == _LONE_PARENT) & (rng.random(n) < 0.35)), 6)
    grown = np.where(kind == _GROWN_FAMILY, 1 + rng.binomial(2, 0.2, n), 0)
    size = np.where(np.isin(kind, (_ALONE, _LONE_PARENT)), 1, 2) + children + grown

    ends = np.cumsum(size)
    count = int(np.searchsorted(ends, n)) + 1
    size = size[:count]
    size[-1] -= ends[count - 1] - n
    low, high = _BANDS[band[:count]], _BANDS[band[:count] + 1]
    head_age = low + np.floor(rng.random(count) * (high - low)).astype(np.int64)
    region = rng.choice(REGIONS.size, size=count, p=REGION_SHARES)
    return _Homes(kind[:count], size, grown[:count], head_age, region)


def _draw_people(homes: _Homes, rng: np.random.Generator) -> _People:
    """Fill the households: the head, a partner, grown children, children."""
    home = np.repeat(np.arange(homes.size.size), homes.size)
    n = home.size
    place = np.arange(n) - (np.cumsum(homes.size) - homes.size)[home]
    kind, head_age = homes.kind[home], homes.head_age[home]
    paired = ~np.isin(kind, (_ALONE, _LONE_PARENT))
    head, partner = place == 0, paired & (place == 1)
    grown = (place > 1) & (place < 2 + homes.grown[home])

    female = rng.random(n) < 0.49
    chance = np.select([kind == _LONE_PARENT, kind == _ALONE], [0.83, 0.36 + 0.0045 * head_age], 0.38)
    female = np.where(head, rng.random(n) < chance, female)
    female_head = np.repeat(female[head], homes.size)
    female = np.where(partner, female_head == (rng.random(n) < 0.02), female)

    near = np.rint(head_age + np.where(female, -2, 2) + rng.normal(0, 3.5, n))
    older = np.floor(_ADULT + rng.random(n) ** 1.6 * np.maximum(np.minimum(head_age - 18, 45) - _ADULT, 1))
    young = np.floor(rng.random(n) * np.minimum(_ADULT, head_age - 17))
    age = np.select([head, partner, grown], [head_age, np.clip(near, 18, 97), older], young).astype(np.int64)
    return _People(home, place, age, female, _draw_education(home, age, female, rng))


def _draw_education(home: Numbers, age: Numbers, female: Flags, rng: np.random.Generator) -> Numbers:
    """Draw levels of education: higher among the young, similar within a household."""
    shared = rng.normal(0, 0.55, home[-1] + 1)[home]
    cohort = 0.014 * (52 - np.clip(age, 30, 85)) + np.where(female & (age < 45), 0.15, 0)
    score = shared + rng.normal(0, 0.83, age.size) + cohort
    level = np.searchsorted([-2.3, -1.55, -0.7, 0.65], score)
    most = np.select([age < 18, age < 22], [2, 3], 4)  # nobody has a degree at 17
    return np.where(age < _ADULT, -1, np.minimum(level, most))


def _draw_work(people: _People, homes: _Homes, rng: np.random.Generator) -> _Work:
    """Draw what each adult does: by age first, then by sex, children and education."""
    age, female, level = people.age, people.female, people.level
    n = age.size
    with_children = np.isin(homes.kind[people.home], (_LONE_PARENT, _FAMILY))
    studies = np.select([age < 18, age < 21, age < 25, age < 30], [0.88, 0.55, 0.24, 0.06], 0.0)
    retires = np.where(age < 52, 0, 1 / (1 + np.exp(-(age - np.where(female, 61.5, 63.0)) / 1.8)))
    stays = np.where(female, np.where(with_children, 0.20, 0.07), 0.015)
    unable = np.clip(0.012 + 0.0016 * (age - 25), 0.008, 0.09)
    unemployed = 0.035 + 0.022 * (4 - level)
    own = np.clip(0.04 + 0.0018 * (age - 20) + np.where(female, 0, 0.03), 0, 0.2)
    chances = ((_STUDENT, studies), (_RETIRED, retires), (_HOME, stays), (_UNABLE, unable), (_UNEMPLOYED, unemployed))
    status = np.full(n, -1)
    for code, chance in (*chances, (_SELF_EMPLOYED, own)):
        status = np.where((status < 0) & (rng.random(n) < chance), code, status)
    status = np.where(people.adult, np.where(status < 0, _EMPLOYED, status), -1)

    works = (status == _EMPLOYED) | (status == _SELF_EMPLOYED)
    occupation = _draw_occupations(works, people, rng)
    in_service = np.array([one.code in PUBLIC_SERVICE for one in OCCUPATIONS])[occupation] & works
    status = np.where(in_service, _EMPLOYED, status)
    part_time = rng.random(n) < np.where(female, np.where(with_children, 0.58, 0.32), 0.09)
    hours = np.where(part_time, 4 * rng.integers(2, 8, n), np.rint(rng.normal(41, 4, n)))
    hours = np.where(~part_time & (rng.random(n) < 0.5), 40, hours)
    hours = np.clip(np.where(status == _SELF_EMPLOYED, hours + rng.integers(0, 16, n), hours), 4, 80)
    hours = np.where(works, hours, 0).astype(np.int64)
    return _Work(status, occupation, hours)


def _draw_occupations(works: Flags, people: _People, rng: np.random.Generator) -> Numbers:
    """Draw occupations that suit the education and the sex; -1 for those who do not work."""
    _, shares, levels, _, women = (np.array(part) for part in zip(*OCCUPATIONS, strict=True))
    found = np.full(works.size, -1)
    chances = rng.random(works.size)
    for level in range(len(EDUCATION)):
        suits = shares * np.exp(-((levels - max(level, 1.4)) ** 2) / 0.5)
        for female in (True, False):
            cumulative = np.cumsum(suits * (women if female else 1 - women))
            rows = works & (people.level == level) & (people.female == female)
            found[rows] = np.searchsorted(cumulative, chances[rows] * cumulative[-1])
    return found


def _draw_incomes(homes: _Homes, people: _People, work: _Work, rng: np.random.Generator) -> dict[str, Amounts]:
    """Draw each person's wage, business income and pension: mostly zeros, heaped, skewed, some losses."""
    n = people.age.size
    pay = np.array([one.pay for one in OCCUPATIONS])
    experience = np.clip(people.age - 18 - np.array([0, 0, 0, 1, 6])[people.level], 0, 45)
    rate = 2.35 + 0.16 * people.level + 0.034 * experience - 0.00052 * experience**2 - 0.13 * people.female
    rate += _PAY[homes.region[people.home]] + np.where(work.occupation >= 0, pay[work.occupation], -0.1)
    rate = np.exp(rate + rng.normal(0, 0.3, n))
    months = np.where(rng.random(n) < 0.07, rng.integers(1, 12, n), 12)
    earned = rate * work.hours * 52 * months / 12

    # Some who do not work now have worked in the year before.
    had_job = rng.random(n) < np.select([work.status == _UNEMPLOYED, work.status == _STUDENT], [0.35, 0.25], 0.0)
    wage = np.where(work.status == _EMPLOYED, earned, np.where(had_job, rate * rng.integers(40, 700, n), 0))
    own = earned * 0.8 * np.exp(rng.normal(0, 0.7, n))
    own = np.where(rng.random(n) < 0.05, -0.3 * own, own)
    side = (work.status == _EMPLOYED) & (rng.random(n) < 0.04)
    business = np.select([work.status == _SELF_EMPLOYED, side], [own, rng.lognormal(7.4, 0.9, n)], 0)
    drawn = np.select([work.status == _RETIRED, work.status == _UNABLE], [5000 + 850 * rate, 4000 + 450 * rate], 0)
    pension = np.where(drawn > 0, drawn + rng.normal(0, 900, n), 0)
    return {"wage": heap(wage, rng), "business": heap(business, rng), "pension": heap(pension, rng)}


def _draw_home_amounts(
    homes: _Homes, people: _People, incomes: dict[str, Amounts], rng: np.random.Generator
) -> dict[str, Amounts]:
    """Draw what belongs to a household: income from capital, rent, equivalised income after tax, weight."""
    count = homes.size.size
    gross = sum(np.bincount(people.home, amount, count) for amount in incomes.values())
    wealth = np.clip(homes.head_age, 18, 75) * 0.025 + np.log(np.maximum(gross, 5000) / 30_000) * 0.7
    saves = rng.random(count) < np.clip(0.35 + 0.3 * wealth, 0.1, 0.9)
    capital = np.rint(np.where(saves, rng.lognormal(4.0 + wealth, 1.4), 0))

    rents = rng.random(count) < np.clip(0.85 - 0.011 * (homes.head_age - 18) - 0.1 * (homes.size > 2), 0.15, 0.9)
    asked = np.exp(6.1 + 0.16 * homes.size + _RENTS[homes.region] + rng.normal(0, 0.28, count))
    rent = np.where(rents, 10 * np.rint(np.minimum(asked, 4000) / 10), 0)

    below_14 = np.bincount(people.home, people.age < 14, count)
    below_16 = np.bincount(people.home, ~people.adult, count)
    net = gross + capital - 0.16 * np.maximum(gross - 10_000, 0) - 0.16 * np.maximum(gross - 50_000, 0)
    persons = 1 + 0.5 * (homes.size - below_14 - 1) + 0.3 * below_14
    support = np.maximum(rng.normal(7800, 900, count) * persons - net, 0)  # no household is left with nothing
    income = ((net + support + 2300 * below_16) / persons).round(2)

    # One weight for each region and size: so it is in real surveys, and it discloses the region.
    size = np.minimum(homes.size, 5) - 1
    drawn, adjusted = rng.uniform(120, 480, REGIONS.size), np.array([1.35, 1.05, 0.95, 0.9, 1.1])
    weight = (drawn[:, None] * adjusted * rng.uniform(0.97, 1.03, (REGIONS.size, 5))).round(2)[homes.region, size]
    return {"capital": capital, "rent": rent, "income": income, "weight": weight}


def _draw_diagnoses(people: _People, work: _Work, rng: np.random.Generator) -> Numbers:
    """Draw diagnoses: most persons have none, old persons and those who cannot work more often one."""
    chances = rng.random(people.age.size)
    ill = chances < np.where(work.status == _UNABLE, 0.85, np.clip(0.06 + 0.005 * people.age, 0, 0.5))
    old = (people.age >= 50).astype(int)
    young_and_old = np.array([[0.40, 0.24, 0.03, 0.22, 0.06, 0.03, 0.02], [0.10, 0.26, 0.12, 0.11, 0.20, 0.20, 0.01]])
    which = (young_and_old.cumsum(axis=1)[old, :-1] <= rng.random(ill.size)[:, None]).sum(axis=1)
    return np.where(ill, 1 + which, 0)


def _draw_births(age: Numbers, rng: np.random.Generator) -> Any:
    """Draw a day of birth that gives this age on the day of the interviews, which ends a month."""
    after = (_INTERVIEWS + 1).astype("datetime64[M]") - 12 * age
    first, end = (after - 12).astype("datetime64[D]"), after.astype("datetime64[D]")
    return first + np.floor(rng.random(age.size) * (end - first).astype(np.int64)).astype(np.int64)


def _draw_refusals(people: _People, work: _Work, rng: np.random.Generator) -> dict[str, Flags]:
    """Draw who does not answer what: some refuse every question about incomes, some a single one."""
    n = people.age.size
    silent = rng.random(n) < 0.03
    home_refuses = {
        name: rng.random(people.home[-1] + 1) < share for name, share in (("capital", 0.05), ("rent", 0.02))
    }
    return {
        "hours": rng.random(n) < 0.02,
        "wage": silent | ((work.status == _EMPLOYED) & (rng.random(n) < 0.03)),
        "business": silent | ((work.status == _SELF_EMPLOYED) & (rng.random(n) < 0.10)),
        "pension": silent,
        "diagnosis": rng.random(n) < 0.03,
        **{name: refuses[people.home] for name, refuses in home_refuses.items()},
    }


def _table(homes: _Homes, people: _People, work: _Work, rng: np.random.Generator) -> Any:
    """Put the columns together, with values missing where nobody was asked or nobody answered."""
    import pyarrow as pa

    home, adult, works = people.home, people.adult, work.hours > 0
    everybody = np.ones(home.size, dtype=bool)
    incomes = _draw_incomes(homes, people, work, rng)
    shared = {name: amount[home] for name, amount in _draw_home_amounts(homes, people, incomes, rng).items()}
    diagnosis = _draw_diagnoses(people, work, rng)
    number = (1_000_000 + np.cumsum(rng.integers(1, 4, homes.size.size)))[home]
    birth = _draw_births(people.age, rng)
    refused = _draw_refusals(people, work, rng)

    def whole(name: str, values: NDArray[Any], asked: Flags = everybody) -> Any:
        return pa.array(values.astype(np.int64), mask=~asked | refused[name])

    def category(codes: Numbers, words: Any, told: Flags = everybody, *, ordered: bool = False) -> Any:
        indices = pa.array(codes.astype(np.int8), mask=~told)
        return pa.DictionaryArray.from_arrays(indices, pa.array(list(words)), ordered=ordered)

    columns = {
        "household": number,
        "person": number * 100 + people.place + 1,
        "region": category(homes.region[home], REGIONS),
        "size": homes.size[home],
        "sex": category(1 - people.female, _SEXES),
        "birth": pa.array(birth, pa.date32()),
        "age": people.age,
        "education": category(people.level, EDUCATION, adult, ordered=True),
        "status": category(work.status, STATUSES, adult),
        "occupation": category(work.occupation, (one.code for one in OCCUPATIONS), works),
        "hours": whole("hours", work.hours, works),
        **{name: whole(name, amount, adult) for name, amount in incomes.items()},
        "capital": whole("capital", shared["capital"]),
        "rent": whole("rent", shared["rent"]),
        "income": shared["income"],
        "diagnosis": category(diagnosis, DIAGNOSES, ~refused["diagnosis"]),
        "weight": shared["weight"],
    }
    return pa.table(columns)
