import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import microagg as ma
from microagg.algorithms.scores import moments, standardise
from microagg.columns.table import Table
from microagg.errors import InputError
from microagg.measures.assess import SAMPLE_ERROR, usual_sample
from microagg.measures.intervals import deviation_intervals, rank_intervals
from microagg.measures.risk import key_sets
from tests.lengths import given_few
from tests.reference.risk import deviation_counts, interval_counts, linkage, tied_interval_counts

CENSUS_KEYS = ["FEDTAX", "AFNLWGT", "AGI", "EMCONTRB", "PTOTVAL", "TAXINC", "STATETAX"]


@st.composite
def masked_files(draw):
    """An original file full of ties and a masked one: microaggregated, shuffled values, or unchanged."""
    n, d = draw(st.integers(4, 40)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.integers(0, draw(st.integers(2, 8)), (n, d)).astype(float)
    kind = draw(st.sampled_from(["mdav", "noise", "same", "swapped"]))
    if kind == "mdav":
        return X, ma.MDAV(k=2).fit_transform(X)
    if kind == "noise":
        return X, X + rng.integers(-1, 2, (n, d))
    return X, X.copy() if kind == "same" else rng.permutation(X)


def z_scores(X, masked):
    found = [moments(np.ascontiguousarray(column)) for column in X.T]
    return [
        np.array([standardise(np.ascontiguousarray(column), *own) for column, own in zip(file.T, found, strict=True)]).T
        for file in (X, masked)
    ]


@given_few(25, 200, files=masked_files())
def test_linkage_is_that_of_brute_force(files):
    X, masked = files
    risk = ma.disclosure_risk(X, masked)
    z, z_masked = z_scores(X, masked)
    right, group = linkage(z.tolist(), z_masked.tolist(), masked.tolist())
    assert_allclose(risk.per_record, right, atol=1e-12)
    assert risk.rld == pytest.approx(100 * np.mean(right), abs=1e-10)
    assert risk.right_group == pytest.approx(100 * np.mean(group), abs=1e-10)


@settings(max_examples=50)
@given(files=masked_files(), seed=st.integers(0, 100))
def test_the_order_of_rows_does_not_matter(files, seed):
    X, masked = files
    rng = np.random.default_rng(seed)
    risk = ma.disclosure_risk(X, masked)
    together = rng.permutation(len(X))
    moved = ma.disclosure_risk(X[together], masked[together])
    assert moved.rld == pytest.approx(risk.rld, abs=1e-12)
    assert_array_equal(moved.per_record, risk.per_record[together])
    assert moved.interval_tied == risk.interval_tied
    assert moved.interval_deviation == risk.interval_deviation
    alone = rng.permutation(len(X))  # row i of the shuffled file is row alone[i] of the masked one
    shuffled = ma.disclosure_risk(X, masked[alone], truth=np.argsort(alone))
    assert shuffled.rld == pytest.approx(risk.rld, abs=1e-12)
    assert shuffled.interval == risk.interval


@settings(max_examples=100)
@given(files=masked_files())
def test_intervals_are_those_of_the_oracle(files):
    X, masked = files
    files = [Table.of_numbers(range(file.shape[1]), np.ascontiguousarray(file.T)) for file in (X, masked)]
    found, tied = rank_intervals(*files)
    assert list(found.counts) == interval_counts(X.T.tolist(), masked.T.tolist())
    assert list(tied.counts) == tied_interval_counts(X.T.tolist(), masked.T.tolist())
    deviations = deviation_intervals(*files)
    assert list(deviations.counts) == deviation_counts(X.T.tolist(), masked.T.tolist())


@pytest.mark.parametrize("method", ["mdav", "iamat", "vmdav"])
@pytest.mark.parametrize("k", [2, 5])
def test_all_keys_link_at_most_one_in_k(method, k):
    table = ma.datasets.survey(500, seed=0).select(["age", "hours", "wage", "income"])
    risk = ma.protect(table, k, method=method).risk
    assert 0 < risk.full_keys <= 100 / k
    assert risk.per_set[risk.keys] == risk.full_keys
    assert len(risk.per_set) == 15


def test_unmasked_records_that_differ_are_all_linked():
    X = np.random.default_rng(0).random((60, 2))
    risk = ma.disclosure_risk(X, X)
    assert risk.rld == risk.interval == risk.interval_deviation == risk.g_dr == 100.0


def test_a_file_of_equal_records_links_nobody_in_particular():
    X = np.random.default_rng(0).random((50, 2))
    risk = ma.disclosure_risk(X, np.repeat(X.mean(axis=0)[None, :], 50, axis=0))
    assert risk.rld == pytest.approx(2.0)
    assert risk.right_group == pytest.approx(100.0)


@pytest.mark.casc
@pytest.mark.parametrize(("method", "expected"), [("cbfs", (214, 79, 29)), ("iamat", (202, 93, 60))])
def test_interval_disclosure_on_census(method, expected):
    table = ma.datasets.load("census")
    for k, count in zip((3, 4, 5), expected, strict=True):
        risk = ma.disclosure_risk(table, ma.protect(table, k, method=method, rounding="none").data, keys=CENSUS_KEYS)
        assert sum(risk.rank_intervals.counts) == count
        assert risk.interval == pytest.approx(count * 10 / 1080)
        assert risk.g_dr == pytest.approx((risk.rld + risk.interval) / 2)
        assert len(risk.per_set) == 127


def test_a_key_that_tells_persons_apart_drives_the_risk():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(200.0), rng.integers(0, 2, 200)])
    risk = ma.disclosure_risk(X, X)
    assert risk.drivers[0] > 90
    assert risk.drivers[0] > risk.drivers[1]
    useless = ma.disclosure_risk(np.column_stack([X, np.ones(200)]), np.column_stack([X, np.ones(200)]))
    assert useless.drivers[2] == pytest.approx(0.0)


