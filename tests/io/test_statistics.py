"""Files of statistics packages keep their labels, formats and missing values."""

import datetime as dt

import pyarrow as pa
import pytest

from microagg.errors import InvalidData
from microagg.files.formats import apart
from microagg.files.formats import statistics as _statistics
from microagg.files.sources import read_source, write_target
from tests.io.tables import STATISTICS, rewrite, source_of, write_bytes


@pytest.fixture
def labelled(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"sex": [1.0, 2.0, 9.0], "wage": [10.0, 20.0, -9.0], "region": ["n", "s", "n"]})
    path = tmp_path / "data.sav"
    pyreadstat.write_sav(
        frame,
        path,
        file_label="a note",
        note="another",
        column_labels={"sex": "Sex of person", "wage": "Monthly wage"},
        variable_value_labels={"sex": {1.0: "male", 2.0: "female"}, "region": {"n": "North"}, "wage": {-9.0: "none"}},
        variable_measure={"sex": "nominal", "wage": "scale"},
        variable_format={"wage": "F10.3"},
        missing_ranges={"wage": [{"lo": -9.0, "hi": -1.0}], "sex": [9.0]},
    )
    return path


def test_labels_of_spss_are_kept_and_notes_are_not(labelled, tmp_path):
    source = read_source(labelled)
    again = rewrite(labelled, tmp_path / "out.sav")
    assert again.labels == source.labels
    assert again.labels.columns == {"sex": "Sex of person", "wage": "Monthly wage"}
    assert again.labels.values["sex"] == {1.0: "male", 2.0: "female"}
    assert again.labels.values["region"] == {"n": "North"}
    assert again.labels.measures["sex"] == "nominal"
    assert again.labels.formats["wage"] == "F10.3"
    assert b"a note" not in (tmp_path / "out.sav").read_bytes()
    assert b"another" not in (tmp_path / "out.sav").read_bytes()


def test_values_declared_missing_are_missing_where_they_would_be_averaged(labelled):
    source = read_source(labelled)
    assert source.table["wage"].to_pylist() == [10.0, 20.0, -9.0]
    assert source.typed(["wage"])["wage"].to_pylist() == [10.0, 20.0, None]
    assert source.typed(["wage"])["sex"].to_pylist() == [1.0, 2.0, 9.0]
    assert source.typed()["sex"].to_pylist() == [1.0, 2.0, None]


def test_a_masked_column_loses_what_was_said_of_its_values(labelled, tmp_path):
    source = read_source(labelled)
    masked = source.table.set_column(1, "wage", pa.array([5.0, 5.0, -5.0]))
    write_target(masked, tmp_path / "out.sav", source, masked=["wage"])
    read = read_source(tmp_path / "out.sav")
    assert read.labels.columns["wage"] == "Monthly wage"
    assert read.labels.formats["wage"] == "F10.3"
    assert read.labels.measures["wage"] == "scale"
    assert "wage" not in read.labels.values
    assert "wage" not in read.labels.missing
    assert read.table["wage"].to_pylist() == [5.0, 5.0, -5.0]
    assert read.labels.values["sex"] == {1.0: "male", 2.0: "female"}
    masked = source.table.set_column(0, "sex", pa.array([1.5, 1.5, 1.5]))
    write_target(masked, tmp_path / "sex.sav", source, masked=["sex"])
    assert read_source(tmp_path / "sex.sav").labels.measures["sex"] == "scale"


@pytest.mark.parametrize("suffix", STATISTICS)
@pytest.mark.parametrize("rows", [[2, 1, 0], [1]], ids=["sorted anew", "fewer"])
def test_labels_outlive_rows_and_those_of_values_that_nobody_has_do_not(labelled, tmp_path, suffix, rows):
    source = read_source(labelled)
    left = source.table.take(rows).set_column(1, "wage", pa.array([15.0] * len(rows)))
    target = tmp_path / f"out{suffix}"
    write_target(left, target, source.tagged(rows), masked=["wage"])
    read = read_source(target)
    assert read.table.to_pydict() == left.to_pydict()
    assert read.labels.columns == {"sex": "Sex of person", "wage": "Monthly wage"}
    texts = {"sex": {1: "male", 2: "female"}} | ({} if suffix == ".dta" else {"region": {"n": "North"}})
    if len(rows) == 1:
        texts = {"sex": {2: "female"}}
    assert read.labels.values == texts  # Stata has no labels of text
    assert (b"North" in target.read_bytes()) == ("region" in texts) or suffix == ".zsav"  # which is compressed
    if suffix != ".dta":
        assert read.labels.missing == {"sex": [{"lo": 9.0, "hi": 9.0}]}
        assert read.labels.measures["sex"] == "nominal"


