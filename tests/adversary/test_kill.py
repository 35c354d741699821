"""The campaign of kills: a few real ones, and that each of its checks can fail."""

import os
import shutil
import stat

import pytest

from adversary import jobs as made_jobs
from adversary.children import NAME, Child, digest, holds, in_session
from adversary.jobs import FORMER, JOBS, Job, of_database, of_picture
from adversary.kill import SIGNALS, Case, Outcome, _look, _run_again, campaign, told
from microagg import cli


class Ended:
    """A program that has ended, and what it said."""

    def __init__(self, err="", code=1):
        self.err, self.out, self.process = err, "", type("Process", (), {"returncode": code})


@pytest.fixture
def job(tmp_path):
    """Give a job of which the former and the new output are known, without running anything."""
    pool = tmp_path / "pool"
    pool.mkdir()
    (pool / "s.csv").write_text("a,b\n1,2\n")
    made = Job("memory", "s.csv", ["mask"], ["out"], pool)
    for label, text in (("former", "old"), ("new", "fresh")):
        out = pool / "memory" / label / "out"
        out.mkdir(parents=True, mode=0o700)
        (out / "masked.csv").write_text(text)
        (out / "report.html").write_text(f"report of {text}")
        (out / "report.html").chmod(0o600)
        setattr(made, label, {"out": made.digest_of("out", out.parent)})
    return made


@pytest.fixture
def place(job, tmp_path):
    folder = tmp_path / "place"
    folder.mkdir()
    (tmp_path / "scratch").mkdir()
    job.lay_out(folder, with_former=True)
    return folder


def look(job, place, signals=("TERM",), **said):
    """Give what is found wrong after signals."""
    case = Case(0, job.name, signals, 0.9, 0.0, True)
    job.seconds = 10.0
    outcome = Outcome(case)
    _look(case, job, place, place.parent / "scratch", Ended(**said), outcome)
    return outcome


def test_a_former_output_that_is_whole_is_no_problem(job, place):
    outcome = look(job, place)
    assert (outcome.state, outcome.problems) == ("former", [])


def test_a_half_written_output_is_a_problem(job, place):
    (place / "out" / "masked.csv").write_text("fre")
    for signals in (("TERM",), ("KILL",)):
        outcome = look(job, place, signals)
        assert outcome.state == "half"
        assert "the output is half" in outcome.problems[0]


def test_a_former_output_that_is_gone_is_a_problem_unless_it_lies_aside(job, place):
    aside = place / ".microagg-0123456789abcdef-x"
    (aside / "replaced").mkdir(parents=True)
    aside.chmod(0o700)
    shutil.move(place / "out", aside / "replaced" / "out")
    assert look(job, place, ("KILL",)).problems == []
    assert "the output is lost" in look(job, place, ("TERM",)).problems[0]
    shutil.rmtree(aside)
    assert "the output is lost" in look(job, place, ("KILL",)).problems[0]


def test_what_is_left_behind_is_a_problem_and_who_may_read_it(job, place):
    left = place / ".out.microagg-x.part"
    left.write_text("")
    left.chmod(0o644)
    problems = look(job, place).problems
    assert any("left behind after a signal" in one for one in problems)
    assert any("open to others" in one for one in problems)
    left.chmod(0o600)
    assert look(job, place, ("KILL",)).problems == []
    left.unlink()
    (place.parent / "scratch" / "x").write_text("")
    (place.parent / "scratch" / "x").chmod(0o600)
    assert any("left behind" in one for one in look(job, place).problems)


def test_internal_files_that_others_may_read_are_a_problem(job, place):
    (place / "out" / "report.html").chmod(0o644)
    assert look(job, place).problems == ["report.html is open to others"]
    (place / "out" / "report.html").chmod(0o600)
    (place / "out").chmod(0o755)
    assert look(job, place).problems == ["the folder of report.html is open to others"]


