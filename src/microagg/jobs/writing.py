"""Writing what a run leaves: the masked data, the reports and the recipe, all or nothing."""

from dataclasses import field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from microagg.base.frozen import frozen
from microagg.columns.roles import Role, Schema
from microagg.errors import InvalidData, InvalidParameter, setting
from microagg.files.addresses import check_target, file_digest, is_text_file, kind_at
from microagg.files.batches import Batches
from microagg.files.databases import is_database, without_credentials
from microagg.files.files import whole_file
from microagg.files.formats.excel import check_table
from microagg.files.sources import Source
from microagg.files.stores import is_store, where
from microagg.jobs.again import program, shell
from microagg.jobs.facts import bound_of, findings_of, results_of, warnings_among
from microagg.jobs.masking import judge, mask_beyond_memory
from microagg.jobs.opening import Opened
from microagg.jobs.outputs import (
    INTERNAL,
    PROGRAM,
    PUBLIC,
    RECIPE,
    RELEASE,
    REPORT,
    ROWS,
    SHELL,
    RowOrigin,
    earlier_releases,
    earlier_words,
    households_name,
    left_by_a_run,
    masked_name,
    whole_output,
)
from microagg.jobs.tables import rows_written, write_release
from microagg.judge.text import first_of, quoted, shown
from microagg.mask.demands import demanded_columns
from microagg.mask.digits import matter, refuse_integers
from microagg.recipe import Recipe
from microagg.release import Release
from microagg.report import ReportModel, SourceFacts, WrittenFacts
from microagg.report import write as write_report
from microagg.work import Progress, part, tell

if TYPE_CHECKING:
    from microagg.file_release import FileRelease
    from microagg.judge.comparison import Comparison

_MASKED = 90  # percent of the progress: when a file beyond memory is masked
_AMONG, _SECOND = "Chosen among ", "This file was released before. Reason to release it again: "
_MOST = 500  # letters of a reason


@frozen()
class Written:
    """What a run has left.

    Attributes
    ----------
    places : dict
        "masked", "public_recipe", "report", "recipe", "rows", and what was asked for of "public_report", "households",
        "command" and "script", each with its place.
    recipe : Recipe
        As it was written: every choice settled.
    sha256 : str or None
        Of the source; None of a database.
    told : ReportModel
        What the internal report says.
    earlier : list of str
        A line that warns of earlier releases of the same file, where the folders beside the output hold any.
    """

    places: dict[str, str]
    recipe: Recipe
    sha256: str | None
    told: ReportModel
    earlier: list[str] = field(default_factory=list)

    @property
    def results(self) -> list[str]:
        """Lines that say how low the loss could be, and how many results of researchers survive."""
        return [*bound_of(self.told), *results_of(self.told)]

    @property
    def warnings(self) -> list[str]:
        """A line for each finding to look at, for confidential columns without a limit, and for earlier releases."""
        return [*warnings_among(findings_of(self.told)), *without_limit(self.recipe), *self.earlier]

    @property
    def lines(self) -> list[str]:
        """What a person should know: what to look at, and where everything is."""
        places = [f"{what.replace('_', ' ').capitalize()}: {shown(place)}" for what, place in self.places.items()]
        return [*(f"Warning: {warning}" for warning in self.warnings), *places]


def check_writable(address: str, to: str | None, *, overwrite: bool, excel_safe: bool, kind: str | None = None) -> None:
    """Refuse a target that cannot be written, or not in the way that is asked for, before any work is done."""
    if to is not None:
        check_target(to, address, overwrite=overwrite)
    if excel_safe and not is_text_target(address, to, kind):
        raise InvalidParameter(
            f"{setting('excel_safe')} works only with text files, such as .csv, and the target is not one. Leave it "
            f"out, or name a text file: {setting('to')}.",
            parameter="excel_safe",
        )


def is_text_target(address: str, to: str | None, kind: str | None = None) -> bool:
    """Return whether the masked data goes to a text file."""
    return is_text_file(masked_name(address, kind) if to is None else to)


def check_fits(opened: Opened, to: str | None = None) -> None:
    """Refuse, before a file is masked, what may not be written, or what the kind of the target cannot hold.

    A sheet of Excel has limits, and means of whole numbers may not have all digits.
    """
    if matter(opened.recipe) and opened.source.labels is None:
        masked = opened.recipe.masked(opened.source.table.column_names)
        refuse_integers(opened.recipe, masked, opened.source.typed_for(opened.recipe.kinds.kinds, masked).schema)
    kind = opened.recipe.output.kind
    name = masked_name(opened.address, kind) if to is None else to
    if is_database(name) or kind_at(name) != "excel":
        return
    schema = Schema.assign(opened.source.table.column_names, **opened.recipe.roles.lists)
    released, masked = schema.released, schema.names(Role.QUASI)
    check_table(opened.source.table.select([one for one in released if one not in masked]), where(name).name, released)


