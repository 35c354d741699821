"""Each choice of a recipe has a field, and a form that is posted as it was shown changes nothing."""

import pytest

from microagg.algorithms.methods import METHODS
from microagg.app import forms, words
from microagg.app.edits import change_words, recipe_line, with_kinds, with_roles
from microagg.errors import MicroaggError, RoleError
from microagg.recipe import PARTS, Recipe, choices_of, options_of
from microagg.recipe.words import LABELS

COLUMNS = ["age", "wage", "job", "a=b,|c", "region"]
ROLES = {"quasi": ["age", "wage", "a=b,|c"], "strata": ["region"], "keep": ["job"]}


def posted(recipe):
    """Give what a browser posts of all fields of a recipe."""
    found = {"k": [str(recipe.k)]}
    for table in PARTS:
        for one in forms.table_of(table, recipe, COLUMNS).controls:
            chosen = [option.value for option in one.options if option.chosen]
            if one.shape in ("box", "boxes"):
                found[one.name] = ["", *chosen]
            elif one.shape in ("select", "columns"):
                found[one.name] = chosen[-1:] or [""]
            else:
                found[one.name] = [one.value]
            found |= {} if one.number is None else {f"{one.name}.number": [one.number]}
            found |= {row.name: [row.value] for row in one.rows}
    return found


RECIPES = [
    Recipe.of(5, **ROLES),
    Recipe.of(3, **ROLES, method="vmdav", gamma=1.1, refine=500, select=["age"], keys=["wage"], sample=300),
    Recipe.of(3, **ROLES, select="emad", count=2, width=[0.5, 2.0], refine="fast"),
    Recipe.of(4, **ROLES, recode={"age": {"width": 5, "top": 80}, "job": {"join": {"other": ["x", "y/z"]}}}),
    Recipe.of(4, **ROLES, kinds={"age": ["young", "old|er"], "wage": {"spike": 0}}, missing_codes={"wage": [-8, -9]}),
    Recipe.of(4, **ROLES, rounding={"wage": 100}, importance={"a=b,|c": 0.5}, nominal="draw", nominal_seed=7),
    Recipe.of(4, **ROLES, delimiter="\t", thousands="", decimal=",", header=True, methods=["mdav"], ks=[3, 5], x=0.3),
    Recipe.of(
        4, quasi=["age", "wage"], confidential=["job"], rest="drop", l=2, t=0.3, entropy_l=1.5, recursive_l=[3, 2]
    ),
    Recipe.of(4, **ROLES, weighted=False, blocks="median", max_block=1000, public=True, moments="variance"),
]


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_form_that_is_posted_as_shown_changes_nothing(recipe):
    again = forms.changed_by(posted(recipe), recipe, COLUMNS)
    assert again == recipe
    assert change_words(recipe, again, COLUMNS) == ""


def test_every_choice_has_a_field_with_its_words_limits_and_meaning():
    recipe = Recipe.of(5, **ROLES)
    for table, (_, kind) in PARTS.items():
        controls = {one.name: one for one in forms.table_of(table, recipe, COLUMNS).controls}
        for name, choice in choices_of(kind).items():
            one = controls[f"{table}.{name}"]
            assert choice.said[1:] in one.help
            assert set(choice.words) <= {option.value for option in one.options}
            assert one.least == choice.least
            assert one.error == ""


@pytest.mark.parametrize(
    ("field", "text", "keyword", "words"),
    [
        ("k", "1", "k", "k=1 protects nobody"),
        ("k", "", "k", "k is empty"),
        ("k", "five", "k", "must be a whole number"),
        ("masking.scale", "metric", "scale", "is not known"),
        ("masking.spike", "-1", "spike", "must be a number from 0"),
        ("select.count", "0", "count", "count=0"),
        ("select.count", "2", "count", "works only with columns chosen"),
        ("compare.ks", "3, x", "ks", "separated by commas"),
        ("diversity.t", "3", "t", "t"),
    ],
)
def test_an_error_stands_at_its_field(field, text, keyword, words):
    recipe = Recipe.of(5, **ROLES)
    form = {field: [text]}
    with pytest.raises(MicroaggError) as found:
        forms.changed_by(form, recipe, COLUMNS)
    assert found.value.parameter == keyword
    wrong = forms.Wrong(found.value, form)
    if field == "k":
        one = forms.k_field(recipe, None, wrong)
    else:
        table = forms.table_of(field.split(".")[0], recipe, COLUMNS, wrong)
        assert table.wrong
        one = next(one for one in table.controls if one.name == field)
    assert words in one.error
    assert one.value == text


