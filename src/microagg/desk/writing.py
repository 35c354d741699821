"""Writing what a run leaves: the masked data, the reports and the recipe, all or nothing."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from microagg.checks import check_absent
from microagg.desk.again import program, shell
from microagg.desk.findings import findings_of, recoded_of, results_of, warnings_among
from microagg.desk.masking import mask_beyond_memory
from microagg.desk.opening import Opened
from microagg.desk.tables import write_release
from microagg.errors import InvalidData, InvalidParameter, MicroaggError, setting
from microagg.io._kinds import SUFFIXES
from microagg.io._worker import came_too_late
from microagg.io.addresses import check_target, file_digest, file_of, is_text_file, kind_at
from microagg.io.databases import is_database, without_credentials
from microagg.io.files import whole_file
from microagg.io.scratch import private_folder, put_in_place
from microagg.io.sources import Source
from microagg.progress import Progress, part, tell
from microagg.recipe import Recipe
from microagg.recipe.joined import check_join
from microagg.release import Release
from microagg.report import ReportModel, SourceFacts, WrittenFacts
from microagg.report import write as write_report
from microagg.study.comparison import Comparison

REPORT, PUBLIC, RECIPE = "report.html", "report_public.html", "recipe.toml"
SHELL, PROGRAM = "again.sh", "again.py"


@dataclass(frozen=True)
class Written:
    """What a run has left.

    Attributes
    ----------
    places : dict
        "masked", "report", "recipe", and what was asked for of "public_report", "command" and "script", each with its
        place.
    recipe : Recipe
        As it was written: every choice settled.
    sha256 : str or None
        Of the source; None of a database.
    findings : list of dict
        What the report finds, the gravest first (`microagg.desk.findings`).
    recoded : list of dict
        The columns that were recoded before they were masked: how, and how many cells changed.
    results : list of str
        A line that says how many results of researchers survive, where any were looked at.
    """

    places: dict[str, str]
    recipe: Recipe
    sha256: str | None
    findings: list[dict[str, Any]] = field(default_factory=list)
    recoded: list[dict[str, Any]] = field(default_factory=list)
    results: list[str] = field(default_factory=list)

    @property
    def warnings(self) -> list[str]:
        """A line for each finding that somebody should look at."""
        return warnings_among(self.findings)


def masked_name(address: str, kind: str | None = None) -> str:
    """Name the masked file after the source: of this kind, else of the same, or Parquet for what is no file."""
    if is_database(address):
        return f"masked{SUFFIXES[kind or 'parquet']}"
    path = Path(address)
    if path.is_dir():
        return f"{path.name.removesuffix('.parquet')}_masked{SUFFIXES[kind or 'parquet']}"
    suffixes = "".join(path.suffixes[-2:]) if path.suffix.lower() in (".gz", ".zst") else path.suffix
    written = ".csv" if suffixes.lower() == ".sas7bdat" else suffixes
    if kind is not None and kind != kind_at(f"{path.name.removesuffix(suffixes)}{written}"):
        written = SUFFIXES[kind]
    return f"{path.name.removesuffix(suffixes)}_masked{written}"


def households_name(address: str, households: str, kind: str | None = None) -> str:
    """Name the masked file of households after its source; otherwise than that of persons."""
    name, taken = masked_name(households, kind), masked_name(address, kind)
    return name if name != taken else f"households_{name}"


def check_output(folder: Path, address: str, to: str | None, *, overwrite: bool, recipe: Recipe | None = None) -> None:
    """Refuse an output that is not ours to make, or that holds a source or the target, before any work is done."""
    households = None if recipe is None else recipe.join.households
    if recipe is not None:
        with recipe.blamed():
            check_join(recipe)
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InvalidParameter(f"the output {folder.name!r} is not a folder. Name one.", parameter="output")
    if not folder.resolve().parent.is_dir():
        raise InvalidParameter(
            f"there is no folder to make the output {folder.name!r} in. Make it first.", parameter="output"
        )
    _check_former(folder, _left_by_a_run(address, households))
    inside = folder.exists() and any(folder.iterdir())
    if inside:
        check_absent(folder, "the output", overwrite=overwrite)
    place = folder.resolve()
    if to is not None and _lies_in(to, place):
        raise InvalidParameter(
            f"the target ({setting('to')}) is the output, or lies in it. Name another place, or leave it out.",
            parameter="to",
        )
    if to is not None and households is not None:
        raise InvalidParameter(
            f"{setting('to')} names one place, and two files are joined and written apart: both go to the output. "
            f"Leave it out.",
            parameter="to",
        )
    if inside and any(_lies_in(source, place) for source in (address, households) if source is not None):
        raise InvalidParameter(
            f"the output is the source, or holds it. Name another folder: {setting('output')}.", parameter="output"
        )


def _check_former(folder: Path, known: set[str]) -> None:
    """Refuse a folder that holds anything else than what a run leaves."""
    if folder.exists() and {path.name for path in folder.iterdir()} - known:
        raise InvalidParameter(
            f"the output {folder.name!r} holds other files than a former output of this file. Name a folder of its "
            f"own: {setting('output')}.",
            parameter="output",
        )


def _left_by_a_run(address: str, households: str | None = None) -> set[str]:
    masked = {masked_name(address, kind) for kind in (None, *SUFFIXES)}
    if households is not None:
        masked |= {households_name(address, households, kind) for kind in (None, *SUFFIXES)}
    return {*masked, REPORT, PUBLIC, RECIPE, SHELL, PROGRAM}


def lies_in_output(path: Path, address: str) -> bool:
    """Tell whether a file would lie in what may be an output: a folder with a report or masked data, or below one."""
    folder = path.resolve().parent
    beside, above = _names_in(folder) - {path.name}, _names_in(folder.parent) - {folder.name}
    if beside & {REPORT, PUBLIC} or any(name.partition(".")[0].endswith("masked") for name in (*beside, folder.name)):
        return True
    # The report and the masked data may be elsewhere. But an output has nothing else in it, which tells it too.
    return any(names and names <= _left_by_a_run(address) for names in (beside, above))


def _names_in(folder: Path) -> set[str]:
    try:
        return {path.name for path in folder.iterdir()}
    except OSError:  # it may be entered and not listed
        return set()


def _lies_in(address: str, folder: Path) -> bool:
    """Tell whether a file, a database's too, is a folder or in it."""
    file = file_of(address)
    return file is not None and folder in (file.resolve(), *file.resolve().parents)


