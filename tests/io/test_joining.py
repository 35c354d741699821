"""A file of persons and one of households: joined row by row, and counted together when they are written apart."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter, PromiseBroken, RoleError
from microagg.files.joining import join
from microagg.files.promise import Promise, WrittenFile, check_written_apart
from microagg.files.sources import Source
from tests.reference import counted_units as slow
from tests.reference import joining as naive


def source(name, **columns):
    return Source(pa.table(columns), f"{name}.parquet", "parquet")


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=20), st.permutations(range(8)), st.integers(4, 8), st.booleans()
)
def test_every_person_gets_the_households_row(of_persons, homes, n_homes, as_text):
    as_key = str if as_text else int
    persons = [{"hid": as_key(home), "age": age} for age, home in enumerate(of_persons)]
    households = [{"hid": as_key(home), "rooms": 10 * home, "owner": home % 2 == 0} for home in homes[:n_homes]]
    files = [Source(pa.Table.from_pylist(rows), name, "parquet") for rows, name in ((persons, "p"), (households, "h"))]
    try:
        rows, alone = naive.joined(persons, households, "hid")
    except ValueError:
        with pytest.raises(InvalidData, match=r"persons belong to a household that is not in 'h'"):
            join(*files)
        return
    whole = join(*files, on="hid")
    assert whole.table.to_pylist() == rows
    assert whole.joined.without_persons == alone
    some = list(range(0, len(rows), 2))
    assert whole.take(some).table.to_pylist() == [rows[place] for place in some]


PERSONS = {"hid": ["a", "b", "Secret", "b"], "age": [1, 2, 3, 4]}


@pytest.mark.parametrize(
    ("persons", "households", "on", "kind", "words"),
    [
        (
            PERSONS,
            {"hid": ["a", "b"], "rooms": [1, 2]},
            None,
            InvalidData,
            "1 of 4 persons belong to a household that is not in",
        ),
        (
            PERSONS,
            {"hid": ["a", "b", "Secret", "Secret"], "rooms": [1, 2, 3, 4]},
            None,
            InvalidData,
            "1 of 4 rows of 'homes.parquet' have the same household as another row",
        ),
        (
            PERSONS,
            {"hid": ["a", None], "rooms": [1, 2]},
            None,
            InvalidData,
            "1 of 2 rows of 'homes.parquet' have no household",
        ),
        (
            {"hid": ["", None, "Secret"], "age": [1, 2, 3]},
            {"hid": ["Secret"], "rooms": [1]},
            None,
            InvalidData,
            "2 of 3 rows of 'people.parquet' have no household",
        ),
        (PERSONS, {"hid": [1, 2], "rooms": [1, 2]}, None, InvalidData, "'hid' holds text in .* and whole numbers in"),
        (PERSONS, {"home": ["a"], "rooms": [1]}, None, InvalidParameter, "have no column with the same name"),
        (PERSONS, {"hid": ["a"], "age": [1]}, None, InvalidParameter, "have 2 columns with the same name"),
        (PERSONS, {"hid": ["a"], "age": [1]}, "hid", RoleError, r"1 column\(s\) are in both files.*'age'. Rename them"),
        (
            PERSONS,
            {"hjd": ["a"], "rooms": [1]},
            "hid",
            RoleError,
            "'homes.parquet' has no column 'hid'.*Did you mean 'hjd'",
        ),
    ],
)
def test_what_cannot_be_joined_is_refused_by_number_and_not_by_value(persons, households, on, kind, words):
    with pytest.raises(kind, match=words) as told:
        join(source("people", **persons), source("homes", **households), on)
    assert told.value.parameter in ("on", "households")
    assert "Secret" not in str(told.value)


def test_files_of_two_kinds_are_refused(tmp_path):
    ma.write(pa.table(PERSONS), tmp_path / "people.csv")
    ma.write(pa.table({"hid": ["a", "b", "Secret"], "rooms": [1, 2, 3]}), tmp_path / "homes.parquet")
    with pytest.raises(InvalidParameter, match="of kind csv and the file of households of kind parquet"):
        ma.read(tmp_path / "people.csv", households=str(tmp_path / "homes.parquet"))
    with pytest.raises(InvalidParameter, match="two files of the same kind"):
        join(ma.read(tmp_path / "people.csv"), ma.read(tmp_path / "homes.parquet"))


def test_whole_numbers_are_the_same_however_they_are_stored():
    whole = join(source("people", hid=[2.0, 1.0, 2.0], age=[1, 2, 3]), source("homes", hid=[1, 2], rooms=[10, 20]))
    assert whole.table["rooms"].to_pylist() == [20, 10, 20]


def test_households_are_compared_by_value_as_units_are(tmp_path):
    whole = join(
        source("people", hid=["02", "1", "A "], age=[1, 2, 3]), source("homes", hid=["a", "01", "2.0"], m=[7, 8, 9])
    )
    assert whole.table["m"].to_pylist() == [9, 8, 7]
    with pytest.raises(
        InvalidData, match="same household as another row, in column 'hid', where 1 and 01 are the same"
    ):
        join(source("people", hid=["1"], age=[1]), source("homes", hid=["1", "01"], m=[1, 2]))
    homes = range(1, 9)
    (tmp_path / "p.csv").write_text(
        "hid,age\n" + "".join(f"0{home},{20 + home}\n{home},{40 + home}\n" for home in homes)
    )
    (tmp_path / "h.csv").write_text("hid,rent\n" + "".join(f"{home},{100 * home}\n" for home in homes))
    both = ma.read(tmp_path / "p.csv", households=str(tmp_path / "h.csv"))
    release = ma.protect(both, k=4, unit="hid", unit_release="pseudonym")
    assert (release.n_groups, release.k_achieved, release.n_dropped) == (2, 4, 0)
    ma.write(release, tmp_path / "p_out.csv", households=tmp_path / "h_out.csv")
    assert len((tmp_path / "h_out.csv").read_text().splitlines()) == 9


def test_each_file_is_read_in_its_own_way(tmp_path):
    (tmp_path / "people.csv").write_text("hid,age,wage\n1,30,1.5\n2,40,2.5\n1,50,3.5\n")
    (tmp_path / "homes.csv").write_text("hid;rent\n1;1,25\n2;2,5\n3;9,75\n")
    whole = ma.read(tmp_path / "people.csv", households=str(tmp_path / "homes.csv"))
    typed = whole.typed(["wage", "rent"])
    assert typed["wage"].to_pylist() == [1.5, 2.5, 3.5]
    assert typed["rent"].to_pylist() == [1.25, 2.5, 1.25]
    assert whole.take([1, 2]).typed(["rent"])["rent"].to_pylist() == [2.5, 1.25]
    assert "delimiter" not in whole.options
    assert whole.options["encoding"] == "utf-8"
    with pytest.raises(InvalidData, match=r"homes\.csv"):
        join(ma.read(tmp_path / "people.csv"), ma.read(tmp_path / "homes.csv", decimal=".")).typed(["rent"])


def written(name, table):
    return WrittenFile(lambda names: iter([table.select(names)]), table.column_names, table.num_rows, name)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=24), st.integers(0, 63))
def test_two_files_are_counted_together(rows, kinds):
    units = sorted({unit for unit, _ in rows})
    homes = [(kinds >> unit) & 1 for unit in units]
    persons = pa.table({"hid": [unit for unit, _ in rows], "x": [value for _, value in rows]})
    households = pa.table({"y": homes, "hid": pa.array(units, pa.float64())})  # as packages for statistics store it
    expected = slow.fewest_whole_units_apart([value for _, value in rows], persons["hid"].to_pylist(), homes, units)
    promise = Promise(1, ("x",), ("y",), pseudonym="hid")
    files = written("p.csv", persons), written("h.csv", households)
    assert check_written_apart(promise, *files) == expected
    with pytest.raises(
        PromiseBroken, match=rf"'p.csv with h.csv' was read back, .* shared by {expected} unit\(s\) only"
    ):
        check_written_apart(Promise(expected + 1, ("x",), ("y",), pseudonym="hid"), *files)
    more = households.slice(0, 1) if len(units) > 1 else pa.concat_tables([households, households])
    with pytest.raises(PromiseBroken, match="does not have exactly one row for each household"):
        check_written_apart(promise, files[0], written("h.csv", more))


def test_a_file_may_have_nothing_that_is_masked():
    persons = pa.table({"hid": [1, 1, 2, 2, 3], "x": [1, 2, 2, 1, 1]})
    households = pa.table({"hid": [1, 2, 3]})
    files = written("p", persons), written("h", households)
    assert check_written_apart(Promise(1, ("x",), pseudonym="hid"), *files) == 1
    assert (
        check_written_apart(
            Promise(1, ("x",), pseudonym="hid"), written("p", persons.slice(0, 4)), written("h", households.slice(0, 2))
        )
        == 2
    )
    assert check_written_apart(Promise(1, ("y",), pseudonym="hid"), *files) == 1
