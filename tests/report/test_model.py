"""The model says what the release says, in every kind of release, and in public nothing that helps an intruder."""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import microagg as ma
from microagg.judge.bins import SMALL_CELL, before_and_after, masked_only, merge_small
from microagg.report import SourceFacts, WrittenFacts, build, render, to_json

ROLES = {"identifiers": ["person"], "weight": "weight", "strata": ["region"]}
SURVEY = ma.datasets.survey(600, seed=0)
RELEASE = ma.protect(SURVEY, k=5, **ROLES)
SOURCE = SourceFacts("survey.csv", "CSV", {"query": "the secret table"}, "c0ffee" * 10, 600, 13)


@pytest.fixture(scope="module")
def model():
    return build(RELEASE, source=SOURCE)


@pytest.fixture(scope="module")
def public():
    return build(RELEASE, source=SOURCE, public=True)


def test_the_figures_are_the_releases(model):
    assert (model.groups.promised, model.groups.reached) == (5, RELEASE.k_achieved)
    assert model.groups.counted == RELEASE.anonymity.k
    assert model.groups.groups == RELEASE.n_groups
    assert sum(row.groups for row in model.groups.sizes) == RELEASE.n_groups
    assert sum(row.share for row in model.groups.sizes) == pytest.approx(100)
    assert model.loss.percent == RELEASE.loss.percent
    assert {one.column: one.percent for one in model.loss.columns} == dict(RELEASE.loss.per_column)
    found = {figure.symbol: figure.value for figure in model.loss.figures + model.risk.figures}
    risk = RELEASE.risk
    assert found["G_IL"] == RELEASE.loss.g_il
    assert (found["RLD"], found["full keys"], found["ID"], found["G_DR"]) == (
        risk.rld,
        risk.full_keys,
        risk.interval,
        risk.g_dr,
    )
    assert found["SI"] == ma.scoring_index(RELEASE.loss.g_il, risk.g_dr)
    assert {one.column: one.driver for one in model.risk.columns} == dict(risk.drivers)
    weights = SURVEY["weight"].to_numpy()
    failing = ma.dominance(SURVEY.select(list(risk.columns)), RELEASE.groups, weights=weights).failing
    assert {one.column: one.dominated for one in model.risk.columns} == dict(failing)
    assert model.risk.records.quantiles[-1][1] == pytest.approx(100 * risk.per_record.max())
    assert np.array(model.correlations.change) == pytest.approx(RELEASE.loss.correlations, abs=1e-4)
    assert model.title == "survey.csv"


def test_shares_add_up(model):
    for one in model.distributions:
        assert sum(one.before) == pytest.approx(100, abs=0.05)
        assert sum(one.after) == pytest.approx(100, abs=0.05)
        assert len(one.edges) == len(one.after) + 1
        assert len(one.after) <= 60


def test_the_verdict_gives_no_false_comfort(model):
    assert model.verdict.headline.startswith("The promise holds")
    assert "“weight”" in model.verdict.headline  # nearly everybody has a weight of his own
    assert model.verdict.state == "look"
    assert any(
        "original order" in text and "sort the frame before you give it away" in text
        for text in model.verdict.look_first
    )
    assert "Small is below 5 %" in model.loss.scale


def test_how_the_file_was_written_is_told_by_who_wrote_it():
    plain, written = build(RELEASE), build(RELEASE, written=WrittenFacts(reordered=True, excel_safe=True))
    topics = [{one.topic: one for one in model.checklist} for model in (plain, written)]
    assert (topics[0]["row order"].state, topics[1]["row order"].state) == ("look", "note")
    assert "Sort the rows by their released values" in topics[0]["row order"].text
    assert "formulas" not in topics[0]
    assert "apostrophe" in topics[1]["formulas"].text
    assert not any("original order" in text for text in written.verdict.look_first)
    outside = build(RELEASE, written=WrittenFacts(reordered=True), public=True)
    assert any(one.topic == "row order" for one in outside.checklist)
    assert not hasattr(RELEASE, "reordered")


