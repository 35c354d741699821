"""Relations between columns: read, refused, and counted as a plain loop counts them."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter, RoleError

FRAME = pd.DataFrame(
    {
        "income": [10.0, 20.0, 30.0, np.nan],
        "wage": [7.0, 15.0, 30.0, 1.0],
        "child benefit": [3.0, 5.0, 1.0, 1.0],
        "größe": [1, 2, 3, 4],
    }
)


@pytest.mark.parametrize(
    ("said", "broken"),
    [
        ("income = wage + 'child benefit'", [2]),
        ('income == wage + "child benefit"', [2]),
        ("income - wage - `child benefit` = 0", [2]),
        ("income != 10", [0]),
        ("income >= 2*wage", [0, 1, 2]),
        ("größe < 3", [2, 3]),
        ("2 * (größe + 1) <= .6e1", [2, 3]),
        ("-größe > - 2", [1, 2, 3]),
        ("größe * größe <= 4", [2, 3]),
    ],
)
def test_what_breaks_a_relation(said, broken):
    relation = ma.Relation.of(said)
    values = {name: FRAME[name].to_numpy(dtype=float) for name in FRAME.columns}
    assert np.flatnonzero(relation.violated(values)).tolist() == broken


def test_products_beyond_float64_are_infinite_and_warn_of_nothing():
    values = {"a": np.array([1e308, 2.0])}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert ma.Relation.of("10 * a <= 100").violated(values).tolist() == [True, False]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("income", "it ends too early"),
        ("income = ", "it ends too early"),
        ("income = wage = 3", "'=' is not expected here"),
        ("income = wage / 3", "at character 15: it has '/', which is not allowed"),
        ("income ~ wage", "at character 8: it has '~', which is not allowed"),
        ("income = log(wage)", "at character 13: '\\(' is not expected here"),
        ("income = (wage", "it ends too early"),
        ("income = wage )", r"'\)' is not expected here"),
        ("income = * wage", r"it has '\*' in place of"),
        ("1 < 2", "names no column"),
        ("__import__('os') = 1", "it has '\\(' in place of"),
        ("income = " + "9" * 5000, "a number is larger than 1e\\+300"),
        ("income = " + "(" * 5000 + "wage", "more than 30 brackets or signs inside each other"),
        ("income = " + "-" * 5000 + "wage", "more than 30 brackets or signs inside each other"),
        ("income = " + "+ wage" * 5000, "it has 30009 characters, and 10000 are the most"),
        ("", "it ends too early"),
        (3, "a relation is of type int"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_way_to_write_it(said, why):
    with pytest.raises(InvalidParameter, match=why) as caught:
        ma.Relation.of(said)
    assert caught.value.parameter == "relations"
    assert "income = wage + 2 * benefits" in str(caught.value)


def test_counts_before_and_after_masking():
    masked = FRAME.assign(income=[10.0, 21.0, 31.0, 5.0])
    (found,) = ma.relations(FRAME, masked, ["income = wage + 'child benefit'"])
    assert (found.before, found.after, found.fresh) == (1, 2, 2)
    assert (found.known_before, found.known_after) == (3, 4)
    assert found.reading.endswith("broken by 2 of 4 masked records, 2 of them because of masking.")
    (found,) = ma.relations(FRAME, masked, "income = wage + 'child benefit'", tolerance=1)
    assert (found.before, found.after, found.fresh) == (0, 1, 1)
    (found,) = ma.relations(FRAME, FRAME, ["income = wage + 'child benefit'"])
    assert found.reading.endswith("broken by 1 of 3 masked records, as in the original.")
    assert ma.relations(FRAME, masked, []) == ()


def test_sums_of_numbers_survive_means_and_covariances():
    """A linear equality holds for means of groups, and for what a linear map makes of them."""
    rng = np.random.default_rng(0)
    wage, benefits = rng.lognormal(size=300), rng.lognormal(size=300)
    frame = pd.DataFrame({"income": wage + benefits, "wage": wage, "benefits": benefits})
    said = ["income = wage + benefits"]
    for moments in ("none", "covariance"):
        (found,) = ma.relations(
            frame, ma.protect(frame, k=5, moments=moments, rounding="none").data, said, tolerance=1e-6
        )
        assert (found.before, found.after) == (0, 0)
    (found,) = ma.relations(frame, ma.protect(frame, k=5, moments="variance", rounding="none").data, said)
    assert found.fresh == found.after > 0


def test_unknown_columns_text_and_tolerances_are_refused():
    with pytest.raises(RoleError, match="'benefit' is not among the columns"):
        ma.relations(FRAME, FRAME, ["income > benefit"])
    text = pd.DataFrame({"a": ["x", "y"]})
    with pytest.raises(InvalidData):
        ma.relations(text, text, ["a > 1"])
    with pytest.raises(InvalidParameter, match="tolerance"):
        ma.relations(FRAME, FRAME, ["income > wage"], tolerance=-1)


@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=9))
def test_as_a_plain_loop(rows):
    values = {name: np.array(own, dtype=float) for name, own in zip("abc", zip(*rows, strict=True), strict=True)}
    found = ma.Relation.of("a - 2 * b <= c * (a + 1)").violated(values)
    assert found.tolist() == [not a - 2 * b <= c * (a + 1) for a, b, c in rows]
