"""Release: the checklist, how it is written and where, and what gives the same once more."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.app.answers import back, form_of, number_in, rendered, settled
from microagg.app.edits import change_words, recipe_line
from microagg.app.forms import FormTable, Wrong, changed_by, table_of
from microagg.app.releasing import ChosenRelease, Prepared, tick_of
from microagg.app.remedies import seen_at
from microagg.app.session import AT_ONCE, OUTPUT, Session
from microagg.app.values import Posted
from microagg.app.words import said
from microagg.app.worker import EXPORT, PREPARE
from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter, MicroaggError
from microagg.files.addresses import kind_at
from microagg.jobs import again, outputs, writing
from microagg.jobs.writing import one_line
from microagg.judge.words import TWO_RELEASES

_PATIENCE = 8  # times a moment in which what a post needs may come to be


@frozen()
class Problems:
    """What keeps a release from being written, each at its place."""

    checklist: str = ""
    folder: str = ""
    overwrite: str = ""
    reason: str = ""
    wrong: Wrong | None = None

    @property
    def any(self) -> bool:
        """Whether there is one."""
        return any((self.checklist, self.folder, self.overwrite, self.reason, self.wrong))


def chosen_by(request: Request, session: Session) -> ChosenRelease | None:
    """Return what a page is about: the present recipe, or a candidate, each written as the present recipe says."""
    number = int(request.path_params.get("number", 0))
    now = session.recipe
    if number == 0 and session.lacking:
        return None
    if number == 0:
        return ChosenRelease(0, "The present choices", now, session.key(now))
    kept = session.candidate(number)
    if kept is None:
        return None
    recipe = kept.recipe.replace(output=now.output)
    return ChosenRelease(number, kept.name, recipe, session.key(recipe))


def _file(session: Session) -> tuple[str, str | None]:
    assert session.opened is not None
    return session.opened.address, session.opened.source.sha256


def folder_of(session: Session) -> Path:
    """Return the output folder that is filled in; as a command would take it, seen from the starting folder."""
    text = session.releasing.draft.folder.strip()
    if not text:
        raise InvalidParameter("no folder is named. Name one to write to.", parameter="output")
    return session.place(text)


def _prepare_if_quick(session: Session, chosen: ChosenRelease) -> None:
    """Make the checklist where that takes no time."""
    releasing = session.releasing
    known = releasing.prepared(chosen) or chosen.place in releasing.failed or chosen.place == releasing.stopped
    if known or session.worker.has(PREPARE) or session.worker.has(EXPORT):
        return
    made = session.release is not None and session.release[0] == chosen.key
    if made or session.seconds_of(chosen.recipe) < AT_ONCE:
        _prepare(session, chosen)


def _prepare(session: Session, chosen: ChosenRelease) -> None:
    from microagg.app.exporting import preparing

    session.worker.submit(preparing(session, chosen))


def _again(session: Session, chosen: ChosenRelease, prepared: Prepared) -> dict[str, str]:
    """Return the three ways to get the same once more."""
    from microagg.app.exporting import remarked

    assert session.opened is not None
    address, draft = session.opened.address, session.releasing.draft
    reason = draft.reason if session.releasing.others(chosen, _file(session)) else ""
    recipe = remarked(prepared.recipe, session, chosen, reason)
    try:
        folder = folder_of(session)
    except InvalidParameter:  # which the page says at its field
        folder = session.folder / OUTPUT
    return {
        "recipe": recipe.text(session.opened.source.name),
        "command": again.command(
            again.lasting(address), folder / outputs.INTERNAL / outputs.RECIPE, again.again_folder(folder)
        ),
        "script": again.program(address, recipe),
    }


def _output(session: Session, chosen: ChosenRelease, wrong: Wrong | None) -> FormTable:
    """Return the fields of how a release is written; the kind of file that is usual by its name."""
    assert session.opened is not None
    usual = kind_at(outputs.masked_name(session.opened.address))
    found = table_of("output", chosen.recipe, session.columns, wrong)
    kind = f"as the source ({usual})"
    controls = (
        replace(one, options=(replace(one.options[0], words=kind), *one.options[1:])) if one.shape == "select" else one
        for one in found.controls
    )
    return replace(found, controls=tuple(controls))


def _elsewhere(session: Session, chosen: ChosenRelease) -> list[tuple[str, str]]:
    """Return what else could be released: the present choices, and candidates that are others."""
    found = [(session.key(one.recipe), f"/release/{one.number}", one.name) for one in session.candidates]
    if all(key != session.key() for key, *_ in found):
        found.insert(0, (session.key(), "/release", "the present choices"))
    return [(path, name) for key, path, name in found if key != chosen.key]


def _shown(session: Session, chosen: ChosenRelease, status: int = 200, problems: Problems | None = None) -> Response:
    problems = Problems() if problems is None else problems
    releasing, wrong = session.releasing, problems.wrong
    prepared = releasing.prepared(chosen)
    output = _output(session, chosen, wrong)
    content: dict[str, Any] = {
        "chosen": chosen,
        "elsewhere": _elsewhere(session, chosen),
        "of": recipe_line(chosen.recipe, session.columns, named=chosen.number > 0),
        "prepared": prepared,
        "boxes": [
            (tick_of(chosen.key, one), one, tick_of(chosen.key, one) in releasing.draft.ticked)
            for one in (prepared.to_tick if prepared else ())
        ],
        "failed": releasing.failed.get(chosen.place),
        "preparing": session.worker.has(PREPARE),
        "seconds": session.seconds_of(chosen.recipe),
        "output": output,
        "wrong": "" if wrong is None or output.wrong else wrong.text,
        "problems": problems,
        "draft": releasing.draft,
        "refused": releasing.refused[1] if releasing.refused and releasing.refused[0] == chosen.path else None,
        "writing": session.worker.has(EXPORT),
        "others": releasing.others(chosen, _file(session)),
        "two": TWO_RELEASES,
        "seen_at": seen_at(),
        "done": next(
            (one for one in reversed(releasing.done) if one.key == chosen.key and not releasing.replaced(one)), None
        ),
        "again": _again(session, chosen, prepared) if prepared else None,
    }
    return rendered(session, "release.html.j2", status, **content)


def _none(session: Session) -> Response:
    text = "There is no such candidate, or it was removed."
    return rendered(session, "fault.html.j2", 404, text=text)


def _lacking(session: Session) -> Response:
    return rendered(session, "release.html.j2", chosen=None)


async def show(request: Request, session: Session) -> Response:
    """Show what would be written."""
    chosen = chosen_by(request, session)
    if chosen is None:
        return _none(session) if "number" in request.path_params else _lacking(session)
    _prepare_if_quick(session, chosen)
    await settled(session, PREPARE, EXPORT)
    return _shown(session, chosen)


async def prepare(request: Request, session: Session) -> Response:
    """Make the checklist, as somebody asks for it."""
    session.releasing.failed.clear()
    chosen = chosen_by(request, session)
    if chosen is None:
        return _none(session)
    if not session.worker.has(EXPORT):
        _prepare(session, chosen)
    return back(chosen.path)


async def reread(request: Request, session: Session) -> Response:
    """Read the file again, since it was changed."""
    session.releasing.refused = None
    session.read_again()
    return back(request.url.path.removesuffix("/reread"))


async def apply(request: Request, session: Session) -> Response:
    """Keep what was filled in, and change how the release is written."""
    chosen, problems = await _taken(request, session)
    if chosen is None:
        return _none(session)
    return _shown(session, chosen, 422, problems) if problems.any else back(chosen.path)


async def write(request: Request, session: Session) -> Response:
    """Write the release, or say what keeps it from that."""
    chosen, problems = await _taken(request, session)
    if chosen is None:
        return _none(session)
    if session.worker.has(EXPORT):
        return back(chosen.path)
    if not problems.any:
        _prepare_if_quick(session, chosen)
        for _ in range(_PATIENCE):
            await settled(session, PREPARE)
        problems = _problems(session, chosen)
    if problems.any:
        return _shown(session, chosen, 422, problems)
    from microagg.app.exporting import exporting

    draft, second = session.releasing.draft, session.releasing.others(chosen, _file(session))
    reason = draft.reason if second else ""
    job = exporting(session, chosen, folder_of(session), overwrite=draft.overwrite, reason=reason)
    session.worker.submit(job)
    return back(f"{chosen.path}#outcome")


async def _taken(request: Request, session: Session) -> tuple[ChosenRelease | None, Problems]:
    """Keep what was posted; give what it is about, and what is refused of it."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    _draft(session, posted)
    problems = Problems()
    try:
        own = {name: given for name, given in posted.items() if name.startswith("output.")}
        recipe = changed_by(own, session.recipe, session.columns)
        words = change_words(session.recipe, recipe, session.columns)
        if words:
            session.change(recipe, words)
    except MicroaggError as error:
        problems = Problems(wrong=Wrong(error, posted))
    return chosen_by(request, session), problems


