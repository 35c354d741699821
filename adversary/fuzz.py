"""Odd files, recipes and arguments, through the real command line; what is written is recounted.

`python -m adversary fuzz --seed 1 --cases 10000`: case i of a seed is always the same. First the corpus is run: every
case that ever failed. A case that fails is kept in build/fuzz, with its files and its command line.
"""

import argparse
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from adversary import arguments, arrow, checks, corpus, frames, joined, recipes, running, statistics, text
from adversary.case import Case
from adversary.values import Random

GENERATORS: dict[str, tuple[float, Callable[[Random], Case]]] = {
    "text": (0.33, text.draw),
    "parquet": (0.22, arrow.parquet),
    "feather": (0.1, arrow.feather),
    "statistics": (0.1, statistics.draw),
    "joined": (0.02, joined.draw),
    "recipe": (0.08, recipes.draw),
    "arguments": (0.07, arguments.draw),
    "frame": (0.1, frames.draw),
}
_FRESH = 4000  # cases of a process, so that what it keeps in memory does not grow without end
_HANGS = 300.0  # seconds after which nobody waits for a process any longer; to compile kernels takes its time


@dataclass
class Verdict:
    """What came of a case."""

    kind: str
    wrong: list[str] = field(default_factory=list)
    outcomes: list[running.Outcome] = field(default_factory=list)
    masked: bool = False
    recounted: bool = False
    seconds: float = 0.0


def drawn(seed: int, number: int, only: Sequence[str] = ()) -> Case:
    """Give case `number` of a seed."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, number]))
    names = [name for name in GENERATORS if not only or name in only]
    shares = np.array([GENERATORS[name][0] for name in names])
    return GENERATORS[names[int(rng.choice(len(names), p=shares / shares.sum()))]][1](rng)


def judged(case: Case) -> Verdict:
    """Run a case and judge it; one that takes long is run again: kernels may have been compiled the first time."""
    verdict = _judged_once(case)
    if verdict.seconds > checks.PATIENCE:
        verdict = _judged_once(case)
        if verdict.seconds > checks.PATIENCE:
            verdict.wrong.append(f"took {verdict.seconds:.0f} s")
    return verdict


def _judged_once(case: Case) -> Verdict:
    verdict = Verdict(case.kind)
    began = time.process_time()  # other programs may have the processors
    with running.at_home() as (home, scratch):
        case.write(home)
        if case.act is not None:
            done = running.call(case.act)
            verdict.outcomes.append(done)
            verdict.wrong += _wrong_of_call(case, done)
            verdict.masked = verdict.recounted = done.released is not None
        for words in case.commands:
            if verdict.outcomes and verdict.outcomes[0].words[0] != "mask":
                break
            before = checks.snapshot(home)
            done = running.command(checks.placed(words, verdict.outcomes, home))
            verdict.outcomes.append(done)
            after = checks.snapshot(home)
            verdict.wrong += checks.wrong_of(case, done, before, after, [path.name for path in scratch.iterdir()])
            if done.code != 0:
                break
            if words[0] == "mask" and "--help" not in words:
                verdict.masked = verdict.recounted = True
                verdict.wrong += checks.promise_broken(case, done, home) or []
                if "{recipe}" in words:
                    verdict.wrong += checks.other_than_before(verdict.outcomes, home)
    verdict.seconds = time.process_time() - began
    return verdict


def _wrong_of_call(case: Case, done: running.Outcome) -> Iterator[str]:
    if done.fault:
        yield f"an error of no class of ours: {done.fault.strip().splitlines()[-1][:300]}"
    yield from (f"a warning of Python: {warning[:300]}" for warning in done.warned)
    if done.code != 0:
        yield from (f"a cell in a message: {secret!r}" for secret in case.secrets if secret in done.err)
    if done.released is not None:
        yield from checks.frame_broken(case, done.released)


def keep(case: Case, verdict: Verdict, folder: Path) -> None:
    """Keep a case that failed: its files, its command line, and what came out."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "case.json").write_text(case.as_json(), "utf-8", "replace")
    for name, content in case.files.items():
        (folder / name).write_bytes(content)
    lines = [*(f"WRONG: {one}" for one in verdict.wrong)]
    for done in verdict.outcomes:
        lines += ["", f"$ microagg {done.words!r}", f"exit code {done.code}", done.out, done.err, done.fault]
    (folder / "what_came_out.txt").write_text("\n".join(lines), "utf-8", "replace")


def _work(sink: Connection, seed: int, numbers: Sequence[int], only: Sequence[str], place: str) -> None:
    """Run some cases in a process of their own, and tell of each when it begins and when it has ended."""
    for number in numbers:
        sink.send(("begins", number))
        try:
            case = drawn(seed, number, only)
        except Exception as error:  # noqa: BLE001 - a fault of the campaign itself ends no other case
            sink.send(("ended", number, "none", [f"the generator failed: {error!r}"], False, False, 0.0))
            continue
        verdict = judged(case)
        if verdict.wrong:
            keep(case, verdict, Path(place) / f"seed-{seed}-case-{number}")
        sink.send(("ended", number, verdict.kind, verdict.wrong, verdict.masked, verdict.recounted, verdict.seconds))
    sink.send(("done",))