def test_a_sample_estimates_with_its_error():
    X = np.random.default_rng(0).random((3000, 3))
    masked = ma.MDAV(k=3).fit_transform(X)
    whole = ma.disclosure_risk(X, masked)
    part = ma.disclosure_risk(X, masked, sample=500, seed=1)
    assert part.sampled == 500
    assert np.count_nonzero(~np.isnan(part.per_record)) == 500
    assert 0 < part.standard_error < 2
    assert abs(part.rld - whole.rld) < 4 * part.standard_error
    assert_array_equal(part.per_record, np.where(np.isnan(part.per_record), np.nan, whole.per_record))
    assert "This was estimated on 500 records" in repr(part)
    assert ma.disclosure_risk(X, masked, sample=9999).sampled is None


def test_threads_change_nothing_and_progress_is_told():
    X = np.random.default_rng(0).random((400, 4))
    masked = ma.MDAV(k=3).fit_transform(X)
    told = []
    one = ma.disclosure_risk(X, masked, n_jobs=1, progress=lambda done, total: told.append((done, total)))
    two = ma.disclosure_risk(X, masked, n_jobs=2)
    assert_array_equal(one.per_record, two.per_record)
    assert told[-1] == (400 * 15, 400 * 15)


def test_more_than_seven_keys_are_tried_in_127_sets():
    sets = key_sets(12)
    assert len(set(sets)) == 127
    assert sets == key_sets(12)
    assert len(key_sets(7)) == 127
    assert all(chosen for chosen in sets)


FRAME = ma.datasets.survey(40, seed=0, frame="pandas")[["age", "hours", "wage"]]


@pytest.mark.parametrize(
    ("original", "masked", "options", "message"),
    [
        (FRAME, FRAME.iloc[:30], {}, "the original file has 40 records and the masked one 30"),
        (
            FRAME,
            FRAME[["age"]].rename(columns={"age": "years"}),
            {},
            r"'age' \(original only\)",
        ),
        (FRAME, FRAME[["age", "hours"]], {}, r"same columns: 'wage' \(original only\)"),
        (FRAME, FRAME.rename(columns={"wage": "Wage"}), {}, r"'Wage' \(masked only\)"),
        (FRAME, FRAME, {"truth": np.arange(40)[:, None]}, "truth must list each row"),
        (FRAME, FRAME, {"sample": 9, "seed": -1}, "seed=-1"),
        (FRAME, FRAME, {"keys": FRAME["age"]}, "not a Series of data"),
        (FRAME, FRAME.astype({"age": "category"}), {}, r"masked file is not numeric \(Categorical\)"),
        (np.empty((0, 2)), np.empty((0, 2)), {}, "has 0 records"),
        (FRAME, FRAME[["age", "hours"]], {"columns": ["age", "wage"]}, "'wage' is not among the columns of the masked"),
        (FRAME, FRAME.astype({"age": str}), {}, "column 'age' of the masked file is not numeric"),
        (FRAME.astype({"wage": str}), FRAME, {}, "column 'wage' of the original file is not numeric"),
        (FRAME, FRAME, {"keys": ["weight"]}, "'weight' is not among the masked columns"),
        (FRAME, FRAME, {"keys": []}, "empty or names a column twice"),
        (FRAME, FRAME, {"truth": [0, 1]}, "truth must list each row"),
        (FRAME, FRAME, {"sample": 1}, "sample=1 must be a whole number, at least 2"),
        (FRAME, FRAME.to_numpy(), {}, "one file is a dataframe and the other is not"),
        (np.ones((4, 2)), np.ones((4, 3)), {}, "the files have 2 and 3 columns"),
        (np.ones((4, 2)), np.full((4, 2), np.nan), {}, "missing or infinite"),
    ],
)
def test_what_differs_between_the_files_is_named(original, masked, options, message):
    with pytest.raises(InputError, match=message):
        ma.disclosure_risk(original, masked, **options)


