"""The unit is found from values, where groups can hold k different ones."""

import numpy as np
import pyarrow as pa

import microagg as ma
from microagg.columns.roles import Role
from microagg.study.inspection import inspect_table


def rows_of_households(sizes, seed=0):
    rng = np.random.default_rng(seed)
    number = np.repeat(rng.permutation(len(sizes)) + 4000, sizes)
    return pa.table(
        {
            "hid": number,
            "income": np.repeat(rng.lognormal(10, 1, len(sizes)).round(-3), sizes),
            "rooms": np.repeat(rng.integers(1, 9, len(sizes)), sizes),
            "age": rng.integers(0, 90, number.size),
        }
    )


def role_of(found, name):
    return next(column for column in found.columns if column.name == name).role


def test_a_household_number_is_the_unit():
    found = inspect_table(rows_of_households(np.random.default_rng(1).integers(1, 6, 300)), 5)
    assert role_of(found, "hid") is Role.UNIT
    assert found.roles["unit"] == "hid"
    assert "each group will hold 5 different ones" in found.reasons["hid"]
    assert found.repeats is None


def test_a_number_that_groups_cannot_hold_k_of_stays_an_identifier():
    few = rows_of_households(np.full(80, 3))
    assert role_of(inspect_table(few, 5), "hid") is Role.UNIT
    found = inspect_table(few, 100)  # there are 80 of them
    assert role_of(found, "hid") is Role.IDENTIFIER
    assert found.repeats == "hid"


def test_rows_without_a_unit_leave_an_identifier():
    table = rows_of_households(np.full(100, 3))
    holes = pa.array([None if i == 7 else value for i, value in enumerate(table["hid"].to_pylist())])
    found = inspect_table(table.set_column(0, "hid", holes), 5)
    assert role_of(found, "hid") is Role.IDENTIFIER
    assert found.repeats == "hid"


def test_strata_hold_k_units_as_well():
    table = rows_of_households(np.full(60, 20), seed=2)
    rows = np.arange(table.num_rows)
    split = np.where(rows < 20 * 3, "east", "west")  # three households in the east
    found = inspect_table(table.append_column("region", pa.array(split)), 5)
    assert role_of(found, "hid") is Role.UNIT
    assert role_of(found, "region") is Role.QUASI
    recipe = {**found.roles, "kinds": found.kinds}
    assert ma.protect(table.append_column("region", pa.array(split)), 5, **recipe).k_achieved >= 5


def test_a_unit_that_is_named_need_not_be_found():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 6, 150)
    dense = np.repeat(np.arange(150), sizes)  # with no column that is constant within it
    table = pa.table({"nr": dense, "x": rng.integers(0, 1000, dense.size), "age": rng.integers(0, 90, dense.size)})
    assert inspect_table(table, 5).roles["unit"] == "x"  # another number that repeats
    found = inspect_table(table, 5, unit="nr")
    assert found.roles["unit"] == "nr"
    assert found.reasons["nr"] == "as asked for; each group will hold 5 different ones"
    assert found.repeats is None
    assert inspect_table(table, 5, unit="other").roles == inspect_table(table, 5).roles


def test_amounts_of_a_household_are_quantities_where_it_is_named():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 6, 600)
    columns = {
        "income": np.repeat(rng.lognormal(10, 0.8, 600).round().astype(int), sizes),
        "benefit": np.repeat(np.where(rng.random(600) < 0.5, 0, rng.lognormal(8, 0.6, 600)).round().astype(int), sizes),
        "rooms": np.repeat(rng.integers(1, 9, 600), sizes),
        "age": rng.integers(0, 90, sizes.sum()),
    }
    number = np.repeat(rng.permutation(600) + 4000, sizes)
    holes = pa.array(number, mask=np.arange(number.size) == 7)  # masking will refuse it; the guesses stand
    for own in (pa.array(number), holes, pa.array(number.astype(str))):
        found = inspect_table(pa.table({"any": own, **columns}), 5, unit="any")
        kinds = {one.name: (one.role, one.kind) for one in found.columns}
        assert kinds["income"] == (Role.QUASI, "number")
        assert kinds["benefit"] == (Role.QUASI, "semi")
        assert kinds["any"][0] is Role.UNIT


def test_strata_hold_k_of_the_unit_that_is_named():
    rng = np.random.default_rng(3)
    firm, region = np.repeat(np.arange(60), 20), np.where(np.arange(1200) < 60, "east", "west")
    table = pa.table({"firm": firm, "region": region, "sales": rng.lognormal(6, 1, 1200), "staff": rng.random(1200)})
    assert role_of(inspect_table(table, 5, unit="staff"), "region") is Role.STRATUM
    assert role_of(inspect_table(table, 5, unit="firm"), "region") is Role.QUASI  # three firms in the east


def amounts_of_households(n, rng):
    """Draw incomes that hardly two households share, and amounts with a spike, a tail or rounding."""
    return {
        "income": rng.gamma(2, 9000, n).round(),
        "benefit": np.where(rng.random(n) < 0.5, 0, rng.lognormal(8, 0.6, n)).round(),
        "wealth": (1000 * (1 + rng.pareto(1.5, n))).round(),
        "rent": rng.lognormal(6.5, 0.5, n).round(-1),
    }


def test_amounts_of_households_without_a_number_are_quantities_but_for_one_that_stands_for_it():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 6, 800)
        columns = {name: np.repeat(own, sizes) for name, own in amounts_of_households(800, rng).items()}
        columns |= {"rooms": np.repeat(rng.integers(1, 9, 800), sizes), "age": rng.integers(0, 90, sizes.sum())}
        found = inspect_table(pa.table(columns), 5)
        assert found.roles["unit"] == "income"  # left out, so that k counts households
        kinds = {one.name: (one.role, one.kind) for one in found.columns}
        assert kinds["benefit"] == (Role.QUASI, "semi")
        assert {kinds["wealth"], kinds["rent"]} == {(Role.QUASI, "number")}


def test_no_number_is_averaged_because_an_amount_stands_for_the_household():
    for seed in range(4):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(1, 6, 800)
        income = np.repeat(rng.gamma(2, 9000, 800).round(), sizes)
        of = rng.integers(0, 260, 800)  # about three households to an employer, an area, a school
        numbers = {
            "dense": rng.permutation(260) + 1,
            "sparse": rng.choice(90_000, 260, replace=False) + 10_000,
            "uneven": rng.choice(1_000_000, 260, replace=False),
            "composed": rng.choice([11, 12, 13, 14], 260) * 1000 + rng.permutation(260),
        }
        columns = {name: np.repeat(own[of], sizes) for name, own in numbers.items()}
        rooms, age = np.repeat(rng.integers(1, 9, 800), sizes), rng.integers(0, 90, sizes.sum())
        for name, own in columns.items():
            found = inspect_table(pa.table({"income": income, name: own, "rooms": rooms, "age": age}), 5)
            assert {one.name: one.kind for one in found.columns}[name] == "nominal"