def test_what_the_intruder_is_taken_to_know_is_said_wherever_risk_is():
    values = np.random.default_rng(0).normal(size=(3, 600))
    table = pa.table(values.tolist(), ["age", "income", "tax"])
    wanted = [ma.Analysis("mean", "income")]  # which masking keeps: of guessed ones, some move far
    release = ma.protect(table, k=30, analyses=wanted)  # lower, values lie close to the released ones
    plain = build(release)
    assert plain.verdict.state == "good"
    assert not any(one.topic == "risk" for one in plain.verdict.findings)
    assert not plain.risk.restricted
    assert "only" not in plain.verdict.lines[-1].value
    release.__dict__["risk"] = release.risk_for(["tax", "age"], sample=200, seed=42)
    found = build(release)
    assert found.verdict.state == "look"  # less was asked, so less is known: no reason to be at ease
    assert found.risk.keys == ("age", "tax")
    assert json.loads(to_json(found))["risk"]["seed"] == 42
    said = "who knows only “age” and “tax”, 2 of 3 masked columns"
    intruder = next(line.value for line in found.verdict.lines if line.name == "An intruder")
    assert said in intruder
    assert "was not measured" in intruder
    for text in (intruder, found.risk.how):
        assert "This was estimated on 200 records drawn with seed 42 (standard error" in text
    assert "only “age” and “tax” (the keys), 2 of 3 masked columns" in found.risk.how
    assert any("knows only “age” and “tax”" in text for text in found.verdict.look_first)
    assert {one.column for one in found.risk.columns if one.driver is None} == {"income"}
    page = render(found)
    assert "who knows some of only 2 columns (standard error" in page
    assert "assumed not to know the column" in page
    release.__dict__["risk"] = release.risk_for(["age"])
    found = build(release)
    assert "who knows only “age”, 1 of 3 masked columns" in found.verdict.lines[-1].value
    assert "estimated" not in found.verdict.lines[-1].value
    assert "an intruder who knows only one column</span>" in render(found)
    assert not build(release, public=True).risk


