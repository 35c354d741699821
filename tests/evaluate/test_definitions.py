"""A measure is one definition: entered among the others, it is computed and shown wherever figures are."""

import json
import pickle

import numpy as np
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import microagg as ma
from microagg.cli import app
from microagg.errors import InvalidParameter
from microagg.measures.definitions import DEFINITIONS, measures_of
from microagg.measures.measure import Definition

TABLE = ma.datasets.survey(120, seed=0).select(["age", "hours", "income"])
OF_COLUMNS = Definition(
    "LC", "loss", "largest change", "The largest change of a cell.",
    from_columns=lambda original, masked, names: float(np.abs(original - masked).max() + 0 * len(names)),
)  # fmt: skip
OF_RESULT = Definition(
    "hidden", "risk", "records hidden", lambda risk: f"Records of {risk.n_records} that no link finds.",
    lambda risk: 100.0 - risk.full_keys, better="higher", bounds=(0.0, 100.0), unit="%", compared=False,
)  # fmt: skip


@pytest.fixture(autouse=True)
def _entered():
    DEFINITIONS.update({one.name: one for one in (OF_COLUMNS, OF_RESULT)})
    yield
    for one in (OF_COLUMNS, OF_RESULT):
        DEFINITIONS.pop(one.name, None)


def test_the_names_of_today_are_defined_and_in_order():
    release = ma.protect(TABLE, 5)
    loss = {one.name: one.value for one in release.loss.measures}
    assert list(loss)[:8] == ["IL", "IL1s", "M1", "M2", "M3", "M4", "M5", "G_IL"]
    assert (loss["IL"], loss["M5"], loss["G_IL"]) == (release.loss.percent, release.loss.m5, release.loss.g_il)
    risk = {one.name: one.value for one in release.risk.measures}
    assert list(risk)[:8] == [
        *("RLD", "full keys", "right group", "full group"),
        *("ID", "ID, ties alike", "ID, deviations", "G_DR"),
    ]
    assert (risk["RLD"], risk["ID"], risk["G_DR"]) == (release.risk.rld, release.risk.interval, release.risk.g_dr)
    (score,) = measures_of("both", release.loss, release.risk)
    assert (score.name, score.value) == ("SI", ma.scoring_index(release.loss.g_il, release.risk.g_dr))
    for one in DEFINITIONS.values():
        assert (one.better in ("lower", "higher"), one.unit in ("%", ""), one.bounds[0] < one.bounds[1]) == (True,) * 3


def test_a_new_measure_is_computed_and_told():
    release = ma.protect(TABLE, 5)
    original, masked = (
        np.array([np.asarray(table[name]) for name in TABLE.column_names]) for table in (TABLE, release.data)
    )
    found = release.loss.measures[-1]
    assert (found.name, found.value) == ("LC", np.abs(original - masked).max())
    assert "LC" in repr(release.loss)
    assert "The largest change of a cell." in repr(release.loss)
    assert ma.loss_measures(TABLE, release.data).measures[-1] == found
    hidden = release.risk.measures[-1]
    assert hidden.value == 100.0 - release.risk.full_keys
    assert "Records of 120 that no link finds. Higher is better." in repr(release.risk)
    assert "Higher is better." in release.risk._repr_html_()


def test_it_is_compared():
    found = ma.compare(TABLE, ["mdav"], [3, 5])
    one = found.candidates[0]
    release = ma.protect(TABLE, 3)
    assert one.figures["LC"] == release.loss.measures[-1].value
    assert one.figures["hidden"] == 100.0 - release.risk.full_keys
    assert (one.il, one.figures["IL"], one.interval) == (
        release.loss.percent,
        release.loss.percent,
        release.risk.interval,
    )
    head, first = repr(found).splitlines()[:2]
    assert head.split()[:7] == ["method", "k", "groups", "IL", "%", "G_IL", "%"]
    assert "LC" in head.split()
    assert "hidden" not in head
    assert f"{one.figures['LC']:.2f}" in first
    assert "<th>LC</th>" in found._repr_html_()
    assert found.as_dict()["LC"] == [candidate.figures["LC"] for candidate in found.candidates]
    assert "IL" not in found.as_dict()  # which it has as il
    stored = pickle.loads(pickle.dumps(found))
    assert stored.candidates[0].figures == one.figures
    del DEFINITIONS["LC"]
    assert "LC" not in repr(stored)
    with pytest.raises(TypeError):
        one.figures["LC"] = 0.0


def test_assess_shows_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pyarrow.csv.write_csv(TABLE, "a.csv")
    pyarrow.csv.write_csv(ma.protect(TABLE, 5).data, "b.csv")
    said = CliRunner().invoke(app, ["assess", "a.csv", "b.csv"]).stdout
    for words in ("LC", "The largest change of a cell.", "no link finds. Higher is better.", "SI"):
        assert words in said
    told = json.loads(CliRunner().invoke(app, ["assess", "a.csv", "b.csv", "--json"]).stdout)["figures"]
    assert told["hidden"] == pytest.approx(100 - told["full keys"])
    assert told["LC"] > 0


def test_a_measure_that_came_later_is_left_out_of_results_that_were_there():
    del DEFINITIONS["LC"]
    loss = ma.protect(TABLE, 5).loss
    DEFINITIONS["LC"] = OF_COLUMNS
    assert "LC" not in {one.name for one in loss.measures}


@pytest.mark.parametrize("how", [{}, {"value": float, "from_columns": max}, {"of": "both", "from_columns": max}])
def test_a_measure_is_computed_in_one_way(how):
    with pytest.raises(InvalidParameter, match="in one way"):
        Definition(**{"name": "a", "of": "loss", "title": "a", "meaning": "A."} | how)
