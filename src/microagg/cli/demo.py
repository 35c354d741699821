"""`microagg demo`: all the work on synthetic data."""

from pathlib import Path

from microagg.cli._terminal import Terminal, shown
from microagg.jobs.ahead import compiling_ahead
from microagg.jobs.samples import DEMO, check_demonstration, demo_columns, demonstrate


@compiling_ahead()
def run(terminal: Terminal, output: Path, records: int, seed: int, force: bool) -> None:
    """Mask the survey by each method at each k, print what came out, write one masked file and its report."""
    check_demonstration(output, overwrite=force)
    terminal.say(f"A synthetic survey: {records} persons, {demo_columns()} columns to mask. Identifiers are dropped.\n")
    made = demonstrate(output, records, seed, overwrite=force, waiting=terminal.wait, barred=terminal.bar)
    terminal.say(repr(made.comparison))
    method, k = made.release.recipe.method.name, DEMO.k
    terminal.say(f"\nMasked by {method} with k={k}: {shown(made.masked)}")
    terminal.say(f"Every record in it shares its masked values with at least {k - 1} others.")
    terminal.say(f"The report for those who must decide: {shown(made.report)}")
    terminal.result(
        {
            "masked": str(made.masked),
            "report": str(made.report),
            "method": method,
            "k": k,
            "k_reached": made.release.k_achieved,
            "candidates": [one.as_dict() for one in made.comparison.candidates],
        }
    )
