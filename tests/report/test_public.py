"""The public report tells no loss that one group of records could have made, nor where the original is kept."""

import re

import numpy as np
import pyarrow as pa
import pytest

import microagg as ma
from microagg.judge.public import NOT_TOLD, told_columns
from microagg.judge.run import run_of
from microagg.judge.topics.loss import loss_word
from microagg.report import SourceFacts, build, render, to_json

K = 5


def words_of(release):
    return {one.column: one.word for one in build(release, public=True).loss.columns}


def file_with_award(award, n=2000):
    """One group of five has awards, which do not form the groups; nobody else has any."""
    rng = np.random.default_rng(0)
    wealth = np.sort(rng.random(n))
    awards = np.zeros(n)
    awards[-5:] = award
    return pa.table({"wealth": wealth, "size": wealth + rng.normal(scale=0.01, size=n), "award": awards})


def test_an_outlier_cannot_be_read_off_a_loss():
    """Five awards of 100 are released as one of 500 is, and the page must be the same for both."""
    even = ma.protect(file_with_award([100.0] * 5), K, select=["wealth"])
    one = ma.protect(file_with_award([0.0, 0.0, 500.0, 0.0, 0.0]), K, select=["wealth"])
    assert even.data.equals(one.data)
    assert loss_word(even.information.per_column["award"]) == "small"
    assert loss_word(one.information.per_column["award"]) == "large"  # what would have told them apart
    assert to_json(build(even, public=True)) == to_json(build(one, public=True))
    assert words_of(even) == {"wealth": "small", "size": "small", "award": NOT_TOLD}


def file_with_wage(wage, n=3000):
    """Nobody earns anything but a tenth, and one person besides, whose group releases the spike."""
    rng = np.random.default_rng(0)
    age = np.sort(rng.integers(16, 90, n)).astype(float)
    wages = np.where(age > 80, 0.0, np.round(1000 + 20 * age))
    wages[-1] = wage
    return pa.table({"age": age, "wage": wages})


def test_a_person_behind_a_spike_cannot_be_read_off_a_loss():
    releases = [
        ma.protect(file_with_wage(wage), K, select=["age"], kinds={"wage": {"spike": 0}}) for wage in (0.0, 1e4, 1e7)
    ]
    assert len({str(one.data) for one in releases}) == 1
    words = [loss_word(one.information.per_column["wage"]) for one in releases]
    assert words[0] == "small" != words[2]  # what would have told them apart
    pages = [to_json(build(one, public=True)) for one in releases]
    assert pages[0] == pages[1] == pages[2]
    assert [words_of(one)["wage"] for one in releases] == [NOT_TOLD] * 3
    exact = ma.protect(file_with_wage(0.0), K, select=["age"], kinds={"wage": {"spike": 0}}, spike_totals="exact")
    assert words_of(exact)["wage"] == "small"  # there the mean is released, and tells of everybody


def test_what_is_told_is_true_and_one_group_could_not_have_made_it():
    table = ma.datasets.survey(6000, seed=0).select(["age", "hours", "wage", "capital"])
    release = ma.protect(table, 3)
    told = told_columns(release, run_of(release, public=True))
    assert told.any()
    assert not told[3]  # a few hold nearly all capital
    for (name, lost), may in zip(release.information.per_column.items(), told, strict=True):
        assert words_of(release)[name] == (loss_word(lost) if may else NOT_TOLD)
    masked = release.pair.masked.matrix()
    for j, may in enumerate(told):
        values, mean = masked[j], masked[j].mean()
        worst = 0.0
        for group in range(release.n_groups):
            rows = np.flatnonzero(release.groups == group)
            original = values.copy()
            original[rows] = mean
            original[rows[0]] = mean + rows.size * (values[rows[0]] - mean)  # the group's mean stays
            assert original[rows].mean() == pytest.approx(values[rows[0]])
            squares = ((original - values) ** 2).sum(), ((original - original.mean()) ** 2).sum()
            worst = max(worst, 100 * squares[0] / squares[1])
        assert (loss_word(worst) == "small") == may


