"""Small strata are listed for the steward alone: in a private file, and nowhere else."""

import json
import os
import stat
from pathlib import Path

import pytest

from microagg import jobs as desk
from microagg.base import ownership
from microagg.errors import InvalidParameter
from tests.cli import call, complaint

SECRETS = ("north-secret", "south-secret")


@pytest.fixture
def people(tmp_path, monkeypatch):
    """Give a file in which two of four homes have fewer than five records, and one record elsewhere lacks an income."""
    monkeypatch.chdir(tmp_path)
    homes = ["east"] * 30 + ["west"] * 31 + ["north-secret"] * 3 + ["south-secret"] * 4
    rows = [f"{home},{i % 2},{20 + i % 40},{1000 + i}" for i, home in enumerate(homes)]
    rows[-8] = rows[-8].rpartition(",")[0] + ","
    (tmp_path / "people.csv").write_text("\n".join(["home,kind,age,income", *rows]) + "\n")
    return tmp_path


INSPECT = ("inspect", "people.csv", "--strata", "home", "--small-strata")


@pytest.mark.usefixtures("people")
def test_small_strata_are_listed_in_a_file_that_only_its_owner_reads():
    result = call(*INSPECT, "small.csv")
    assert "2 strata with fewer than 5 records: written to small.csv (private)" in result.stdout
    assert Path("small.csv").read_text() == "home,records\nnorth-secret,3\nsouth-secret,4\n"
    if ownership.KNOWN:
        assert stat.S_IMODE(Path("small.csv").stat().st_mode) == 0o600
    for secret in SECRETS:
        assert secret not in result.output
        assert secret not in Path("recipe.toml").read_text()
    assert sorted(os.listdir()) == ["people.csv", "recipe.toml", "small.csv"]  # noqa: PTH208


@pytest.mark.usefixtures("people")
def test_the_roles_that_were_asked_for_are_shown_and_written():
    found = json.loads(call(*INSPECT, "small.csv", "--json", "-k", 4).stdout)
    home = next(column for column in found["columns"] if column["name"] == "home")
    assert (home["role"], home["reason"]) == ("strata", "as asked for")
    assert (found["small_strata"], found["small_strata_file"], found["k"]) == (1, "small.csv", 4)
    assert not any(secret in json.dumps(found) for secret in SECRETS)
    assert 'strata = [\n    "home",' in Path("recipe.toml").read_text()


@pytest.mark.usefixtures("people")
def test_combinations_of_strata_are_counted_as_masking_counts_them():
    call("inspect", "people.csv", "--strata", "home,kind", "--small-strata", "small.csv", "-k", 3)
    rows = Path("small.csv").read_text().splitlines()
    assert rows == ["home,kind,records", "north-secret,0,1", "north-secret,1,2", "south-secret,0,2", "south-secret,1,2"]
    said = complaint("mask", "people.csv", "--recipe", "recipe.toml", "-k", 3)
    assert "4 of 8 strata by 'home', 'kind' have fewer than k=3 records (the smallest has 1)" in said


def test_a_file_with_dates_and_words_has_small_strata_too(people):
    lines = (people / "people.csv").read_text().splitlines()
    jobs = ("baker", "smith", "clerk")
    mixed = [f"{line},19{50 + i % 40}-03-0{1 + i % 9},{jobs[i % 3]}" for i, line in enumerate(lines[1:])]
    Path("mixed.csv").write_text("\n".join([f"{lines[0]},birth,job", *mixed]) + "\n")
    result = call("inspect", "mixed.csv", "--strata", "home", "--small-strata", "small.csv")
    assert "2 strata with fewer than 5 records: written to small.csv (private)" in result.stdout
    assert Path("small.csv").read_text() == "home,records\nnorth-secret,3\nsouth-secret,4\n"


@pytest.mark.usefixtures("people")
def test_records_that_masking_leaves_out_do_not_count():
    opened = desk.open_file("people.csv", k=31, quasi=["income"], strata=["home"], rest="drop", missing="drop")
    assert desk.write_small_strata(opened, Path("small.csv")).count == 4
    assert "west,30" in Path("small.csv").read_text()
    kept = desk.open_file("people.csv", k=31, quasi=["income"], strata=["home"], rest="drop")
    assert desk.write_small_strata(kept, Path("small.csv"), overwrite=True).count == 3
    assert "west" not in Path("small.csv").read_text()


