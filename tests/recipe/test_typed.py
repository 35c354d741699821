"""Choices as a person types them."""

import pytest

from microagg.errors import InvalidParameter
from microagg.recipe import choices
from microagg.recipe.words import value_of

SPELT = {
    "age=width:5|top:80": {"age": {"width": 5, "top": 80}},
    "age=cuts:18/30/65|as:label": {"age": {"cuts": [18, 30, 65], "as": "label"}},
    "age=cuts:18": {"age": {"cuts": [18]}},
    "born=cuts:1950-01-01/2000-01-01": {"born": {"cuts": ["1950-01-01", "2000-01-01"]}},
    "job=join:other=x/y": {"job": {"join": {"other": ["x", "y"]}}},
    "job=join:other=x/y|join:trade=11/12": {"job": {"join": {"other": ["x", "y"], "trade": ["11", "12"]}}},
    "job=join:tables/jobs.csv,age=top:90": {"job": {"join": "tables/jobs.csv"}, "age": {"top": 90}},
}


@pytest.mark.parametrize("text", SPELT)
def test_a_recoding_is_spelt_on_the_command_line(text):
    assert value_of(choices("recode")["recode"][1], text) == SPELT[text]


@pytest.mark.parametrize("text", ["two\nlines", "a,two\r\nlines", "x" * 200_000])
def test_a_list_that_cannot_be_taken_apart_is_refused(text):
    with pytest.raises(InvalidParameter, match="Put a name that holds a comma or a line break in double quotes"):
        value_of(choices("roles")["quasi"][1], text)
    assert value_of(choices("roles")["quasi"][1], 'a,"two\nlines"') == ["a", "two\nlines"]
