"""The command line: parse, call the desk, print."""

import typer

from microagg.cli._interrupt import insisting
from microagg.cli._options import as_option
from microagg.cli._program import make_program

app = make_program()


def main() -> None:
    """Run the command line; exit with 0 if done, 1 if refused for a reason in the data, 2 for wrong usage."""
    try:
        with insisting():
            app()
    except Exception as error:  # noqa: BLE001 - what is said of it is decided in one place
        from microagg.desk.words import told

        said = told(error, as_option)
        typer.echo(said.text, err=True)
        raise SystemExit(said.code) from None
