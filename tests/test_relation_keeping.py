"""Relations that groups keep by what they release: as a plain loop chooses it, and never at the cost of k."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

import microagg as ma
from microagg.columns.rounding import Rounded
from microagg.columns.table import Table
from microagg.errors import InvalidData
from microagg.mask.relations import keep_relations
from microagg.recipe.relations import Relation
from tests.lengths import given_few
from tests.reference import relations as reference

SAID = [
    (
        "income",
        "=",
        lambda row: row["wage"] + row["benefit"],
        lambda row: row["income"] == row["wage"] + row["benefit"],
    ),
    ("size", ">=", lambda row: row["adults"], lambda row: row["size"] >= row["adults"]),
    ("tax", "<=", lambda row: 0.5 * row["income"], lambda row: row["tax"] <= 0.5 * row["income"]),
    ("wage", ">=", lambda _: 0, lambda row: row["wage"] >= 0),
]
TEXTS = ["income = wage + benefit", "1 * adults <= size", "tax <= .5 * income", "wage >= 0"]
NAMES = ["income", "wage", "benefit", "size", "adults", "tax"]


def holding(seed, n):
    """Make records of which most keep every relation."""
    rng = np.random.default_rng(seed)
    wage, benefit = rng.integers(0, 90, n), rng.integers(0, 30, n)
    income = wage + benefit + (rng.random(n) < 0.1)
    adults = rng.integers(1, 4, n)
    return pd.DataFrame(
        {
            "income": income,
            "wage": wage,
            "benefit": benefit,
            "size": adults + rng.integers(0, 3, n),
            "adults": adults,
            "tax": (income * rng.random(n) / 2).astype(int),
        }
    )


@given_few(20, 400, st.integers(0, 2**31), st.integers(2, 6), st.permutations(range(4)))
def test_values_are_chosen_as_a_plain_loop_chooses_them(seed, n_groups, order):
    rng = np.random.default_rng(seed)
    original = holding(seed, 20)
    labels = rng.permuted(np.arange(20) % n_groups)
    released = original.groupby(labels).mean().round().add(rng.integers(-4, 5, (n_groups, 6))).loc[labels]
    tables = [Table.of_numbers(NAMES, frame.to_numpy(dtype=float).T.copy()) for frame in (original, released)]
    asked = [Relation.of(TEXTS[i]) for i in order]
    found, _, facts = keep_relations(asked, *tables, labels, dict.fromkeys(NAMES, Rounded(0, 0.0)))
    rows, before = released.to_dict("records"), original.to_dict("records")
    wanted = reference.keep(rows, before, labels.tolist(), [SAID[i] for i in order], dict.fromkeys(NAMES, 1))
    assert pd.DataFrame(found.matrix().T, columns=NAMES).to_dict("records") == [
        {name: float(value) for name, value in row.items()} for row in wanted
    ]
    changed = {name for name in NAMES if any(a[name] != b[name] for a, b in zip(rows, wanted, strict=True))}
    assert changed == {fact.column for fact in facts if fact.records}


@pytest.mark.parametrize("how", [{}, {"moments": "variance"}, {"aggregate": "median"}, {"rounding": {"wage": 10}}])
def test_a_release_keeps_what_its_records_keep(how):
    frame = holding(3, 300).assign(income=lambda own: own["wage"] + own["benefit"])
    said = ["income = wage + benefit", "size >= adults", "wage >= 0"]
    plain = ma.protect(frame, k=3, **how)
    release = ma.protect(frame, k=3, relations=said, **how)
    assert release.k_achieved >= 3
    assert [(one.before, one.after) for one in release.relations] == [(0, 0)] * 3
    broken = [one.after for one in ma.relations(frame, plain.data, said)]
    assert ma.relations(frame, release.data, said) == release.relations
    assert {one.relation for one in release.chosen} >= {text for text, n in zip(said, broken, strict=True) if n}
    again = ma.protect(frame, recipe=ma.Recipe.parse(release.recipe.text()))
    pd.testing.assert_frame_equal(again.data, release.data)


def test_what_cannot_be_kept_is_counted():
    frame = holding(3, 60).assign(kept=lambda own: own["wage"] + 1, word="a")
    release = ma.protect(
        frame, k=3, quasi=NAMES, rest="keep", relations=["wage < kept", {"holds": "wage != 3"}], rounding="none"
    )
    assert not release.chosen
    assert release.relations == ma.relations(frame, release.data, ["wage < kept", "wage != 3"])
    assert release.relations[0].fresh > 0
    with pytest.raises(InvalidData, match="'word' of the relation 'word > wage' holds no numbers"):
        ma.protect(frame, k=3, quasi=NAMES, rest="keep", relations=["word > wage"])
    with pytest.raises(InvalidData, match="'word' of the relation"):
        ma.protect(frame, k=3, relations=["word > wage"])


def test_a_text_file_has_numbers_too(tmp_path):
    holding(3, 60).assign(limit="007").to_csv(tmp_path / "a.csv", index=False)
    source = ma.read(tmp_path / "a.csv")
    recipe = ma.Recipe.of(3, quasi=NAMES[:3], rest="keep", relations=["wage >= 0", "size >= adults"])
    assert [one.after for one in ma.protect(source, recipe=recipe).relations] == [0, 0]
    with pytest.raises(InvalidData, match="'limit' of the relation 'wage < limit' holds no numbers"):
        ma.protect(source, recipe=recipe.replace(relations=["wage < limit"]))


def test_a_sum_is_released_as_finely_as_its_parts():
    rng = np.random.default_rng(0)
    parts = np.round(rng.lognormal(9, 1, (2, 300)), 2)
    frame = pd.DataFrame({"wage": parts[0], "rent": parts[1], "income": parts[0] + parts[1]})
    release = ma.protect(frame, k=3, relations=["income = wage + rent"])
    assert release.rounded["wage"].power == -2 == release.rounded["income"].power
    assert release.relations[0].after == 0


def test_a_choice_that_breaks_another_relation_is_not_taken():
    frame = holding(1, 300).assign(tax=lambda own: 0.3 * own["wage"])
    said = ["tax <= 0.3 * wage", "tax >= 0.3 * wage"]
    how = {"rounding": {"wage": 10, "tax": 1}}
    plain = ma.relations(frame, ma.protect(frame, k=3, **how).data, said)
    release = ma.protect(frame, k=3, relations=said, **how)
    assert all(now.after <= was.after for now, was in zip(release.relations, plain, strict=True))
    told = {one.relation: one.after for one in release.relations}
    assert all(told[one.relation] + one.records <= len(frame) for one in release.chosen)


def test_limits_are_kept_for_whole_households_and_single_columns_too():
    people = ma.datasets.households(300, seed=0).select(["household", "age", "wage", "rent"])
    said = ["wage >= 0", "rent >= 0"]
    how = {"unit": "household", "unit_release": "pseudonym", "household": ["rent"], "moments": "variance"}
    release = ma.protect(people, 3, quasi=["age", "wage", "rent"], relations=said, **how)
    assert [one.fresh for one in release.relations] == [0, 0]
    assert release.chosen
    how = {"method": "univariate", "per_column": True, "moments": "variance"}
    single = ma.protect(people.select(["age", "rent"]).drop_null(), 3, relations=["rent >= 0"], **how)
    assert single.relations[0].fresh == 0


def test_missing_codes_of_a_column_that_is_kept_break_nothing():
    frame = holding(3, 60).assign(kept=[-9, 1, 2] * 20)
    said = {"missing_codes": {"kept": [-9]}, "relations": ["kept >= 0"]}
    (found,) = ma.protect(frame, k=3, quasi=NAMES, rest="keep", **said).relations
    assert (found.before, found.after, found.known_after) == (0, 0, 40)
    (by_hand,) = ma.relations(frame, frame, ["kept >= 0"], missing_codes={"kept": [-9]})
    assert (by_hand.before, by_hand.known_after) == (0, 40)
