"""The recipe that is published with a release."""

import numpy as np
import pandas as pd

import microagg as ma
from microagg.recipe._text import write_public


def test_of_seeds_only_that_of_what_was_drawn_is_left_out(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=60), "job": rng.choice(list("ab"), 60)})
    release = ma.protect(frame, 3, quasi=["x", "job"], nominal="draw", nominal_seed=987654, refine="fast", seed=4242)
    text = write_public(release.recipe, tmp_path / "recipe.toml", None).read_text("utf-8")
    assert "987654" not in text
    assert "seed = 4242" in text  # of moves, which tell nothing of the original
    assert "Left out: columns that are not released, original values, the seed of what was drawn, " in text
    assert "seeds" not in text
