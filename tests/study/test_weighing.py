"""What a recipe that names weights is told to say of them."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import microagg as ma
from microagg.jobs.opening import open_file
from microagg.recipe import Recipe
from tests.cli import call, complaint
from tests.reference import weights as by_the_book
from tests.report.test_weights import telling
from tests.test_weights import frame_of, of_firms


def opened(tmp_path, frame, **chosen):
    frame.to_csv(tmp_path / "survey.csv", index=False)
    return open_file(str(tmp_path / "survey.csv"), **{"k": 5, **chosen})


def test_a_weight_that_tells_a_category_is_to_be_released_by_group(tmp_path):
    found = opened(tmp_path, telling(), weight="w", drop=["v"])
    assert found.recipe.roles.weight == "w"
    assert found.recipe.weights.release == "group"
    text = found.recipe.text()
    assert 'release = "group"  # w gives away job: 6 of 6 weights have one category only' in text
    assert Recipe.parse(text) == found.recipe


def test_a_weight_that_singles_out_is_to_be_released_by_group(tmp_path):
    frame = frame_of(200)
    found = opened(tmp_path, frame, weight="w", drop=["v"])
    rare = by_the_book.rare_weights(frame["w"].tolist(), 5)
    assert f"# {rare} records have a weight in w that fewer than 5 share" in found.recipe.text()
    assert found.recipe.weights.release == "group"


def test_what_was_asked_for_stays(tmp_path):
    found = opened(tmp_path, telling(), weight="w", drop=["v"], weight_release="as it is")
    assert found.recipe.weights.release == "as it is"


def test_a_harmless_weight_stays_as_it_is(tmp_path):
    frame = frame_of(200).assign(w=np.tile([100.0, 120.0], 100))
    found = opened(tmp_path, frame, weight="w", drop=["v"])
    assert (found.recipe.weights.release, found.recipe.weights.cap) == ("as it is", False)


def test_a_recipe_as_guessed_never_ends_in_a_weight_that_dominates(tmp_path):
    rng = np.random.default_rng(0)
    for seed in range(8):
        frame = frame_of(120, seed)
        frame["w"] = rng.lognormal(0, 2.5, 120).round(3)
        frame.loc[rng.random(120) < 0.1, "income"] = np.nan
        found = opened(tmp_path, frame, weight="w", drop=["v"], k=3)
        assert found.recipe.weights.cap
        ma.protect(found.source, recipe=found.recipe)


def test_a_recipe_as_guessed_never_ends_in_a_unit_that_dominates(tmp_path):
    frame = of_firms()
    chosen = {"weight": "w", "unit": "firm", "unit_share": "any", "k": 4}
    found = opened(tmp_path, frame, **chosen)
    assert found.recipe.weights.cap
    assert "# one firm could have more than 80 % of its group's w" in found.recipe.text()
    assert ma.protect(found.source, recipe=found.recipe).weights.dominated > 1


def test_a_column_that_is_no_weight_is_left_to_masking(tmp_path):
    frame = frame_of(100)
    frame.loc[3, "w"] = -1.0
    found = opened(tmp_path, frame, weight="w", drop=["v"])
    assert found.recipe.weights == Recipe(5).weights
    with pytest.raises(ma.errors.InvalidData, match="1 negative"):
        ma.protect(found.source, recipe=found.recipe)


def test_a_weight_that_nobody_named_is_dropped(tmp_path):
    found = opened(tmp_path, telling().rename(columns={"w": "weight"}))
    assert "weight" in found.recipe.roles.drop
    assert found.recipe.weights == Recipe(5).weights


def test_inspect_takes_the_weight_and_mask_says_what_it_did(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    telling().to_csv("survey.csv", index=False)
    call("inspect", "survey.csv", "-k", "5", "--weight", "w", "-o", "recipe.toml")
    recipe = Recipe.read("recipe.toml")
    assert (recipe.roles.weight, recipe.weights.release) == ("w", "group")
    assert "by weight)" in call("mask", "survey.csv", "--recipe", "recipe.toml", "-o", "out").output
    masked = pd.read_csv("out/release/survey_masked.csv")
    assert {value % 5 for value in masked["w"]} == {0.0}
    assert masked["w"].sum() == pytest.approx(telling()["w"].sum(), rel=0.01)


def test_the_command_line_takes_every_choice_of_weights(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    telling().to_csv("survey.csv", index=False)
    roles = ("--quasi", "age,income,job", "--weight", "w,v", "--rest", "drop", "-k", "5")
    chosen = ("--weight-release", "group", "--weight-cap", "--calibrate", "job")
    found = json.loads(call("mask", "survey.csv", *roles, *chosen, "-o", "a", "--json").stdout)
    assert found["information_loss_by_weight_percent"] == found["figures"]["IL_w"]
    assert found["expected_links"] == pytest.approx(found["figures"]["expected links"] * 2)  # of 200 records
    assert len(found["calibration_factors"]) == 2
    assert found["weights_rounded_to"].keys() == {"w", "v"}
    assert found["weighted_totals_moved_by_that_percent"].keys() == {"w", "v", "age", "income", "job"}
    groups = found["groups_whose_weight_shows_categories"]["w"]
    line = f"the weight “w” shows categories of the members in {groups} of {found['groups']} groups."
    assert groups > 0
    assert line in found["warnings"]
    assert line in call("mask", "survey.csv", *roles, *chosen, "-o", "f").output.replace("\n", " ")
    assert "discloses" in call("mask", "survey.csv", *roles, "--no-weighted", "-o", "b").output
    frame = telling()
    frame.loc[7, "w"] = 1e6
    frame.to_csv("survey.csv", index=False)
    refused = complaint("mask", "survey.csv", *roles, "-o", "c")
    assert "--weight-cap" in refused
    assert "--no-weighted" in refused
    cut = json.loads(call("mask", "survey.csv", *roles, "--weight-cap", "-o", "d", "--json").stdout)
    on_disk = call(
        "mask", "survey.csv", *roles, "--weight-cap", "--engine", "disk", "--same-order", "-o", "e", "--json"
    )
    assert cut["groups_with_a_weight_cut"] == 1
    assert any(line.startswith("weights were cut in 1 group") for line in cut["warnings"])
    assert json.loads(on_disk.stdout)["weighted_totals_moved_percent"] == cut["weighted_totals_moved_percent"]


def test_an_arrow_table_of_the_masked_file_is_what_was_released(tmp_path):
    found = opened(tmp_path, telling(), weight="w", drop=["v"])
    release = ma.protect(found.source, recipe=found.recipe)
    assert release.data.schema.field("w").type == pa.float64()
