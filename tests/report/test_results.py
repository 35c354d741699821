"""What a report says of the results that researchers would find."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import microagg as ma
from microagg.jobs.facts import findings_of, release_facts, results_of, warnings_among
from microagg.judge import judge
from microagg.judge.text import FIXED, THIN
from microagg.judge.topics.results import ResultBlock, word_of
from microagg.measures.analyses.estimate import farthest
from microagg.report import build, render, to_json
from microagg.report.pictures import estimates

ANALYSES = [
    ma.Analysis("gini", "income"),
    ma.Analysis("mean", "income", by="sex"),
    ma.Analysis("linear", ["income", "age", "sex"]),
]
RELATIONS = ["benefits <= income", {"holds": "wage = income - benefits", "tolerance": 1}]
ROLES = {"quasi": ["age", "income"], "keep": ["sex", "wage", "benefits"]}


def frame_of(n=240, seed=0):
    rng = np.random.default_rng(seed)
    income = np.round(rng.lognormal(10, 0.6, n))
    wage = np.round(0.8 * income)
    age = rng.integers(18, 80, n).astype(float)
    columns = {"age": age, "income": income, "sex": rng.choice(["f", "m"], n), "wage": wage, "benefits": income - wage}
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def release():
    return ma.protect(frame_of(), 20, analyses=ANALYSES, relations=RELATIONS, rounding="none", **ROLES)


@pytest.fixture(scope="module")
def model(release):
    return build(release)


def test_the_section_says_what_utility_says(release, model):
    by_hand = ma.utility(frame_of(), release.data, ANALYSES)
    found = model.results
    assert found.declared
    assert found.sentences == by_hand.sentences
    judged = [one for one in by_hand if one.has_interval]
    assert (found.estimates, found.within) == (len(judged), sum(one.within for one in judged))
    changed = [one.sentence for one in judged if one.conclusion_changed]
    assert (found.n_changed, list(found.changed)) == (len(changed), changed)
    assert found.overlap == pytest.approx(by_hand.measures[1].value)
    assert found.others == 0
    by_name = {one.what: one for one in by_hand}
    for line in found.lines:
        own = by_name[line.what]
        assert (line.before, line.after) == (own.before, own.after)
        assert (line.low, line.high) == own.interval_before
        assert line.difference == pytest.approx(100 * own.difference)
        assert (line.within, line.sentence) == (own.within, own.sentence)
    page = render(model)
    assert "The analyses that the recipe declares were done" in page
    assert f"{found.within} of {found.estimates} results of the declared analyses" in page
    for line in found.lines:
        assert f"{line.written[2]} to {line.written[3]}" in page


def test_in_each_analysis_the_worst_come_first_and_all_have_one():
    table = ma.datasets.households(600, seed=0).select(["region", "sex", "age", "hours", "income", "status"])
    release = ma.protect(table, 5, quasi=["region", "age", "income"], rest="keep")
    found, whole = release.results, release.utility()
    assert len(found.lines) == 40
    assert found.others == len(whole) - 40
    assert list(dict.fromkeys(one.analysis for one in found.lines)) == [one.analysis.name for one in whole.analyses]
    for judged in whole.analyses:
        own = [one.overlap for one in found.lines if one.analysis == judged.analysis.name]
        assert own == sorted(own)
        assert own[0] == min(one.overlap for one in judged.estimates)
    assert f"{found.others} more estimates are not listed" in render(build(release))


def test_a_model_tells_both_files_apart_by_masked_columns(release):
    own = release.results.told_apart
    by_hand = ma.pmse(frame_of()[["age", "income"]], release.data[["age", "income"]])
    assert (own.value, own.terms, own.left_out) == (pytest.approx(by_hand.value), by_hand.n_terms, 0)
    assert own.seed is None
    assert "The model used all 240 records of each file, the masked columns, and 5 terms." in render(build(release))


def test_too_many_columns_for_the_records_are_not_said_to_be_alike():
    """A model with room for columns alone sees means, which masking keeps."""
    values = np.random.default_rng(0).normal(size=(60, 8))
    found = ma.protect(pa.table({f"c{j}": values[:, j] for j in range(8)}), 3).results
    assert found.told_apart is None
    assert "8 masked columns are too many for a model of 60 records." in found.remarks[-1]


def test_relations_are_counted_and_those_that_masking_breaks_are_a_warning(release, model):
    by_hand = ma.relations(frame_of(), release.data, ["benefits <= income"])
    by_hand += ma.relations(frame_of(), release.data, ["wage = income - benefits"], tolerance=1)
    counts = [(one.relation, one.before, one.after, one.fresh, one.known) for one in model.results.relations]
    assert counts == [(one.relation, one.before, one.after, one.fresh, one.known_after) for one in by_hand]
    assert counts[1][3] > 0
    (finding,) = (one for one in model.verdict.findings if one.topic == "relations")
    assert finding.state == "look"
    assert by_hand[1].reading in finding.text


def changing():
    """A weak slope that looks significant once values vary less."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=120)
    frame = pd.DataFrame({"x": x, "y": 0.15 * x + rng.normal(size=120)})
    return ma.protect(frame, 12, analyses=[ma.Analysis("linear", ["y", "x"])])


