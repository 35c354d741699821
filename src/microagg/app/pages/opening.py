"""Open: a file of the starting folder, a path, or a synthetic survey."""

from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.app.answers import back, form_of, number_in, rendered
from microagg.app.pages.quitting import free_name
from microagg.app.session import OUTPUT, Session
from microagg.app.words import said, said_of_name
from microagg.app.worker import READ, Job
from microagg.base.frozen import frozen
from microagg.errors import MicroaggError
from microagg.files.formats.kinds import COMPRESSED, KINDS, TITLES, base_suffix, known_addresses

_MOST = 200  # files that are listed
SURVEY = "survey.csv"


@frozen()
class FoundFile:
    """A file that can be read."""

    name: str
    kind: str
    size: str


def files_in(folder: Path) -> list[FoundFile]:
    """List the files of a folder that can be read, by their names."""
    try:
        there = sorted(folder.iterdir(), key=lambda path: path.name.lower())
    except OSError:
        return []
    found = []
    for path in there:
        kind = KINDS.get(base_suffix(path))
        if kind and not path.name.startswith(".") and path.is_file() and path.suffix.lower() in (*KINDS, *COMPRESSED):
            found.append(FoundFile(path.name, TITLES[kind], _size(path.stat().st_size)))
    return found[:_MOST]


def _size(count: int) -> str:
    amount = float(count)
    for unit in ("bytes", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def _reading() -> Any:
    from microagg.app.forms import table_of
    from microagg.recipe import Recipe

    return table_of("read", Recipe(5), ())


def _read_as(posted: dict[str, list[str]]) -> dict[str, Any]:
    """Return what a form says of how a text file is written."""
    if not any(name.startswith("read.") and any(given) for name, given in posted.items()):
        return {}
    from microagg.app.forms import changed_by
    from microagg.recipe import Recipe

    return changed_by(posted, Recipe(5), ()).reading.said


def _shown(session: Session, status: int = 200, **more: str) -> Response:
    content: dict[str, Any] = {
        "files": files_in(session.folder),
        "known": known_addresses(),
        "survey": SURVEY,
        "path": "",
        **more,
    }
    content["reading"] = _reading() if session.refused is not None else None  # the way out, where a guess was wrong
    content["on_disk"] = on_disk(session)
    return rendered(session, "open.html.j2", status, **{"wrong": "", **content})


def on_disk(session: Session) -> dict[str, Any] | None:
    """Return what masks a file on disk that does not fit into memory: a recipe, where it goes, and the command."""
    beyond = session.beyond
    if beyond is None:
        return None
    place = beyond.written or session.folder / free_name(session.folder)
    command = beyond.command(place, session.output or OUTPUT) if beyond.recipe is not None else ""
    return {"command": command, "place": place.name, "written": beyond.written}


async def show(request: Request, session: Session) -> Response:  # noqa: ARG001 - all pages are called in the same way
    """Show what can be opened."""
    if session.worker.has(READ):
        return rendered(session, "waiting.html.j2")
    if session.refused is None:
        return _shown(session)
    typed = "" if "://" in session.address else session.address  # which may hold a password
    return _shown(session, path=typed, wrong=session.refused.text)


async def read(request: Request, session: Session) -> Response:
    """Read a file that was picked from the list, or whose path was typed."""
    posted = await form_of(request)
    picked = posted.get("file", [""])[-1]
    typed = posted.get("path", [""])[-1].strip()
    if picked.isdecimal():
        listed, number = files_in(session.folder), number_in(posted, "file")
        typed = listed[number].name if 0 <= number < len(listed) else ""
    if not typed:
        return _shown(session, 422, wrong="Choose a file, or type its path.")
    if "://" in typed:  # with a password, perhaps, which belongs in no form
        return _shown(session, 422, wrong="To open a database, start microagg with its address: microagg app ADDRESS.")
    try:
        path = session.place(typed)
    except MicroaggError as error:
        return _shown(session, 422, wrong=said(error).text)
    if not path.exists():
        return _shown(session, 422, path=typed, wrong="There is no such file. Check the path.")
    session.open(str(path), **_read_as(posted))
    return back("/")


async def recipe(request: Request, session: Session) -> Response:
    """Write the recipe by which a file that does not fit into memory can be masked on disk."""
    posted = await form_of(request)
    if session.beyond is None or session.beyond.recipe is None:
        return back("/open")
    place = posted.get("place", [""])[-1].strip() or free_name(session.folder)
    try:
        path = session.place(place)
        session.beyond.written = session.beyond.recipe.write(path, made_for=Path(session.beyond.address).name)
    except (MicroaggError, OSError) as error:
        return _shown(session, 422, wrong=said_of_name(error))
    return back("/open")


async def anyway(request: Request, session: Session) -> Response:  # noqa: ARG001
    """Read into memory what will probably not fit."""
    session.open_anyway()
    return back("/")


async def make(request: Request, session: Session) -> Response:  # noqa: ARG001
    """Make a synthetic survey to try things on, and open it."""
    path = session.folder / SURVEY

    def work(_: Job) -> None:
        from microagg.jobs.samples import made_table, write_sample

        if not path.exists():
            write_sample(made_table("survey", 2000, 0, 0), str(path), overwrite=False)
        session.open(str(path))

    session.worker.submit(Job(READ, "making a survey", work, lambda told, _: setattr(session, "refused", told)))
    return back("/")
