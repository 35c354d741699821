"""What a release, and the page that goes with it, must not give away."""

import numpy as np
import pyarrow as pa

import microagg as ma
from microagg.report import build, render


def categories(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {"age": rng.integers(16, 90, n), "job": rng.choice(list("abcdef"), n), "area": rng.choice(list("xyz"), n)}
    )


def test_the_seed_of_a_draw_is_secret_and_stands_in_the_recipe_alone():
    table = categories()
    one, two = (ma.protect(table, 5, nominal="draw") for _ in range(2))
    assert not one.data.equals(two.data)  # nobody else can draw the same
    seed = one.recipe.masking.nominal_seed
    assert seed != two.recipe.masking.nominal_seed
    assert ma.protect(table, recipe=one.recipe).data.equals(one.data)
    for public in (True, False):
        assert str(seed) not in render(build(one, public=public))


def test_a_recipe_that_draws_nothing_has_no_seed():
    assert ma.protect(categories(), 5).recipe.masking.nominal_seed is None
    assert ma.Recipe.of(5, nominal_seed=3) == ma.Recipe.of(5)
