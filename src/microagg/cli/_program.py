"""The commands, their arguments and options."""

import importlib
import inspect as signatures
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from microagg import __version__
from microagg.files.formats.kinds import known_addresses

Address = Annotated[str, typer.Argument(help=f"{known_addresses()}.", show_default=False)]
_SPEAKING = {
    "quiet": Annotated[bool, typer.Option("--quiet", "-q", help="Print errors only.")],
    "as_json": Annotated[bool, typer.Option("--json", help="Print the result as JSON; other text to standard error.")],
}
Force = Annotated[bool, typer.Option("--force", help="Replace an output that already exists.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Accept the guessed roles without asking.")]
Picture = Annotated[Path | None, typer.Option("--output", "-o", help="File for the picture: .svg, .png or .pdf.")]
NewFile = Annotated[str, typer.Option("--output", "-o", help="The file to write, in any format that can be written.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The seed of the random numbers.")]
Strata = Annotated[str | None, typer.Option(help="Strata: columns that an intruder knows, separated by commas.")]
RecipeFile = Annotated[Path | None, typer.Option(help="A recipe file, such as `microagg inspect` writes.")]
COLUMNS = ("roles", "recode", "kinds", "missing", "importance", "taxonomy", "units", "diversity", "weights", "join")
FORMED = ("masking", "select", "blocks", "refine", "relation", "analysis", "risk", "read")
K = Annotated[int | None, typer.Option("-k", help="Records that must share their released values; by default 5.")]


def make_program(words: Sequence[str] | None = None) -> typer.Typer:
    """Return the program with its commands; the list of methods is read at that time.

    `words` are those of a command line, if they are known: only its command then needs all its options.
    """
    app = typer.Typer(
        help="Protect microdata before you release them: k-anonymity by microaggregation.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback(invoke_without_command=True)(_about)
    _add_masking(app, words)
    _add_figures(app, words)
    _add_app(app, words)
    _add_datasets(app)
    return app


def _command(app: typer.Typer, *tables: str, words: Sequence[str] | None = None, **spelt: str) -> Callable[..., Any]:
    """Add a command: its module's function of the same name, or `run`, is called with what is declared here.

    `tables` are those of a recipe whose choices are options too, or one choice of a table, such as "roles.unit"; those
    that were used come as one mapping, `chosen`. `spelt` spells some differently.
    """

    def added(declared: Callable[..., None]) -> Callable[..., None]:
        own = list(signatures.signature(declared).parameters.values())
        name, module = declared.__name__, app.info.name if isinstance(app.info.name, str) else declared.__name__
        made: dict[str, Any] = {}
        if tables and (words is None or name in words):
            from microagg.cli._options import options_of_recipe
            from microagg.recipe.words import value_of

            made = options_of_recipe(tables, spelt)

        def called(quiet: bool = False, as_json: bool = False, **given: Any) -> None:
            from microagg.cli._terminal import Terminal

            ours = declared.__module__ == __name__
            work = importlib.import_module(f"microagg.cli.{module}" if ours else declared.__module__)
            used = {key: (choice, given.pop(key)) for key, (_, choice) in made.items()}
            if tables:
                given["chosen"] = {key: value_of(of, value) for key, (of, value) in used.items() if value is not None}
            getattr(work, "run" if module == name else name)(Terminal(quiet=quiet, as_json=as_json), **given)

        by_name = signatures.Parameter.KEYWORD_ONLY
        speaking = [signatures.Parameter(key, by_name, default=False, annotation=of) for key, of in _SPEAKING.items()]
        parameters = [*own, *(parameter for parameter, _ in made.values()), *speaking]
        called.__name__, called.__doc__ = name, declared.__doc__
        signature = signatures.Signature([one.replace(kind=by_name) for one in parameters])
        called.__signature__ = signature  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in parameters}
        app.command(name.removesuffix("_"))(called)
        return called

    return added


