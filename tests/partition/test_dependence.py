import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import mutual_info_score

import microagg as ma
from microagg.algorithms.dependence import automatic_bins
from microagg.columns import dependence as trees
from microagg.columns.table import Table
from microagg.errors import InputError, InvalidParameter
from tests.lengths import first_few, given_few
from tests.reference import dependence as oracle


def dependence(columns, *how, **more):
    return trees.dependence(Table.of_numbers(range(len(columns)), columns), *how, **more)


def categorise(columns, *how, **more):
    return trees.categorise(Table.of_numbers(range(len(columns)), columns), *how, **more)


AMA_EXAMPLE = np.array(
    [
        [0, 0, 0, 1, 1, 1],
        [0, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 0],
        [0, 0, 1, 1, 1, 1],
        [0, 1, 1, 1, 0, 0],
        [0, 0, 1, 0, 0, 1],
        [1, 1, 1, 0, 0, 1],
        [0, 1, 1, 0, 0, 0],
        [1, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1],
        [0, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 1],
    ]
)
AMA_MATRIX = np.array(
    [
        [0, 1.3796, 1.5339, 1.8777, 1.8777, 1.8126],
        [1.3796, 0, 1.3753, 1.7772, 1.6681, 1.3180],
        [1.5339, 1.3753, 0, 1.3368, 1.6217, 1.6217],
        [1.8777, 1.7772, 1.3368, 0, 1.9586, 1.9586],
        [1.8777, 1.6681, 1.6217, 1.9586, 0, 1.7510],
        [1.8126, 1.3180, 1.6217, 1.9586, 1.7510, 0],
    ]
)


@st.composite
def files(draw):
    n, d = draw(st.integers(1, 30)), draw(st.integers(1, 6))
    values = draw(st.sampled_from([st.integers(0, 3), st.integers(-9, 9), st.floats(-5, 5).map(lambda x: round(x, 2))]))
    flat = draw(st.lists(values, min_size=n * d, max_size=n * d))
    return np.array(flat, dtype=float).reshape(d, n)


@given_few(
    50,
    200,
    columns=files(),
    measure=st.sampled_from(["emim", "chi2", "vi", "normal"]),
    width=st.sampled_from([0.5, 1.0, 3.0]),
)
def test_weights_and_tree_are_those_of_the_oracle(columns, measure, width):
    found = dependence(columns, measure, None if measure == "normal" else width)
    d = columns.shape[0]
    expected = oracle.weights(columns.tolist(), measure, width)
    for (i, j), weight in expected.items():
        assert found.weights[i, j] == found.weights[j, i]
        assert found.weights[i, j] == pytest.approx(weight, abs=1e-9)
    silent = oracle.silent(columns.tolist(), measure, width)
    assert found.silent.tolist() == silent
    rounded = {(i, j): found.weights[i, j] for i, j in expected if not (silent[i] or silent[j])}
    assert [edge[:2] for edge in found.edges] == oracle.spanning_tree(rounded, d, measure == "vi")
    assert found.degrees.tolist() == oracle.degrees([edge[:2] for edge in found.edges], d)
    assert found.total_weight == sum(edge.weight for edge in found.edges)


@pytest.mark.parametrize("width", [0.001, 0.05, 0.5])  # nearly every value a category, some, two or three
def test_mutual_information_is_scikit_learns(width):
    rng = np.random.default_rng(0)
    columns = rng.random((5, 800))
    columns[1] = columns[0] ** 2
    codes, _ = categorise(columns, width)
    found = dependence(columns, "emim", width)
    for i in range(5):
        for j in range(i):
            assert found.weights[i, j] == pytest.approx(mutual_info_score(codes[i], codes[j]), abs=1e-9)


def test_the_running_example_of_approximate_microaggregation():
    found = dependence(AMA_EXAMPLE.T.astype(float), "vi")
    assert_allclose(found.weights, AMA_MATRIX, atol=1e-4)
    weighted = oracle.weights(AMA_EXAMPLE.T.tolist(), "vi", 1)
    assert_allclose([weighted[i, j] for i, j in sorted(weighted)], AMA_MATRIX[np.triu_indices(6, 1)], atol=1e-4)
    edges = [edge[:2] for edge in found.edges]
    assert edges == oracle.spanning_tree(weighted, 6, nearest_first=True) == [(1, 5), (2, 3), (1, 2), (0, 1), (2, 4)]
    assert found.degrees.tolist() == [1, 3, 3, 1, 1, 1]


