"""Where groups are refined, the order of a file's rows decides nothing."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

import microagg as ma
from tests.lengths import first_few, given_few

QUASI = ["a", "b", "job"]


def made(n, seed, *, tied=True):
    """Give a file in which many rows are equal, or in which none are, with missing cells and all that one may name."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 6, n).astype(float) if tied else rng.normal(size=n)
    b = rng.integers(0, 3, n).astype(float) if tied else rng.normal(size=n)
    return pa.table(
        {
            "a": pa.array(a, mask=rng.random(n) < 0.1),
            "b": b,
            "job": pa.array(rng.choice(["x", "y", "z"], n), mask=rng.random(n) < 0.1),
            "s": np.where(np.arange(n) % 2, "north", "south")[rng.permutation(n)],
            "person": rng.permutation(np.arange(n) // 2),
            "class": rng.choice(["u", "v", "w"], n),
            "pay": rng.integers(0, 4, n),
            "weight": rng.integers(1, 4, n),
            "row": np.arange(n),
        }
    )


def cells(table, names):
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


def groups_by_content(table, release, names):
    """Give the groups as bags of what their members are in some columns."""
    members = {}
    for group, row in zip(release.groups.tolist(), cells(table, names), strict=True):
        members.setdefault(group, []).append(repr(row))
    return Counter(tuple(sorted(rows)) for rows in members.values())


def followed(choices):
    """Name the columns that groups, and what they release, follow from; rows equal in them may be exchanged."""
    used = [*choices.get("strata", []), *choices.get("confidential", []), choices.get("weight")]
    return [*choices["quasi"], *(name for name in ("s", "class", "pay", "weight") if name in used)]


def check(table, rows, k, choices):
    """Compare the release of a file with that of its rows in another order."""
    choices = {"quasi": QUASI, "rest": "drop", "refine": "fast", **choices}
    names = followed(choices)
    found, other = ma.protect(table, k, **choices), ma.protect(table.take(rows), k, **choices)
    assert found.moves == other.moves
    assert groups_by_content(table, found, names) == groups_by_content(table.take(rows), other, names)
    numbers = [name for name in ("a", "b", "weight") if name in found.data.column_names]
    assert Counter(map(repr, cells(found.data, numbers))) == Counter(map(repr, cells(other.data, numbers)))
    return found, other


WAYS = {
    "plain": {},
    "strata": {"strata": ["s"]},
    "states": {"missing": "state"},
    "unit": {"unit": "person"},
    "unit in strata": {"unit": "person", "strata": ["s"], "unit_share": "any"},
    "l": {"confidential": ["class"], "l": 2},
    "t": {"confidential": ["pay"], "t": 0.4},
    "l, units": {"confidential": ["class"], "l": 2, "unit": "person"},
    "weight": {"weight": "weight", "weight_release": "group", "weight_cap": True},
    "select": {"select": ["a"]},
    "blocks": {"blocks": "median", "max_block": 30},
    "cbfs": {"method": "cbfs"},
    "projection": {"method": "projection"},
    "seed": {"seed": 5},
    "a number of moves": {"refine": 200_000},
    "kinds": {"kinds": {"b": "ordinal", "a": "semi"}},
}


@pytest.mark.parametrize("seed", first_few(1, range(3)))
@pytest.mark.parametrize("way", WAYS)
def test_equal_rows_in_another_order_are_grouped_alike(way, seed):
    check(made(80, seed), np.random.default_rng(seed).permutation(80), 3, WAYS[way])


def test_a_thorough_search_too():
    check(made(30, 0), np.random.default_rng(0).permutation(30), 3, {"refine": "thorough"})


@given_few(20, 200, st.data(), st.sampled_from(list(WAYS)))
def test_any_order_of_rows(data, way):
    rng = st.integers(0, 2**32 - 1)
    table = made(data.draw(st.integers(24, 60)), data.draw(rng))
    rows = data.draw(st.permutations(range(table.num_rows)))
    try:
        ma.protect(table, 2, **{"quasi": QUASI, "rest": "drop", **WAYS[way]})
    except ma.errors.InputError:  # too few units or values for what is asked; in whichever order
        with pytest.raises(ma.errors.InputError):
            ma.protect(table.take(rows), 2, **{"quasi": QUASI, "rest": "drop", **WAYS[way]})
        return
    check(table, np.array(rows), 2, WAYS[way] | {"refine": 20 * table.num_rows})


@pytest.mark.parametrize("way", WAYS)
def test_where_no_two_rows_are_equal_each_is_in_the_same_group(way):
    table = made(80, 0, tied=False).set_column(0, "a", pa.array(np.random.default_rng(1).normal(size=80)))
    rows = np.random.default_rng(0).permutation(80)
    choices = WAYS[way] | ({"kinds": {"b": "number"}} if way == "kinds" else {})
    choices = {"quasi": QUASI, "rest": "drop", "refine": "fast", **choices}
    found, other = ma.protect(table, 3, **choices), ma.protect(table.take(rows), 3, **choices)
    pairs = set(zip(found.groups[rows].tolist(), other.groups.tolist(), strict=True))
    assert len(pairs) == found.groups.max() + 1 == other.groups.max() + 1
    first = np.unique(other.groups, return_index=True)[1]
    assert (np.diff(first) > 0).all()  # groups are numbered by their lowest row in the order of each file


@pytest.mark.parametrize("choices", [{}, {"unit_order": ["b"]}, {"wave": "wave"}])
def test_whole_units_in_another_order(choices):
    table = made(120, 0)
    wave = np.zeros(120, dtype=np.int64)
    for rows in map(np.flatnonzero, np.arange(60)[:, None] == table["person"].to_numpy()):
        wave[rows] = np.arange(rows.size)
    table = table.append_column("wave", pa.array(wave))
    choices = {"quasi": ["a", "b"], "unit": "person", "unit_release": "pseudonym", "rest": "drop", **choices}
    choices |= {"refine": "fast", "missing": "state"}
    found = ma.protect(table, 3, **choices).data
    for seed in range(3):
        other = ma.protect(table.take(np.random.default_rng(seed).permutation(120)), 3, **choices).data
        assert Counter(map(repr, cells(other, ["a", "b"]))) == Counter(map(repr, cells(found, ["a", "b"])))


@pytest.mark.parametrize("choices", [{}, {"unit": "person"}, {"weight": "weight", "weight_cap": True}])
def test_a_file_beyond_memory_in_another_order(choices, tmp_path):
    table = made(200, 0)
    choices = {"quasi": QUASI, "strata": ["s"], "rest": "keep", "refine": "fast", **choices}
    choices |= {"keep": ["row"], "rest": "drop"}
    in_memory = ma.protect(table, 3, **choices).data
    names, found = followed(choices), []
    for seed in range(3):
        shuffled = table.take(np.random.default_rng(seed).permutation(200))
        pq.write_table(shuffled, tmp_path / "file.parquet")
        ma.protect_file(tmp_path / "file.parquet", tmp_path / f"{seed}.parquet", 3, **choices)
        found.append(pq.read_table(tmp_path / f"{seed}.parquet"))
    original = cells(table, names)
    counted = [
        Counter(repr((original[row], a, b)) for a, b, row in cells(one, ["a", "b", "row"]))
        for one in (in_memory, *found)
    ]
    assert all(one == counted[0] for one in counted)


@pytest.mark.casc
def test_census_in_another_order():
    table = ma.datasets.load("census")
    found = ma.protect(table, 3, refine="fast")
    for seed in range(3):
        rows = np.random.default_rng(seed).permutation(table.num_rows)
        assert ma.protect(table.take(rows), 3, refine="fast").data.equals(found.data.take(rows))
