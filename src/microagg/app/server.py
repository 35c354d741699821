"""Start, listen on this machine alone, open the browser, and end when Ctrl-C is pressed."""

import asyncio
import html
import os
import signal
import socket
import stat
import sys
import tempfile
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn

from microagg.app.guard import Guard, Keys
from microagg.app.pages.quitting import last_words
from microagg.app.routes import make_app
from microagg.app.session import Session
from microagg.errors import InvalidParameter
from microagg.files.scratch import abandon, private_folder, signals_raise, signals_wait

_PATIENCE = 3.0  # seconds after Ctrl-C in which work that was cancelled should have ended
_LONG_ENOUGH = 30.0  # seconds in which a browser that was opened has read the file that leads it here


def listening(port: int) -> socket.socket:
    """Return a socket that listens on this machine alone, on this port or, for 0, any."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", port))
    except OSError:
        made.close()
        raise InvalidParameter(f"port {port} is in use. Name another, or leave it out.", parameter="port") from None
    made.listen(64)  # before the address is printed: a fast browser would be refused
    return made


class _Server(uvicorn.Server):
    """A server that stops the work as soon as it must end, and does not wait until every browser has disconnected."""

    def __init__(self, config: uvicorn.Config, session: Session) -> None:
        super().__init__(config)
        self._session = session
        self.deadline = 0.0

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Hear a closed terminal too; uvicorn would be broken off by it in whatever it does, and may never end."""
        with super().capture_signals():
            former = signal.getsignal(signal.SIGHUP) if hasattr(signal, "SIGHUP") else signal.SIG_IGN
            if former is signal.SIG_IGN or threading.current_thread() is not threading.main_thread():
                yield
                return
            signal.signal(signal.SIGHUP, self.handle_exit)
            try:
                yield
            finally:
                signal.signal(signal.SIGHUP, former)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.deadline = time.monotonic() + _PATIENCE
        self._session.worker.end(0.0)
        await super().shutdown(sockets)


def serve(session: Session, *, port: int = 0, browser: bool = True, say: Callable[[str], None] = print) -> None:
    """Serve the pages of a session until Quit or Ctrl-C; then stop what goes on, and leave nothing but choices."""
    with listening(port) as made:
        keys = Keys(made.getsockname()[1])
        config = uvicorn.Config(
            Guard(make_app(session), keys),
            log_config=None,
            access_log=False,
            server_header=False,
            ws="none",
            http="h11",
            lifespan="off",
            loop="asyncio",
            timeout_graceful_shutdown=1,
        )
        server = _Server(config, session)
        session.end = lambda: setattr(server, "should_exit", True)
        try:
            with signals_raise():  # uvicorn sends what it has heard once more, and SIGTERM would end all at once
                asyncio.run(_until_ended(server, made, keys, browser, say))
        finally:
            with signals_wait():
                if not session.worker.end(max(0.0, server.deadline - time.monotonic())):
                    abandon()
                if words := last_words(session):
                    say(words)


async def _until_ended(
    server: uvicorn.Server, made: socket.socket, keys: Keys, browser: bool, say: Callable[[str], None]
) -> None:
    loop = asyncio.get_running_loop()
    # Not before there is a loop: whoever then presses Ctrl-C at once would see how it is half made.
    say(f"microagg is at {keys.address()}\nThe address works once: press Enter for a new one. Ctrl-C ends microagg.")

    def heard() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            loop.remove_reader(sys.stdin.fileno())
        else:
            say(f"microagg is at {keys.address()}")

    if _can_be_heard():
        # Regular files cannot be waited for, nor can anything on Windows.
        with suppress(OSError, NotImplementedError, ValueError):
            loop.add_reader(sys.stdin.fileno(), heard)
    ended = threading.Event()
    opening = threading.Thread(target=_open_browser, args=(keys, ended), daemon=True)
    if browser:
        opening.start()
    try:
        await server.serve(sockets=[made])
    finally:
        ended.set()
        if browser:
            opening.join(2.0)


def _can_be_heard() -> bool:
    """Return whether somebody may press Enter; what asks from the background is stopped by the terminal."""
    try:
        number = sys.stdin.fileno()
        kind = os.fstat(number).st_mode
        return os.tcgetpgrp(number) == os.getpgrp() if os.isatty(number) else stat.S_ISFIFO(kind)
    except (AttributeError, OSError, ValueError):
        return False


def _open_browser(keys: Keys, ended: threading.Event) -> None:
    """Lead a browser here through a file that only its owner can read: everybody sees the words of a command.

    On a thread of its own: the folder would take the signals that the server waits for.
    """
    with private_folder(Path(tempfile.gettempdir()), "the browser") as folder:
        page = folder / "microagg.html"
        handle = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            address = html.escape(keys.address())
            file.write(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={address}">\n')
        webbrowser.open(page.as_uri())
        deadline = time.monotonic() + _LONG_ENOUGH
        while not keys.entered and time.monotonic() < deadline and not ended.wait(0.1):
            pass
