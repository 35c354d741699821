"""Numbers in lanes against the same numbers one by one: not a bit may differ."""

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from microagg.algorithms.kernels import lanes

SPECIAL = np.array([0.0, -0.0, 1.0, -1.5, np.inf, -np.inf, 5e-324, 1e308])
rng = np.random.default_rng(0)
PAIRS = [(rng.standard_normal(8) * 10.0 ** rng.integers(-300, 300, 8), rng.standard_normal(8)) for _ in range(200)]
PAIRS += [(SPECIAL, np.roll(SPECIAL, shift)) for shift in range(8)]


@numba.njit(error_model="numpy")
def combined(which, a, b, out):
    x, y = lanes.load(a, (0,)), lanes.load(b, (0,))
    if which == 0:
        x = x + y
    elif which == 1:
        x = x - y
    elif which == 2:
        x = x * y
    elif which == 3:
        x = lanes.larger(x, y)
    elif which == 4:
        x = lanes.smaller(x, y)
    else:
        x = lanes.differing(x, y, lanes.spread(7.0))
    lanes.store(x, out, (0,))


@numba.njit(error_model="numpy")
def told(a, number, filled):
    x = lanes.load(a, (0,))
    kept = lanes.first_or(filled, x, number)
    bits = lanes.at_most(x, number), lanes.at_least(x, number)
    return bits, (lanes.least(kept), lanes.largest(kept))


@numba.njit(error_model="numpy")
def of_bytes(numbers):
    step, limit = lanes.spread(np.float32(0.1)), np.float32(2.5)
    x = lanes.load_bytes(numbers, (0, 16)) * step
    return lanes.at_most(x, limit), lanes.at_least(x, limit)


@numba.njit(error_model="numpy")
def bits_of_nothing():
    x = lanes.spread(np.float32(np.nan))
    return lanes.at_most(x, np.float32(0.0)), lanes.at_least(x, np.float32(0.0)), lanes.lowest_bit(40)


BY_ONE = [
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a if a > b else b,
    lambda a, b: a if a < b else b,
    lambda a, b: 7.0 if a != b else 0.0,
]


@pytest.mark.parametrize("which", range(len(BY_ONE)))
def test_lanes_are_computed_as_numbers_are(which):
    out = np.empty(8)
    with np.errstate(all="ignore"):
        for a, b in PAIRS:
            combined(which, a, b, out)
            expected = np.array([BY_ONE[which](x, y) for x, y in zip(a, b, strict=True)])
            assert_array_equal(out.view(np.int64)[~np.isnan(out)], expected.view(np.int64)[~np.isnan(expected)])
            assert_array_equal(np.isnan(out), np.isnan(expected))


@pytest.mark.parametrize("filled", [-3, 0, 3, 8, 20])
def test_lanes_are_compared_and_reduced(filled):
    for a, b in PAIRS:
        number = b[0]
        (at_most, at_least), (least, largest) = told(a, number, filled)
        assert at_most == sum(1 << i for i in range(8) if a[i] <= number)
        assert at_least == sum(1 << i for i in range(8) if a[i] >= number)
        kept = np.where(np.arange(8) < filled, a, number)
        assert (least, largest) == (kept.min(), kept.max())


def test_bytes_become_numbers_of_single_precision():
    numbers = np.arange(64, dtype=np.uint8).reshape(2, 32)
    expected = numbers[0, 16:].astype(np.float32) * np.float32(0.1)
    at_most, at_least = of_bytes(numbers)
    assert at_most == sum(1 << i for i in range(16) if expected[i] <= np.float32(2.5))
    assert at_least == sum(1 << i for i in range(16) if expected[i] >= np.float32(2.5))


def test_what_is_no_number_is_never_ruled_out():
    assert bits_of_nothing() == (2**16 - 1, 2**16 - 1, 3)
