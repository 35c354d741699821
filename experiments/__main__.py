"""Run the experiments, write their RESULTS.md and TIMES.md: `python -m experiments [--quick] [names...]`."""

import argparse
import importlib
import sys
import time
from pathlib import Path

from experiments._claims import lines
from experiments._table import DIFFERS, HERE, VERDICTS, write_results, write_times


def names() -> list[str]:
    """Return the folders that hold an experiment."""
    return sorted(path.parent.name for path in HERE.glob("*/run.py"))


def main(arguments: list[str] | None = None) -> None:
    """Run what was asked for; in quick mode print, and write nothing."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"of {', '.join(names())}; default: all")
    parser.add_argument("--quick", action="store_true", help="skip the largest files; print, write nothing")
    options = parser.parse_args(arguments)
    if unknown := sorted(set(options.names) - set(names())):
        parser.error(f"no experiment {', '.join(unknown)}; there are {', '.join(names())}")
    for name in options.names or names():
        module = importlib.import_module(f"experiments.{name}.run")
        began = time.perf_counter()
        rows = module.run(options.quick)
        title = getattr(module, "TITLE", name)
        counts = ", ".join(f"{sum(r.verdict == v for r in rows)} {v}" for v in VERDICTS)
        print(f"{title}: {counts}; {time.perf_counter() - began:.0f} s", flush=True)
        for row in rows:
            if options.quick or row.verdict == DIFFERS:
                print(f"  {row.where}, {row.what}: paper {row.expected}, ours {row.shown}, {row.verdict}. {row.reason}")
        if options.quick:
            continue
        written: list[Path] = [write_results(name, title, rows, getattr(module, "NOTES", []))]
        if hasattr(module, "times"):
            written.append(write_times(name, title, module.times(), lines(getattr(module, "claims", []))))
        if hasattr(module, "draw"):
            written += module.draw(rows)
        for path in written:
            print(f"  written: {path}")


if __name__ == "__main__":
    sys.exit(main())
