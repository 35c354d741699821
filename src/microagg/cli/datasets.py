"""`microagg datasets`: reference files and synthetic ones."""

from typing import Any

from microagg.cli._terminal import Terminal, shown, table_of
from microagg.files.databases import without_credentials
from microagg.jobs.samples import MADE, REFERENCES, check_sample, made_table, reference_table, write_sample


def list_(terminal: Terminal) -> None:
    """List the data sets."""
    table = table_of("name", "columns", "description", left=3)
    for name, reference in REFERENCES.items():
        table.add_row(name, str(len(reference.columns)), f"a CASC reference file: microagg datasets fetch {name}")
    for name, made in MADE.items():
        table.add_row(name, str(made.columns or "any"), f"{made.what}: microagg datasets make {name}")
    terminal.show(table)
    terminal.result({"fetch": list(REFERENCES), "make": list(MADE)})


def fetch(terminal: Terminal, name: str, output: str, force: bool) -> None:
    """Fetch a reference file and write it."""
    check_sample(name, REFERENCES, output, overwrite=force)
    with terminal.wait("fetching"):
        table = reference_table(name)
    _write(terminal, name, table, output, force)


def make(terminal: Terminal, name: str, output: str, records: int, columns: int, seed: int, force: bool) -> None:
    """Make a file and write it."""
    check_sample(name, MADE, output, overwrite=force)
    with terminal.wait("making"):
        table = made_table(name, records, columns, seed)
    _write(terminal, name, table, output, force)


def _write(terminal: Terminal, name: str, table: Any, output: str, force: bool) -> None:
    with terminal.wait("writing"):
        write_sample(table, output, overwrite=force)
    place = without_credentials(output)
    terminal.say(f"{table.num_rows} records, {table.num_columns} columns: {shown(place)}")
    terminal.result({"name": name, "written": place, "records": table.num_rows, "columns": table.column_names})