def check_unchanged(opened: Opened) -> None:
    """Refuse to go on with a file that is no longer the one that was read: the report would be about another."""
    joined = opened.source.joined
    for source in (opened.source,) if joined is None else (joined.persons, joined.households):
        if source.sha256 is not None and (source.path is None or file_digest(source.path) != source.sha256):
            raise InvalidData(
                f"{source.name!r} was changed on disk after it was read. Read it again.",
                parameter="source",
            )


def write(
    release: Release[Any],
    opened: Opened,
    folder: Path,
    *,
    to: str | None = None,
    overwrite: bool = False,
    comparison: "Comparison | None" = None,
    again: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Write the masked data, the reports and the recipe that makes them again.

    With `again`, a command and a script that do so are written beside them. What `progress` raises stops the work, and
    nothing is left.
    """
    source = opened.source
    whole = recipe_to_write(release, opened)
    households = None if source.joined is None else str(source.joined.households.address)
    inside = _places_inside(opened.address, households, whole, again=again)
    reports = [what for what in ("report", "public_report") if what in inside]
    steps = len(reports) + 2
    models: dict[str, ReportModel] = {}
    with whole_output(folder, to, overwrite, left_by_a_run(opened.address, households)) as made:
        own = {what: made.folder / place for what, place in inside.items()}
        for step, what in enumerate(reports):
            tell(progress, step, steps)
            heard = part(progress, step, step, steps)
            public = what == "public_report"
            model = report_model(release, opened, public=public, to=to, comparison=comparison, progress=heard)
            write_report(model, own[what])
            models[what] = model
        whole.write(own["recipe"], made_for=source.name)
        whole.write_public(own["public_recipe"], made_for=source.name)
        for script, text in (("command", shell), ("script", program)) if again else ():
            with whole_file(own[script], private=True) as fresh:
                fresh.write_text(text(opened.address, whole), "utf-8", newline="\n")
        tell(progress, steps - 2, steps)
        order = rows_written(release)
        if to is None:
            households_too = own.get("households")
            write_release(release, own["masked"], source, households=households_too, order=order, overwrite=False)
        else:
            with made.data_elsewhere():
                write_release(release, to, source, order=order, overwrite=overwrite)
        origin = _origin_of_rows(source, release.rows[order], own["masked"] if to is None else to)
        origin.write(own["rows"])
        tell(progress, steps - 1, steps)
    places = {what: str(folder / place) for what, place in inside.items()}
    places |= {} if to is None else {"masked": without_credentials(to)}
    earlier = earlier_words(earlier_releases(folder, origin), opened.address)
    return Written(places, whole, source.sha256, models["report"], earlier)


def _places_inside(address: str, households: str | None, recipe: Recipe, *, again: bool) -> dict[str, str]:
    """Return where in an output each thing lies."""
    kind, internal = recipe.output.kind, {"report": REPORT, "recipe": RECIPE, "rows": ROWS}
    released = {"masked": masked_name(address, kind)}
    released |= {} if households is None else {"households": households_name(address, households, kind)}
    released |= {"public_report": PUBLIC} if recipe.output.public else {}
    released |= {"public_recipe": RECIPE}
    internal |= {"command": SHELL, "script": PROGRAM} if again else {}
    places = {what: f"{RELEASE}/{name}" for what, name in released.items()}
    return places | {what: f"{INTERNAL}/{name}" for what, name in internal.items()}


def _origin_of_rows(source: Source, rows: Any, masked: str | Path) -> RowOrigin:
    digest = None if is_database(masked) else file_digest(masked)
    return RowOrigin(source.name, source.sha256, source.table.num_rows, digest, rows)


def report_model(
    release: Release[Any],
    opened: Opened,
    *,
    public: bool = False,
    to: str | None = None,
    comparison: "Comparison | None" = None,
    progress: Progress | None = None,
) -> ReportModel:
    """Return what the report says that is written with a release."""
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
    written = WrittenFacts(not output.same_order, output.excel_safe, kind)
    return release.report_model(public=public, source=facts, written=written, comparison=comparison, progress=progress)


def _details(source: Source) -> dict[str, str]:
    """Return what a report says of how a source was understood; of two files, what was joined."""
    if source.joined is None:
        return dict(source.details)
    other = source.joined.households
    digest = {} if other.sha256 is None else {"SHA-256 of households": other.sha256}
    return {**source.details, "households": str(source.joined), **digest}


def recipe_to_write(release: Any, opened: Opened) -> Recipe:
    """Return the recipe that a run leaves behind: every choice it depended on, whoever made it, with the comments."""
    done = release.recipe
    risk = done.risk
    if isinstance(release, Release) and release.risk.sampled is not None:
        risk = replace(risk, sample=release.risk.sampled)
    # The roles as they were asked for: a person wrote them in some order, with comments.
    roles = opened.recipe.roles if opened.recipe.roles.rest is None else done.roles
    if roles.quasi is None:
        roles = replace(roles, quasi=done.roles.quasi)
    whole: Recipe = done.replace(roles=roles, risk=risk)
    return whole.with_profile(opened.source)


def write_beyond_memory(
    address: str,
    recipe: Recipe,
    folder: Path,
    *,
    to: str | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    **engine: Any,
) -> tuple[Written, "FileRelease", Release[Any]]:
    """Mask a file on disk or on a cluster; return what was written, the release, and the part of it that was judged.

    The engine, its scheduler and the scratch are as for `mask_beyond_memory`. Scratch of this machine lies beside the
    output, which is private, where the target is in a store.
    """
    inside = _places_inside(address, None, recipe, again=False)
    name = where(address).name
    masking, judging = part(progress, 0, _MASKED, 100), part(progress, _MASKED, 100, 100)
    with whole_output(folder, to, overwrite, left_by_a_run(address)) as made:
        own = {what: made.folder / place for what, place in inside.items()}
        if engine.get("scratch") is None and to is not None and is_store(to) and engine["engine"] == "disk":
            engine["scratch"] = made.folder.parent
        target = own["masked"] if to is None else to
        release = mask_beyond_memory(address, target, recipe, overwrite=overwrite, progress=masking, **engine)
        made.data_is_written = True
        assert release.sample is not None
        judged = judge(release.sample, judging)
        kind = kind_at(masked_name(address) if to is None else to)
        models = {
            what: judged.report_model(
                public=what == "public_report",
                source=release.source_facts,
                written=WrittenFacts(reordered=False, kind=kind),
                progress=part(progress, 100, 100, 100),
            )
            for what in ("report", "public_report")
            if what in inside
        }
        for what, model in models.items():
            write_report(model, own[what])
        whole = release.recipe.replace(**({} if judged.risk.sampled is None else {"sample": judged.risk.sampled}))
        whole = whole.with_profile(Batches(address, whole.reading.said))
        whole.write(own["recipe"], made_for=name)
        whole.write_public(own["public_recipe"], made_for=name)
        origin = RowOrigin(name, None, release.n_records, None)  # in the order of the source, and too long to sum up
        origin.write(own["rows"])
    places = {what: str(folder / place) for what, place in inside.items()}
    places |= {} if to is None else {"masked": without_credentials(to)}
    earlier = earlier_words(earlier_releases(folder, origin), address)
    written = Written(places, whole, None, models["report"], earlier)
    return written, release, judged


def with_remarks(recipe: Recipe, day: date, *, among: int = 0, reason: str = "") -> Recipe:
    """Return a recipe that remarks among how many it was chosen, and why the file is released once more.

    Remarks of a former choice go: a recipe may be one that was written before.
    """
    comments = recipe.comments
    kept = [line for line in comments.title if not line.startswith((_AMONG, _SECOND))]
    kept += [f"{_AMONG}{among} on {day.isoformat()}."] if among > 1 else []
    kept += [f"{_SECOND}{one_line(reason)}"] if one_line(reason) else []
    return recipe.commented(replace(comments, title=tuple(kept)))


def one_line(text: str) -> str:
    """Return a text that a comment can hold: one line, no letter that is not printed."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())[:_MOST]


def without_limit(recipe: Recipe) -> list[str]:
    """Return a line that warns of confidential columns to which neither l nor t applies; empty if there are none."""
    confidential = recipe.roles.confidential
    names = [name for name in confidential if name not in demanded_columns(recipe, confidential)]
    if not names:
        return []
    return [
        f"confidential columns are released unchanged, and neither l nor t limits what a group discloses of them: "
        f"{first_of([quoted(name) for name in names])}."
    ]