def test_a_changed_conclusion_is_a_warning_in_report_terminal_and_json():
    release = changing()
    model = build(release)
    assert model.results.n_changed == 1
    assert model.verdict.state == "look"
    found = findings_of(model)
    warning = next(one for one in found if one["topic"] == "results")
    assert warning["level"] == "warning"
    assert warning["line"] in warnings_among(found)
    assert model.results.changed[0] in warning["line"]
    assert any(model.results.changed[0] in text for text in model.verdict.look_first)
    (said,) = results_of(model)
    assert said.startswith(f"Results: {model.results.within} of {model.results.estimates} results of the declared")
    assert not {FIXED, THIN} & set(said)
    facts = release_facts(release)["results"]
    assert (facts["within"], facts["estimates"]) == (model.results.within, model.results.estimates)
    assert facts["changed"] == list(model.results.changed)
    assert facts["worst"][0]["sentence"] == model.results.lines[0].sentence
    assert facts["pmse"]["value"] == model.results.told_apart.value


def test_nothing_of_it_is_public_or_stored(release):
    assert judge(release, public=True).results is None
    public = build(release, public=True)
    texts = [to_json(public), render(public), pickle.dumps(release).decode("latin-1")]
    for line in release.results.lines:
        for figure in (*line.written[:1], repr(line.before), line.sentence):
            assert not any(figure in text for text in texts if len(figure) > 4), line.what
    assert "researchers" not in texts[1]
    for text in texts:
        assert release.results.told_apart.reading not in text
    measured = release.with_results()
    assert measured.results.relations
    assert measured.relations
    stored = pickle.loads(pickle.dumps(measured))
    internal = {"results", "_results", "relations"}
    assert not internal & {name for name, own in vars(stored).items() if own is not None}


def test_a_release_without_anything_to_analyse_has_one_sentence():
    release = ma.protect(pa.table({"a": np.ones(30), "b": np.zeros(30)}), 5)
    model = build(release)
    assert (model.results.analyses, model.results.told_apart, model.results.lines) == (0, None, ())
    section = render(model).partition('<section id="results">')[2].partition("</section>")[0]
    assert section.count("<p>") == 1
    assert "No analysis could be guessed" in section
    assert not [one for one in model.verdict.lines if one.name == "Results"]


def test_a_declared_analysis_that_cannot_be_done_is_a_warning():
    frame = frame_of().assign(empty=np.nan, sex="f")
    wanted = [ma.Analysis("mean", "empty"), ma.Analysis("linear", ["income", "age"], formula=None), ANALYSES[0]]
    wanted.append(ma.Analysis("gini", "sex"))
    release = ma.protect(frame, 5, analyses=wanted, quasi=["age", "income"], rest="keep")
    found = release.results
    assert [text.partition(":")[0] for text in found.undone] == ["Gini coefficient of sex"]
    assert any(text.startswith("Gini coefficient of income") for text in found.sentences)
    model = build(release)
    (finding,) = (one for one in model.verdict.findings if "could not be done" in one.text)
    assert finding.state == "look"
    assert "1 of 4 declared analyses could not be done" in finding.short
    assert "Gini coefficient of sex: " in render(model).partition("Analyses that could not be done")[2]


def test_names_of_ill_will_do_nothing():
    bad, hidden = "<script>alert(1)</script>", "in\u202ecome"
    frame = frame_of().rename(columns={"income": bad, "age": hidden})
    frame["sex"] = frame["sex"].map({"f": "<b>", "m": "long " * 60})
    release = ma.protect(frame, 5, quasi=[bad, hidden], keep=["sex"], rest="drop")
    page = render(build(release))
    assert bad not in page
    assert "\u202e" not in page
    assert "<b>:" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.partition('<section id="results">')[2]


