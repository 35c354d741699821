import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_array_equal

import microagg as ma
from microagg.errors import InputError, InvalidParameter, PromiseBroken
from microagg.files.sources import read_source, write_target
from microagg.recipe import Refine
from tests.io.faults import spoil_parquet, spoil_text
from tests.reference.alike import fewest_alike

SURVEY = ma.datasets.survey(2500, seed=0)
ROLES = {"identifiers": ["person"], "weight": "weight", "strata": ["region"]}


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "survey.parquet"
    pq.write_table(SURVEY, path, row_group_size=700)
    return path


def same(file, table):
    assert file.column_names == table.column_names
    for name in file.column_names:
        assert_array_equal(file[name].to_numpy(), table[name].to_numpy())


@pytest.mark.parametrize("strata", [True, False])
@pytest.mark.parametrize("rounding", ["none", "auto"])
def test_the_file_is_what_protect_gives(source, tmp_path, strata, rounding):
    roles = ROLES if strata else {"identifiers": ["person"], "keep": ["weight", "region"]}
    if strata and rounding == "none":  # weighted means of whole numbers are written rounded
        roles = {**roles, "weighted": False}
    target = tmp_path / "masked.parquet"
    found = ma.protect_file(source, target, 4, max_block=200, rounding=rounding, **roles)
    expected = ma.protect(SURVEY, 4, blocks="median", max_block=200, rounding=rounding, **roles)
    written = pq.read_table(target)
    same(written, expected.data)
    assert found.information == expected.information
    assert found.n_groups == expected.n_groups
    assert found.k_achieved == expected.k_achieved
    assert found.recipe.blocks == expected.recipe.blocks
    assert [pq.ParquetFile(target).metadata.row_group(i).num_rows for i in range(4)] == [700, 700, 700, 400]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["masked.parquet", "survey.parquet"]
    assert found.recipe == expected.recipe.replace(same_order=True)  # as rows are written beyond memory
    assert (found.n_blocks, found.version) == (expected.n_blocks, expected.version)


@pytest.mark.parametrize("options", [{"method": "iamat"}, {"aggregate": "median"}, {"method": "vmdav", "gamma": 1.1}])
def test_methods_and_threads(source, tmp_path, options):
    for n_jobs in (1, 2):
        ma.protect_file(source, tmp_path / f"{n_jobs}.parquet", 3, max_block=300, n_jobs=n_jobs, **ROLES, **options)
    assert pq.read_table(tmp_path / "1.parquet").equals(pq.read_table(tmp_path / "2.parquet"))
    same(
        pq.read_table(tmp_path / "1.parquet"),
        ma.protect(SURVEY, 3, blocks="median", max_block=300, **ROLES, **options).data,
    )


def test_refining_lowers_the_loss(source, tmp_path):
    plain = ma.protect_file(source, tmp_path / "plain.parquet", 4, max_block=200, **ROLES)
    found = [
        ma.protect_file(source, tmp_path / f"{n}.parquet", 4, max_block=200, refine=20_000, seed=1, n_jobs=n, **ROLES)
        for n in (1, 2)
    ]
    assert pq.read_table(tmp_path / "1.parquet").equals(pq.read_table(tmp_path / "2.parquet"))
    assert found[0].information.percent < 0.97 * plain.information.percent
    assert found[0].k_achieved >= 4
    assert found[0].recipe.refine == Refine(effort=20_000, seed=1)
    with pytest.raises(InvalidParameter, match="thorough"):
        ma.protect_file(source, tmp_path / "wrong.parquet", 4, refine="thoruogh", **ROLES)


