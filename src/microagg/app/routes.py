"""Which page a request is for, and what it gets when something is wrong."""

import importlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from microagg.app.answers import back, begin, form_of, number_in, rendered, settled, static_text
from microagg.app.history import Stale
from microagg.app.pages import PAGES, Page
from microagg.app.session import Session
from microagg.app.words import said
from microagg.app.worker import READ, Busy
from microagg.errors import MicroaggError

Handler = Callable[[Request], Awaitable[Response]]
_KINDS = {".css": "text/css", ".js": "text/javascript"}


def make_app(session: Session) -> Starlette:
    """Return the pages of a session, without a guard."""
    routes = [
        Route("/static/{name}", _static),
        Route("/job", _kept_safe(session, _job)),
        Route("/job/cancel", _kept_safe(session, _cancel), methods=["POST"]),
        Route("/history", _kept_safe(session, _go), methods=["POST"]),
    ]
    for page in PAGES:
        routes.append(Route(page.path, _kept_safe(session, _handler(page, page.shown))))
        prefix = page.path if page.path != "/" else f"/{page.module}"
        for action in page.actions:
            routes.append(Route(f"{prefix}/{action}", _kept_safe(session, _handler(page, action)), methods=["POST"]))
    return Starlette(routes=routes, exception_handlers={404: _not_found, 405: _not_found})


def _handler(page: Page, action: str) -> Callable[[Request, Session], Awaitable[Response]]:
    """Return what answers a request; its module is imported when it is first asked for."""

    async def handle(request: Request, session: Session) -> Response:
        if page.needs_file:
            await settled(session, READ)
            if session.worker.has(READ):
                return rendered(session, "waiting.html.j2")
            if not session.ready:
                return back("/open")
        module = importlib.import_module(f"microagg.app.pages.{page.module}")
        answer: Response = await getattr(module, action)(request, session)
        return answer

    return handle


def _kept_safe(session: Session, handle: Callable[[Request, Session], Awaitable[Response]]) -> Handler:
    """Answer what a page raises: a form of a former state, a refusal, or a fault, of which no cell is shown."""

    async def answer(request: Request) -> Response:
        given = await answered(request)
        if request.headers.get("x-script") and given.status_code >= 400:
            given.status_code = 200  # browsers write the others to their console; the page says what is wrong
        return given

    async def answered(request: Request) -> Response:
        begin(session)
        try:
            return await handle(request, session)
        except Stale as stale:
            posted = [(name, one) for name, given in (await form_of(request)).items() for one in given]
            again = [(name, one) for name, one in posted if name != "number"]
            content: dict[str, Any] = {"changes": stale.changes, "posted": again, "action": request.url.path}
            return rendered(session, "stale.html.j2", 409, **content)
        except Busy:
            return rendered(session, "fault.html.j2", 503, text="Files are being written. Wait until that is done.")
        except MicroaggError as error:
            return rendered(session, "fault.html.j2", 422, text=said(error).text)
        except Exception as error:  # noqa: BLE001 - what is said of it is decided in one place
            return rendered(session, "fault.html.j2", 500, text=said(error).text)

    return answer


async def _job(_: Request, session: Session) -> Response:
    """Return how far the work is: no name and no value is in it."""
    job = session.worker.job
    return JSONResponse(
        {
            "stamp": session.stamp,
            "state": session.worker.state,
            "title": job.title if job else "",
            "percent": job.percent if job else None,
            "left": job.seconds_left if job else None,
        }
    )


async def _cancel(request: Request, session: Session) -> Response:
    session.cancel()
    await settled(session)
    return back(_from(request))


async def _go(request: Request, session: Session) -> Response:
    """Undo, redo, or go to any state of the history."""
    posted = await form_of(request)
    if session.history is not None:
        session.history.check(number_in(posted))
        session.go(number_in(posted, "to"))
    return back(_from(request))


def _from(request: Request) -> str:
    """Return the page of ours that a form was posted from."""
    origin = f"http://{request.headers.get('host', '')}"
    place = request.headers.get("referer", "")
    known = {page.path for page in PAGES}
    path = place.removeprefix(origin).partition("?")[0] if place.startswith(f"{origin}/") else "/"
    return path if path in known or any(path.startswith(f"{one}/") for one in known if one != "/") else "/"


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    text = static_text(name)
    if text is None:
        return await _not_found(request, None)
    return Response(text, media_type=_KINDS[Path(name).suffix])


async def _not_found(_: Request, __: Any) -> Response:
    return PlainTextResponse("404: there is no such page.\n", 404)
