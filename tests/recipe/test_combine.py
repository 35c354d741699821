"""One table says what cannot be combined: each of its rows is reached, and refuses what it says."""

import re

import pytest

from microagg.errors import InvalidParameter
from microagg.recipe import Recipe
from microagg.recipe.combine import OBEYED, REFUSED, Combination, Refusal, refuse
from tests.beyond.test_choices import REFUSED as BEYOND

PSEUDONYM = {"unit": "home", "unit_release": "pseudonym"}
WEIGHT = {"weight": "w"}

OF_PARTS = {
    "rest": {"rest": "drop"},
    "household": {"household": ["size"]},
    "wave": {"wave": "year"},
    "unit_order": {"unit_order": ["age"]},
    "unit_order, wave": {"unit_release": "pseudonym", "wave": "year", "unit_order": ["age"]},
    "l_columns": {"l_columns": ["ill"]},
    "t_columns": {"t_columns": ["ill"]},
    "diversity": {"diversity": "merge"},
    "count": {"select": ["age"], "count": 2},
    "measure": {"select": ["age"], "measure": "vi"},
    "width": {"select": ["age"], "width": 5},
    "bins": {"select": ["age"], "bins": 5},
    "rule": {"select": ["age"], "rule": "cover"},
    "choose": {"select": ["age"], "choose": "lowest-loss"},
    "choose, rule": {"select": "emad", "rule": "every", "choose": "first"},
    "max_block": {"blocks": "none", "max_block": 100},
    "block_columns": {"blocks": "none", "block_columns": ["age"]},
    "block_intervals": {"blocks": "median", "block_intervals": "count"},
    "block_fusion": {"blocks": "median", "block_fusion": "limited"},
    "block_columns, univariate": {"blocks": "univariate", "block_columns": ["age", "wage"]},
    "on": {"on": "home"},
}
"""Choices of one part, which are refused as soon as the part is made."""


class Cut:
    """Blocks that are an object."""

    def fit_predict(self, X):
        return [0] * len(X)


OF_OBJECTS = {
    keyword: {"blocks": Cut(), keyword: value}
    for keyword, value in {
        "max_block": 100,
        "block_columns": ["age"],
        "block_intervals": "count",
        "block_fusion": "limited",
    }.items()
}

OF_RUNS = [
    ("key", {"households": "h.csv", "on": "home", "unit": "house"}, {}),
    ("join", {"households": "h.csv", "unit": "home"}, {}),
    ("weights", {"weight_release": "group"}, {}),
    ("weights", {"weight_cap": True}, {}),
    ("weights", {"calibrate": ["sex"]}, {}),
    ("weights", {"weighted": True}, {}),
    ("weights", {**WEIGHT, "weight_cap": True, "weighted": False}, {}),
    ("weights", {**WEIGHT, "calibrate": ["sex"]}, {}),
    ("weights", {**WEIGHT, "weight_release": "group", "per_column": True}, {}),
    ("method", {"select": ["age"]}, {"method": "univariate", "masked": ["age"]}),
    ("method", {"method": "univariate"}, {"method": "univariate", "masked": ["age", "wage"]}),
    ("method", {"per_column": True}, {"method": "mdav", "masked": ["age", "wage"]}),
    ("method", {"per_column": True, "refine": "fast"}, {"method": "univariate", "masked": ["age", "wage"]}),
    ("unit", {"unit_release": "pseudonym"}, {}),
    ("whole units", {**PSEUDONYM, "moments": "covariance"}, {}),
    ("whole units", {**PSEUDONYM, "missing": "drop"}, {}),
    ("whole units", {**PSEUDONYM, "select": ["age"]}, {}),
    ("whole units", {**PSEUDONYM, "method": "univariate"}, {"method": "univariate", "masked": ["age"]}),
    ("whole units", {**PSEUDONYM, "blocks": "orthants", "block_columns": ["age"]}, {}),
    ("whole units", {**PSEUDONYM, "unit_share": "any"}, {}),
    *(("confidential", demand, {}) for demand in ({"l": 2}, {"entropy_l": 1.5}, {"recursive_l": [2, 2]}, {"t": 0.2})),
    ("demand", {"confidential": ["ill"], "l": 2, "per_column": True}, {}),
    ("demand", {"confidential": ["ill"], "t": 0.2, **PSEUDONYM}, {}),
    ("moments", {"moments_clip": True}, {}),
    ("moments", {"moments": "covariance", "per_column": True}, {}),
    ("blocks of units", {"unit": "home", "blocks": "orthants", "block_fusion": "limited"}, {}),
    ("blocks", {"blocks": "median"}, {"method": "univariate", "masked": ["age"]}),
    (
        "once",
        {"method": "projection"},
        {"method": "projection", "options": {"axis": "age"}, "masked": ["age"], "once": 1},
    ),
    ("once", {"blocks": "orthants", "block_columns": ["age"]}, {"masked": ["age"], "once": 1}),
    ("once", {"moments": "covariance"}, {"masked": ["age"], "once": 1}),
    ("once", {"moments": "variance"}, {"masked": ["age"], "once": 1, "crossing": True}),
    ("engine", {}, {"engine": "disk", "scheduler": "tcp://127.0.0.1:1"}),
    ("engine", {}, {"engine": "memory", "scratch": "s"}),
    ("beyond memory", {"households": "h.csv", "unit": "home"}, {"engine": "disk"}),
    ("beyond memory", {}, {"engine": "disk"}),
    ("beyond memory", {"quasi": ["age"]}, {"engine": "disk", "database": True}),
    ("beyond memory", {"quasi": ["age"]}, {"engine": "disk"}),
    ("file", {"method": "emad"}, {"engine": "disk"}),
    ("file", {"method": "ama"}, {"engine": "disk"}),
    ("file", {"unit": "home", "unit_constant": "once"}, {"engine": "disk"}),
    ("file", {"blocks": "none"}, {"engine": "disk"}),
    ("file", {"method": "univariate"}, {"engine": "disk", "method": "univariate", "masked": ["age"]}),
    *(("file", chosen, {"engine": "disk"}) for chosen in BEYOND.values()),
    ("several files", {}, {"keyword": "quasi"}),
]