FIGURES = [  # file, measure, width, columns certain to be among the top three, and the tied rest (from 1)
    ("tarragona", "emim", 50_000, [7, 4], [1, 2, 6, 10, 12]),
    ("tarragona", "emim", 100_000, [7, 4], [1, 2, 12]),
    ("tarragona", "emim", 150_000, [7, 4], [2, 12]),
    ("tarragona", "chi2", 50_000, [7], [2, 12]),
    ("tarragona", "chi2", 100_000, [7], [1, 12]),
    ("tarragona", "chi2", 150_000, [7], [4, 12]),
    ("tarragona", "normal", None, [2, 4], [1, 6, 7, 10, 12]),
    ("census", "emim", 1_000, [1, 10], [7, 12]),
    ("census", "emim", 5_000, [2, 10], [1, 5, 7, 8, 12, 13]),
    ("census", "emim", 10_000, [1], [2, 12]),
    ("census", "chi2", 1_000, [1, 10], [7, 12]),
    ("census", "chi2", 5_000, [], [2, 5, 8, 10]),
    ("census", "chi2", 10_000, [], [1, 5, 8, 12]),
    ("census", "normal", None, [4, 10], [5, 6, 7, 9, 12]),
]


@pytest.mark.casc
@pytest.mark.parametrize(("file", "measure", "width", "certain", "tied"), FIGURES)
def test_top_degrees_on_the_casc_files(file, measure, width, certain, tied):
    table = ma.datasets.load(file)
    tree = ma.DependenceTree(measure, width=width).fit(table)
    degrees = tree.degrees_
    cut = np.sort(degrees)[::-1][2]
    assert sorted(np.flatnonzero(degrees > cut) + 1) == sorted(certain)
    assert (np.flatnonzero(degrees == cut) + 1).tolist() == tied
    assert list(tree.feature_names_in_) == table.column_names


@pytest.mark.parametrize("measure", ["emim", "chi2"])
@pytest.mark.parametrize("siblings", ["related", "unrelated"])
@pytest.mark.parametrize("files", first_few(1, [10, 50]))
def test_known_trees_of_zeros_and_ones_are_found(measure, siblings, files):
    found = 0
    for seed in range(files):
        table = ma.datasets.binary_tree(5000, siblings=siblings, seed=seed)
        tree = ma.DependenceTree(measure).fit(table)
        found += {edge[:2] for edge in tree.edges_} == {(0, 1), (0, 2), (0, 3), (2, 4), (2, 5)}
    assert found >= 0.96 * files


@pytest.mark.parametrize("name", ma.datasets.TREES)
@pytest.mark.parametrize("measure", ["emim", "chi2"])
def test_known_trees_of_ten_categories_are_found(name, measure):
    parents = ma.datasets.TREES[name]
    table = ma.datasets.dependence_tree(name, 5000, seed=0)
    expected = {tuple(sorted(link)) for link in enumerate(parents) if link[1] is not None}
    for tree in (
        ma.DependenceTree(measure),
        ma.DependenceTree(measure, width=100),
        ma.DependenceTree(measure, bins=10),
    ):
        assert {edge[:2] for edge in tree.fit(table).edges_} == expected


