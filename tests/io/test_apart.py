"""Files of statistics packages are read by a child process: its crash is an error, and nothing of it is left behind."""

import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest

from microagg.errors import InvalidData, InvalidParameter
from microagg.files.formats import apart as _apart
from microagg.files.formats import statistics as _statistics
from microagg.files.scratch import signals_raise
from microagg.files.sources import read_source
from microagg.jobs.opening import read_file
from tests.io.tables import check_message, write_bytes, write_crashing
from tests.lengths import first_few

pyreadstat = pytest.importorskip("pyreadstat")
polars = pytest.importorskip("polars")

INSTEAD = """
import os, signal, sys, time
from microagg.errors import InvalidData
from microagg.files.formats import statistics as _statistics
read = _statistics.read_statistics
def instead(path, kind):
    if path.name.startswith("bad"):
        {does}
    return read(path, kind)
_statistics.read_statistics = instead
serve()"""


@pytest.fixture(autouse=True)
def started(monkeypatch):
    """Give the processes that a test has started; none of them serves another."""
    processes, start = [], subprocess.Popen

    def noted(*words, **more):
        processes.append(start(*words, **more))
        return processes[-1]

    _apart.end_idle()
    monkeypatch.setattr(_apart.subprocess, "Popen", noted)
    yield processes
    _apart.end_idle()
    assert all(process.returncode is not None for process in processes)


@pytest.fixture
def bad_file_does(monkeypatch, good):
    """Let children do something else with files whose names begin with bad; give such a file."""

    def does(what):
        monkeypatch.setattr(_apart, "_CHILD", _apart._CHILD.replace("\nserve()", INSTEAD.format(does=what)))
        return write_bytes(good.with_name("bad.dta"), b"")

    return does


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "good.dta"
    frame = polars.DataFrame({"x": polars.Series([1.5, "a", None], dtype=polars.Object), "t": ["u", "", "w"]})
    pyreadstat.write_dta(frame, path, missing_user_values={"x": ["a"]}, variable_value_labels={"x": {"a": "refused"}})
    return path


@pytest.fixture
def labelled(tmp_path):
    path = tmp_path / "labelled.sav"
    pyreadstat.write_sav(
        polars.DataFrame({"sex": [1.0, 2.0, 9.0], "day": [86400.0 * 200_000, None, 0.0], "town": ["n", "", "ü"]}),
        path,
        column_labels={"sex": "Sex of person"},
        variable_value_labels={"sex": {1.0: "male", 2.0: "female"}, "town": {"n": "North"}},
        variable_measure={"sex": "nominal"},
        variable_format={"day": "DATE11"},
        missing_ranges={"sex": [9.0]},
    )
    return path


def test_a_file_that_crashes_the_reader_is_refused_and_the_next_one_is_read(tmp_path, labelled, started):
    path = write_crashing(tmp_path / "in.zsav")
    with pytest.raises(InvalidData, match=r"'in\.zsav' cannot be read as a file of SPSS") as caught:
        read_source(path)
    check_message(caught, tmp_path)
    assert started[0].returncode < 0  # or the file crashes no reader any more, and shows nothing
    assert read_source(labelled).table.num_rows == 3


def test_tables_and_labels_are_those_of_the_reader_itself(labelled, good, started):
    for path, kind in ((labelled, "spss"), (good, "stata")):
        table, labels = _apart.read_apart(path, kind)
        own, own_labels = _statistics.read_statistics(path, kind)
        assert table.equals(own, check_metadata=True)
        assert [column.num_chunks for column in table.columns] == [column.num_chunks for column in own.columns]
        assert labels == own_labels
    assert labels.tags["x"].to_pylist() == [None, "a", None]
    assert len(started) == 1


@pytest.mark.parametrize(
    ("does", "error"),
    first_few(
        2,
        [
            ("os.kill(os.getpid(), signal.SIGSEGV)", InvalidData),
            ("os.kill(os.getpid(), signal.SIGKILL)", MemoryError),  # as the system does where memory runs out
            ("os.abort()", InvalidData),
            ("raise MemoryError", MemoryError),
            ("raise ValueError('a cell')", RuntimeError),
        ],
    ),
)
def test_what_happens_to_the_child_becomes_our_own_error(bad_file_does, good, started, does, error):
    bad = bad_file_does(does)
    assert read_source(good).table.num_rows == 3
    with pytest.raises(error) as caught:
        read_source(bad)
    assert type(caught.value) is error
    assert "a cell" not in str(caught.value)
    assert all(process.returncode is not None for process in started)  # one that has failed reads no other file
    before = len(started)
    assert read_source(good).table.num_rows == 3
    assert len(started) == before + 1


