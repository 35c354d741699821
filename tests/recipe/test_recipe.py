"""Recipes: how they are made, changed and read, and how a fault names its line."""

import pickle
import re
from dataclasses import FrozenInstanceError

import pytest

import microagg as ma
from microagg.errors import InputError, InvalidParameter, RoleError, TooFewRecords
from microagg.recipe import PARTS, Masking, MethodChoices, Recipe, Select, as_key, choices_of, options_of
from microagg.recipe._choice import (
    BY_COLUMN,
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
    WORD,
    WORD_OR_BY_COLUMN,
    WORD_OR_WHOLE,
    WORDS,
)
from microagg.recipe._text import toml
from tests.recipe import written

MINE = """
k = 7

[roles]
quasi = ["age", "income"]
weight = "w"
identifiers = []

[method]
name = "vmdav"
gamma = 1.1

[masking]
scale = "range"
missing = "drop"

[select]
by = "ama"
measure = "vi"

[blocks]
by = "median"
max_block = 5000

[risk]
keys = ["age"]
sample = 100
"""


def test_a_recipe_is_read_part_by_part(tmp_path):
    recipe = Recipe.read(written(tmp_path, MINE))
    made = Recipe.of(
        7,
        quasi=["age", "income"],
        weight="w",
        scale="range",
        missing="drop",
        method="vmdav",
        gamma=1.1,
        select="ama",
        measure="vi",
        blocks="median",
        max_block=5000,
        keys=["age"],
        sample=100,
    )
    assert recipe == made
    assert recipe.digest == made.digest
    assert (recipe.k, recipe.roles.quasi, recipe.method.options) == (7, ("age", "income"), {"gamma": 1.1})
    assert Recipe.parse("k = 3") == Recipe(3)
    assert Recipe.parse('k = 3\n[select]\ncolumns = ["a"]') == Recipe.of(3, select=["a"])
    assert Recipe.parse("k = 3\n[refine]\nseed = 4") == Recipe.of(3, refine="fast", seed=4)
    assert Recipe.parse("k = 3\n[select]\ncount = 2") == Recipe.of(3, select="emad", count=2)


def test_a_recipe_is_shown_as_it_is_made():
    recipe = Recipe.of(3, quasi=["a", "b"], method="vmdav", gamma=1.1, select=["a"], missing="drop")
    shown = "Recipe.of(k=3, quasi=('a', 'b'), method='vmdav', missing='drop', select=('a',), gamma=1.1)"
    assert repr(recipe) == shown
    assert eval(repr(recipe)) == recipe


def test_choices_are_changed_one_by_one():
    recipe = Recipe.of(3, method="vmdav", gamma=1.1, select=["a"])
    assert recipe.replace(k=5).k == 5
    assert recipe.replace(gamma=0.5).method == MethodChoices("vmdav", {"gamma": 0.5})
    assert recipe.replace(method="cbfs").method == MethodChoices("cbfs")
    assert recipe.replace(method="vmdav").method.options == {"gamma": 1.1}
    assert recipe.replace(select="emad").select == Select(by="emad")
    assert recipe.replace(select=None).select == Select()
    assert recipe.replace(masking=Masking(scale="none")).masking.scale == "none"
    assert recipe == Recipe.of(3, method="vmdav", gamma=1.1, select=["a"])
    assert pickle.loads(pickle.dumps(recipe)) == recipe
    with pytest.raises(FrozenInstanceError):
        recipe.k = 4
    with pytest.raises(TypeError):
        recipe.method.options["gamma"] = 2.0


