"""A browser without a screen, that calls the app in process."""

import asyncio
import html
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from urllib.parse import urlencode

from microagg.app.guard import Guard, Keys
from microagg.app.routes import make_app

PORT = 8899


@dataclass
class Answer:
    """What the app answered."""

    status: int
    headers: dict[str, str]
    text: str


class Client:
    """A browser without a screen: it keeps the cookie and posts the number of the page that it saw last."""

    def __init__(self, session):
        self.session, self.keys = session, Keys(PORT)
        self.app = Guard(make_app(session), self.keys)
        self.cookie, self.number = "", "0"
        self.enter()

    def ask(self, method, path, body=b"", **headers):
        """Call the app as a server does."""
        place, _, query = path.partition("?")
        named = {"host": f"127.0.0.1:{PORT}", "cookie": self.cookie, "content-length": str(len(body))}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        raw = [(name.encode(), value.encode()) for name, value in named.items() if value is not None]
        scope = {"type": "http", "method": method, "path": place, "query_string": query.encode(), "headers": raw}
        scope |= {"http_version": "1.1", "scheme": "http", "root_path": "", "server": ("127.0.0.1", PORT)}
        sent = []

        async def receive():
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message):
            sent.append(message)

        with ThreadPoolExecutor(1) as thread:  # a browser may have a loop on this one
            thread.submit(asyncio.run, self.app(scope, receive, send)).result()
        own = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], own, b"".join(one.get("body", b"") for one in sent[1:]).decode())

    def enter(self):
        answer = self.ask("GET", self.keys.address().removeprefix(self.keys.origin))
        assert answer.status == 303
        self.cookie = answer.headers["set-cookie"].partition(";")[0]
        self.settle()

    def settle(self):
        assert self.session.worker.settle(120), "the worker does not come to an end"

    def get(self, path):
        """Ask for a page, and follow where it leads."""
        answer = self._seen(self.ask("GET", path.partition("#")[0]))
        return self.get(answer.headers["location"]) if answer.status == 303 else answer

    def post(self, path, /, *, number=None, **fields):
        """Post a form and follow where it leads; two underscores in a name stand for a point."""
        given = {"number": self.number if number is None else number}
        given |= {name.replace("__", "."): value for name, value in fields.items()}
        answer = self._seen(self.ask("POST", path, urlencode(given, doseq=True).encode(), origin=self.keys.origin))
        self.settle()
        return self.get(answer.headers["location"]) if answer.status == 303 else answer

    def _seen(self, answer):
        found = re.search(r'data-number="(\d+)"', answer.text)
        self.number = found[1] if found else self.number
        return answer

    def row(self, name):
        return self.session.columns.index(name)


def text_of(answer):
    """Give a page as it is read."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.text)).split())


def shown(answer, name):
    return re.search(rf'id="{name}"[^>]*>([^<]*)<', answer.text)[1]


def remedies(answer):
    """Give the changes that buttons offer, by their labels."""
    found = re.findall(r'name="remedy" value="([^"]*)"[^>]*><bdi>([^<]*)<', answer.text)
    return {html.unescape(label): html.unescape(change) for change, label in found}
