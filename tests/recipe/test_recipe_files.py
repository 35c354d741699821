"""Recipe files: what is written is read again, with its comments, and what was written before is too."""

import time
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import strategies as st

import microagg as ma
from microagg.algorithms.methods import BY_TREE, forming_method
from microagg.errors import InvalidParameter
from microagg.recipe import PARTS, Comments, Recipe, choices, options_of
from microagg.recipe._choice import (
    FLAG,
    LISTED,
    NAME,
    NAME_OR_NAMES,
    NAMES,
    NUMBER,
    NUMBERS,
    TEXT,
    WHOLE,
    WHOLES,
    WORD_OR_WHOLE,
    WORDS,
)
from tests.lengths import given_few
from tests.recipe import written

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
remarks = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)


VALID = {
    NAMES: st.lists(names, unique=True, max_size=4),
    NAME: names,
    NAME_OR_NAMES: names | st.lists(names, unique=True, max_size=4),
    TEXT: st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    FLAG: st.booleans(),
    NUMBER: st.floats(0, 1),
    NUMBERS: st.one_of(st.floats(0.1, 1e300), st.integers(1, 9), st.lists(st.floats(0.1, 9), min_size=1, max_size=4)),
    WHOLES: st.lists(st.integers(2, 99), min_size=1, max_size=4),
}


def by_column(values):
    return st.dictionaries(names, values, max_size=3)


numbers = st.integers(-99, 99) | st.sampled_from([0.5, -1.25, 1e20])
OF_COLUMNS = {
    "kinds": by_column(
        st.sampled_from(["number", "date", "ordinal", "nominal", "semi"])
        | st.lists(names, min_size=2, max_size=4, unique=True)
        | st.fixed_dictionaries({"spike": numbers})
    ),
    "importance": by_column(st.sampled_from([0, 1, 2.5])),
    "missing_codes": by_column(st.lists(numbers, min_size=1, max_size=3, unique=True)),
    "taxonomy": by_column(names | st.dictionaries(names, st.tuples(names, names), min_size=1, max_size=3)),
    "recode": by_column(st.sampled_from([{"width": 5}, {"top": 80, "bottom": -1.5}, {"join": {"x": ["a", "b"]}}])),
    "rounding": st.sampled_from(["auto", "none"]) | by_column(st.sampled_from([0.01, 1, 1000.0])),
}


ANALYSES = [
    {"kind": "mean", "columns": ["a b"], "by": ["c"], "weight": "w"},
    {"name": "Poor", "kind": "poverty", "columns": ["income"], "fraction": 0.5, "unit": "home"},
    {"kind": "quantile", "columns": ["x"], "p": [0.1, 0.9]},
]
RELATIONS = [{"holds": "a = b + 2 * 'c d'"}, {"holds": "x >= 0", "tolerance": 0.5}]


def values_of(choice):
    if choice.kind == LISTED:
        return st.lists(st.sampled_from(ANALYSES if choice.keyword == "analyses" else RELATIONS), max_size=3)
    if choice.keyword == "ts":
        return st.lists(st.floats(0.01, 1), min_size=1, max_size=4)
    if choice.kind in VALID:
        return VALID[choice.kind]
    if choice.keyword in OF_COLUMNS:
        return OF_COLUMNS[choice.keyword]
    whole = st.integers(choice.least or 0, choice.most or 2**60)
    if choice.kind == WHOLE:
        return whole
    words = st.sampled_from(choice.words)
    return {WORDS: st.lists(words, min_size=1, max_size=3), WORD_OR_WHOLE: st.one_of(words, whole)}.get(
        choice.kind, words
    )


demands = st.fixed_dictionaries(
    {
        "l": st.none() | st.integers(2, 9),
        "entropy_l": st.none() | st.floats(1.01, 9),
        "recursive_l": st.none() | st.tuples(st.floats(0.1, 9), st.integers(2, 9)),
        "t": st.none() | st.floats(0.01, 0.99),
        "l_columns": st.none() | VALID[NAMES],
        "t_columns": st.none() | VALID[NAMES],
        "diversity": st.sampled_from(["auto", "merge", "swap"]),
    }
).map(lambda drawn: _going_together(drawn))


