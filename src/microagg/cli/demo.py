"""`microagg demo`: the whole job on made data."""

from pathlib import Path
from typing import Any

from microagg import datasets
from microagg._kernels._jit import is_cold
from microagg.checks import check_absent
from microagg.cli._terminal import Terminal
from microagg.errors import InvalidParameter
from microagg.io.files import narrow_to_folder
from microagg.io.sources import Source, write_target
from microagg.pipeline import protect
from microagg.study.comparison import compare

METHODS = ("mdav", "iamat")
LEVELS = (3, 5, 10)
WRITTEN = ("mdav", 5)


def run(output: Path, records: int, seed: int, force: bool, quiet: bool, as_json: bool) -> None:
    """Mask the survey by each method at each k, print what came out, write one masked file and its report."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    made = next(place for place in (output, *output.absolute().parents) if place.exists())
    if not made.is_dir():
        raise InvalidParameter(f"{made.name!r} is a file, and the output is to be a folder. Name one with -o.")
    masked, report = output / "survey_masked.csv", output / "report.html"
    for path in (masked, report):
        check_absent(path, "the output", overwrite=force)
    survey = datasets.survey(records, seed=seed)
    roles: dict[str, Any] = {"identifiers": ["person"], "weight": "weight", "keep": ["region"]}
    n_masked = survey.num_columns - 3
    terminal.say(f"A made survey: {records} persons, {n_masked} columns to mask. Identifiers are dropped.\n")
    if is_cold():  # the table of seconds below is not to show it
        with terminal.wait("compiling"):
            for method in METHODS:
                protect(survey.slice(0, 20), LEVELS[0], method=method, **roles)
    with terminal.bar("masking and judging") as tell:
        found = compare(survey, METHODS, LEVELS, progress=tell, **roles)
    terminal.say(repr(found))
    method, k = WRITTEN
    with terminal.wait("writing"):
        release = protect(survey, k, method=method, **roles)
        output.mkdir(parents=True, exist_ok=True)
        new = [path for path in (masked, report) if not path.exists()]
        write_target(
            release.data, masked, Source(survey, "survey", "parquet"), overwrite=force, promise=release.promise
        )
        release.report(report, comparison=found, overwrite=force)
        for path in new:
            narrow_to_folder(path)
    terminal.say(f"\nMasked by {method} with k={k}: {masked}")
    terminal.say(f"Every record in it shares its masked values with at least {k - 1} others.")
    terminal.say(f"The report for those who must decide: {report}")
    terminal.result(
        {
            "masked": str(masked),
            "report": str(report),
            "method": method,
            "k": k,
            "k_reached": release.k_achieved,
            "candidates": [one.as_dict() for one in found.candidates],
        }
    )
