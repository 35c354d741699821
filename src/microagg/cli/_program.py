"""The commands, their arguments and options."""

from pathlib import Path
from typing import Annotated, Any

import typer

from microagg import __version__
from microagg.cli._options import takes

Address = Annotated[
    str,
    typer.Argument(
        help="CSV, TSV (.gz, .zst), Parquet (file or folder), Feather, SPSS, Stata, SAS, "
        "duckdb:///file.db?table=t or postgresql://host/db?table=t.",
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON; all else goes to standard error.")]
Force = Annotated[bool, typer.Option("--force", help="Replace an output that exists.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Accept the guessed roles without asking.")]
RecipeFile = Annotated[Path | None, typer.Option(help="A recipe, as `microagg inspect` writes it.")]
K = Annotated[int | None, typer.Option("-k", help="Records that share each combination of released values; 5.")]


def make_program() -> typer.Typer:
    """Give the program with its commands; what methods and measures there are is read off when it is made."""
    app = typer.Typer(
        help="Release microdata without exposing anybody in it: k-anonymity by microaggregation.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich",
    )
    app.callback(invoke_without_command=True)(_about)
    _add_work(app)
    _add_datasets(app)
    return app


def _about(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Release microdata without exposing anybody in it."""
    if version:
        typer.echo(f"microagg {__version__}")
        raise typer.Exit


def _add_work(app: typer.Typer) -> None:
    """Add the commands that work on somebody's file."""

    @app.command()
    def demo(
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Folder for the masked file and the report.")
        ] = Path("demo"),
        records: Annotated[int, typer.Option("--records", "-n", min=10, help="Persons in the made survey.")] = 2000,
        seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, another survey.")] = 0,
        force: Force = False,
        quiet: Quiet = False,
        as_json: AsJson = False,
    ) -> None:
        """Mask a made household survey: two methods at three levels of k, compared, with a report.

        Example: [bold]microagg demo -o out[/bold]
        """
        from microagg.cli.demo import run

        run(output, records, seed, force, quiet, as_json)

    @app.command()
    @takes("read")
    def inspect(
        source: Address,
        k: K = None,
        output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the recipe.")] = Path(
            "recipe.toml"
        ),
        force: Force = False,
        quiet: Quiet = False,
        as_json: AsJson = False,
        **chosen: Any,
    ) -> None:
        """Look at a file: its columns, what each probably is, how exposed its records are; write a recipe to edit.

        Example: [bold]microagg inspect survey.csv -k 5[/bold]
        """
        from microagg.cli.inspect import run

        run(source, k, output, chosen, force, quiet, as_json)

    @app.command()
    @takes("roles", "method", "masking", "select", "blocks", "refine", "risk", "output", "read")
    def mask(
        source: Address,
        output: Annotated[
            Path, typer.Option("--output", "-o", help="Folder for the masked file, the report and the recipe.")
        ] = Path("out"),
        k: K = None,
        recipe: RecipeFile = None,
        to: Annotated[
            str | None, typer.Option(help="Where the masked data goes instead: a file of any kind, or a database.")
        ] = None,
        engine: Annotated[
            str,
            typer.Option(
                help="memory; disk: Parquet or text beyond memory; dask: many machines. The last two: no report."
            ),
        ] = "memory",
        scheduler: Annotated[
            str | None, typer.Option(help="With dask: the scheduler's address; else a local one.")
        ] = None,
        script: Annotated[
            bool, typer.Option("--script", help="Print also a Python script that gives the same masked file.")
        ] = False,
        yes: Yes = False,
        force: Force = False,
        quiet: Quiet = False,
        as_json: AsJson = False,
        **chosen: Any,
    ) -> None:
        """Mask a file: a safe file, a report on it, and the recipe that gives them again.

        Without a recipe the columns' roles are guessed and shown, and you are asked whether they are right. What is
        said on the command line goes before what a recipe says.

        Example: [bold]microagg mask survey.csv -k 5 -o out[/bold]
        """
        from microagg.cli.mask import Wishes, run

        wishes = Wishes(output, k, recipe, to, engine, scheduler, script, chosen, yes, force)
        run(source, wishes, quiet, as_json)

    @app.command()
    @takes("risk", "read", spelt={"sample_seed": "--seed"})
    def assess(
        original: Annotated[str, typer.Argument(help="The file before masking.", show_default=False)],
        masked: Annotated[
            str, typer.Argument(help="The masked one, the same records in the same order.", show_default=False)
        ],
        recipe: Annotated[
            Path | None,
            typer.Option(help="The recipe it was masked by: its columns, strata, \\[risk] and \\[read]."),
        ] = None,
        columns: Annotated[
            str | None,
            typer.Option(help="Columns to judge, with commas; else the recipe's, or all numbers that differ."),
        ] = None,
        strata: Annotated[
            str | None, typer.Option(help="Columns released as they are that an intruder knows too, with commas.")
        ] = None,
        quiet: Quiet = False,
        as_json: AsJson = False,
        **chosen: Any,
    ) -> None:
        """Judge any masked file, whoever made it: what was lost, and what an intruder could do.

        The rows of both files must stand for the same records, in the same order.

        Example: [bold]microagg assess survey.csv out/survey_masked.csv --recipe out/recipe.toml[/bold]
        """
        from microagg.cli.assess import run

        run(original, masked, recipe, columns, strata, chosen, quiet, as_json)

    @app.command()
    @takes("compare", "roles", "masking", "select", "blocks", "refine", "risk", "read", spelt={"ks": "-k"})
    def compare(
        source: Address,
        recipe: Annotated[
            Path | None, typer.Option(help="A recipe: the roles, and all else but k and the name of the method.")
        ] = None,
        output: Annotated[
            Path | None, typer.Option("--output", "-o", help="A picture of risk against loss: .svg, .png.")
        ] = None,
        yes: Yes = False,
        force: Force = False,
        quiet: Quiet = False,
        as_json: AsJson = False,
        **chosen: Any,
    ) -> None:
        """Compare methods and levels of k on one file: loss, risk and both combined.

        By default mdav, vmdav, cbfs and iamat at k = 3, 5 and 10, unless a recipe says otherwise.

        Example: [bold]microagg compare survey.csv -k 3,5,10 -o map.svg[/bold]
        """
        from microagg.cli.compare import run

        run(source, recipe, output, chosen, yes, force, quiet, as_json)

    @app.command()
    @takes("read")
    def tree(
        source: Address,
        measure: Annotated[str, typer.Option(help="emim, chi2, normal or vi.")] = "emim",
        count: Annotated[
            int | None, typer.Option(help="How many columns to choose; 3, or all of fewer.", min=1)
        ] = None,
        recipe: Annotated[Path | None, typer.Option(help="A recipe that says which columns are to be masked.")] = None,
        output: Annotated[
            Path | None, typer.Option("--output", "-o", help="A picture of the tree: .svg, .png.")
        ] = None,
        force: Force = False,
        quiet: Quiet = False,
        as_json: AsJson = False,
        **chosen: Any,
    ) -> None:
        """Draw which columns depend on which, and the few that would stand for all.

        Example: [bold]microagg tree survey.csv -o tree.svg[/bold]
        """
        from microagg.cli.tree import run

        run(source, measure, count, recipe, output, chosen, force, quiet, as_json)


def _add_datasets(app: typer.Typer) -> None:
    """Add the commands that give files to try things on."""
    datasets = typer.Typer(help="Reference files and made ones.", no_args_is_help=True)
    app.add_typer(datasets, name="datasets")

    @datasets.command("list")
    def list_(as_json: AsJson = False) -> None:
        """List the data sets there are.

        Example: [bold]microagg datasets list[/bold]
        """
        from microagg.cli.datasets import list_all

        list_all(as_json)

    @datasets.command()
    def fetch(
        name: Annotated[str, typer.Argument(help="tarragona, census or eia.", show_default=False)],
        output: Annotated[str, typer.Option("--output", "-o", help="The file to write, of any kind.")],
        force: Force = False,
        quiet: Quiet = False,
        as_json: AsJson = False,
    ) -> None:
        """Fetch a CASC reference file, verify it and write it.

        Example: [bold]microagg datasets fetch census -o census.csv[/bold]
        """
        from microagg.cli.datasets import fetch as run

        run(name, output, force, quiet, as_json)

    @datasets.command()
    def make(
        output: Annotated[str, typer.Option("--output", "-o", help="The file to write, of any kind.")],
        name: Annotated[str, typer.Argument(help="survey, uniform or normal.")] = "survey",
        records: Annotated[int, typer.Option("--records", "-n", min=1, help="How many.")] = 2000,
        columns: Annotated[int, typer.Option("--columns", "-d", min=1, help="Of uniform and normal.")] = 10,
        seed: Annotated[int, typer.Option("--seed", min=0, help="Another seed, another file.")] = 0,
        force: Force = False,
        quiet: Quiet = False,
        as_json: AsJson = False,
    ) -> None:
        """Make a file to try things on.

        Example: [bold]microagg datasets make survey -o survey.csv[/bold]
        """
        from microagg.cli.datasets import make as run

        run(name, output, records, columns, seed, force, quiet, as_json)
