import numpy as np
import pytest

import microagg as ma
from microagg.errors import InputError

TABLE = ma.datasets.survey(240, seed=0).select(["age", "hours", "wage", "income"])


def test_every_method_and_k_is_judged():
    told = []
    found = ma.compare(TABLE, ["mdav", "cbfs"], [3, 6], progress=lambda done, total: told.append((done, total)))
    assert [(one.method, one.k) for one in found.candidates] == [("mdav", 3), ("mdav", 6), ("cbfs", 3), ("cbfs", 6)]
    assert told == sorted(told)
    assert told[-1] == (4000, 4000)
    assert len(told) > 8  # from within each release too
    for one in found.candidates:
        release = ma.protect(TABLE, one.k, method=one.method)
        assert one.il == release.loss.percent
        assert one.g_il == release.loss.g_il
        assert one.g_dr == release.risk.g_dr
        assert one.score == pytest.approx((one.g_il + one.g_dr) / 2)
    assert found.best.score == min(one.score for one in found.candidates)
    assert found.as_dict()["k"] == [3, 6, 3, 6]


def test_a_k_that_is_repeated_counts_once():
    told = []
    found = ma.compare(TABLE, "mdav", [5, 3, 5, 3], progress=lambda *of: told.append(of))
    assert [one.k for one in found.candidates] == [5, 3]
    assert told[-1] == (2000, 2000)


def test_the_frontier_is_what_nothing_beats():
    found = ma.compare(TABLE, ["mdav", "cbfs", "iamat", "vmdav"], [3, 5, 8])
    efficient = set(found.frontier)
    for one in found.candidates:
        beaten = any(
            other.g_il <= one.g_il and other.g_dr <= one.g_dr and (other.g_il, other.g_dr) != (one.g_il, one.g_dr)
            for other in found.candidates
        )
        assert (one in efficient) == (not beaten)
    losses = [one.g_il for one in found.frontier]
    risks = [one.g_dr for one in found.frontier]
    assert losses == sorted(losses)
    assert risks == sorted(risks, reverse=True)


def test_the_map_has_a_line_for_each_method():
    found = ma.compare(TABLE, ["mdav", "iamat"], [3, 5])
    ax = found.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[1:] == ["mdav", "iamat"]
    assert {text.get_text() for text in ax.texts} == {"3", "5"}


def test_estimators_of_one_class_are_told_apart_and_lines_follow_k():
    found = ma.compare(TABLE, [ma.VMDAV(), ma.VMDAV(gamma=1.1)], [5, 3])
    assert list(dict.fromkeys(one.method for one in found.candidates)) == ["VMDAV", "VMDAV(gamma=1.1)"]
    lines = found.plot().lines[-2:]
    assert all(line.get_xdata()[0] < line.get_xdata()[1] for line in lines)
    named = ma.compare(TABLE, {"ours": "mdav", "theirs": ma.CBFS()}, 3)
    assert [one.method for one in named.candidates] == ["ours", "theirs"]


def test_the_table_is_readable_as_text_and_html():
    found = ma.compare(TABLE, "mdav", 3, x=0.25)
    assert "lowest score" in repr(found)
    assert "0.25 · G_IL + 0.75 · G_DR" in repr(found)
    assert "<td" in found._repr_html_()


class Wrapped:
    """Another library's estimator: a parameter without a default, and one that holds an array."""

    def __init__(self, inner, centres=None, seed=0):
        self.inner, self.centres, self.seed = inner, centres, seed

    def get_params(self):
        return {"inner": self.inner, "inner__k": self.inner.k, "centres": self.centres, "seed": self.seed}

    def fit_predict(self, X):
        return self.inner.fit_predict(X)


def test_an_estimator_that_cannot_be_made_without_arguments_is_named_by_its_class():
    three = [Wrapped(ma.MDAV()), Wrapped(ma.MDAV(), seed=1), Wrapped(ma.MDAV(), centres=np.ones((3, 4)))]
    found = ma.compare(TABLE, three, 3)
    assert [one.method for one in found.candidates] == ["Wrapped", "Wrapped(seed=1)", "Wrapped(centres=ndarray)"]
    with pytest.raises(InputError, match="two methods have the same name"):
        ma.compare(TABLE, [Wrapped(ma.MDAV()), Wrapped(ma.CBFS())], 3)


def test_estimators_roles_keys_and_samples_are_passed_on():
    survey = ma.datasets.survey(240, seed=0)
    found = ma.compare(
        survey,
        [ma.VMDAV(gamma=1.1), "mdav"],
        [3],
        keys=["age"],
        sample=100,
        quasi=["age", "income"],
        rest="drop",
    )
    assert [one.method for one in found.candidates] == ["VMDAV(gamma=1.1)", "mdav"]
    assert found.sampled == 100
    assert found.standard_error > 0
    assert "estimated on 100 records" in repr(found)


