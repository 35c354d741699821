"""The very first run: a second process compiles what judges a release, while this one compiles what makes it.

Both keep what they compile in one place, where the other finds it. The second process works on a small synthetic file
and sees no data of yours. It is a help and no more: where it cannot start, or breaks off, all is compiled here.
"""

import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from microagg.algorithms.kernels._jit import announce_compiling, is_lacking
from microagg.algorithms.kernels.linkage import count_as_near
from microagg.algorithms.kernels.partitioners import groups_from_outside

SWITCH = "MICROAGG_COMPILE_AHEAD"
"""The variable of the environment that, set to 0, keeps to one process."""

_CHILD = (
    "import os, pickle, signal, sys, threading\n"
    "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"  # Ctrl-C reaches it too, and it is for us to end it then
    "hasattr(os, 'nice') and os.nice(10)\n"  # it uses a processor that is free, and takes none from us
    "sys.path[:] = pickle.load(sys.stdin.buffer)\n"
    # Nothing more is sent: what it waits for is the end of the process that started it, whatever ends that.
    "threading.Thread(target=lambda: (os.read(0, 1), os._exit(0)), daemon=True).start()\n"
    "from microagg.jobs.ahead import judge_a_sample\n"
    "judge_a_sample()"
)


@contextmanager
def compiling_ahead() -> Iterator[None]:
    """Have what judges a release compiled by a second process, if it and what makes releases are not compiled yet.

    It ends with the work within this context, and with this process.
    """
    child = _start() if _pays() else None
    try:
        yield
    finally:
        if child is not None:
            child.kill()
            with suppress(OSError):  # it has closed its end
                child.stdin.close()  # type: ignore[union-attr]
            child.wait()


def _pays() -> bool:
    """Return whether two processes are faster than one: only where both have something to compile and to keep."""
    if os.environ.get(SWITCH) == "0" or _processors() < 2:
        return False
    return is_lacking(count_as_near) and is_lacking(groups_from_outside)


def _processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start() -> subprocess.Popen[bytes] | None:
    if not sys.executable or getattr(sys, "frozen", False):  # a frozen program would start itself once more
        return None
    announce_compiling()  # now, since soon something is kept
    child = None
    with suppress(OSError):
        child = subprocess.Popen(
            # -P: no modules from the present folder, which may hold files of others.
            [sys.executable, "-I" if sys.flags.isolated else "-P", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert child.stdin is not None
        child.stdin.write(pickle.dumps([os.path.abspath(place) for place in sys.path]))  # noqa: PTH100 - strings
        child.stdin.flush()
    return child


def judge_a_sample() -> None:
    """Judge a small synthetic file, of which every five neighbours are released with the values of one.

    What is needed first comes first. The bound comes last: it searches by kernels that form groups too, which the other
    process has compiled by then.
    """
    import numpy as np

    import microagg as ma
    from microagg.algorithms.kernels.records import plain_records
    from microagg.algorithms.refine import squared_error
    from microagg.columns.representatives import released_values
    from microagg.measures.dominance import measure_dominance

    n, names = 200, ["sex", "age", "education", "wage", "income"]
    groups, numbers = np.arange(n) // 5, ma.datasets.uniform(n, 2, seed=0)
    columns = numbers.T.copy()
    original = ma.datasets.households(n, seed=0).select([*names, "region"])
    masked = original.take(5 * groups).set_column(len(names), "region", original["region"])
    choices: dict[str, Any] = {"kinds": {"wage": "semi"}, "columns": names}
    released_values(columns, groups)
    groups.flags.writeable = False  # as those of a release are: Numba takes that for another type
    ma.disclosure_risk(original, masked, strata=["region"], **choices)
    ma.loss_measures(original, masked, **choices)
    measure_dominance(columns, groups, range(2), 10.0)
    squared_error(plain_records(columns), groups)
    ma.loss_bound(numbers, k=5)