class Campaign:
    """Processes that run cases, and what they told."""

    def __init__(self, seed: int, only: Sequence[str], place: Path) -> None:
        self.seed, self.only, self.place = seed, only, place
        self.failed: dict[str, list[str]] = {}
        self.counts: Counter[str] = Counter()
        self.masked = self.recounted = 0
        self.slowest = (0.0, 0)
        self._began = time.monotonic()

    def run_corpus(self) -> None:
        """Run every case that ever failed, in this process."""
        for name, case in corpus.cases():
            verdict = judged(case)
            self.counts["corpus"] += 1
            if verdict.wrong:
                keep(case, verdict, self.place / f"corpus-{name}")
                self.failed[f"corpus {name}"] = verdict.wrong

    def run(self, numbers: Sequence[int], jobs: int) -> None:
        """Run cases in as many processes; one that dies or hangs fails its case, and another goes on."""
        parts = [list(numbers[job::jobs]) for job in range(jobs)]
        waiting = [part[at : at + _FRESH] for part in parts for at in range(0, len(part), _FRESH)]
        running_now: dict[Connection, _Worker] = {}
        while waiting or running_now:
            while waiting and len(running_now) < jobs:
                worker = _Worker(self, waiting.pop(0))
                running_now[worker.ear] = worker
            for ear in wait(list(running_now), timeout=5.0):
                assert isinstance(ear, Connection)
                worker = running_now[ear]
                if not worker.hear(self):
                    running_now.pop(ear)
                    waiting[:0] = [worker.rest] if worker.rest else []
            for worker in running_now.values():
                worker.end_if_it_hangs()

    def heard(self, number: int, kind: str, wrong: list[str], masked: bool, recounted: bool, seconds: float) -> None:
        """Take in what came of a case."""
        self.counts[kind] += 1
        self.masked += masked
        self.recounted += recounted
        self.slowest = max(self.slowest, (seconds, number))
        if wrong:
            self.failed[f"seed {self.seed} case {number}"] = wrong
            print(f"seed {self.seed} case {number} ({kind}): {'; '.join(wrong)[:300]}", flush=True)
        if (done := sum(self.counts.values())) % 1000 == 0:
            print(f"{done} cases, {len(self.failed)} failed, {self.speed:.0f} a second", flush=True)

    @property
    def speed(self) -> float:
        """Cases a second."""
        return sum(self.counts.values()) / (time.monotonic() - self._began)

    def report(self) -> str:
        """Say what came of all."""
        total = sum(self.counts.values())
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.counts.items()))
        lines = [f"{name}: {'; '.join(wrong)}" for name, wrong in self.failed.items()]
        lines.append(
            f"seed {self.seed}: {total} cases ({kinds}), {self.speed:.1f} a second; {self.masked} masked and written, "
            f"{self.recounted} recounted; slowest {self.slowest[0]:.1f} s (case {self.slowest[1]}); "
            f"{len(self.failed)} failed" + (f", kept in {self.place}" if self.failed else "")
        )
        return "\n".join(lines)


class _Worker:
    """A process that runs cases, and the case that it is at."""

    def __init__(self, campaign: Campaign, numbers: list[int]) -> None:
        self._numbers, self._at, self._since = numbers, -1, time.monotonic() + _HANGS  # imports take their time
        context: Any = multiprocessing.get_context("spawn")
        self.ear, mouth = context.Pipe(duplex=False)
        arguments_ = (mouth, campaign.seed, numbers, campaign.only, str(campaign.place))
        self._process = context.Process(target=_work, args=arguments_, daemon=True)
        self._process.start()
        mouth.close()

    @property
    def rest(self) -> list[int]:
        """The cases that are left for another process."""
        return self._numbers[self._at + 1 :]

    def hear(self, campaign: Campaign) -> bool:
        """Hear one message; tell whether more will come."""
        try:
            message = self.ear.recv()
        except (EOFError, OSError):
            self._process.join()
            number = self._numbers[max(self._at, 0)]
            wrong = [f"the process ended with {self._process.exitcode}: it crashed, or hung for {_HANGS:.0f} s"]
            self._at = max(self._at, 0)
            case = drawn(campaign.seed, number, campaign.only)
            keep(case, Verdict(case.kind, wrong), campaign.place / f"seed-{campaign.seed}-case-{number}")
            campaign.heard(number, case.kind, wrong, False, False, 0.0)
            return False
        self._since = time.monotonic()
        if message[0] == "begins":
            self._at = self._numbers.index(message[1], max(self._at, 0))
        elif message[0] == "ended":
            campaign.heard(*message[1:])
        else:
            self._at = len(self._numbers)
            self._process.join()
        return message[0] != "done"

    def end_if_it_hangs(self) -> None:
        """End a process that has not told anything for long."""
        if time.monotonic() - self._since > _HANGS:
            self._process.kill()


def main(argv: Sequence[str] | None = None) -> None:
    """Run the campaign; exit with 1 if a case failed."""
    parser = argparse.ArgumentParser(prog="python -m adversary fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", default="", help=f"with commas: {', '.join(GENERATORS)}")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("build/fuzz"), help="where cases that fail are kept")
    options = parser.parse_args(argv)
    only = [name for name in options.only.split(",") if name]
    if unknown := {*only} - {*GENERATORS}:
        parser.error(f"there is no generator {sorted(unknown)[0]}")
    campaign = Campaign(options.seed, only, options.folder.resolve())
    if not only:
        campaign.run_corpus()
    campaign.run(range(options.first, options.first + options.cases), max(1, options.jobs))
    print(campaign.report())
    sys.exit(1 if campaign.failed else 0)
