import numpy as np
import pytest

import microagg as ma
from microagg.errors import InvalidParameter


def values(table):
    return np.array([table[name].to_numpy() for name in table.column_names])


def test_the_same_seed_gives_the_same_data():
    one, two = (ma.datasets.dependence_tree("eight", 200, seed=3) for _ in range(2))
    assert one.equals(two)
    assert not one.equals(ma.datasets.dependence_tree("eight", 200, seed=4))


def test_values_fill_their_categories():
    drawn = values(ma.datasets.dependence_tree([None, 0], 20_000, categories=4, width=25, seed=0))
    assert drawn.min() == 1
    assert drawn.max() == 100
    assert (np.bincount((drawn[0] - 1) // 25) > 0).all()


def test_a_column_depends_on_its_parent_alone():
    codes = (values(ma.datasets.dependence_tree([None, 0, 1], 200_000, categories=3, seed=0)) - 1) // 100
    for middle in range(3):
        shares = [
            np.bincount(codes[2, (codes[0] == first) & (codes[1] == middle)], minlength=3)
            / np.count_nonzero((codes[0] == first) & (codes[1] == middle))
            for first in range(3)
        ]
        assert np.ptp(shares, axis=0).max() < 0.03


@pytest.mark.parametrize(("name", "d"), [("eight", 8), ("sixteen", 16), ("twenty-two", 22)])
def test_the_trees_have_the_papers_sizes(name, d):
    assert ma.datasets.dependence_tree(name, 10).num_columns == d


def test_the_papers_probabilities_hold():
    for siblings, third in (("related", (0.70, 0.90)), ("unrelated", (0.60, 0.70))):
        x = values(ma.datasets.binary_tree(200_000, siblings=siblings, seed=0))
        assert np.mean(x[0] == 0) == pytest.approx(0.40, abs=0.01)
        for above, chance in enumerate(third):
            assert np.mean(x[2, x[0] == above] == 0) == pytest.approx(chance, abs=0.01)
        assert np.mean(x[5, x[2] == 1] == 0) == pytest.approx(0.76, abs=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ma.datasets.dependence_tree("nine"), "parents='nine' is not known"),
        (lambda: ma.datasets.dependence_tree([]), "Start the list of parents with None"),
        (lambda: ma.datasets.dependence_tree([0, 1]), "Start the list of parents with None"),
        (lambda: ma.datasets.dependence_tree([None, 1]), "parent of column 1 is 1"),
        (lambda: ma.datasets.dependence_tree([None, None]), "parent of column 1 is None"),
        (lambda: ma.datasets.dependence_tree([None, "a"]), "parent of column 1 is a str"),
        (lambda: ma.datasets.dependence_tree("eight", 0), "n=0"),
        (lambda: ma.datasets.dependence_tree("eight", 10, categories=1), "categories=1"),
        (lambda: ma.datasets.dependence_tree("eight", 10, width=0.5), "width=0.5"),
        (lambda: ma.datasets.dependence_tree(5), "parents is an int"),
        (lambda: ma.datasets.binary_tree(0), "n=0"),
        (lambda: ma.datasets.binary_tree(2.5), "n=2.5"),
        (lambda: ma.datasets.binary_tree(10, siblings="maybe"), "siblings='maybe' is not known"),
    ],
)
def test_bad_parameters_are_named(call, message):
    with pytest.raises(InvalidParameter, match=message):
        call()