def test_a_folder_and_a_csv_file_are_read_alike(source, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    pq.write_table(SURVEY.slice(0, 1000), folder / "a.parquet")
    pq.write_table(SURVEY.slice(1000), folder / "b.parquet")
    pyarrow.csv.write_csv(SURVEY, tmp_path / "survey.csv")
    told = []
    for given in (source, folder, tmp_path / "survey.csv"):
        target = tmp_path / f"{given.stem}-{given.suffix[1:] or 'folder'}-masked.parquet"
        ma.protect_file(given, target, 3, max_block=500, progress=lambda *a: told.append(a), **ROLES)
        found, expected = pq.read_table(target), ma.protect(SURVEY, 3, blocks="median", max_block=500, **ROLES).data
        if given.suffix == ".csv":  # whose other columns stay text
            place = expected.column_names.index("weight")
            expected = expected.set_column(place, "weight", read_source(given).table["weight"])
        same(found, expected)
    assert told[-1] == (7500, 7500)
    assert [done for done, _ in told[: len(told) // 3]] == sorted(done for done, _ in told[: len(told) // 3])


def test_columns_that_are_kept_come_out_as_they_were(tmp_path):
    n = 60
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "code": pa.array([f"{i:05d}" for i in range(n)]),
            "day": pa.array(rng.integers(0, 20_000, n), pa.int32()).cast(pa.date32()),
            "big": pa.array(2**60 + rng.integers(0, 100, n)),
            "empty": pa.array(["" if i % 2 else None for i in range(n)]),
            "kind": pa.array(["a", "b", "c"] * 20).dictionary_encode(),
            "wage": rng.random(n),
            "k": rng.random(n),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet")
    ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, quasi=["wage", "k"], rest="keep")
    written = pq.read_table(tmp_path / "out.parquet")
    for name in ("code", "day", "big", "empty", "kind"):
        assert written[name].to_pylist() == table[name].to_pylist()
    assert ma.anonymity(written, ["wage", "k"]).k == 3


class Short:
    """An object that forgets some records."""

    def fit_predict(self, X):
        return np.arange(len(X) - 3) // 3


class Bad:
    """An object that makes groups that are too small."""

    def fit_predict(self, X):
        return np.arange(len(X))


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"source": "none.parquet"}, InputError, "there is no file 'none.parquet'"),
        ({"target": "masked.sav"}, InputError, "is neither a .parquet file nor a .csv"),
        ({"target": "nowhere/masked.parquet"}, InputError, "no folder for the target"),
        ({"target": "survey.parquet"}, InputError, "the target is the source"),
        ({"target": "there.parquet"}, InputError, "'there.parquet' exists"),
        ({"k": 1}, InputError, "protects nobody"),
        ({"k": 3000}, InputError, "cannot fill a group of k=3000"),
        ({"method": "ranking"}, InputError, "groups each column by itself"),
        ({"max_block": 5}, InputError, "max_block=5 must be a whole number, at least 6"),
        (
            {"strata": ["person"], "identifiers": ["region"]},
            InputError,
            "2500 of 2500 strata by 'person' have fewer",
        ),
        (
            {"quasi": ["region"], "rest": "drop", "strata": [], "kinds": {"region": "number"}},
            InputError,
            "'region' is not numeric",
        ),
        ({"quasi": ["region"], "rest": "drop", "strata": [], "kinds": {"region": "date"}}, InputError, "dates in one"),
        ({"kinds": {"age": "date"}}, InputError, "'age' is a number, not a date"),
        ({"kinds": {"nowhere": "nominal"}}, InputError, "'nowhere' in .kinds. is not in the file"),
        ({"method": Bad()}, PromiseBroken, "a group of 1 records"),
        ({"method": Short()}, InputError, "labels have shape"),
        ({"quasi": ["age"], "rest": "bogus"}, InputError, "rest='bogus' is not known"),
        ({"rest": "keep"}, InputError, "rest works only with quasi"),
        ({"max_blok": 50}, InputError, "Did you mean 'max_block'"),
        ({"target": "folder.parquet"}, InputError, "is neither a .parquet file nor a .csv"),
        ({"delimiter": ";"}, InputError, "delimiter is for text files, and this is Parquet"),
        ({"delimeter": ";"}, InputError, "no parameter 'delimeter'.*Did you mean 'delimiter'"),
        ({"delimiter": {"SECRET": ";"}}, InputError, "delimiter=a dict must be a text"),
        ({"decimal": 5}, InputError, "decimal=5 must be a text"),
        (
            {"scale": "none"},
            InputError,
            "scale cannot be combined with files larger than memory, where columns are standardised",
        ),
        ({"blocks": "none"}, InputError, "blocks='none' cannot be combined with files larger than memory"),
        (
            {"method": "ama"},
            InputError,
            "method .ama. cannot be combined with files larger than memory, where all masked columns form",
        ),
        ({"engine": "local"}, InputError, "engine='local' is not known.*'disk', 'dask'"),
    ],
)
def test_nothing_is_written_when_it_cannot_be(source, tmp_path, change, error, message):
    (tmp_path / "there.parquet").write_bytes(b"mine")
    (tmp_path / "folder.parquet").mkdir()
    options = {"source": source.name, "target": "masked.parquet", "k": 3, **ROLES} | change
    paths = {name: tmp_path / options.pop(name) for name in ("source", "target")}
    if "quasi" in options:
        options = {name: value for name, value in options.items() if name not in ("identifiers", "weight")}
    with pytest.raises(error, match=message):
        ma.protect_file(paths["source"], paths["target"], options.pop("k"), **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.parquet", "survey.parquet", "there.parquet"]


def test_a_password_is_not_shown(tmp_path):
    with pytest.raises(InputError, match="a table of a database cannot be read in parts") as caught:
        ma.protect_file("postgresql://me:SECRET@host?table=t", tmp_path / "out.parquet", 3)
    assert "SECRET" not in str(caught.value)


def test_broken_files_are_told_without_their_cells(tmp_path):
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    missing = pa.table({"a": [1.0, None, 3.0], "b": [1.0, 2.0, 3.0]})
    pq.write_table(missing, tmp_path / "gaps.parquet")
    (tmp_path / "empty").mkdir()
    parts = tmp_path / "parts"
    parts.mkdir()
    pq.write_table(missing, parts / "a.parquet")
    pq.write_table(missing.select(["a"]), parts / "b.parquet")
    for name, message in (
        ("cut.parquet", "cannot be read as Parquet"),
        ("gaps.parquet", "missing values in 1 column"),
        ("empty", "contains no .parquet file"),
        ("parts", "'b.parquet' has other columns"),
    ):
        with pytest.raises(InputError, match=message):
            ma.protect_file(tmp_path / name, tmp_path / "out.parquet", 2, missing="error")
    assert not (tmp_path / "out.parquet").exists()


LONG = """
import sys, microagg as ma
def tell(done, total):
    print(done, flush=True)
ma.protect_file(sys.argv[1], sys.argv[2], 3, max_block=2000, progress=tell, n_jobs=2)
"""


@pytest.mark.campaign
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize(("number", "share"), [(signal.SIGKILL, 0.5), (signal.SIGKILL, 0.9), (signal.SIGINT, 0.5)])
def test_a_killed_run_leaves_nothing_that_looks_whole(tmp_path, number, share):
    X = ma.datasets.uniform(200_000, 3, seed=0)
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(pa.table({f"c{j}": np.ascontiguousarray(X[:, j]) for j in range(3)}), source, row_group_size=20_000)
    child = subprocess.Popen([sys.executable, "-c", LONG, source, target], stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        if int(line) >= share * 600_000:
            os.kill(child.pid, number)
            break
    child.communicate(timeout=30)
    time.sleep(0.1)
    left = {path.name for path in tmp_path.iterdir()} - {"in.parquet"}
    if "out.parquet" in left:  # it was through before the signal came
        assert pq.read_table(target).num_rows == 200_000
        left.remove("out.parquet")
    parts = {name for name in left if name.startswith(".out.parquet.") and name.endswith(".part")}
    assert left == parts  # masked values only, under a name that is not the target's
    if number == signal.SIGINT:
        assert not parts


def test_strata_are_told_apart_as_protect_does(tmp_path):
    # Two instants that a clock set back shows as one.
    instants = [1_667_088_000_000_000 + (i % 2) * 3_600_000_000 for i in range(60)]
    table = pa.table({"a": np.arange(60.0), "s": pa.array(instants, pa.timestamp("us", "Europe/Berlin"))})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=10)
    ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, strata=["s"])
    assert ma.anonymity(pq.read_table(tmp_path / "out.parquet"), ["a", "s"]).k == 3
    far = pa.array([10**18 + i % 2 for i in range(60)], pa.timestamp("ns"))
    pq.write_table(table.set_column(1, "s", far), tmp_path / "ns.parquet", row_group_size=10)
    assert ma.protect_file(tmp_path / "ns.parquet", tmp_path / "ns-out.parquet", 3, strata=["s"]).n_groups == 20


