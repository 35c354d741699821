"""`microagg demo`: the whole job on made data."""

import logging
from pathlib import Path
from typing import Any

from microagg import datasets
from microagg._kernels._jit import is_cold
from microagg.cli._terminal import Terminal
from microagg.io.sources import Source, write_target
from microagg.pipeline import protect
from microagg.study.comparison import compare

METHODS = ("mdav", "iamat")
LEVELS = (3, 5, 10)
WRITTEN = ("mdav", 5)


def run(output: Path, records: int, seed: int) -> None:
    """Mask the survey by each method at each k, print what came out, write one masked file and its report."""
    terminal = Terminal()
    survey = datasets.survey(records, seed=seed)
    roles: dict[str, Any] = {"identifiers": ["person"], "weight": "weight", "keep": ["region"]}
    n_masked = survey.num_columns - 3
    terminal.say(f"A made survey: {records} persons, {n_masked} columns to mask. Identifiers are dropped.\n")
    if is_cold():
        logging.getLogger("microagg").setLevel(logging.ERROR)  # the next line says it already
        with terminal.wait("compiling, once on this machine"):
            for method in METHODS:
                protect(survey.slice(0, 20), LEVELS[0], method=method, **roles)
    with terminal.bar("masking and judging") as tell:
        found = compare(survey, METHODS, LEVELS, progress=tell, **roles)
    terminal.say(repr(found))
    method, k = WRITTEN
    release = protect(survey, k, method=method, **roles)
    output.mkdir(parents=True, exist_ok=True)
    source = Source(survey, "survey", "parquet")
    write_target(release.data, output / "survey_masked.csv", source, overwrite=True)
    release.report(output / "report.html", comparison=found, overwrite=True)
    terminal.say(f"\nMasked by {method} with k={k}: {output / 'survey_masked.csv'}")
    terminal.say(f"Every record in it shares its masked values with at least {k - 1} others.")
    terminal.say(f"The report for those who must decide: {output / 'report.html'}")