@pytest.mark.parametrize(
    ("keywords", "parameter", "words"),
    [
        ({"scael": "range"}, "scael", "Did you mean 'scale'?"),
        ({"scale": "rnge"}, "scale", "Did you mean 'range'?"),
        ({"gamma": 1.0}, "gamma", "not an option of method 'mdav'"),
        ({"method": "ama", "tail": "2k"}, "method", "Leave those two out"),
        ({"method": "ama", "select": "emad"}, "method", "Leave those two out"),
        ({"select": 3}, "select", "select is an int"),
        ({"select": ["a"], "count": 3}, "count", "count works only with"),
        ({"rest": "keep"}, "rest", "rest works only with quasi"),
        ({"max_block": 5}, "max_block", "at least 6"),
        ({"blocks": "none", "max_block": 100}, "max_block", "max_block works only with blocks"),
        ({"per_column": "yes"}, "per_column", "must be true or false"),
        ({"seed": -1, "refine": "fast"}, "seed", "seed=-1"),
        ({"x": 2}, "x", "from 0 to 1"),
        ({"spike": -1}, "spike", "spike=-1 must be a number from 0 to 1e+06"),
        ({"spike": float("nan")}, "spike", "spike=nan"),
        ({"spike": float("inf")}, "spike", "spike=inf"),
        ({"spike": 1e300}, "spike", "spike=1e+300"),
        ({"importance": {"a": 1e300}}, "importance", "must be 0, or a number from 1e-06 to 1e+06"),
        ({"importance": {"a": 1e-300}}, "importance", "must be 0, or a number"),
        ({"importance": {"a": float("nan")}}, "importance", "must be 0, or a number"),
    ],
)
def test_wrong_keywords_name_their_parameter(keywords, parameter, words):
    with pytest.raises(InvalidParameter, match=re.escape(words)) as caught:
        Recipe.of(3, **keywords)
    assert caught.value.parameter == parameter


WRONG = {
    NAMES: [3, "a", [1]],
    WORDS: [3, "mdav", ["mdva"]],
    WHOLES: [3, "3", [0]],
    NAME: [3],
    NAME_OR_NAMES: [3, [3]],
    WORD: ["no such word", 3],
    TEXT: [3],
    FLAG: ["yes", 1],
    WHOLE: [-1, "3", 2.5],
    NUMBER: ["3"],
    NUMBERS: ["3", ["a"]],
    WORD_OR_WHOLE: ["no such word", 0, 2.5],
    BY_COLUMN: [3, "word"],
    WORD_OR_BY_COLUMN: ["no such word", 3],
}
OF_A_TABLE = {
    "sound": {"analysis": "kind = 'mean'\ncolumns = 'a'", "relation": "holds = 'a < b'\ntolerance = 1"},
    "analyses": ["kind = 'meen'", "columns = 'a'", "kind = 'mean'", "kind = 'mean'\ncolumns = 'a'\np = 1"],
    "relations": ["holds = 'a + b'", "tolerance = 1", "holds = 'a < b'\ntolerance = -1", "hold = 'a < b'"],
}
OF_A_COLUMN = {
    "kinds": ["nominel", 3, ["alone"], ["a", "a"], {"spike": "x"}, {"spyke": 1}],
    "importance": [-1, "much"],
    "taxonomy": [3, {}, {"a": ["x"], "b": ["x", "y"]}],
    "missing_codes": [[], [1, 1], [[1]]],
    "recode": [3, {}],
    "rounding": [0, -1, 3, "much"],
}


@pytest.mark.parametrize(("table", "key"), [(table, key) for table in PARTS for key in choices_of(PARTS[table][1])])
def test_every_refused_value_of_every_choice_names_its_line(table, key):
    choice = choices_of(PARTS[table][1])[key]
    by_column = PARTS[table][1].by_column
    for value in OF_A_TABLE.get(choice.keyword, ()):
        text = f"k = 3\n[[{table}]]\n{OF_A_TABLE['sound'][table]}\n[[{table}]]\n# a comment\n{value}\n"
        with pytest.raises(InvalidParameter, match=rf"^mine.toml, line [5789]: in \[\[{table}\]\], "):
            Recipe.parse(text, "mine.toml")
    for value in OF_A_COLUMN.get(choice.keyword, ()):
        said = f"income = {toml(value)}" if by_column else f"{key} = {{income = {toml(value)}}}"
        with pytest.raises(InvalidParameter, match=rf"^mine.toml, line 4: in \[{table}\], {key} of column 'income': "):
            Recipe.parse(f"k = 3\n[{table}]\n# a comment\n{said}\n", "mine.toml")
    if choice.kind == LISTED:
        with pytest.raises(InvalidParameter, match=rf"^mine.toml, line 2: '{table}' must be a list of tables"):
            Recipe.parse(f"k = 3\n[{table}]\n", "mine.toml")
        return
    for value in () if by_column else WRONG[choice.kind]:
        text = f"# a comment\n\nk = 3\n[{table}]\n# another\n{key} = {toml(value)}\n"
        if choice.kind == NAME or (choice.kind == WORD and isinstance(value, str) and not choice.words):
            value = 3
        with pytest.raises(InvalidParameter, match=rf"^mine.toml, line 6: in \[{table}\], {key} ?="):
            Recipe.parse(text, "mine.toml")