def test_a_masked_column_loses_its_value_labels_though_no_value_changed(labelled, tmp_path):
    source = read_source(labelled)
    write_target(source.table, tmp_path / "out.sav", source, masked=["sex"])
    read = read_source(tmp_path / "out.sav")
    assert "sex" not in read.labels.values
    assert read.labels.columns["sex"] == "Sex of person"


def test_a_format_without_decimals_does_not_hide_means(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    polars = pytest.importorskip("polars")
    path = tmp_path / "data.sav"
    pyreadstat.write_sav(polars.DataFrame({"x": [1.0, 2.0]}), path, variable_format={"x": "F3.0"})
    source = read_source(path)
    assert rewrite(path, tmp_path / "same.sav").labels.formats["x"] == "F3.0"
    write_target(pa.table({"x": [1.5, 1.5]}), tmp_path / "out.sav", source, masked=["x"])
    assert read_source(tmp_path / "out.sav").labels.formats["x"] == "F8.2"


def test_labels_go_from_spss_to_stata_and_back(labelled, tmp_path):
    stata = rewrite(labelled, tmp_path / "out.dta")
    assert stata.labels.columns == read_source(labelled).labels.columns
    assert stata.labels.values["sex"] == {1: "male", 2: "female"}
    spss = rewrite(tmp_path / "out.dta", tmp_path / "back.sav")
    assert spss.labels.values["sex"] == {1.0: "male", 2.0: "female"}


def test_formats_and_missing_values_of_stata_are_kept(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "x": polars.Series([1.5, "a", None, "b"], dtype=polars.Object),
            "month": [720.0, 721.0, None, 1.0],
            "i": polars.Series([1, 2, 3, None], dtype=polars.Int32),
        }
    )
    path = tmp_path / "data.dta"
    pyreadstat.write_dta(
        frame,
        path,
        missing_user_values={"x": ["a", "b"]},
        variable_value_labels={"x": {"a": "refused"}, "i": {1: "one"}},
        variable_format={"month": "%tm", "x": "%9.2f"},
    )
    source = read_source(path)
    assert source.table["x"].to_pylist() == [1.5, None, None, None]
    assert source.table["i"].to_pylist() == [1, 2, 3, None]
    write_target(source.table, tmp_path / "out.dta", source)
    stored, meta = pyreadstat.read_dta(tmp_path / "out.dta", output_format="dict", user_missing=True)
    assert list(stored["x"]) == [1.5, "a", None, "b"]
    assert meta.variable_value_labels == {"x": {"a": "refused"}, "i": {1: "one"}}
    assert meta.original_variable_types["month"] == "%tm"
    assert meta.original_variable_types["x"] == "%9.2f"
    reversed_rows = source.table.take([3, 2, 1, 0])
    write_target(reversed_rows, tmp_path / "reversed.dta", source.tagged([3, 2, 1, 0]))
    stored, meta = pyreadstat.read_dta(tmp_path / "reversed.dta", output_format="dict", user_missing=True)
    assert list(stored["x"]) == ["b", None, "a", 1.5]
    write_target(reversed_rows, tmp_path / "unknown.dta", source.tagged(None))
    stored, meta = pyreadstat.read_dta(tmp_path / "unknown.dta", output_format="dict", user_missing=True)
    assert list(stored["x"]) == [None, None, None, 1.5]  # whose .a and .b would be another row's
    assert meta.variable_value_labels == {"i": {1: "one"}}