@pytest.mark.usefixtures("people")
def test_a_list_is_written_even_if_nothing_is_in_it():
    assert "0 strata with fewer than 2 records" in call(*INSPECT, "small.csv", "-k", 2).stdout
    assert Path("small.csv").read_text() == "home,records\n"
    assert "1 stratum with fewer than 4" in call(*INSPECT, "small.csv", "-k", 4, "--force").stdout


@pytest.mark.usefixtures("people")
def test_a_list_replaces_another_only_if_asked_and_stays_private():
    Path("small.csv").write_text("mine")
    Path("small.csv").chmod(0o666)
    assert "--force" in complaint(*INSPECT, "small.csv")
    assert Path("small.csv").read_text() == "mine"
    call(*INSPECT, "small.csv", "--force")
    if ownership.KNOWN:
        assert stat.S_IMODE(Path("small.csv").stat().st_mode) == 0o600
    assert "north-secret" in Path("small.csv").read_text()


@pytest.mark.usefixtures("people")
@pytest.mark.parametrize("place", ["-", "/dev/stdout", "link.csv", "nowhere.csv", "folder", "pipe"])
def test_a_list_is_not_printed_and_follows_no_link(place):
    Path("aim.csv").write_text("somebody else's")
    Path("link.csv").symlink_to("aim.csv")
    Path("nowhere.csv").symlink_to("made.csv")
    Path("folder").mkdir()
    os.mkfifo("pipe")
    assert "is private" in complaint(*INSPECT, place, "--force")
    assert Path("aim.csv").read_text() == "somebody else's"
    assert not Path("made.csv").exists()
    assert not Path("recipe.toml").exists()


def test_a_link_that_comes_to_be_in_its_place_is_replaced(people, monkeypatch):
    aim = people / "aim.csv"
    aim.write_text("somebody else's")
    opened = desk.open_file("people.csv", strata=["home"])
    monkeypatch.setattr("microagg.jobs.inspecting.check_small_strata", lambda *_, **__: None)
    (people / "small.csv").symlink_to(aim)
    desk.write_small_strata(opened, people / "small.csv")
    assert aim.read_text() == "somebody else's"
    assert not (people / "small.csv").is_symlink()
    assert "north-secret" in (people / "small.csv").read_text()


@pytest.mark.usefixtures("people")
def test_a_list_lies_in_no_output():
    call("mask", "people.csv", "--quasi", "age", "--rest", "drop", "-k", 3)
    call("mask", "people.csv", "--quasi", "age", "--rest", "drop", "-k", 3, "--to", "safe.csv", "-o", "apart")
    for place in ("out/small.csv", "out/release/small.csv", "apart/small.csv", "apart/internal/small.csv"):
        Path(place).parent.mkdir(exist_ok=True)
        assert "would be in an output folder" in complaint(*INSPECT, place, "-o", "r.toml"), place
        assert not Path(place).exists()
    assert "no folder" in complaint(*INSPECT, "new/small.csv")
    Path("own").mkdir()
    call(*INSPECT, "own/small.csv")
    assert "contains files that are not from an earlier output" in complaint(
        "mask", "people.csv", "--quasi", "age", "--rest", "drop", "-o", "own"
    )


@pytest.mark.usefixtures("people")
def test_a_list_is_neither_the_source_nor_the_recipe():
    os.link("people.csv", "hard.csv")
    for place in ("people.csv", "hard.csv"):
        assert "source itself" in complaint(*INSPECT, place, "--force")
    assert "the same name" in complaint(*INSPECT, "r.toml", "-o", "r.toml", "--force")
    call("inspect", "people.csv")
    os.link("recipe.toml", "again.toml")
    assert "the same name" in complaint(*INSPECT, "again.toml", "--force")


@pytest.mark.usefixtures("people")
def test_without_strata_there_is_no_list():
    said = complaint("inspect", "people.csv", "--small-strata", "small.csv")
    assert "no column is a stratum" in said
    assert "--strata" in said
    assert not Path("small.csv").exists()


@pytest.mark.usefixtures("people")
def test_nothing_is_left_of_a_list_that_cannot_be_written(monkeypatch):
    opened = desk.open_file("people.csv", strata=["home"])

    def fail(*_):
        raise OSError(28, "full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="full"):
        desk.write_small_strata(opened, Path("small.csv"))
    assert os.listdir() == ["people.csv"]  # noqa: PTH208
    with pytest.raises(InvalidParameter, match="is not printed"):
        desk.write_small_strata(opened, Path("-"))