@pytest.mark.parametrize(
    ("line", "shape", "word"),
    [
        ({"after": 2.5}, "<circle", "within"),
        ({"after": 2.5, "changed": "significance"}, "<circle", "within; significance"),
        ({"after": 3.2}, "l5 -5l5 5l-5 5z", "outside"),
        ({"after": 90.0, "changed": "sign"}, "l-8 -5v10z", "outside; sign"),
        ({"after": -90.0}, "l8 -5v10z", "outside"),
        ({"after": 2.0, "low": 2.0, "high": 2.0}, "<circle", "within"),
        ({"after": 2.1, "low": 2.0, "high": 2.0}, "l-8 -5v10z", "outside"),
        ({"after": 2.1, "low": None, "high": None}, "", "no interval"),
        ({"after": None}, "", "lost"),
        ({"after": 1.0, "before": None, "low": None, "high": None}, "", "new"),
    ],
)
def test_inside_and_outside_have_different_shapes_and_words(model, line, shape, word):
    own = {"before": 2.0, "low": 1.0, "high": 3.0, "changed": "", "part": "", **line}
    known = None not in (own["after"], own["low"])
    own["within"] = known and own["low"] <= own["after"] <= own["high"]
    one = replace(model.results.lines[0], **own)
    assert word_of(one) == word
    blocks = (ResultBlock("Mean", True, (one,)),)
    svg = str(estimates(replace(model.results, lines=(one,), blocks=blocks)))
    shapes = ("<circle", "l5 -5l5 5l-5 5z", "l-8 -5v10z", "l8 -5v10z")
    assert [each for each in shapes if each in svg] == ([shape] if shape else [])
    assert f">{word}</text>" in svg
    assert 'role="img" aria-label="1 estimate, of which' in svg


def test_what_progress_raises_stops_the_analyses(release):
    class Stop(ma.errors.InvalidData):
        """Even of a kind that is a remark where an analysis raises it."""

    told = []

    def progress(done, total):
        told.append((done, total))
        if len(told) == 12:
            raise Stop

    with pytest.raises(Stop):
        release.with_results(progress)
    whole = []
    release.with_results(lambda done, total: whole.append((done, total)))
    assert (whole[0], whole[-1]) == ((0, 100), (100, 100))
    assert len(whole) > len(told)


def test_what_was_chosen_so_that_a_relation_holds_is_told():
    said = ["wage >= 0"]
    survey = ma.datasets.survey(300, seed=0).select(["age", "wage"])
    release = ma.protect(survey, 5, moments="variance", relations=said)
    (chosen,), (line,) = release.chosen, release.results.relations
    assert line.after == 0 < chosen.records
    assert line.reading.startswith(
        "wage >= 0: holds in the masked file. To keep it, the released wage was chosen anew in "
    )
    assert f" {chosen.records} records; its total changed by {100 * chosen.moved:.2g} %." in line.reading


def test_a_relation_that_most_original_records_break_is_asked_about():
    release = ma.protect(frame_of(), 5, quasi=["age", "income"], rest="keep", relations=["income <= 0 - 5"])
    (finding,) = (one for one in build(release).verdict.findings if one.topic == "relations")
    assert finding.short == "1 declared relation is broken by most original records."


def test_what_moved_most_is_looked_at_first_though_nobody_declared_it():
    rng = np.random.default_rng(1)
    n = 900
    kind = np.where(np.arange(n) < 12, "rare", rng.choice(["a", "b"], n))
    table = pd.DataFrame({"kind": kind, "pay": np.round(rng.lognormal(9, 1.2, n)), "age": rng.integers(18, 80, n)})
    release = ma.protect(table, 60, quasi=["kind", "pay", "age"])
    found = build(release)
    judged = ma.utility(table, release.data)
    apart = [one for one in judged if one.has_interval and (one.lost or one.overlap == 0)]
    assert any(one.lost for one in apart)  # no group releases the rare kind
    named = next(one for one in found.verdict.findings if "These moved most" in one.text)
    assert named.state == "look"
    assert named.text in found.verdict.look_first
    by_analysis = {
        one.analysis: max((o for o in apart if o.analysis == one.analysis), key=lambda o: o.moved) for one in apart
    }
    assert set(found.results.farthest) == {one.sentence for one in by_analysis.values()}
    assert any("lost by masking" in one for one in found.results.farthest[:4])
    assert warnings_among(findings_of(found)) != []


def test_an_interval_without_width_says_nothing_of_what_moved():
    def moved(after, interval):
        return ma.Estimate("Quantile", "quantile", (), "", 1.83, after, interval, (after - 0.001, after + 0.001))

    still, far, lost = moved(1.82, (1.83, 1.83)), moved(1.7, (1.82, 1.84)), moved(np.nan, (1.82, 1.84))
    near = moved(1.825, (1.82, 1.84))
    judged = [SimpleNamespace(estimates=(still, near)), SimpleNamespace(estimates=(far,))]
    assert farthest(judged) == [far]
    assert farthest([*judged, SimpleNamespace(estimates=(far, lost))]) == [lost, far]


def test_what_is_outside_does_not_look_like_the_end_of_its_interval():
    one = ma.Estimate("Mean", "mean", (), "", -0.13, -0.0126, (-0.24, -0.0131), (-0.1, 0.1))
    assert one.written == ("-0.1300", "-0.0126", "-0.2400", "-0.0131")
    inside = ma.Estimate("Mean", "mean", (), "", -0.13, -0.0136, (-0.24, -0.0131), (-0.1, 0.1))
    assert inside.written == ("-0.13", "-0.01", "-0.24", "-0.01")
