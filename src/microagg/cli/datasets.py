"""`microagg datasets`: reference files and made ones."""

import os
from typing import Any

import pyarrow as pa

from microagg import datasets
from microagg.checks import check_option
from microagg.cli._terminal import Terminal, table_of
from microagg.datasets.casc import REFERENCES
from microagg.io.databases import without_credentials
from microagg.io.sources import Source, check_target, write_target

_MADE = {
    "survey": "a believable household survey, with identifiers, weights and regions",
    "uniform": "independent columns, each value as likely as any other",
    "normal": "independent columns, normally distributed",
}


def list_all(as_json: bool) -> None:
    """List the data sets."""
    terminal = Terminal(as_json=as_json)
    table = table_of("name", "columns", "what", left=3)
    for name, reference in REFERENCES.items():
        table.add_row(name, str(len(reference.columns)), f"a CASC reference file: microagg datasets fetch {name}")
    for name, what in _MADE.items():
        table.add_row(name, "13" if name == "survey" else "any", f"{what}: microagg datasets make {name}")
    terminal.show(table)
    terminal.result({"fetch": list(REFERENCES), "make": list(_MADE)})


def fetch(name: str, output: str, force: bool, quiet: bool, as_json: bool) -> None:
    """Fetch a reference file and write it."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    check_option("name", name, REFERENCES)
    check_target(output, os.devnull, overwrite=force)
    with terminal.wait("fetching"):
        table = datasets.load(name)
    _write(terminal, name, table, output, force)


def make(
    name: str, output: str, records: int, columns: int, seed: int, force: bool, quiet: bool, as_json: bool
) -> None:
    """Make a file and write it."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    check_option("name", name, _MADE)
    check_target(output, os.devnull, overwrite=force)
    with terminal.wait("making"):
        if name == "survey":
            table = datasets.survey(records, seed=seed)
        else:
            matrix = (datasets.uniform if name == "uniform" else datasets.normal)(records, columns, seed=seed)
            table = pa.table({f"v{j + 1}": column for j, column in enumerate(matrix.T)})
    _write(terminal, name, table, output, force)


def _write(terminal: Terminal, name: str, table: Any, output: str, force: bool) -> None:
    source = Source(table=table, name="made", kind="parquet", details={}, labels=None)
    with terminal.wait("writing"):
        write_target(table, output, source, overwrite=force)
    place = without_credentials(output)
    terminal.say(f"{table.num_rows} records, {table.num_columns} columns: {place}")
    terminal.result({"name": name, "written": place, "records": table.num_rows, "columns": table.column_names})
