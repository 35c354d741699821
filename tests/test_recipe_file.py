import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import InvalidParameter, RoleError
from microagg.recipe_file import Comments, RecipeFile, read_recipe, recipe_text

WHOLE = """
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


def written(tmp_path, text):
    path = tmp_path / "recipe.toml"
    path.write_text(text, "utf-8")
    return path


def test_a_recipe_becomes_the_arguments_of_protect(tmp_path):
    recipe = read_recipe(written(tmp_path, WHOLE))
    assert recipe.arguments() == {
        "k": 7,
        "quasi": ["age", "income"],
        "weight": "w",
        "identifiers": [],
        "scale": "range",
        "missing": "drop",
        "method": "vmdav",
        "gamma": 1.1,
        "select": "ama",
        "measure": "vi",
        "blocks": "median",
        "max_block": 5000,
    }
    assert recipe.table("risk") == {"keys": ["age"], "sample": 100}
    assert read_recipe(written(tmp_path, "k = 3")).arguments() == {"k": 3, "method": "mdav"}
    assert read_recipe(written(tmp_path, 'k = 3\n[select]\ncolumns = ["a"]')).arguments()["select"] == ["a"]


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
            "missing='drp' is not known. Did you mean 'drop'? Pass one of 'error'",
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
        ("k = 3\n[select]\ncolumns = ['a']\ncount = 3", 3, "goes alone"),
        ("k = 3\nroles = ['a']", 2, "must be a table"),
        ("k = 3\n[[roles]]\nquasi = ['a']", 2, "must be a table"),
        ("k = 3\n[roles.quasi]\na = 1", 2, "must be a list of names"),
    ],
)
def test_faults_are_named_with_their_line(tmp_path, text, line, words):
    with pytest.raises(InvalidParameter) as caught:
        read_recipe(written(tmp_path, text))
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
        ('keys = ["age"]', 'keys = ["region"]', 9, "column 'region' in keys of [risk] is not masked"),
        ("[risk]", "select.columns = ['aeg']\n[risk]", 8, "Did you mean 'age'?"),
    ],
)
def test_columns_that_do_not_fit_the_file_are_named_with_their_line(tmp_path, old, new, line, words):
    text = ROLES.replace(old, new)
    text = text.replace("select.columns", "[select]\ncolumns") if "select" in new else text
    line += "select" in new
    with pytest.raises(RoleError) as caught:
        read_recipe(written(tmp_path, text)).check_columns(["region", "age", "income"])
    assert str(caught.value).startswith(f"recipe.toml, line {line}:")
    assert words in str(caught.value)
    read_recipe(written(tmp_path, ROLES)).check_columns(["region", "age", "income"])
    with pytest.raises(RoleError, match=r"^column 'age' in quasi is not in the file"):
        RecipeFile(3, {"roles": {"quasi": ["age"]}}).check_columns(["a"])


def test_what_is_refused_later_is_named_with_its_line_unless_it_came_from_elsewhere(tmp_path):
    recipe = read_recipe(written(tmp_path, "k = 3\n[method]\nname = 'vmdav'\ngamma = -1\n[blocks]\nby = 'none'"))
    with pytest.raises(InvalidParameter, match=r"^recipe.toml, line 4: in \[method\], gamma=-1 must"), recipe.blamed():
        raise InvalidParameter("gamma=-1 must be more.")
    with (
        pytest.raises(InvalidParameter, match=r"^recipe.toml, line 6: in \[blocks\], blocks goes with"),
        recipe.blamed(),
    ):
        raise InvalidParameter("blocks goes with something else.")
    with pytest.raises(InvalidParameter, match=r"^gamma=-1 must"), recipe.blamed("risk"):
        raise InvalidParameter("gamma=-1 must be more.")
    other = replace(recipe, tables={"method": {"name": "vmdav", "gamma": -2}})
    with pytest.raises(InvalidParameter, match=r"^gamma=-2 must"), other.blamed():
        raise InvalidParameter("gamma=-2 must be more.")


@pytest.mark.parametrize(
    ("text", "words"),
    [("k = = 3", "line 1"), ("[roles]\nquasi = ['a']", "does not say k"), ("k = 3\nk = 4\n", "line 2")],
)
def test_other_faults(tmp_path, text, words):
    with pytest.raises(InvalidParameter, match=words):
        read_recipe(written(tmp_path, text))


def test_files_that_are_no_recipes(tmp_path):
    with pytest.raises(InvalidParameter, match="cannot be read"):
        read_recipe(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InvalidParameter, match="UTF-8"):
        read_recipe(tmp_path / "bytes.toml")


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
remarks = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12)


@given(st.lists(names, unique=True, min_size=1, max_size=6), st.integers(2, 99), st.lists(remarks, max_size=9))
def test_what_is_written_is_read_again(tmp_path_factory, columns, k, said):
    places = [("k",), ("roles",), ("roles", "weight"), ("output", "reorder")]
    places += [("roles", "quasi", name) for name in columns]
    beside = dict(zip(places, said, strict=False))
    over = {place: tuple(said) for place in places[::2] if said}
    recipe = RecipeFile(
        k,
        {"roles": {"quasi": columns, "weight": columns[0]}, "output": {"reorder": True}},
        Comments(over, beside, tuple(said), tuple(said[::-1])),
    )
    text = recipe_text(recipe, "a file")
    path = tmp_path_factory.mktemp("recipe") / "recipe.toml"
    path.write_text(text, "utf-8", newline="\n")
    again = read_recipe(path)
    assert again == recipe
    assert {place: again.comments.beside[place] for place in beside} == beside
    assert recipe_text(again, "a file") == text


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
    recipe = read_recipe(written(tmp_path, text))
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
    once = recipe_text(recipe, "data.csv")
    for remark in ("Signed by", "Agreed in", "not 5", "clustered", "minutes", "worst", "unique", "coarse", "nothing"):
        assert once.count(remark) == 1
    again = read_recipe(written(tmp_path, once))
    assert again == recipe
    assert recipe_text(again, "data.csv") == once


def test_a_long_recipe_is_read_in_a_moment(tmp_path):
    columns = "".join(f'    "column {number}",  # {number} different values\n' for number in range(5000))
    began = time.monotonic()
    recipe = read_recipe(written(tmp_path, f"k = 3\n[roles]\nquasi = [\n{columns}]\n"))
    assert recipe.comments.beside["roles", "quasi", "column 4999"] == "4999 different values"
    assert time.monotonic() - began < 5