@pytest.mark.parametrize("method", ["mdav", "vmdav", "iamat", "projection"])
def test_every_refused_option_of_a_method_names_its_line(method):
    for option in options_of(method):
        wrong = "-1" if option == "gamma" else "'x'"
        text = f"k = 3\n[method]\nname = '{method}'\n{option} = {wrong}"
        with pytest.raises(InvalidParameter, match=rf"^r.toml, line 4: in \[method\], {option}="):
            ma.protect(ma.datasets.survey(50).select(["age", "income"]), recipe=Recipe.parse(text, "r.toml"))


SURVEY = ma.datasets.survey(60).select(["age", "income", "region"])


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[method]\nname = 'univariate'", 3, "per_column = true"),
        ("[masking]\nper_column = true", 3, "works only with univariate or ranking"),
        ("[select]\ncount = 7", 3, "count=7"),
        ("[select]\ncolumns = ['region']", 3, "not masked"),
        ("[method]\nname = 'projection'\naxis = 'nowhere'", 4, "axis="),
        (
            "[method]\nname = 'univariate'\n[masking]\nper_column = true\n[blocks]\nby = 'median'",
            7,
            "blocks cannot be combined",
        ),
        (
            "[method]\nname = 'univariate'\n[masking]\nper_column = true\n[refine]\neffort = 'fast'",
            7,
            "refine works only with groups",
        ),
        (
            "[method]\nname = 'univariate'\n[masking]\nper_column = true\n[select]\nby = 'emad'",
            7,
            "select cannot be combined",
        ),
        ("[method]\nname = 'some.Class'", 3, "your own class"),
        ("[blocks]\nby = 'some.Class'", 3, "your own class"),
    ],
)
def test_what_protect_refuses_names_its_line(text, line, words):
    recipe = Recipe.parse(f"k = 3\n{text}\n[roles]\nquasi = ['age', 'income']\nkeep = ['region']", "r.toml")
    with pytest.raises(InputError) as caught:
        ma.protect(SURVEY, recipe=recipe)
    assert str(caught.value).startswith(f"r.toml, line {line}: in [")
    assert words in caught.value.worded(as_key)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("k = 3\n\n[masking]\nagregate = 'mean'", 4, "Did you mean 'aggregate'?"),
        ("k = 3\n[maskin]\nscale = 'range'", 2, "Did you mean 'masking'?"),
        ("k = 'three'", 1, 'k = "three" must be a whole number'),
        ("# why\n\nk = 1", 3, "k=1 protects nobody"),
        ("k = 3\n[roles]\nquasi = 'age'", 3, 'quasi = "age" must be a list of names'),
        ("k = 3\n[roles]\nquasi = [1, 2]", 3, "must be a list of names"),
        ("k = 3\n[masking]\nper_column = 'yes'", 3, 'in [masking], per_column = "yes" must be true or false'),
        (
            "k = 3\n[masking]\nmissing = 'drp'",
            3,
            "missing='drp' is not known. Did you mean 'drop'? Pass one of 'pattern'",
        ),
        ("k = 3\n[masking]\nscale = 1979-05-27", 3, 'scale = "1979-05-27" must be a word'),
        ("k = 3\n[blocks]\nby = 'medain'", 3, "Did you mean 'median'?"),
        ("k = 3\n[select]\nmeasure = 'chi'", 3, "Did you mean 'chi2'?"),
        ("k = 3\n[select]\ncount = 0", 3, "count=0 must be a whole number, at least 1"),
        ("k = 3\n[refine]\neffort = 'thoroug'", 3, "Did you mean 'thorough'?"),
        ("k = 3\n[refine]\neffort = 0", 3, "effort=0"),
        ("k = 3\n[refine]\nseed = -1", 3, "seed=-1"),
        ("k = 3\n[risk]\nsample = 1", 3, "sample=1"),
        ("k = 3\n[method]\nname = 'mdva'", 3, "Did you mean 'mdav'?"),
        ("k = 3\nmethod.name = 'mdva'", 2, "Did you mean 'mdav'?"),
        ("k = 3\nmethod.gama = 1.0\nmethod.name = 'vmdav'", 2, "Did you mean 'gamma'?"),
        ("k = 3\nmethod = {name = 'mdva'}", 2, "Did you mean 'mdav'?"),
        ("k = 3\n\nmasking = {scale = 'range', missing = 'drp'} # short", 3, "Did you mean 'drop'?"),
        ("k = 3\n['masking'] # x\n# missing = 'drp'\n\"missing\" = 'drp'", 4, "Did you mean 'drop'?"),
        ("k = 3\n[roles]\nquasi = [\n  'missing', # = 'drp'\n]\n[masking]\nmissing = 'drp'", 7, "'drop'?"),
        ("k = 3\n[method]\nname = 'vmdav'\ngama = 1.0", 4, "Did you mean 'gamma'?"),
        ("k = 3\n[method]\nname = 'mdav'\ngamma = 1.0", 4, "'gamma' is unknown in [method]"),
        ("kk = 3", 1, "not a part of a recipe"),
        ("k = 3\n[select]\ncolumns = ['a']\ncount = 3", 4, "count works only with"),
        ("k = 3\n[select]\nby = 'ama'\ncolumns = ['a']", 3, "there is nothing to choose"),
        ("k = 3\nroles = ['a']", 2, "must be a table"),
        ("k = 3\n[[roles]]\nquasi = ['a']", 2, "must be a table"),
        ("k = 3\n[roles.quasi]\na = 1", 2, "must be a list of names"),
    ],
)
def test_faults_are_named_with_their_line(tmp_path, text, line, words):
    with pytest.raises(InvalidParameter) as caught:
        Recipe.read(written(tmp_path, text))
    assert str(caught.value).startswith(f"recipe.toml, line {line}:")
    assert words in str(caught.value)


