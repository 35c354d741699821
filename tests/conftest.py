"""What all tests share: the files and programs that some need, compiled kernels, and what is left out."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "microagg",
    max_examples=200,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("microagg")


# What a script starts in the background, or by nohup, ignores Ctrl-C or a closed terminal, and so do its children. Some
# tests send these to a child.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


os.environ.setdefault("MICROAGG_COMPILE_AHEAD", "0")  # only tests of it start a process that compiles


def pytest_sessionstart(session):
    """Compile the kernels once, before processes that run tests in parallel would each compile all of them."""
    in_parallel = session.config.getoption("numprocesses", default=None)
    if in_parallel and not hasattr(session.config, "workerinput"):
        command, folder = [sys.executable, "-m", "tests.warm_up"], Path(__file__).parent.parent
        for process in [subprocess.Popen([*command, part], cwd=folder) for part in ("estimators", "stages")]:
            process.wait()  # test_house says if it fails


def pytest_collection_modifyitems(items):
    """Without the CASC files their tests cannot run: say how to get them."""
    folder = os.environ.get("MICROAGG_DATA")
    if folder and Path(folder).is_dir():
        return
    absent = pytest.mark.skip(
        reason="the CASC files may not be shipped: set MICROAGG_DATA to a folder with tarragona.csv, census.csv and "
        "eia.csv (microagg.datasets.load fetches them)"
    )
    for item in items:
        if "casc" in item.keywords:
            item.add_marker(absent)


campaigns_left_out = set()


def pytest_deselected(items):
    """Remember the campaigns that `-m "not campaign"` leaves out."""
    campaigns_left_out.update(item.nodeid for item in items if "campaign" in item.keywords)


def pytest_sessionfinish(session):
    """Tell the process that writes the summary, where this is one of several that run tests."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["campaigns_left_out"] = sorted(campaigns_left_out)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Hear what a process left out."""
    campaigns_left_out.update(getattr(node, "workeroutput", {}).get("campaigns_left_out", ()))


LEFT_OUT = "left out: "


def find_program(name):
    """Give the path of a program that a test needs, or leave the test out."""
    places = [shutil.which(name), *map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))]
    found = [place for place in places if place]
    if not found:
        pytest.skip(f"{LEFT_OUT}{name} is not installed")
    return found[-1]


@pytest.fixture(scope="module")
def cluster():
    """Return the address of a cluster that the tests of a file share."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    ) as running:
        yield running.scheduler_address


@pytest.fixture
def by_engine(request):
    """Return how a file is masked beyond memory by an engine: on a cluster that is there, as it takes long to start."""

    def choices(engine):
        scheduler = {"scheduler": request.getfixturevalue("cluster")} if engine == "dask" else {}
        return {"engine": engine, **scheduler}

    return choices


def pytest_terminal_summary(terminalreporter):
    """Say which tests were left out: long ones, and those for want of a program."""
    if campaigns_left_out and "not campaign" in terminalreporter.config.getoption("markexpr"):
        words = f"{len(campaigns_left_out)} long tests (marked campaign) were left out: make test-all runs them too"
        terminalreporter.write_line(words)
    reasons = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])]
    left_out = sorted({reason.split(LEFT_OUT, 1)[1] for reason in reasons if LEFT_OUT in reason})
    for reason in left_out:
        count = sum(reason in other for other in reasons)
        terminalreporter.write_line(f"{count} tests were left out: {reason}")