@pytest.fixture
def fired(monkeypatch):
    """Return the rows whose error was made."""
    rows, error = [], Refusal.error

    def recorded(self, facts):
        rows.append(self)
        return error(self, facts)

    monkeypatch.setattr(Refusal, "error", recorded)
    return rows


def keyword_of(choice):
    return choice.partition("=")[0]


def test_every_row_of_a_part_refuses_what_it_says(fired):
    reached = set()
    for name, chosen in [*OF_PARTS.items(), *OF_OBJECTS.items()]:
        fired.clear()
        with pytest.raises(InvalidParameter) as caught:
            Recipe.of(3, **chosen)
        assert [keyword_of(row.choice) for row in fired] == [caught.value.parameter] == [name.partition(",")[0]]
        reached |= set(fired)
    with pytest.raises(InvalidParameter, match="nothing to choose"):
        Recipe.parse('k = 3\n[select]\nby = "emad"\ncolumns = ["age"]\n')
    reached |= set(fired)
    of_parts = REFUSED.keys() - {place for place, *_ in OF_RUNS}
    assert {row for place in of_parts for row in REFUSED[place]} == reached


def test_every_row_of_a_run_refuses_what_it_says(fired):
    reached = set()
    for place, chosen, known in OF_RUNS:
        fired.clear()
        with pytest.raises(InvalidParameter) as caught:
            refuse(place, Combination(recipe=Recipe.of(3, **chosen), **known))
        (row,) = fired
        assert row in REFUSED[place]
        assert caught.value.parameter == (row.blamed or keyword_of(row.choice)).format_map({"keyword": "quasi"})
        assert not re.search(r"[{}]", str(caught.value))
        reached.add(row)
    missed = {row.choice for place, *_ in OF_RUNS for row in REFUSED[place]} - {row.choice for row in reached}
    # Each of these needs another choice, which is refused before it.
    assert missed < {keyword for keyword, chosen in BEYOND.items() if len(chosen) > 1}


def test_what_can_be_combined_is_not_refused():
    for place in REFUSED:
        refuse(place, Combination(recipe=Recipe.of(3, quasi=["age"], same_order=True), keyword="delimiter"))
    with pytest.raises(KeyError):
        refuse("no such place", Combination())


def test_the_documentation_shows_every_row():
    from docs._ext.choices import refusals

    shown = "\n".join(refusals())
    for row in (row for rows in REFUSED.values() for row in rows if row.choice != "{keyword}"):
        assert (row.named and "⟪" not in row.named and row.named in shown) or "``" + keyword_of(row.choice) in shown
    assert "⟪" not in shown


def test_what_files_beyond_memory_obey_is_not_refused():
    refused = {row.choice for row in REFUSED["file"] if "=" not in row.choice}
    assert refused & OBEYED <= {"blocks", "method"}  # some of their words are obeyed
