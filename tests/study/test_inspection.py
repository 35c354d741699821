import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import microagg as ma
from microagg.columns.roles import Role
from microagg.errors import InvalidData
from microagg.files.sources import read_source
from microagg.guess import names
from microagg.study.inspection import inspect_table
from tests.lengths import first_few

N = 400
RNG = np.random.default_rng(0)


def test_a_survey():
    found = inspect_table(ma.datasets.survey(2000, seed=0), 5)
    assert found.records == 2000
    assert found.roles["identifiers"] == ["person"]
    assert found.roles["drop"] == ["weight"]
    assert found.roles["strata"] == ["region"]
    assert len(found.roles["quasi"]) == 10
    assert set(found.roles) == {"identifiers", "drop", "strata", "quasi"}
    assert found.unique > 1900
    assert found.incomplete == 0
    release = ma.protect(ma.datasets.survey(2000, seed=0), 5, **found.roles)
    assert release.k_achieved >= 5


COLUMNS = {
    "record_no": (np.arange(N), Role.IDENTIFIER, "number the records"),
    "email": ([f"p{i}@example.org" for i in range(N)], Role.IDENTIFIER, "its name says so"),
    "remark": ([f"remark {i}" for i in range(N)], Role.IDENTIFIER, "identifies people"),
    "household": (RNG.integers(0, 150, N), Role.IDENTIFIER, "its name says that it groups rows"),
    "wgt": (
        RNG.random(N) + 0.5,
        Role.DROP,
        "move it to weight to use it as one, best if weights are released by group",
    ),
    "HIV": (RNG.integers(0, 2, N), Role.DROP, "sensitive; move it to confidential to release it unchanged"),
    "sex": (RNG.integers(1, 3, N), Role.STRATUM, "has enough records"),
    "country": ([f"c{i % 45}" for i in range(N)], Role.QUASI, "words, 45 different values"),
    "job": ([f"job {i % 30}" for i in range(N)], Role.QUASI, "words, 30 different values"),
    "born": (pa.array(RNG.integers(0, 9000, N), pa.int32()).cast(pa.date32()), Role.QUASI, "dates"),
    "wave": (np.full(N, 3), Role.KEEP, "same value"),
    "nothing": (pa.nulls(N, pa.float64()), Role.DROP, "empty"),
    "patient_id": (RNG.integers(0, 30, N), Role.DROP, "may identify"),
    "health_insurance_number": (RNG.permutation(N) * 7919, Role.IDENTIFIER, "number the records"),
    "health_expenditure": (RNG.lognormal(size=N), Role.QUASI, "numbers"),
    "drug_notes": ([f"note {i}" for i in RNG.integers(0, 400, N)], Role.DROP, "too many to mask"),
    "weight_kg": (RNG.normal(75, 10, N), Role.QUASI, "numbers"),
    "customerId": (RNG.integers(0, 200, N) + 5, Role.UNIT, "identifies somebody"),
    "income": (RNG.lognormal(size=N), Role.QUASI, "numbers, 400 different values"),
    "children": (RNG.integers(0, 5, N), Role.QUASI, "only 5 different whole numbers"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_each_guess_and_its_reason(name):
    table = pa.table({key: values for key, (values, _, _) in COLUMNS.items()})
    guess = next(column for column in inspect_table(table, 5).columns if column.name == name)
    _, role, reason = COLUMNS[name]
    assert guess.role is role, guess
    assert reason in guess.reason


@pytest.mark.parametrize("name", ["weight", "Weight", "peso", "poids", "gewicht"])
def test_the_weight_of_a_body_is_not_taken_for_that_of_a_sample(name):
    body = {"age": RNG.integers(18, 90, N), "height": RNG.normal(170, 9, N), name: RNG.normal(75, 10, N)}
    found = inspect_table(pa.table(body), 5)
    assert found.roles == {"quasi": ["age", "height"], "drop": [name]}
    assert "body weight" in found.reasons[name]
    assert name not in ma.protect(pa.table(body), 5, **found.roles).data.column_names
    whole = inspect_table(pa.table(body | {name: RNG.integers(40, 120, N)}), 5)
    assert whole.roles == found.roles


NAMES = sorted({*names.WEIGHT, *names.CONFIDENTIAL, *names.STRATUM, *names.IDENTIFIER, *names.UNIT, *names.CODED})
VALUES = {
    "floats": RNG.random(N),
    "many": RNG.integers(1, 300, N),
    "few": RNG.integers(0, 2, N),
    "rare": np.append(np.zeros(N - 1, int), 1),
    "words": np.array(["no", "yes"])[RNG.integers(0, 2, N)],
    "flags": RNG.integers(0, 2, N) == 1,
    "lacking": pa.array([None, *([7] * (N - 1))]),
}


@pytest.mark.parametrize("tried", first_few(1, [NAMES[::5], NAMES]), ids=["some", "all"])
@pytest.mark.parametrize("values", VALUES)
def test_no_column_is_released_for_its_name_alone(values, tried):
    """What a guess lets out is masked, or counted with k as the strata are."""
    for name in tried:
        table = pa.table({"income": RNG.lognormal(size=N), name: VALUES[values]})
        found = inspect_table(table, 5)
        role = found.columns[1].role
        assert role in (Role.QUASI, Role.STRATUM, Role.DROP, Role.IDENTIFIER, Role.UNIT), (name, role)
        if role is Role.STRATUM:
            assert min(pc.value_counts(table[name]).field("counts").to_pylist()) >= 15


def test_numbers_near_the_largest_float_are_no_weights():
    values = 1e306 * (1 + np.arange(60) / 1e3)
    found = {one.name: one for one in inspect_table(pa.table({"x": values, "y": np.arange(60.0)}), k=3).columns}
    assert found["x"].role is not Role.WEIGHT


def test_who_a_record_belongs_to():
    table = pa.table({"person_id": np.repeat(np.arange(100), 4), "visits": RNG.random(400)})
    found = inspect_table(table, 3)
    assert found.roles == {"quasi": ["visits"], "unit": "person_id"}


def test_columns_of_other_kinds():
    table = pa.table(
        {
            "kind": pa.array(["a", "b"] * 20).dictionary_encode(),
            "level": pa.DictionaryArray.from_arrays(np.arange(40) % 3, ["low", "mid", "high"], ordered=True),
            "truth": [True, False] * 20,
            "nothing": pa.nulls(40),
            "list": [[1, 2]] * 40,
            "a": np.arange(40.0) ** 2 / 7,
        }
    )
    found = inspect_table(table, 3)
    assert found.roles == {"quasi": ["kind", "level", "truth", "a"], "drop": ["nothing", "list"]}
    assert [one.kind for one in found.columns] == ["nominal", "ordinal", "nominal", None, None, "number"]
    assert found.kinds == {"level": "ordinal"}


AS_STORED = {name: values for name, (values, _, _) in COLUMNS.items() if getattr(values, "dtype", None) == np.int64}


@pytest.mark.parametrize("type_", [pa.float64(), pa.float32(), pa.decimal128(21, 2)])
def test_whole_numbers_are_guessed_alike_however_they_are_stored(type_):
    """Statistics packages hold every number as a double, and pandas each column with a gap."""
    whole = pa.table({name: pa.array(values) for name, values in AS_STORED.items()})
    stored = pa.table({name: pa.array(values).cast(type_) for name, values in AS_STORED.items()})
    assert len(AS_STORED) >= 7
    assert inspect_table(stored, 5) == inspect_table(whole, 5)


def test_what_is_not_a_number_is_missing_and_hides_no_whole_numbers():
    values = np.arange(N) * 1.0
    values[7] = np.nan
    column = inspect_table(pa.table({"serial": values, "x": RNG.random(N)}), 5).columns[0]
    assert (column.type, column.missing, column.distinct, column.role) == ("whole numbers", 1, N - 1, Role.IDENTIFIER)
    assert inspect_table(pa.table({"x": [1e17, 3e18, 2e19, 1e300]}), 2).columns[0].type == "numbers"


LABELS = {
    "sex": {1.0: "male", 2.0: "female"},
    "job": {float(i): f"job {i}" for i in range(12)},
    "wage": {-1.0: "refused", -2.0: "does not know"},
    "agree": {1.0: "not at all", 9.0: "wholly"},
}


def labelled_table():
    return pa.table(
        {
            "sex": RNG.integers(1, 3, N) * 1.0,
            "job": RNG.integers(0, 12, N) * 1.0,
            "wage": np.where(RNG.random(N) < 0.1, -1.0, np.rint(RNG.lognormal(7, 1, N))),
            "agree": RNG.integers(1, 10, N) * 1.0,
        }
    )


def test_labelled_values_are_codes_and_a_few_labels_leave_a_quantity():
    found = inspect_table(labelled_table(), 5, LABELS)
    assert [column.type for column in found.columns] == ["codes", "codes", "whole numbers", "whole numbers"]
    assert found.roles == {"strata": ["sex"], "quasi": ["job", "wage", "agree"]}
    assert "numbers with labels" in found.reasons["job"]
    assert found.kinds == {"job": "nominal", "wage": "number", "agree": "nominal"}
    assert found.missing_codes == {"wage": [-1]}


def test_what_a_file_says_of_the_measure_is_believed():
    found = inspect_table(labelled_table(), 5, LABELS, {"agree": "ordinal", "job": "nominal", "wage": "scale"})
    assert [column.kind for column in found.columns] == ["nominal", "nominal", "number", "ordinal"]


def test_a_file_of_a_statistics_package(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    polars = pytest.importorskip("polars")
    values = {
        "serial": np.arange(N) + 1.0,
        "household": RNG.integers(0, 150, N) * 1.0,
        "sex": RNG.integers(1, 3, N) * 1.0,
        "job": RNG.integers(0, 12, N) * 1.0,
        "rank": RNG.integers(1, 6, N) * 1.0,
        "wage": RNG.lognormal(size=N),
    }
    pyreadstat.write_sav(
        polars.DataFrame(values),
        tmp_path / "s.sav",
        variable_value_labels={"sex": LABELS["sex"], "job": LABELS["job"]},
        variable_measure={"rank": "ordinal"},
    )
    source = read_source(tmp_path / "s.sav")
    assert set(map(str, source.table.schema.types)) == {"double"}
    found = inspect_table(source.typed(), 5, source.labels.values, source.labels.measures)
    wanted = {"identifiers": ["serial"], "unit": "household", "strata": ["sex"], "quasi": ["job", "rank", "wage"]}
    assert found.roles == wanted
    assert found.kinds == {"job": "nominal", "rank": "ordinal"}


@pytest.mark.parametrize(
    ("column", "role"),
    [
        (pa.array(RNG.integers(0, 40, N) + 2**60), Role.UNIT),
        (pa.array(RNG.permutation(N) * 7919 + 2**60), Role.IDENTIFIER),
        (pa.array(RNG.integers(0, 40, N) + 2**60, pa.uint64()), Role.UNIT),
        (pa.array([10**20 + i % 40 for i in range(N)], pa.decimal128(38, 0)), Role.UNIT),
        (pa.array([np.inf, *RNG.random(N - 1)]), Role.DROP),
    ],
    ids=["beyond 2**53", "all different", "unsigned", "decimals", "infinite"],
)
def test_what_masking_would_refuse_is_not_guessed_to_be_masked(column, role):
    table = pa.table({"amount": column, "wage": RNG.lognormal(size=N)})
    found = inspect_table(table, 5)
    assert found.columns[0].role is role, found.columns[0]
    assert "averaged" in found.columns[0].reason
    with pytest.raises(InvalidData):
        ma.protect(table, 5)
    assert ma.protect(table, 5, **found.roles).k_achieved >= 5


def test_missing_values_are_counted():
    table = pa.table({"a": pa.array([1.5, None, 2.0, 4.0]), "b": ["x", "y", None, "y"]})
    found = inspect_table(table, 2)
    assert found.incomplete == 2
    assert [one.missing for one in found.columns] == [1, 1]
    assert found.roles == {"quasi": ["a", "b"]}
    with pytest.raises(InvalidData, match="no records"):
        inspect_table(table.slice(0, 0), 2)


def test_domains_are_strata_where_every_combination_has_records_enough():
    """Those of fewest values come first, whatever the order of the columns."""
    table = pa.table(
        {
            "region": [f"r{i % 20}" for i in range(N)],
            "state": [f"s{i // 7 % 5}" for i in range(N)],
            "v7": np.array(["Female", "Male"])[np.arange(N) // 3 % 2],
            "wage": RNG.lognormal(size=N),
        }
    )
    for columns in (table.column_names, table.column_names[::-1]):
        found = inspect_table(table.select(columns), 5)
        assert set(found.roles["strata"]) == {"state", "v7"}
        assert set(found.roles["quasi"]) == {"region", "wage"}
