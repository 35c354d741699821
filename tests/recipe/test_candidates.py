"""Recipes with candidates below them: read and written without loss, and refused with the right line."""

import re

import pytest

from microagg.errors import InvalidParameter
from microagg.recipe import Recipe
from microagg.recipe._file import Saved, read_candidates, write_candidates

PRESENT = Recipe(5).replace(quasi=["a", "b c", "[[candidates]]"], strata=["s"])
OTHERS = (
    Saved("mdav 3", "", PRESENT.replace(k=3)),
    Saved('named "so"', "a note: name = 1\n[[candidates]]\n# no comment", PRESENT.replace(method="vmdav", gamma=0.3)),
    Saved("by column", "", PRESENT.replace(kinds={"b c": ["low", "high"]}, rounding={"a": 10})),
    Saved("analysed", "", PRESENT.replace(analyses=[{"kind": "gini", "columns": ["a"]}], relations=["a <= b"])),
)


def test_what_is_written_is_read_again(tmp_path):
    path = write_candidates(tmp_path / "session.toml", PRESENT, OTHERS, "survey.csv")
    assert read_candidates(path) == (PRESENT, OTHERS)
    assert path.stat().st_mode & 0o777 == PRESENT.write(tmp_path / "recipe.toml").stat().st_mode & 0o777 == 0o600
    assert Recipe.read(path) == PRESENT
    again = write_candidates(tmp_path / "again.toml", *read_candidates(path), "survey.csv")
    assert again.read_text() == path.read_text()


def test_lines_may_be_indented(tmp_path):
    path = write_candidates(tmp_path / "session.toml", PRESENT, OTHERS, "survey.csv")
    above, mark, below = path.read_text().partition("[[candidates]]")
    path.write_text(above + mark + below.replace("\n", "\n  "))
    assert read_candidates(path) == (PRESENT, OTHERS)


def test_a_plain_recipe_has_none(tmp_path):
    assert read_candidates(PRESENT.write(tmp_path / "recipe.toml")) == (PRESENT, ())


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("k = 3", "k = 1", "session.toml, line {}: k=1 protects nobody"),
        ("k = 3", "k = 3\ncolour = 2", "session.toml, line {}: 'colour' is not a part"),
        ('name = "mdav 3"', "", "a candidate needs a name"),
        ('name = "mdav 3"', "name = 3", "a candidate needs a name"),
        ("k = 3", "k = ", "is not valid TOML"),
        ("k = 3", f"k = {'[' * 5000}{']' * 5000}", "more than 20 lists or tables are inside each other"),
        ('note = ""', 'note = """\n[[candidates]]\n"""', "must begin with a line [[candidates]]"),
    ],
)
def test_what_is_wrong_with_a_candidate_is_said_with_its_line(tmp_path, old, new, said):
    path = write_candidates(tmp_path / "session.toml", PRESENT, OTHERS[:2])
    text = path.read_text()
    assert text.count(f"\n{old}") == 1
    path.write_text(text.replace(f"\n{old}", f"\n{new}"))
    line = path.read_text().split("\n").index(new.split("\n")[-1]) + 1 if "{}" in said else 0
    with pytest.raises(InvalidParameter, match=re.escape(said.format(line))):
        read_candidates(path)
