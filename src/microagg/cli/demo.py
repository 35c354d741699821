"""`microagg demo`: the whole job on made data."""

import logging
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from microagg import datasets
from microagg._kernels._jit import is_cold
from microagg.io.files import write_csv
from microagg.pipeline import protect

METHODS = ("mdav", "iamat")
LEVELS = (3, 5, 10)
WRITTEN = ("mdav", 5)


def run(output: Path, records: int, seed: int) -> None:
    """Mask the survey by each method at each k, print what came out, write one masked file."""
    console = Console()
    survey = datasets.survey(records, seed=seed)
    roles: dict[str, Any] = {"identifiers": ["person"], "weight": "weight", "keep": ["region"]}
    n_masked = survey.num_columns - 3
    console.print(f"A made survey: {records} persons, {n_masked} columns to mask. Identifiers are dropped.\n")
    table = Table("method", "k", "groups", "smallest group", "information loss", "seconds")
    for column in table.columns[1:]:
        column.justify = "right"

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("compiling, once on this machine", total=None)
        if is_cold():
            logging.getLogger("microagg").setLevel(logging.ERROR)  # the bar says it already
            for method in METHODS:
                protect(survey.slice(0, 20), LEVELS[0], method=method, **roles)
        bar.update(task, description="masking", total=len(METHODS) * len(LEVELS) * records)
        finished = 0
        for method in METHODS:
            for k in LEVELS:
                began = time.perf_counter()

                def tell(done: int, _: int, before: int = finished) -> None:
                    bar.update(task, completed=before + done)

                release = protect(survey, k, method=method, progress=tell, **roles)
                seconds = time.perf_counter() - began
                finished += records
                sizes = str(release.n_groups), str(release.smallest_group)
                table.add_row(method, str(k), *sizes, f"{release.loss.percent:.2f} %", f"{seconds:.2f}")
                if (method, k) == WRITTEN:
                    write_csv(release.data, output / "survey_masked.csv")
    console.print(table)
    method, k = WRITTEN
    console.print(f"\nMasked by {method} with k={k}: [bold]{output / 'survey_masked.csv'}[/bold]")
    console.print(f"Every record in it shares its masked values with at least {k - 1} others.", highlight=False)
