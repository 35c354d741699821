"""Start, listen on this machine alone, open the browser, and end when Ctrl-C is pressed."""

import asyncio
import html
import os
import socket
import stat
import sys
import tempfile
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import uvicorn

from microagg.app.guard import Guard, Keys
from microagg.app.routes import make_app
from microagg.app.session import Session
from microagg.errors import InvalidParameter
from microagg.io.scratch import private_folder

_LONG_ENOUGH = 30.0  # seconds in which a browser that was opened has read the file that leads it here


def listening(port: int) -> socket.socket:
    """Give a socket that listens on this machine alone, on this port or, for 0, any."""
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind(("127.0.0.1", port))
    except OSError:
        made.close()
        raise InvalidParameter(f"port {port} is taken. Name another, or leave it out.", parameter="port") from None
    made.listen(64)  # before the address is printed: a fast browser would be refused
    return made


def serve(session: Session, *, port: int = 0, browser: bool = True, say: Callable[[str], None] = print) -> None:
    """Serve the pages of a session until Ctrl-C; then stop what goes on, and leave nothing behind."""
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
        say(f"microagg is at {keys.address()}\nThe address works once: press Enter for another. Ctrl-C ends microagg.")
        try:
            asyncio.run(_until_ended(uvicorn.Server(config), made, keys, browser, say))
        finally:
            session.worker.end(5.0)


async def _until_ended(
    server: uvicorn.Server, made: socket.socket, keys: Keys, browser: bool, say: Callable[[str], None]
) -> None:
    loop = asyncio.get_running_loop()

    def heard() -> None:
        if not os.read(sys.stdin.fileno(), 4096):
            loop.remove_reader(sys.stdin.fileno())
        else:
            say(f"microagg is at {keys.address()}")

    if _can_be_heard():
        # Regular files cannot be waited for, nor can anything on Windows.
        with suppress(OSError, NotImplementedError, ValueError):
            loop.add_reader(sys.stdin.fileno(), heard)
    opening = asyncio.create_task(_open_browser(keys)) if browser else None
    try:
        await server.serve(sockets=[made])
    finally:
        if opening is not None:
            opening.cancel()
            with suppress(asyncio.CancelledError):
                await opening


def _can_be_heard() -> bool:
    """Tell whether somebody may press Enter; what asks from the background is stopped by the terminal."""
    try:
        number = sys.stdin.fileno()
        kind = os.fstat(number).st_mode
        return os.tcgetpgrp(number) == os.getpgrp() if os.isatty(number) else stat.S_ISFIFO(kind)
    except (AttributeError, OSError, ValueError):
        return False


async def _open_browser(keys: Keys) -> None:
    """Lead a browser here through a file that only its owner can read: everybody sees the words of a command."""
    with private_folder(Path(tempfile.gettempdir()), "the browser") as folder:
        page = folder / "microagg.html"
        handle = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            address = html.escape(keys.address())
            file.write(f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={address}">\n')
        await asyncio.to_thread(webbrowser.open, page.as_uri())
        for _ in range(int(_LONG_ENOUGH * 10)):
            await asyncio.sleep(0.1)
            if keys.entered:
                return
