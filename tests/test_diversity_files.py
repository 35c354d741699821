"""Demands on confidential columns of files, on what is written, and requests that are refused."""

import pickle
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import microagg as ma
from microagg.errors import InvalidParameter, PromiseBroken, RoleError
from microagg.files import sources
from tests.reference import diversity as oracle

CHOICES = {"k": 4, "quasi": ["age", "wage"], "rest": "drop"}


def made(n=120, seed=0):
    """Draw persons: a diagnosis that depends on age, a score from 1 to 12 and a code with zeros."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, n)
    return pd.DataFrame(
        {
            "age": age,
            "wage": rng.lognormal(7, 0.5, n).round(),
            "diagnosis": np.where(rng.random(n) < 0.3, "none", np.array(["asthma", "flu", "heart"])[age // 20 - 1]),
            "score": np.clip(age // 8 + rng.integers(0, 4, n), 1, 12),
            "code": np.array(["007", "010", "100"])[rng.integers(0, 3, n)],
            "region": rng.choice(["N", "S"], n),
        }
    )


def write_spss(frame, path):
    pyreadstat = pytest.importorskip("pyreadstat", reason="left out: the extra stats is not installed")
    pyreadstat.write_sav(frame, path)


WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "sav": write_spss,
}


def oracle_t(frame, name, labels, ordered):
    values = sorted(set(frame[name]))
    file = [values.index(value) for value in frame[name]]
    groups = [[file[row] for row in np.flatnonzero(labels == group)] for group in range(labels.max() + 1)]
    return max(oracle.t_of(own, file, ordered) for own in groups)


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(("name", "ordered"), [("score", True), ("diagnosis", False), ("code", False)])
def test_numbers_of_a_file_are_ordered_and_codes_and_words_are_not(tmp_path, form, name, ordered):
    frame = made()
    WRITERS[form](frame, tmp_path / f"file.{form}")
    choices = {**CHOICES, "confidential": [name], "t": 0.35}
    release = ma.protect(ma.read(tmp_path / f"file.{form}"), **choices)
    assert release.diversity.after[name].t == pytest.approx(oracle_t(frame, name, release.groups, ordered))
    assert release.diversity.after[name].t <= 0.35 + 1e-12
    assert np.array_equal(release.groups, ma.protect(frame, **choices).groups)
    ma.write(release, tmp_path / f"masked.{form}")
    back = ma.read(tmp_path / f"masked.{form}").table
    assert Counter(map(str, back[name].to_pylist())) == Counter(map(str, release.data[name].to_pylist()))


def test_what_is_said_of_the_kind_goes_before_what_a_text_file_looks_like(tmp_path):
    made().to_csv(tmp_path / "file.csv", index=False)
    source = ma.read(tmp_path / "file.csv")
    choices = {**CHOICES, "confidential": ["score"], "t": 0.5}
    release = ma.protect(source, **choices, kinds={"score": "nominal"})
    assert release.diversity.after["score"].t == pytest.approx(oracle_t(made(), "score", release.groups, False))
    with pytest.raises(InvalidParameter, match="no column that t applies to has an order") as caught:
        ma.protect(source, **choices, kinds={"score": "nominal"}, diversity="closeness")
    assert caught.value.parameter == "diversity"


def test_an_ordered_category_is_ordered_and_a_taxonomy_is_a_tree():
    frame = made()
    frame["level"] = pd.Categorical(frame["diagnosis"], ["none", "flu", "asthma", "heart"], ordered=True)
    release = ma.protect(frame, **CHOICES, confidential=["level"], t=0.3)
    codes = pd.DataFrame({"level": frame["level"].cat.codes})
    assert release.diversity.after["level"].t == pytest.approx(oracle_t(codes, "level", release.groups, True))
    tree = {"asthma": ("lung", "all"), "flu": ("lung", "all"), "heart": ("heart", "all"), "none": ("none", "all")}
    release = ma.protect(frame, **CHOICES, confidential=["diagnosis"], t=0.3, taxonomy={"diagnosis": tree})
    values = sorted(tree)
    file = [values.index(value) for value in frame["diagnosis"]]
    levels = [{i: i for i in range(4)}, {i: tree[value][0] for i, value in enumerate(values)}]
    worst = max(
        oracle.t_tree([file[row] for row in np.flatnonzero(release.groups == group)], file, levels)
        for group in range(release.n_groups)
    )
    assert release.diversity.after["diagnosis"].t == pytest.approx(worst)
    assert worst <= 0.3 + 1e-12


def test_classes_of_a_recoded_column_are_what_is_counted():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(20, 80, 200), "income": rng.lognormal(10, 0.5, 200).round(2)})
    choices = {"k": 3, "quasi": ["age"], "confidential": ["income"], "l": 2}
    with pytest.raises(InvalidParameter, match="nearly all values of column 'income' differ"):
        ma.protect(frame, **choices)
    release = ma.protect(frame, **choices, recode={"income": {"width": 10000}})
    assert release.data.groupby("age")["income"].nunique().min() >= 2


@pytest.mark.parametrize("form", ["csv", "parquet", "feather", "sav"])
def test_a_file_whose_confidential_values_moved_is_not_written(tmp_path, monkeypatch, form):
    """A fault hands two confidential values out to each other: the masked ones know nothing of it."""
    release = ma.protect(made(), **CHOICES, confidential=["diagnosis"], l=2)

    def faulty(table):
        values = whole(table)["diagnosis"].to_pylist()
        other = next(row for row, value in enumerate(values) if value != values[0])
        values[0], values[other] = values[other], values[0]
        at = table.column_names.index("diagnosis")
        return whole(table).set_column(at, "diagnosis", pa.array(values, table["diagnosis"].type))

    whole = sources._without_traces
    monkeypatch.setattr(sources, "_without_traces", faulty)
    with pytest.raises(
        PromiseBroken, match="column 'diagnosis' does not have, row by row, the values for which l or t was kept"
    ):
        ma.write(release, tmp_path / f"wrong.{form}")
    assert not (tmp_path / f"wrong.{form}").exists()


@pytest.mark.parametrize("form", ["csv", "parquet", "feather", "sav"])
@pytest.mark.parametrize("demand", [{"l": 2}, {"t": 0.4}, {"entropy_l": 1.5}])
@pytest.mark.parametrize("same_order", [False, True])
def test_a_file_that_breaks_a_demand_is_not_written(tmp_path, monkeypatch, form, demand, same_order):
    """A fault hands the masked values out in another order: k still holds, and l and t do not."""
    frame = made().sort_values("diagnosis", ignore_index=True)
    release = ma.protect(frame, **CHOICES, confidential=["diagnosis"], **demand)
    release = replace(release, recipe=release.recipe.replace(same_order=same_order))
    ma.write(release, tmp_path / f"right.{form}")

    def faulty(table):
        frame = whole(table).to_pandas()
        by_diagnosis = frame["diagnosis"].argsort(kind="stable").to_numpy()
        in_order = frame[["age", "wage"]].sort_values(["age", "wage"]).to_numpy()
        frame.loc[by_diagnosis, ["age", "wage"]] = in_order
        return pa.Table.from_pandas(frame, schema=table.schema, preserve_index=False)

    whole = sources._without_traces
    monkeypatch.setattr(sources, "_without_traces", faulty)
    with pytest.raises(PromiseBroken, match="disclose more of a confidential column than l or t allows"):
        ma.write(release, tmp_path / f"masked.{form}")
    assert [path.name for path in tmp_path.iterdir()] == [f"right.{form}"]


BAD = [
    ({"l": 1}, InvalidParameter, "l", "l=1 must be a whole number, at least 2"),
    ({"l": 5}, InvalidParameter, "l", r"l=5 .* has 4 different value\(s\) of column 'diagnosis'. Ask for l=4 at most"),
    ({"entropy_l": 1}, InvalidParameter, "entropy_l", "entropy_l=1 must be above 1"),
    ({"entropy_l": 4.5}, InvalidParameter, "entropy_l", r"entropy_l=4.5 .* is [\d.]+. Ask for that at most"),
    ({"recursive_l": [0.1, 2]}, InvalidParameter, "recursive_l", r"c must be above [\d.]+. Change it"),
    ({"recursive_l": [2, 7]}, InvalidParameter, "recursive_l", "the file has fewer than 7 values. Change it"),
    ({"recursive_l": [2]}, InvalidParameter, "recursive_l", r"must be two numbers: .* as in \[3, 2\]"),
    ({"recursive_l": [2, 1]}, InvalidParameter, "recursive_l", "a whole l of 2 or more"),
    ({"t": 0}, InvalidParameter, "t", "t=0 must be above 0 and below 1"),
    ({"t": 1.5}, InvalidParameter, "t", "t=1.5 must be above 0 and below 1"),
    ({"t": 0.001, "strata": ["region"]}, InvalidParameter, "t", r"Ask for t=0\.\d+ or more, or merge strata"),
    ({"l": 2, "confidential": []}, InvalidParameter, "l", "none is named. Name them: confidential"),
    ({"l": 2, "l_columns": ["diagnosi"]}, RoleError, "l_columns", "Did you mean 'diagnosis'"),
    ({"t": 0.5, "t_columns": ["age"]}, RoleError, "t_columns", "column 'age' in t_columns is not confidential"),
    ({"t": 0.5, "l_columns": ["diagnosis"]}, InvalidParameter, "l_columns", "Set l, or leave the names out"),
    ({"l": 2, "t_columns": ["diagnosis"]}, InvalidParameter, "t_columns", "Set t, or leave the names out"),
    ({"diversity": "merge"}, InvalidParameter, "diversity", "works only with l or t. Set one of them, or leave it out"),
    ({"l": 2, "diversity": "best"}, InvalidParameter, "diversity", "Pass one of 'auto', 'merge'"),
    ({"l": 2, "diversity": "swap"}, InvalidParameter, "diversity", "for t, which is not asked for. Choose one"),
    ({"t": 0.5, "diversity": "candidates"}, InvalidParameter, "diversity", "for l, which is not asked for. Choose"),
    ({"t": 0.5, "diversity": "closeness"}, InvalidParameter, "diversity", "no column .* has an order. Choose one of"),
    ({"l": 2, "unit": "code", "diversity": "candidates"}, InvalidParameter, "diversity", "one of 'auto', 'merge'"),
    ({"l": 2, "method": "ranking", "per_column": True}, InvalidParameter, "per_column", "Leave one of the two out"),
    ({"l": 2, "unit": "code", "unit_release": "pseudonym"}, InvalidParameter, "unit_release", "Leave one of the two"),
]  # fmt: skip


@pytest.mark.parametrize(("demand", "kind", "parameter", "message"), BAD, ids=lambda one: str(one)[:30])
def test_what_is_refused_is_told_with_value_limit_and_remedy(monkeypatch, demand, kind, parameter, message):
    """Before any work: no group is formed."""

    def never(*_, **__):
        raise AssertionError("groups were formed")

    monkeypatch.setattr("microagg.mask.groups.group_pieces", never)
    choices = {**CHOICES, "k": 2, "confidential": ["diagnosis"], **demand}
    with pytest.raises(kind, match=message) as caught:
        ma.protect(made(), **choices)
    assert caught.value.parameter == parameter


def test_neither_recipe_nor_pickle_tell_the_values(tmp_path):
    release = ma.protect(made(), **CHOICES, confidential=["diagnosis"], l=2)
    assert pickle.loads(pickle.dumps(release))._demand is None
    release.recipe.write(tmp_path / "recipe.toml")
    assert not any(word in (tmp_path / "recipe.toml").read_text() for word in ("asthma", "flu", "heart"))
    again = ma.protect(made(), recipe=ma.Recipe.read(tmp_path / "recipe.toml"))
    assert again.data.equals(release.data)
    assert again.diversity.way == release.diversity.way == again.recipe.diversity.way


def test_values_that_a_format_cannot_tell_apart_are_not_written(tmp_path):
    """SPSS cuts blanks at the end, so that two values of a group would be one."""
    frame = pd.DataFrame({"age": np.arange(40.0), "diagnosis": ["asthma", "asthma "] * 20})
    release = ma.protect(frame, 4, quasi=["age"], confidential=["diagnosis"], l=2)
    with pytest.raises(PromiseBroken, match="does not have, row by row, the values"):
        ma.write(release, tmp_path / "out.sav")
    ma.write(release, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == [tmp_path / "out.csv"]


def test_empty_text_is_none_of_the_different_values():
    frame = pd.DataFrame({"age": np.arange(40.0), "diagnosis": ["asthma", "", " ", "asthma"] * 10})
    with pytest.raises(InvalidParameter, match=r"the file has 1 different value\(s\)"):
        ma.protect(frame, 4, quasi=["age"], confidential=["diagnosis"], l=2)


def test_as_many_are_not_fewer_whatever_a_product_is_rounded_to():
    """2.2 times 25 is a little more than 55 in floats."""
    frame = pd.DataFrame({"age": np.repeat([1.0, 2.0], 80), "diagnosis": (["a"] * 55 + ["b"] * 15 + ["c"] * 10) * 2})
    choices = {"k": 80, "quasi": ["age"], "confidential": ["diagnosis"]}
    with pytest.raises(InvalidParameter, match=r"c must be above 2\.2\."):
        ma.protect(frame, **choices, recursive_l=[2.2, 2])
    (goal,) = ma.protect(frame, **choices, recursive_l=[2.21, 2]).diversity.goals["diagnosis"]
    assert (goal.reached, goal.holds) == (2.2, True)


def test_codes_whose_order_closeness_goes_by_are_told():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.normal(size=300), "job": rng.choice([11, 23, 52, 61, 77], 300)})
    choices = {"k": 5, "quasi": ["age"], "confidential": ["job"], "t": 0.5}

    def told(**more):
        findings = ma.protect(frame, **choices, **more).report_model().verdict.findings
        return [one.text for one in findings if one.topic == "closeness"]

    (text,) = told()
    assert "order of numbers that are probably codes: “job”" in text
    assert told(kinds={"job": "nominal"}) == told(kinds={"job": "number"}) == []