def test_columns_released_as_they_are_are_told_where_they_single_people_out():
    n = 200
    table = pa.table(
        {
            "a": np.arange(float(n)),
            "b": np.arange(float(n))[::-1] ** 2,
            "income": np.arange(n) + 1000,
            "shoe": [40] * (n - 20) + list(range(100, 120)),
            "sick": [0, 1] * (n // 2),
        }
    )
    roles = {"quasi": ["a", "b"], "confidential": ["income", "sick"], "keep": ["shoe"]}
    release = ma.protect(table, 5, **roles)
    found = build(release)
    assert found.verdict.state == "look"
    assert found.verdict.headline.endswith(
        "But 200 of 200 records (100\u00a0%) are unique in all released columns together; in “income” alone, half "
        "of the records or more are unique."
    )  # and “shoe” is not named: 10 % are not most
    everything, shoe, income = found.verdict.look_first[:3]
    assert everything.startswith(
        "200 of 200 records (100\u00a0%) are unique in all released columns together: no other record has the same"
    )
    assert shoe.startswith("“shoe” is released unchanged, and its value is unique in 10\u00a0% of the records")
    assert income.startswith("“income” is confidential and released unchanged, and its value is unique in 100\u00a0%")
    assert not any("“sick”" in text and "unique" in text for text in found.verdict.look_first[1:])
    public = build(release, public=True)
    assert public.verdict.headline.endswith(
        "It does not cover “shoe”, “income” and “sick”, which are released unchanged."
    )
    assert public.verdict.look_first == ()
    assert not re.search(r"\b(20|10|100)\b", " ".join(one.text for one in public.checklist))
    more = build(
        ma.protect(table.append_column("tag", pa.array(map(str, range(n)))), 5, **roles | {"keep": ["shoe", "tag"]})
    )
    together = more.verdict.look_first[1]
    assert together.startswith("3 columns are released unchanged")
    assert "“tag” (100\u00a0%), “income” (100\u00a0%, confidential), “shoe” (10\u00a0%)" in together
    assert "; in each of “tag” and “income” alone, half of the records or more are unique." in more.verdict.headline


def test_columns_that_single_people_out_only_together_are_told():
    rng = np.random.default_rng(0)
    n = 400
    columns = {name: rng.integers(0, 12, n) for name in ("birth", "town", "sick")}
    masked = {name: rng.normal(size=n) for name in "abcd"}
    table = pa.table({**masked, **columns, "sex": rng.integers(0, 2, n)})
    roles = {"keep": ["birth", "town"], "confidential": ["sick"], "strata": ["sex"]}
    release = ma.protect(table, 5, **roles)
    _, counts = np.unique(np.array([*columns.values(), table["sex"]]), axis=1, return_counts=True)
    share = f"{100 * np.count_nonzero(counts == 1) / n:.1f}\u00a0% of the records"
    found = build(release)
    assert found.verdict.state == "look"
    everything = [*columns, *masked, "sex"]
    released = np.array([np.asarray(release.data[name], dtype=float) for name in everything])
    _, numbers = np.unique(released, axis=1, return_counts=True)
    alone = np.count_nonzero(numbers == 1)
    of_all = f"{alone} of 400 records ({100 * alone / n:.1f}".removesuffix(".0") + "\u00a0%)"
    assert found.verdict.headline.endswith(f"But {of_all} are unique in all released columns together.")
    assert found.verdict.alone_percent == 100 * alone / n
    assert found.verdict.look_first[1].startswith("“birth”, “town” and “sick” and the stratum “sex” are released")
    assert f"{share} are unique in these columns together" in found.verdict.look_first[1]
    public = build(release, public=True).verdict
    assert public.headline.endswith("It does not cover “birth”, “town” and “sick”, which are released unchanged.")
    # Fewer are in the headline too.
    few = ma.protect(table.drop_columns(["town"]), 5, keep=["birth"], confidential=["sick"], strata=["sex"])
    codes = np.array([columns["birth"], columns["sick"], table["sex"]])
    _, counts = np.unique(codes, axis=1, return_counts=True)
    assert 0 < np.count_nonzero(counts == 1) < n / 2
    found = build(few).verdict
    assert found.state == "look"
    assert "are unique in all released columns together." in found.headline
    assert any("“birth” and “sick” and the stratum" in text for text in found.look_first)
    # Where nobody stands alone there is nothing to say.
    same = table.select([*masked]).append_column("same", pa.array(["x"] * n))
    calm = build(ma.protect(same, 5, keep=["same"])).verdict
    assert calm.state == "good"
    assert calm.headline.count(".") == 1
    assert calm.alone_percent == 0


def test_a_group_with_one_confidential_value_is_no_reason_to_be_at_ease():
    n = 200
    values = np.arange(float(n))
    sick = np.arange(n) % 2
    sick[:10] = 1  # the two lowest groups of five, and no other
    table = pa.table({"a": values, "b": values[::-1] ** 3, "sick": sick})
    release = ma.protect(table, 5, confidential=["sick"])
    sets = [set(sick[release.groups == group].tolist()) for group in range(release.n_groups)]
    groups = sum(len(one) == 1 for one in sets)
    records = sum(len(sets[group]) == 1 for group in release.groups)
    assert 0 < groups < release.n_groups
    found = build(release)
    assert found.verdict.state == "look"
    told = next(
        text for text in found.verdict.look_first if text.startswith("In some groups all records have one value")
    )
    assert f"“sick” in {groups} groups ({records} records)." in told
    (own,) = found.diversity
    assert (own.uniform_groups, own.uniform_records) == (groups, records)
    assert own.text.startswith(f"{groups} groups have only one value ({records} records in all)")
    assert "have only one value" not in to_json(build(release, public=True))
    varied = build(ma.protect(table.set_column(2, "sick", pa.array(np.arange(n) % 2)), 5, confidential=["sick"]))
    assert varied.diversity[0].uniform_groups == varied.diversity[0].uniform_records == 0
    assert not any("all records have one value" in text for text in varied.verdict.look_first)


def test_values_released_nearly_as_they_were_are_told():
    values = np.sort(np.random.default_rng(0).normal(size=500))
    close = ma.protect(pa.table({"a": values, "b": values**3}), 3)  # neighbours in one are neighbours in the other
    share = close.risk.interval
    assert share > 75
    found = build(close).verdict
    assert found.state == "look"
    told = [text for text in found.look_first if "are close to the released ones" in text]
    assert len(told) == 1
    assert told[0].startswith(f"In {share:.1f}".removesuffix(".0") + "\u00a0% of the records")
    assert build(close, public=True).verdict.state == "good"  # which tells nothing that was measured
    far = ma.protect(pa.table(np.random.default_rng(0).normal(size=(4, 500)).tolist(), list("abcd")), 5)
    assert far.risk.interval < 20
    assert build(far).verdict.state == "good"
    assert not any("are close to the released ones" in text for text in build(far).verdict.look_first)


def test_dominance_is_the_second_member_s_guess_at_the_largest():
    found = build(RELEASE)
    worst = max(found.risk.columns, key=lambda one: one.dominated or 0)
    assert worst.dominated > 0.05 * found.risk.n_groups
    share = f"{100 * worst.dominated / found.risk.n_groups:.1f}".removesuffix(".0")
    said = (
        f"In {share}\u00a0% of the groups, the member (a person, household or firm) with the second largest value of "
        f"“{worst.column}” can estimate the largest value to within 10\u00a0% of it: they know the mean and their own "
        f"value. See the table of risk by column."
    )
    assert said in found.verdict.look_first
    assert any("second largest" in text for text in found.limits)
    medians = build(ma.protect(SURVEY, k=5, aggregate="median", **ROLES))  # which tell no total
    assert {one.dominated for one in medians.risk.columns} == {None}
    assert not any("second largest" in text for text in medians.verdict.look_first + medians.limits)


def test_a_file_that_was_changed_after_masking_breaks_the_promise():
    frame = ma.datasets.survey(100, seed=0, frame="pandas")[["age", "income"]]
    release = ma.protect(frame, k=5)
    release.data.loc[0, "income"] += 1.0
    found = build(release)
    assert found.verdict.state == "bad"
    assert "broken" in found.verdict.headline
    assert "Do not release" in found.verdict.headline


def test_the_source_is_told_inside_and_only_named_outside(model, public):
    inside, outside = to_json(model), to_json(public)
    for words in ("the secret table", "c0ffee", "person"):
        assert words in inside
    for words in ("the secret table", "c0ffee", "“person”", '"person"'):
        assert words not in outside
    assert "survey.csv" in outside


def test_the_model_is_plain_and_json_reads_it(model, public):
    for one in (model, public):
        found = json.loads(to_json(one), parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        assert found["groups"]["reached"] == 5


CASES = {
    "one column": (SURVEY.select(["age"]), {}),
    "single columns": (SURVEY.select(["age", "income"]), {"method": "univariate", "per_column": True}),
    "a constant": (pa.table({"a": np.ones(60), "b": np.arange(60.0)}), {}),
    "constants only": (pa.table({"a": np.ones(60), "b": np.zeros(60)}), {}),
    "one stratum": (pa.table({"a": np.arange(60.0), "s": ["x"] * 60}), {"strata": ["s"]}),
    "left out": (pa.table({"a": [None] * 7 + list(range(53)), "b": np.arange(60.0)}), {"missing": "drop"}),
    "one group": (pa.table({"a": np.arange(5.0), "b": np.arange(5.0)}), {}),
    "confidential": (SURVEY.select(["age", "tax", "region"]), {"confidential": ["region"]}),
    "selected by a tree": (SURVEY.select(["age", "hours", "wage", "tax"]), {"select": "emad", "count": 2}),
    "selected by name": (SURVEY.select(["age", "hours", "wage", "tax"]), {"select": ["age"]}),
    "blocks": (SURVEY.select(["age", "tax"]), {"blocks": "median", "max_block": 200}),
    "medians": (SURVEY.select(["age", "tax"]), {"aggregate": "median", "rounding": "auto"}),
    "lists kept": (pa.table({"a": np.arange(60.0), "l": [[1]] * 60}), {"quasi": ["a"], "keep": ["l"]}),
    "far apart": (pa.table({"a": np.arange(60.0) * 1e300, "b": np.arange(60.0) * 1e-300}), {}),
    "close together": (pa.table({"a": 2.0**52 + np.arange(60.0), "b": np.arange(60.0)}), {}),
    "numbers for names": (pd.DataFrame(np.arange(120.0).reshape(60, 2)), {}),
    "odd names": (pd.DataFrame(np.arange(180.0).reshape(60, 3), columns=["a$b$", "\x00\u202ex", "日本"]), {}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_kind_of_release_has_a_report(case):
    table, options = CASES[case]
    release = ma.protect(table, 5, **options)
    for public in (False, True):
        found = build(release, public=public)
        for text in (to_json(found), render(found)):
            assert not re.search(r"\b(nan|inf|infinity)\b", text, re.IGNORECASE), case
            assert ">None<" not in text
        assert found.verdict.state != "bad"
    if case == "one column":
        inside = build(release)
        intruder = inside.verdict.lines[-1].value
        assert intruder.startswith("An intruder who knows the masked column of everybody finds the right record in")
        assert "all masked columns" not in intruder
        assert "linked to the right record by an intruder who knows the column" in render(inside)
    if case == "single columns":
        assert "not for whole records" in found.verdict.headline
        assert build(release).groups.unique == release.anonymity.n_unique
    if case == "left out":
        assert build(release).left_out.records == 7
        assert "Fewer than 50" in found.left_out.text
    if case == "confidential":
        own = release.anonymity.diversity["region"]
        assert [(one.distinct, one.t) for one in build(release).diversity] == [(own.distinct, own.t)]
    if case == "selected by a tree":
        tree = build(release).tree
        assert [tree.names[j] for j in tree.chosen] == list(release.selection.columns)
        assert len(tree.edges) == 3
    if case == "blocks":
        assert any(fact.name == "blocks" and "by median" in fact.value for fact in found.done)


def test_a_stored_release_says_what_is_missing():
    import pickle

    with pytest.raises(ma.errors.InvalidData, match="no original values"):
        build(pickle.loads(pickle.dumps(RELEASE)))


def test_refining_and_its_seed_are_told(model):
    release = ma.protect(SURVEY, k=5, refine=60_000, seed=7, **ROLES)
    facts = {fact.name: fact for fact in build(release).done}
    assert "moved between neighbouring groups" in facts["refined"].why
    assert "an intruder finds the right group more often" in facts["refined"].why
    assert facts["seed"].value == "7"
    outside = {fact.name: fact for fact in build(release, public=True).done}
    assert outside["refined"].why.endswith("k is the same.")
    plain = {fact.name: fact for fact in model.done}
    assert "refined" not in plain
    assert plain["seed"].value == "none"


def test_many_columns_are_drawn_in_part():
    values = np.random.default_rng(0).normal(size=(80, 34))
    release = ma.protect(pd.DataFrame(values, columns=[f"c{j}" for j in range(34)]), 5)
    release.__dict__["risk"] = release.risk_for(["c0", "c1"])  # all 34 would take long
    found = build(release)
    assert (len(found.distributions), len(found.not_drawn), found.correlations.change) == (30, 4, ())
    least = min(release.information.per_column[one.column] for one in found.distributions)
    assert all(release.information.per_column[name] <= least for name in found.not_drawn)
    assert len(found.loss.columns) == 34


def test_a_comparison_becomes_a_map():
    table = SURVEY.select(["age", "income"])
    compared = ma.compare(table, {"$mdav$": "mdav", "_cbfs": "cbfs"}, [3, 5])
    found = build(ma.protect(table, 5), comparison=compared)
    assert [(one.k, one.score) for one in found.map.candidates] == [(one.k, one.score) for one in compared.candidates]
    assert "lowest score, efficient" in {one.mark for one in found.map.candidates}
    assert "Alternatives" in render(found)
    assert build(ma.protect(table, 5), comparison=compared, public=True).map is None


# The public version.


def test_public_has_no_figures_of_the_originals(public):
    assert public.risk is None
    assert public.correlations is None
    assert public.source is None
    assert public.tree is None
    assert public.diversity == ()
    assert public.loss.percent is None
    assert public.loss.figures == ()
    assert all(one.percent is one.mean is one.deviation is one.quantile is None for one in public.loss.columns)
    assert public.groups.sizes == ()
    assert public.groups.largest is None
    assert public.groups.unique is None
    assert not public.verdict.look_first
    assert not any("order" in one.text for one in public.checklist)
    strata = next(one.text for one in public.checklist if one.topic == "strata")
    assert re.findall(r"\d+", strata) == ["8", "5"]  # how many, and k; no size


def test_public_depends_on_the_masked_file_alone_but_for_words(public):
    for one in public.distributions:
        assert one.before == ()
        assert one.beyond is None
        assert all(share == round(share) for share in one.after)


def test_public_bins_hold_many_records_and_no_extreme():
    k = 5
    for name in RELEASE.recipe.roles.quasi:
        masked = np.asarray(RELEASE.data[name], dtype=float)
        one = masked_only(name, masked, k)
        if one.undrawn:
            continue
        inner = np.array(one.edges[1:-1])
        counts = np.bincount(np.searchsorted(inner, masked, side="right"), minlength=inner.size + 1)
        assert counts.min() >= SMALL_CELL * k
        low, high = np.quantile(masked, [0.05, 0.95])
        assert inner.min() >= low
        assert inner.max() <= high


def test_an_outlier_does_not_move_a_public_picture():
    rng = np.random.default_rng(0)
    plain = rng.normal(size=2000)
    far = plain.copy()
    far[np.argsort(far)[-5:]] = 1e9
    assert masked_only("a", plain, 5) == masked_only("a", far, 5)


def test_a_small_file_shows_no_bins():
    assert masked_only("a", np.arange(100.0), 5).undrawn == "few"


@pytest.mark.parametrize(
    ("counts", "least", "starts"),
    [
        ([5, 5, 5], 10, [0]),
        ([10, 10, 3, 10], 10, [0, 1, 2]),
        ([20, 1, 1], 10, [0]),
        ([1, 1], 10, []),
        ([0, 0, 30, 0, 12], 10, [0, 3]),
    ],
)
def test_small_bins_are_merged(counts, least, starts):
    assert merge_small(counts, least) == starts


def test_whole_numbers_have_bins_of_their_own():
    values = np.repeat(np.arange(5.0), 20)
    one = before_and_after("a", values, values)
    assert one.edges == (-0.5, 0.5, 1.5, 2.5, 3.5, 4.5)
    assert one.before == one.after == (20.0,) * 5


def test_a_column_of_nearly_one_value_is_drawn():
    values = np.repeat(3.0, 200)
    values[-1] = 4.0  # so that the outermost quantile lies between the two
    one = before_and_after("a", values, values)
    assert one.edges == (2.5, 3.5, 4.5)
    assert one.before == (99.5, 0.5)
    table = pa.table({"a": values, "b": np.arange(200.0)})
    assert render(build(ma.protect(table, 5))).count("<svg") >= 2
