"""The command line: parse, call `microagg.jobs`, print."""

import sys
from typing import Any


def main() -> None:
    """Run the command line; exit with 0 if done, 1 if refused for a reason in the data, 2 for wrong usage."""
    try:  # with the first import in it, so that no Ctrl-C shows a traceback
        from microagg.jobs.process import brief, ending_at_once, insisting

        with ending_at_once(), brief():
            from microagg.cli._program import make_program

            program = make_program(sys.argv[1:])
        with insisting(), brief():
            program()
    except KeyboardInterrupt:
        from microagg.jobs.process import INTERRUPTED

        raise SystemExit(INTERRUPTED) from None
    except Exception as error:  # noqa: BLE001 - its message is written in one place
        import typer

        from microagg.cli._options import as_option
        from microagg.jobs.messages import displayed, told

        said = told(error, as_option)
        typer.echo(displayed(said.text), err=True)
        raise SystemExit(said.code) from None


def __getattr__(name: str) -> Any:
    if name != "app":  # made when it is asked for, since its options depend on the methods that are registered
        raise AttributeError(f"module 'microagg.cli' has no attribute {name!r}")
    from microagg.cli._program import make_program

    globals()["app"] = make_program()
    return globals()["app"]