def _going_together(drawn):
    """Leave out of a demand what asks nothing of any column."""
    counts = any(drawn[name] is not None for name in ("l", "entropy_l", "recursive_l"))
    wanted = {"l_columns": counts, "t_columns": drawn["t"] is not None}
    wanted["diversity"] = any(wanted.values())
    left = {name: value for name, value in drawn.items() if wanted.get(name, True) and value is not None}
    return dict.fromkeys(drawn) | {"l_columns": (), "t_columns": (), "diversity": "auto"} | left


@st.composite
def recipes(draw):
    """Draw any recipe that can be."""
    keywords = {}
    for table in PARTS:
        for keyword, (_, choice) in choices(table).items():
            if draw(st.integers(0, 2)) == 0:
                keywords[keyword] = draw(values_of(choice))
    keywords["k"] = draw(st.integers(2, 99))
    keywords["max_block"] = draw(st.none() | st.integers(2 * keywords["k"], 10**6))
    if keywords.get("blocks") == "none":
        keywords["max_block"] = None
    if keywords.get("quasi") is None:
        keywords.pop("rest", None)
    if keywords.get("unit_release") != "pseudonym":
        for name in ("household", "wave", "unit_order"):
            keywords.pop(name, None)
    if keywords.get("wave") is not None:
        keywords.pop("unit_order", None)
    keywords |= draw(demands)
    if keywords.get("households") is None:
        keywords.pop("on", None)
    if draw(st.booleans()):
        keywords["select"] = draw(st.none() | VALID[NAMES])
    way = keywords.get("select")
    of_tree = ("count", "measure", "width", "bins", "rule", "choose")
    for name in of_tree if not isinstance(way, str) else ():
        keywords.pop(name, None)
    if keywords.get("rule", "cover" if way == "ama" else "degree") == "cover":
        keywords.pop("count", None)
    if keywords.get("rule") == "every":
        keywords.pop("choose", None)
    method = keywords.get("method", "mdav")
    for name in ("select", *of_tree) if method in BY_TREE else ():
        keywords.pop(name, None)
    if keywords.get("blocks", "auto") in ("auto", "none"):
        keywords.pop("block_columns", None)
    if keywords.get("blocks") == "univariate":
        keywords["block_columns"] = keywords.get("block_columns", [])[:1] or None
    else:
        keywords.pop("block_intervals", None)
    if keywords.get("blocks") != "orthants":
        keywords.pop("block_fusion", None)
    known = forming_method(method)
    for option in options_of(method):
        if draw(st.booleans()):
            of_words = st.sampled_from(known.words[option]) if option in known.words else names
            keywords[option] = draw(st.floats(0, 9) if isinstance(known.defaults[option], float) else of_words)
    return Recipe.of(**keywords)


@given_few(50, 1000, recipes(), st.lists(remarks, max_size=9))
def test_what_is_written_is_read_again(recipe, said):
    places = [("k",), ("masking",), ("masking", "scale"), ("output", "same_order")]
    places += [("roles", "quasi", name) for name in recipe.roles.quasi or ()]
    beside = dict(zip(places, said, strict=False))
    over = {place: tuple(said) for place in places[::2] if said}
    recipe = replace(recipe, comments=Comments(over, beside, tuple(said), tuple(said[::-1])))
    text = recipe.text("a file")
    again = Recipe.parse(text)
    assert again == recipe
    assert again.digest == recipe.digest
    assert {place: again.comments.beside[place] for place in beside} == beside
    assert again.text("a file") == text


def test_a_file_holds_names_not_objects(tmp_path):
    for recipe in (
        Recipe.of(3, method=ma.MDAV()),
        Recipe.of(3, quasi=[1, 2]),
        Recipe.of(3, select=list),
    ):
        with pytest.raises(InvalidParameter, match="which a recipe file cannot"):
            recipe.write(tmp_path / "r.toml")
    assert not list(tmp_path.iterdir())


def test_a_recipe_is_written_whole_and_not_over_another(tmp_path):
    path = Recipe(3).write(tmp_path / "r.toml", made_for="d.csv")
    assert Recipe.read(path) == Recipe(3)
    with pytest.raises(InvalidParameter, match="overwrite=True"):
        Recipe(4).write(path)
    assert Recipe.read(Recipe(4).write(path, overwrite=True)).k == 4
    assert [one.name for one in tmp_path.iterdir()] == ["r.toml"]


