"""Means of whole numbers with all digits are not written: the values of members could be computed from them."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.columns.rounding import Steps
from microagg.errors import InvalidParameter
from tests.cli import complaint

ROLES = {"quasi": ["age", "wage"], "weight": "w"}


def frame_of(n=60, *, whole=True):
    rng = np.random.default_rng(0)
    ages = rng.integers(18, 90, n)
    return pd.DataFrame(
        {"age": ages if whole else ages.astype(float), "wage": rng.lognormal(8, 1, n), "w": rng.uniform(50, 150, n)}
    )


def odd(ages):
    """One cell of many has more digits than the others."""
    return ages + 0.123456789 * (np.arange(len(ages)) == 7)


def many_odd(ages):
    """A third of the cells are real numbers."""
    return ages + np.where(np.arange(len(ages)) % 3, 0.0, np.random.default_rng(1).uniform(0, 1, len(ages)))


DISGUISES = {
    "tenths": lambda ages: ages / 10,
    "halves": lambda ages: ages + 0.5,
    "millionths": lambda ages: ages * 1e-6,
    "an offset": lambda ages: ages + 0.123456,
    "odd": odd,
    "many odd": many_odd,
}


def left_in(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("way", ["as it is", "group"])
def test_weighted_means_with_all_digits_are_masked_in_memory_and_not_written(tmp_path, whole, way):
    release = ma.protect(frame_of(whole=whole), k=5, rounding="none", weight_release=way, **ROLES)
    for stored in (release, pickle.loads(pickle.dumps(release))):
        with pytest.raises(InvalidParameter) as refused:
            ma.write(stored, tmp_path / "out.parquet")
        assert str(refused.value) == (
            "1 column(s) of whole numbers or short decimals would be written as weighted means with too many digits: "
            "'age'. A file may have steps down to a thousandth of the column's own: from more digits the values of "
            "members can be computed. Round them: rounding='auto'; or choose weighted=False."
        )
        assert (refused.value.parameter, refused.value.columns) == ("rounding", ("age",))
    assert left_in(tmp_path) == []


@pytest.mark.parametrize("moments", ["variance", "covariance"])
def test_spread_values_with_all_digits_are_not_written(tmp_path, moments):
    frame = frame_of().drop(columns="w")
    release = ma.protect(frame, k=5, rounding="none", moments=moments)
    with pytest.raises(InvalidParameter, match=f"values spread to keep {moments}s with too many digits: 'age'"):
        ma.write(release, tmp_path / "out.csv")
    ma.write(ma.protect(frame[["wage"]], k=5, rounding="none", moments=moments), tmp_path / "amounts.csv")
    ma.write(ma.protect(frame, k=5, moments=moments), tmp_path / "rounded.csv")
    assert left_in(tmp_path) == ["amounts.csv", "rounded.csv"]


@pytest.mark.parametrize(
    "choices",
    [
        {"rounding": "auto"},
        {"rounding": {"age": 0.001}},
        {"rounding": "none", "weighted": False},
        {"rounding": "none", "aggregate": "median"},
        {"rounding": "none", "kinds": {"age": "ordinal"}},
    ],
)
def test_what_cannot_be_undone_is_written(tmp_path, choices):
    ma.write(ma.protect(frame_of(), k=5, **ROLES, **choices), tmp_path / "out.parquet")
    pq.write_table(pa.table(frame_of()), tmp_path / "in.parquet")
    ma.protect_file(tmp_path / "in.parquet", tmp_path / "disk.parquet", k=5, **ROLES, **choices)
    assert left_in(tmp_path) == ["disk.parquet", "in.parquet", "out.parquet"]


def test_a_step_far_below_that_of_the_column_counts_as_no_rounding(tmp_path):
    tens = frame_of().assign(age=lambda own: own["age"] * 10)
    for step, frame, is_written in ((1e-4, frame_of(), False), (1e-3, tens, False), (1e-2, tens, True)):
        release = ma.protect(frame, k=5, rounding={"age": step}, **ROLES)
        if is_written:
            ma.write(release, tmp_path / "out.parquet")
            continue
        with pytest.raises(InvalidParameter, match="too many digits: 'age'"):
            ma.write(release, tmp_path / "out.parquet")


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("engine", ["disk", "dask"])
def test_files_beyond_memory_refuse_them_before_any_group_is_formed(tmp_path, monkeypatch, engine, whole):
    if engine == "dask" and whole:  # refused before the cluster starts, as on disk
        monkeypatch.setattr("microagg.mask.engines.cluster.run", None)
    pq.write_table(pa.table(frame_of(whole=whole)), tmp_path / "in.parquet")
    with pytest.raises(InvalidParameter, match="weighted means with too many digits: 'age'"):
        ma.protect_file(
            tmp_path / "in.parquet", tmp_path / "out.parquet", k=5, rounding="none", engine=engine, n_jobs=1, **ROLES
        )
    assert left_in(tmp_path) == ["in.parquet"]


def test_the_command_line_refuses_them_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("microagg.jobs.masking.protect", None)  # which would fail
    frame_of().to_csv(tmp_path / "in.csv", index=False)
    words = ["mask", tmp_path / "in.csv", "-y", "-o", tmp_path / "out", "--quasi", "age,wage", "--weight", "w"]
    text = complaint(*words, "--rounding", "none")
    assert "Round them: --rounding auto; or choose --no-weighted" in text
    assert left_in(tmp_path) == ["in.csv"]


@pytest.mark.parametrize("disguise", DISGUISES)
def test_decimals_and_odd_cells_hide_no_whole_numbers(tmp_path, disguise):
    frame = frame_of(whole=False).assign(age=lambda own: DISGUISES[disguise](own["age"]))
    pq.write_table(pa.table(frame), tmp_path / "in.parquet")
    for choices in ({**ROLES}, {"quasi": ["age"], "drop": ["wage", "w"], "moments": "variance"}):
        with pytest.raises(InvalidParameter, match="too many digits: 'age'"):
            ma.write(ma.protect(frame, k=5, rounding="none", **choices), tmp_path / "out.parquet")
    for engine in ("disk", "dask"):
        files = tmp_path / "in.parquet", tmp_path / "out.parquet"
        with pytest.raises(InvalidParameter, match="too many digits: 'age'"):
            ma.protect_file(*files, k=5, rounding="none", engine=engine, n_jobs=1, **ROLES)
    frame.to_csv(tmp_path / "in.csv", index=False)
    words = ["mask", tmp_path / "in.csv", "-y", "-o", tmp_path / "out", "--quasi", "age,wage", "--weight", "w"]
    assert "too many digits" in complaint(*words, "--rounding", "none")
    assert left_in(tmp_path) == ["in.csv", "in.parquet"]


def test_an_odd_cell_does_not_make_the_digits_of_all_means_finer(tmp_path):
    frame = frame_of(whole=False).assign(age=lambda own: odd(own["age"]))
    release = ma.protect(frame, k=5, **ROLES)
    assert release.rounded["age"].step == 1e-3
    ma.write(release, tmp_path / "out.parquet")
    pq.write_table(pa.table(frame), tmp_path / "in.parquet")
    for engine in ("disk", "dask"):
        ma.protect_file(tmp_path / "in.parquet", tmp_path / f"{engine}.parquet", k=5, engine=engine, n_jobs=1, **ROLES)
        ages = [pq.read_table(tmp_path / f"{name}.parquet")["age"].to_pylist() for name in (engine, "out")]
        assert sorted(ages[0]) == sorted(ages[1])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_real_numbers_are_written_with_all_digits(tmp_path, scale):
    frame = frame_of().assign(age=lambda own: own["wage"] * scale * 0.7)
    ma.write(ma.protect(frame, k=5, rounding="none", **ROLES), tmp_path / "out.parquet")
    gaps = frame.assign(age=lambda own: np.where(np.arange(60) % 3, 0.0, own["age"]))  # 0 is of no step
    ma.write(ma.protect(gaps, k=5, rounding="none", **ROLES), tmp_path / "gaps.parquet")


def test_steps_of_parts_join_to_those_of_the_whole():
    values = np.concatenate([odd(frame_of()["age"].to_numpy() * 1.0), np.array([0.0, 0.25, -1e12, 3e-12])])
    whole, parts = Steps.of(values), Steps.of(values[:20]).join(Steps.of(values[20:]))
    assert (whole.of_powers, whole.n_values, whole.usual) == (parts.of_powers, parts.n_values, parts.usual)
    assert (whole.usual, Steps().usual, Steps().join(whole).usual) == (0, None, 0)
    assert [Steps.of(frame_of()["age"].to_numpy() * 10.0**power).usual for power in (9, 7, 3, -3)] == [9, 7, 3, -3]
