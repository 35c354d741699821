"""Frames as they come from pandas."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import microagg as ma
from microagg.columns.frames import open_frame, ordered_codes


@pytest.mark.parametrize("dtype", ["str", "string[pyarrow]", "large_string[pyarrow]"])
def test_text_of_joined_frames_is_taken(dtype):
    """Pandas keeps such text in several pieces."""
    part = pd.DataFrame({"age": [20.0, 30.0, 40.0], "sex": ["f", "m", None], "town": ["a", "a", "b"]})
    typed = part.astype({"sex": dtype, "town": dtype})
    joined = pd.concat([typed] * 4, ignore_index=True)
    choices = {"k": 2, "quasi": ["age", "sex"], "strata": ["town"], "missing": "state"}
    found = ma.protect(joined, **choices).data
    assert found.dtypes.equals(joined[["town", "age", "sex"]].dtypes[found.columns])
    assert found.equals(ma.protect(joined.copy().astype(object), **choices).data.astype(found.dtypes))


@pytest.mark.parametrize(
    "choices",
    [
        {"kinds": {"half": "nominal"}, "rest": "drop"},
        {"kinds": {"half": "ordinal"}, "rest": "drop"},
        {"strata": ["other"]},
        {"confidential": ["other"], "l": 2},
        {"unit": "other", "k": 2},
    ],
)
def test_floats_of_two_bytes_are_told_apart_in_every_role(choices):
    halves = np.resize([0.0, -0.0, 2.5], 30).astype(np.float16)
    frame = pd.DataFrame({"half": halves, "x": np.arange(30.0), "other": np.resize([1, 2, 3], 30).astype(np.float16)})
    release = ma.protect(frame, **{"k": 3, "quasi": ["x", "half"]} | choices)
    assert release.k_achieved >= release.recipe.k
    assert release.report_model()


@pytest.mark.parametrize("name", [".a", "[a", "__row", "value", "row"])
def test_a_confidential_column_is_put_in_order_whatever_it_is_called(name):
    table = pa.table({"x": np.arange(12.0), name: np.resize([3, 1, 2], 12)})
    codes, in_order = ordered_codes(open_frame(table), name)
    assert in_order
    assert codes.tolist() == np.resize([2, 0, 1], 12).tolist()
    assert ma.protect(table, 3, confidential=[name]).anonymity
