"""Every choice of a recipe, beyond memory: obeyed, or refused before any work."""

import pyarrow.parquet as pq
import pytest

import microagg as ma
from microagg.errors import InvalidParameter
from microagg.recipe import OF_PROTECT, Recipe, choices
from tests.beyond.test_files import ROLES, SURVEY

OBEYED = {
    *("quasi", "identifiers", "confidential", "strata", "keep", "drop", "weight", "unit", "rest"),
    *("kinds", "importance", "taxonomy", "missing", "missing_codes", "method", "aggregate", "rounding"),
    *("nominal", "nominal_seed", "spike", "spike_totals", "blocks", "max_block", "refine", "seed"),
    *("block_columns", "block_intervals", "block_fusion"),
    *(
        "weighted",
        "weight_release",
        "weight_cap",
        "calibrate",
        "unit_share",
        "unit_constant",
        "same_order",
        "analyses",
        "public",
    ),
}
REFUSED = {
    "unit_release": {"unit_release": "pseudonym"},
    "household": {"unit_release": "pseudonym", "household": ["age"]},
    "wave": {"unit_release": "pseudonym", "wave": "age"},
    "unit_order": {"unit_release": "pseudonym", "unit_order": ["age"]},
    "small_units": {"small_units": "error"},
    "households": {"households": "homes.parquet"},
    "on": {"households": "homes.parquet", "on": "region"},
    "l": {"l": 2},
    "entropy_l": {"entropy_l": 1.5},
    "recursive_l": {"recursive_l": [2, 2]},
    "l_columns": {"l": 2, "l_columns": ["region"]},
    "t": {"t": 0.2},
    "t_columns": {"t": 0.2, "t_columns": ["region"]},
    "diversity": {"l": 2, "diversity": "merge"},
    "scale": {"scale": "range"},
    "moments": {"moments": "variance"},
    "moments_clip": {"moments": "variance", "moments_clip": True},
    "missing": {"missing": "drop"},
    "relations": {"relations": ["age >= 0"]},
    "recode": {"recode": {"age": {"top": 80}}},
    "per_column": {"per_column": True},
    "select": {"select": ["age"]},
    "count": {"select": "emad", "count": 2},
    "measure": {"select": "emad", "measure": "vi"},
    "width": {"select": "ama", "width": 5},
    "bins": {"select": "ama", "bins": 5},
    "rule": {"select": "emad", "rule": "cover"},
    "choose": {"select": "emad", "choose": "lowest-loss"},
    "excel_safe": {"excel_safe": True},
    "file_kind": {"file_kind": "csv"},
}


def test_every_choice_is_obeyed_beyond_memory_or_refused(tmp_path):
    """A new choice must be entered above: one that is ignored without a word would break what a recipe says."""
    source = tmp_path / "survey.parquet"
    pq.write_table(SURVEY, source)
    assert set(choices(*OF_PROTECT, "join", "output")) == OBEYED | set(REFUSED)
    assert OBEYED & set(REFUSED) == {"missing"}  # all of its words but one are obeyed
    for name, chosen in REFUSED.items():
        recipe = Recipe.of(3, **(ROLES | chosen))
        with pytest.raises(InvalidParameter, match="cannot be combined with files larger than memory") as caught:
            ma.protect_file(source, tmp_path / "out.parquet", recipe=recipe)
        assert caught.value.parameter in (name, "select", "unit_release", "households", "l", "t", "moments")
    assert not (tmp_path / "out.parquet").exists()
