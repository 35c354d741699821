import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.errors import InvalidParameter
from microagg.recipe_file import RecipeFile, read_recipe, recipe_text

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
        ("k = 'three'", 1, "'k' must be a whole number"),
        ("k = 3\n[roles]\nquasi = 'age'", 3, "must be a list of names"),
        ("k = 3\n[roles]\nquasi = [1, 2]", 3, "must be a list of names"),
        ("k = 3\n[masking]\nper_column = 'yes'", 3, "must be true or false"),
        ("k = 3\n[method]\nname = 'mdva'", 3, "Did you mean 'mdav'?"),
        ("k = 3\n[method]\nname = 'vmdav'\ngama = 1.0", 4, "Did you mean 'gamma'?"),
        ("k = 3\n[method]\nname = 'mdav'\ngamma = 1.0", 4, "'gamma' is unknown in [method]"),
        ("kk = 3", 1, "not a part of a recipe"),
        ("k = 3\n[select]\ncolumns = ['a']\ncount = 3", 3, "goes alone"),
        ("k = 3\nroles = ['a']", 2, "must be a table"),
    ],
)
def test_faults_are_named_with_their_line(tmp_path, text, line, words):
    with pytest.raises(InvalidParameter) as caught:
        read_recipe(written(tmp_path, text))
    assert f"line {line}:" in str(caught.value)
    assert words in str(caught.value)


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


@given(
    st.lists(names, unique=True, min_size=1, max_size=6), st.integers(2, 99), st.dictionaries(names, names, max_size=3)
)
def test_what_is_written_is_read_again(tmp_path_factory, columns, k, remarks):
    recipe = RecipeFile(k, {"roles": {"quasi": columns, "weight": columns[0]}, "output": {"reorder": True}})
    said = {name: remark.replace("\n", " ") for name, remark in remarks.items()}
    plain = {name: "".join(c for c in remark if c.isprintable()) for name, remark in said.items()}
    text = recipe_text(recipe, title="for a test", remarks=plain, roles_said={"quasi": "masked"})
    path = tmp_path_factory.mktemp("recipe") / "recipe.toml"
    path.write_text(text, "utf-8", newline="\n")
    assert read_recipe(path) == recipe
    assert text == recipe_text(read_recipe(path), title="for a test", remarks=plain, roles_said={"quasi": "masked"})
