"""Propensity scores: by somebody else's regression, at their limits, and as published for real files."""

import numpy as np
import pandas as pd
import pytest

import microagg as ma
from microagg.errors import InvalidData, RoleError
from microagg.measures import pmse as module
from tests.reference import pmse as reference


def cells(frame):
    """Give the columns of a frame as lists of floats, text and None."""
    return [
        [None if pd.isna(cell) else cell if isinstance(cell, str) else float(cell) for cell in frame[name]]
        for name in frame.columns
    ]


def made(n, seed):
    rng = np.random.default_rng(seed)
    income = rng.lognormal(size=n)
    return pd.DataFrame(
        {
            "income": income,
            "tax": 0.3 * income + rng.normal(0, 0.3, n),
            "region": rng.choice(["north", "south", "west"], n, p=[0.5, 0.3, 0.2]),
        }
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gaps", [False, True])
def test_as_somebody_elses_regression(seed, gaps):
    frame = made(400, seed)
    if gaps:
        frame.loc[frame.index % 5 == 0, "tax"] = np.nan
        frame.loc[frame.index % 7 == 0, "region"] = None
    masked = ma.protect(frame, k=12, missing="state").data
    found = ma.pmse(frame, masked)
    value, rank = reference.pmse(cells(frame), cells(masked))
    assert found.rank == rank
    assert found.value == pytest.approx(value, rel=1e-5)
    assert found.main_effects == pytest.approx(
        reference.pmse(cells(frame), cells(masked), False)[0], rel=1e-5, abs=1e-9
    )
    assert found.expected == pytest.approx((rank - 1) * 0.5**2 * 0.5 / 800)
    assert found.ratio == pytest.approx(value / found.expected, rel=1e-5)
    assert found.converged
    assert not found.sampled


def test_weights_that_hardly_change_are_used_again_and_change_nothing(monkeypatch):
    frame = made(800, 5)
    frame["rare"] = np.where(frame.index % 97 == 0, "yes", "no")  # gone after masking: told for certain, in many steps
    masked = frame.assign(rare="no", income=frame["income"] + 0.2)
    found = ma.pmse(frame, masked)
    assert found.converged
    monkeypatch.setattr(module, "_STALE", 0.0)
    assert ma.pmse(frame, masked).value == pytest.approx(found.value, abs=1e-9)
    monkeypatch.setattr(module, "_ROWS", 100)
    assert ma.pmse(frame, masked).value == pytest.approx(found.value, abs=1e-9)


def test_two_equal_files_cannot_be_told_apart_and_two_others_can():
    frame = made(300, 0)
    same = ma.pmse(frame, frame)
    assert same.value < 1e-20
    assert "cannot distinguish" in same.reading
    apart = ma.pmse(frame, frame.assign(income=frame["income"] + 1000.0))
    assert apart.value == pytest.approx(0.25, abs=1e-6)
    assert "can often distinguish" in apart.reading
    assert apart.percent == pytest.approx(100.0, abs=1e-3)


def test_means_of_groups_are_invisible_to_main_effects():
    frame = made(500, 1)[["income", "tax"]]
    found = ma.pmse(frame, ma.protect(frame, k=10, rounding="none").data)
    assert found.main_effects < 1e-20
    assert found.value > 1e-4
    kept = ma.pmse(frame, ma.protect(frame, k=10, rounding="none", moments="covariance").data)
    assert kept.value < 1e-12  # all that the model looks at is kept


def test_it_tells_itself():
    frame = made(300, 2)
    found = ma.pmse(frame, ma.protect(frame, k=5).data, columns=["income", "tax"])
    assert found.n_terms == 5
    assert found.n_left_out == 0
    assert [one.name for one in found.measures] == ["pMSE", "pMSE, main effects", "ratio"]
    assert repr(found).startswith("Propensity scores of 300 records, by 5 terms\n")
    assert "<table>" in found._repr_html_()


def test_terms_are_limited_by_a_fixed_rule():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame({f"c{j}": rng.choice(list("abcdefghijklmnopqrst"), 500) for j in range(6)})
    found = ma.pmse(wide, wide)
    assert found.n_terms <= 400 < found.n_terms + found.n_left_out
    many = pd.DataFrame(rng.normal(size=(500, 30)), columns=[f"x{j}" for j in range(30)])
    found = ma.pmse(many, many)
    assert found.n_terms == 400
    assert found.n_left_out == 30 + 30 + 30 * 29 // 2 - 400
    assert "400 terms of 495" in repr(found)


def test_large_files_are_drawn_from_by_a_seed(monkeypatch):
    monkeypatch.setattr("microagg.measures.assess.MOST_RECORDS", 200)
    frame = made(500, 3)
    masked = ma.protect(frame, k=20).data
    one, again, other = (ma.pmse(frame, masked, seed=seed) for seed in (1, 1, 2))
    assert one.sampled
    assert one.n_records == 200
    assert one.value == again.value != other.value
    assert module.MOST_RECORDS == 100_000


def test_files_that_do_not_match_are_refused():
    frame = made(100, 4)
    with pytest.raises(RoleError, match="do not have the same columns"):
        ma.pmse(frame, frame[["income"]])
    with pytest.raises(InvalidData, match="record by record"):
        ma.pmse(frame, frame[:50])


@pytest.mark.casc
@pytest.mark.parametrize(
    ("name", "k", "value", "rank"),
    [
        ("census", 3, 0.0422, 91),
        ("census", 10, 0.1413, 91),
        ("tarragona", 3, 0.0263, 105),
        ("tarragona", 10, 0.1067, 105),
    ],
)
def test_the_figures_of_real_files(name, k, value, rank):
    frame = ma.datasets.load(name)
    found = ma.pmse(frame, ma.protect(frame, k=k, rounding="none").data)
    assert found.main_effects < 1e-20
    assert found.value == pytest.approx(value, abs=5e-4)
    assert found.rank == rank
    assert found.converged


@pytest.mark.casc
def test_sums_that_are_sums_no_more_tell_for_certain():
    census = ma.datasets.load("census")
    masked = ma.protect(census, k=3, rounding="none", moments="variance").data
    (total,) = ma.relations(census, masked, ["PTOTVAL = PEARNVAL + POTHVAL"])
    assert total.after > 1000
    assert ma.pmse(census, masked).value == pytest.approx(0.25, abs=1e-9)
