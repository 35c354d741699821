"""`microagg app`: the command that starts it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from microagg.errors import InvalidParameter


def app(
    source: Annotated[
        str | None, typer.Argument(help="The file, or a database. Without it, you choose a file in the app.")
    ] = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe to start from.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Folder for the release.")] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port on 127.0.0.1; with 0 any free port.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")] = True,
    peek: Annotated[bool, typer.Option("--peek/--no-peek", help="Whether the app may show some masked rows.")] = True,
) -> None:
    """Do all of the work in a browser: open a file, set the roles of its columns, try, compare, look, release.

    The app listens on this machine only, and no data leaves it.

    Example: [bold]microagg app survey.csv[/bold]
    """


def run(
    terminal: Any,
    source: str | None,
    recipe: Path | None,
    output: Path | None,
    port: int,
    browser: bool,
    peek: bool,
    chosen: dict[str, Any],
) -> None:
    """Start the app, and serve it until Ctrl-C."""
    try:
        from microagg.app.server import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("starlette", "uvicorn", "anyio", "h11"):
            raise
        raise InvalidParameter("the app needs Starlette and uvicorn: pip install 'microagg[app]'") from None
    from microagg.app.session import Session

    if source is not None and "://" not in source and not Path(source).exists():
        raise InvalidParameter(f"there is no file {Path(source).name!r}. Check the path.", parameter="source")
    session = Session(Path.cwd(), output=output, peek=peek)
    if source is not None:
        if recipe is None:
            session.open(source, **chosen)
        else:
            from microagg.recipe._file import read_candidates

            session.open(source, *read_candidates(recipe), **chosen)
    elif recipe is not None or chosen:
        raise InvalidParameter("a recipe, or how a file is written, works only with a file. Name the file too.")
    serve(session, port=port, browser=browser, say=terminal.say)
