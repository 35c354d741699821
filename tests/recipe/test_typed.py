"""Choices as a person types them."""

import pytest

from microagg.recipe import choices
from microagg.recipe.typed import value_of

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
