"""What values say of a column: each rule on a column made for it, under a name that says nothing."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg as ma
from microagg.columns.roles import Role
from microagg.errors import InvalidData
from microagg.guess.facts import read_facts
from microagg.guess.shape import is_heaped, step_of
from microagg.study.inspection import inspect_table
from tests.lengths import given_few

N = 2000


def guess_of(values, **others):
    return inspect_table(pa.table({"v": values, **others}), 5).columns[0]


def rng():
    return np.random.default_rng(5)


def frequencies(size):
    shares = 1 / np.arange(1, size + 1)
    return rng().permutation(shares / shares.sum())


NUMBERINGS = {
    "dense": lambda: rng().permutation(N) + 70_001,
    "with a step": lambda: rng().permutation(N) * 7919,
    "rising": lambda: np.sort(rng().choice(100 * N, N, replace=False)),
    "falling": lambda: np.sort(rng().choice(100 * N, N, replace=False))[::-1],
    "of one length": lambda: rng().choice(np.arange(10**7, 10**8), N, replace=False),
    "of five digits": lambda: rng().choice(np.arange(10**4, 10**5), N, replace=False),
    "drawn": lambda: rng().choice(10**6, N, replace=False),
    "by region": lambda: rng().permutation(np.repeat([1, 2, 3, 7], 500) * 100_000 + np.tile(np.arange(500), 4)),
    "persons of households": lambda: np.repeat(np.arange(500) * 100, 4) + np.tile(np.arange(1, 5), 500),
    "with a few twice": lambda: np.append(np.arange(N - 20), np.arange(20)) + 1000,
    "of somebody else, or 0": lambda: np.where(np.arange(N) % 3, rng().permutation(N) + 5000, 0),
    "of firms in many rows": lambda: rng().permutation(np.repeat(rng().choice(10**5, 200, replace=False), 10)),
    "of a register with a second series": lambda: rng().permutation(
        np.r_[rng().choice(10_000, N - 60, replace=False) + 1, 900_000 + rng().choice(300, 60, replace=False)]
    ),
    "behind a year": lambda: (
        np.minimum(25, rng().exponential(6, N).astype(int)) * 100_000 + rng().choice(9_999, N, replace=False)
    ),
    "evenly spread": lambda: rng().integers(0, 700, N),
}


@pytest.mark.parametrize("name", NUMBERINGS)
def test_a_numbering_is_an_identifier(name):
    found = guess_of(NUMBERINGS[name](), wage=rng().lognormal(size=N))
    assert found.role in (Role.IDENTIFIER, Role.UNIT), found
    assert found.kind == "nominal", found


AMOUNTS = {
    "skewed, all different": (lambda: np.unique(np.rint(rng().lognormal(13, 2, N))), "number"),
    "skewed and sorted": (lambda: np.sort(np.rint(rng().lognormal(13, 2, N))), "number"),
    "skewed, with a few far above": (
        lambda: np.unique(np.r_[np.rint(rng().lognormal(10, 1, N)), 9e7 + np.rint(rng().lognormal(10, 1, 5))]),
        "number",
    ),
    "of a few orders of magnitude": (lambda: np.unique(np.rint(rng().exponential(30_000, N))), "number"),
    "rounded": (lambda: np.rint(rng().lognormal(7, 0.5, N) / 50) * 50, "number"),
    "profits and losses": (lambda: np.rint(rng().normal(100, 5000, N)), "number"),
    "with a spike": (lambda: np.where(rng().random(N) < 0.4, 0, np.rint(rng().lognormal(9, 1, N))), "semi"),
    "with decimals": (lambda: rng().uniform(0, 100, N), "number"),
    "decimals with a spike": (lambda: np.where(rng().random(N) < 0.1, 0, rng().lognormal(9, 1, N)), "semi"),
    "ages": (lambda: np.clip(rng().normal(45, 20, N), 0, 95).astype(int), "number"),
    "even ages": (lambda: rng().integers(18, 90, N), "number"),
    "years": (lambda: 2024 - np.clip(rng().normal(45, 20, N), 0, 95).astype(int), "number"),
    "days": (lambda: rng().geometric(0.05, N), "number"),
}


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_are_quantities_though_they_may_all_differ(name):
    make, kind = AMOUNTS[name]
    found = guess_of(make())
    assert (found.role, found.kind) == (Role.QUASI, kind), found


def test_an_amount_that_nothing_else_shows_follows_others():
    income = rng().lognormal(10, 0.6, N)
    taxed = np.argsort(np.argsort(income)) * 37 + rng().integers(0, 30, N)  # as evenly spread as a numbering
    assert guess_of(taxed, income=income).kind == "number"
    assert guess_of(rng().permutation(taxed), income=income).role is Role.IDENTIFIER


CODES = {
    "two values": lambda: rng().integers(0, 2, N),
    "gaps": lambda: rng().choice([1, 2, 3, 5, 9], N),
    "no order": lambda: rng().integers(1, 17, N),
    "occupations": lambda: rng().choice(
        [a * 100 + b for a in range(1, 10) for b in range(11, 35)], N, p=frequencies(216)
    ),
    "all tens": lambda: rng().choice(np.arange(10, 3000, 10), N, p=frequencies(299)),
    "rare and frequent by turns": lambda: rng().choice(np.arange(1, 41), N, p=frequencies(40)),
    "places": lambda: rng().choice(rng().choice(np.arange(10000, 99999), 200, replace=False), N, p=frequencies(200)),
}


@pytest.mark.parametrize("name", CODES)
def test_codes_are_nominal(name):
    found = guess_of(CODES[name](), wage=rng().lognormal(size=N))
    assert (found.role, found.kind) == (Role.QUASI, "nominal"), found


def test_a_few_whole_numbers_are_ordinal_where_their_order_shows():
    size = rng().integers(1, 8, N)
    found = guess_of(size, rooms=size + rng().normal(0, 2, N))
    assert (found.role, found.kind) == (Role.QUASI, "ordinal")
    assert "rooms" in found.reason
    assert guess_of(size, again=size).kind == "nominal"  # the same codes twice show no order
    against = np.array([3, 7, 1, 5, 0, 9, 2])[size - 1]
    assert guess_of(size, rooms=against + rng().normal(0, 1, N)).kind == "nominal"


def test_answers_that_several_columns_share():
    draw = rng()
    answers = {f"q{i}": draw.permutation(np.arange(N) % 30 + 1) for i in range(3)}
    found = inspect_table(pa.table({**answers, "wage": rng().lognormal(size=N)}), 5)
    assert [one.kind for one in found.columns] == ["nominal"] * 3 + ["number"]
    assert "several columns share" in found.columns[0].reason


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (np.append(rng().integers(1, 6, N), [97, 98, 98, 99, 97, 99]), (97, 98, 99)),
        (np.append(rng().integers(1, 6, N), [-9, -8, -1]), (-9, -8, -1)),
        (np.append(rng().integers(0, 70, N), [999] * 5), (999,)),
        (np.append(rng().lognormal(5, 0.5, N), [-9.0] * 5), (-9,)),
        (np.append(np.rint(rng().lognormal(5, 0.5, N)), [9999] * 5), (9999,)),
        (np.clip(rng().normal(50, 25, N), -1, 99).astype(int), ()),  # 99 and -1 do not lie apart
        (np.append(rng().normal(0, 5, N), [-9.0] * 5), ()),
        (np.append(rng().integers(0, 20, N), 99), ()),  # once is an answer
    ],
)
def test_missing_codes_lie_apart(values, codes):
    found = guess_of(values)
    assert found.role is Role.QUASI
    assert found.missing_codes == codes
    assert not codes or "codes for missing values?" in found.reason


def test_a_spike_is_named_where_the_recipe_needs_it():
    values = np.where(rng().random(N) < 0.2, 520, rng().lognormal(7, 1, N))
    table = pa.table({"wage": values, "rest": np.where(rng().random(N) < 0.5, 0, rng().lognormal(1, 1, N))})
    assert inspect_table(table, 5).kinds == {"wage": {"spike": 520}, "rest": {"spike": 0}}


TEXTS = {
    "few words": (lambda: np.array(["a", "b", "c"])[np.arange(N) % 3], Role.QUASI, "nominal"),
    "digits": (lambda: [f"{i % 30:03}" for i in range(N)], Role.QUASI, "nominal"),
    "names": (lambda: [f"somebody {i}" for i in range(N)], Role.IDENTIFIER, "nominal"),
    "remarks": (lambda: [f"remark {i % 1200}" for i in range(N)], Role.DROP, "nominal"),
    "dates": (lambda: [f"2024-0{1 + i % 9}-{10 + i % 19}" for i in range(N)], Role.QUASI, "date"),
    "dates of another form": (lambda: [f"0{1 + i % 9}/{10 + i % 19}/2024" for i in range(N)], Role.DROP, "date"),
    "German dates": (lambda: [f"{10 + i % 19}.0{1 + i % 9}.2024" for i in range(N)], Role.QUASI, "date"),
    "dates as numbers": (lambda: [20240101 + 100 * (i % 12) + i % 28 for i in range(N)], Role.DROP, "date"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_texts_and_dates(name):
    make, role, kind = TEXTS[name]
    found = guess_of(pa.array(make()))
    assert (found.role, found.kind) == (role, kind), found


def test_times_of_entry_number_the_records():
    times = pa.array(np.arange(N) * 61 + 1_700_000_000, pa.timestamp("s"))
    assert guess_of(times).role is Role.IDENTIFIER
    assert guess_of(times.take(pa.array(rng().permutation(N)))).role is Role.QUASI


def households(shuffled):
    size = rng().integers(1, 6, 700)
    number = np.repeat(rng().choice(10**5, 700, replace=False), size)
    place = np.repeat(rng().choice(["north", "south", "west"], 700), size)
    income = np.repeat(np.rint(rng().lognormal(9, 1, 700)), size)
    weight = np.repeat(rng().choice(rng().lognormal(6, 0.3, 30), 700), size)
    age = rng().integers(0, 95, len(number))
    order = rng().permutation(len(number)) if shuffled else np.arange(len(number))
    columns = {"a": number, "b": place, "c": income, "d": weight, "e": age}
    return pa.table({name: values[order] for name, values in columns.items()})


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_household_is_found_by_what_is_constant_within(shuffled):
    found = inspect_table(households(shuffled), 5)
    assert found.roles == {"unit": "a", "quasi": ["b", "c", "e"], "drop": ["d"]}
    assert [one.kind for one in found.columns] == ["nominal", "nominal", "number", "number", "number"]
    assert "sampling weight?" in found.reasons["d"]


def test_weights_that_add_up_are_known_by_that():
    weights = rng().lognormal(size=N)
    found = guess_of(weights / weights.mean())
    assert found.role is Role.DROP
    assert "move it to weight" in found.reason
    assert guess_of(weights).role is Role.QUASI


def test_classes_of_a_quantity_do_not_make_it_a_household():
    age = np.sort(rng().integers(18, 90, N))
    table = pa.table({"age": age, "group": age // 10, "wage": rng().lognormal(size=N)})
    found = inspect_table(table, 5)
    assert found.repeats is None
    assert "unit" not in found.roles
    assert found.columns[0].role is Role.QUASI


def test_rounding_is_seen_in_frequencies_and_in_values():
    def heaped(values):
        facts = read_facts(pa.chunked_array([values]), "v")
        return is_heaped(facts.numbers, facts.counts)

    amounts = rng().lognormal(8, 1, N)
    assert heaped(np.where(rng().random(N) < 0.4, np.rint(amounts / 100) * 100, np.rint(amounts)))
    assert not heaped(np.rint(amounts))
    assert not heaped(rng().choice(np.arange(10, 3000, 10), N, p=frequencies(299)))


@settings(max_examples=150, deadline=None)
@given(
    size=st.integers(3, 400),
    start=st.integers(-(10**6), 10**9),
    step=st.sampled_from([1, 2, 10, 13, 1000]),
    seed=st.integers(0, 1000),
    name=st.sampled_from(["v", "income", "age", "wage", "weight_kg", "sex", "region"]),
    type_=st.sampled_from([pa.int64(), pa.float64()]),
)
def test_no_permutation_of_a_dense_numbering_is_masked(size, start, step, seed, name, type_):
    draw = np.random.default_rng(seed)
    values = pa.array(start + step * draw.permutation(size), pa.int64()).cast(type_)
    found = inspect_table(pa.table({name: values, "other": draw.lognormal(size=size)}), 2).columns[0]
    assert found.role in (Role.IDENTIFIER, Role.DROP), found  # from 18000101 on it may be dates


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(7)), st.integers(0, 100))
def test_the_order_of_columns_changes_no_guess(order, seed):
    draw = np.random.default_rng(seed)
    unit = np.repeat(draw.permutation(150), 3)
    columns = {
        "a": unit,
        "b": np.repeat(draw.choice(["x", "y", "z"], 150), 3),
        "c": draw.permutation(450),
        "sex": draw.choice(["f", "m"], 450),
        "region": draw.integers(1, 5, 450),
        "d": draw.lognormal(9, 1, 450),
        "e": draw.integers(1, 8, 450),
    }
    names = list(columns)
    usual = inspect_table(pa.table(columns), 5)
    other = inspect_table(pa.table({names[i]: columns[names[i]] for i in order}), 5)
    assert {one.name: (one.role, one.kind) for one in usual.columns} == {
        one.name: (one.role, one.kind) for one in other.columns
    }
    assert usual.roles["unit"] == other.roles["unit"] == "a"


@given_few(10, 60, st.data())
def test_any_table_gets_guesses_that_fit_it(data):
    size = data.draw(st.integers(1, 60))
    number = st.one_of(st.none(), st.integers(-(2**62), 2**62), st.integers(0, 9))
    kinds = {
        "whole": st.lists(number, min_size=size, max_size=size),
        "decimal": st.lists(st.one_of(st.none(), st.floats()), min_size=size, max_size=size),
        "text": st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=size, max_size=size),
        "truth": st.lists(st.one_of(st.none(), st.booleans()), min_size=size, max_size=size),
        "day": st.lists(st.one_of(st.none(), st.dates()), min_size=size, max_size=size),
    }
    types = {"whole": pa.int64(), "decimal": pa.float64(), "text": pa.string(), "truth": pa.bool_(), "day": pa.date32()}
    table = pa.table({name: pa.array(data.draw(values), types[name]) for name, values in kinds.items()})
    found = inspect_table(table, 2)
    assert [one.name for one in found.columns] == table.column_names
    assert all(one.reason for one in found.columns)
    assert set(found.kinds) <= set(found.roles.get("quasi", ()))
    assert all(one.kind is not None for one in found.columns if one.role is Role.QUASI)


def days(form, n=300):
    start = np.datetime64("1960-01-01T10:00:00", "s")
    return [form(one.item()) for one in start + 137 * rng().integers(0, 150, n).astype("timedelta64[D]")]


DATES = {
    "by the day": lambda day: f"{day:%Y-%m-%d}",
    "German": lambda day: f"{day:%d.%m.%Y}",
    "with slashes": lambda day: f"{day:%Y/%m/%d}",
    "with a time": lambda day: f"{day:%Y-%m-%dT%H:%M:%S}",
    "in UTC": lambda day: f"{day:%Y-%m-%dT%H:%M:%SZ}",
    "with fractions of seconds": lambda day: f"{day:%Y-%m-%dT%H:%M:%S}.250",
    "with an offset": lambda day: f"{day:%Y-%m-%dT%H:%M:%S}+02:00",
    "American": lambda day: f"{day:%m/%d/%Y}",
    "in short": lambda day: f"{day.day}.{day.month}.{day.year}",
    "with a day that is none": lambda day: f"{day:%Y-%m}-31",
}


@pytest.mark.parametrize("name", DATES)
def test_dates_are_masked_as_such_where_masking_reads_them(name):
    values = days(DATES[name])
    table = pa.table({"v": values, "x": np.arange(300.0)})
    guess = inspect_table(table, 5).columns[0]
    assert guess.kind == "date"
    try:
        ma.protect(table, 5, kinds={"v": "date"})
    except InvalidData:
        assert guess.role is Role.DROP
        assert "rewrite" in guess.reason
    else:
        assert guess.role is Role.QUASI
    readable = list(DATES)[:5]
    assert (guess.role is Role.QUASI) == (name in readable)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ends", [[-(2.0**63), 2.0**63], [0.0, 1e300], [-1e300, 0.0, 1e300]])
def test_whole_numbers_beyond_the_integers_have_no_step(ends):
    values = np.sort(ends)
    assert step_of(values) == 1.0
    assert guess_of(np.resize(values, 60)).distinct == len(ends)