def test_a_part_of_the_source_is_never_the_target(tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("a.parquet", "b.PQ"):
        pq.write_table(SURVEY.select(["age", "wage"]).slice(0, 30), folder / name)
    for target in ("a.parquet", "new.parquet"):
        with pytest.raises(InputError, match="the target is in the folder that is read"):
            ma.protect_file(folder, folder / target, 3, overwrite=True)
    assert ma.protect_file(folder, tmp_path / "out.parquet", 3).n_records == 60
    (folder / "more").mkdir()
    with pytest.raises(InputError, match="contains folders"):
        ma.protect_file(folder, tmp_path / "out.parquet", 3, overwrite=True)


def test_no_room_for_scratch_is_an_error_and_no_crash(source, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(InputError, match="no space for 220000 bytes of temporary files"):
        ma.protect_file(source, tmp_path / "out.parquet", 3, **ROLES)
    with pytest.raises(InputError, match="Pass another folder as scratch="):
        ma.protect_file(source, tmp_path / "out.parquet", 3, scratch=tmp_path / "none", **ROLES)


@pytest.mark.campaign
@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("3,SECRET", "column 'b' of 'long.csv' is not all numbers"),
        ("3,4,SECRET", "1 row.s. with more or fewer fields"),
        ('3,"SECRET', "a quote in line 5000002 that is opened and not closed"),
        ("3,SEC\0RET", "NUL"),
    ],
)
def test_a_cell_late_in_a_csv_file_is_not_shown(tmp_path, last, message):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1,2\n" * 5_000_000 + last + "\n")
    with pytest.raises(InputError, match=message) as caught:
        ma.protect_file(path, tmp_path / "out.parquet", 3, kinds={"b": "number"})
    assert "SECRET" not in str(caught.value)
    assert names_in(tmp_path) == ["long.csv"]


