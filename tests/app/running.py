"""The app as a process of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/enter\?token=(\S+)")


class Running:
    """A process, its port, the address that it printed, and all that it has printed so far."""

    def __init__(self, process):
        self.process = process
        self.said = process.stdout.readline()
        found = ADDRESS.search(self.said)
        assert found, self.said + process.stderr.read()
        self.address, self.port, self.token = found[0], int(found[1]), found[2]
        self.origin = f"http://127.0.0.1:{self.port}"

    def fresh(self):
        """Press Enter, and give the address that is printed."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        while not (found := ADDRESS.search(line := self.process.stdout.readline())):
            self.said += line
        self.said += line
        return found[0]

    def end(self, number=signal.SIGINT):
        """Press Ctrl-C, or send another signal; give the exit code and what was written to standard error."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=20)
        self.said += out
        return self.process.returncode, err


# Starts the program with an ear for each address that it turns to.
HEARD = """
import os
import sys

def hear(event, given):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname"):
        place = given[1] if event == "socket.connect" else given[0]
        open("heard", "a").write(repr(place) + chr(10))

sys.addaudithook(hear)
from microagg.app import session
session.AT_ONCE = float(os.environ.get("AT_ONCE", 60))  # so that a busy machine tries a change at once too
"""
MAIN = """
from microagg.cli import main
main()
"""


@contextmanager
def running(folder, *words, browser=False, hook="", **environment):
    """Start the app in a folder, after what a hook changes in it; end it in any case."""
    command = [
        sys.executable,
        "-c",
        HEARD + hook + MAIN,
        "app",
        *map(str, words),
        *([] if browser else ["--no-browser"]),
    ]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(command, cwd=folder, text=True, env={**os.environ, **environment}, **pipes)
    try:
        yield Running(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


USUAL = 0.3  # seconds for the loops of `pace` on two cores of their own


def pace():
    """Tell how many times slower this machine is now than the one that limits are said for; never less than once."""
    begun, total = time.perf_counter(), 0
    for number in range(6_000_000):
        total += number * number
    return max(1.0, (time.perf_counter() - begun) / USUAL)


@contextmanager
def within(seconds):
    """Fail where something takes more than so many seconds, as slow as the machine is before and after it."""
    before, begun = pace(), time.perf_counter()
    yield
    taken = time.perf_counter() - begun
    assert taken < seconds * max(before, pace()), f"{taken:.1f} s"
