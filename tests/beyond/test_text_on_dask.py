"""A text file on a cluster: the bytes of one machine, and nothing but the target left."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter
from microagg.files.sources import read_source, write_target
from tests.beyond.frames import CHOICES, ROLES, mixed, weighted

pytestmark = pytest.mark.campaign  # test_cluster.py has what a quick run tries on a cluster

WORDS = "plz;lohn;alter;ort\n" + "".join(
    f'0{1000 + i};{1 + i * i % 97}.000,{i % 10};{20 + i * 7 % 50};"Straße; {i % 4}"\n' for i in range(600)
)


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    monkeypatch.setattr("microagg.files.formats.text._BLOCK", 1 << 12)


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def on_both(source, tmp_path, cluster, suffix, *args, **choices):
    """Mask on disk and on the cluster; give both releases, whose files have the same bytes."""
    here, there = tmp_path / f"here{suffix}", tmp_path / f"there{suffix}"
    told = []
    one = ma.protect_file(source, here, *args, **choices)
    many = ma.protect_file(
        source, there, *args, engine="dask", scheduler=cluster, progress=lambda *at: told.append(at), **choices
    )
    assert there.read_bytes() == here.read_bytes()
    assert (many.information, many.recipe, many.k_achieved) == (one.information, one.recipe, one.k_achieved)
    assert (many.details, many.missing, many.rounded) == (one.details, one.missing, one.rounded)
    assert told == sorted(told)
    assert told[-1][0] == told[-1][1]
    return one, many


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".csv.zst"])
def test_text_gives_the_bytes_of_disk_and_memory(tmp_path, cluster, suffix):
    path, choices = tmp_path / f"a{suffix}", {"quasi": ["lohn", "alter"], "rest": "keep", "max_block": 50}
    with pa.output_stream(str(path)) as file:
        file.write(WORDS.encode("cp1252"))
    on_both(path, tmp_path, cluster, suffix, 3, **choices)
    source = read_source(path)
    masked = ma.protect(source.typed(["lohn", "alter"]), 3, blocks="median", **choices)
    write_target(masked.data, tmp_path / f"memory{suffix}", source)
    assert (tmp_path / f"there{suffix}").read_bytes() == (tmp_path / f"memory{suffix}").read_bytes()
    assert names_in(tmp_path) == sorted(f"{name}{suffix}" for name in ("a", "here", "memory", "there"))


@pytest.mark.parametrize("weights", [{}, {"weight_release": "group", "weight_cap": True}])
def test_every_kind_of_column_weights_and_units(tmp_path, cluster, weights):
    table = weighted(mixed(900, 5, plain=True), 5)
    table = table.append_column("home", pa.array([f"h{i % 300}" for i in range(900)]))
    path = tmp_path / "a.csv"
    ma.write(table, path)
    choices = {**CHOICES, **ROLES, **weights, "weight": ["w", "v"], "unit": "home", "weighted": True}
    on_both(path, tmp_path, cluster, ".csv", 3, max_block=200, **{"weight_cap": True, **choices})


def test_parquet_can_become_text_and_text_a_folder_of_parquet(tmp_path, cluster):
    survey = ma.datasets.survey(600, seed=3).select(["region", "age", "income"])
    pq.write_table(survey, tmp_path / "a.parquet", row_group_size=130)
    on_both(tmp_path / "a.parquet", tmp_path, cluster, ".csv", 3, strata=["region"], max_block=100)
    ma.write(survey, tmp_path / "a.csv")
    choices = {"strata": ["region"], "max_block": 100}
    ma.protect_file(tmp_path / "a.csv", tmp_path / "one.parquet", 3, **choices)
    ma.protect_file(tmp_path / "a.csv", tmp_path / "many", 3, engine="dask", scheduler=cluster, **choices)
    assert len(names_in(tmp_path / "many")) > 1
    assert pq.read_table(tmp_path / "many").equals(pq.read_table(tmp_path / "one.parquet"))


def test_what_cannot_be_masked_leaves_nothing(tmp_path, cluster):
    path, there = tmp_path / "a.csv", {"engine": "dask", "scheduler": cluster}
    path.write_text("x,y,w\n" + "".join(f"{i},{i % 5},{'SECRET' if i == 90 else 1}\n" for i in range(100)))
    with pytest.raises(InvalidData, match=r"column 'w' of 'a\.csv' is not all numbers") as refused:
        ma.protect_file(path, tmp_path / "b.csv", 3, weight="w", **there)
    assert "SECRET" not in str(refused.value)
    (tmp_path / "folder.csv").mkdir()
    for target in ("folder.csv", "masked.sav"):
        with pytest.raises(InvalidParameter, match="neither"):
            ma.protect_file(path, tmp_path / target, 3, rest="drop", quasi=["x"], **there)
    assert names_in(tmp_path) == ["a.csv", "folder.csv"]


def test_a_source_that_changes_is_noticed(tmp_path, cluster):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{i},{i % 5}\n" for i in range(3000)))

    def change(done, _):
        if done and not changed:
            changed.append(done)
            path.write_text("x,y\n1,2\n3,4\n5,6\n")

    changed = []
    with pytest.raises(InvalidData, match="changed while it was read"):
        ma.protect_file(path, tmp_path / "b.csv", 3, engine="dask", scheduler=cluster, progress=change)
    assert names_in(tmp_path) == ["a.csv"]
