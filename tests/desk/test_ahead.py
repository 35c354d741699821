"""The second process of a first run: it starts only where it helps, ends with the first, and changes no result."""

import os
import signal
import subprocess
import sys
import time

import pytest

from microagg.algorithms.kernels import _jit
from microagg.files.scratch import signals_raise
from microagg.jobs import ahead
from tests.io.test_apart import is_running
from tests.lengths import first_few


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """Let nothing be compiled yet, on a machine of two processors."""
    monkeypatch.setattr(_jit, "_found_cache", _jit._found_cache.__wrapped__)
    monkeypatch.setattr(ahead, "_processors", lambda: 2)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv(ahead.SWITCH)
    return tmp_path / "cache"


@pytest.fixture
def started(monkeypatch):
    """List the processes that are started; each waits for its end."""
    found = []

    class Listed(subprocess.Popen):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            found.append(self)

    monkeypatch.setattr(ahead.subprocess, "Popen", Listed)
    head, _ = ahead._CHILD.split("from microagg")
    monkeypatch.setattr(ahead, "_CHILD", f"{head}import time\ntime.sleep(600)")
    return found


def warm(monkeypatch):
    monkeypatch.setattr(ahead, "is_lacking", lambda kernel: kernel is ahead.count_as_near)


def nothing_kept(monkeypatch):
    monkeypatch.setattr(_jit, "_found_cache", lambda: (None, "it is full"))


def one_processor(monkeypatch):
    monkeypatch.setattr(ahead, "_processors", lambda: 1)


def switched_off(monkeypatch):
    monkeypatch.setenv(ahead.SWITCH, "0")


def no_interpreter(monkeypatch):
    monkeypatch.setattr(sys, "executable", "")


def frozen(monkeypatch):
    monkeypatch.setattr(sys, "frozen", True, raising=False)


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize("why", [warm, nothing_kept, one_processor, switched_off, no_interpreter, frozen])
def test_no_process_starts_where_it_could_not_help(started, monkeypatch, why):
    why(monkeypatch)
    with ahead.compiling_ahead():
        pass
    assert started == []


@pytest.mark.usefixtures("cold")
def test_a_process_that_cannot_start_is_no_error(monkeypatch):
    monkeypatch.setattr(sys, "executable", os.devnull)
    with ahead.compiling_ahead():
        pass


def test_one_kernel_of_each_part_tells_whether_it_is_compiled(cold):
    assert _jit.is_lacking(ahead.count_as_near)
    folder = cold / "microagg" / next((cold / "microagg").iterdir()).name / "kernels_0"
    folder.mkdir()
    (folder / "linkage.count_as_near-36.py311.nbi").touch()
    assert not _jit.is_lacking(ahead.count_as_near)
    assert _jit.is_lacking(ahead.groups_from_outside)


@pytest.mark.usefixtures("cold")
def test_the_process_ends_with_the_work(started):
    with ahead.compiling_ahead():
        assert started[0].poll() is None
    assert started[0].returncode is not None


@pytest.mark.usefixtures("cold")
@pytest.mark.parametrize(("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_what_interrupts_us_ends_the_process(started, number, error):
    with pytest.raises(error), signals_raise(), ahead.compiling_ahead():
        signal.raise_signal(number)
    assert started[0].returncode is not None


STARTS = """
import os, signal, sys
from microagg.jobs import ahead
ahead._processors = lambda: 2
ahead.announce_compiling = lambda: None
child = ahead._start()
print(child.pid, flush=True)
{end}
"""


@pytest.mark.parametrize("end", first_few(1, ["", "os._exit(0)", "os.kill(os.getpid(), signal.SIGKILL)"]))
def test_the_process_ends_with_its_parent_while_it_compiles(tmp_path, end):
    wait = "import time\ntime.sleep(2)"
    done = subprocess.run(
        [sys.executable, "-c", STARTS.format(end=f"{wait}\n{end}")],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    limit = time.monotonic() + 60
    while is_running(int(done.stdout)) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not is_running(int(done.stdout))


COMPILED = """
import sys
from numba.core import event
from microagg.jobs.samples import DEMO, made_table
from microagg.pipeline import protect
with event.install_recorder("numba:compile") as made:
    release = protect(made_table("households", 1000, 0, 0), recipe=DEMO)
with event.install_recorder("numba:compile") as judged:
    release.judged().report(sys.argv[1])
for recorder in (made, judged):
    print(*sorted({one.data["dispatcher"].py_func.__module__ for _, one in recorder.buffer}))
"""


@pytest.mark.campaign
def test_what_judges_the_demo_is_compiled_by_the_other_process(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for program in ("from microagg.jobs.ahead import judge_a_sample; judge_a_sample()", COMPILED):
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "report.html")],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    made, judged = done.stdout.splitlines()
    assert "microagg.algorithms.kernels.partitioners" in made.split()
    assert judged == ""


@pytest.mark.campaign
def test_a_first_run_by_two_processes_gives_the_very_same_files(tmp_path):
    made = {}
    for switch in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-m", "microagg", "demo", "-n", "1000", "-o", str(tmp_path / switch)],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / f"kernels{switch}"), ahead.SWITCH: switch},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("compiling kernels for this machine") == len(done.stderr.splitlines()) == 1
        made[switch] = (tmp_path / switch / "households_masked.csv").read_bytes()
    assert made["0"] == made["1"]