def test_a_child_that_an_earlier_file_has_broken_is_no_fault_of_the_next(good, started):
    read_source(good)
    started[0].kill()
    started[0].wait()
    assert read_source(good).table.num_rows == 3
    assert len(started) == 2


def test_a_child_that_has_read_a_large_file_is_let_go(good, started, monkeypatch):
    monkeypatch.setattr(_apart, "_LARGE", 8)
    read_source(good)
    assert started[0].returncode is not None


class Cancelled(BaseException):
    pass


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit), (None, Cancelled)]
)
def test_what_interrupts_us_kills_the_child_at_once(bad_file_does, good, started, number, error):
    bad, reading = bad_file_does("path.with_name('reads').touch(); time.sleep(600)"), good.with_name("reads")

    def progress(done, total):
        assert done == total == 0
        if number is None and reading.exists():
            raise Cancelled

    def interrupt():
        while not reading.exists():
            time.sleep(0.01)
        signal.raise_signal(number)

    if number is not None:
        threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(error), signals_raise():
        read_file(str(bad), progress=progress)
    assert started[0].returncode == -signal.SIGKILL
    assert len(started) == 1


def test_ctrl_c_that_reaches_the_child_alone_does_not_end_it(good, started):
    read_source(good)
    started[0].send_signal(signal.SIGINT)
    assert read_source(good).table.num_rows == 3
    assert len(started) == 1


def is_running(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def printed_by(code, path):
    head = "import os, signal, sys\nfrom microagg.files.formats import apart as _apart\n"
    head += "from microagg.files.sources import read_source\n"
    head += "pid = lambda: _apart._idle[0]._process.pid\n"
    done = subprocess.run([sys.executable, "-c", head + code, path], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return [int(word) for word in done.stdout.split()]


@pytest.mark.parametrize("end", first_few(1, ["", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"]))
def test_the_child_ends_with_its_parent(good, end):
    (pid,) = printed_by(f"read_source(sys.argv[1])\nprint(pid(), flush=True)\n{end}", good)
    limit = time.monotonic() + 60
    while is_running(pid) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not is_running(pid)


def test_a_fork_has_a_child_of_its_own(good):
    code = (
        "read_source(sys.argv[1])\nprint(pid(), flush=True)\nforked = os.fork()\nread_source(sys.argv[1])\n"
        "print(pid(), flush=True)\n_apart.end_idle()\nos._exit(0) if forked == 0 else os.waitpid(forked, 0)"
    )
    first, *others = printed_by(f"import warnings\nwarnings.simplefilter('ignore')\n{code}", good)
    assert len(others) == 2
    assert sum(other == first for other in others) == 1


def test_a_script_without_a_main_guard_can_read(good, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\nfrom microagg.files.sources import read_source\nprint(read_source(sys.argv[1]).name)"
    )
    done = subprocess.run([sys.executable, script, good], capture_output=True, text=True, check=True)
    assert done.stdout == "good.dta\n"


def test_the_child_runs_nothing_that_lies_in_the_present_folder(good, tmp_path, monkeypatch):
    for name in ("pickle", "signal", "numpy"):
        (tmp_path / f"{name}.py").write_text("import pathlib\npathlib.Path(__file__).with_name('ran').touch()")
    monkeypatch.chdir(tmp_path)
    assert read_source(good.name).table.num_rows == 3
    assert not (tmp_path / "ran").exists()


def test_the_child_imports_no_more_than_it_needs(bad_file_does):
    heavy = "{'numba', 'pandas', 'polars', 'scipy', 'sklearn', 'duckdb', 'typer'}"
    bad = bad_file_does(f"read(path.with_name('good.dta'), kind); raise InvalidData(str({heavy} & set(sys.modules)))")
    with pytest.raises(InvalidData, match=r"^set\(\)$"):
        read_source(bad)


@pytest.mark.parametrize(
    ("name", "value"), [("executable", ""), ("executable", None), ("executable", "/nowhere/python"), ("frozen", True)]
)
def test_without_an_interpreter_nothing_is_read(good, monkeypatch, started, name, value):
    monkeypatch.setattr(sys, name, value, raising=False)
    with pytest.raises(InvalidParameter, match="a process of their own"):
        read_source(good)
    assert started == []


def test_a_child_that_cannot_import_microagg_is_no_fault_of_the_file(good, monkeypatch):
    monkeypatch.setattr(_apart, "_CHILD", "raise SystemExit(1)")
    with pytest.raises(InvalidParameter, match="a process of their own"):
        read_source(good)
