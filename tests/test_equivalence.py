"""Equivalence classes against dictionaries of what the members share."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microagg.equivalence import codes_of, first_of_each, split_classes

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
