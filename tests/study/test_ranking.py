"""Which of the compared releases is the best: by the score, by a measure, by an analysis; and from which k on."""

import math
from dataclasses import replace

import pyarrow as pa
import pytest

import microagg as ma
from microagg.errors import InvalidParameter
from microagg.jobs.facts import comparison_facts
from microagg.measures.criterion import FROM_UTILITY, PMSE
from microagg.report import alternatives, build, render
from microagg.study.candidate import known_criteria, ranking_of, seen_by

SURVEY = ma.datasets.survey(300, seed=0)
ROLES = {"quasi": ["age", "hours", "wage", "income"], "rest": "drop"}
ANALYSES = [
    ma.Analysis("poverty", "income", name="Poverty rate"),
    ma.Analysis("linear", ["log(income)", "age", "hours"], name="Returns"),
]
RECIPE = ma.Recipe.of(5, **ROLES)


def compared(methods=("mdav", "iamat"), ks=(3, 5, 10), **options):
    return ma.compare(SURVEY, list(methods), list(ks), **options)


@pytest.fixture(scope="module")
def found():
    return compared(analyses=ANALYSES, rank="Returns", map_axis="overlap", recipe=RECIPE)


def test_the_best_is_the_one_whose_analysis_moved_least(found):
    moved = {}
    for method in ("mdav", "iamat"):
        for k in (3, 5, 10):
            release = ma.protect(SURVEY, k, method=method, **ROLES)
            judged = release.utility(ANALYSES)
            halves = [
                (one, (one.interval_before[1] - one.interval_before[0]) / 2) for one in judged["Returns"].estimates
            ]
            moved[method, k] = max(abs(one.after - one.before) / half for one, half in halves)
            own = next(one for one in found.candidates if (one.method, one.k) == (method, k))
            assert own.figures["Returns"] == pytest.approx(moved[method, k])
            assert own.figures["Poverty rate"] == judged["Poverty rate"].moved
            assert own.figures["overlap"] == judged.measures[1].value
            assert own.k_reached == release.k_achieved
    allowed = {key: value for key, value in moved.items() if key[1] >= 5}
    assert (found.best.method, found.best.k) == min(allowed, key=allowed.get)


def test_efficient_are_those_that_no_other_of_enough_k_beats_by_the_axis_and_risk(found):
    allowed = [one for one in found.candidates if one.k >= 5]
    expected = [
        one
        for one in allowed
        if not any(
            other is not one
            and other.figures["overlap"] >= one.figures["overlap"]
            and other.g_dr <= one.g_dr
            and (other.figures["overlap"], other.g_dr) != (one.figures["overlap"], one.g_dr)
            for other in allowed
        )
    ]
    assert list(found.frontier) == sorted(expected, key=lambda one: -one.figures["overlap"])
    assert found.eligible == tuple(allowed)


def test_table_map_json_and_report_follow_what_was_chosen(found):
    text = repr(found)
    assert text.splitlines()[0].split("  ")[-1].strip() == "seconds"
    for said in ("Returns", "overlap", "Poverty rate", "Ranked by Returns, moved at most, in half intervals; lower"):
        assert said in text
    assert "2 of 6 have k below 5, and cannot be the best or efficient." in text
    rows = text.splitlines()[1:7]
    assert [row.rstrip().endswith(("best", "efficient")) for row in rows if row.split()[1] == "3"] == [False, False]
    assert sum(row.endswith("best") for row in rows) == 1
    ax = found.plot()
    assert ax.get_xlabel() == "overlap of intervals, overlap; higher is better"
    assert ax.xaxis_inverted()
    facts = comparison_facts(found)
    assert (facts["rank"], facts["axis"], facts["least_k"], facts["below_least_k"]) == ("Returns", "overlap", 5, 2)
    assert facts["best"] == {"method": found.best.method, "k": found.best.k}
    assert facts["candidates"][0]["figures"]["Returns"] == found.candidates[0].figures["Returns"]
    assert found.as_dict()["Returns"] == [one.figures["Returns"] for one in found.candidates]
    page = render(build(ma.protect(SURVEY, recipe=RECIPE), comparison=found))
    assert "overlap of intervals, overlap; higher is better" in page
    assert f"The best by Returns: {found.best.method}, k = {found.best.k}." in page
    assert "2 of 6 have k below 5" in page
    assert "no other with k = 5 or more has less loss" in page


def test_without_a_recipe_nothing_changes_and_nothing_is_computed_in_vain():
    plain = compared(**ROLES)
    assert plain.ranking.least_k is None
    assert plain.best.score == min(one.score for one in plain.candidates)
    assert "within" not in plain.candidates[0].figures
    assert not {"pMSE", "Returns"} & {*plain.candidates[0].figures}
    assert compared(["mdav"], [5, 10], recipe=RECIPE).ranking.least_k is None  # no k is below: nothing to say
    assert compared(["mdav"], [3], recipe=RECIPE).best.k == 3  # no k has it
    assert compared(["mdav"], [3, 5], recipe=RECIPE, least_k=3).eligible[0].k == 3
    score = compared(recipe=RECIPE)
    assert score.best.score == min(one.score for one in score.candidates if one.k >= 5)


