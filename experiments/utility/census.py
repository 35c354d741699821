"""Census from k = 3 to 10: MDAV, refined, and with moments, by every measure."""

import time
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

import microagg as ma

KS = range(3, 11)
WAYS: dict[str, dict[str, Any]] = {
    "MDAV": {},
    "refined": {"refine": "fast"},
    "refined thoroughly": {"refine": "thorough"},
    "MDAV, variance": {"moments": "variance"},
    "MDAV, covariance": {"moments": "covariance"},
    "refined thoroughly, covariance": {"refine": "thorough", "moments": "covariance"},
}
MEASURES = {
    "IL": "information loss, %",
    "pMSE": "pMSE (worst: 0.25)",
    "correlation": "largest error of a correlation",
    "variance": "largest error of a variance, %",
    "slope": "largest error of a slope, half intervals",
    "within": "default estimates within, %",
    "linkage": "linkage by all keys, %",
}
EXPLAIN = ["ERNVAL", "INTVAL", "POTHVAL"]
SLOPES = [ma.Analysis("linear", [name, *EXPLAIN]) for name in ("FEDTAX", "STATETAX", "FICA", "EMCONTRB")]

seconds: dict[tuple[str, str], float] = {}
"""What the last run took."""


@cache
def original() -> pa.Table:
    """Return the file."""
    return ma.datasets.load("census")


def measures_of(frame: Any, release: ma.Release[Any], slopes: list[ma.Analysis]) -> dict[str, str]:
    """Return every measure of a release of numbers."""
    loss = release.loss
    fitted = [one for one in ma.utility(frame, release.data, slopes) if one.term != "intercept"]
    errors = [2 * abs(one.after - one.before) / (one.interval_before[1] - one.interval_before[0]) for one in fitted]
    spread = [abs((1 + one) ** 2 - 1) for one in loss.deviations.values()]
    return {
        "IL": f"{release.information.percent:.4f}",
        "pMSE": f"{ma.pmse(frame, release.data).value:.4f}",
        "correlation": f"{_shown(float(np.abs(loss.correlations).max())):.3f}",
        "variance": f"{_shown(100 * max(spread)):.1f}",
        "slope": f"{_shown(max(errors)):.2f}",
        "within": f"{release.utility().measures[0].value:.1f}",
        "linkage": f"{release.risk.full_keys:.2f}",
    }


def _shown(error: float) -> float:
    return error if error > 1e-6 else 0.0


def figures(quick: bool) -> Iterator[tuple[str, str, float | str]]:
    """Give where, what and how much; a quick run has k = 3, and does not refine."""
    for name, choices in WAYS.items():
        for k in KS:
            if quick and ("refine" in choices or k != 3):
                continue
            where = f"Census, k={k}"
            began = time.perf_counter()
            release = ma.protect(original(), k, rounding="none", **choices)
            seconds[where, name] = time.perf_counter() - began
            for what, value in measures_of(original(), release, SLOPES).items():
                yield where, f"{name}: {what}", value


def panels(found: Mapping[tuple[str, str], str]) -> dict[str, dict[str, tuple[list[float], list[float]]]]:
    """Return what is drawn: a panel a measure, a line a way."""
    return {
        f"{title}\n{'higher' if what == 'within' else 'lower'} is better": {
            name: (list(KS), [float(found[f"Census, k={k}", f"{name}: {what}"]) for k in KS]) for name in WAYS
        }
        for what, title in MEASURES.items()
    }


def table(found: Mapping[tuple[str, str], str]) -> str:
    """Lay the figures out, a row a way and k."""
    lines = [f"| Census | k | {' | '.join(MEASURES.values())} |", "|---" * (len(MEASURES) + 2) + "|"]
    for name in WAYS:
        for k in KS:
            cells = [found[f"Census, k={k}", f"{name}: {what}"] for what in MEASURES]
            lines.append(f"| {name} | {k} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
