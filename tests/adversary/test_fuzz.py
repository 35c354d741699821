"""The campaign finds nothing here, and would find what is planted."""

import math
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from adversary import checks, corpus, fuzz, recount
from adversary.case import Case
from adversary.running import Outcome

ROWS = {"wage": [1.5, 1.5, 2.5, 2.5], "region": ["N", "N", "S", "S"], "illness": ["flu", "none", "flu", "flu"]}
RECIPE = 'k = 2\n[roles]\nquasi = ["wage"]\nstrata = ["region"]\nconfidential = ["illness"]\n'


@pytest.mark.campaign
def test_every_case_that_ever_failed_and_some_more_are_kept(tmp_path):
    command = [
        sys.executable,
        "-m",
        "adversary",
        "fuzz",
        "--seed",
        "22",
        "--cases",
        "300",
        "--folder",
        tmp_path / "kept",
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(fuzz.__file__).parent.parent, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"corpus {len(list(corpus.cases()))}" in done.stdout


def test_a_case_of_a_seed_is_always_the_same():
    for number in range(40):
        one, two = (fuzz.drawn(5, number) for _ in range(2))
        assert (one.files, one.commands, one.chosen) == (two.files, two.commands, two.chosen)
    assert fuzz.drawn(5, 0).files != fuzz.drawn(6, 0).files


def test_a_case_is_kept_as_it_was():
    case = Case("text", {"in.csv": b"a,b\n1,2\n", "x": b"\xff\x00"}, [["mask", "in.csv"]], {"k": 3}, ["secret"])
    assert Case.from_json(case.as_json()) == case


def written(folder, rows, recipe=RECIPE):
    """Write what a run would leave, and give it as a command that succeeded."""
    (folder / "out").mkdir()
    pq.write_table(pa.table(rows), folder / "out" / "in_masked.parquet")
    (folder / "out" / "recipe.toml").write_text(recipe)
    return Outcome(["mask", "in.parquet"])


def test_what_keeps_its_promise_is_not_blamed(tmp_path):
    assert checks.promise_broken(Case("x"), written(tmp_path, ROWS), tmp_path) == []


@pytest.mark.parametrize(
    ("changed", "recipe", "blamed"),
    [
        ({"wage": [1.5, 1.5, 2.5, 2.6]}, RECIPE, "only 1 rows share"),
        ({"region": ["N", "S", "S", "S"]}, RECIPE, "only 1 rows share"),
        ({"wage": [None, math.nan, 2.5, 2.5], "region": ["N", "S", "S", "S"]}, RECIPE, "only 1 rows share"),
        ({}, f"{RECIPE}[diversity]\nl = 2\n", "fewer than 2 values"),
        ({"illness": ["flu", "NA", "flu", "none"]}, f"{RECIPE}[diversity]\nl = 2\n", "fewer than 2 values"),
        ({}, f"{RECIPE}[diversity]\nentropy = 1.9\n", "entropy_l"),
        ({}, f"{RECIPE}[diversity]\nrecursive = [1.0, 2]\n", "recursive_l"),
    ],
)
def test_a_broken_promise_is_found(tmp_path, changed, recipe, blamed):
    wrong = checks.promise_broken(Case("x"), written(tmp_path, ROWS | changed, recipe), tmp_path)
    assert blamed in str(wrong)


def test_a_masked_file_that_nobody_can_find_or_read_is_blamed(tmp_path):
    done = written(tmp_path, ROWS)
    (tmp_path / "out" / "in_masked.parquet").write_bytes(b"damaged")
    assert "cannot be read" in str(checks.promise_broken(Case("x"), done, tmp_path))
    (tmp_path / "out" / "in_masked.parquet").unlink()
    assert "no masked file" in str(checks.promise_broken(Case("x"), done, tmp_path))


def test_k_by_units_is_counted_by_units():
    rows = {"wage": [1, 1, 1, 1], "row": ["r0", "r1", "r2", "r3"]}
    said = {"k": 2, "quasi": ["wage"], "row": "row", "in_part": True}
    apart = dict(zip(rows["row"], "aabb", strict=True))
    assert recount.broken(rows, said | {"units": apart}) == []
    assert "more than 1/2" in str(recount.broken(rows, said | {"units": apart | {"r2": "a"}}))
    assert recount.broken(rows, said | {"units": apart | {"r2": "a"}, "in_part": False}) == []
    assert "fewer than 2 units" in str(recount.broken(rows, said | {"units": dict.fromkeys(rows["row"], "a")}))
    assert "fewer than 2 units" in str(recount.broken(rows, said | {"units": {}}))
    lost = dict.fromkeys(rows["row"], "a")
    assert recount.broken(rows, said | {"units": lost, "damaged": True}) == []
    paired = {"wage": [1, 2, 1, 2, 1, 3], "home": [1, 1, 2, 2, 3, 3]}
    assert "only 1 units have the same rows" in str(recount.broken(paired, said | {"pseudonym": "home"}))


def test_units_of_two_files_are_counted_together():
    persons = {"home": ["1", "1", "2", "2"], "age": ["7", "8", "8", "7"]}
    households = {"home": ["1", "2"], "rooms": ["3", "3"]}
    assert recount.broken_apart([persons, households], "home", ["age", "rooms"], 2) == []
    apart = households | {"rooms": ["3", "4"]}
    assert "only 1 units" in str(recount.broken_apart([persons, apart], "home", ["age", "rooms"], 2))


FINE = Outcome(["mask", "in.csv"], 1, "", "InvalidData: column 'a' has no values.\n")


@pytest.mark.parametrize(
    ("changed", "blamed"),
    [
        ({}, ""),
        ({"fault": "Traceback\nKeyError: 3"}, "KeyError"),
        ({"err": "InvalidData: 'qwxkjhgf' is no number."}, "a cell in a message"),
        ({"out": "qwxkjhgf"}, "a cell in a message"),
        ({"err": "\x1b[31mred"}, "control characters"),
        ({"err": ""}, "without a word"),
        ({"code": 3}, "exit code 3"),
        ({"warned": ["RuntimeWarning"]}, "a warning of Python"),
        ({"err": "MemoryError: The file does not fit into memory."}, "does not tell"),
    ],
)
def test_what_a_refusal_may_not_say_is_found(changed, blamed):
    done = Outcome(**{**vars(FINE), **changed})
    wrong = list(checks.wrong_of(Case("x", secrets=["qwxkjhgf"]), done, {}, {}, []))
    assert blamed in str(wrong) if blamed else wrong == []


@pytest.mark.parametrize(
    ("code", "before", "after", "scratch", "blamed"),
    [
        (1, {"in.csv": b"a"}, {"in.csv": b"a"}, [], ""),
        (0, {"in.csv": b"a"}, {"in.csv": b"a", "out": None, "out/in_masked.csv": b"b"}, [], ""),
        (1, {}, {"out": None}, [], "refused, and something was written"),
        (0, {"in.csv": b"a"}, {"in.csv": b"a"}, [], "nothing was written"),
        (0, {"in.csv": b"a"}, {"in.csv": b"b", "out": None}, [], "was changed"),
        (0, {"in.csv": b"a"}, {"out": None}, [], "was changed"),
        (0, {}, {"out": None, "out/.microagg-1a-x": None}, [], "left over"),
        (0, {}, {"out": None, "out/x.part": b""}, [], "left over"),
        (1, {}, {}, ["x"], "temporary files"),
    ],
)
def test_what_is_left_over_is_found(code, before, after, scratch, blamed):
    wrong = list(checks.files_wrong(Outcome(["mask", "in.csv"], code), before, after, scratch))
    assert blamed in str(wrong) if blamed else wrong == []


def test_a_case_that_fails_is_kept_with_all_that_it_needs(tmp_path):
    def fails():
        raise ZeroDivisionError

    case = Case("frame", {"in.csv": b"a\n1\n"}, act=fails)
    verdict = fuzz.judged(case)
    assert "ZeroDivisionError" in str(verdict.wrong)
    fuzz.keep(case, verdict, tmp_path / "kept")
    assert (tmp_path / "kept" / "in.csv").read_bytes() == b"a\n1\n"
    assert "ZeroDivisionError" in (tmp_path / "kept" / "what_came_out.txt").read_text()
    assert Case.from_json((tmp_path / "kept" / "case.json").read_text()).files == case.files
