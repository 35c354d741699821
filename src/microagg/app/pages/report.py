"""A report in a tab of its own: one that was written in this session, by a number, or the public one before that."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from microagg.app.answers import rendered
from microagg.app.pages.release import chosen_by
from microagg.app.session import Session


async def show(request: Request, session: Session) -> Response:
    """Show the internal report of a release, or the public one: ?public=1."""
    which = "public_report" if "public" in request.query_params else "report"
    done = next((one for one in session.releasing.done if one.number == request.path_params["number"]), None)
    place = None if done is None or session.releasing.replaced(done) else done.written.places.get(which)
    try:
        text = None if place is None else Path(place).read_bytes()
    except OSError:
        text = None
    if text is None:
        return rendered(session, "fault.html.j2", 404, text="This report does not exist, or was removed.")
    return HTMLResponse(text)


async def public(request: Request, session: Session) -> Response:
    """Show the public report of the present recipe, numbered 0, or of a candidate."""
    chosen = chosen_by(request, session)
    prepared = None if chosen is None else session.releasing.prepared(chosen)
    if prepared is None or prepared.public is None:
        text = "There is no such public report. Ask for one on the page Release."
        return rendered(session, "fault.html.j2", 404, text=text)
    return HTMLResponse(prepared.public)
