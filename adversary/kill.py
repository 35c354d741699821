"""Kill jobs at random moments, look at what is left, and run each once more: `python -m adversary kill --seed 1`.

A case is a job, one or two signals and a moment, all chosen by the seed. After the signals the output is the former
one or the new one, whole; after one more run of the same command nothing else is left, and nothing of the original.
"""

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import microagg
from adversary.children import Child, canaries, holds, too_open
from adversary.jobs import JOBS, Job, make_pool

SIGNALS = {
    ("INT",): 4,
    ("TERM",): 4,
    ("KILL",): 6,
    ("GROUP",): 3,
    ("INT", "INT"): 1,
    ("GROUP", "GROUP"): 1,
    ("TERM", "TERM"): 1,
    ("INT", "KILL"): 1,
    ("TERM", "KILL"): 1,
}
LIMIT = 10.0  # seconds from the first signal that asks to the end; more where others keep the machine busy
_OURS = Path(microagg.__file__).with_name("cli")  # whose main() is our first line
_LONG = 120.0  # seconds after which a run is taken for one that hangs


@dataclass(frozen=True)
class Case:
    """What is done to which job, and when."""

    number: int
    job: str
    signals: tuple[str, ...]
    moment: float  # a share of the job's usual length
    gap: float  # seconds between two signals
    with_former: bool

    @classmethod
    def of(cls, seed: int, number: int, jobs: list[str]) -> "Case":
        """Choose a case; the same for the same seed, number and jobs."""
        drawn = random.Random(f"{seed} {number}")
        job = drawn.choice(jobs)
        signals = drawn.choices(list(SIGNALS), list(SIGNALS.values()))[0]
        moment = drawn.uniform(0.02, 1.05)
        return cls(number, job, signals, moment, drawn.uniform(0.0, 0.6), drawn.random() < 0.6)

    def __str__(self) -> str:
        former = "over a former output" if self.with_former else "to a new output"
        return f"case {self.number}: {self.job}, {'+'.join(self.signals)} at {self.moment:.3f}, {former}"


@dataclass
class Outcome:
    """What came of a case."""

    case: Case
    state: str = ""
    seconds: float | None = None  # from the first signal to the end, unless it had ended before or was killed
    problems: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def run_case(case: Case, job: Job, folder: Path) -> Outcome:
    """Do a case in a folder of its own."""
    outcome = Outcome(case)
    place, scratch = folder / "place", folder / "scratch"
    place.mkdir(parents=True)
    scratch.mkdir()
    job.lay_out(place, with_former=case.with_former)
    child = job.start(place, scratch)
    try:
        _send(case, job, child, outcome)
        if not child.ended(_LONG):
            outcome.problems.append("it, or a process that it started, does not end")
            child.end()
        _look(case, job, place, scratch, child, outcome)
    finally:
        child.end()
    _run_again(case, job, place, scratch, outcome)
    return outcome


def _send(case: Case, job: Job, child: Child, outcome: Outcome) -> None:
    """Send the signals at their moments, and measure how long it takes to end."""
    job.wait_for(child, case.moment)
    sent = time.monotonic()
    was_over = child.process.poll() is not None
    for number, name in enumerate(case.signals):
        if number:
            time.sleep(case.gap)
        child.send(name)
    if was_over:
        outcome.remarks.append("had ended before")
        return
    if child.ended(_LONG) and "KILL" not in case.signals:
        outcome.seconds = time.monotonic() - sent
        limit = LIMIT * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        if outcome.seconds > limit:
            outcome.problems.append(f"it took {outcome.seconds:.1f} s to end, more than {limit:.0f}")


def _look(case: Case, job: Job, place: Path, scratch: Path, child: Child, outcome: Outcome) -> None:
    """Look at what is there after the signals."""
    hard = "KILL" in case.signals
    outcome.state, wrong = job.state(place, case.with_former)
    said = child.err + child.out
    if wrong and not (outcome.state == "torn" and "already" in said):
        left_aside = hard and _is_aside(job, place)
        if outcome.state in ("half", "lost") and left_aside:
            outcome.state = "moved aside, as only SIGKILL can leave it"
        elif hard and outcome.state == "torn":
            outcome.state = "torn, as only SIGKILL can leave it"
        else:
            outcome.problems.append(wrong)
    if child.process.returncode == 0 and outcome.state not in ("new", "none") and not job.is_served:
        outcome.problems.append(f"it says that all went well, and the output is {outcome.state}")
    if "Traceback" in said or "Exception ignored" in said:
        if str(_OURS) not in said and "KeyboardInterrupt" in said:
            outcome.remarks.append("Python's own traceback, before our first line")
        else:
            outcome.problems.append(f"a traceback: {said[said.find('Traceback') :][:1500]}")
    left = job.left(place, scratch)
    if left and not hard:
        outcome.problems.append(f"left behind after a signal that it can heed: {_named(left)}")
    for path in left:
        if too_open(path):
            outcome.problems.append(f"what was left is open to others: {path.name}")
    outcome.problems += job.too_open(place)
    outcome.problems += job.canaries_in_outputs(place, outcome.state)