def test_the_loss_overall_is_told_only_where_that_of_every_column_is():
    release = ma.protect(file_with_award([0.0, 0.0, 500.0, 0.0, 0.0]), K, select=["wealth"])
    assert loss_word(release.information.percent) == "large"  # by the award
    found = build(release, public=True)
    assert found.loss.word == NOT_TOLD  # "small", of two columns, would contradict the page inside
    lost = next(line.value for line in found.verdict.lines if line.name == "Lost")
    assert lost.startswith(
        "This page does not show the loss of information as a whole: in some of the columns a single group"
    )
    assert "This page shows the loss of 2 columns." in lost
    assert "it might then reveal an extreme value of that group" in render(found)


def test_inside_and_outside_the_loss_overall_is_the_same_or_not_told():
    table = ma.datasets.survey(6000, seed=0)
    for names in (["age", "hours"], ["age", "hours", "wage", "capital"], ["age", "region"]):
        release = ma.protect(table.select(names), K)
        inside, outside = build(release), build(release, public=True)
        assert outside.loss.word in (inside.loss.word, NOT_TOLD)
        assert (outside.loss.word == NOT_TOLD) == any(one.word == NOT_TOLD for one in outside.loss.columns)
        assert all(
            one.word in (NOT_TOLD, next(other.word for other in inside.loss.columns if other.column == one.column))
            for one in outside.loss.columns
        )


def test_correlations_are_told_in_coarse_steps_and_of_told_columns_alone():
    one = ma.protect(file_with_award([0.0, 0.0, 500.0, 0.0, 0.0]), K, select=["wealth"])
    lost = next(line.value for line in build(one, public=True).verdict.lines if line.name == "Lost")
    assert "Correlations changed by less than 0.1 on average." in lost
    alone = ma.protect(file_with_award([100.0] * 5).select(["wealth", "award"]), K, select=["wealth"])
    assert "orrelation" not in to_json(build(alone, public=True)).split('"correlations"')[0]


@pytest.mark.parametrize(
    ("table", "options"),
    [
        (ma.datasets.survey(300, seed=0).select(["age", "income"]), {}),  # too few groups for none to weigh much
        (pa.table({"a": np.ones(500), "b": np.zeros(500)}), {}),  # "small" would tell that all are alike
        (ma.datasets.survey(6000, seed=0).select(["age", "hours"]), {"aggregate": "median"}),  # hides any outlier
    ],
)
def test_where_nothing_may_be_told_the_page_says_so(table, options):
    found = build(ma.protect(table, K, **options), public=True)
    assert {one.word for one in found.loss.columns} == {NOT_TOLD}
    assert found.loss.word == NOT_TOLD
    lost = next(line.value for line in found.verdict.lines if line.name == "Lost")
    assert "This page does not show the loss of information as a whole" in lost
    assert "Correlations" not in lost
    assert not re.search(r"<td>(small|moderate|large)</td>", render(found))


def test_columns_with_groups_of_their_own_are_judged_by_those():
    table = file_with_award(np.arange(1.0, 6.0) * 50, n=6000)
    release = ma.protect(table, K, method="univariate", per_column=True)
    assert release.groups.ndim == 2
    assert words_of(release) == {"wealth": "small", "size": "small", "award": NOT_TOLD}


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("postgresql://db.hidden.example:5433/files?table=health.persons", "persons"),
        ("duckdb:///hidden/files.db?table=persons", "persons"),
        ("postgresql://ann:secret@db.hidden.example/files", "Masked microdata"),
        ("survey.csv", "survey.csv"),
    ],
)
def test_a_database_is_called_by_its_table(name, title):
    release = ma.protect(ma.datasets.survey(100, seed=0).select(["age", "income"]), K)
    for public in (False, True):
        found = build(release, source=SourceFacts(name, "a database"), public=public)
        assert found.title == title
        if public:
            assert not re.search("hidden|5433|secret|health", render(found))
