"""How a Dask cluster is reached, or started on this machine; how its workers do tasks; and what its faults mean."""

import asyncio
import errno
import logging
import multiprocessing
import multiprocessing.process
import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from microagg import __version__
from microagg.errors import ClusterFailed, InvalidData, InvalidParameter
from microagg.files.scratch import private_folder, signals_later, signals_wait
from microagg.mask.engines import tasks
from microagg.mask.engines.folder import Folder, forget_all
from microagg.work import Work

_LOOK_EVERY, _PATIENCE = 2.0, 60.0  # seconds: between two looks at the workers, and without any before giving up
_MOMENT = 0.5  # seconds
_WATCHED = 0.1  # seconds


_UNSEEN = {
    "scratch": "cannot reach the folder for temporary files. Pass as scratch= a folder that all machines share under "
    "the same path, or a place in a store, such as s3://bucket/scratch.",
    "source": "cannot reach the source. Put it where all machines reach it under the same path, or into a store.",
    "target": "cannot reach the folder of the target. Name one that all machines reach under the same path, or a "
    "store.",
    "store": "cannot reach the store. Give it the same key or role that you have, and the endpoint if there is one.",
}


class Workers:
    """Those who do the tasks of a run, of parts with so many records each, and report to each other in a folder."""

    def __init__(self, client: Any, folder: Folder, sizes: Sequence[int], work: Work) -> None:
        self.client, self.folder, self.sizes, self.work = client, folder, sizes, work

    def check(self) -> None:
        """Refuse a cluster whose workers do not see the scratch, or have another microagg."""
        try:
            found = self.client.run(tasks.look, self.folder)
        except Exception as error:  # noqa: BLE001 - whatever a worker without microagg says
            raise ClusterFailed(
                f"the workers cannot run microagg ({type(error).__name__}). Install it on each of them."
            ) from None
        if not found:
            raise ClusterFailed("the cluster has no workers. Start some, then run again.")
        for address, (version, unseen) in found.items():
            if unseen:
                raise ClusterFailed(f"the worker at {address} {_UNSEEN[unseen[0]]}")
            if version != __version__:
                raise ClusterFailed(
                    f"the worker at {address} has microagg {version}, not {__version__}. Install the same everywhere."
                )

    def each_part(self, task: Callable[..., None], *more: Any, done: int | None = None) -> None:
        """Run a task for each part."""
        self.each(task, self.sizes, *more, done=done)

    def each(self, task: Callable[..., None], sizes: Sequence[int], *more: Any, done: int | None = None) -> None:
        """Run a task for each number of a part or region; report progress from `done` on, by their sizes."""
        from distributed import KilledWorker, wait

        homes = self._homes()
        futures = {
            self.client.submit(task, self.folder, number, *more, pure=False, **homes[number % len(homes)]): size
            for number, size in enumerate(sizes)
        }
        waiting = set(futures)
        idle_since = time.monotonic()
        try:
            while waiting:
                try:
                    with self.client.as_current():
                        finished = wait(waiting, timeout=_LOOK_EVERY, return_when="FIRST_COMPLETED").done
                except TimeoutError:
                    if self.client.nthreads():
                        idle_since = time.monotonic()
                    elif time.monotonic() - idle_since > _PATIENCE:
                        raise ClusterFailed(
                            "the cluster has lost all its workers. Start some, then run again."
                        ) from None
                    continue
                for future in finished:
                    future.result()
                    if done is not None:
                        done += futures[future]
                        self.work.tell(done, 3 * sum(self.sizes))
                waiting -= finished
        except KilledWorker:
            raise ClusterFailed(
                "a worker died several times at the same task, most likely because it had too little memory. Give "
                "workers more memory, or lower max_block and write the file in smaller row groups."
            ) from None
        finally:
            self.client.cancel(list(futures))

    def _homes(self) -> list[dict[str, Any]]:
        """Return where tasks are best done: by a store, each part by the worker that may have read it before."""
        if self.folder.room is not None or not (workers := sorted(self.client.nthreads())):
            return [{}]
        return [{"workers": [one], "allow_other_workers": True} for one in workers]