def test_measures_rank_in_their_direction():
    by_risk = compared(["mdav"], rank="G_DR", **ROLES)
    assert by_risk.best.k == 10
    by_model = compared(["mdav"], [3, 10], rank="pMSE", map_axis="M5", **ROLES)
    values = [ma.pmse(*(frame.select(ROLES["quasi"]) for frame in (SURVEY, ma.protect(SURVEY, k, **ROLES).data))).value
              for k in (3, 10)]  # fmt: skip
    assert [one.figures["pMSE"] for one in by_model.candidates] == pytest.approx(values)
    assert by_model.best.k == 3
    guessed = compared(["mdav"], [20, 3], rank="within", **ROLES)
    shares = [one.figures["within"] for one in guessed.candidates]
    assert guessed.best is guessed.candidates[shares.index(max(shares))]  # the first of those that tie
    assert guessed.candidates[0].figures["changed"] >= 0


def test_the_criteria_are_those_that_are_measured():
    release = ma.protect(SURVEY, 5, **ROLES)
    told = {one.name: one for one in release.utility(ANALYSES).measures}
    for one in FROM_UTILITY:
        measure = told.pop(one.name)
        assert (one.unit, one.better, one.title) == (measure.unit, measure.better, measure.title)
    assert not told
    assert (PMSE.name, PMSE.title) == (release.pmse().measures[0].name, release.pmse().measures[0].title)


def test_an_analysis_that_is_lost_is_never_the_best():
    analysis = ma.Analysis("mean", "income", by="job", name="By job")
    jobs = pa.array(["rare"] * 2 + ["a", "b"] * 149)
    frame = SURVEY.append_column("job", jobs)
    found = ma.compare(frame, "mdav", [3, 5], quasi=["income", "job"], rest="drop", analyses=[analysis], rank="By job")
    assert [one.figures["By job"] for one in found.candidates] == [math.inf, math.inf]
    assert found.best is found.candidates[0]
    assert "inf" in repr(found)
    assert found.plot() is not None


@pytest.mark.parametrize(
    ("options", "parameter", "said"),
    [
        ({"rank": "Povrty rate"}, "rank", "Did you mean 'Poverty rate'"),
        ({"rank": "nothing like it"}, "rank", "It can be 'IL'"),
        ({"map_axis": "G_DR"}, "map_axis", "not a measure of loss"),
        ({"map_axis": "Return"}, "map_axis", "Did you mean 'Returns'"),
        ({"least_k": 6}, "least_k", "least_k=6 is above every k that is compared, and the largest of these is 5"),
        ({"least_k": 1}, "least_k", "at least 2"),
        ({"analyses": [ma.Analysis("gini", "income", name="IL")]}, "analyses", "which is the name of a measure"),
    ],
)
def test_what_cannot_be_ranked_by_is_refused_before_any_work(options, parameter, said):
    told = []
    with pytest.raises(InvalidParameter, match=said) as caught:
        ma.compare(
            SURVEY, "mdav", [3, 5], **{"analyses": ANALYSES, **options}, progress=lambda *of: told.append(of), **ROLES
        )
    assert caught.value.parameter == parameter
    assert not told


def test_a_measure_without_a_figure_is_refused():
    with pytest.raises(InvalidParameter, match="'IL_w' is a measure that cannot be computed for this file"):
        ma.compare(SURVEY, "mdav", 3, rank="IL_w", **ROLES)


def test_a_recipe_says_how_to_rank(tmp_path):
    text = "k = 3\n[compare]\nks = [3, 5]\nmethods = ['mdav']\nrank = 'Gini'\nmap_axis = 'M5'\nleast_k = 5\n"
    text += "[[analysis]]\nname = 'Gini'\nkind = 'gini'\ncolumns = 'wage'\n"
    recipe = ma.Recipe.parse(text)
    again = ma.Recipe.read(recipe.write(tmp_path / "r.toml"))
    assert again == recipe
    assert (again.compare.rank, again.compare.map_axis, again.compare.least_k) == ("Gini", "M5", 5)
    found = ma.compare(SURVEY.select(["age", "wage"]), recipe=again)
    assert (found.best.k, found.axis.name) == (5, "M5")
    assert found.ranking.rank.name == "Gini"
    with pytest.raises(InvalidParameter, match=r"line 5: in \[compare\], rank='Ginny' is not .* Did you mean 'Gini'"):
        ma.compare(SURVEY, recipe=ma.Recipe.parse(text.replace("rank = 'Gini'", "rank = 'Ginny'"), "r.toml"))


def test_while_none_reaches_the_least_k_none_is_the_best(found):
    early = replace(found, candidates=tuple(one for one in found.candidates if one.k == 3))
    told = alternatives.section(early)
    assert [one.mark for one in told.candidates] == ["", ""]
    assert not any(one.best for one in told.candidates)
    assert told.frontier == ()


def test_figures_serve_another_ranking_where_they_are_there(found):
    one = found.candidates[0]
    again = compared(["mdav"], [3], x=0.8, recipe=RECIPE).candidates[0]
    by_score = ranking_of([("", ma.Recipe.of(3, **ROLES))])
    assert seen_by(one, by_score, 0.8).score == again.score
    assert seen_by(again, found.ranking, 0.8) is None  # its analyses were not measured


def test_what_can_be_ranked_by_is_what_a_recipe_may_say():
    recipe = RECIPE.replace(analyses=ANALYSES)
    ranks, axes = known_criteria(recipe)
    assert ranks[0].is_score
    for one in ranks:
        assert ranking_of([("", recipe.replace(rank=one.name))]).rank == one
    for one in axes:
        assert ranking_of([("", recipe.replace(map_axis=one.name))]).axis == one
    assert {"Poverty rate", "Returns", "IL", "pMSE"} <= {one.name for one in axes}
    assert "G_DR" not in {one.name for one in axes}
