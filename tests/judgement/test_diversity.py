"""What is found of confidential columns: the worst group beside the file, and l and t as they are counted."""

import numpy as np
import pandas as pd
import pytest

import microagg as ma
from microagg.judge import judge

FRAME = pd.DataFrame(
    {
        "age": np.repeat(np.arange(40), 6),
        "ill": np.random.default_rng(0).choice(list("abcdefghijklmnop"), 240),
        "debt": np.random.default_rng(1).exponential(1000, 240).round(2),
        "size": pd.array([None if j % 17 == 0 else j % 4 for j in range(240)], dtype="Int64"),
    }
)
SECRET = ["ill", "debt", "size"]


@pytest.fixture(scope="module")
def release():
    return ma.protect(FRAME, 6, quasi=["age"], confidential=SECRET, t=0.9)


def demanded(release):
    return {one.column: one for one in judge(release).kept.columns}


def test_the_worst_group_is_the_farthest_one_and_its_shares_are_counted(release):
    found = demanded(release)["ill"].worst
    shares = FRAME["ill"].value_counts(normalize=True)
    t = {
        age: 0.5 * (own.value_counts(normalize=True).reindex(shares.index, fill_value=0) - shares).abs().sum()
        for age, own in FRAME["ill"].groupby(release.data["age"])
    }
    worst = max(t, key=t.get)
    own = FRAME["ill"][release.data["age"] == worst]
    bars = {bar.label: bar for bar in found.bars if bar.of == "category"}
    assert found.records == len(own)
    assert len(bars) == 12
    for label, bar in bars.items():
        assert bar.before == pytest.approx(100 * shares[label])
        assert bar.after == pytest.approx(100 * (own == label).mean())
    (others,) = [bar for bar in found.bars if bar.of == "others"]
    assert others.label == str(shares.size - 12)
    assert others.after == pytest.approx(100 * (~own.isin(bars)).mean())
    assert [bar.before for bar in bars.values()] == sorted((bar.before for bar in bars.values()), reverse=True)


def test_numbers_are_in_classes_of_about_as_many_records(release):
    bars = demanded(release)["debt"].worst.bars
    assert len(bars) == 12
    assert all(6 < bar.before < 11 for bar in bars)
    assert bars[0].label.startswith(f"{FRAME['debt'].min():.5g} – ")
    assert bars[-1].label.endswith(f" – {FRAME['debt'].max():.5g}")
    assert demanded(release)["debt"].measured == "order"
    assert demanded(release)["ill"].measured == "values"


def test_few_numbers_have_a_bar_each_and_missing_ones_too(release):
    bars = demanded(release)["size"].worst.bars
    assert [(bar.of, bar.label) for bar in bars] == [*(("category", str(j)) for j in range(4)), ("missing", "")]


def test_the_least_varied_group_is_the_worst_where_only_values_are_counted():
    release = ma.protect(FRAME, 6, quasi=["age"], confidential=SECRET, l=2, l_columns=["ill"])
    worst = demanded(release)["ill"].worst
    varied = (
        FRAME["ill"]
        .groupby(release.data["age"])
        .agg(lambda own: np.exp(-sum(p * np.log(p) for p in own.value_counts(normalize=True))))
    )
    own = FRAME["ill"][release.data["age"] == varied.idxmin()]
    assert sum(bar.after > 0 for bar in worst.bars) <= own.nunique()
    assert worst.alike >= worst.records


def test_figures_are_those_of_the_release(release):
    found = judge(release)
    for one in found.kept.columns:
        (goal,) = one.goals
        assert goal.reached == release.diversity.after[one.column].t
        assert goal.holds
    assert found.kept.holds
    assert (found.kept.loss_before, found.kept.loss_after) == (
        release.diversity.loss_before,
        release.diversity.loss_after,
    )
    assert judge(release, public=True).diversity == ()


def test_nothing_is_kept_where_nothing_is_demanded():
    assert judge(ma.protect(FRAME, 6, quasi=["age"], confidential=SECRET)).kept is None