@pytest.mark.campaign
def test_a_fraction_late_in_a_csv_file_is_read(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1,2\n" * 5_000_000 + "1,3.5\n")
    ma.protect_file(path, tmp_path / "out.parquet", 3)
    masked = pq.read_table(tmp_path / "out.parquet")
    assert masked.num_rows == 5_000_001
    assert masked["b"].type == pa.float64()
    assert np.sum(masked["b"].to_numpy()) == pytest.approx(10_000_003.5)


CODES = "plz;straße;lohn;alter\r\n" + "".join(
    f'0{1000 + i};"{"Weg; " * (i % 2)}{i % 7}";1.{100 + i * 7 % 900},50;{20 + i % 40}\r\n' for i in range(60)
)


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".csv.gz", ".csv.zst"])
@pytest.mark.parametrize("codec", ["utf-8-sig", "cp1252", "utf-16"])
def test_text_that_is_kept_comes_out_as_it_was(tmp_path, suffix, codec):
    roles = {"quasi": ["lohn", "alter"], "rest": "keep"}
    path, target = tmp_path / f"a{suffix}", tmp_path / f"b{suffix}"
    with pa.output_stream(str(path)) as file:
        file.write(CODES.encode(codec))
    release = ma.protect_file(path, target, 3, max_block=20, **roles)
    assert (release.details["delimiter"], release.details["decimal"], release.details["thousands"]) == (";", ",", ".")
    source = read_source(path)
    masked = ma.protect(source.typed(["lohn", "alter"]), 3, blocks="median", max_block=20, **roles)
    assert read_source(target).table["plz"].to_pylist() == [f"0{1000 + i}" for i in range(60)]
    write_target(masked.data, tmp_path / f"c{suffix}", source)
    assert target.read_bytes() == (tmp_path / f"c{suffix}").read_bytes()


def test_what_is_said_of_a_text_file_is_obeyed(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("code;x,y\n" + "".join(f"0{i};{i},{i * i % 11}\n" for i in range(30)))
    release = ma.protect_file(path, tmp_path / "b.csv", 3, quasi=["y"], rest="keep", delimiter=",")
    assert release.details["delimiter"] == release.recipe.reading.delimiter == ","
    lines = (tmp_path / "b.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == ["code;x", *(f"0{i};{i}" for i in range(30))]


@pytest.mark.parametrize("rounding", ["none", "auto"])
def test_whole_numbers_of_text_are_rounded_where_asked(tmp_path, rounding):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i / 2}\n" for i in range(30)))
    ma.protect_file(path, tmp_path / "b.parquet", 4, rounding=rounding)
    expected = ma.protect(read_source(path).typed(), 4, blocks="median", max_block=50_000, rounding=rounding).data
    same(pq.read_table(tmp_path / "b.parquet"), expected)
    assert expected["x"].type == (pa.int64() if rounding == "auto" else pa.float64())


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_headers_that_repeat_are_not_shown(tmp_path):
    (tmp_path / "bare.csv").write_text("SECRET,SECRET\n1,2\n3,4\n")
    with pytest.raises(InputError, match="two columns with the same name") as caught:
        ma.protect_file(tmp_path / "bare.csv", tmp_path / "out.parquet", 2)
    assert "SECRET" not in str(caught.value)
    (tmp_path / "data.sav").write_bytes(b"")
    with pytest.raises(InputError, match="neither Parquet nor text"):
        ma.protect_file(tmp_path / "data.sav", tmp_path / "out.parquet", 2)


def test_unused_categories_and_row_labels_stay_inside(tmp_path):
    rng = np.random.default_rng(0)
    kind = pa.DictionaryArray.from_arrays(pa.array([i % 2 for i in range(60)], pa.int32()), ["u", "v", "SECRET"])
    pq.write_table(pa.table({"a": rng.random(60), "kind": kind}), tmp_path / "in.parquet")
    ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, quasi=["a"], rest="keep")
    assert b"SECRET" not in (tmp_path / "out.parquet").read_bytes()
    frame = pd.DataFrame({"a": rng.random(60)}, index=[f"person{i}" for i in range(60)])
    frame.to_parquet(tmp_path / "labelled.parquet")
    found = ma.protect_file(tmp_path / "labelled.parquet", tmp_path / "plain.parquet", 3, quasi=["a"], rest="keep")
    assert found.index_dropped
    assert pq.read_table(tmp_path / "plain.parquet").column_names == ["a"]


