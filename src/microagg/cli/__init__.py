"""The command line: parse, call the pipeline, print."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from microagg import __version__
from microagg.errors import MicroaggError, TooFewRecords

app = typer.Typer(
    help="Release microdata without exposing anybody in it: k-anonymity by microaggregation.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def main() -> None:
    """Run the command line; exit with 0 if done, 1 if refused for a reason in the data, 2 for wrong usage."""
    try:
        app()
    except MicroaggError as error:
        _complain(f"{type(error).__name__}: {error}")
        if isinstance(error, TooFewRecords) and error.strata and sys.stderr.isatty():
            _complain("Too small: " + "; ".join(", ".join(str(value) for value in names) for names in error.strata))
        raise SystemExit(1) from None
    except OSError as error:
        _complain(
            f"{error.strerror or type(error).__name__}: the output could not be written, and nothing is left of it."
        )
        raise SystemExit(1) from None


@app.callback(invoke_without_command=True)
def about(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Release microdata without exposing anybody in it."""
    if version:
        typer.echo(f"microagg {__version__}")
        raise typer.Exit


@app.command()
def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the masked file.")] = Path("demo"),
    records: Annotated[int, typer.Option("--records", "-n", min=10, help="Persons in the made survey.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, another survey.")] = 0,
) -> None:
    """Mask a made household survey: two methods at three levels of k, compared.

    Example: [bold]microagg demo -o out[/bold]
    """
    from microagg.cli.demo import run

    run(output, records, seed)


def _complain(text: str) -> None:
    typer.echo(text, err=True)