def test_a_time_that_would_lose_digits_stays_a_number():
    fine = pa.array([1.5, None])
    assert _statistics._to_dates(fine, "spss", "DATETIME20").type == pa.timestamp("us")
    for value in (1e300, 1e-9):
        assert _statistics._to_dates(pa.array([value]), "spss", "DATETIME20").to_pylist() == [value]
    assert _statistics._to_dates(pa.array([0.5]), "stata", "%td").to_pylist() == [0.5]


@pytest.mark.parametrize(
    ("kind", "shown", "expected"),
    [
        ("spss", "EDATE10", dt.date(1582, 10, 15)),
        ("spss", "MOYR8", dt.date(1582, 10, 15)),
        ("spss", "F8.2", 86400.0),
        ("stata", "%tdCCYY-NN-DD", dt.date(2196, 7, 21)),
        ("stata", "%-tdD_m_CY", dt.date(2196, 7, 21)),
        ("stata", "%tcDDmonCCYY_HH:MM", dt.datetime(1960, 1, 1, 0, 1, 26, 400000)),
        ("stata", "%tcHH:MM:SS", 86400.0),
        ("stata", "%tm", 86400.0),
        ("sas", "YYMMDDN8.", dt.date(2196, 7, 21)),
        ("sas", "DDMMYYP10.", dt.date(2196, 7, 21)),
        ("sas", "MONYY7.", dt.date(2196, 7, 21)),
        ("sas", "DTDATE9.", dt.datetime(1960, 1, 2)),
        ("sas", "E8601DT26.6", dt.datetime(1960, 1, 2)),
        ("sas", "TIME8.", 86400.0),
        ("sas", "BEST12.", 86400.0),
    ],
)
def test_formats_tell_dates_from_numbers(kind, shown, expected):
    assert _statistics._to_dates(pa.array([86400.0]), kind, shown).to_pylist() == [expected]


@pytest.mark.parametrize("suffix", STATISTICS)
def test_names_and_integers_that_packages_lack_are_refused(tmp_path, suffix):
    for table, words in (
        (pa.table({"two words": [1]}), "'two words' has a name"),
        (pa.table({"x" * 65: [1]}), "has a name"),
        (pa.table({"x": [2**53 + 1]}), r"beyond 2\*\*53"),
    ):
        with pytest.raises(InvalidData, match=words):
            write_target(table, tmp_path / f"out{suffix}", source_of(table))
    large = pa.table({"x": [2147483640, -2147483648]})  # which Stata's four bytes do not hold
    write_target(large, tmp_path / f"out{suffix}", source_of(large))
    assert read_source(tmp_path / f"out{suffix}").table["x"].to_pylist() == large["x"].to_pylist()


def test_files_of_sas_are_read(tmp_path, monkeypatch):
    pyreadstat = pytest.importorskip("pyreadstat")
    meta = pyreadstat.metadata_container()
    meta.column_names_to_labels = {"x": "Pay", "d": None, "t": None}
    meta.original_variable_types = {"x": "BEST12", "d": "DATE9", "t": "DATETIME20."}
    meta.readstat_variable_types = dict.fromkeys("xdt", "double")
    meta.missing_user_values = {"x": ["A"]}
    # pyreadstat reads such files and writes none, so what it would give of one is made here.
    stored = {"x": [1.5, "A"], "d": [0.0, None], "t": [0.5, None]}
    monkeypatch.setattr(pyreadstat, "read_sas7bdat", lambda *_, **__: (stored, meta))
    monkeypatch.setattr(apart, "read_apart", lambda path, kind, _: _statistics.read_statistics(path, kind))
    source = read_source(write_bytes(tmp_path / "d.sas7bdat", b""))
    assert source.kind == "sas"
    assert source.labels.columns == {"x": "Pay"}
    expected = {
        "x": [1.5, None],
        "d": [dt.date(1960, 1, 1), None],
        "t": [dt.datetime(1960, 1, 1, 0, 0, 0, 500000), None],
    }
    assert source.table.to_pydict() == expected
    assert rewrite_labels(source, tmp_path / "out.dta").columns == {"x": "Pay"}


def rewrite_labels(source, target):
    write_target(source.table, target, source)
    return read_source(target).labels
