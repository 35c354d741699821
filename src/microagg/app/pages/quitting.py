"""Quit: at once where nothing would be lost, else after a question."""

from starlette.requests import Request
from starlette.responses import Response

from microagg.app.answers import back, form_of, rendered
from microagg.app.leaving import how_to_go_on, name_for, save
from microagg.app.session import Session
from microagg.app.words import said_of_name
from microagg.app.worker import EXPORT
from microagg.errors import MicroaggError


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
