import numpy as np
import pytest

from microagg.judge.bins import before_and_after


@pytest.mark.parametrize("largest", [1e308, 1.7e308, 5e306])
def test_values_as_large_as_floats_go_are_binned_without_overflow(largest):
    values = largest * np.linspace(-1, 1, 60)
    found = before_and_after("x", values, values)
    assert np.isfinite(found.edges).all()
    assert list(found.edges) == sorted(set(found.edges))
