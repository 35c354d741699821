"""Where the reference files are looked for, and what happens without them."""

import os
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