@contextmanager
def connected(scheduler: str | None, workers: int, room: Path | None) -> Iterator[Any]:
    """Return a client of the scheduler at this address, or of a cluster on this machine that ends with it.

    What workers of this machine put aside goes to a folder in `room`, or to a private one where there is no room.
    """
    try:
        import cryptography  # noqa: F401 - for the cluster's own certificates
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise InvalidParameter("engine='dask' needs Dask. Install it: pip install 'microagg[scale]'.") from None
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InvalidParameter('a worker that starts imports your script. Put it under: if __name__ == "__main__":')
    log = logging.getLogger("microagg")
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=10, set_as_default=False)
        except (OSError, ValueError, TypeError):  # a time-out is an OSError too; TLS without certificates a TypeError
            raise ClusterFailed(
                f"no scheduler answers at {scheduler!r}. Check the address, and that it runs."
            ) from None
        with client:
            log.warning("the cluster's dashboard, if it has one: %s", client.dashboard_link)
            try:
                yield client
            finally:
                with suppress(Exception):  # the workers go on without us, and keep nothing of the data
                    client.run(forget_all, on_error="ignore")
        return
    with ExitStack() as stack:
        own = room or stack.enter_context(private_folder(Path(tempfile.gettempdir())))
        spill = own / "workers"
        spill.mkdir(mode=0o700)
        stack.enter_context(dask.config.set({"temporary-directory": str(spill)}))
        if os.name == "posix":
            resource_tracker.ensure_running()  # when it starts, it lets Ctrl-C through again
        # Broken off within, workers would go on to start and make their folders anew when these have been removed.
        with signals_later() as sent, _given_up(sent):
            cluster = LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                worker_dashboard_address="127.0.0.1:0",
                local_directory=str(spill),
                security=True,  # 127.0.0.1 is open to all users of a machine
                silence_logs=logging.CRITICAL,
            )
            stack.enter_context(cluster)
            client = stack.enter_context(Client(cluster, set_as_default=False))
            stack.enter_context(_ended_at_once(cluster, client))
            client.run(tasks.leave_interrupts)
        log.warning("a cluster of %d workers on this machine; its dashboard: %s", workers, client.dashboard_link)
        yield client


@contextmanager
def _given_up(sent: list[int]) -> Iterator[None]:
    """Kill the workers that start within as soon as something is sent: Dask then puts away what it has made so far.

    It does not where it is interrupted itself, and starting takes a while.
    """
    former, done = set(_processes()), threading.Event()

    def watch() -> None:
        while not done.wait(_WATCHED):
            for number in set(_processes()) - former if sent else ():
                with suppress(OSError):
                    os.kill(number, signal.SIGTERM if not hasattr(signal, "SIGKILL") else signal.SIGKILL)

    watching = threading.Thread(target=watch, name="microagg-workers", daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join()


def _processes() -> list[int]:
    """Return the processes that this one has started; asking `multiprocessing` would take from Dask how they ended."""
    return [one.pid for one in list(multiprocessing.process._children) if one.pid is not None]  # type: ignore[attr-defined]


@contextmanager
def _ended_at_once(cluster: Any, client: Any) -> Iterator[None]:
    """End the workers of a cluster without waiting for their tasks, where these are of no use any more.

    Closing lets each finish what it does, for up to four seconds. And a further Ctrl-C that breaks it off leaves a
    cluster that is closing for ever, for which Dask waits ten seconds when the process ends.
    """
    try:
        yield
    except BaseException:
        with signals_wait():
            cluster.sync(_end_workers, cluster)
            client.close()
            cluster.close()
        raise


async def _end_workers(cluster: Any) -> None:
    """Kill what has not ended within a moment; what goes wrong with that is tried again when the cluster closes."""
    closing = (nanny.close(timeout=_MOMENT) for nanny in cluster.workers.values())
    await asyncio.gather(*closing, return_exceptions=True)


@contextmanager
def explained() -> Iterator[None]:
    """Say what a fault of the disk or of the cluster means."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise InvalidData(
                "the disk is full: temporary files take up to three times 8 bytes for each value to mask, weight and "
                "coordinate, and the target takes as much as the file. Free some space, or pass scratch=."
            ) from None
        if type(error).__module__.startswith("distributed"):
            raise ClusterFailed(
                "the connection to the scheduler was lost. Check whether it runs, then run again."
            ) from None
        raise
    except RuntimeError as error:
        if "Nanny" not in str(error) and "start" not in str(error):
            raise
        raise ClusterFailed(
            'the workers on this machine did not start. Is the script under: if __name__ == "__main__":'
        ) from None
