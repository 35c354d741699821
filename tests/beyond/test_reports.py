"""The report of a file beyond memory: that of memory where all records are judged, and a sample of it where not."""

import json
import pickle
import re
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidData
from microagg.mask.engines import figures as _figures
from microagg.report import build, to_json
from tests.beyond.frames import CHOICES, ROLES, mixed, weighted
from tests.lengths import first_few


def told(release, source=None, *, public=False):
    """Give what a report says, without what depends on how the file was read."""
    model = json.loads(to_json(build(release, public=public, source=source)))
    return {name: value for name, value in model.items() if name not in ("source", "title")}


@pytest.mark.parametrize(
    ("engine", "kind"), first_few(2, [("disk", ".parquet"), ("disk", ".csv"), ("dask", ".parquet"), ("dask", ".csv")])
)
def test_all_records_are_judged_as_in_memory(tmp_path, by_engine, engine, kind):
    table = weighted(mixed(700, 4, plain=True), 4)
    table = table.append_column("sick", pa.array(np.arange(700) % 7 == 0).cast(pa.string()))
    table = table.append_column("home", pa.array([f"h{i % 300}" for i in range(700)]))
    path, target = tmp_path / f"a{kind}", tmp_path / ("masked" if engine == "dask" and kind != ".csv" else f"b{kind}")
    ma.write(table, path)
    choices = {**CHOICES, **ROLES, "weight": "w", "weight_cap": True, "drop": ["v"], "confidential": ["sick"]}
    choices |= {"identifiers": ["name", "home"], "blocks": "median", "max_block": 100, "refine": "fast"}
    found = ma.protect_file(path, target, 3, **by_engine(engine), **choices)
    expected = ma.protect(ma.read(path), 3, same_order=True, **choices)
    assert found.sample.whole is None
    for public in (False, True):
        assert told(found.sample, public=public) == told(expected, public=public)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(_figures, "GROUPS", 400)


@pytest.fixture
def file(tmp_path):
    rng = np.random.default_rng(8)
    table = ma.datasets.survey(12_000, seed=2).select(["person", "region", "weight", "age", "income", "tax"])
    table = table.append_column("town", pa.array(rng.choice(["x", "y", "z"], 12_000, p=[0.6, 0.3, 0.1])))
    table = table.append_column("job", pa.array(np.arange(12_000) % 2000))
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1000)
    return tmp_path / "a.parquet"


CHOSEN = {"identifiers": ["person"], "strata": ["region"], "weight": "weight", "keep": ["job"], "max_block": 2000}


@pytest.mark.usefixtures("few")
def test_a_sample_is_of_whole_groups_and_tells_of_the_whole_file(file, tmp_path):
    found = ma.protect_file(file, tmp_path / "b.parquet", 4, **CHOSEN)
    expected = ma.protect(ma.read(file), 4, blocks="median", **CHOSEN)
    sample, source, masked = found.sample, pq.read_table(file), pq.read_table(tmp_path / "b.parquet")
    assert 300 * 4 < len(sample.groups) < 500 * 4
    assert sample.data.equals(masked.take(sample.rows))
    assert sample.source.table.equals(source.take(sample.rows))
    groups = expected.groups[sample.rows]  # all members of each
    assert np.array_equal(np.unique(groups, return_counts=True)[1], np.bincount(expected.groups)[np.unique(groups)])
    assert np.array_equal(np.unique(groups, return_inverse=True)[1], sample.groups)
    model, whole = build(sample), build(expected)
    assert replace(model.groups, counted=None, unique=None) == replace(whole.groups, counted=None, unique=None)
    assert model.loss.percent == whole.loss.percent
    assert (sample.n_records, sample.n_groups) == (12_000, expected.n_groups)
    note = next(one for one in model.verdict.findings if one.topic == "sample")
    assert re.search(r"judged on .* of 12\D000 records", note.short)
    assert any("upper limit" in one for one in model.limits)
    assert sample.risk.rld >= expected.risk.rld
    share = abs(model.verdict.alone_percent - whole.verdict.alone_percent)
    assert share < 5.0


@pytest.mark.campaign
@pytest.mark.usefixtures("few")
def test_the_same_groups_are_drawn_by_whoever_masks(file, tmp_path, cluster):
    one = ma.protect_file(file, tmp_path / "b.parquet", 4, **CHOSEN)
    many = ma.protect_file(file, tmp_path / "c", 4, engine="dask", scheduler=cluster, partitions=5, **CHOSEN)
    few = ma.protect_file(file, tmp_path / "d.parquet", 4, n_jobs=1, **CHOSEN)
    for other in (many, few):
        assert np.array_equal(other.sample.rows, one.sample.rows)
        assert np.array_equal(other.sample.groups, one.sample.groups)
        assert other.sample.data.equals(one.sample.data)
        assert told(other.sample) == told(one.sample)


@pytest.mark.usefixtures("few")
def test_a_report_is_written_and_a_stored_release_has_none(file, tmp_path):
    found = ma.protect_file(file, tmp_path / "b.parquet", 4, **CHOSEN)
    assert "larger than memory" in found.report(tmp_path / "report.html").read_text()
    assert "upper limit" not in found.report(tmp_path / "public.html", public=True).read_text()
    stored = pickle.loads(pickle.dumps(found))
    assert (stored.k_achieved, stored.sample, stored.rounded) == (found.k_achieved, None, {})
    with pytest.raises(InvalidData, match="no original values"):
        stored.report(tmp_path / "again.html")


def test_how_many_groups_are_drawn_bounds_the_error():
    assert _figures.GROUPS == 40_000
    assert _figures.share_drawn(120_000, 40_000) == 1.0
    assert _figures.share_drawn(3_000_000, 1_000_000) == 0.04
    assert _figures.share_drawn(100_000_000, 1_000_000) == 0.004
    drawn = _figures.drawn_rows(np.arange(1_000_000), 0.04)
    assert abs(drawn.size - 40_000) < 1000
    assert np.abs(np.histogram(drawn, 10)[0] - 4000).max() < 400