def check_writable(address: str, to: str | None, *, overwrite: bool, excel_safe: bool, kind: str | None = None) -> None:
    """Refuse a target that cannot be written, or not in the way that is asked for, before any work is done."""
    if to is not None:
        check_target(to, address, overwrite=overwrite)
    if excel_safe and not is_text_target(address, to, kind):
        raise InvalidParameter(
            f"{setting('excel_safe')} goes with text files, such as .csv, and the target is none. Leave it out, or "
            f"name one: {setting('to')}.",
            parameter="excel_safe",
        )


def is_text_target(address: str, to: str | None, kind: str | None = None) -> bool:
    """Tell whether the masked data goes to a text file."""
    return is_text_file(masked_name(address, kind) if to is None else to)


def check_unchanged(opened: Opened) -> None:
    """Refuse to go on with a file that is no longer the one that was read: the report would tell of another."""
    joined = opened.source.joined
    for source in (opened.source,) if joined is None else (joined.persons, joined.households):
        if source.sha256 is not None and (source.path is None or file_digest(source.path) != source.sha256):
            raise InvalidData(
                f"{source.name!r} was changed on disk since it was read. Read it again.",
                parameter="source",
            )


def write(
    release: Release[Any],
    opened: Opened,
    folder: Path,
    *,
    to: str | None = None,
    overwrite: bool = False,
    comparison: Comparison | None = None,
    again: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Write the masked data, the reports and the recipe that gives them again.

    With `again`, a command and a script that do so are written beside them. What `progress` raises stops the work, and
    nothing is left.
    """
    source = opened.source
    whole = recipe_to_write(release, opened)
    output = release.recipe.output
    name, joined = masked_name(opened.address, output.kind), source.joined
    households = None if joined is None else str(joined.households.address)
    other = None if households is None else households_name(opened.address, households, output.kind)
    texts = {"command": (SHELL, shell), "script": (PROGRAM, program)} if again else {}
    reports = {"report": REPORT, **({"public_report": PUBLIC} if output.public else {})}
    steps = len(reports) + 2
    findings: list[dict[str, Any]] = []
    recoded: list[dict[str, Any]] = []
    results: list[str] = []
    with whole_output(folder, to, overwrite, _left_by_a_run(opened.address, households)) as made:
        for step, (what, report) in enumerate(reports.items()):
            tell(progress, step, steps)
            heard = part(progress, step, step, steps)
            public = what == "public_report"
            model = report_model(release, opened, public=public, to=to, comparison=comparison, progress=heard)
            write_report(model, made.folder / report)
            findings, recoded = findings or findings_of(model), recoded or recoded_of(model)
            results = results or results_of(model)
        whole.write(made.folder / RECIPE, made_for=source.name)
        for file, text in texts.values():
            with whole_file(made.folder / file, private=True) as fresh:
                fresh.write_text(text(opened.address, whole), "utf-8", newline="\n")
        tell(progress, steps - 2, steps)
        if to is None:
            second = None if other is None else made.folder / other
            write_release(release, made.folder / name, source, households=second, overwrite=False)
        else:
            with made.data_elsewhere():
                write_release(release, to, source, overwrite=overwrite)
        tell(progress, steps - 1, steps)
    places = {"masked": str(folder / name) if to is None else without_credentials(to)}
    places |= {} if other is None else {"households": str(folder / other)}
    places |= {what: str(folder / report) for what, report in reports.items()} | {"recipe": str(folder / RECIPE)}
    places |= {what: str(folder / file) for what, (file, _) in texts.items()}
    return Written(places, whole, source.sha256, findings, recoded, results)


def report_model(
    release: Release[Any],
    opened: Opened,
    *,
    public: bool = False,
    to: str | None = None,
    comparison: Comparison | None = None,
    progress: Progress | None = None,
) -> ReportModel:
    """Give what the report says that is written with a release."""
    source, output = opened.source, release.recipe.output
    kind = kind_at(masked_name(opened.address, output.kind) if to is None else to)
    facts = SourceFacts(
        name=source.name,
        kind=source.kind,
        details=_details(source),
        sha256=source.sha256,
        records=source.table.num_rows,
        columns=source.table.num_columns,
    )
    written = WrittenFacts(output.reorder, output.excel_safe, kind)
    return release.report_model(public=public, source=facts, written=written, comparison=comparison, progress=progress)


def _details(source: Source) -> dict[str, str]:
    """Give what a report says of how a source was understood; of two files, what was joined."""
    if source.joined is None:
        return dict(source.details)
    other = source.joined.households
    digest = {} if other.sha256 is None else {"SHA-256 of households": other.sha256}
    return {**source.details, "households": str(source.joined), **digest}


def recipe_to_write(release: Any, opened: Opened) -> Recipe:
    """Give the recipe that a run leaves behind: every choice it depended on, whoever made it, with the comments."""
    done = release.recipe
    risk = done.risk
    if isinstance(release, Release) and release.risk.sampled is not None:
        risk = replace(risk, sample=release.risk.sampled)
    # The roles as they were asked for: a person wrote them in some order, with comments.
    roles = opened.recipe.roles if opened.recipe.roles.rest is None else done.roles
    if roles.quasi is None:
        roles = replace(roles, quasi=done.roles.quasi)
    whole: Recipe = done.replace(roles=roles, risk=risk)
    return whole


def write_beyond_memory(
    address: str,
    recipe: Recipe,
    folder: Path,
    *,
    to: str | None = None,
    engine: str,
    scheduler: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> tuple[dict[str, str], Any]:
    """Mask a file on disk or on a cluster; give the places of what is left, and the `FileRelease`."""
    name = masked_name(address)
    with whole_output(folder, to, overwrite, _left_by_a_run(address)) as made:
        release = mask_beyond_memory(
            address,
            made.folder / name if to is None else Path(to),
            recipe,
            engine=engine,
            scheduler=scheduler,
            overwrite=overwrite,
            progress=progress,
        )
        made.data_is_written = True
        release.recipe.write(made.folder / RECIPE, made_for=Path(address).name)
    return {"masked": str(folder / name) if to is None else str(to), "recipe": str(folder / RECIPE)}, release


@dataclass
class Output:
    """A folder to write to, which takes its place when all is in it."""

    folder: Path
    data_is_written: bool = False  # elsewhere, to the target that was named
    interruption: BaseException | None = None  # which came when the data was written

    @contextmanager
    def data_elsewhere(self) -> Iterator[None]:
        """Write the data to the target within; what interrupts that too late waits until the folder is in its place."""
        try:
            yield
        except (KeyboardInterrupt, SystemExit) as error:
            if not came_too_late(error):
                raise
            self.interruption = error
        self.data_is_written = True


@contextmanager
def whole_output(output: Path, to: str | None, overwrite: bool, known: set[str]) -> Iterator[Output]:
    """Give an output to fill; masked data elsewhere is taken away again if the folder cannot be put in place.

    `known` is what a former output may hold: where there is anything else by then, it is not replaced.
    """
    is_new = to is not None and not is_database(to) and not os.path.lexists(to)
    place = output.resolve()
    with private_folder(place.parent, "the output") as private:
        made = Output(private / "whole")
        made.folder.mkdir()
        try:
            yield made
            put_in_place(
                made.folder,
                place,
                overwrite=overwrite,
                private=True,
                check=lambda former: _check_former(former, known),
            )
            if made.interruption is not None:
                raise made.interruption
        except BaseException as error:
            if to is None or not made.data_is_written or error is made.interruption:
                raise
            if is_new:
                _remove(Path(to))
                raise
            if isinstance(error, MicroaggError):
                why = str(error.args[0])
            elif isinstance(error, (KeyboardInterrupt, SystemExit)):
                why = "The work was stopped."
            elif isinstance(error, OSError):
                why = f"{error.strerror or type(error).__name__}."
            else:
                raise
            kind = InvalidParameter if isinstance(error, InvalidParameter) else InvalidData
            raise kind(
                f"{why} The masked data is in {without_credentials(to)!r} already; the output {output.name!r} with "
                f"what belongs to it is not. Remove the data, or mask once more: {setting('overwrite', True)}."
            ) from None


def _remove(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():  # of parts, from a cluster
        shutil.rmtree(target, ignore_errors=True)
    else:
        target.unlink(missing_ok=True)
