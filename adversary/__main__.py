"""Run a part of the campaign: `python -m adversary NAME ...`."""

import importlib
import sys

PARTS = {
    "fuzz": "odd files, recipes and arguments, each result recounted",
    "kill": "signals at random moments",
    "soak": "an hour of mixed jobs",
    "same": "the same result, whatever it runs on",
}


def main() -> None:
    """Hand over to the part that is named."""
    name, rest = (sys.argv[1], sys.argv[2:]) if len(sys.argv) > 1 else ("", [])
    if name not in PARTS:
        sys.exit("\n".join(["python -m adversary NAME ...", *(f"  {key}: {said}" for key, said in PARTS.items())]))
    importlib.import_module(f"adversary.{name}").main(rest)


if __name__ == "__main__":
    main()