def test_an_error_of_one_column_stands_at_its_row():
    recipe = Recipe.of(5, **ROLES)
    form = {"masking.rounding": ["auto"], "masking.rounding@1": ["30"], "masking.rounding@3": ["10"]}
    with pytest.raises(MicroaggError) as found:
        forms.changed_by(form, recipe, COLUMNS)
    table = forms.table_of("masking", recipe, COLUMNS, forms.Wrong(found.value, form))
    rows = next(one.rows for one in table.controls if one.name == "masking.rounding")
    assert [bool(row.error) for row in rows] == [False, True, False, False, False]
    assert [row.value for row in rows] == ["", "30", "", "10", ""]


def test_fields_change_a_recipe_and_the_words_say_what():
    recipe = Recipe.of(5, **ROLES)
    form = {"k": ["7"], "method.name": ["vmdav"], "recode.recode": [""], "recode.recode@3": ["width:5|top:80"]}
    changed = forms.changed_by(form, recipe, COLUMNS)
    assert dict(changed.recode.recode) == {"a=b,|c": {"width": 5, "top": 80}}
    assert change_words(recipe, changed, COLUMNS) == "k 5 → 7; recoding of a=b,|c; method mdav → vmdav"
    assert recipe_line(changed, COLUMNS) == "k 7 · vmdav · 3 masked, 1 stratum · recoding"
    weighted = with_roles(changed, COLUMNS, {"age": "weight"})
    assert recipe_line(weighted, COLUMNS) == "k 7 · vmdav · 2 masked, 1 stratum, weighted by age · recoding"
    assert recipe_line(weighted, COLUMNS, named=True) == "2 masked, 1 stratum, weighted by age · recoding"
    gone = forms.changed_by({"recode.recode": [""], "recode.recode@3": [""]}, changed, COLUMNS)
    assert dict(gone.recode.recode) == {}


def test_roles_and_kinds_are_changed_one_by_one():
    recipe = Recipe.of(5, **ROLES)
    changed = with_roles(recipe, COLUMNS, {"age": "keep", "wage": "unit"})
    assert change_words(recipe, changed, COLUMNS) == "role of age: quasi → keep; role of wage: quasi → unit"
    with pytest.raises(RoleError, match="2 columns have the role unit") as found:
        with_roles(changed, COLUMNS, {"job": "unit"})
    assert found.value.columns == ("job",)
    assert with_roles(recipe, COLUMNS, dict.fromkeys(COLUMNS, "drop")).masked(COLUMNS) == []
    kinds = with_kinds(with_kinds(recipe, {"age": "ordinal"}), {"age": None, "wage": "semi"})
    assert dict(kinds.kinds.kinds) == {"wage": "semi"}


def test_numbers_of_a_sentence_are_written_as_in_the_report():
    said = "2000 of 14827 records (35 %) lie from -3 to 5; 9999 in 'pay 2000' and k=10000 stay"
    done = "2\u202f000 of 14\u202f827 records (35\u00a0%) lie from \u22123 to 5; 9999 in 'pay 2000' and k=10000 stay"
    assert words.set_out(said) == done


def test_every_choice_has_a_label_in_words():
    known = {choice.keyword for _, kind in PARTS.values() for choice in choices_of(kind).values()}
    known |= {key for method in METHODS for key in options_of(method)} | {"columns"}
    assert set(LABELS) <= known
    assert all("_" not in label and len(label) > 3 for label in LABELS.values())
