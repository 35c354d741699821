"""Long work tells how far it has come, step by step; what the caller raises then stops it and leaves nothing behind."""

import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import microagg as ma
from microagg.algorithms import _annealing as refining
from microagg.columns import frames
from microagg.judge import judge
from microagg.measures.anonymity import fewest_sharing
from microagg.measures.intervals import deviation_intervals, rank_intervals
from microagg.work import SharedProgress, Work, in_parallel, part, stage


class Enough(Exception):
    """What a person who cancels raises."""


def heard(work):
    """Do the work; give its result and what it told."""
    told = []
    return work(lambda *now: told.append(now)), told


def rises(told):
    """Tell whether shares never fall, and reach the whole at the last call only."""
    shares = [done / total for done, total in told]
    return shares == sorted(shares) and shares[-1] == 1 and shares[-2] < 1


def stops_at(work, call):
    """Do the work until so many calls, and look whether what is raised there comes through, and no thread goes on."""
    before, left = threading.active_count(), [call]

    def progress(*_):
        left[0] -= 1
        if left[0] <= 0:
            raise Enough

    with pytest.raises(Enough):
        work(progress)
    return threading.active_count() == before


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 400
    values = {f"amount {j}": rng.lognormal(size=n).round(3) for j in range(3)}
    values |= {"benefit": np.where(rng.random(n) < 0.5, 0.0, rng.lognormal(size=n)), "age": rng.integers(18, 90, n)}
    made = pd.DataFrame(values)
    made["region"] = pd.Categorical(rng.choice(["north", "south", "west"], n))
    made["illness"] = pd.Categorical(rng.choice(["a", "b", "c", "d"], n))
    return made


@pytest.fixture(scope="module")
def choices():
    return {"kinds": {"benefit": "semi"}, "confidential": ["illness"], "n_jobs": 2}


@pytest.fixture
def release(frame, choices):
    return ma.protect(frame, 4, **choices)


def test_stages_and_parts_of_a_whole_add_up():
    told = []
    for number in range(3):
        for done in range(3):
            stage(lambda *now: told.append(now), number, 3)(done, 2)
    part(lambda *now: told.append(now), 40, 60, 100)(1, 2)
    part(lambda *now: told.append(now), 40, 40, 100)(1, 2)
    assert told == [(number * 2 + done, 6) for number in range(3) for done in range(3)] + [(50, 100), (40, 100)]
    assert stage(None, 0, 2) is None
    assert part(None, 0, 1, 2) is None


