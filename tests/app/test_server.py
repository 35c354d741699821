"""The process: it listens on this machine alone, gives away no token, and ends cleanly."""

import socket
import stat
import sys
import time
from inspect import signature
from pathlib import Path

import pytest

from microagg.app.command import app as command
from tests.app.running import running

ON_LINUX = Path("/proc/net/tcp").exists()


def ask(app, *lines, path="/", method="GET"):
    """Send a request over a raw socket, and give the answer."""
    with socket.create_connection(("127.0.0.1", app.port), timeout=10) as made:
        made.sendall("\r\n".join([f"{method} {path} HTTP/1.1", *lines, "connection: close", "", ""]).encode())
        answer = b""
        while part := made.recv(65536):
            answer += part
    return answer.decode()


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running(tmp_path_factory.mktemp("here")) as started:
        yield started


def test_over_a_raw_socket_nobody_gets_in_without_the_cookie(app):
    host = f"host: 127.0.0.1:{app.port}"
    for lines in ([host], ["host: evil.example"], [f"host: localhost:{app.port}"], [host, "cookie: microagg=1"]):
        answer = ask(app, *lines)
        assert answer.startswith("HTTP/1.1 403"), lines
        assert app.token not in answer
        assert "\nserver:" not in answer.lower()
    upgrade = ask(
        app, host, "upgrade: websocket", "connection: upgrade", "sec-websocket-key: YQ==", "sec-websocket-version: 13"
    )
    assert upgrade.startswith("HTTP/1.1 403")
    assert ask(app, "x: y").startswith("HTTP/1.1 4")  # no host at all


def test_enter_prints_a_fresh_address_and_each_works_once(app):
    host = f"host: 127.0.0.1:{app.port}"
    for address in (app.address, app.fresh()):
        path = address.removeprefix(app.origin)
        first = ask(app, host, path=path)
        assert first.startswith("HTTP/1.1 303")
        cookie = next(line for line in first.splitlines() if line.lower().startswith("set-cookie: "))
        assert ask(app, host, path=path).startswith("HTTP/1.1 403")
        own = [host, f"cookie: {cookie[12:].partition(';')[0]}"]
        assert ask(app, *own, path="/open").startswith("HTTP/1.1 200")
        for origin in (["origin: http://evil.example"], ["origin: null"], []):
            refused = ask(app, *own, *origin, "content-length: 0", path="/open/make", method="POST")
            assert refused.startswith("HTTP/1.1 403"), origin
            assert cookie[12:].partition(";")[0].partition("=")[2] not in refused


@pytest.mark.skipif(not ON_LINUX, reason="left out: /proc is Linux's")
def test_it_listens_on_this_machine_alone(app):
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    mine = [row[1] for row in rows if row[1].endswith(f":{app.port:04X}") and row[3] == "0A"]
    assert mine == [f"0100007F:{app.port:04X}"]
    assert not [one for one in signature(command).parameters if "host" in one]
    six = Path("/proc/net/tcp6")
    assert not six.exists() or f":{app.port:04X} 0000" not in six.read_text()


def test_a_port_can_be_named_and_a_taken_one_is_refused(tmp_path, app):
    import subprocess

    command = [sys.executable, "-m", "microagg", "app", "--no-browser", "--port", str(app.port)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 2
    assert f"port {app.port} is in use" in done.stderr


BROWSER = """#!{python}
import pathlib, sys, time
page = sys.argv[1].removeprefix("file://")
words = [p.read_bytes() for p in pathlib.Path("/proc").glob("[0-9]*/cmdline") if p.exists()]
text = pathlib.Path(page).read_text()
token = text.split("token=")[1].split('"')[0]
seen = any(token.encode() in one for one in words)
mode = oct(pathlib.Path(page).stat().st_mode & 0o777), oct(pathlib.Path(page).parent.stat().st_mode & 0o777)
made = pathlib.Path("seen")
made.with_suffix(".tmp").write_text(repr((seen, mode, page, token)))
made.with_suffix(".tmp").rename(made)
"""


@pytest.mark.skipif(not ON_LINUX, reason="left out: /proc is Linux's")
def test_the_browser_is_led_here_by_a_private_file_and_no_command_line_has_the_token(tmp_path):
    import ast

    browser = tmp_path / "browser"
    browser.write_text(BROWSER.format(python=sys.executable))
    browser.chmod(browser.stat().st_mode | stat.S_IXUSR)
    with running(tmp_path, browser=True, BROWSER=f"{browser} %s") as app:
        deadline = time.monotonic() + 30
        while not (tmp_path / "seen").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        seen, mode, page, token = ast.literal_eval((tmp_path / "seen").read_text())
        assert not seen
        assert mode == ("0o600", "0o700")
        assert Path(page).exists()  # until somebody came in by it
        host = f"host: 127.0.0.1:{app.port}"
        assert ask(app, host, "sec-fetch-site: cross-site", path=f"/enter?token={token}").startswith("HTTP/1.1 200")
        while Path(page).parent.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not Path(page).parent.exists()
        assert app.end() == (130, "")


def test_ctrl_c_ends_it_while_it_works_and_leaves_nothing(tmp_path):
    from tests.cli import call

    call("datasets", "make", "survey", "-n", 2000, "-o", tmp_path / "survey.csv")
    with running(tmp_path, "survey.csv") as app:
        begun = time.monotonic()
        assert app.end() == (130, "")
        assert time.monotonic() - begun < 15
    assert [path.name for path in tmp_path.iterdir()] == ["survey.csv"]
