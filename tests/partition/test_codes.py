"""Records with codes get the groups that all their coordinates give: on ties, at size, on real columns."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import microagg as ma
from microagg.algorithms.kernels.records import Records, coordinates, take
from microagg.algorithms.mdav import mdav
from microagg.algorithms.methods import choose_search
from microagg.algorithms.refine import refine
from microagg.columns import frames
from microagg.columns.embedding import embed
from microagg.columns.finders import open_table
from microagg.recipe._recipe import recipe_of
from microagg.recipe.data import asked_of
from tests.lengths import given_few
from tests.partition.cases import PARTITIONERS
from tests.partition.test_search import SEARCHED, everywhere

NINE_KEYS = ("age", "eqIncome", "hsize", "rb090", "db040", "pl030", "pb220a", "py010n", "hy090n")
KINDS = {"hsize": "ordinal", "pl030": "nominal", "py010n": "semi", "hy090n": "semi"}


def made(n, categories, *, numbers=2, codes=2, seed=0, decimals=None):
    """Records of normal numbers, rounded where ties are wanted, and of skewed categories of standard height."""
    rng = np.random.default_rng(seed)
    entries = [rng.standard_normal(n) for _ in range(numbers)]
    if decimals is not None:
        entries = [column.round(decimals) for column in entries]
    heights, starts = [], [numbers]
    for _ in range(codes):
        found = np.unique((categories * rng.random(n) ** 2).astype(int), return_inverse=True)[1]
        shares = np.bincount(found) / n
        entries.append(found.astype(float))
        heights.append(1.0 / np.sqrt(max(1.0 - (shares**2).sum(), 0.1)))
        starts.append(starts[-1] + shares.size)
    return Records(np.array(entries), np.array(heights), np.array(starts))


@st.composite
def files(draw):
    """Few or many categories, numbers with ties or all zero, now and then whole records repeated."""
    n = draw(st.integers(5, 500))
    records = made(
        n,
        draw(st.sampled_from([1, 2, 4, 30, 400])),
        numbers=draw(st.integers(1, 4)),
        codes=draw(st.integers(1, 4)),
        seed=draw(st.integers(0, 10**6)),
        decimals=draw(st.sampled_from([None, 0, 1])),
    )
    if draw(st.booleans()):
        records.entries[: records.starts[0]] = 0.0
    if draw(st.booleans()):
        records = take(records, np.random.default_rng(n).integers(0, n, n))
    return records, draw(st.integers(2, 5))


@everywhere
@given_few(10, 80, case=files())
def test_codes_change_no_label(name, case):
    records, k = case
    partitioner, options = SEARCHED[name]
    expected = partitioner(coordinates(records).T, k, search="brute", **options)
    for search in ("brute", "tree"):
        assert_array_equal(partitioner(records, k, search=search, **options), expected)


@pytest.mark.parametrize("name", [name for name in PARTITIONERS if not name.startswith("projection")])
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 40), k=st.integers(2, 4), categories=st.integers(1, 12))
def test_codes_agree_with_the_oracles(name, seed, n, k, categories):
    partitioner, oracle, options = PARTITIONERS[name]
    records = made(n, categories, seed=seed, decimals=0)
    expected = oracle(coordinates(records).T.tolist(), k, **options)
    assert partitioner(records, k, **options).tolist() == list(expected)


@pytest.mark.parametrize("decimals", [None, 0])
@pytest.mark.parametrize("name", ["mdav", "cbfs", "iamat-moving-variable", "vmdav"])
def test_codes_change_no_label_at_size(name, decimals):
    """Enough records for a list of the outermost ones, and a tree that is built anew."""
    records = made(6000, 20, codes=3, seed=1, decimals=decimals)
    partitioner, options = SEARCHED[name]
    expected = partitioner(coordinates(records).T, 3, search="tree", **options)
    for search in ("brute", "tree"):
        assert_array_equal(partitioner(records, 3, search=search, **options), expected)


@everywhere
def test_heights_whose_squares_vanish_still_decide(name):
    records = made(120, 6, numbers=1, seed=2)
    records.entries[0] = 0.0
    tiny = records._replace(heights=records.heights * 1e-170)
    partitioner, options = SEARCHED[name]
    assert_array_equal(partitioner(tiny, 3, **options), partitioner(coordinates(tiny).T, 3, **options))
    assert np.bincount(partitioner(tiny, 3, **options)).size > 1


@settings(max_examples=15)
@given(
    n=st.integers(20, 400),
    categories=st.sampled_from([3, 30, 200]),
    seed=st.integers(0, 10**6),
    k=st.integers(2, 5),
    sizes=st.sampled_from(["variable", "fixed"]),
)
def test_refine_finds_the_same_where_nothing_ties(n, categories, seed, k, sizes):
    records = made(n, categories, seed=seed)
    labels = mdav(records, k)
    by_codes = refine(records, labels, k, effort=400 * n, sizes=sizes)
    in_full = refine(coordinates(records).T, labels, k, effort=400 * n, sizes=sizes)
    assert_array_equal(by_codes.labels, in_full.labels)
    assert by_codes.before == pytest.approx(in_full.before, rel=1e-12)
    assert by_codes.after == pytest.approx(in_full.after, rel=1e-12)


def test_a_thorough_search_finds_the_same():
    """Several runs, of which the better parts are joined."""
    records = made(150, 12, seed=5)
    labels = mdav(records, 3)
    found = [refine(X, labels, 3, effort=150 * 3000).labels for X in (records, coordinates(records).T)]
    assert_array_equal(*found)


def eusilc(n):
    """Some real persons by nine keys, an occupation of up to 226 codes beside them."""
    frame = pd.read_csv(Path(os.environ["MICROAGG_DATA"]) / "eusilc.csv").head(n)[list(NINE_KEYS)]
    frame["pl030"] = frame["pl030"].astype("string")
    occupation = (frame["age"] * 31 + frame["eqIncome"].round().astype(int) // 700 * 7) % 226
    return frame.assign(occupation=occupation.map("o{}".format))


def points_of(frame, **choices):
    recipe = recipe_of(5, None, choices).spelt_out()
    return embed(open_table(frames.open_frame(frame), asked_of(recipe, list(frame.columns), {}))[0])


@pytest.mark.casc
@everywhere
def test_real_persons_get_the_same_groups(name):
    """Ties are common there: whole households share an income."""
    points = points_of(eusilc(1200), kinds=KINDS)
    assert points.coordinates.shape[0] > 200 > 12 * points.records.heights.size
    partitioner, options = SEARCHED[name]
    expected = partitioner(points.coordinates.T, 5, search="brute", **options)
    for search in ("brute", "tree"):
        assert_array_equal(partitioner(points.records, 5, search=search, **options), expected)


@pytest.mark.casc
def test_refine_of_real_persons_is_as_good():
    points = points_of(eusilc(1200), kinds=KINDS)
    labels = mdav(points.records, 5)
    by_codes, in_full = (refine(X, labels, 5) for X in (points.records, points.coordinates.T))
    assert by_codes.before == pytest.approx(in_full.before, rel=1e-12)
    assert by_codes.after == pytest.approx(in_full.after, rel=0.01)  # ties part their ways


def test_protect_makes_no_coordinate_for_every_category(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.random(600), "job": (np.arange(600) % 150).astype(str)})
    expected = ma.protect(frame, k=5, blocks="none", refine="fast").groups

    def refused(_):
        raise AssertionError("all coordinates were made")

    for module in ("mask.method", "columns.embedding"):
        monkeypatch.setattr(f"microagg.{module}.coordinates", refused)
    assert_array_equal(ma.protect(frame, k=5, blocks="none", refine="fast").groups, expected)
    assert ma.protect(frame, k=5, blocks="median", max_block=100).n_blocks == 6


@pytest.mark.parametrize("method", ["projection", ma.MDAV(k=3)])
def test_what_needs_all_coordinates_gets_them(method):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.random(90), "job": rng.integers(0, 9, 90).astype(str)})
    release = ma.protect(frame, k=3, method=method)
    assert np.bincount(release.groups).min() >= 3
    assert ma.protect(frame, k=3, method=method, blocks="orthants", max_block=30).n_blocks > 1


def test_blocks_of_categories_keep_equal_records_together():
    """By rank in the order of the codes; one coordinate for each category would be cut at random."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"job": rng.permutation(np.repeat(np.arange(8), 50)).astype(str)})
    release = ma.protect(frame, k=5, blocks="median", max_block=100)
    assert release.n_blocks == 4
    assert release.information.percent == 0.0


def test_auto_counts_a_column_of_codes_as_three():
    assert choose_search("auto", 20_000, 10) == "tree"
    assert choose_search("auto", 20_000, 10, codes=5) == "auto"  # the records decide
    assert choose_search("auto", 20_000, 3, codes=1) == "tree"
