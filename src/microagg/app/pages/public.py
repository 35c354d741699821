"""The public report as it would be written, in a tab of its own."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from microagg.app.answers import rendered
from microagg.app.pages.release import chosen_by
from microagg.app.session import Session


async def show(request: Request, session: Session) -> Response:
    """Show the public report of the present recipe, numbered 0, or of a candidate."""
    chosen = chosen_by(request, session)
    prepared = None if chosen is None else session.releasing.prepared(chosen)
    if prepared is None or prepared.public is None:
        text = "There is no such public report. Ask for one on the page Release."
        return rendered(session, "fault.html.j2", 404, text=text)
    return HTMLResponse(prepared.public)
