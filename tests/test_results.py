"""Whether results survive, of any pair of files and of releases: what is compared, refused, guessed and said."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg as ma
from microagg.measures.analyses.definition import AnalysisKind, one_figure
from microagg.measures.analyses.kinds import ANALYSES
from microagg.measures.analyses.terms import Term

ADULTS = 300


def survey():
    rng = np.random.default_rng(5)
    income = np.round(rng.lognormal(9.5, 0.6, ADULTS))
    income[:60] = 0.0
    return pd.DataFrame(
        {
            "house": np.arange(ADULTS) // 2,
            "sex": rng.choice(["f", "m"], ADULTS),
            "region": rng.choice(["north", "south", "west"], ADULTS),
            "age": rng.integers(18, 90, ADULTS),
            "income": income,
            "employed": rng.random(ADULTS) < 0.5,
            "w": rng.uniform(10, 30, ADULTS),
        }
    )


def masked_of(frame, **options):
    return ma.protect(frame, k=4, quasi=["age", "income", "sex"], rest="keep", **options)


ANALYSES_OF_ALL_KINDS = [
    ma.Analysis("mean", "income", by=["sex", "region"], weight="w", unit="house"),
    ma.Analysis("mean", "employed"),
    ma.Analysis("total", "income", weight="w"),
    ma.Analysis("share", "income", value="= 0", by="sex"),
    ma.Analysis("share", "sex"),
    ma.Analysis("quantile", "income", p=(0.1, 0.5), weight="w"),
    ma.Analysis("ratio", ["income", "age"], weight="w"),
    ma.Analysis("gini", "income", weight="w"),
    ma.Analysis("poverty", "income", fraction=0.5),
    ma.Analysis("table", ["sex", "employed"], weight="w"),
    ma.Analysis("linear", ["log(income)", "age", "age^2", "sex"], weight="w", unit="house"),
    ma.Analysis("logistic", ["income > 0", "age", "region"]),
    ma.Analysis("loglinear", ["income", "age"]),
]


@pytest.mark.parametrize(
    "made",
    [lambda frame: frame, pl.from_pandas, lambda frame: pa.Table.from_pandas(frame)],
    ids=["pandas", "polars", "arrow"],
)
def test_any_dataframe_gives_the_same_and_no_order_matters(made):
    frame = survey()
    masked = masked_of(frame).data
    found = ma.utility(frame, masked, ANALYSES_OF_ALL_KINDS)
    other = ma.utility(made(frame), made(masked.sample(frac=1, random_state=3)), ANALYSES_OF_ALL_KINDS)
    assert len(found) == len(other) == 32
    for one, two in zip(found, other, strict=True):
        assert (one.analysis, one.domain, one.term) == (two.analysis, two.domain, two.term)
        assert one.before == pytest.approx(two.before, rel=1e-9, nan_ok=True)
        assert one.after == pytest.approx(two.after, rel=1e-9, nan_ok=True)
        assert one.interval_after == pytest.approx(two.interval_after, rel=1e-9, nan_ok=True)


def test_a_release_compares_with_its_original():
    frame = survey()
    release = masked_of(frame)
    found = release.utility(ANALYSES_OF_ALL_KINDS[1:10])
    other = ma.utility(frame, release.data, ANALYSES_OF_ALL_KINDS[1:10])
    assert [one.sentence for one in found] == [one.sentence for one in other]
    assert [one.before for one in found] == pytest.approx([one.before for one in other], nan_ok=True)
    assert [one.after for one in found] == pytest.approx([one.after for one in other], nan_ok=True)


def test_a_release_knows_units_and_weights_that_the_file_does_not_have():
    frame = survey()
    release = masked_of(frame, unit="house", weight="w", weight_release="group")
    one = ma.Analysis("mean", "income", weight="w", unit="house")
    (judged,) = release.utility([one]).analyses
    assert judged.clustered == (True, True)
    (alone,) = ma.utility(frame, release.data, [one]).analyses
    assert alone.clustered == (True, False)
    assert alone.estimates[0].before == judged.estimates[0].before
    assert alone.estimates[0].after == judged.estimates[0].after
    assert alone.estimates[0].interval_before == pytest.approx(judged.estimates[0].interval_before)
    said = "Intervals after masking are not clustered: the masked file has no column 'house'."
    assert ma.utility(frame, release.data, [one]).remarks == (said,)
    assert {one.unit for one in (judged.analysis for judged in release.utility().analyses)} == {"house"}
    assert {one.weight for one in (judged.analysis for judged in release.utility().analyses)} == {"w"}


def test_a_release_of_a_text_file_has_numbers_where_it_keeps_columns(tmp_path):
    path = tmp_path / "survey.csv"
    survey().to_csv(path, index=False)
    release = ma.protect(ma.read(path), k=4, quasi=["age", "sex"], rest="keep", weight="w")
    (judged,) = release.utility([ma.Analysis("mean", "income", by="sex", weight="w")]).analyses
    own = survey()
    for one in judged.estimates:
        part = own[own["sex"] == one.domain[0][1]]
        assert one.before == pytest.approx(np.average(part["income"], weights=part["w"]))


def test_a_stored_release_has_no_original_to_compare_with():
    release = pickle.loads(pickle.dumps(masked_of(survey())))
    with pytest.raises(ma.errors.InvalidData, match="no original values"):
        release.utility()


def test_records_that_lack_a_value_are_left_out_and_counted():
    frame = survey()
    frame.loc[:9, "income"] = np.nan
    frame.loc[5:14, "sex"] = None
    frame.loc[20, "w"] = 0.0
    found = ma.utility(frame, survey(), [ma.Analysis("mean", "income", by="sex", weight="w")])
    assert found.analyses[0].left_out == (16, 0)
    assert found.remarks == (
        "Analyses leave out records with a missing value. Number of records left out: Mean of income by sex: 16 before "
        "masking, 0 after it.",
    )


def test_missing_codes_and_kinds_are_those_of_protect():
    frame = survey()
    frame["age"] = frame["age"].where(frame.index > 4, 999)
    known = frame["age"][5:].mean()
    found = ma.utility(frame, frame, [ma.Analysis("mean", "age")], missing_codes={"age": [999]})
    assert found.estimates[0].before == pytest.approx(known)
    frame["code"] = frame.index % 3
    terms = [one.term for one in ma.utility(frame, frame, [ma.Analysis("linear", ["age", "code"])]).estimates]
    assert terms == ["intercept", "code"]
    as_codes = ma.utility(frame, frame, [ma.Analysis("linear", ["age", "code"])], kinds={"code": "nominal"})
    assert [one.term for one in as_codes.estimates] == ["intercept", "code = 1", "code = 2"]


def test_a_domain_that_masking_emptied_is_lost():
    masked = survey()
    masked["sex"] = "f"
    women, men = ma.utility(survey(), masked, [ma.Analysis("mean", "income", by="sex")]).estimates
    assert not women.within or women.overlap > 0
    assert men.sentence == "Mean of income (sex = m): lost by masking."
    assert not men.within


def test_what_is_said_of_all_analyses():
    frame = survey()
    found = ma.utility(frame, masked_of(frame).data, ANALYSES_OF_ALL_KINDS)
    names = [measure.name for measure in found.measures]
    assert names == ["within", "overlap", "changed"]
    text, page = repr(found), found._repr_html_()
    assert text.startswith("Results of 13 analyses after masking\n  within ")
    for judged in found.analyses:
        assert judged.sentence in text
    assert page.count("<tr>") == len(found) + 1
    judged = found["Mean of income by sex and region"]
    assert f" of 6 figures are within their intervals. Worst: {judged.worst.sentence}" in judged.sentence
    assert judged.worst.overlap == min(one.overlap for one in judged.estimates)
    assert pd.DataFrame(found.rows())["overlap"].between(0, 1).sum() > 30


def test_a_column_without_any_value_after_masking_is_lost():
    masked = survey().assign(income=np.nan)
    of_income = [one for one in ANALYSES_OF_ALL_KINDS if "income" in one.columns and one.kind != "share"]
    found = ma.utility(survey(), masked, of_income)
    assert len(found.analyses) == 7
    assert all(one.sentence.endswith("lost by masking.") for one in found)
    assert [measure.value for measure in found.measures] == [0.0, 0.0, 0.0]


def test_no_analyses_give_no_estimates():
    found = ma.utility(survey(), survey(), [])
    assert (len(found), found.measures, repr(found)) == (0, (), "Results of 0 analyses after masking")


def test_an_identical_file_keeps_everything():
    found = ma.utility(survey(), survey())
    assert [measure.value for measure in found.measures] == [100.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("said", "error", "message"),
    [
        (
            {"kind": "mode", "columns": "income"},
            "InvalidParameter",
            "kind='mode' is not known. Pass one of 'mean', 'total'",
        ),
        ({"kind": "mean"}, "InvalidParameter", r"a mean of 0 column\(s\) cannot be computed: it needs 1"),
        (
            {"kind": "mean", "columns": "income", "p": 0.5},
            "InvalidParameter",
            "of kind 'mean' has no 'p'. It has columns, by, weight, unit, name.",
        ),
        ({"kind": "quantile", "columns": "income", "p": 2}, "InvalidParameter", "p=2 must be a number from 0 to 1"),
        ({"kind": "linear", "columns": "income"}, "InvalidParameter", "it needs 2 or more"),
        ({"kind": "linear", "columns": ["a", "b"], "formula": "a ~ b"}, "InvalidParameter", "columns and a formula"),
        ({"columns": "income"}, "InvalidParameter", "an analysis has no kind"),
        ({"kind": "mean", "columns": "incme"}, "RoleError", "column 'incme' .* Did you mean 'income'"),
        ({"kind": "mean", "columns": "income", "by": "town"}, "RoleError", "column 'town' of an analysis"),
        ({"kind": "mean", "columns": "income", "unit": "firm"}, "RoleError", "the unit 'firm' of an analysis"),
        (
            {"kind": "mean", "columns": "region"},
            "InvalidData",
            "'region' holds categories, and an analysis needs numbers",
        ),
        ({"kind": "share", "columns": "income"}, "InvalidParameter", "needs a condition"),
        ({"kind": "share", "columns": "income", "value": "= no"}, "InvalidParameter", "'no', which is not a number"),
        ({"kind": "share", "columns": "sex", "value": "> f"}, "InvalidParameter", "which is not a number"),
        ({"kind": "share", "columns": "sex", "value": "x"}, "InvalidParameter", "no record has the category"),
        ({"kind": "logistic", "columns": ["region", "age"]}, "InvalidParameter", "'region' has 3 categories"),
        ({"kind": "mean", "columns": "age", "weight": "debt"}, "InvalidData", r"'debt' .* has \d+ negative value"),
        ({"kind": "mean", "columns": "age", "by": "w"}, "InvalidData", "too many to be categories|domains"),
        (
            {"kind": "mean", "columns": "age", "by": ["sex", "income", "age"]},
            "InvalidParameter|InvalidData",
            "domains|too",
        ),
    ],
)
def test_what_cannot_be_computed_is_refused(said, error, message):
    frame = pd.concat([survey()] * 4, ignore_index=True)
    frame["w"] = np.arange(len(frame)) + 1.0
    frame["debt"] = frame["w"] - 600
    frame["income"] = frame["income"] + np.arange(len(frame)) % 7
    with pytest.raises(ma.errors.InputError, match=message) as raised:
        ma.utility(frame, frame, [said])
    assert type(raised.value).__name__ in error
    assert raised.value.parameter is not None


def test_an_analysis_says_itself():
    for one in ANALYSES_OF_ALL_KINDS:
        assert ma.Analysis.of(one.said) == one
        assert pickle.loads(pickle.dumps(one)) == one
        assert eval(repr(one), {"Analysis": ma.Analysis}) == one
    named = ma.Analysis("gini", "income", name="Inequality")
    assert named.said == {"kind": "gini", "columns": ["income"], "name": "Inequality"}
    assert len({*ANALYSES_OF_ALL_KINDS, *ANALYSES_OF_ALL_KINDS}) == len(ANALYSES_OF_ALL_KINDS)


def test_a_new_kind_of_analysis_is_one_definition(monkeypatch):
    def largest(sample, analysis):
        values = sample.values(Term.of(analysis.columns[0]))
        return one_figure(np.array([values.max()]), np.array([np.nan]))

    monkeypatch.setitem(ANALYSES, "largest", AnalysisKind("largest", "Largest", largest))
    found = ma.utility(survey(), survey(), [{"kind": "largest", "columns": "age"}])
    assert found.sentences == ("Largest of age 89 → 89: it has no interval, so it cannot be judged.",)
    assert found.measures == ()


def test_defaults_are_few_and_about_what_was_masked():
    frame = survey()
    assert [one.kind for one in ma.default_analyses(frame, weight="w", unit="house")] == [
        *("mean", "share", "gini", "poverty", "quantile", "table", "linear"),
    ]
    rng = np.random.default_rng(0)
    for j in range(9):
        frame[f"amount{j}"] = rng.lognormal(5, 1, ADULTS) * (rng.random(ADULTS) < 0.9)
    found = ma.default_analyses(frame, masked=["amount7"])
    assert len(found) == 12
    assert found[0] == ma.Analysis("mean", "amount7", by=found[0].by)
    assert found == ma.default_analyses(frame, masked=["amount7"])
    assert found[-1].columns[1:3] == ("age", "age^2")


def test_defaults_of_files_without_amounts_or_categories():
    frame = survey()
    assert ma.default_analyses(frame[["house"]], unit="house") == ()
    assert [one.kind for one in ma.default_analyses(frame[["sex", "region"]])] == ["table"]
    frame["height"] = np.random.default_rng(1).normal(170, 10, ADULTS)
    found = ma.default_analyses(frame[["height", "sex", "age"]])
    assert [(one.kind, one.columns) for one in found] == [
        ("mean", ("height",)),
        ("quantile", ("height",)),
        ("linear", ("height", "age", "age^2", "sex")),
    ]
    names = pd.DataFrame({"name": [f"n{j}" for j in range(2000)], "empty": [None] * 2000})
    assert ma.default_analyses(names) == ()
    with pytest.raises(ma.errors.RoleError, match="the weight 'w' is not in both files"):
        ma.utility(frame, frame.drop(columns="w"), weight="w")


@pytest.mark.parametrize("made", [lambda table: table, lambda table: table.to_pandas(types_mapper=pd.ArrowDtype)])
def test_mappings_that_are_released_are_left_out_of_analyses(made):
    mapped = pa.array([[("key", "word")]] * 30, pa.map_(pa.string(), pa.string()))
    table = pa.table({"a": np.arange(30.0), "b": np.arange(30.0) % 7, "mapped": mapped})
    release = ma.protect(made(table), 3, quasi=["a", "b"], rest="keep")
    assert release.utility().sentences