def test_comments_stay_where_they_were_written(tmp_path):
    text = """# Signed by the committee.

# Agreed in March:
k = 7 # not 5
method = {name = "vmdav", gamma = 1.1} # clustered

[roles] # see the minutes
quasi = [ # all of them
    # the worst first
    "a#1", # "unique"
    "b", 'c', # coarse
] # no more
weight = "w" # of the sample
# nothing follows
"""
    recipe = Recipe.read(written(tmp_path, text))
    comments = recipe.comments
    assert comments.title == ("Signed by the committee.",)
    assert comments.end == ("nothing follows",)
    assert comments.over == {
        ("k",): ("Agreed in March:",),
        ("roles", "quasi"): ("no more",),
        ("roles", "quasi", "a#1"): ("the worst first",),
    }
    assert comments.beside == {
        ("k",): "not 5",
        ("method", "name"): "clustered",
        ("roles",): "see the minutes",
        ("roles", "quasi"): "all of them",
        ("roles", "quasi", "a#1"): '"unique"',
        ("roles", "quasi", "c"): "coarse",
        ("roles", "weight"): "of the sample",
    }
    once = recipe.text("data.csv")
    for remark in (
        "Signed by",
        "Agreed in",
        "not 5",
        "clustered",
        "minutes",
        "worst",
        "unique",
        "coarse",
        "nothing follows",
    ):
        assert once.count(remark) == 1
    again = Recipe.read(written(tmp_path, once))
    assert again == recipe
    assert again.text("data.csv") == once


def test_a_long_recipe_is_read_in_a_moment(tmp_path):
    columns = "".join(f'    "column {number}",  # {number} different values\n' for number in range(5000))
    began = time.monotonic()
    recipe = Recipe.read(written(tmp_path, f"k = 3\n[roles]\nquasi = [\n{columns}]\n"))
    assert recipe.comments.beside["roles", "quasi", "column 4999"] == "4999 different values"
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("name", ["a] {}", "a }}{}", "''' {}"], ids=["bracket", "brace", "quotes"])
def test_no_part_of_a_recipe_is_parsed_again_and_again_for_names_like_its_marks(monkeypatch, name):
    names = [name.format(number) for number in range(200)]
    text = "k = 3\n[roles]\nquasi = [\n" + "".join(f'    "{one}",  # said of it ]\n' for one in names) + "]  # end\n"
    parsed, loads = [], tomllib.loads

    def counted(part):
        parsed.append(len(part))
        return loads(part)

    monkeypatch.setattr(tomllib, "loads", counted)
    recipe = Recipe.parse(text)
    assert recipe.roles.quasi == tuple(names)
    assert recipe.comments.beside["roles", "quasi", names[-1]] == "said of it ]"
    assert sum(parsed) < 5 * len(text)


def test_the_place_of_a_choice_is_found_after_texts_and_lists_of_many_lines():
    text = '''k = 3
[roles]
quasi = ["a]", 'b[',  # ] [
  "c\\"]",  # said
]
keep = ["""x ] [
more \\""" ] \\
end"""]
[masking]
rounding = "never"
'''
    with pytest.raises(InvalidParameter, match="line 10"):
        Recipe.parse(text)


def remarks_in(text):
    return {line.split("# ", 1)[1] for line in text.splitlines() if "# " in line}


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent / "written_before").glob("*.toml")), ids=lambda p: p.stem
)
def test_recipes_that_were_written_before_are_read(path):
    recipe = Recipe.read(path)
    assert recipe.k == 3
    assert recipe.roles.quasi == ("age", "wage", "income", "tax")
    assert recipe.comments.beside["k",] == "agreed"
    assert Recipe.parse(recipe.text()) == recipe
    own = remarks_in(recipe.text()) - remarks_in(recipe.commented(Comments()).text())
    assert own == {"agreed", "what the register has"}  # what we said of a choice then is said anew
    release = ma.protect(ma.datasets.survey(400), recipe=recipe)
    assert release.k_achieved >= 3
