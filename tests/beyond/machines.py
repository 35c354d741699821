"""Workers that share nothing but a scheduler and an object store, as on machines of their own.

Each has its own home and folder and, where this user may make them, its own network and no view of the client's folder.
"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import platformdirs

from tests.io.object_store import BUCKET, ENVIRONMENT

ROOT = Path(__file__).parents[2]
_MAKES_NETWORKS = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("ip") is not None
_PATIENCE = 60  # seconds


class Network:
    """Namespaces, each joined to this one by a cable; all reach the first address."""

    def __init__(self, count):
        self._tag = f"mag{os.getpid() % 100_000}"
        self.names = [f"{self._tag}n{number}" for number in range(count)]
        self.host = f"10.213.{os.getpid() % 200}.1"

    def make(self):
        """Make them; tell whether that was possible."""
        try:
            for number, name in enumerate(self.names):
                start = self.host.rpartition(".")[0]
                own, other = (f"{start}.{4 * number + end}" for end in (1, 2))
                cable = f"{self._tag}v{number}"
                _ip("netns", "add", name)
                _ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", name)
                _ip("addr", "add", f"{own}/30", "dev", cable)
                _ip("link", "set", cable, "up")
                _ip("-n", name, "addr", "add", f"{other}/30", "dev", "eth0")
                for device in ("lo", "eth0"):
                    _ip("-n", name, "link", "set", device, "up")
                _ip("-n", name, "route", "add", "default", "via", own)
        except subprocess.CalledProcessError:
            return False
        return True

    def remove(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def _ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


@contextlib.contextmanager
def machines(folder, count=3):
    """Start a store, a scheduler and workers.

    Gives `scheduler`, the processes of the `workers`, the `environment` in which the store is reached, whether workers
    have `networks` of their own, and `counted()`.
    """
    folder = Path(folder)
    network = Network(count)
    with contextlib.ExitStack() as stack:
        apart = _MAKES_NETWORKS and network.make()
        stack.callback(network.remove)
        host = network.host if apart else "127.0.0.1"
        store = stack.enter_context(
            _process([sys.executable, "-m", "tests.io.object_store", host], stdin=-1, stdout=-1, text=True)
        )
        endpoint = f"http://{host}:{int(store.stdout.readline())}"
        environment = {**ENVIRONMENT, "AWS_ENDPOINT_URL": endpoint}
        told = folder / "scheduler.json"
        start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", host, "--port", "0"]
        stack.enter_context(
            _process([*start, "--dashboard-address", "127.0.0.1:0", "--scheduler-file", told], stderr=-3)
        )
        scheduler = _address(told)
        client, homes = folder / "client", [folder / f"machine-{number}" for number in range(count)]
        for one in (client, *homes):
            one.mkdir()
        workers = []
        for number, home in enumerate(homes):
            work = [sys.executable, "-m", "distributed.cli.dask_worker", scheduler, "--name", str(number)]
            work += ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"]
            work += ["--local-directory", str(home)]
            if apart:
                hidden = [f"mount -t tmpfs none '{one}'" for one in (client, *homes) if one != home]
                inside = " && ".join([*hidden, 'exec "$@"'])
                work = ["ip", "netns", "exec", network.names[number], "sh", "-c", inside, "sh", *work]
            own = {**os.environ, **environment, "HOME": str(home), "PYTHONPATH": str(ROOT)}
            # Compiled kernels hold no data, and need not be compiled again.
            own["XDG_CACHE_HOME"] = str(Path(platformdirs.user_cache_dir("microagg")).parent)
            workers.append(stack.enter_context(_process(work, env=own, cwd=home, stdout=-3, stderr=-3)))

        def counted():
            with urllib.request.urlopen(f"{endpoint}/-/counted") as answer:
                return json.load(answer)

        yield SimpleNamespace(
            scheduler=scheduler,
            workers=workers,
            environment=environment,
            networks=apart,
            counted=counted,
            client=client,
            bucket=f"s3://{BUCKET}",
            wait=lambda: _wait(scheduler, count),
        )


@contextlib.contextmanager
def _process(words, **how):
    """Run a program until the end, from the folder of the sources."""
    process = subprocess.Popen(words, **{"cwd": ROOT, **how})
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()


def _address(path):
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError, ValueError):
            return json.loads(path.read_text())["address"]
        time.sleep(0.1)
    raise TimeoutError("the scheduler did not start")


def _wait(scheduler, count):
    from distributed import Client

    with Client(scheduler, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=_PATIENCE)