def _is_aside(job: Job, place: Path) -> bool:
    """Return whether what is not there lies where the next run finds it."""
    aside = [path for path in place.glob(".microagg-*/replaced/*") if path.name in job.outputs]
    return any(job.digest_of(path.name, path.parent) == job.former[path.name] for path in aside)


def _run_again(case: Case, job: Job, place: Path, scratch: Path, outcome: Outcome) -> None:
    """Run the same command once more: it comes to an end, and leaves nothing but its output."""
    child = job.start(place, scratch, again=True)
    try:
        job.complete(child, _LONG)
        if child.process.returncode != job.success:
            outcome.problems.append(f"the next run ends with {child.process.returncode}: {child.err[-800:]}")
            return
        if not child.ended(30):
            outcome.problems.append("a process of the next run does not end")
        state, _ = job.state(place, case.with_former)
        if state != "new":
            outcome.problems.append(f"after the next run the output is {state}")
        if left := job.left(place, scratch):
            found = [one.decode(errors="replace") for path in left for one in holds(path, canaries())]
            more = f", with values of the original: {found}" if found else ""
            outcome.problems.append(f"left behind after the next run: {_named(left)}{more}")
        outcome.problems += job.too_open(place)
        outcome.problems += job.canaries_in_outputs(place, "new")
    except (TimeoutError, OSError) as error:
        outcome.problems.append(f"the next run: {type(error).__name__}: {error}")
    finally:
        child.end()


def _named(paths: list[Path]) -> list[str]:
    return [f"{path.parent.name}/{path.name}" for path in paths]


@contextmanager
def _folder(where: Path | None) -> Iterator[Path]:
    if where is not None:
        where.mkdir(parents=True, exist_ok=True)
        yield where
        return
    made = Path(tempfile.mkdtemp(prefix="kill-"))
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


def campaign(
    seed: int,
    cases: range | list[int],
    jobs: list[str],
    at_once: int,
    folder: Path,
    minutes: float = float("inf"),
) -> list[Outcome]:
    """Run cases, and give what came of each; what failed stays in the folder. None begins after so many minutes."""
    end = time.monotonic() + 60 * minutes
    # A shell lets what it starts in the background ignore Ctrl-C, and so would the jobs.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with ExitStack() as stack:
        pool = make_pool(folder / "pool", jobs, stack)
        known = [name for name in jobs if name in pool]
        for name, job in pool.items():
            print(f"{name}: takes {job.seconds:.1f} s", flush=True)

        def one(number: int) -> Outcome | None:
            if time.monotonic() > end:
                return None
            case = Case.of(seed, number, known)
            place = folder / f"case-{number}"
            shutil.rmtree(place, ignore_errors=True)
            outcome = run_case(case, pool[case.job], place)
            if outcome.problems:
                print(f"FAILED {case}", *(f"  {problem}" for problem in outcome.problems), sep="\n", flush=True)
            else:
                shutil.rmtree(place, ignore_errors=True)
            return outcome

        with ThreadPoolExecutor(at_once) as threads:
            return [outcome for outcome in threads.map(one, cases) if outcome is not None]


def told(outcomes: list[Outcome], seed: int) -> str:
    """Return the tables of a campaign."""
    lines = ["", f"{len(outcomes)} kills, seed {seed}", "", "job, and the state after the signals:"]
    for name in sorted({one.case.job for one in outcomes}):
        states = Counter(one.state for one in outcomes if one.case.job == name)
        lines.append(f"  {name:14} {sum(states.values()):4}  {', '.join(f'{s} {n}' for s, n in states.most_common())}")
    lines += ["", "signals, and the seconds from the first to the end (median, 90 %, most):"]
    for signals in SIGNALS:
        own = [one for one in outcomes if one.case.signals == signals]
        times = sorted(one.seconds for one in own if one.seconds is not None)
        shown = "-"
        if times:
            shown = " ".join(f"{times[min(len(times) - 1, int(share * len(times)))]:6.2f}" for share in (0.5, 0.9, 1.0))
        lines.append(f"  {'+'.join(signals):12} {len(own):4}  {shown}")
    for remark, count in Counter(remark for one in outcomes for remark in one.remarks).items():
        lines.append(f"{remark}: {count}")
    bad = [one for one in outcomes if one.problems]
    lines.append(f"failed: {len(bad)}")
    for one in bad:
        lines.append(f"  {one.case}: {one.problems[0].splitlines()[0]}")
        lines.append(f"    again: python -m adversary kill --seed {seed} --only {one.case.number}")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run a campaign; 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="python -m adversary kill", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--only", type=int, nargs="+", help="the numbers of cases to run")
    parser.add_argument("--jobs", default=",".join(JOBS), help=f"of {', '.join(JOBS)}; another choice, other cases")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no case after so many")
    parser.add_argument("--at-once", type=int, default=2, help="cases at a time")
    parser.add_argument("--folder", type=Path, help="where cases are run; what failed stays there")
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.jobs.split(",") if name not in JOBS]:
        parser.error(f"no job {', '.join(unknown)}; there are {', '.join(JOBS)}")
    cases = given.only or range(given.first, given.first + given.cases)
    with _folder(given.folder) as folder:
        outcomes = campaign(given.seed, cases, given.jobs.split(","), given.at_once, folder, given.minutes)
    print(told(outcomes, given.seed))
    return int(any(one.problems for one in outcomes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