ROLES = """k = 3
[roles]
quasi = [
    "age",
    'income',  # "wage" would do as well
]
keep = ["region"]
[risk]
keys = ["age"]
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("'income'", "'incom'", 5, "column 'incom' in quasi is not in the file. Did you mean 'income'?"),
        ('"region"', '"nowhere"', 7, "column 'nowhere' in keep is not in the file. The file has 3 columns."),
        ('["region"]', '["region", "age"]', 7, "column 'age' in keep is already in quasi"),
        ('["region"]', '["region", "region"]', 7, "is named twice"),
        ('["region"]', "[]", 2, "1 column(s) of the file have no role: 'region'"),
        ('keys = ["age"]', 'keys = ["region"]', 9, "column 'region' is not masked"),
        ("[risk]", "select.columns = ['aeg']\n[risk]", 8, "Did you mean 'age'?"),
    ],
)
def test_columns_that_do_not_fit_the_file_are_named_with_their_line(tmp_path, old, new, line, words):
    text = ROLES.replace(old, new)
    text = text.replace("select.columns", "[select]\ncolumns") if "select" in new else text
    line += "select" in new
    with pytest.raises(RoleError) as caught:
        Recipe.read(written(tmp_path, text)).check_columns(["region", "age", "income"])
    assert str(caught.value).startswith(f"recipe.toml, line {line}:")
    assert words in str(caught.value)
    Recipe.read(written(tmp_path, ROLES)).check_columns(["region", "age", "income"])
    with pytest.raises(RoleError, match=r"^column 'age' in quasi is not in the file"):
        Recipe.of(3, quasi=["age"]).check_columns(["a"])


def test_a_k_that_cannot_be_kept_is_blamed_on_its_line():
    recipe = Recipe.parse("# remark\nk = 4\n[roles]\nquasi = ['a']\n", "r.toml")
    with pytest.raises(TooFewRecords, match=r"^r.toml, line 2: fewer than k=4 units"), recipe.blamed():
        raise TooFewRecords("fewer than k=4 units", parameter="k")


def test_what_came_from_elsewhere_is_not_blamed_on_the_file():
    recipe = Recipe.parse("k = 3\n[method]\nname = 'vmdav'\ngamma = -1\n", "r.toml")
    with pytest.raises(InvalidParameter, match=r"^r.toml, line 4: in \[method\], gamma=-1 must"), recipe.blamed():
        raise InvalidParameter("gamma=-1 must be more.", parameter="gamma")
    with pytest.raises(InvalidParameter, match=r"^gamma=-2 must"), recipe.replace(gamma=-2).blamed():
        raise InvalidParameter("gamma=-2 must be more.", parameter="gamma")
    with pytest.raises(InvalidParameter, match=r"^n_jobs"), recipe.blamed():
        raise InvalidParameter("n_jobs must be more.", parameter="n_jobs")


@pytest.mark.parametrize(
    ("text", "words"),
    [("k = = 3", "line 1"), ("[roles]\nquasi = ['a']", "has no k"), ("k = 3\nk = 4\n", "line 2")],
)
def test_other_faults(tmp_path, text, words):
    with pytest.raises(InvalidParameter, match=words):
        Recipe.read(written(tmp_path, text))


def test_files_that_are_no_recipes(tmp_path):
    with pytest.raises(InvalidParameter, match="cannot be read"):
        Recipe.read(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidParameter, match="UTF-8"):
        Recipe.read(tmp_path / "bytes.toml")


def test_what_is_said_of_one_column_leaves_the_others():
    recipe = Recipe.of(3, kinds={"a": "nominal", "b": "semi"}, rounding={"b": 10})
    changed = recipe.replace(kinds={"b": "number"}, rounding={"c": 1})
    assert changed.kinds.kinds == {"a": "nominal", "b": "number"}
    assert changed.masking.rounding == {"b": 10, "c": 1}
    assert changed.replace(rounding="none").masking.rounding == "none"


@pytest.mark.parametrize("rule", ["{cuts = [5, 3]}", "{join = {x = []}}", '{join = "no such file.csv"}', "{width = 0}"])
def test_a_recoding_that_is_refused_names_its_line(rule):
    text = f'k = 3\n[roles]\nquasi = ["age"]\n[recode]\nwage = {{top = 9}}\nage = {rule}\n'
    with pytest.raises(InvalidParameter, match=r"r.toml, line 6: in \[recode\], the recoding of column 'age'"):
        Recipe.parse(text, "r.toml")


DECLARED = """k = 3
[roles]
quasi = ["age", "income"]
drop = ["region"]
rest = "keep"
[[analysis]]
kind = "gini"
columns = "income"
[[analysis]]
kind = "mean"
columns = ["income"]
by = ["sex"]
[[relation]]
holds = "tax <= income"
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            '"income"]\nby',
            '"incom"]\nby',
            r"line 11: column 'incom' of the analysis .* is not in the file. Did you mean",
        ),
        ('by = ["sex"]', 'by = ["region"]', "line 12: column 'region' of the analysis .* is not released, so users"),
        ('by = ["sex"]', 'unit = "region"', "line 12: the unit 'region' of an analysis is neither"),
        ("tax <=", "tux <=", "line 14: column 'tux' of the relation 'tux <= income' is not in the file"),
        ("tax <= income", "income >= region", "line 14: column 'region' of the relation .* is not released"),
    ],
)
def test_what_cannot_be_done_on_the_release_is_refused_before_any_work(old, new, words):
    survey = ma.datasets.survey(60, seed=0)
    survey = survey.append_column("sex", [["f", "m"] * 30])
    recipe = Recipe.parse(DECLARED.replace(old, new), "mine.toml")
    with pytest.raises(RoleError, match=f"^mine.toml, {words}"):
        ma.protect(survey, recipe=recipe)


def test_the_results_of_a_release_are_those_of_its_recipe():
    survey = ma.datasets.survey(60, seed=0).append_column("sex", [["f", "m"] * 30])
    release = ma.protect(survey, recipe=Recipe.parse(DECLARED))
    assert [one.analysis.name for one in release.utility().analyses] == [
        "Gini coefficient of income",
        "Mean of income by sex",
    ]
    assert release.recipe.relations.relations[0].said == "tax <= income"
    assert Recipe.parse(release.recipe.text()) == release.recipe


def test_whole_numbers_are_numbers_as_far_as_float64_goes():
    assert Recipe.of(3, kinds={"a": {"spike": 2**65}}).kinds.kinds == {"a": {"spike": 2**65}}
    for said in ({"kinds": {"a": {"spike": 10**400}}}, {"importance": {"a": 10**400}}, {"rounding": {"a": 10**400}}):
        with pytest.raises(InvalidParameter, match="must be"):
            Recipe.of(3, **said)
