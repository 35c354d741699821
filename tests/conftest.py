"""Where the reference files and the programs that some tests need are looked for, and what happens without them."""

import os
import shutil
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


LEFT_OUT = "left out: "


def find_program(name):
    """Give the path of a program that a test needs, or leave the test out."""
    places = [shutil.which(name), *map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))]
    found = [place for place in places if place]
    if not found:
        pytest.skip(f"{LEFT_OUT}{name} is not installed")
    return found[-1]


def pytest_terminal_summary(terminalreporter):
    """Say which tests were left out for want of a program."""
    reasons = [str(report.longrepr[2]) for report in terminalreporter.stats.get("skipped", [])]
    left_out = sorted({reason.split(LEFT_OUT, 1)[1] for reason in reasons if LEFT_OUT in reason})
    for reason in left_out:
        count = sum(reason in other for other in reasons)
        terminalreporter.write_line(f"{count} tests were left out: {reason}")
