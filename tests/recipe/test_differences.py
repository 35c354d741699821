"""A recipe and the next file: what it was written for is kept in little, and what differs is said in counts."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter, RoleError
from microagg.files.batches import Batches
from microagg.recipe.profile import MOST, compared, profile_of

ROLES = {"identifiers": ["person"], "strata": ["region"], "weight": "w", "keep": ["note"]}
CHOSEN = {"quasi": ["age", "job", "born"], "kinds": {"born": "date"}, "missing_codes": {"age": [-9]}, **ROLES}


def file(n=200, **changed):
    rng = np.random.default_rng(0)
    columns = {
        "person": np.arange(n),
        "region": rng.choice(["north", "south"], n),
        "w": rng.uniform(100, 900, n),
        "note": rng.choice(["a", "b"], n),
        "age": rng.integers(18, 90, n),
        "job": rng.choice(["baker", "nurse", "clerk"], n),
        "born": [f"19{year:02d}-05-01" for year in rng.integers(10, 99, n)],
    }
    return pa.table(columns | changed)


def recipe(**choices):
    return ma.Recipe.of(k=3, **{**CHOSEN, **choices}).with_profile(file())


def lines(found):
    return [str(one) for one in found]


def with_values(name, values, n=200):
    """Give the file whose first cells of a column are these."""
    old = file(n)[name].to_pylist()
    return file(n, **{name: [*values, *old[len(values) :]]})


def test_the_same_file_does_not_differ_whatever_holds_it(tmp_path):
    table, own = file(), recipe()
    ma.write(table, tmp_path / "a.csv")
    ma.write(table, tmp_path / "a.parquet")
    frames = [
        table,
        table.to_pandas(),
        pl.from_arrow(table),
        ma.read(tmp_path / "a.csv"),
        ma.read(tmp_path / "a.parquet"),
    ]
    frames += [Batches(tmp_path / "a.csv"), Batches(tmp_path / "a.parquet")]
    for frame in frames:
        assert profile_of(own, frame) == own.profile
        assert own.differences(frame) == ()


def test_parts_of_a_file_add_up_to_the_whole(tmp_path):
    import pyarrow.parquet as pq

    pq.write_table(file(2000), tmp_path / "a.parquet", row_group_size=70)
    assert profile_of(recipe(), Batches(tmp_path / "a.parquet")) == profile_of(recipe(), file(2000))


def test_a_profile_decides_nothing_and_is_kept_in_the_file(tmp_path):
    own = recipe()
    bare = replace(own, profile=None)
    assert own == bare
    assert own.digest == bare.digest
    assert repr(own) == repr(bare)
    own.write(tmp_path / "recipe.toml")
    read = ma.Recipe.read(tmp_path / "recipe.toml")
    assert read.profile == own.profile
    assert read.text() == own.text()
    assert bare.text() == own.text().partition("\n[profile]")[0]
    assert ma.protect(file(), recipe=read).data.equals(ma.protect(file(), recipe=bare).data)


def test_a_profile_names_no_category_and_no_value_of_a_record(tmp_path):
    text = recipe().text()
    part = text[text.index("[profile]") :]
    for word in ("baker", "nurse", "north", "1950", 'note = {type = "text", categories'):
        assert word not in part
    assert 'age = {type = "numbers", median = 60, high = 90}' in part.splitlines()
    assert "person = {}" in part
    few = profile_of(ma.Recipe.of(k=3, quasi=["a"]), pa.table({"a": [0.0] * 100 + [7.0] * 19}))
    assert few.columns["a"].median is None
    recipe().write_public(tmp_path / "public.toml")
    assert "[profile]" not in (tmp_path / "public.toml").read_text()


def test_a_stored_release_has_neither_profile_nor_differences():
    release = ma.protect(with_values("region", ["east"] * 9), recipe=recipe())
    assert lines(release.differences) == ["~ column 'region': 1 category is new."]
    assert release.recipe.profile is None
    stored = pickle.loads(pickle.dumps(release))
    assert stored.differences == ()
    assert stored.recipe.profile is None


@pytest.mark.parametrize(
    ("table", "said", "stops"),
    [
        (
            file().append_column("new", file()["age"]),
            "+ column 'new': it is new, and the recipe gives it no role.",
            True,
        ),
        (file().drop_columns(["note"]), "- column 'note': it is gone, and the recipe names it in keep.", True),
        (with_values("job", ["smith", "cook", "cook"]), "~ column 'job': 2 categories are new.", False),
        (file(region=["west"] * 200), "~ column 'region': 1 category is new and 2 categories are gone.", False),
        (file(age=(file()["age"].to_numpy() * 12)), "~ column 'age': its numbers are about 10 times as large.", False),
        (file(w=(file()["w"].to_numpy() / 1000)), "~ column 'w': its numbers are about 1000 times smaller.", False),
        (file(age=file()["age"].cast("string")), "~ column 'age': it holds text, and held numbers.", True),
        (file(w=file()["w"].cast("string")), "~ column 'w': it holds text, and held numbers.", False),
        (with_values("born", ["1.5.1950"]), "~ column 'born': it holds text, and held dates.", True),
        (with_values("age", [None] * 40), "~ column 'age': 20 % of its values are missing, and 0 % were.", False),
        (with_values("age", [-9] * 40), "~ column 'age': 20 % of its values are missing, and 0 % were.", False),
    ],
    ids=lambda one: one[:20] if isinstance(one, str) else "",
)
def test_each_difference_is_said_in_counts(table, said, stops):
    found = recipe().differences(table)
    assert lines(found) == [said]
    assert found[0].stops is stops


def test_numbers_that_grow_as_years_go_do_not_differ():
    assert recipe().differences(file(w=file()["w"].to_numpy() * 1.7, age=file()["age"].to_numpy() + 3)) == ()


def test_an_older_recipe_compares_columns_alone():
    bare = replace(recipe(), profile=None)
    assert bare.differences(with_values("job", ["smith"])) == ()
    assert [one.sign for one in bare.differences(file().rename_columns(["who", *file().column_names[1:]]))] == [
        "+",
        "-",
    ]


def test_names_that_may_be_cells_are_not_shown():
    assert recipe().differences(pa.table({"Smith": [1], "1950": [2]})) == ()


@pytest.mark.parametrize(
    ("rest", "said", "stops"),
    [("drop", "it is new, and is left out.", False), ("keep", "it is new, and would be released unchanged.", True)],
)
def test_a_new_column_under_rest(rest, said, stops):
    own = ma.Recipe.of(k=3, quasi=["age"], rest=rest).with_profile(file())
    found = own.differences(file().append_column("new", file()["age"]))
    assert [(one.text, one.stops) for one in found] == [(said, stops)]
    assert [one.text for one in own.differences(file().drop_columns(["w"]))] == ["it is gone."]


def test_a_new_column_is_masked_where_all_others_are():
    own = ma.Recipe.of(k=3, drop=["person"]).with_profile(file())
    assert [one.text for one in own.differences(file().append_column("new", file()["age"]))] == [
        "it is new, and is masked."
    ]


DECLARED = {
    "levels": ({"kinds": {"job": ["nurse", "clerk", "baker"], "born": "date"}}, "The list of levels in [kinds]"),
    "join": ({"recode": {"job": {"join": {"other": ["clerk", "poet"]}}}}, "The rule in [recode]"),
    "taxonomy": ({"taxonomy": {"job": {"nurse": "care", "clerk": "desk", "baker": "food"}}}, "The taxonomy"),
}


@pytest.mark.parametrize("way", DECLARED)
def test_a_category_that_a_declaration_does_not_know_stops_the_run(way):
    choices, place = DECLARED[way]
    own, table = recipe(**choices), with_values("job", ["smith", "cook", "cook"])
    (found,) = own.differences(table)
    assert str(found) == f"~ column 'job': 2 categories are new. {place} does not have 2 of the new ones."
    with pytest.raises(InvalidData) as caught:
        ma.protect(table, recipe=own)
    assert found.remedy in str(caught.value)
    assert "delete its line in [profile]" in str(caught.value)
    assert "smith" not in str(caught.value)
    assert caught.value.columns == ("job",)


def test_a_category_that_the_rule_names_is_known():
    own = recipe(**DECLARED["join"][0])
    (found,) = own.differences(with_values("job", ["poet", "poet", "poet"]))
    assert str(found) == "~ column 'job': 1 category is new."
    assert not found.stops


def test_another_scale_of_a_recoded_column_stops_the_run():
    own = recipe(recode={"age": {"top": 80}})
    table = file(age=file()["age"].to_numpy() * 12)
    with pytest.raises(InvalidData, match=r"'age': its numbers are about 10 times as large\. The rule in \[recode\]"):
        ma.protect(table, recipe=own)
    accepted = ma.Recipe.parse(
        "\n".join(line for line in own.text().splitlines() if not line.startswith("age = {type"))
    )
    assert ma.protect(table, recipe=accepted).differences == ()


def test_roles_that_do_not_fit_are_refused_as_before():
    with pytest.raises(RoleError, match="new"):
        ma.protect(file().append_column("new", file()["age"]), recipe=recipe())


def test_codes_of_another_type_are_the_same_categories():
    own = ma.Recipe.of(k=3, quasi=["c"], kinds={"c": "nominal"})
    whole = pa.table({"c": [1, 2, 3] * 10})
    own = own.with_profile(whole)
    assert own.differences(pa.table({"c": [1.0, 2.0, 3.0] * 10})) == ()
    assert own.differences(pa.table({"c": ["1", "2", "3"] * 10})) == ()
    assert own.differences(pd.DataFrame({"c": pd.Categorical([1, 2, 3] * 10)})) == ()


def test_very_many_categories_are_not_kept():
    own = ma.Recipe.of(k=3, quasi=["c"])
    many, few = pa.table({"c": [f"c{i}" for i in range(MOST + 1)]}), pa.table({"c": ["a", "b"] * 10})
    assert own.with_profile(many).profile.columns["c"].categories is None
    (found,) = own.with_profile(few).differences(many)
    assert str(found) == f"~ column 'c': it has more than {MOST} categories, and had 2."


def test_a_file_is_compared_once_and_a_sample_of_it_never(caplog):
    table, own = with_values("region", ["east"] * 9), recipe(nominal="mode")
    ma.compare(table, ["mdav", "cbfs"], [3], recipe=own)
    assert sum("Compared with the file" in one.message for one in caplog.records) == 1
    assert compared(replace(own, profile=None), table) == (replace(own, profile=None), ())


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("profile = 3", "'profile' must be a table: [profile]."),
        ("[profile]\nage = 3", "line 5: in [profile], age must be as it was written"),
        ("[profile]\nage = {type = 'cats'}", "line 5: in [profile], age must be as it was written"),
        ("[profile]\nage = {kind = 'text'}", "line 5: in [profile], age must be as it was written"),
        ("[profile]\nage = {median = true}", "line 5: in [profile], age must be as it was written"),
        ("[profile]\nage = {categories = [1]}", "line 5: in [profile], age must be as it was written"),
    ],
)
def test_a_profile_that_was_changed_is_refused_with_its_line(line, what):
    head = "k = 3\n[roles]\nquasi = ['age']\n"
    text = f"{line}\n{head}" if line.startswith("profile") else f"{head}{line}"
    with pytest.raises(InvalidParameter) as caught:
        ma.Recipe.parse(text)
    assert what in str(caught.value)
