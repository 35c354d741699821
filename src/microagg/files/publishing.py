"""What is written to a store: private until it is whole, then published; and what a killed run has left there.

A store has no rename. What a run writes lies below a name that nobody can guess, beside its place, until it has been
read back and counted. A single file then gets its name by one copy within the store. A folder gets its files in turn,
and meanwhile a file that says so: as long as that is there, it is no release, for microagg and for whoever looks.

A private folder holds a file that names its owner, and one that says that the run goes on. When it ends, the latter
goes first. Whoever writes looks for it afterwards and takes back what came too late (`still_open`).
"""

import json
import logging
import os
import platform
import re
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from microagg.checks import check_jobs
from microagg.errors import InvalidData, InvalidParameter, MicroaggError, StoreFailed
from microagg.files.scratch import private_folder, put_in_place, signals_raise, signals_wait
from microagg.files.stores import Place, Where
from microagg.work import in_parallel

_MADE = re.compile(r"\.microagg-[0-9a-f]{32}")
# In the order of names, in which a store removes them, all else comes before.
_OPEN, _OWNER, _PUBLISHING = "~open", "~owner.json", "~publishing.json"
_UNFINISHED = re.compile(r"_microagg_unfinished_[0-9a-f]{32}\.json")
_OLD = 86400.0  # seconds after which what another machine has left is named
_TRIES, _PAUSE = 20, 0.25  # until a worker that is given up has written for the last time


@contextmanager
def private_place(parent: Where, what: str = "scratch") -> Iterator[Any]:
    """Make a folder with a name that nobody can guess, which is removed on exit, on an error and on a signal.

    On this machine it is a `private_folder`. In a store only SIGKILL or a power cut can leave one behind: the next run
    of the same user in the same place, on the same machine, removes it, and a run on another machine names it.
    """
    if isinstance(parent, Path):
        with private_folder(parent, what) as folder:
            yield folder
        return
    look_for_orphans(parent)
    place = parent / f".microagg-{secrets.token_hex(16)}"
    try:
        (place / _OWNER).write_bytes(json.dumps(_this_process()).encode())
        (place / _OPEN).write_bytes(b"")
    except MicroaggError as error:
        place.remove()
        raise StoreFailed(f"nothing can be written to the place for {what}: {error}") from None
    try:
        with signals_raise():
            yield place
    finally:
        with signals_wait():
            _remove(place)


def check_writable(parent: Place) -> None:
    """Refuse a folder of a store that cannot be written to, before any work is done."""
    with private_place(parent, "the target"):
        pass


def still_open(private: Place, written: Place) -> None:
    """Take back what was written to a private folder after its run has ended."""
    if not (private / _OPEN).is_file():
        written.discard()
        raise StoreFailed("the run to which this task belongs has ended.")


def _remove(place: Place) -> None:
    """Remove a private folder; workers that are not reached write no more once the first file is gone."""
    try:
        (place / _OPEN).discard()
        target = _half_published(place)
        if target is not None:  # the store refused to put back what was there: here is the only copy
            _say(
                f"{target} is not a release; what it held before is in {place / 'replaced'}. Put that back, and "
                "remove both."
            )
            return
        for _ in range(_TRIES):
            place.remove()
            if not place.inside():
                return
            time.sleep(_PAUSE)
    except StoreFailed:
        pass
    _say(f"files that a run left in the store could not be removed, and may hold original values. Remove them: {place}")


def _say(words: str) -> None:
    logging.getLogger("microagg").warning("%s", words)


def _this_process() -> dict[str, Any]:
    """Return what distinguishes this process from any other, as far as the system lets us."""
    return {**_here(), "process": os.getpid(), "born": _born(os.getpid())}


def _here() -> dict[str, Any]:
    """Name this machine since it was started, the space that its processes are numbered in, and the user."""
    boot, space = "", ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        space = str(Path("/proc/self/ns/pid").readlink())
    return {"machine": platform.node(), "boot": boot, "space": space, "user": getattr(os, "getuid", lambda: "")()}