def test_threads_add_up_what_they_have_done():
    told = []
    one = SharedProgress(lambda *now: told.append(now), 400)
    in_parallel(lambda more, _: one(more), [1] * 400, 2)
    assert told == [(done, 400) for done in range(1, 401)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pieces_of_work_are_told_as_they_are_done(n_jobs):
    work = partial(in_parallel, lambda item, _: item * item, range(9), n_jobs)
    found, told = heard(work)
    assert found == [item * item for item in range(9)]
    assert told[-1] == (9, 9)
    assert told == sorted(told)
    assert stops_at(work, 1)


MASKING = {
    "plain": {},
    "refined": {"refine": "fast"},
    "blocks": {"blocks": "median", "max_block": 100},
    "demand": {"l": 2},
    "demand, refined": {"l": 2, "refine": "fast"},
    "per column": {
        "method": "univariate",
        "per_column": True,
        "kinds": {},
        "quasi": ["age", "benefit"],
        "rest": "drop",
    },
}


@pytest.mark.parametrize("name", MASKING)
def test_masking_tells_each_step_and_is_at_its_end_at_the_end(frame, choices, name):
    work = partial(ma.protect, frame, 4, **{**choices, "n_jobs": 1, **MASKING[name]})
    found, told = heard(lambda progress: work(progress=progress))
    assert rises(told)
    assert {total for _, total in told} == {len(frame)}
    assert_array_equal(found.groups, work().groups)
    at_first = [done for done, total in told if done <= 0.05 * total]
    assert len(at_first) >= 4 * len(found.pair.original)  # columns are looked at, coded, weighed up and placed
    for call in (1, len(told) // 3, 2 * len(told) // 3, len(told)):
        assert stops_at(lambda progress: work(progress=progress), call)


def test_whole_units_are_told_too():
    survey = ma.datasets.households(150, seed=0)
    work = partial(
        ma.protect, survey, 3, unit="household", unit_release="pseudonym", quasi=["age", "income"], rest="drop",
        refine="fast", small_units="suppress", n_jobs=1,
    )  # fmt: skip
    found, told = heard(lambda progress: work(progress=progress))
    assert rises(told)
    assert_array_equal(found.groups, work().groups)
    assert stops_at(lambda progress: work(progress=progress), len(told) // 2)


def test_refining_is_cut_into_slices_that_change_nothing(monkeypatch):
    X = ma.datasets.uniform(600, 3, seed=0)
    labels = ma.MDAV(k=3).fit_predict(X)
    work = partial(ma.refine, X, labels, 3, effort=60_000, n_jobs=1)
    whole, few = heard(lambda progress: work(progress=progress))
    monkeypatch.setattr(refining, "_SLICE", 70)  # less than a sweep
    monkeypatch.setattr(refining, "_LOOK", 7)
    sliced, many = heard(lambda progress: work(progress=progress))
    assert_array_equal(whole.labels, sliced.labels)
    assert whole.after == sliced.after
    assert len(many) > (600 // 7) + 60_000 // 70
    assert rises(few)
    assert rises(many)
    for call in (1, len(many) // 4, len(many) // 2, len(many) - 1):
        assert stops_at(lambda progress: work(progress=progress), call)


def test_a_schedule_that_ends_within_slices_can_be_repeated(monkeypatch):
    X = ma.datasets.uniform(300, 3, seed=0)
    labels = ma.MDAV(k=3).fit_predict(X)
    once = ma.refine(X, labels, 3, effort=30_000, stop_after=(0, 3000))
    monkeypatch.setattr(refining, "_SLICE", 110)
    again = ma.refine(X, labels, 3, effort=30_000, stop_after=(0, 3000))
    assert once.stopped == again.stopped == (0, 3000)
    assert_array_equal(once.labels, again.labels)


def test_risk_is_told_before_between_and_after_its_links(release):
    work = partial(release.risk_for, n_jobs=1)
    found, told = heard(lambda progress: work(progress=progress))
    assert rises(told)
    in_all = told[-1][1]
    columns = len(release.pair.original)
    assert len([done for done, _ in told if done < 0.05 * in_all]) > 3 * columns
    assert len([done for done, _ in told if done > 0.95 * in_all]) >= 2 * columns
    assert_array_equal(found.per_record, release.risk.per_record)
    for call in (1, len(told) // 2, len(told)):
        assert stops_at(lambda progress: work(progress=progress), call)


def test_intervals_are_told_column_by_column(release):
    both, columns = release.pair, len(release.pair.original)
    assert len(heard(lambda progress: rank_intervals(*both, Work(1, progress)))[1]) == columns
    assert len(heard(lambda progress: deviation_intervals(*both, Work(1, progress)))[1]) == columns


@pytest.mark.parametrize("public", [False, True])
def test_a_judgement_is_told_and_leaves_nothing_half_measured(frame, choices, public):
    release = ma.protect(frame, 4, **choices)
    found, told = heard(lambda progress: judge(release, public=public, progress=progress))
    assert rises(told)
    assert len(told) > (20 if public else 100)
    assert found == judge(ma.protect(frame, 4, **choices), public=public)
    assert ("risk" in release.__dict__) is not public  # in public it is not even measured
    for call in (1, len(told) // 2):
        fresh = ma.protect(frame, 4, **choices)
        known = set(fresh.__dict__)
        assert stops_at(lambda progress: judge(fresh, public=public, progress=progress), call)  # noqa: B023
        assert set(fresh.__dict__) - known <= {"loss", "anonymity", "risk", "results"}
        assert judge(fresh, public=public) == found


def test_a_report_model_takes_a_progress(release):
    found, told = heard(lambda progress: release.report_model(progress=progress))
    assert rises(told)
    assert found == release.report_model()
    assert stops_at(lambda progress: release.report_model(progress=progress), 2)


def test_counting_who_is_alike_is_told(release):
    written = release.pair.masked
    strata = np.zeros(written.n_records, dtype=np.int64)
    count = partial(fewest_sharing, written, strata, groups=release.groups)
    found, told = heard(lambda progress: count(work=Work(progress=progress)))
    assert found == release.k_achieved
    assert len(told) >= len(written) + 2
    opened = frames.open_frame(release.data)
    names = list(opened.columns)
    codes, told = heard(lambda progress: frames.category_codes(opened, names, progress))
    assert told == [(done, len(names)) for done in range(len(names))]
    assert_array_equal(codes, frames.category_codes(opened, names))
