"""A browser without a screen: it writes a release on the pages of an app that runs as a process of its own."""

import html
import json
import re
import time
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode

_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)(/enter\?token=\S+)")


class Browser:
    """It keeps the cookie, and posts the number of the page that it saw last."""

    def __init__(self, said: str) -> None:
        found = _ADDRESS.search(said)
        if found is None:
            raise ValueError("no address was printed")
        self.port, self.cookie, self.number = int(found[1]), "", "0"
        self.cookie = (self._ask("GET", found[2])[1] or "").partition(";")[0]

    @staticmethod
    def knows(said: str) -> bool:
        """Return whether an address has been printed."""
        return _ADDRESS.search(said) is not None

    def _ask(self, method: str, path: str, body: str = "", wait: bool = True) -> tuple[str, str | None, str]:
        made = HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"cookie": self.cookie}
        if method == "POST":
            headers |= {
                "origin": f"http://127.0.0.1:{self.port}",
                "content-type": "application/x-www-form-urlencoded",
            }
        made.request(method, path, body or None, headers)
        if not wait:
            self._kept = made  # so that the connection stays open
            return "", None, ""
        answer = made.getresponse()
        text = answer.read().decode()
        given = answer.headers
        made.close()
        return text, given.get("set-cookie"), given.get("location") or ""

    def get(self, path: str) -> str:
        """Ask for a page, and follow where it leads."""
        text, _, location = self._ask("GET", path.partition("#")[0])
        if location:
            return self.get(location)
        found = re.search(r'data-number="(\d+)"', text)
        self.number = found[1] if found else self.number
        return text

    def post(self, path: str, *, wait: bool = True, **fields: Any) -> str:
        """Post a form; where it is not waited for, nothing is known of the answer."""
        body = urlencode({"number": self.number, **fields}, doseq=True)
        text, _, location = self._ask("POST", path, body, wait)
        return self.get(location) if location else text

    def settle(self, seconds: float = 60) -> None:
        """Wait until nothing is being done."""
        limit = time.monotonic() + seconds
        while json.loads(self._ask("GET", "/job")[0])["title"]:
            if time.monotonic() > limit:
                raise TimeoutError("the app does not come to an end")
            time.sleep(0.05)

    def ticks(self) -> list[str]:
        """Open the page Release, and give what its boxes post."""
        for _ in range(100):
            page = self.get("/release")
            if found := re.findall(r'name="tick" value="(\w+)"', page):
                return found
            self.settle()
            time.sleep(0.05)
        raise TimeoutError(f"no checklist: {html.unescape(re.sub(r'<[^>]+>', ' ', page))[:300]}")
