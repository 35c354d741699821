"""k, anonymity and linkage by units, against slow counting."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg as ma
from microagg.algorithms.units import Units, held_by
from microagg.columns.embedding import embed_both
from microagg.columns.table import Table
from microagg.errors import PromiseBroken
from microagg.files.promise import Promise, check_written
from microagg.measures.anonymity import fewest_sharing, fewest_whole_units
from microagg.measures.risk import measure_risk
from tests.lengths import given_few
from tests.reference import counted_units as slow

released = st.integers(1, 40).flatmap(
    lambda n: st.tuples(
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=n, max_size=n),
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
    )
)


def table_of(rows):
    return Table.of_numbers(["a", "b"], np.array(rows, dtype=float).T.copy())


@given_few(25, 200, released, st.booleans())
def test_units_that_share_values_are_counted(drawn, in_part):
    rows, units = drawn
    codes = np.unique(units, return_inverse=True)[1].astype(np.int64)
    expected = slow.fewest_units(rows, units, in_part)
    strata = np.zeros(len(rows), dtype=np.int64)
    assert fewest_sharing(table_of(rows), strata, units=Units(codes, in_part)) == expected
    written = pa.table({"a": [float(one) for one, _ in rows], "b": [str(other) for _, other in rows]})
    promise = Promise(1, ("a", "b")).of_units(codes, in_part)
    half = len(rows) // 2
    assert check_written(promise, [written.slice(0, half), written.slice(half)], len(rows), "x") == expected


@given_few(25, 200, released)
def test_units_with_the_same_rows_are_counted(drawn):
    rows, units = drawn
    codes = np.unique(units, return_inverse=True)[1].astype(np.int64)
    expected = slow.fewest_whole_units(rows, units)
    assert fewest_whole_units(table_of(rows), np.zeros(len(rows), dtype=np.int64), codes) == expected
    written = pa.table({"a": [one for one, _ in rows], "b": [other for _, other in rows], "id": codes})
    assert check_written(Promise(1, ("a", "b"), pseudonym="id"), [written], len(rows), "x") == expected


def test_too_few_units_in_what_was_written_are_refused():
    written = pa.table({"a": [1.0, 1.0, 1.0, 1.0]})
    promise = Promise(2, ("a",)).of_units(np.array([0, 0, 0, 1]), True)
    with pytest.raises(PromiseBroken, match=r"1 unit\(s\) only, where at least 2"):
        check_written(promise, [written], 4, "x")
    assert check_written(Promise(2, ("a",)).of_units(np.array([0, 0, 0, 1]), False), [written], 4, "x") == 2


def test_sorted_rows_take_their_units_along():
    promise = Promise(2, ("a",)).of_units(np.array([0, 1, 2, 3]), True)
    assert promise.sorted_by(np.array([3, 1, 0, 2])).units.tolist() == [3, 1, 0, 2]
    assert Promise(2, ("a",)).sorted_by(np.array([1, 0])).units is None


@given(released)
def test_what_groups_hold(drawn):
    rows, units = drawn
    labels = np.unique([one for one, _ in rows], return_inverse=True)[1].astype(np.int64)
    n = int(labels.max()) + 1
    held = held_by(labels, np.array(units), n)
    for group in range(n):
        own = [unit for unit, label in zip(units, labels, strict=True) if label == group]
        assert (held.rows[group], held.units[group]) == (len(own), len(set(own)))
        assert held.largest[group] == max(own.count(unit) for unit in own)
        for k in (1, 2, 3):
            for in_part in (True, False):
                assert held.short(k, in_part)[group] != slow.can_hold(own, k, in_part)
    counted = held_by(np.repeat(labels, 2), np.repeat(np.array(units), 2), n)
    doubled = held_by(labels, np.array(units), n, np.full(labels.size, 2))
    assert all(np.array_equal(one, other) for one, other in zip(counted, doubled, strict=True))


@given_few(
    50,
    200,
    st.integers(2, 25).flatmap(
        lambda n: st.tuples(
            st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=n, max_size=n),
            st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=n, max_size=n),
            st.lists(st.integers(0, 4), min_size=n, max_size=n),
            st.lists(st.integers(0, 1), min_size=n, max_size=n),
        )
    ),
)
def test_any_row_of_a_unit_will_do_for_a_link(drawn):
    rows, masked, units, strata = drawn
    found = measure_risk(
        replace(
            table_of(rows),
            strata=np.unique(strata, return_inverse=True)[1].astype(np.int64),
            units=Units(np.unique(units, return_inverse=True)[1].astype(np.int64)),
        ),
        table_of(masked),
        ["a", "b"],
    )
    before, after = (placed.coordinates.T.tolist() for placed in embed_both(table_of(rows), table_of(masked)))
    expected = slow.chances_of_links(before, after, units, strata)
    assert found.full_keys == pytest.approx(100 * np.mean(expected))


@given_few(
    50,
    200,
    st.integers(3, 10).flatmap(
        lambda n: st.tuples(
            st.lists(st.sets(st.integers(0, 2), min_size=1), min_size=n, max_size=n),
            st.lists(st.integers(0, 1), min_size=n, max_size=n),
            st.integers(0, 2**32),
        )
    ),
)
def test_whole_units_are_linked_by_all_their_rows(drawn):
    waves, strata, seed = drawn
    rng = np.random.default_rng(seed)
    pairs = rng.permutation([(unit, wave) for unit, own in enumerate(waves) for wave in own])
    units, slots = pairs.T.copy()
    homes = rng.normal(size=len(waves))  # b is the household's
    rows = [(rng.normal(), homes[unit]) for unit in units]
    kinds = rng.integers(0, 3, len(waves))  # units of one kind are released alike
    masked = [((kinds[unit] + slot) % 4, kinds[unit]) for unit, slot in pairs]
    apart = np.unique([strata[unit] for unit in units], return_inverse=True)[1].astype(np.int64)
    original = replace(table_of(rows), strata=apart, units=Units(units, slots=slots))
    found = measure_risk(original, table_of(masked), ["a", "b"])
    before, after = (placed.coordinates.T for placed in embed_both(table_of(rows), table_of(masked)))
    expected = slow.chances_of_whole_links(before, after, units, slots, apart)
    assert found.full_keys == pytest.approx(100 * np.mean(expected))
    assert found.n_units == len(waves)
    of_a = slow.chances_of_whole_links(before[:, :1], after[:, :1], units, slots, apart)
    assert found.per_set[("a",)] == pytest.approx(100 * np.mean(of_a))
    some = np.arange(0, len(waves), 2)
    part = measure_risk(original, table_of(masked), ["a", "b"], sample=some)
    assert part.full_keys == pytest.approx(100 * np.mean(np.array(expected)[some]))
    assert np.array_equal(np.isnan(part.per_record), ~np.isin(units, some))


def test_whole_histories_of_a_panel_are_linked_as_by_looking_at_all():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(60), 4)
    frame = pd.DataFrame({"id": person, "year": np.tile([1, 2, 3, 4], 60), "sex": np.repeat(rng.integers(0, 2, 60), 4)})
    frame["wage"] = rng.normal(np.repeat(rng.normal(size=60), 4), 0.3)
    release = ma.protect(
        frame, 3, quasi=["sex", "wage"], keep=["year"], unit="id", unit_release="pseudonym", wave="year"
    )
    before, after = (placed.coordinates for placed in embed_both(*release.pair))
    order = np.lexsort((release.data["year"], release.data["id"]))
    a, b = (one[:, order].reshape(2, 60, 4) for one in (before, after))
    distances = ((a[:, :, None] - b[:, None]) ** 2).sum(axis=(0, 3))
    nearest = np.isclose(distances, distances.min(axis=1, keepdims=True), rtol=1e-9, atol=1e-12)
    assert release.risk.full_keys == pytest.approx(100 * (np.diag(nearest) / nearest.sum(axis=1)).mean())
    assert release.risk.full_keys <= 100 / 3 + 1e-9
    assert release.risk.rld <= release.risk.full_group


def test_strata_that_lose_all_their_units_do_not_matter():
    frame = pd.DataFrame({"id": [0, 1, 2, 3, 4, 5, 5, 6, 7, 8], "s": [*"aaaabb", "b", *"ccc"], "x": range(10)})
    release = ma.protect(frame, 3, quasi=["x"], strata=["s"], unit="id", unit_release="pseudonym")
    assert release.n_dropped == 3
    assert release.risk.full_keys <= 100 / 3 + 1e-9


def test_anonymity_counts_units():
    frame = pd.DataFrame({"id": [1, 1, 1, 2, 3, 4], "x": [1, 1, 1, 1, 2, 2]})
    found = ma.anonymity(frame, unit="id")
    assert (found.k, found.units, found.n_unique) == (1, 2, 0)
    assert found.share == pytest.approx(75.0)
    assert ma.anonymity(frame, ["x"]).k == 2
    assert "units" in repr(found)