def test_a_method_may_bring_arguments_of_its_own():
    methods = {"plain": "mdav", "refined": {"refine": "fast"}, "few": {"method": ma.CBFS(), "scale": "range"}}
    found = {one.method: one for one in ma.compare(TABLE, methods, [3], scale="standard").candidates}
    assert list(found) == ["plain", "refined", "few"]
    assert found["refined"].il < found["plain"].il == ma.protect(TABLE, 3).loss.percent
    assert found["few"].il == ma.protect(TABLE, 3, method="cbfs", scale="range").loss.percent


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": {"a": {"n_jobs": 1}}}, "'n_jobs' is the same for all methods"),
        ({"methods": {"a": {"method": "mdva"}}}, "method='mdva' is not known"),
        ({"methods": []}, "nothing to compare"),
        ({"ks": []}, "nothing to compare"),
        ({"x": 2}, "from 0 to 1"),
        ({"methods": ["mdva"]}, "method='mdva' is not known"),
        ({"keys": ["weight"]}, "'weight' is not among the masked columns"),
        ({"ks": [1]}, "k=1 protects nobody"),
        ({"methods": ["mdav", "mdav"]}, "two methods have the same name"),
        ({"methods": 3}, "method is an int"),
        ({"k": 4}, "pass k in ks"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(InputError, match=message):
        ma.compare(TABLE, **options)


def test_recipes_are_compared_as_they_are():
    one, other = ma.Recipe.of(3, quasi=["age", "wage"], rest="drop"), ma.Recipe.of(4, refine="fast", seed=5)
    found = ma.compare(TABLE, {"few": one, "refined": other})
    assert [(one.method, one.k) for one in found.candidates] == [("few", 3), ("refined", 4)]
    release = ma.protect(TABLE, recipe=other)
    assert found.candidates[1].il == release.loss.percent
    both = ma.compare(TABLE, {"few": one, "refined": other}, [5])
    assert [one.k for one in both.candidates] == [5, 5]
    asked = ma.Recipe.parse("k = 3\n[compare]\nmethods = ['cbfs']\nks = [3, 4]\nx = 0.25")
    found = ma.compare(TABLE, recipe=asked)
    assert [(one.method, one.k) for one in found.candidates] == [("cbfs", 3), ("cbfs", 4)]
    assert found.x == 0.25


def test_one_seed_refines_and_another_draws():
    found = ma.compare(TABLE, ["mdav"], [3], refine="fast", seed=7, sample=50, sample_seed=2).candidates[0]
    release = ma.protect(TABLE, 3, refine="fast", seed=7)
    assert found.il == release.loss.percent
    assert found.rld == release.risk_for(sample=50, seed=2).rld


def test_what_progress_raises_stops_a_comparison_within_a_release():
    def stop(done, total):
        if done > total // 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ma.compare(TABLE, ["mdav"], [3], progress=stop)


SECRET = ma.datasets.households(300, seed=0)
KEPT = {"quasi": ["sex", "age", "hours"], "confidential": ["diagnosis", "income"], "rest": "drop"}


def test_levels_of_l_and_t_are_compared_each_with_every_other():
    only = {"l_columns": ["diagnosis"], "t_columns": ["income"]}
    recipe = ma.Recipe.of(k=3, l=2, t=0.5, **only, **KEPT)
    found = ma.compare(SECRET, "mdav", [3, 5], ls=[1, 3, 3], ts=[0.6, 0.4], recipe=recipe)
    asked = [(one.k, one.l, one.t) for one in found.candidates]
    assert asked == [(k, l, t) for k in (3, 5) for l in (None, 3) for t in (0.6, 0.4)]  # noqa: E741
    for one in found.candidates:
        columns = {**only, **({"l": one.l} if one.l else {"l_columns": []})}
        release = ma.protect(SECRET, one.k, **KEPT, t=one.t, **columns)
        assert one.t_reached == release.diversity.after["income"].t <= one.t
        if one.l:
            assert one.l_reached == release.diversity.after["diagnosis"].distinct >= one.l
        assert (one.il, one.way) == (release.loss.percent, release.diversity.way)
    heads = repr(found).splitlines()[0]
    assert heads.split()[:9] == ["method", "k", "l", "l", "reached", "t", "t", "reached", "way"]
    labels = [text.get_text() for text in found.plot().get_legend().get_texts()]
    assert labels[1:] == ["mdav t=0.6", "mdav t=0.4", "mdav l=3 t=0.6", "mdav l=3 t=0.4"]
    assert found.as_dict()["way"] == [one.way for one in found.candidates]


def test_one_demands_nothing_and_what_was_said_of_it_goes():
    recipe = ma.Recipe.of(k=3, l=2, l_columns=["diagnosis"], diversity="merge", ls=[1], **KEPT)
    (one,) = ma.compare(SECRET, "mdav", [3], recipe=recipe).candidates
    assert (one.l, one.t, one.l_reached, one.t_reached, one.way) == (None, None, None, None, "")
    assert "reached" not in repr(ma.compare(SECRET, "mdav", [3], recipe=recipe))


def test_recipes_that_differ_in_l_are_compared():
    found = ma.compare(SECRET, {"two": {"l": 2, "l_columns": ["diagnosis"]}, "none": {}}, [3], **KEPT)
    assert [(one.line, one.l_reached) for one in found.candidates] == [("two l=2", 2), ("none", None)]


@pytest.mark.parametrize(
    ("chosen", "parameter"), [({"l": 2, "ls": [2]}, "l"), ({"ts": [1.5]}, "t"), ({"t": 0.2, "ts": 0.3}, "t")]
)
def test_levels_that_mean_nothing_are_refused(chosen, parameter):
    with pytest.raises(InputError) as caught:
        ma.compare(SECRET, "mdav", [3], **chosen, **KEPT)
    assert caught.value.parameter == parameter


def test_the_report_shows_l_and_t_of_what_was_compared():
    from microagg.report import build, render

    found = ma.compare(SECRET, "mdav", [3], ls=[1, 2], l_columns=[], **{**KEPT, "confidential": ["diagnosis"]})
    release = ma.protect(SECRET, 3, **{**KEPT, "confidential": ["diagnosis"]})
    page = render(build(release, comparison=found))
    assert "l reached" in page
    assert "mdav l=2" in page
    assert [one.l_reached for one in build(release, comparison=found).map.candidates] == [None, 2]
