"""The command line: parse, call the pipeline, print."""

import traceback
from pathlib import Path
from typing import Annotated, Any

import typer

from microagg import __version__
from microagg.cli._interrupt import insisting
from microagg.errors import InvalidParameter, MicroaggError, RoleError

app = typer.Typer(
    help="Release microdata without exposing anybody in it: k-anonymity by microaggregation.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
datasets = typer.Typer(help="Reference files and made ones.", no_args_is_help=True)
app.add_typer(datasets, name="datasets")

Source = Annotated[
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
Delimiter = Annotated[str | None, typer.Option(help="What stands between fields of a text file; else detected.")]
Encoding = Annotated[str | None, typer.Option(help="The encoding of a text file; else detected.")]
Decimal = Annotated[str | None, typer.Option(help="The decimal mark of a text file; else detected.")]
Thousands = Annotated[str | None, typer.Option(help="The thousands separator of a text file; else detected.")]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row of a text file holds names; else a row that may be a record is refused.",
        show_default=False,
    ),
]
Keys = Annotated[str | None, typer.Option(help="Columns that an intruder knows, with commas; else all masked ones.")]


def main() -> None:
    """Run the command line; exit with 0 if done, 1 if refused for a reason in the data, 2 for wrong usage."""
    try:
        with insisting():
            app()
    except MicroaggError as error:
        _complain(f"{type(error).__name__}: {error}")
        raise SystemExit(2 if isinstance(error, (InvalidParameter, RoleError)) else 1) from None
    except OSError as error:
        _complain(
            f"{error.strerror or type(error).__name__}: the output could not be written, and nothing is left of it."
        )
        raise SystemExit(1) from None
    except MemoryError:
        _complain("The file does not fit into memory. Use: microagg mask --engine disk")
        raise SystemExit(1) from None
    except Exception as error:  # noqa: BLE001 - another library's message may show a cell
        place = traceback.extract_tb(error.__traceback__)[-1]
        _complain(
            f"{type(error).__name__} in {Path(place.filename).name}, line {place.lineno}: a fault of the program; "
            f"nothing was written. Please report it."
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
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the masked file and the report.")] = Path(
        "demo"
    ),
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
def inspect(
    source: Source,
    k: Annotated[int, typer.Option("-k", help="Records that shall share each combination of released values.")] = 5,
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the recipe.")] = Path("recipe.toml"),
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    header: Header = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Look at a file: its columns, what each probably is, how exposed its records are; write a recipe to edit.

    Example: [bold]microagg inspect survey.csv -k 5[/bold]
    """
    from microagg.cli.inspect import run

    run(source, k, output, _dialect(delimiter, encoding, decimal, thousands, header), force, quiet, as_json)


@app.command()
def mask(
    source: Source,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the masked file, the report and the recipe.")
    ] = Path("out"),
    k: Annotated[int | None, typer.Option("-k", help="Records that share each released combination; 5.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe, as `microagg inspect` writes it.")] = None,
    method: Annotated[str | None, typer.Option(help="How groups are formed: mdav, vmdav, cbfs, iamat, ...")] = None,
    refine: Annotated[
        str | None, typer.Option(help="Lower the loss by moving records between groups: fast, thorough, or moves.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(help="Where the masked data goes instead: a file of any kind, or a database.")
    ] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Write also a report without anything that helps an intruder.")
    ] = False,
    reorder: Annotated[
        bool, typer.Option("--reorder", help="Sort the released rows: their order tells nothing.")
    ] = False,
    excel_safe: Annotated[
        bool, typer.Option("--excel-safe", help="Keep text in a CSV from acting as a spreadsheet's formula.")
    ] = False,
    engine: Annotated[
        str,
        typer.Option(help="memory; disk: Parquet or text beyond memory; dask: many machines. The last two: no report."),
    ] = "memory",
    scheduler: Annotated[str | None, typer.Option(help="With dask: the scheduler's address; else a local one.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    header: Header = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept the guessed roles without asking.")] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Mask a file: a safe file, a report on it, and the recipe that gives them again.

    Without a recipe the columns' roles are guessed and shown, and you are asked whether they are right.

    Example: [bold]microagg mask survey.csv -k 5 -o out[/bold]
    """
    from microagg.cli.mask import Wishes, run

    run(
        source,
        Wishes(
            output=output,
            k=k,
            recipe=recipe,
            method=method,
            refine=refine,
            to=to,
            public=public,
            reorder=reorder,
            excel_safe=excel_safe,
            engine=engine,
            scheduler=scheduler,
            dialect=_dialect(delimiter, encoding, decimal, thousands, header),
            yes=yes,
            force=force,
        ),
        quiet,
        as_json,
    )


@app.command()
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
        str | None, typer.Option(help="Columns to judge, with commas; else the recipe's, or all numbers that differ.")
    ] = None,
    keys: Keys = None,
    strata: Annotated[
        str | None, typer.Option(help="Columns released as they are that an intruder knows too, with commas.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Records to estimate linkage on; 20 000 of more than 200 000.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of the sample; 0.", min=0)] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    header: Header = None,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Judge any masked file, whoever made it: what was lost, and what an intruder could do.

    The rows of both files must stand for the same records, in the same order.

    Example: [bold]microagg assess survey.csv out/survey_masked.csv --recipe out/recipe.toml[/bold]
    """
    from microagg.cli.assess import Wishes, run

    run(
        original,
        masked,
        Wishes(
            recipe=recipe,
            columns=_listed(columns),
            keys=_listed(keys),
            strata=_listed(strata),
            sample=sample,
            seed=seed,
            dialect=_dialect(delimiter, encoding, decimal, thousands, header),
        ),
        quiet,
        as_json,
    )


@app.command()
def compare(
    source: Source,
    ks: Annotated[str, typer.Option("-k", help="Levels of k, with commas.")] = "3,5,10",
    methods: Annotated[str, typer.Option(help="Methods, with commas.")] = "mdav,vmdav,cbfs,iamat",
    recipe: Annotated[
        Path | None, typer.Option(help="A recipe: the roles, and all else but k and the name of the method.")
    ] = None,
    keys: Keys = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A picture of risk against loss: .svg, .png.")
    ] = None,
    sample: Annotated[int | None, typer.Option(help="Records to estimate linkage on.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    header: Header = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept the guessed roles without asking.")] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Compare methods and levels of k on one file: loss, risk and both combined.

    Example: [bold]microagg compare survey.csv -k 3,5,10 -o map.svg[/bold]
    """
    from microagg.cli.compare import Wishes, run

    run(
        source,
        Wishes(
            ks=_listed(ks) or [],
            methods=_listed(methods) or [],
            recipe=recipe,
            keys=_listed(keys),
            sample=sample,
            output=output,
            dialect=_dialect(delimiter, encoding, decimal, thousands, header),
            yes=yes,
            force=force,
        ),
        quiet,
        as_json,
    )


@app.command()
def tree(
    source: Source,
    measure: Annotated[str, typer.Option(help="emim, chi2, normal or vi.")] = "emim",
    count: Annotated[int | None, typer.Option(help="How many columns to choose; 3, or all of fewer.", min=1)] = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe that says which columns are to be masked.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A picture of the tree: .svg, .png.")] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    decimal: Decimal = None,
    thousands: Thousands = None,
    header: Header = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Draw which columns depend on which, and the few that would stand for all.

    Example: [bold]microagg tree survey.csv -o tree.svg[/bold]
    """
    from microagg.cli.tree import run

    run(
        source,
        measure,
        count,
        recipe,
        output,
        _dialect(delimiter, encoding, decimal, thousands, header),
        force,
        quiet,
        as_json,
    )


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


def _dialect(
    delimiter: str | None, encoding: str | None, decimal: str | None, thousands: str | None, header: bool | None
) -> dict[str, Any]:
    given = {
        "delimiter": delimiter,
        "encoding": encoding,
        "decimal": decimal,
        "thousands": thousands,
        "header": header,
    }
    return {name: value for name, value in given.items() if value is not None}


def _listed(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _complain(text: str) -> None:
    typer.echo(text, err=True)
