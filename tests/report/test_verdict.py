"""The verdict tells the whole truth: who is alone, what was lost on the way, and which columns were misread."""

import re

import numpy as np
import pyarrow as pa
import pytest

import microagg as ma
from microagg.judge.text import at_most, points
from microagg.report import build, render, to_json

RNG = np.random.default_rng(0)
N = 600


def findings(release, **written):
    return {one.topic: one for one in build(release, **written).verdict.findings}


def lines(release):
    return {one.name: one.value for one in build(release).verdict.lines}


def test_all_that_is_released_counts_together():
    """Masked values alone, and kept ones alone, single nobody out; both together do."""
    table = pa.table({"a": RNG.normal(size=N), "b": RNG.normal(size=N), "sex": ["f", "m"] * (N // 2)})
    release = ma.protect(table, 5, keep=["sex"])
    rows = [tuple(row) for row in zip(*(release.data[name].to_pylist() for name in ("a", "b", "sex")), strict=True)]
    alone = sum(rows.count(row) == 1 for row in rows)
    assert 0 < alone < N
    verdict = build(release).verdict
    share = f"{alone} of 600 records ({100 * alone / N:.1f}".removesuffix(".0") + "\u00a0%)"
    assert verdict.headline.endswith(f"But {share} are unique in all released columns together.")
    assert (verdict.state, verdict.alone_percent) == ("look", 100 * alone / N)
    found = findings(release)["alone"]
    assert (found.state, found.short) == ("look", f"{share} are unique in all released columns together.")
    assert found.text in verdict.look_first
    public = build(release, public=True)
    assert (public.verdict.findings, public.verdict.alone_percent) == ((), None)
    assert str(alone) not in public.verdict.headline


@pytest.mark.parametrize("role", ["strata", "confidential", "weight"])
def test_strata_confidential_columns_and_weights_count_too(role):
    table = pa.table({"a": RNG.normal(size=N), "x": 1 + np.arange(N) % 2, "y": np.arange(N) // 2 % 20})
    others = {"keep": ["y"], role: "x" if role == "weight" else ["x"]}
    release = ma.protect(table, 5, **others)
    rows = [tuple(row) for row in zip(*(release.data[name].to_pylist() for name in "axy"), strict=True)]
    found = build(release).verdict.alone_percent
    assert found == pytest.approx(100 * sum(rows.count(row) == 1 for row in rows) / N)
    assert found > 0


def test_a_column_of_lists_cannot_be_counted_and_the_others_are():
    table = pa.table({"a": np.arange(60.0), "l": [[1]] * 60, "tag": np.arange(60)})
    assert build(ma.protect(table, 5, quasi=["a"], keep=["l", "tag"])).verdict.alone_percent == 100


@pytest.mark.parametrize("strata", [[], ["half"]])
def test_one_group_of_most_of_a_stratum_is_told_where_units_are(strata):
    rng = np.random.default_rng(0)
    firm = np.concatenate([np.zeros(195, dtype=int), 1 + np.arange(805) // 3])
    far = np.where(firm == 0, 50.0, 0.0)
    table = pa.table({"firm": firm, "a": rng.normal(size=1000) + far, "b": rng.normal(size=1000) + far})
    other = pa.table({"firm": 1000 + np.arange(300), "a": rng.normal(size=300), "b": rng.normal(size=300)})
    if strata:
        table, other = (
            one.append_column("half", pa.array([name] * len(one))) for one, name in ((table, "x"), (other, "y"))
        )
    table = pa.concat_tables([table, other]) if strata else table
    release = ma.protect(table, 5, unit="firm", strata=strata)
    most = max(release.groups.tolist().count(group) for group in range(release.n_groups))
    assert most > 500
    found, verdict = findings(release)["large group"], build(release).verdict
    whole = "its stratum" if strata else "all records"
    assert found.short == f"one group holds {most} records, {most / 10:.1f}".removesuffix(".0") + f"\u00a0% of {whole}."
    assert "Accept groups in which one unit has most of the rows (unit share any)" in found.text
    assert found.short[1:-1] in verdict.headline
    assert verdict.state == "look"
    public = build(release, public=True)
    assert "one group holds" not in to_json(public).lower()
    for choices in ({"method": "cbfs"}, {"unit_share": "any"}):
        assert "large group" not in findings(ma.protect(table, 5, unit="firm", strata=strata, **choices))


def kept_by_medians(before, after, groups, spike=None):
    """Count the cells that a median left as they were, in groups whose members differ."""
    return sum(
        was == now != spike and len({other for other, its in zip(before, groups, strict=True) if its == group}) > 1
        for was, now, group in zip(before, after, groups, strict=True)
    )


@pytest.mark.parametrize("per_column", [False, True])
def test_medians_that_are_somebodys_own_cell_are_counted(per_column):
    amount = np.where(RNG.random(300) < 0.4, 0.0, RNG.lognormal(8, 1, 300).round())
    table = pa.table({"a": RNG.normal(size=300), "b": RNG.integers(0, 9, 300), "amount": amount})
    choices = {"method": "univariate", "per_column": True} if per_column else {"kinds": {"amount": "semi"}}
    release = ma.protect(table, 3, aggregate="median", rounding="none", **choices)
    labels = release.groups if per_column else np.stack([release.groups] * 3, axis=1)
    words = []
    for j, name in enumerate(table.column_names):
        before, after = table[name].to_pylist(), release.data[name].to_pylist()
        own = kept_by_medians(before, after, labels[:, j].tolist(), 0.0 if name in choices.get("kinds", {}) else None)
        words += [f"“{name}” ({own / 3:.1f}".removesuffix(".0") + "\u00a0%)"] if own else []
    assert len(words) >= 2
    found, verdict = findings(release)["medians"], build(release).verdict
    assert sorted(found.short.removesuffix(".").split(": ")[1].split(", ")) == sorted(words)
    assert (found.state, verdict.state) == ("look", "look")
    assert found.text in verdict.look_first
    public = build(release, public=True)
    assert not any(word in to_json(public) for word in words)
    assert "medians" in {one.topic for one in public.checklist}
    assert "medians" not in findings(ma.protect(table, 3, **choices))


def test_medians_of_levels_and_categories_need_no_word():
    table = pa.table({"a": RNG.choice(["x", "y", "z"], N), "b": RNG.choice(["x", "y", "z"], N)})
    model = build(ma.protect(table, 3, aggregate="median", kinds={"b": "nominal"}))
    assert "medians" not in {one.topic for one in (*model.verdict.findings, *model.checklist)}


def with_zeros(share=0.5):
    amounts = np.where(RNG.random(N) < share, 0.0, RNG.lognormal(8, 1, N).round())
    return pa.table({"a": RNG.normal(size=N), "b": RNG.normal(size=N), "amount": amounts})


def test_zeros_that_are_averaged_away_are_in_the_headline():
    table = with_zeros()
    release = ma.protect(table, 5)
    before, after = (100 * np.mean(np.asarray(one["amount"]) == 0) for one in (table, release.data))
    assert after < before - 10
    model = build(release)
    assert "Zeros are lost in “amount”." in model.verdict.headline
    assert model.verdict.state == "look"
    found = findings(release)["zeros"]
    assert "Declare such columns semi-continuous" in found.text
    for share in (before, after):
        assert f"{share:.1f}".removesuffix(".0") in found.short
    semi = ma.protect(table, 5, kinds={"amount": "semi"}, select=["amount"])
    assert "zeros" not in findings(semi)
    assert lines(semi)["Values"].startswith("In percent of all records: zeros of “amount”")
    assert "zeros" not in to_json(build(release, public=True)).lower()


def test_zeros_that_were_added_are_told():
    table = with_zeros(0.85)
    release = ma.protect(table, 6, kinds={"amount": "semi"}, select=["a"])  # one or two of six are off the spike
    before, after = (100 * np.mean(np.asarray(one["amount"]) == 0) for one in (table, release.data))
    assert after > before + 2
    found = findings(release)
    assert found["spikes"].short.startswith("spikes added: “amount”")
    assert found["totals"].state == "look"
    moved = 100 * (np.sum(release.data["amount"]) / np.sum(table["amount"]) - 1)
    assert f"“amount” −{abs(moved):.2f}\u00a0%" in found["totals"].short


def test_codes_masked_as_numbers_are_in_the_headline():
    codes = RNG.choice([110, 121, 253, 310, 741], N)
    table = pa.table({"a": RNG.normal(size=N), "b": RNG.normal(size=N), "job": codes})
    release = ma.protect(table, 5)
    assert "“job” looks like codes and was masked as a number." in build(release).verdict.headline
    found = findings(release)["codes"]
    nobody = 100 * np.mean(~np.isin(np.asarray(release.data["job"]), codes))
    assert f"In {nobody:.1f}".removesuffix(".0") in found.short
    assert "declare the column nominal" in found.text
    right = ma.protect(table, 5, kinds={"job": "nominal"})
    assert "codes" not in findings(right)
    assert "codes" not in build(right).verdict.headline


@pytest.mark.parametrize(("lacking", "state"), [(3, "note"), (60, "look")])
def test_records_left_out_are_told(lacking, state):
    table = pa.table({"a": [None] * lacking + list(RNG.normal(size=N - lacking)), "b": RNG.normal(size=N)})
    release = ma.protect(table, 5, missing="drop")
    found = findings(release)["records left out"]
    assert found.state == state
    assert found.short.startswith(f"{lacking} records of 600 (")
    headline = build(release).verdict.headline
    said = f"{lacking} records are left out (10\u00a0% of the file), which changes totals by"
    assert (said in headline) == (state == "look")


def test_cells_that_were_filled_or_blanked_are_told_inside_alone():
    wage = RNG.normal(size=N).tolist()
    for row in range(0, N, 7):
        wage[row] = None
    table = pa.table({"a": RNG.normal(size=N), "wage": pa.array(wage)})
    release = ma.protect(table, 5, missing="state", select=["a"])
    filled, blanked = release.missing.filled.get("wage", 0), release.missing.blanked.get("wage", 0)
    assert filled + blanked > 6
    found = findings(release)["missing values"]
    assert found.state == "look"
    assert found.short == f"{filled} empty cells were filled, and {blanked} values were made empty."
    facts = {one.name: one for one in build(release).done}
    assert facts["missing values"].value == "a value like others"
    assert f"{filled} cells were filled, and {blanked} values were made empty." in facts["missing values"].why
    empty = next(one for one in build(release).checklist if one.topic == "empty cells")
    assert (
        f"{blanked} of them had a value before. {filled} cells that were empty before have a value now." in empty.text
    )
    public = build(release, public=True)
    told = {one.name: one for one in public.done}["missing values"].why + " ".join(one.text for one in public.checklist)
    assert not any(character.isdigit() for character in told)
    assert "filled" not in told
    assert "Masked columns have some empty cells." in told


def test_patterns_and_records_that_had_to_move_are_told():
    first, second = RNG.normal(size=N).tolist(), RNG.normal(size=N).tolist()
    first[:50], second[10:12] = [None] * 50, [None] * 2
    table = pa.table({"first": pa.array(first), "second": pa.array(second), "c": RNG.normal(size=N)})
    release = ma.protect(table, 5)
    assert (release.missing.patterns, release.missing.moved) == (3, 2)
    why = {one.name: one for one in build(release).done}["missing values"].why
    assert "3 patterns; 2 records with a pattern of fewer than k records joined another pattern." in why
    whole = ma.protect(table.drop_columns(["second"]), 5)
    why = {one.name: one for one in build(whole).done}["missing values"].why
    assert why.endswith(
        "2 patterns; no record had to join another pattern. No empty cell was filled, and no value was made empty."
    )
    assert "No empty cell was filled, and no value was made empty." in lines(whole)["Values"]
    assert "pattern" not in {one.name: one for one in build(whole, public=True).done}["missing values"].why


def test_how_far_rounding_moved_totals_is_told():
    rng = np.random.default_rng(3)
    table = pa.table({"age": rng.integers(1, 90, N), "b": rng.normal(size=N)})
    release = ma.protect(table, 5)
    moved = 100 * abs(release.rounded["age"].moved)
    assert moved > 0.01
    found = findings(release)["totals"]
    assert f"Rounding alone changed them by at most {moved:.2f}\u00a0%." in found.text
    fact = {one.name: one for one in build(release).done}["rounding"]
    assert fact.why.startswith("1: age; ")
    assert f"Totals changed by at most {moved:.2f}\u00a0%." in fact.why
    assert "changed" not in {one.name: one for one in build(release, public=True).done}["rounding"].why
    plain = {one.name: one for one in build(ma.protect(table, 5, rounding="none")).done}["rounding"]
    assert plain.value == "none"


def test_kinds_spikes_and_the_rule_for_categories_are_told():
    table = ma.datasets.households(300, seed=0).select(["sex", "education", "birth", "wage", "income"])
    options = {"kinds": {"wage": "semi"}, "spike": 2.0}
    facts = {one.name: one for one in build(ma.protect(table, 3, **options)).done}
    assert facts["kinds"].value == "1 number, 1 date, 1 ordinal, 1 nominal, 1 semi-continuous"
    assert "ordinal: education" in facts["kinds"].why
    for words in ("ordinal: the median level", "nominal: its most common category", "date: the mean, rounded"):
        assert words in facts["released"].why.lower()
    assert facts["spikes"].value == "wage (0)"
    assert "fewer than 3 members have another value" in facts["spikes"].why
    assert "counts 2 times as much as the amount" in facts["spikes"].why
    exact = build(ma.protect(table, 3, spike_totals="exact", nominal="draw", nominal_seed=9, **options))
    facts = {one.name: one for one in exact.done}
    assert "if all members have it" in facts["spikes"].why
    assert "a category drawn at random" in facts["released"].why
    assert facts["seed"].value == "secret"  # who knows it can work backwards from what was drawn


def test_what_became_of_each_column_is_told_in_its_own_terms():
    table = ma.datasets.households(300, seed=0).select(["sex", "education", "birth", "wage", "income"])
    release = ma.protect(table, 3, kinds={"wage": "semi"})
    model = build(release)
    rows = {one.column: one for one in model.loss.columns}
    assert {name: row.percent for name, row in rows.items()} == dict(release.information.per_column)
    assert "of the records have another category" in rows["sex"].own
    assert "of the scale on average" in rows["education"].own
    (spike,) = (one for one in model.loss.spikes if one.column == "wage")
    was, now = (np.array(one["wage"].to_pylist(), dtype=float) for one in (table, release.data))
    assert (spike.kind, spike.value) == ("semi", "0")
    assert (spike.before, spike.after) == pytest.approx((100 * np.mean(was == 0), 100 * np.mean(now == 0)))
    before, after = (np.array(one["sex"].to_pylist()) for one in (table, release.data))
    assert rows["sex"].change.mismatches == pytest.approx(100 * np.mean(before != after))
    page = render(model)
    assert "The same columns, by their kind." in page
    assert model.loss.meaning == "of the information that would be lost if all records got the same values"
    plain = build(ma.protect(pa.table({"a": RNG.normal(size=60)}), 3))
    assert "The same columns, by their kind." not in render(plain)
    public = build(release, public=True)
    assert public.loss.spikes == ()
    assert all(one.change is None and one.own == "" and one.step is None for one in public.loss.columns)
    assert {one.column: one.kind for one in public.loss.columns} == {name: row.kind for name, row in rows.items()}


def test_the_gravest_comes_first():
    frame = with_zeros().to_pandas()
    release = ma.protect(frame, 5)
    release.data.loc[0, "a"] += 1.0
    found = build(release).verdict
    assert [one.state for one in found.findings] == sorted(
        (one.state for one in found.findings), key=("bad", "look", "note").index
    )
    assert found.findings[0].state == found.state == "bad"
    assert len(found.look_first) <= 10
    assert all(one.text and one.short for one in found.findings)


def test_of_many_spikes_the_verdict_names_three_and_a_table_has_all():
    draw = np.random.default_rng(3)
    amounts = {f"a{j}": np.where(draw.random(120) < 0.2 + 0.04 * j, 0, draw.integers(1, 99, 120)) for j in range(17)}
    release = ma.protect(pa.table(amounts), 4, kinds=dict.fromkeys(amounts, "semi"))
    model = build(release)
    moved = {
        name: 100 * abs(np.mean(release.data[name].to_numpy() == 0) - np.mean(before == 0))
        for name, before in amounts.items()
    }
    said = next(line.value for line in model.verdict.lines if line.name == "Values")
    named = re.findall(r"zeros of “(a\d+)”", said)
    assert [moved[name] for name in named] == pytest.approx(sorted(moved.values(), reverse=True)[:3])
    assert "; the table of spikes has 14 more columns." in said
    assert {one.column: abs(one.change) for one in model.loss.spikes} == pytest.approx(moved)
    assert "<caption>Spikes: " in render(model)
    few = build(ma.protect(pa.table(amounts).select(["a0", "a1"]), 4, kinds={"a0": "semi", "a1": "semi"}))
    said = next(line.value for line in few.verdict.lines if line.name == "Values")
    assert said.count("zeros of") == 2
    assert "more column" not in said


def hand_made(n=1200):
    """What inspect would not have averaged, beside a quantity."""
    rng = np.random.default_rng(0)
    return {
        "age": rng.integers(16, 90, n),
        "number": rng.permutation(n) + 1000,
        "household": np.sort(rng.integers(0, n // 3, n)) + 50_000,
        "area": np.sort(rng.integers(1, 9, n)),
        "factor": rng.choice(np.round(rng.gamma(9.0, 30.0, 40), 9), n),
        "job": rng.choice([1, 2, 3, 4, 5, 6, 7], n),
    }


def told_otherwise(release):
    return [one for one in build(release).verdict.findings if one.topic == "no quantities"]


def test_numberings_weights_and_codes_that_were_averaged_are_told():
    table = pa.table(hand_made())
    release = ma.protect(table, 5)
    (found,) = told_otherwise(release)
    assert found.state == "look"
    for words in (
        "“number” (its values number the records",
        "“factor” (",
        "a sampling weight?",
        "“job” (only 7 different",
    ):
        assert words in found.text
    assert "age" not in found.text
    assert build(release).verdict.state == "look"
    assert not told_otherwise(ma.protect(table, 5, kinds=dict.fromkeys(table.column_names, "number")))
    assert not told_otherwise(ma.protect(table, 5, quasi=["age"], rest="drop"))
    assert not build(release, public=True).verdict.findings


def test_groups_with_one_amount_off_the_spike_are_counted():
    rng = np.random.default_rng(0)
    wage = np.where(rng.random(600) < 0.1, rng.integers(100, 900, 600), 0)
    table = pa.table({"age": rng.integers(16, 90, 600), "wage": wage})
    choices = {"kinds": {"wage": {"spike": 0}}, "select": ["age"]}
    release = ma.protect(table, 5, spike_totals="exact", **choices)
    single = sum(np.count_nonzero(wage[release.groups == group]) == 1 for group in range(release.n_groups))
    (found,) = [one for one in build(release).verdict.findings if one.topic == "single amounts"]
    assert single > 1
    assert f"“wage” ({single} groups)" in found.text
    assert found.state == "look"
    safe = build(ma.protect(table, 5, **choices)).verdict.findings
    assert not [one for one in safe if one.topic == "single amounts"]


def test_codes_for_missing_values_that_do_nothing_are_told():
    table = ma.datasets.survey(300, seed=0).select(["age", "income", "region"])
    table = table.set_column(
        0, "age", pa.array([99 if i < 9 else age for i, age in enumerate(table["age"].to_pylist())])
    )
    codes = {"age": [99, 98], "region": ["x"]}
    release = ma.protect(table, 5, strata=["region"], missing_codes=codes)
    found = [one.short for one in build(release).verdict.findings if one.topic == "codes for missing values"]
    assert found == [
        "no record has these codes for missing values: “age” (98).",
        "codes for missing values of “region” are not used: the column is not masked.",
    ]
    used = ma.protect(table, 5, strata=["region"], missing_codes={"age": [99]})
    assert "codes for missing values" not in {one.topic for one in build(used).verdict.findings}


def test_categories_that_are_whole_numbers_are_drawn_as_they_are_released():
    rng = np.random.default_rng(0)
    table = pa.table({"age": rng.choice([14.0, 15.0, 16.5], 300), "x": rng.random(300)})
    model = build(ma.protect(table, 5, kinds={"age": "nominal"}))
    (drawn,) = [one for one in model.distributions if one.column == "age"]
    assert {bar.label for bar in drawn.bars} == {"14", "15", "16.5"}


def test_one_total_reads_the_same_in_a_sentence_and_in_a_table():
    for value in (0.0051, 0.0074, 0.0099, 0.0101, 0.0149):
        assert at_most(value) == "at most 0.01\u00a0%"
        assert points(value) == "+0.01"
    assert at_most(0.004) == "less than 0.01\u00a0%"
    assert points(0.004) == "0"
