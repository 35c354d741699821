"""The unit is found from values, where groups can hold k different ones."""

import numpy as np
import pyarrow as pa

import microagg as ma
from microagg.schema import Role
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
    assert "groups will hold 5 different ones" in found.reasons["hid"]
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