def _draft(session: Session, posted: Posted) -> None:
    releasing = session.releasing
    chosen = {"folder": "folder", "reason": "reason"}
    values: dict[str, Any] = {name: posted[field][-1] for name, field in chosen.items() if field in posted}
    if "overwrite" in posted:
        values["overwrite"] = posted["overwrite"][-1] == "yes"
    if "shown" in posted:  # the boxes that the form had, ticked or not
        values["ticked"] = (releasing.draft.ticked - {*posted["shown"]}) | {*posted.get("tick", ())}
    releasing.draft = replace(releasing.draft, **values)


def _problems(session: Session, chosen: ChosenRelease) -> Problems:
    """Find everything that keeps a release from being written."""
    releasing, opened, output = session.releasing, session.opened, chosen.recipe.output
    assert opened is not None
    found: dict[str, Any] = {}
    left = releasing.unticked(chosen)
    if releasing.prepared(chosen) is None:
        found["checklist"] = "The checklist is not made yet. Look at it first, then write."
    elif left:
        boxes = "1 box is" if len(left) == 1 else f"{len(left)} boxes are"
        found["checklist"] = f"{boxes} not ticked. Check each one, tick it, then write."
    if releasing.others(chosen, _file(session)) and not one_line(releasing.draft.reason):
        found["reason"] = "Say why this file is released again. The reason is written into the recipe."
    try:
        folder, overwrite = folder_of(session), releasing.draft.overwrite
        outputs.check_output(folder, opened.address, None, overwrite=overwrite, recipe=chosen.recipe)
        writing.check_writable(
            opened.address, None, overwrite=overwrite, excel_safe=output.excel_safe, kind=output.kind
        )
    except MicroaggError as error:
        places = {"excel_safe", "file_kind"}
        at = "wrong" if error.parameter in places else "overwrite" if error.parameter == "overwrite" else "folder"
        text = said(error).text
        found[at] = Wrong(error, {}) if at == "wrong" else f"{text[:1].upper()}{text[1:]}"
    return Problems(**found)
