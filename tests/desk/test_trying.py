"""What one try gives in figures, and how exposed records are: as counted by hand."""

from collections import Counter

import pytest

import microagg as ma
from microagg.jobs import masking
from microagg.jobs.inspecting import exposure_of, looked_at
from microagg.jobs.opening import open_file, open_source
from microagg.jobs.trial import first_figures, full_figures
from microagg.recipe import Recipe


@pytest.fixture
def opened(tmp_path):
    ma.write(ma.datasets.survey(300, seed=0), tmp_path / "survey.csv")
    return open_file(str(tmp_path / "survey.csv"))


def test_the_figures_are_those_of_the_release(opened):
    release = masking.mask(opened)
    first = first_figures(release, 0.5)
    assert (first.k_reached, first.percent, first.facts) == (release.k_achieved, release.information.percent, {})
    assert first.bound == 100 / release.k_achieved
    assert first.columns[0].percent == max(release.information.per_column.values())
    judged = masking.judge(release)
    full = full_figures(judged, first)
    assert full.verdict == judged.report_model().verdict.headline
    assert full.facts["record_linkage_all_keys_percent"] == judged.risk.full_keys
    assert full.percent == first.percent


@pytest.mark.parametrize("strata", [[], ["region"], ["region", "education"]])
def test_exposure_is_counted_by_the_roles_that_are_chosen(tmp_path, strata):
    ma.write(ma.datasets.survey(300, seed=0), tmp_path / "survey.csv")
    recipe = Recipe.of(5, quasi=["age", "hours"], strata=strata, rest="drop")
    opened = open_file(str(tmp_path / "survey.csv"), recipe)
    found = exposure_of(opened)
    rows = opened.source.table.select(["age", "hours", *strata]).to_pylist()
    alike = Counter(tuple(row.values()) for row in rows)
    assert found.unique == sum(count == 1 for count in alike.values())
    assert found.incomplete == sum(None in row.values() for row in rows)
    sizes = Counter(tuple(row[name] for name in strata) for row in rows)
    assert found.smallest_stratum == (min(sizes.values()) if strata else None)
    assert [one.name for one in looked_at(opened).columns] == opened.source.table.column_names


def test_what_is_told_with_the_guesses_is_counted_by_what_was_asked_for(opened):
    told = []
    again = open_source(opened.address, opened.source, keep=["age"], progress=lambda *now: told.append(now[0] / now[1]))
    assert again.recipe.roles.keep != opened.recipe.roles.keep
    for one in (opened, again):
        assert one.inspection.exposure == exposure_of(one)
    assert again.inspection.unique < opened.inspection.unique
    assert told == sorted(told)
    assert len(set(told)) > len(opened.source.table.column_names)