def test_columns_of_one_two_and_n_categories():
    n = 64
    rng = np.random.default_rng(1)
    half = np.repeat([0.0, 1.0], n // 2)
    columns = np.array([np.full(n, 7.0), half, np.arange(n), rng.integers(0, 2, n)])
    found = dependence(columns, "emim", 1.0)
    assert found.categories.tolist() == [1, 2, n, 2]
    assert (found.weights[0] == 0).all()  # a constant tells nothing
    assert found.weights[1, 2] == pytest.approx(np.log(2))  # a row number tells everything
    assert found.degrees[0] == 0  # and is left out of the tree
    wide = dependence(columns, "emim", 100.0)  # one category each: independent, and joined all the same
    assert [edge[:2] for edge in wide.edges] == [(1, 2), (1, 3)]
    assert wide.total_weight == 0
    distances = dependence(columns, "vi", 1.0)
    assert distances.weights[1, 2] == pytest.approx(np.log2(n) - 1)
    assert distances.weights[0, 1] == pytest.approx(1.0)
    assert distances.degrees[0] == 0  # it would be the nearest to every other


def test_perfectly_dependent_and_constant_columns_by_correlation():
    rng = np.random.default_rng(0)
    x = rng.random(100)
    found = dependence(np.array([x, 5 - 3 * x, np.full(100, 2.0), rng.random(100)]), "normal")
    assert found.weights[0, 1] == np.inf
    assert found.edges[0] == (0, 1, np.inf)
    assert found.total_weight == np.inf
    assert (found.weights[2] == 0).all()
    assert found.categories.tolist() == [0, 0, 0, 0]


def test_one_column_has_a_tree_without_edges():
    found = dependence(np.arange(5.0)[None, :])
    assert found.edges == ()
    assert found.degrees.tolist() == [0]


def test_the_rule_for_categories():
    assert automatic_bins(np.arange(1000.0)) == 11
    assert automatic_bins(np.arange(1000.0) % 11) is None
    assert automatic_bins(np.full(10, 3.0)) is None
    x = np.random.default_rng(0).lognormal(size=(2, 500))
    plain, scaled = categorise(x)[0], categorise(x * 2.0**900)[0]
    assert_array_equal(plain, scaled)
    assert_array_equal(categorise(np.array([[-1e308, 0.0, 1e308]]), bins=2)[0], [[0, 1, 1]])
    assert_array_equal(categorise(np.array([[0.0, 1.0, 2.0, 3.0]]), bins=3)[0], [[0, 1, 2, 2]])
    assert_array_equal(categorise(np.array([[0.0, 9.0], [0.0, 9.0]]), width=[5, 10])[0], [[0, 1], [0, 0]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "pearson"}, "measure='pearson' is not known"),
        ({"width": 0}, "width=0 must be positive"),
        ({"width": [1, 2, 3]}, "one for each of the 2 columns"),
        ({"width": "wide"}, "width must be a number"),
        ({"width": np.nan}, "width=nan must be positive"),
        ({"width": [-1, 1]}, "width=-1"),
        ({"width": True}, "width must be a number"),
        ({"width": 1e-305}, "more intervals than 2"),
        ({"bins": 1}, "bins=1 must be a whole number, from 2"),
        ({"bins": 10**400}, "bins=1000"),
        ({"bins": 2.5}, "bins=2.5"),
        ({"width": 1, "bins": 2}, "both width and bins"),
        ({"measure": "normal", "bins": 2}, "uses no categories"),
    ],
)
def test_bad_parameters_are_named(options, message):
    with pytest.raises(InvalidParameter, match=message):
        dependence(np.random.default_rng(0).random((2, 10)), **options)


def test_the_drawing_shows_every_column_and_fills_the_chosen():
    table = ma.datasets.dependence_tree("eight", 500, seed=0)
    tree = ma.DependenceTree(width=100).fit(table)
    ax = tree.plot(["v1", "v3"])
    texts = {text.get_text() for text in ax.texts}
    assert set(table.column_names) <= texts
    nodes = ax.collections[0]
    white = (nodes.get_facecolors() == 1.0).all(axis=1)
    assert np.flatnonzero(~white).tolist() == [0, 2]
    assert len(ax.lines) == 7
    places = np.asarray(nodes.get_offsets())
    gaps = np.linalg.norm(places[:, None] - places[None, :], axis=2)[np.triu_indices(8, 1)]
    assert gaps.min() > 0.3
    with pytest.raises(InvalidParameter, match="column 'v9' is not in the tree"):
        tree.plot(["v9"])
    heat = tree.plot_weights()
    assert [label.get_text() for label in heat.get_xticklabels()] == table.column_names


