"""A PostgreSQL server of the tests' own, in a temporary folder, on loopback and a socket."""

import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

from tests.conftest import find_program

USER, PASSWORD = "keeper", "pass-Wort/1"


@contextmanager
def postgresql():
    """Start a server and give its port, its folder, and address(table, ...)."""
    initdb = Path(find_program("initdb"))
    with _private_folder() as folder:
        secret = folder / "secret"
        secret.write_text(PASSWORD)
        if _as_whom():
            shutil.chown(secret, "postgres")
        create = [initdb, "-D", folder / "data", "-U", USER, f"--pwfile={secret}", "-A", "scram-sha-256"]
        subprocess.run([*create, "-E", "UTF8", "--locale=C", "--no-sync"], check=True, **_quiet(folder))
        with _running(initdb, folder) as port:

            def address(table=None, database="postgres", more=""):
                parameters = f"?table={table}{more}" if table else ""
                return f"postgresql://{USER}:{PASSWORD.replace('/', '%2F')}@127.0.0.1:{port}/{database}{parameters}"

            yield SimpleNamespace(port=port, folder=folder, address=address)


@contextmanager
def standby(server):
    """Start a server that follows another and can only be read; give its port."""
    copy = Path(find_program("pg_basebackup"))
    with _private_folder() as folder:
        where = ["-D", folder / "data", "-d", server.address()]
        subprocess.run([copy, *where, "-R", "-c", "fast", "--no-sync"], check=True, **_quiet(folder))
        with _running(copy, folder) as port:
            yield port


@contextmanager
def _private_folder():
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))  # a short path, as a socket's must be
    try:
        if _as_whom():
            shutil.chown(folder, "postgres")
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _as_whom():
    """PostgreSQL does not run as root."""
    return {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}


def _quiet(folder):
    return {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **_as_whom()}


@contextmanager
def _running(program, folder):
    """Run a server on the data in a folder, with the programs beside the given one; give its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [program.with_name("postgres"), "-D", folder / "data", "-p", str(port), "-k", folder, "-F"]
    running = subprocess.Popen([*command, "-c", "listen_addresses=127.0.0.1"], **_quiet(folder))
    try:
        ready = [program.with_name("pg_isready"), "-h", "127.0.0.1", "-p", str(port), "-t", "1"]
        for _ in range(300):
            if subprocess.run(ready, check=False, stdout=subprocess.DEVNULL).returncode == 0:
                break
            if running.poll() is not None:
                raise RuntimeError("the server ended as it started")
            subprocess.run(["sleep", "0.1"], check=True)
        else:
            raise RuntimeError("the server does not answer")
        yield port
    finally:
        running.terminate()  # waits for sessions
        try:
            running.wait(5)
        except subprocess.TimeoutExpired:
            running.send_signal(2)  # breaks them off
            running.wait(20)