def test_reordered_columns_are_matched_by_name():
    masked = ma.protect(FRAME, 3).data
    one = ma.disclosure_risk(FRAME, masked)
    two = ma.disclosure_risk(FRAME, masked[["wage", "age", "hours"]])
    assert_array_equal(one.per_record, two.per_record)
    assert ma.loss_measures(FRAME, masked[["wage", "age", "hours"]]).g_il == ma.loss_measures(FRAME, masked).g_il


def test_a_release_judges_itself_until_it_is_stored():
    import pickle

    release = ma.protect(FRAME, 3)
    assert release.risk is release.risk
    assert release.risk.rld == ma.disclosure_risk(FRAME, release.data).rld
    assert release.loss.g_il == ma.loss_measures(FRAME, release.data).g_il
    assert release.anonymity.k == release.k_achieved
    assert release.risk_for(["age"]).keys == ("age",)
    stored = pickle.loads(pickle.dumps(release))
    assert stored.information == release.information
    assert stored.anonymity.k == 3
    for asked in ("loss", "risk"):  # with the masked file, their differences would give cells away
        assert asked not in stored.__dict__
        with pytest.raises(InputError, match="a stored release has no original values"):
            getattr(stored, asked)


def test_what_the_caller_does_to_the_data_changes_no_figure():
    release = ma.protect(FRAME, 3)
    expected = ma.protect(FRAME, 3)
    release.data["age"] = 0.0
    del release.data["wage"]
    assert release.loss.percent == expected.loss.percent
    assert release.risk.rld == expected.risk.rld


def test_strata_are_known_to_the_intruder():
    survey = ma.datasets.survey(200, seed=0)
    names = ["age", "wage", "income"]
    release = ma.protect(survey, 3, quasi=names, strata=["region"], rest="drop")
    regions = survey["region"].to_pylist()
    X = np.array([survey[name].to_numpy() for name in names], dtype=float).T
    masked = np.array([release.data[name].to_numpy() for name in names], dtype=float).T
    z, z_masked = z_scores(X, masked)
    right, group = linkage(z.tolist(), z_masked.tolist(), masked.tolist(), regions)
    assert_allclose(release.risk.per_record, right, atol=1e-12)
    assert release.risk.right_group == pytest.approx(100 * np.mean(group))
    kept = survey.select([*names, "region"])
    assert ma.disclosure_risk(kept, release.data, strata="region").rld == pytest.approx(release.risk.rld)
    assert release.risk.rld > ma.disclosure_risk(survey, release.data, columns=names).rld
    assert release.risk.full_keys <= 100 / 3


def test_groups_are_told_apart_by_all_that_is_released():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"sex": rng.integers(0, 2, 400).astype(float), "income": rng.lognormal(size=400)})
    risk = ma.protect(frame, 4).risk_for(["sex"])
    assert risk.right_group < 10  # sex alone does not find one of a hundred groups


def test_many_keys_are_tried_in_part_and_the_full_set_always():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((150, 9)), columns=list("abcdefghi"))
    release = ma.protect(frame, 3)
    risk = release.risk
    assert (len(risk.per_set), risk.n_sets) == (127, 511)
    assert 0 < risk.sets_error < 5
    assert 0 < risk.full_keys <= 100 / 3
    assert "127 of 511 sets" in repr(risk)
    backwards = ma.disclosure_risk(frame[list("ihgfedcba")], release.data[list("ihgfedcba")])
    assert backwards.rld == pytest.approx(risk.rld, rel=1e-9)
    assert set(risk.drivers) == set("abcdefghi")