def _born(process: int) -> str:
    """Return when a process began, which differs for a later one of the same number; empty if there is none."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def look_for_orphans(parent: Place) -> None:
    """Remove what our processes that were killed have left, and put back what they replaced; name what others left."""
    for place, is_folder, _ in parent.inside():
        if not (is_folder and _MADE.fullmatch(place.name)):
            continue
        owner = _told(place / _OWNER)
        if _is_dead(owner):
            _recover(place)
        elif time.time() - (place / _OWNER).stamp()[1] / 1e9 > _OLD and owner.get("machine") != platform.node():
            _say(
                "another run has left temporary files in the store, unless it still runs. They may hold original "
                f"values: {place}"
            )


def _is_dead(owner: dict[str, Any]) -> bool:
    """Return whether a process ran here, under this user, and is no more; what cannot be known counts as alive."""
    known = _this_process()
    if not known["born"] or not isinstance(owner.get("process"), int):
        return False
    is_here = all(owner.get(name) == value for name, value in _here().items())
    return is_here and _born(owner["process"]) != owner.get("born")


def _told(place: Place) -> dict[str, Any]:
    """Read what a file of ours says; empty if it is none."""
    try:
        told = json.loads(place.read_bytes())
    except (MicroaggError, ValueError, RecursionError):
        return {}
    return told if isinstance(told, dict) else {}


def _recover(place: Place) -> None:
    """Put a private folder away, and what it was published to back to what was there before, if that was not done."""
    target = _half_published(place)
    if target is not None:
        _undo(target, place)
    _remove(place)


def _half_published(place: Place) -> Place | None:
    """Return the folder that a private one was being published to when that broke off."""
    name = _told(place / _PUBLISHING).get("target")
    if not isinstance(name, str) or name in ("", ".", "..") or "/" in name:
        return None
    target = place.parent / name
    return target if (target / _unfinished(place)).is_file() else None


@contextmanager
def whole_object(
    target: Place, beside: Place | None = None, check: Callable[[Place], object] | None = None
) -> Iterator[pa.NativeFile]:
    """Return a file to write that becomes the target when all is well, and is removed otherwise.

    `check` reads it back from the store before. `beside` is a private folder to write it in, where there is one.
    """
    if beside is None:
        with private_place(target.parent, "the target") as private, whole_object(target, private, check) as file:
            yield file
        return
    fresh = beside / f"fresh-{secrets.token_hex(16)}"
    try:
        with fresh.writing() as file:
            yield file
        if check is not None:
            check(fresh)
        fresh.copy_to(target)
        still_open(beside, target)
    finally:
        fresh.discard()


def publish(whole: Where, target: Any, *, overwrite: bool, check: Callable[[Any], object]) -> None:
    """A finished folder, which lies in a private one, its name; what was there comes back if anything goes wrong.

    `check` looks at what is to be replaced.
    """
    if isinstance(whole, Path):
        put_in_place(whole, target, overwrite=overwrite, check=check)
        return
    private = whole.parent
    check(target)
    former = [one for one, _, _ in target.inside(deep=True)]
    if former and not overwrite:
        raise _came_meanwhile(target)
    _each(lambda one: one.copy_to(private / "replaced" / one.name), former)
    (private / _PUBLISHING).write_bytes(json.dumps({"target": target.name}).encode())
    sizes = {one.name: size for one, _, size in whole.inside()}
    mark = target / _unfinished(private)
    mark.write_bytes(json.dumps({"unfinished": "this folder is not a release", "private": str(private)}).encode())
    if {one.name for one, _, _ in target.inside(deep=True)} != {mark.name, *(one.name for one in former)}:
        mark.unlink()  # somebody else's files are there, and are not changed
        raise _came_meanwhile(target)
    try:
        _each(lambda name: (whole / name).copy_to(target / name), sizes)
        _each(Place.unlink, [one for one in former if one.name not in sizes])
        found = {one.name: size for one, _, size in target.inside(deep=True) if one != mark}
        if found != sizes:
            raise InvalidData(f"{target.name!r} does not hold what was copied to it. Run again.")
    except BaseException:
        with signals_wait():
            _undo(target, private)
        raise
    with signals_wait():
        mark.unlink()  # from here on it is a release


def check_replaceable_in_store(target: Place) -> None:
    """Refuse to replace a folder that is not a former target, or that a killed run has left unfinished."""
    inside = target.inside()
    if is_unfinished(one.name for one, _, _ in inside):
        raise InvalidParameter(
            f"the target {target.name!r} was being written when a run was killed, and is not a release. The file "
            "_microagg_unfinished... in it says where its earlier content is. Remove the folder, or name another."
        )
    if any(is_folder or one.suffix != ".parquet" for one, is_folder, _ in inside):
        raise InvalidParameter(f"the target {target.name!r} holds more than .parquet files. Name another folder.")


def _each(work: Callable[[Any], object], items: Any) -> None:
    """Do something in the store for each of these, several at a time."""

    def checked(item: Any, look: Callable[[], None]) -> None:
        look()
        work(item)

    in_parallel(checked, list(items), 4 * check_jobs(None))


def _unfinished(private: Place) -> str:
    return f"_microagg_unfinished_{private.name.rpartition('-')[2]}.json"


def _undo(target: Place, private: Place) -> None:
    """Return a folder that was being published the files that it had before."""
    mark = target / _unfinished(private)
    former = {one.name for one, _, _ in (private / "replaced").inside()}
    parts = {one.name for one, _, _ in (private / "whole").inside()}
    with suppress(StoreFailed):
        _each(lambda name: (private / "replaced" / name).copy_to(target / name), former)
        _each(lambda name: (target / name).unlink(), parts - former)
        mark.unlink()


def _came_meanwhile(target: Place) -> InvalidParameter:
    return InvalidParameter(
        f"the target {target.name!r} was created by somebody else while its content was made. Name another."
    )


def is_unfinished(names: Iterable[str]) -> bool:
    """Return by the names in a folder whether it was being published when its run was killed."""
    return any(_UNFINISHED.fullmatch(name) for name in names)
