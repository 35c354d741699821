import numpy as np
import pyarrow as pa
import pytest

import microagg as ma
from microagg.errors import InvalidData
from microagg.schema import Role
from microagg.study.inspection import inspect_table

N = 400
RNG = np.random.default_rng(0)


def test_a_survey():
    found = inspect_table(ma.datasets.survey(2000, seed=0), 5)
    assert found.records == 2000
    assert found.roles["identifiers"] == ["person"]
    assert found.roles["weight"] == "weight"
    assert found.roles["strata"] == ["region"]
    assert len(found.roles["quasi"]) == 10
    assert set(found.roles) == {"identifiers", "weight", "strata", "quasi"}
    assert found.unique > 1900
    assert found.incomplete == 0
    release = ma.protect(ma.datasets.survey(2000, seed=0), 5, **found.roles)
    assert release.k_achieved >= 5


COLUMNS = {
    "record_no": (np.arange(N), Role.IDENTIFIER, "numbers the records"),
    "email": ([f"p{i}@example.org" for i in range(N)], Role.IDENTIFIER, "by its name"),
    "remark": ([f"remark {i}" for i in range(N)], Role.IDENTIFIER, "tells people apart"),
    "household": (RNG.integers(0, 150, N), Role.UNIT, "belong together"),
    "wgt": (RNG.random(N) + 0.5, Role.WEIGHT, "no value is negative"),
    "HIV": (RNG.integers(0, 2, N), Role.CONFIDENTIAL, "sensitive"),
    "sex": (RNG.integers(1, 3, N), Role.STRATUM, "has records enough"),
    "country": ([f"c{i % 45}" for i in range(N)], Role.DROP, "cannot be averaged"),
    "job": ([f"job {i % 30}" for i in range(N)], Role.DROP, "cannot be averaged"),
    "born": (pa.array(RNG.integers(0, 9000, N), pa.int32()).cast(pa.date32()), Role.DROP, "year or an age"),
    "wave": (np.full(N, 3), Role.KEEP, "same value"),
    "nothing": (pa.nulls(N, pa.float64()), Role.DROP, "empty"),
    "patient_id": (RNG.integers(0, 30, N), Role.DROP, "may identify"),
    "health_insurance_number": (RNG.permutation(N) * 7919, Role.IDENTIFIER, "no quantity"),
    "health_expenditure": (RNG.lognormal(size=N), Role.QUASI, "numbers"),
    "drug_notes": ([f"note {i % 300}" for i in range(N)], Role.DROP, "cannot be averaged"),
    "weight_kg": (RNG.normal(75, 10, N), Role.QUASI, "numbers"),
    "customerId": (RNG.integers(0, 200, N) + 5, Role.DROP, "may identify"),
    "income": (RNG.lognormal(size=N), Role.QUASI, "numbers, 400 different values"),
    "children": (RNG.integers(0, 5, N), Role.QUASI, "only 5"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_each_guess_and_its_reason(name):
    table = pa.table({key: values for key, (values, _, _) in COLUMNS.items()})
    guess = next(column for column in inspect_table(table, 5).columns if column.name == name)
    _, role, reason = COLUMNS[name]
    assert guess.role is role, guess
    assert reason in guess.reason


def test_who_a_record_belongs_to():
    table = pa.table({"person_id": np.repeat(np.arange(100), 4), "visits": RNG.random(400)})
    assert inspect_table(table, 3).roles == {"quasi": ["visits"], "unit": "person_id"}


def test_columns_of_other_kinds():
    table = pa.table(
        {
            "kind": pa.array(["a", "b"] * 20).dictionary_encode(),
            "nothing": pa.nulls(40),
            "list": [[1, 2]] * 40,
            "a": np.arange(40.0) ** 2,
        }
    )
    assert inspect_table(table, 3).roles == {"quasi": ["a"], "drop": ["kind", "nothing", "list"]}


def test_missing_values_and_no_numbers():
    table = pa.table({"a": pa.array([1.0, None, 2.0, 4.0]), "b": ["x", "y", "x", "y"]})
    found = inspect_table(table, 2)
    assert found.incomplete == 1
    assert found.columns[0].missing == 1
    assert inspect_table(table.select(["b"]), 2).roles == {"drop": ["b"]}
    with pytest.raises(InvalidData, match="no records"):
        inspect_table(table.slice(0, 0), 2)
