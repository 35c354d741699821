"""Every kind of column, with missing values, ties and strata: the same from disk as in memory."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InputError
from microagg.files.sources import read_source, write_target
from tests.beyond.frames import CHOICES, NOMINAL_AND_MISSING, ROLES, assert_same, mixed
from tests.cli import call
from tests.lengths import first_few


@pytest.mark.parametrize(("nominal", "missing"), first_few(3, NOMINAL_AND_MISSING))
@pytest.mark.parametrize("seed", [0, 1])
def test_mixed_frames_come_out_as_in_memory(tmp_path, missing, nominal, seed):
    table = mixed(900, seed)
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=170)
    options = {"missing": missing, "nominal": nominal, "nominal_seed": 5, "max_block": 80, **CHOICES, **ROLES}
    found = ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 4, **options)
    expected = ma.protect(table, 4, blocks="median", **options)
    assert_same(found, expected, pq.read_table(tmp_path / "out.parquet"))


@pytest.mark.parametrize("missing", ["pattern", "state"])
@pytest.mark.parametrize("seed", [0, 1])
def test_text_files_come_out_as_in_memory_to_the_byte(tmp_path, missing, seed):
    path = tmp_path / "in.csv"
    pyarrow.csv.write_csv(mixed(700, seed, plain=True), path, pyarrow.csv.WriteOptions(quoting_style="needed"))
    options = {"missing": missing, "max_block": 90, **CHOICES, **ROLES}
    found = ma.protect_file(path, tmp_path / "out.csv", 4, **options)
    source = read_source(path)
    expected = ma.protect(source, 4, blocks="median", **options)
    write_target(expected.data, tmp_path / "memory.csv", source)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()
    assert found.information == expected.information
    assert found.k_achieved == expected.k_achieved
    assert found.recipe.kinds == expected.recipe.kinds
    assert (found.missing, found.rounded) == (expected.missing, expected.rounded)


@pytest.mark.parametrize("size", [40, 1 << 23])
def test_text_is_numbers_where_all_of_it_is_whatever_the_parts(tmp_path, monkeypatch, size):
    monkeypatch.setattr("microagg.files.formats.text._BLOCK", size)
    rng = np.random.default_rng(0)
    n = 120
    columns = {
        "whole": [str(v) for v in rng.integers(0, 50, n)],
        "gaps": ["" if i < 60 else str(i % 7) for i in range(n)],
        "late": [str(i % 9) if i < 110 else f"{i % 9}.5" for i in range(n)],
        "codes": [f"{i % 4}" if i < 100 else f"0{i % 4}" for i in range(n)],
        "word": ["NA" if i % 5 == 0 else str(i % 3) for i in range(n)],
        "day": ["NA" if i % 7 == 0 else f"2020-01-{1 + i % 28:02d}" for i in range(n)],
    }
    path = tmp_path / "in.csv"
    rows = [",".join(values) for values in zip(*columns.values(), strict=True)]
    path.write_text("\n".join([",".join(columns), *rows]) + "\n")
    options = {"max_block": 30, "kinds": {"day": "date"}}
    found = ma.protect_file(path, tmp_path / "out.csv", 3, **options)
    source = read_source(path)
    expected = ma.protect(source, 3, blocks="median", **options)
    types = [pa.int64(), pa.int64(), pa.float64(), pa.string(), pa.int64(), pa.string()]
    assert expected.data.schema.types == types
    write_target(expected.data, tmp_path / "memory.csv", source)
    assert (tmp_path / "out.csv").read_bytes() == (tmp_path / "memory.csv").read_bytes()
    assert found.information == expected.information


def drawn_case(seed):
    """Draw a frame and choices: some columns of every kind, few or many records, much or nothing missing."""
    rng = np.random.default_rng(seed)

    def one(*choices):
        return choices[rng.integers(len(choices))]

    table = mixed(int(rng.integers(40, 260)), seed, missing=one(0.0, 0.02, 0.3))
    names = [name for name in table.column_names if name not in ("region", "name")]
    quasi = sorted(rng.choice(names, rng.integers(1, len(names)), replace=False).tolist())
    k = int(rng.integers(2, 6))
    options = {
        "k": k,
        "quasi": quasi,
        "strata": one([], ["region"]),
        "rest": "drop",
        "max_block": int(rng.integers(2 * k, 60)),
        "missing": one("pattern", "state"),
        "nominal": one("mode", "mode", "balanced", "draw"),
        "nominal_seed": seed,
        "aggregate": one("mean", "median"),
        "rounding": one("auto", "none", {"income": 100} if "income" in quasi else "auto"),
        "spike": one(1.0, 4.0),
        "spike_totals": one("safe", "exact"),
        "method": one("mdav", "mdav", "vmdav", "iamat"),
    }
    for choice in ("kinds", "missing_codes", "taxonomy", "importance"):
        options[choice] = {name: value for name, value in CHOICES[choice].items() if name in quasi}
    return table, options, {"row_group_size": int(rng.integers(5, 100)), "n_jobs": one(1, 2)}


@pytest.mark.parametrize("first", first_few(2, range(0, 60, 10)))
def test_drawn_frames_and_choices_come_out_as_in_memory(tmp_path, first):
    same = 0
    for seed in range(first, first + 10):
        table, options, way = drawn_case(seed)
        pq.write_table(table, tmp_path / "in.parquet", row_group_size=way["row_group_size"])
        try:
            expected = ma.protect(table, blocks="median", **options)
        except InputError as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", overwrite=True, **options)
            continue
        found = ma.protect_file(
            tmp_path / "in.parquet", tmp_path / "out.parquet", overwrite=True, n_jobs=way["n_jobs"], **options
        )
        assert_same(found, expected, pq.read_table(tmp_path / "out.parquet"))
        same += 1
    assert same > 5


def test_the_command_masks_every_kind_and_its_recipe_gives_the_same_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv = pyarrow.csv.WriteOptions(quoting_style="needed")
    pyarrow.csv.write_csv(mixed(400, 2, plain=True), "in.csv", csv)
    ma.Recipe.of(4, max_block=100, blocks="median", **CHOICES, **ROLES).write("recipe.toml")
    for engine, recipe in (("disk", "recipe.toml"), ("memory", "recipe.toml"), ("again", "disk/internal/recipe.toml")):
        words = ("--same-order", "--engine", "memory" if engine == "memory" else "disk")
        call("mask", "in.csv", "--recipe", recipe, "-o", engine, "--yes", *words)
    masked = {
        engine: (tmp_path / engine / "release" / "in_masked.csv").read_bytes() for engine in ("disk", "memory", "again")
    }
    assert masked["disk"] == masked["memory"] == masked["again"]
    assert ma.Recipe.read("disk/internal/recipe.toml").kinds.kinds["wage"] == {"spike": 0}


def test_missing_values_are_refused_where_that_is_asked_for(tmp_path):
    table = mixed(60, 0)
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=13)
    options = {"k": 3, "missing": "error", **CHOICES, **ROLES}
    with pytest.raises(InputError) as expected:
        ma.protect(table, blocks="median", **options)
    with pytest.raises(InputError, match=re.escape(str(expected.value))) as caught:
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", **options)
    assert caught.value.parameter == "missing"
    assert not (tmp_path / "out.parquet").exists()


@pytest.mark.parametrize(
    ("column", "kind", "message"),
    [
        (pa.array([f"name {i}" for i in range(1500)]), "nominal", "1500 categories, more than 1000"),
        (pa.array([None] * 1500, pa.string()), "nominal", "no value at all"),
        (pa.array([None] * 1500, pa.float64()), "semi", "no value at all"),
        (pa.array(["low", "mid"] * 750), ["low", "high"], "750 value.s. that are not among"),
        (pa.array(["2020-01-01"] * 1499 + ["SECRET"]), "date", "not all its values are dates in one form"),
        (pa.array(["a", "b"] * 750), "ordinal", "and the order of its values is not known"),
    ],
)
def test_columns_that_do_not_fit_their_kind_are_refused_in_the_words_of_protect(tmp_path, column, kind, message):
    table = pa.table({"x": column, "y": np.arange(1500.0)})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=1500)
    with pytest.raises(InputError, match=message) as expected:
        ma.protect(table, 3, blocks="median", kinds={"x": kind})
    with pytest.raises(InputError, match=re.escape(str(expected.value))) as caught:
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, kinds={"x": kind})
    assert "SECRET" not in str(caught.value)
    assert not (tmp_path / "out.parquet").exists()


def test_the_order_of_levels_is_the_same_in_every_row_group(tmp_path):
    levels = ["poor", "fair", "good", "best"]
    codes = np.repeat([3, 1, 2, 0], 30)
    column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), levels, ordered=True)
    table = pa.table({"grade": column, "x": np.arange(120.0)})
    pq.write_table(table, tmp_path / "in.parquet", row_group_size=30)
    ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, max_block=30)
    written = pq.ParquetFile(tmp_path / "out.parquet")
    for group in range(written.num_row_groups):
        chunks = written.read_row_group(group)["grade"].chunks
        assert [chunk.dictionary.to_pylist() for chunk in chunks] == [levels]