def _about(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Protect microdata before you release them."""
    if version:
        typer.echo(f"microagg {__version__}")
        raise typer.Exit


def _add_masking(app: typer.Typer, words: Sequence[str] | None) -> None:
    """Add the commands that lead to a masked file."""

    @_command(app)
    def demo(
        output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the output.")] = Path("demo"),
        records: Annotated[int, typer.Option("--records", "-n", min=1000, help="Persons; at least 1000.")] = 2000,
        seed: Seed = 0,
        force: Force = False,
    ) -> None:
        """Mask a synthetic household survey: compare four methods at three levels of k, and write a report.

        Example: [bold]microagg demo -o out[/bold]
        """

    @_command(app, "roles.strata", "roles.unit", "roles.weight", "join", "read", words=words)
    def inspect(
        source: Address,
        k: K = None,
        output: Annotated[Path, typer.Option("--output", "-o", help="The recipe file to write.")] = Path("recipe.toml"),
        small_strata: Annotated[
            Path | None, typer.Option(help="A private CSV file to write, which lists strata of fewer than k records.")
        ] = None,
        force: Force = False,
    ) -> None:
        """Look at a file: what each column probably is, and how exposed its records are. Write a recipe to edit.

        Example: [bold]microagg inspect survey.csv -k 5[/bold]
        """

    @_command(app, *COLUMNS, "method", *FORMED, "output", words=words)
    def mask(
        source: Address,
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Output folder: release is to give out, internal is for you.")
        ] = Path("out"),
        k: K = None,
        recipe: RecipeFile = None,
        to: Annotated[
            str | None, typer.Option(help="Another place for the masked data: a file, a database, s3://...")
        ] = None,
        engine: Annotated[
            str,
            typer.Option(help="memory; disk: Parquet or text larger than memory; dask: several machines."),
        ] = "memory",
        scheduler: Annotated[str | None, typer.Option(help="With dask: the scheduler's address.")] = None,
        scratch: Annotated[
            str | None, typer.Option(help="With disk or dask: private folder for original values; with dask also s3://")
        ] = None,
        script: Annotated[bool, typer.Option("--script", help="Also print a Python script for it.")] = False,
        yes: Yes = False,
        force: Force = False,
    ) -> None:
        """Mask a file: write the masked file, a report on it, and the recipe that makes both again.

        Without a recipe, the roles of the columns are guessed and shown, and you are asked whether they are right. If
        the command line and a recipe set the same choice, the command line is used.

        Example: [bold]microagg mask survey.csv -k 5 -o out[/bold]
        """


def _add_figures(app: typer.Typer, words: Sequence[str] | None) -> None:
    """Add the commands that judge, compare and draw."""

    @_command(app, "risk", "analysis", "read", words=words, sample_seed="--seed")
    def assess(
        original: Annotated[str, typer.Argument(help="The file before masking.", show_default=False)],
        masked: Annotated[list[str], typer.Argument(help="The masked file, or several of them.", show_default=False)],
        recipe: RecipeFile = None,
        columns: Annotated[
            str | None,
            typer.Option(help="Columns to judge, separated by commas. By default the recipe's, or all that differ."),
        ] = None,
        strata: Strata = None,
        key: Annotated[
            str | None, typer.Option(help="A column that identifies each record in both files, if rows were moved.")
        ] = None,
    ) -> None:
        """Judge any masked file, from any program: what was lost, and what an intruder could do.

        Rows of the two files are matched by the output folder of the masked file, by a key, or by their order.

        Example: [bold]microagg assess survey.csv out/release/survey_masked.csv[/bold]
        """

    @_command(app, "compare", *COLUMNS, *FORMED, words=words, ks="-k")
    def compare(
        source: Address,
        recipe: RecipeFile = None,
        output: Picture = None,
        yes: Yes = False,
        force: Force = False,
    ) -> None:
        """Compare methods and levels of k, l and t on one file: their loss, their risk, and a score of both.

        By default mdav, cbfs, vmdav, iamat, emad and ama at k = 3, 5 and 10, unless a recipe sets others.

        Example: [bold]microagg compare survey.csv -k 3,5,10 -o map.svg[/bold]
        """

    @_command(app, "roles", "select", "method", "read", words=words)
    def tree(
        source: Address,
        k: K = None,
        recipe: RecipeFile = None,
        output: Picture = None,
        force: Force = False,
    ) -> None:
        """Show which columns depend on which, and which few of them would form the groups.

        A recipe that selects columns is obeyed, so that you see what `mask` takes; else they are those of EMAD. With
        --choose lowest-loss the choices that tie are tried, with --rule every all sets of --count columns.

        Example: [bold]microagg tree survey.csv -o tree.svg[/bold]
        """


def _add_app(app: typer.Typer, words: Sequence[str] | None) -> None:
    """Add the command that opens the app in a browser."""
    from microagg.app import command

    _command(app, "read", words=words)(command.app)


def _add_datasets(app: typer.Typer) -> None:
    """Add the commands that write files to try microagg on."""
    datasets = typer.Typer(name="datasets", help="Reference files and synthetic ones.", no_args_is_help=True)
    app.add_typer(datasets)

    @_command(datasets)
    def list_() -> None:
        """List the data sets.

        Example: [bold]microagg datasets list[/bold]
        """

    @_command(datasets)
    def fetch(
        name: Annotated[str, typer.Argument(help="tarragona, census or eia.", show_default=False)],
        output: NewFile,
        force: Force = False,
    ) -> None:
        """Fetch a CASC reference file, verify it and write it.

        Example: [bold]microagg datasets fetch census -o census.csv[/bold]
        """

    @_command(datasets)
    def make(
        output: NewFile,
        name: Annotated[str, typer.Argument(help="survey, households, panel, uniform or normal.")] = "survey",
        records: Annotated[int, typer.Option("--records", "-n", min=1, help="Number of records.")] = 2000,
        columns: Annotated[int, typer.Option("--columns", "-d", min=1, help="Columns of uniform or normal.")] = 10,
        seed: Seed = 0,
        force: Force = False,
    ) -> None:
        """Make a synthetic file to try microagg on.

        Example: [bold]microagg datasets make survey -o survey.csv[/bold]
        """
