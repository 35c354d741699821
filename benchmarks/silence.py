"""Tell how long `progress` is silent, so how long a cancel may go unheard, and in which function.

`python benchmarks/silence.py` prints, for each phase of the work on 1 000 000 records of 12 columns, the longest
silences and where they were spent (ten minutes). Phases can be named: `python benchmarks/silence.py judged model`;
`--records` takes another number of records. A busy machine makes every silence longer: look at `uptime` too.
"""

import argparse
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import microagg as ma

_EVERY = 0.05  # seconds between two looks at what runs


def mixed(n: int, seed: int = 0) -> pd.DataFrame:
    """Make twelve columns that hang together: amounts, small numbers, spikes at zero and categories."""
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((3, n))
    made = {f"amount {j}": np.exp(8 + 0.5 * common[j % 3] + 0.5 * rng.standard_normal(n)).round(2) for j in range(4)}
    made["age"] = np.clip(45 + 15 * common[0] + 8 * rng.standard_normal(n), 18, 90).round()
    made["hours"] = np.clip(35 + 8 * common[1] + 6 * rng.standard_normal(n), 0, 80).round()
    for j in range(2):
        made[f"benefit {j}"] = np.where(
            rng.random(n) < 0.6, 0.0, np.exp(5 + common[j] + rng.standard_normal(n)).round()
        )
    frame = pd.DataFrame(made)
    for j, n_categories in enumerate((2, 5, 12, 40)):
        cut = np.quantile(common[j % 3], np.linspace(0, 1, n_categories + 1)[1:-1])
        codes = np.searchsorted(cut, common[j % 3] + 0.7 * rng.standard_normal(n))
        frame[f"group {j}"] = pd.Categorical.from_codes(codes, [f"g{code:02}" for code in range(n_categories)])
    return frame


class Clock:
    """A progress that knows when it was called last; another thread looks at what runs in between."""

    def __init__(self) -> None:
        self.silences: list[tuple[float, float, str, Counter[str]]] = []
        self.calls, self.backward, self.full = 0, 0, 0.0
        self._began = self._last = time.perf_counter()
        self._said, self._share = "the start", 0.0
        self._seen: Counter[str] = Counter()
        self._full_since: float | None = None
        self._worker = threading.current_thread()
        self._stop = threading.Event()
        self._looker = threading.Thread(target=self._look, daemon=True)
        self._looker.start()

    def __call__(self, done: int, total: int) -> None:
        """Note how long it was silent, and who broke the silence."""
        now = time.perf_counter()
        share = done / max(1, total)
        self._note(now)
        self.calls += 1
        self.backward += share < self._share
        self._share, self._last, self._said = share, now, f"{share:.1%} at {_inmost(traceback.extract_stack()[:-1])}"
        if share >= 1 and self._full_since is None:
            self._full_since = now
        if share < 1:
            self._full_since = None

    def end(self) -> None:
        """Stop looking, and count the silence at the end."""
        now = time.perf_counter()
        self._stop.set()
        self._looker.join()
        self._note(now)
        self.full = 0.0 if self._full_since is None else now - self._full_since

    def _note(self, now: float) -> None:
        seen, self._seen = self._seen, Counter()
        self.silences.append((now - self._last, self._last - self._began, self._said, seen))

    def _look(self) -> None:
        while not self._stop.wait(_EVERY):
            frame = sys._current_frames().get(self._worker.ident or 0)
            if frame is not None:
                self._seen[_inmost(traceback.extract_stack(frame))] += 1


def _inmost(stack: Any) -> str:
    """Name the inmost functions of microagg in a stack."""
    own = [one for one in stack if "/microagg/" in one.filename and not one.filename.endswith("work.py")]
    return " > ".join(f"{one.filename.rsplit('/microagg/')[-1]}:{one.lineno} {one.name}" for one in own[-3:])


def listen(name: str, work: Callable[[Any], Any], shown: int) -> Any:
    """Do the work, and print its longest silences."""
    clock, began = Clock(), time.perf_counter()
    found = work(clock)
    clock.end()
    took = time.perf_counter() - began
    longest = sorted(clock.silences, key=lambda one: -one[0])
    told = f"{clock.calls} calls, {clock.backward} backward, {clock.full:.1f} s at 100 %"
    print(f"{name}: longest silence {longest[0][0]:.2f} s of {took:.1f} s; {told}", flush=True)
    for seconds, at, said, seen in longest[:shown]:
        if seconds > 0.3:
            print(f"    {seconds:.2f} s, from {at:.1f} s, after {said}")
            for place, times in seen.most_common(8):
                print(f"        {times * _EVERY:5.2f} s {place}")
    sys.stdout.flush()
    return found


def main() -> None:
    """Listen to every phase."""
    from microagg.report import build

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("phases", nargs="*", help="protect, judged, results, model or refine; by default all")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--shown", type=int, default=6, help="silences shown of each phase")
    arguments = parser.parse_args()
    wanted = arguments.phases or ["protect", "judged", "results", "model", "refine"]
    kinds = {"benefit 0": "semi", "benefit 1": "semi", "age": "ordinal"}
    warm = ma.protect(mixed(3000), 5, kinds=kinds, refine="fast").judged().with_results()
    build(warm)
    frame = mixed(arguments.records)

    def phase(name: str, work: Callable[[Any], Any]) -> Any:
        return listen(name, work, arguments.shown if name in wanted else 0)

    if set(wanted) - {"refine"}:
        release = phase("protect", lambda tell: ma.protect(frame, 5, kinds=kinds, progress=tell))
    if {"judged", "results", "model"} & set(wanted):
        release = phase("judged", lambda tell: release.judged(progress=tell))
    if {"results", "model"} & set(wanted):
        release = phase("results", lambda tell: release.with_results(tell))
    if "model" in wanted:
        phase("model", lambda tell: release.report_model(progress=tell))
    if "refine" in wanted:
        phase("refine", lambda tell: ma.protect(frame, 5, kinds=kinds, refine="fast", progress=tell))


if __name__ == "__main__":
    main()
