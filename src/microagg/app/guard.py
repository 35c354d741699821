"""Who may ask: nobody but the browser that was let in by a one-time address, from pages of ours."""

import hmac
import secrets
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

ENTER = "/enter"
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src "
    "'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
    "referrer-policy": "same-origin",  # with no-referrer, browsers post forms from the origin "null"
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_REFUSED = (
    "403: not allowed.\n\nOpen the address that microagg printed. It works once. For a new address, press Enter in "
    "the terminal.\nFrom another machine, forward the same port: ssh -L PORT:127.0.0.1:PORT\n"
)
_INSIDE = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">'
    '<link rel="icon" href="data:,"><title>microagg</title><a href="/">Go on</a></html>'
)


class Keys:
    """The one-time tokens of addresses, and the cookie that each is exchanged for."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.origin = f"http://127.0.0.1:{port}"
        self.cookie = f"microagg-{port}"  # cookies are shared between the ports of a host
        self.session = secrets.token_urlsafe(24)
        self.entered = 0  # how often somebody was let in
        self._tokens: list[str] = []

    def address(self) -> str:
        """Return a fresh address, good once."""
        self._tokens.append(secrets.token_urlsafe(24))
        return f"{self.origin}{ENTER}?token={self._tokens[-1]}"

    def use(self, token: str) -> bool:
        """Return whether a token is good, and let it be so no longer."""
        found = [one for one in self._tokens if _same(one, token)]
        self._tokens = [one for one in self._tokens if one not in found]
        self.entered += len(found)
        return bool(found)

    def fits(self, cookie: str) -> bool:
        """Return whether a cookie header holds the session's cookie."""
        try:
            found = SimpleCookie(cookie).get(self.cookie)
        except CookieError:
            return False
        return found is not None and _same(found.value, self.session)


def _same(one: str, other: str) -> bool:
    """Compare in a time that does not show how much is the same."""
    return hmac.compare_digest(one.encode(), other.encode())


class Guard:
    """Plain ASGI, outermost, so that nothing comes by it: no other kind of scope, host, site, origin or browser."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app, self._keys = app, keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or answer 403."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] != "http":
            raise RuntimeError("only http is served")
        elif not self._is_ours(scope):
            await _answer(send, 403, _REFUSED, "text/plain; charset=utf-8")
        elif scope["path"] == ENTER:
            await self._enter(scope, send)
        elif not self._keys.fits(_joined(scope, b"cookie")):
            await _answer(send, 403, _REFUSED, "text/plain; charset=utf-8")
        else:
            await self._app(scope, receive, _with_headers(send))

    def _is_ours(self, scope: Scope) -> bool:
        """Return whether the headers are those of a page of ours, or of an address that was typed."""
        keys = self._keys
        if _values(scope, b"host") != [f"127.0.0.1:{keys.port}"]:  # not localhost, which may resolve elsewhere
            return False
        sites = _values(scope, b"sec-fetch-site")
        # The browser is opened through a file, which is another site; its token is what nobody else has.
        if scope["path"] != ENTER and any(site not in ("same-origin", "none") for site in sites):
            return False
        if scope["method"] not in ("GET", "HEAD") and _values(scope, b"origin") != [keys.origin]:
            return False
        return not _values(scope, b"upgrade")

    async def _enter(self, scope: Scope, send: Send) -> None:
        """Exchange a token for the cookie."""
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["method"] != "GET" or not self._keys.use(token):
            await _answer(send, 403, _REFUSED, "text/plain; charset=utf-8")
            return
        cookie = ("set-cookie", f"{self._keys.cookie}={self._keys.session}; HttpOnly; SameSite=Strict; Path=/")
        if _values(scope, b"sec-fetch-site") in ([], ["none"], ["same-origin"]):
            await _answer(send, 303, "", "text/plain", [cookie, ("location", "/")])
        else:  # after a redirect that began elsewhere, browsers send no strict cookie; after a page of ours they do
            await _answer(send, 200, _INSIDE, "text/html; charset=utf-8", [cookie])


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _joined(scope: Scope, name: bytes) -> str:
    return "; ".join(_values(scope, name))


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {key for key, _ in message.get("headers", ())}
            fixed = [(k.encode(), v.encode()) for k, v in _HEADERS.items() if k.encode() not in own]
            message = {**message, "headers": [*message.get("headers", ()), *fixed]}
        await send(message)

    return sent


async def _answer(send: Send, status: int, body: str, kind: str, more: Iterable[tuple[str, str]] = ()) -> None:
    headers = [("content-type", kind), ("content-length", str(len(body.encode()))), *_HEADERS.items(), *more]
    encoded = [(key.encode(), value.encode()) for key, value in headers]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body.encode()})
