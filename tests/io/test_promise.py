"""The promise is counted on what was written: every kind of column is told apart as it should, every fault is seen."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg as ma
from microagg.columns.numbers import Marks
from microagg.errors import InvalidData, PromiseBroken, RoleError, TooFewRecords
from microagg.files import promise as promises
from microagg.files.databases import read_table, write_table
from microagg.files.formats import text as _text
from microagg.files.formats.dialect import Dialect
from microagg.files.promise import Promise, check_written
from microagg.files.sources import Source, read_source, write_target
from tests.io.faults import FAULTS, spoil_duckdb, spoil_postgresql, spoilt
from tests.io.tables import ARROW, STATISTICS, TEXT, check_message, source_of
from tests.lengths import given_few
from tests.reference.alike import fewest_alike

MOMENTS = [dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 0, 0, 0, 1), None]
KINDS = {
    "float": (pa.float64(), [0.0, -0.0, 1.5, float("nan"), None]),
    "single": (pa.float32(), [0.0, -0.0, 1.5, None]),
    "long": (pa.int64(), [2**53, 2**53 + 1, 0, 1, None]),
    "unsigned": (pa.uint64(), [2**64 - 1, 0, 1, None]),
    "short": (pa.int8(), [-1, 0, 1, None]),
    "flag": (pa.bool_(), [True, False, None]),
    "text": (pa.string(), ["", "a", "a ", "א", None]),
    "large text": (pa.large_string(), ["", "a", None]),
    "bytes": (pa.binary(), [b"", b"\0", b"\0\0", None]),
    "category": (pa.dictionary(pa.int8(), pa.string()), ["", "a", None]),
    "number category": (pa.dictionary(pa.int8(), pa.int64()), [0, 1, None]),
    "day": (pa.date32(), [dt.date(2020, 1, 1), dt.date(2020, 1, 2), None]),
    "moment": (pa.timestamp("us"), MOMENTS),
    "zoned": (pa.timestamp("us", "Europe/Berlin"), MOMENTS),
    "time": (pa.time64("us"), [dt.time(1), dt.time(2), None]),
    "duration": (pa.duration("s"), [dt.timedelta(0), dt.timedelta(1), None]),
    "decimal": (pa.decimal128(8, 2), [Decimal("0.10"), Decimal("0.11"), None]),
    "nothing": (pa.null(), [None]),
}


@given(st.data())
def test_every_kind_of_column_is_counted_as_one_by_one(data):
    names = data.draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3, unique=True))
    n = data.draw(st.integers(1, 25))
    drawn = {name: data.draw(st.lists(st.sampled_from(KINDS[name][1]), min_size=n, max_size=n)) for name in names}
    table = pa.table({name: pa.array(values, KINDS[name][0]) for name, values in drawn.items()})
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=3)))
    parts = [table.slice(start, stop - start) for start, stop in zip([0, *cuts], [*cuts, n], strict=True)]
    parts = [pa.concat_tables([part.slice(0, 2), part.slice(2)]) for part in parts]  # in more than one chunk
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(promises, "_PART", data.draw(st.integers(1, 9)))
        room = np.empty((2, n), dtype=np.uint64) if data.draw(st.booleans()) else None
        found = check_written(Promise(1, (names[0],), tuple(names[1:])), parts, n, "x", room=room)
        assert found == fewest_alike(list(drawn.values()))
        each = check_written(Promise(1, tuple(names), per_column=True), parts, n, "x")
    assert each == min(fewest_alike([values]) for values in drawn.values())


@given_few(
    50,
    200,
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from([0.0, -0.0, 0.5]), st.sampled_from(["", "a", "א"])),
        min_size=12,
        max_size=60,
    ),
)
def test_a_release_is_counted_alike_in_memory_and_when_it_is_written(cells):
    whole, half, text = (list(column) for column in zip(*cells, strict=True))
    table = pa.table({"whole": whole, "half": half, "text": text})
    try:
        release = ma.protect(table, 2, strata=["text"], rounding="auto")
    except TooFewRecords:  # a stratum of one
        return
    released = [release.data[name].to_pylist() for name in release.data.column_names]
    assert release.k_achieved == fewest_alike(released)
    parts = [release.data.select(release.promise.columns).slice(start, 7) for start in range(0, len(cells), 7)]
    assert check_written(release.promise, parts, len(cells), "x") == release.k_achieved


def test_equal_values_are_equal_in_whatever_dictionary():
    kinds = [pa.DictionaryArray.from_arrays([0, 1], ["a", "b"]), pa.DictionaryArray.from_arrays([1, 0], ["b", "a"])]
    parts = [pa.table({"x": [1.0, 1.0], "kind": kind}) for kind in kinds]
    assert check_written(Promise(2, ("x",), ("kind",)), parts, 4, "x") == 2


@pytest.mark.parametrize("rows", [5, 7])
def test_other_records_than_were_written_are_refused(rows):
    table = pa.table({"x": [1.0] * rows})
    with pytest.raises(PromiseBroken, match="fewer records" if rows < 6 else "more records"):
        check_written(Promise(2, ("x",)), [table], 6, "x.csv")


def test_what_cannot_be_read_back_is_refused_without_its_cells():
    def tables():
        yield pa.table({"x": [1.0]})
        raise InvalidData("secret")

    with pytest.raises(PromiseBroken, match=r"'x.csv' was written and cannot be read back") as caught:
        check_written(Promise(2, ("x",)), tables(), 2, "x.csv")
    assert "secret" not in str(caught.value)
    assert caught.value.__suppress_context__


RNG = np.random.default_rng(0)
ORIGINAL = pa.table(
    {
        "=note": [f"{i}" for i in range(60)],
        "wage": RNG.random(60) * 1000,
        "region": [["N;", "S,\n", '=1"'][i % 3] for i in range(60)],
        "age": RNG.integers(0, 90, 60),
        "born": pa.array([dt.date(2000, 1, 1 + i % 2) for i in range(60)]),
        "sign": [0.0, -0.0] * 30,
    }
)
ROLES = {"quasi": ["wage", "age"], "strata": ["region", "born", "sign"], "keep": ["=note"]}
RELEASE = ma.protect(ORIGINAL, 3, rounding="auto", **ROLES)
STORABLE = RELEASE.data.rename_columns(["note", *RELEASE.data.column_names[1:]])


def test_a_negative_zero_is_released_as_zero():
    assert np.signbit(ORIGINAL["sign"].to_numpy()).any()
    assert not np.signbit(RELEASE.data["sign"].to_numpy()).any()
    assert RELEASE.k_achieved == 3


@pytest.mark.parametrize("suffix", TEXT + ARROW + STATISTICS)
def test_what_keeps_the_promise_is_written(tmp_path, suffix):
    table = STORABLE if suffix in STATISTICS else RELEASE.data
    target = tmp_path / f"out{suffix}"
    write_target(table, target, source_of(ORIGINAL), masked=["wage", "age"], promise=RELEASE.promise)
    assert read_source(target).table.num_rows == 60
    for excel_safe in (True, False):
        write_target(table, target, source_of(ORIGINAL), overwrite=True, excel_safe=excel_safe, promise=RELEASE.promise)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("decimal", [".", ","])
@pytest.mark.parametrize(("codec", "bom"), [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("cp1252", b"")])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_text_is_read_back_in_the_dialect_it_was_written_in(tmp_path, delimiter, decimal, codec, bom, line_end):
    dialect = Dialect(delimiter, codec, bom, Marks(decimal, None), line_end)
    source = Source(ORIGINAL, "made.csv", "csv", dialect=dialect, address=tmp_path / "made.csv")
    target = tmp_path / "out.csv"
    write_target(RELEASE.data, target, source, promise=RELEASE.promise)
    assert target.read_bytes().startswith(bom)
    with pytest.MonkeyPatch.context() as patch:
        FAULTS[".csv"](patch, "wage")
        with pytest.raises(PromiseBroken, match="shared by 1 record"):
            write_target(RELEASE.data, target, source, overwrite=True, promise=RELEASE.promise)


def test_a_promise_about_a_column_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(RoleError, match="no column 'wages'"):
        write_target(RELEASE.data, tmp_path / "out.csv", source_of(ORIGINAL), promise=Promise(3, ("wages",)))
    assert list(tmp_path.iterdir()) == []


def test_awkward_text_beside_what_is_counted_does_no_harm(tmp_path):
    table = pa.table({"x": [1.0, 1.0, 1.0], "note": ["a\0b", '"\r\n', "\r"], "long": ["x" * 70_000, "", None]})
    for suffix in (".csv", ".txt.gz"):
        write_target(table, tmp_path / f"out{suffix}", source_of(table), promise=Promise(3, ("x",)))


def test_a_text_file_of_one_column_is_read_back(tmp_path):
    table = pa.table({"x": [1.0, None, 1.0, None]})
    write_target(table, tmp_path / "out.csv", source_of(table), promise=Promise(2, ("x",)))
    with pytest.raises(PromiseBroken, match="shared by 2 record"):
        write_target(table, tmp_path / "no.csv", source_of(table), promise=Promise(3, ("x",)))


@pytest.mark.parametrize("suffix", sorted(FAULTS))
@pytest.mark.parametrize("name", ["wage", "age", "sign"])
def test_a_spoilt_value_is_noticed_and_nothing_is_left(tmp_path, suffix, name, monkeypatch):
    table = STORABLE if suffix in STATISTICS else RELEASE.data
    FAULTS[suffix](monkeypatch, name)
    target = tmp_path / f"out{suffix}"
    with pytest.raises(PromiseBroken, match=r"'out\.[a-z.]+' was read back, .* shared by 1 record") as caught:
        write_target(table, target, source_of(ORIGINAL), promise=RELEASE.promise)
    check_message(caught, tmp_path)
    assert list(tmp_path.iterdir()) == []
    target.write_bytes(b"former")
    with pytest.raises(PromiseBroken):
        write_target(table, target, source_of(ORIGINAL), overwrite=True, promise=RELEASE.promise)
    assert target.read_bytes() == b"former"
    assert len(list(tmp_path.iterdir())) == 1


def test_text_that_is_no_number_any_more_is_noticed(tmp_path, monkeypatch):
    lines = _text._lines
    monkeypatch.setattr(_text, "_lines", lambda *rest: lines(*rest).replace(b",", b",\xef\xbb\xbf"))
    with pytest.raises(PromiseBroken, match="cannot be read back") as caught:
        write_target(RELEASE.data, tmp_path / "out.csv", source_of(ORIGINAL), promise=RELEASE.promise)
    check_message(caught, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_each_column_by_itself_where_that_was_promised(tmp_path, monkeypatch):
    table = ORIGINAL.select(["wage", "age"])
    release = ma.protect(table, 4, method="univariate", per_column=True)
    assert release.promise.per_column
    write_target(release.data, tmp_path / "out.csv", source_of(table), promise=release.promise)
    together = Promise(4, ("wage", "age"))
    with pytest.raises(PromiseBroken, match="a combination of its masked values is shared"):
        write_target(release.data, tmp_path / "no.csv", source_of(table), promise=together)
    FAULTS[".csv"](monkeypatch, "age")
    with pytest.raises(PromiseBroken, match="a value of a masked column is shared"):
        write_target(release.data, tmp_path / "no.csv", source_of(table), promise=release.promise)


def test_a_database_keeps_the_promise_in_one_transaction(at, monkeypatch):
    table = STORABLE
    write_table(table, at("t"), False, promise=RELEASE.promise)
    assert read_table(at("t"))[0].num_rows == 60
    write_table(table, at("t"), True, promise=RELEASE.promise)
    old = pa.table({"a": [1]})
    write_table(old, at("t"), True)
    (spoil_duckdb if at("t").startswith("duckdb") else spoil_postgresql)(monkeypatch, "wage")
    for name, overwrite in (("t", True), ("new", False)):
        with pytest.raises(PromiseBroken, match="shared by 1 record") as caught:
            write_table(table, at(name), overwrite, promise=RELEASE.promise)
        assert "keeper" not in str(caught.value)
    assert read_table(at("t"))[0].equals(old)
    with pytest.raises(InvalidData, match="no table"):
        read_table(at("new"))


def test_a_duckdb_file_of_a_broken_promise_is_removed(tmp_path, monkeypatch):
    spoil_duckdb(monkeypatch, "age")
    with pytest.raises(PromiseBroken):
        write_target(STORABLE, f"duckdb:///{tmp_path}/a.db?table=t", source_of(ORIGINAL), promise=RELEASE.promise)
    assert list(tmp_path.iterdir()) == []


def test_the_faults_are_faults():
    assert spoilt(ORIGINAL, "age")["age"][0].as_py() == ORIGINAL["age"][0].as_py() + 1


@pytest.mark.parametrize("kind", [".sav", ".dta"])
def test_statistics_files_are_read_back_in_pieces(tmp_path, kind, monkeypatch):
    # 20 rows, of which there are three times as many.
    monkeypatch.setattr("microagg.files.formats.statistics._CELLS", 5 * 20)
    write_target(STORABLE, tmp_path / f"out{kind}", source_of(ORIGINAL), promise=RELEASE.promise)
