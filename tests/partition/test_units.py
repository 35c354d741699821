"""Groups of k units: equal to the oracles, the same by tree and brute force, and never short of what they promise."""

import importlib

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from microagg.algorithms import _run
from microagg.algorithms.cbfs import cbfs
from microagg.algorithms.iamat import iamat
from microagg.algorithms.kernels.records import coordinates, plain_records
from microagg.algorithms.maximum_distance import maximum_distance
from microagg.algorithms.mdav import mdav
from microagg.algorithms.methods import METHODS
from microagg.algorithms.refine import refine
from microagg.algorithms.units import Units, held_by, merge_short
from microagg.algorithms.vmdav import vmdav
from microagg.errors import InvalidParameter, TooFewRecords
from tests.lengths import first_few, given_few
from tests.partition.cases import matrices_and_k
from tests.partition.test_codes import made
from tests.reference import units as oracles
from tests.reference.common import labels_of
from tests.reference.optimum import least_error

METHODS_WITH_UNITS = {
    "mdav": (mdav, oracles.mdav_units, {}),
    "mdav-2k": (mdav, oracles.mdav_units, {"tail": "2k"}),
    "cbfs": (cbfs, oracles.cbfs_units, {}),
    "vmdav-0.2": (vmdav, oracles.vmdav_units, {"gamma": 0.2}),
    "vmdav-1.1": (vmdav, oracles.vmdav_units, {"gamma": 1.1}),
    "iamat": (iamat, oracles.iamat_units, {}),
    "iamat-moving": (iamat, oracles.iamat_units, {"centroid": "moving"}),
    "iamat-variable": (iamat, oracles.iamat_units, {"sizes": "variable"}),
    "iamat-moving-variable": (iamat, oracles.iamat_units, {"centroid": "moving", "sizes": "variable"}),
    "maximum-distance": (maximum_distance, oracles.maximum_distance_units, {}),
}
everywhere = pytest.mark.parametrize("name", METHODS_WITH_UNITS)


def can_keep(units, k):
    counts = np.bincount(units.codes)
    return np.count_nonzero(counts) >= k and (not units.in_part or counts.max() * k <= units.codes.size)