def test_a_drawing_of_perfect_dependence_and_of_one_column():
    x = np.random.default_rng(0).random(50)
    tree = ma.DependenceTree("normal").fit(np.column_stack([x, 2 * x, x**2]))
    assert "∞" in {text.get_text() for text in tree.plot().texts}
    heat = tree.plot_weights()
    assert "infinite" in heat.figure.axes[1].get_ylabel()
    alone = ma.DependenceTree().fit(x[:, None])
    assert [text.get_text() for text in alone.plot([0]).texts] == ["0"]


def coloured(figure):
    """Count the pixels of a figure that are neither white nor grey."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3].astype(int)
    return np.count_nonzero(np.ptp(pixels, axis=2) > 40)


@pytest.mark.parametrize("d", [1, 2, 3, 12])
def test_a_path_is_drawn_too(d):
    X = np.random.default_rng(0).normal(size=(300, d)).cumsum(axis=1)
    tree = ma.DependenceTree("normal").fit(X)
    assert coloured(tree.plot([0]).figure) > 100 * d
    assert d == 1 or coloured(tree.plot_weights().figure) > 300


def test_names_of_any_kind_are_drawn_as_they_are():
    rng = np.random.default_rng(0)
    table = pa.table({"$x_1$ cost": rng.random(50), "$\\frac{$": rng.random(50), "a" * 60: np.ones(50)})
    tree = ma.DependenceTree().fit(table)
    assert coloured(tree.plot().figure) > 100
    assert "a" * 19 + "…" in {text.get_text() for text in tree.plot().texts}
    assert coloured(tree.plot_weights().figure) > 100


@pytest.mark.parametrize("names", [[1, 2, 3, 4], [3, 2, 1, 0], [10, "b", 30, "d"]])
def test_names_that_are_numbers_are_names(names):
    values = np.random.default_rng(0).integers(0, 9, (60, 4))
    values[:, 3] = values[:, 1]
    values[:, 0] = values[:, 1] + values[:, 2]
    frame = pd.DataFrame(values, columns=names)
    tree = ma.DependenceTree(width=1).fit(frame)
    assert tree.column_names() == names
    selection = ma.select_variables(tree, 2)
    assert set(selection.columns) <= set(names)
    assert ma.protect(frame, k=3, select=selection).selection is selection
    assert ma.select_variables(tree, 2, choose="lowest-loss", X=frame, k=3).columns
    filled = tree.plot([names[0]]).collections[0].get_facecolors()
    assert np.flatnonzero((filled != 1.0).any(axis=1)).tolist() == [0]


def test_the_same_numbers_are_refused_as_by_protect():
    for frame, message in (
        (pd.DataFrame({"a": [2**60, 2**60 + 1, 2**60 + 2], "b": [0.5, 1, 2]}), "beyond 2"),
        (pd.DataFrame({"a": ["1", "2"], "b": [0.5, 1]}), "column 'a' is not numeric"),
        (pd.DataFrame({"a": [1.0, np.nan], "b": [0.5, 1]}), "missing values in 1 column"),
    ):
        with pytest.raises(InputError, match=message):
            ma.DependenceTree().fit(frame)


def test_columns_that_differ_by_scale_alone_tie():
    rng = np.random.default_rng(0)
    a = rng.normal(size=500)
    noisy = a + 1e-3 * rng.normal(size=500)
    found = dependence(np.array([a, noisy, 3 * a + 7, 0.1 * a - 5]), "normal")
    assert len({found.weights[1, j] for j in (0, 2, 3)}) == 1
    order = rng.permutation(500)
    again = dependence(np.ascontiguousarray(np.array([a, noisy, 3 * a + 7, 0.1 * a - 5])[:, order]), "normal")
    assert_array_equal(found.weights, again.weights)
    ids = np.arange(20_000.0)
    codes = np.array([ids, *(rng.permutation(20_000) % m for m in (50, 50, 3000, 3000))])
    by_chi2 = dependence(codes, "chi2", 1.0).weights[0]
    assert by_chi2[1] == by_chi2[2] == 49.0
    assert by_chi2[3] == by_chi2[4] == 2999.0