def test_a_file_masked_beyond_all_measure():
    found = ma.loss_measures(FRAME.astype(float), FRAME.astype(float) * 1e300)
    assert found.percent == np.inf


def test_large_releases_are_judged_on_a_sample(monkeypatch):
    monkeypatch.setattr("microagg.measures.assess._FEWEST", 10)
    monkeypatch.setattr("microagg.measures.assess.SAMPLE_ERROR", 4.0)
    risk = ma.protect(FRAME, 3).risk
    assert (risk.sampled, risk.seed) == (13, 0)  # e / (1 + e / 40), e = (100 / 3 / 2 / 4) ** 2
    assert max(risk.standard_error, risk.full_error) <= 4.0


@pytest.mark.parametrize(
    ("n", "highest", "sampled"),
    [
        *[(4445, 1 / 3, None), (4447, 1 / 3, 2223), (14_827, 1 / 3, 3420), (10**6, 1 / 3, 4425), (10**9, 1 / 3, 4445)],
        *[(4000, 0.1, None), (4001, 0.1, 2000)],
        *[(40_000, 1.0, None), (40_001, 1.0, 20_000)],
    ],
)
def test_so_many_records_are_drawn_as_the_error_asks_for(n, highest, sampled):
    assert usual_sample(n, highest) == sampled


@given(st.integers(2, 12), st.data())
def test_chances_that_are_bounded_deviate_by_half_of_that_at_most(k, data):
    chances = np.array(data.draw(st.lists(st.floats(0, 1 / k), min_size=2, max_size=40)))
    needed = (100 / k / 2 / SAMPLE_ERROR) ** 2
    assert 100 * chances.std() / np.sqrt(needed) <= SAMPLE_ERROR * (1 + 1e-12)


def test_a_sample_tells_what_all_records_do_within_its_error():
    frame = ma.datasets.survey(12_000, seed=0).select(["age", "hours", "income", "tax"])
    release = ma.protect(frame, 3)
    drawn, whole = release.risk, release.risk_for(sample=12_000)
    assert (drawn.sampled, whole.sampled) == (3244, None)
    assert abs(drawn.rld - whole.rld) <= 4 * drawn.standard_error
    assert abs(drawn.full_keys - whole.full_keys) <= 4 * drawn.full_error
    assert max(drawn.standard_error, drawn.full_error) <= SAMPLE_ERROR


def test_risk_says_what_it_was_measured_by():
    release = ma.protect(FRAME, 3)
    names = list(FRAME.columns)
    whole = release.risk
    assert not whole.restricted
    assert whole.seed is None
    assert "only" not in repr(whole)
    part = release.risk_for(names[:1], sample=20, seed=7)
    assert part.restricted
    assert (part.sampled, part.seed) == (20, 7)
    assert f"only one key, of {len(names)} columns" in repr(part)
    assert "20 records drawn with seed 7" in repr(part)
    assert ma.disclosure_risk(FRAME, release.data, sample=20, seed=7).seed == 7
    assert ma.disclosure_risk(FRAME, release.data, sample=len(FRAME), seed=7).seed is None  # nothing was drawn


def test_the_score_weighs_loss_against_risk():
    assert ma.scoring_index(20, 40) == 30
    assert ma.scoring_index(20, 40, x=0.75) == 25
    for x in (-0.1, 1.1, "half", True):
        with pytest.raises(InputError, match="must be a number from 0 to 1"):
            ma.scoring_index(20, 40, x)


def test_a_release_shows_the_risk_it_is_given_and_stores_none():
    release = ma.protect(ma.datasets.survey(60).select(["age", "wage", "tax"]), 3)
    found = release.risk_for(["age"])
    judged = release.with_risk(found)
    assert judged.risk is found
    assert release.risk is not found
    again = pickle.loads(pickle.dumps(judged))
    with pytest.raises(ma.errors.InvalidData, match="stored release"):
        _ = again.risk


def test_points_that_share_a_mark_by_chance_are_told_apart(monkeypatch):
    original, masked = FRAME, ma.protect(FRAME, 3).data
    expected = ma.disclosure_risk(original, masked)
    monkeypatch.setattr("microagg.measures.linkage._marks", lambda codes, _: np.zeros(codes.size, dtype=np.uint64))
    found = ma.disclosure_risk(original, masked)
    assert found.per_set == expected.per_set
    assert_array_equal(found.per_record, expected.per_record)
