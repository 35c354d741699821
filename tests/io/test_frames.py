"""Frames as they come from pandas."""

import pandas as pd
import pytest

import microagg as ma


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