@pytest.mark.parametrize("when", [0.2, 0.8])
def test_a_source_that_changes_meanwhile_is_noticed(source, tmp_path, when):
    def change(done, total):
        if done / total > when and not changed:
            changed.append(True)
            pq.write_table(SURVEY.slice(0, 1200), source, row_group_size=600)

    changed = []
    with pytest.raises(InputError, match=r"changed while it was read|cannot be read"):
        ma.protect_file(source, tmp_path / "out.parquet", 3, max_block=300, progress=change, **ROLES)
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize("kind", [pa.float32(), pa.int8(), pa.uint64(), pa.decimal128(12, 2)])
@pytest.mark.parametrize("rounding", ["none", "auto"])
def test_columns_have_the_types_that_protect_gives(tmp_path, kind, rounding):
    values = pa.array(np.random.default_rng(0).integers(0, 100, 90)).cast(pa.float64()).cast(kind)
    table = pa.table({"a": values, "b": np.random.default_rng(1).random(90)})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=40)
    ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, rounding=rounding)
    expected = ma.protect(table, 3, blocks="median", rounding=rounding).data
    assert pq.read_table(tmp_path / "out.parquet").equals(expected)


def test_k_is_counted_on_values_and_not_by_groups(tmp_path):
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "a": rng.integers(0, 3, 3000),
            "b": rng.integers(0, 2, 3000),
            "half": rng.choice([0.0, -0.0], 3000),
            "s": rng.choice(["x", "y"], 3000),
        }
    )
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=700)
    options = {"strata": ["s"], "rounding": "auto", "max_block": 200}
    found = ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, **options)
    inside = ma.protect(table, 3, blocks="median", **options)
    written = pq.read_table(tmp_path / "out.parquet")
    assert inside.smallest_group < inside.k_achieved  # groups came out alike
    assert found.k_achieved == inside.k_achieved == ma.anonymity(written).k
    assert found.k_achieved == fewest_alike([written[name].to_pylist() for name in written.column_names])
    text = ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.csv", 3, **options)
    assert text.k_achieved == found.k_achieved


def test_one_column_has_room_for_digests(tmp_path):
    pq.write_table(pa.table({"a": np.arange(5000.0)}), tmp_path / "in.parquet", row_group_size=800)
    assert ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4).k_achieved == 4


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".csv.gz"])
@pytest.mark.parametrize("name", ["age", "income"])
def test_a_spoilt_value_is_noticed_and_nothing_is_left(source, tmp_path, monkeypatch, suffix, name):
    (spoil_parquet if suffix == ".parquet" else spoil_text)(monkeypatch, name)
    with pytest.raises(PromiseBroken, match=r"'out\.[a-z.]+' was read back, .* and strata is shared by 1 record"):
        ma.protect_file(source, tmp_path / f"out{suffix}", 3, max_block=500, rounding="auto", **ROLES)
    assert names_in(tmp_path) == ["survey.parquet"]


def test_lost_records_are_noticed(source, tmp_path, monkeypatch):
    spoil_parquet(monkeypatch, "income", lambda table, _: table.slice(3))
    with pytest.raises(PromiseBroken, match="fewer records than the 2500"):
        ma.protect_file(source, tmp_path / "out.parquet", 3, max_block=500, **ROLES)
    assert names_in(tmp_path) == ["survey.parquet"]


def test_progress_goes_on_while_the_file_is_read_back(source, tmp_path):
    told = []
    ma.protect_file(source, tmp_path / "out.parquet", 3, progress=lambda *a: told.append(a), n_jobs=1, **ROLES)
    done = [done for done, _ in told]
    assert done == sorted(done)
    assert len([one for one in done if 6250 < one <= 7500]) == 4  # row groups
    assert told[-1] == (7500, 7500)