def test_a_traceback_a_false_success_and_a_canary_are_problems(job, place):
    ours = f"Traceback (most recent call last)\n  File {cli.__file__}, in main\nKeyboardInterrupt"
    assert "a traceback" in look(job, place, err=ours).problems[0]
    for frame in ("typing.py, in <module>", "<frozen site>, in main"):
        early = look(job, place, err=f"Traceback (most recent call last)\n  File {frame}\nKeyboardInterrupt")
        assert (early.problems, early.remarks) == ([], ["Python's own traceback, before our first line"])
    assert "all went well" in look(job, place, code=0).problems[0]
    (place / "out" / "masked.csv").write_text(f"{NAME}12")
    assert any("holds" in one and NAME in one for one in look(job, place).problems)


def test_torn_outputs_are_a_problem_unless_it_is_said(job, place):
    job.outputs = ["out", "data"]
    job.former["data"], job.new["data"] = "absent", digest(place / "s.csv", [place])
    shutil.copy(place / "s.csv", place / "data")
    assert "torn" in look(job, place).problems[0]
    assert look(job, place, err="The masked data is already in 'data', but").problems == []
    assert look(job, place, ("KILL",)).problems == []


def test_a_next_run_that_leaves_something_is_a_problem(job, place, tmp_path):
    class Started(Job):
        def start(self, place, _, **__):
            shutil.rmtree(place / "out")
            shutil.copytree(self.pool / "memory" / "new" / "out", place / "out")
            return type("Child", (), {"ended": lambda *_: True, "end": lambda *_: None, **vars(Ended(code=0))})()

    job.__class__ = Started
    case, outcome = Case(0, "memory", ("KILL",), 0.5, 0.0, True), Outcome(None)
    _run_again(case, job, place, tmp_path / "scratch", outcome)
    assert outcome.problems == []
    (place / ".making-x").write_text(f"{NAME}1")
    _run_again(case, job, place, tmp_path / "scratch", outcome)
    assert "left behind after the next run: ['place/.making-x'], with values of the original" in outcome.problems[0]


def test_a_replaced_table_can_be_seen_in_its_file(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    path = tmp_path / "base.db"
    duckdb.connect(str(path)).close()
    assert of_database(path) == "absent"
    made_jobs._former_table(tmp_path)
    whole = of_database(path)
    assert len(whole) == 16
    with duckdb.connect(str(path)) as connection:
        connection.execute("DROP TABLE t")
    assert of_database(path) == "absent"
    assert holds(path, [FORMER.encode()])  # what a mere drop leaves


def test_a_picture_without_its_end_is_half(tmp_path):
    path = tmp_path / "map.svg"
    path.write_text("<svg><!-- k = 3 --></svg>\n")
    whole = of_picture(path)
    path.write_text("<svg><!-- k = 4 --></svg>\n")
    assert len({whole, of_picture(path), "half"}) == 3
    path.write_text("<svg><!-- k = 4 -->")
    assert of_picture(path) == "half"


def test_cases_follow_from_the_seed():
    first = [Case.of(7, number, list(JOBS)) for number in range(200)]
    assert first == [Case.of(7, number, list(JOBS)) for number in range(200)]
    assert first != [Case.of(8, number, list(JOBS)) for number in range(200)]
    assert {one.job for one in first} == {*JOBS}
    assert {one.signals for one in first} == {*SIGNALS}


def test_a_failing_case_is_told_with_what_does_it_again():
    outcome = Outcome(Case(12, "disk", ("TERM",), 0.5, 0.0, True), "half", 0.4, ["the output is half"])
    text = told([outcome], 3)
    assert "failed: 1" in text
    assert "python -m adversary kill --seed 3 --only 12" in text


@pytest.mark.campaign
def test_a_few_kills_leave_nothing_by_halves(tmp_path):
    outcomes = campaign(1, range(2), ["memory"], 1, tmp_path)
    assert [one.problems for one in outcomes] == [[]] * 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pool"]


@pytest.mark.campaign
def test_a_child_and_what_it_starts_are_seen_to_end(tmp_path):
    (tmp_path / "scratch").mkdir()
    child = Child(["datasets", "make", "survey", "-o", "s.csv", "-q"], tmp_path, tmp_path / "scratch")
    assert child.process.pid != os.getpid()
    assert child.ended(60)
    assert in_session(child.process.pid) == []
    assert (child.process.returncode, child.err) == (0, "")
    assert stat.S_ISREG((tmp_path / "s.csv").stat().st_mode)
