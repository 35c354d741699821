"""A report says how much columns count, and what those lost that do not count at all."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv

import microagg as ma
from microagg.jobs.trial import first_figures
from microagg.judge.text import FIXED, percent
from microagg.report.html import render
from tests.cli import call


def table():
    rng = np.random.default_rng(0)
    return pa.table({name: rng.lognormal(3, 1, 400).round(2) for name in ("wage", "rent", "noise")})


@pytest.fixture(scope="module")
def release():
    return ma.protect(table(), 5, importance={"noise": 0.0, "wage": 2.0})


def own_loss(release):
    """Return what a column lost, by the definition."""
    before, after = (frame["noise"].to_numpy() for frame in (table(), release.data))
    return 100 * ((before - after) ** 2).sum() / ((before - before.mean()) ** 2).sum()


def facts(model):
    return {one.name: (one.value, one.why) for one in model.done}


def test_the_report_says_what_counts_and_how_much(release):
    said = facts(release.report_model())
    assert said["importance"][0] == "“wage” 2, “noise” 0"
    assert "Other columns have importance 1." in said["importance"][1]
    assert said["grouped on"][0] == "all masked columns but “noise”"
    assert "equally" not in said["scaling"][1]
    usual = facts(ma.protect(table(), 5).report_model())
    assert "importance" not in usual
    assert (usual["grouped on"][0], "all count equally" in usual["scaling"][1]) == ("all masked columns", True)


def test_the_loss_of_a_column_that_does_not_count_is_in_the_same_sentence(release):
    lost = own_loss(release)
    assert lost > 30
    assert release.information.percent < 10
    line = next(one.value for one in release.report_model().verdict.lines if one.name == "Lost")
    sentence = line.split(". ")[0]
    assert percent(release.information.percent) in sentence
    assert f"columns of importance 0 lost: “noise” ({percent(lost)})" in sentence
    assert f"importance 0 lost: 'noise' {lost:.2f} %" in repr(release)
    assert f"importance 0 lost: 'noise' {lost:.2f} %" in first_figures(release, 1.0).word
    assert release.information.uncounted == {"noise": pytest.approx(lost)}
    assert ma.protect(table(), 5).information.uncounted == {}


def test_the_tile_of_the_loss_says_it_too(release):
    page = render(release.report_model())
    tile = re.search(r"<li><b>[^<]*</b><span>loss of information:[^<]*</span></li>", page)[0]
    assert f"without what columns of importance 0 lost: “noise” ({percent(own_loss(release))})" in tile
    public = render(release.report_model(public=True))
    assert "loss of information, without “noise” (importance 0)</span>" in public


def test_the_public_report_says_which_columns_do_not_count(release):
    model = release.report_model(public=True)
    assert "“noise”" in facts(model)["importance"][0]
    lost = next(one.value for one in model.verdict.lines if one.name == "Lost")
    assert FIXED + "%" not in lost


def test_the_terminal_and_json_say_it_in_memory_and_on_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    csv.write_csv(table(), "pay.csv")
    (tmp_path / "own.toml").write_text(
        'k = 5\n\n[roles]\nquasi = ["wage", "rent", "noise"]\n\n[importance]\nnoise = 0\n'
    )
    for engine in ("memory", "disk"):
        run = ("mask", "pay.csv", "--recipe", "own.toml", "--engine", engine, "--same-order", "--force")
        lines = call(*run).output
        assert "importance 0 lost: 'noise' " in lines
        found = json.loads(call(*run, "--json").stdout)
        assert found["importance"] == {"noise": 0.0}
        assert found["losses_without_importance_percent"]["noise"] > 30 > found["information_loss_percent"]
        assert "importance 0 lost: “noise”" in (tmp_path / "out/internal/report.html").read_text()
