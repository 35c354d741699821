"""A recipe that is not TOML is refused in our own words, with the line and what to write."""

import pytest

import microagg as ma
from microagg.errors import InvalidParameter


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('k = 5\n[roles]\nquasi = ["a",\n', "the file ends too early"),
        ("k =", "Write the missing value"),
        ("k = 5\nk = 6\n", "line 2: a name or a table is there for a second time"),
        ("k = 5\n[roles]\n[method]\n[roles]\n", "for a second time"),
        ('k = 5\n[read]\ndecimal = "C:\\Users"\n', "backslash"),
        ("k = 5\n[output]\npublic = True\n", "line 3: this line, or the one before it, is not valid TOML"),
        ("k = 5\n[method\nname = 'mdav'\n", "line 2: this line, or the one before it"),
    ],
)
def test_the_line_and_the_remedy_are_named(text, said):
    with pytest.raises(InvalidParameter) as caught:
        ma.Recipe.parse(text)
    assert said in str(caught.value)
    assert caught.value.parameter == "recipe"


def test_what_k_counts_stands_beside_it():
    units, rows = ma.Recipe.of(5, quasi=["a"], unit="h"), ma.Recipe.of(5, quasi=["a"])
    assert "k = 5  # at least this many different units share" in units.text()
    assert "k = 5  # at least this many records share" in rows.text()
    assert "at least this many records" in ma.Recipe.parse(units.text()).replace(unit=None).text()
    assert "at least this many different units" in ma.Recipe.parse(rows.text()).replace(unit="h").text()


def test_the_public_recipe_counts_units_that_it_does_not_name(tmp_path):
    path = ma.Recipe.of(5, quasi=["a"], unit="h").write_public(tmp_path / "recipe.toml")
    assert "at least this many different units" in path.read_text()
    assert '"h"' not in path.read_text()


@pytest.mark.parametrize("choice", [{"ks": [3, 5]}, {"rank": "IL"}, {"delimiter": ","}, {"households": "h.csv"}])
def test_a_keyword_that_does_nothing_is_refused(choice):
    table = ma.datasets.survey(60).select(["age", "tax"])
    with pytest.raises(InvalidParameter, match="does nothing here") as caught:
        ma.protect(table, 3, **choice)
    assert caught.value.parameter == next(iter(choice))
    if "households" not in choice:
        assert ma.protect(table, recipe=ma.Recipe.of(3, **choice)).k_achieved == 3