@st.composite
def units_of(draw, n, k):
    """Units of n records: of about one size, one or two large ones beside small ones, or one record each."""
    kind = draw(st.sampled_from(["even", "large", "two large", "own"]))
    if kind == "own":
        codes = np.arange(n)
    elif kind == "even":
        codes = np.array(draw(st.lists(st.integers(0, max(k, n // 3)), min_size=n, max_size=n)))
    else:
        share = 1 / k if kind == "large" else 1 / (2 * k)
        large = [min(int(n * share), n)] * (1 if kind == "large" else 2)
        sizes = large + [1] * (n - sum(large))
        codes = np.array(draw(st.permutations(np.repeat(np.arange(len(sizes)), sizes).tolist())))
    units = Units(np.unique(codes, return_inverse=True)[1].astype(np.int64), draw(st.booleans()))
    assume(can_keep(units, k))
    return units


@st.composite
def cases(draw):
    X, k = draw(matrices_and_k(most_columns=3))
    return X, k, draw(units_of(X.shape[0], k))


def assert_kept(labels, k, units):
    held = held_by(labels, units.codes, labels.max() + 1)
    assert held.rows.min() >= k
    assert held.units.min() >= k
    assert not held.short(k, units.in_part).any()


@everywhere
@given_few(25, 300, case=cases())
def test_partition_equals_its_oracle(name, case):
    X, k, units = case
    partitioner, oracle, options = METHODS_WITH_UNITS[name]
    expected = oracle(X.tolist(), k, units.codes.tolist(), units.in_part, **options)
    for search in ("brute", "tree"):
        labels = partitioner(X, k, search=search, units=units, **options)
        assert_array_equal(labels, expected)
    assert_kept(labels, k, units)


@everywhere
@given_few(20, 200, case=matrices_and_k(), in_part=st.booleans())
def test_every_record_its_own_unit_changes_nothing(name, case, in_part):
    X, k = case
    partitioner, _, options = METHODS_WITH_UNITS[name]
    units = Units(np.random.default_rng(X.shape[0]).permutation(X.shape[0]), in_part)
    assert_array_equal(partitioner(X, k, units=units, **options), partitioner(X, k, **options))


@st.composite
def larger_cases(draw):
    """Enough records for several leaves, with categories or without, in units of several sizes."""
    n, k = draw(st.integers(20, 600)), draw(st.integers(2, 5))
    records = made(
        n,
        draw(st.sampled_from([2, 30])),
        numbers=draw(st.integers(1, 3)),
        codes=draw(st.integers(0, 2)),
        seed=draw(st.integers(0, 10**6)),
        decimals=draw(st.sampled_from([None, 0, 1])),
    )
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    codes = rng.integers(0, max(k, n // draw(st.integers(1, 8))), n)
    if draw(st.booleans()):  # those of a unit are alike, as in a household
        records = records._replace(entries=records.entries[:, codes])
    if draw(st.booleans()):
        codes[rng.permutation(n)[: n // k]] = 0
    units = Units(np.unique(codes, return_inverse=True)[1].astype(np.int64), draw(st.booleans()))
    assume(can_keep(units, k))
    return records, k, units


@everywhere
@given_few(10, 80, case=larger_cases())
def test_tree_and_brute_force_agree_and_keep_the_promise(name, case):
    records, k, units = case
    partitioner, _, options = METHODS_WITH_UNITS[name]
    by_tree, by_brute = (partitioner(records, k, search=how, units=units, **options) for how in ("tree", "brute"))
    assert_array_equal(by_tree, by_brute)
    assert_array_equal(by_tree, partitioner(coordinates(records).T, k, search="brute", units=units, **options))
    assert_kept(by_tree, k, units)


@pytest.mark.parametrize("name", ["mdav", "cbfs", "vmdav-1.1", "iamat-moving-variable"])
def test_tree_and_brute_force_agree_at_size(name):
    """Enough records for a list of the outermost ones, and a tree that is built anew."""
    records = made(8000, 20, numbers=3, codes=1, seed=4, decimals=1)
    units = Units(np.random.default_rng(0).integers(0, 2000, 8000))
    partitioner, _, options = METHODS_WITH_UNITS[name]
    by_tree, by_brute = (partitioner(records, 5, search=how, units=units, **options) for how in ("tree", "brute"))
    assert_array_equal(by_tree, by_brute)
    assert_kept(by_tree, 5, units)


@everywhere
@pytest.mark.parametrize("search", ["brute", "tree"])
def test_slicing_the_work_and_rebuilding_the_tree_change_nothing(name, search, monkeypatch):
    X = np.random.default_rng(1).standard_normal((400, 3)).round(1)
    units = Units(np.arange(400) % 90)
    partitioner, _, options = METHODS_WITH_UNITS[name]
    expected = partitioner(X, 4, search=search, units=units, **options)
    for stem in ("_run", "vmdav", "iamat", "maximum_distance"):
        monkeypatch.setattr(importlib.import_module(f"microagg.algorithms.{stem}"), "SLICE", 1)
    monkeypatch.setattr(_run, "_THINNED", 0.99)
    monkeypatch.setattr("microagg.algorithms._run._AT_ONCE", 1)
    assert_array_equal(partitioner(X, 4, search=search, units=units, **options), expected)


@everywhere
def test_progress_rises_to_the_end_and_can_stop_the_work(name):
    X = np.random.default_rng(0).standard_normal((300, 3))
    units = Units(np.arange(300) // 5)
    partitioner, _, options = METHODS_WITH_UNITS[name]
    seen = []
    partitioner(X, 3, units=units, progress=lambda done, total: seen.append((done, total)), **options)
    assert seen == sorted(seen)
    assert seen[-1] == (300, 300)

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        partitioner(X, 3, units=units, progress=stop, **options)


@everywhere
def test_a_unit_larger_than_all_others(name):
    """Half of the records are of one unit: every group of two holds one of it, or there is one group."""
    X = np.random.default_rng(2).standard_normal((60, 2))
    codes = np.where(np.arange(60) % 2 == 0, 0, np.arange(60))
    units = Units(np.unique(codes, return_inverse=True)[1].astype(np.int64))
    partitioner, _, options = METHODS_WITH_UNITS[name]
    labels = partitioner(X, 2, units=units, **options)
    assert_kept(labels, 2, units)
    with pytest.raises(TooFewRecords, match=r"one unit has 30 of 60 records.*at most 20.*unit_share='any'") as caught:
        partitioner(X, 3, units=units, **options)
    assert caught.value.parameter == "unit"
    anyhow = units._replace(in_part=False)
    assert_kept(partitioner(X, 3, units=anyhow, **options), 3, anyhow)


@everywhere
def test_too_few_units(name):
    X = np.random.default_rng(3).standard_normal((20, 2))
    partitioner, _, options = METHODS_WITH_UNITS[name]
    for in_part in (True, False):
        for n_units in (1, 2):
            with pytest.raises(TooFewRecords, match=rf"20 record\(s\) of {n_units} unit\(s\).*k=3 units. Merge strata"):
                partitioner(X, 3, units=Units(np.arange(20) % n_units, in_part), **options)
        exactly = Units(np.arange(21) % 3, in_part)
        assert_kept(partitioner(np.resize(X, (21, 2)), 3, units=exactly, **options), 3, exactly)
    with pytest.raises(InvalidParameter, match=r"units have shape \(19,\).*20 records"):
        partitioner(X, 3, units=Units(np.arange(19)), **options)


def test_methods_say_whether_they_take_units():
    assert {name for name, method in METHODS.items() if method.takes_units} == {
        function.__name__.replace("_", "-") for function, _, _ in METHODS_WITH_UNITS.values()
    }


@given_few(30, 300, case=cases(), most=st.integers(1, 8), seed=st.integers(0, 100))
def test_merging_equals_its_oracle_and_keeps_the_promise(case, most, seed):
    X, k, units = case
    labels = np.random.default_rng(seed).integers(0, most, X.shape[0])
    groups = [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]
    oracles.merge_short(X.tolist(), groups, k, units.codes.tolist(), units.in_part)
    merged = merge_short(plain_records(np.ascontiguousarray(X.T)), labels, k, units)
    assert_array_equal(merged, labels_of(groups, X.shape[0]))
    assert_kept(merged, k, units)


def test_merging_leaves_alone_what_keeps_the_promise():
    records = made(200, 8, seed=3)
    units = Units(np.arange(200) // 3)
    labels = mdav(records, 4, units=units)
    assert_array_equal(merge_short(records, labels, 4, units), labels)
    plain = mdav(records, 4)
    assert held_by(plain, units.codes, plain.max() + 1).short(4, True).any()
    assert_kept(merge_short(records, plain, 4, units), 4, units)


def test_merging_refuses_what_no_merge_can_mend():
    with pytest.raises(TooFewRecords, match="one unit has 4 of 6"):
        merge_short(made(6, 3), np.zeros(6, dtype=np.int64), 3, Units(np.array([0, 0, 0, 0, 1, 2])))


@given_few(15, 100, case=larger_cases(), sizes=st.sampled_from(["variable", "fixed"]), seed=st.integers(0, 3))
def test_refining_keeps_the_promise_and_is_never_worse(case, sizes, seed):
    records, k, units = case
    labels = mdav(records, k, units=units)
    found = refine(records, labels, k, effort=60 * labels.size, sizes=sizes, seed=seed, units=units)
    assert_kept(found.labels, k, units)
    assert found.after <= found.before
    if sizes == "fixed":
        assert_array_equal(np.sort(np.bincount(found.labels)), np.sort(np.bincount(labels)))


@settings(max_examples=60)
@given(case=matrices_and_k(), in_part=st.booleans(), sizes=st.sampled_from(["variable", "fixed"]))
def test_refining_where_every_record_is_its_own_unit_changes_nothing(case, in_part, sizes):
    X, k = case
    labels = mdav(X, k)
    units = Units(np.arange(X.shape[0]), in_part)
    expected = refine(X, labels, k, effort=200 * labels.size, sizes=sizes)
    found = refine(X, labels, k, effort=200 * labels.size, sizes=sizes, units=units)
    assert_array_equal(found.labels, expected.labels)
    assert (found.before, found.after) == (expected.before, expected.after)


@pytest.mark.parametrize("files", first_few(1, [10, 100]))
def test_refining_finds_the_optimum_of_most_small_files(files):
    found = []
    for number in range(files):
        rng = np.random.default_rng(number)
        k = int(rng.integers(2, 4))
        n = int(rng.integers(2 * k, 10))
        X = rng.normal(size=(n, 2))
        units = Units(np.unique(rng.integers(0, n, n), return_inverse=True)[1], bool(number % 2))
        if not can_keep(units, k):
            continue
        codes = units.codes.tolist()
        least = least_error(X.tolist(), k, lambda rows, own=(k, codes, units.in_part): oracles.breach(rows, *own) == 0)
        refined = refine(X, np.zeros(n, dtype=np.int64), k, effort="thorough", units=units)
        assert_kept(refined.labels, k, units)
        assert refined.after >= least * (1 - 1e-9)
        found.append(refined.after <= least * (1 + 1e-9))
    assert len(found) > 0.6 * files
    assert np.mean(found) >= 0.9


def test_a_thorough_search_keeps_the_promise():
    """Several runs, of which the better parts are joined."""
    records = made(150, 12, seed=5)
    units = Units(np.arange(150) // 4)
    labels = mdav(records, 3, units=units)
    found = refine(records, labels, 3, effort=150 * 3000, units=units)
    assert_kept(found.labels, 3, units)
    assert found.after < 0.95 * found.before


def test_refining_refuses_labels_that_break_the_promise():
    X = np.random.default_rng(0).standard_normal((30, 2))
    units = Units(np.arange(30) // 3)
    with pytest.raises(InvalidParameter, match="k=3 units in each group"):
        refine(X, np.arange(30) // 3, 3, units=units)
    with pytest.raises(TooFewRecords, match=r"one unit has 15 of 30"):
        refine(X, np.arange(30) // 10, 3, units=Units(np.minimum(np.arange(30), 15)))
