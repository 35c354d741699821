"""Ask pycanon, an independent judge, for k, l and t of a hundred random frames, and keep its answers.

pycanon pins versions of its own, so it runs in an environment of its own:

    python -m venv /tmp/judge && /tmp/judge/bin/pip install pycanon
    /tmp/judge/bin/python tests/evaluate/golden/make_pycanon.py
"""

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd
from pycanon import anonymity


def make_frame(rng: np.random.Generator) -> pd.DataFrame:
    """Draw two or three keys of few values, a confidential number and a confidential word."""
    n = int(rng.integers(6, 41))
    frame = {f"key{j}": rng.integers(0, rng.integers(1, 5), n) for j in range(int(rng.integers(2, 4)))}
    amount = rng.integers(0, rng.integers(2, 7), n)
    amount[:2] = 0, 1  # pycanon divides by the number of values less one
    frame["amount"] = amount
    frame["illness"] = np.array(["flu", "gout", "rash", "cough"])[rng.integers(0, 4, n)]
    return pd.DataFrame(frame)


def main() -> None:
    """Write pycanon.json beside this file."""
    rng = np.random.default_rng(0)
    cases = []
    for _ in range(100):
        frame = make_frame(rng)
        keys = [name for name in frame.columns if name.startswith("key")]
        answers = {"k": int(anonymity.k_anonymity(frame, keys))}
        for column in ("amount", "illness"):
            answers[column] = {
                "l": int(anonymity.l_diversity(frame, keys, [column])),
                "entropy_l": int(anonymity.entropy_l_diversity(frame, keys, [column])),
                "t": float(anonymity.t_closeness(frame, keys, [column])),
            }
        cases.append({"frame": {name: frame[name].tolist() for name in frame.columns}, "answers": answers})
    result = {"pycanon": version("pycanon"), "cases": cases}
    Path(__file__).with_name("pycanon.json").write_text(json.dumps(result))


if __name__ == "__main__":
    main()
