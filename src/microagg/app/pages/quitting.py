"""The end of a session: whether something would be lost, where it is saved, and how to go on from there."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from microagg.app.answers import back, form_of, rendered
from microagg.app.session import Session
from microagg.app.words import said_of_name
from microagg.app.worker import EXPORT
from microagg.errors import MicroaggError

_MOST = 1000


def free_name(folder: Path, name: str = "recipe") -> str:
    """Return a name for a recipe that no file of a folder has yet."""
    names = (f"{name}.toml", *(f"{name}_{number}.toml" for number in range(2, _MOST)))
    return next((name for name in names if not (folder / name).exists()), names[-1])


def name_for(session: Session) -> str:
    """Return a free name for the choices of a session: another where candidates are among them."""
    return free_name(session.folder, "session" if session.candidates else "recipe")


def save(session: Session, place: str) -> Path:
    """Write the present choices, and candidates, to a new file; internal, as every recipe."""
    from microagg.recipe._file import Saved, write_candidates

    assert session.opened is not None
    path, name = session.place(place), session.opened.source.name
    recipe = session.recipe.with_profile(session.opened.source)
    if session.candidates:
        kept = [Saved(one.name, one.note, one.recipe) for one in session.candidates]
        write_candidates(path, recipe, kept, name)
    else:
        recipe.write(path, made_for=name)
    session.written = (session.recipe, session.candidates)
    session.saved, session.saved_candidates = path, session.candidates
    return path


def how_to_go_on(session: Session) -> str:
    """Return the command line that has all the choices that were saved; empty where none were."""
    from microagg.jobs.again import app_command

    if session.opened is None or session.saved is None:
        return ""
    return f"Your choices are saved. To continue: {app_command(session.opened.address, session.saved, session.output)}"


def last_words(session: Session) -> str:
    """Save what nobody has saved, as after Ctrl-C, and say how to go on."""
    if session.dirty and not session.abandoned:
        try:
            save(session, name_for(session))
        except (OSError, MicroaggError):
            return "Your choices were not saved: no file could be written to the folder that microagg was started in."
    return how_to_go_on(session)


def _asked(session: Session, status: int = 200, place: str = "", wrong: str = "") -> Response:
    place = place or name_for(session)
    writing = session.worker.has(EXPORT)
    return rendered(session, "quit.html.j2", status, place=place, wrong=wrong, writing=writing)


async def show(request: Request, session: Session) -> Response:  # noqa: ARG001 - all pages are called in the same way
    """Ask what becomes of the choices."""
    return _asked(session)


async def end(request: Request, session: Session) -> Response:
    """End, unless something would be lost and nobody has said that it may be."""
    posted = await form_of(request)
    how = posted.get("how", [""])[-1]
    if how in ("save", "stay") and session.unsaved:
        place = posted.get("place", [""])[-1].strip()
        try:
            save(session, place or name_for(session))
        except (MicroaggError, OSError) as error:
            return _asked(session, 422, place, said_of_name(error))
    elif how == "leave":
        session.abandoned = True
    elif session.unsaved or session.worker.has(EXPORT):
        return back("/quit")
    if how == "stay":  # also where it is pressed twice, and all is saved by then
        return back("/quit")
    session.end()
    return rendered(session, "ended.html.j2", command=how_to_go_on(session))
