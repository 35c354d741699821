"""Equivalence classes against dictionaries of what the members share."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg.algorithms.equivalence as module
from microagg.algorithms.equivalence import (
    classes_of,
    codes_of,
    distinct_of,
    first_of_each,
    split_classes,
    without_gaps,
)

records = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=40)


@given(records, st.booleans())
def test_classes_are_those_of_equal_records(rows, known):
    columns = np.array(rows).T
    classes = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        classes = split_classes(classes, column, codes_of(column) if known else None)
    shared = {}
    for number, row in zip(classes.tolist(), rows, strict=True):
        assert shared.setdefault(row, number) == number
    assert sorted(shared.values()) == list(range(len(shared)))
    assert [rows[i] for i in first_of_each(classes)] == [
        row for row, _ in sorted(shared.items(), key=lambda one: one[1])
    ]


@given(records, st.booleans(), st.booleans())
def test_columns_at_once_make_the_same_classes_as_one_by_one(rows, as_floats, collide):
    columns = np.array(rows).T
    if as_floats:
        columns = np.where(columns == 3, -0.0, columns.astype(np.float64))  # which is the value 0.0
        rows = [tuple(0 if value == 3 else value for value in row) for row in rows]
    with pytest.MonkeyPatch.context() as patched:
        if collide:  # all digests agree
            patched.setattr(module, "half_digests_of", lambda bits: np.zeros(bits[0].size, dtype=np.uint64))
        classes = classes_of(list(columns))
    shared = {}
    for number, row in zip(classes.tolist(), rows, strict=True):
        assert shared.setdefault(row, number) == number
    assert sorted(shared.values()) == list(range(len(shared)))


@given(
    st.lists(st.integers(0, 5) | st.integers(0, 1000) | st.integers(0, 2**62), max_size=40)
    | st.lists(st.integers(-3, 3), max_size=20)
)
def test_codes_are_numbered_in_the_order_of_values(values):
    order = sorted(set(values))
    assert codes_of(np.array(values, dtype=np.int64)).tolist() == [order.index(value) for value in values]
    assert distinct_of(np.array(values, dtype=np.int64)).tolist() == order


@given(st.lists(st.integers(0, 9).map(float) | st.sampled_from([0.5, -0.0, -1.0, 1e300, np.inf, -np.inf]), max_size=20))
def test_codes_of_floats_are_numbered_in_the_order_of_values(values):
    order = sorted(set(values))
    assert codes_of(np.array(values, dtype=np.float64)).tolist() == [order.index(value) for value in values]


@given(st.lists(st.integers(0, 9), max_size=20))
def test_labels_without_gaps_keep_their_order(labels):
    there, places = without_gaps(np.array(labels, dtype=np.int64), 10)
    assert there.tolist() == sorted(set(labels))
    assert there[places].tolist() == labels
