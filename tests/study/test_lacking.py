"""Where many records lack rare sets of columns, inspect says that a missing value may better be one more value."""

import json

import numpy as np
import pandas as pd
import pytest

from microagg import jobs as desk
from microagg.study.inspection import rows_to_move
from tests.cli import call


def with_holes(share, n=600, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.normal(size=n) for name in "abcdefgh"})
    return frame.mask(rng.random(frame.shape) < share)


def slow_rows_to_move(frame, k):
    """Count the records whose set of missing columns fewer than k have."""
    sets = frame.isna().apply(lambda row: "".join("x" if one else "." for one in row), axis=1)
    return int((sets.map(sets.value_counts()) < k).sum())


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3])
def test_inspect_says_so_where_more_than_one_in_twenty_would_move(tmp_path, monkeypatch, share):
    monkeypatch.chdir(tmp_path)
    frame = with_holes(share)
    frame.to_csv("d.csv", index=False)
    moved = slow_rows_to_move(frame, 5)
    result = call("inspect", "d.csv", "--json")
    assert json.loads(result.stdout)["moved"] == moved
    many = moved > 30
    assert many == (share == 0.3)
    assert ('missing = "state" may be the better choice' in result.stderr.replace("\n", " ")) == many


def test_a_recipe_that_cannot_be_followed_moves_nobody(tmp_path):
    frame = with_holes(0.3).assign(z="word")
    frame.to_csv(tmp_path / "d.csv", index=False)
    opened = desk.open_file(str(tmp_path / "d.csv"))
    assert rows_to_move(opened.source, opened.recipe) > 0
    assert rows_to_move(opened.source, opened.recipe.replace(kinds={"z": "number"}, quasi=["a", "z"], keep=[])) == 0
