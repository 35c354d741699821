"""Hostile formulas, terms, conditions and relations: `python -m adversary grammar --seed 1 --cases 5000`.

Each is read, and what can be read is computed, on a file whose columns are called `eval`, `chr` or `__import__`. None
may run: Python's audit hook sees every `compile`, `exec` and program that starts, and a file that the texts would write
must never appear. Each is read or refused, by the errors of a wrong text, within a second.
"""

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import microagg as ma
from adversary.values import Random, chance, one_of
from microagg.errors import InputError, InvalidParameter, RoleError
from microagg.measures.analyses.terms import Condition, Term, formula_of

PATIENCE = 1.0  # seconds of a processor, for one text
SENTINEL = "ran"
_WATCHED = ("compile", "exec", "os.", "subprocess.", "shutil.", "socket.", "ctypes.", "pty.", "import")
_NUMBERS = ["x", "y", "eval", "chr", "log", "degree", "größe", "𝘦𝘷𝘢𝘭", "__import__", "a b", "getattr"]
_CATEGORIES = ["sex", "exec", "lambda", "C"]
_MATHEMATICAL = str.maketrans(
    {letter: chr(0x1D622 + ord(letter) - ord("a")) for letter in "abcdefghijklmnopqrstuvwxyz"}
)

PAYLOADS = [
    f"__import__('os').system('touch {SENTINEL}')",
    f"open('{SENTINEL}', 'w')",
    f"eval(\"open('{SENTINEL}', 'w')\")",
    f"exec(compile('open(\"{SENTINEL}\", \"w\")', '', 'exec'))",
    f"(lambda: open('{SENTINEL}', 'w'))()",
    f"I((lambda eval: eval('open(\"{SENTINEL}\",\"w\")'))(eval))",
    f"log(lambda x: open('{SENTINEL}', 'w'))",
    f"{{open('{SENTINEL}', 'w')}}",
    f"I([open('{SENTINEL}', 'w') for x in [1]])",
    f"C(x, contr.treatment(open('{SENTINEL}', 'w')))",
    f"poly(x, degree=open('{SENTINEL}', 'w'))",
    "x.__class__.__mro__[1].__subclasses__()",
    "getattr(x, '__class__')",
    "𝘦𝘷𝘢𝘭(𝘤𝘩𝘳(111)+𝘤𝘩𝘳(112))",
    "eval(chr(111)+chr(112)+chr(101)+chr(110))",
    "`eval`(`chr`(111))",
    "bs(x, df=5)", "cs(x)", "lag(x)", "hashed(sex)", "np.log(x)", "exp10(x)", "Q('x')", "x if x else y", "x @ y",
    "f'{x}'",
]  # fmt: skip
HEAVY = [
    "9**9**9**9",
    "I(9^9^9^9)",
    "poly(x, degree=1000000)",
    "poly(x, 10^6)",
    "I(" + "9" * 5000 + ")",
    "9" * 5000,
    "(" * 5000 + "x" + ")" * 5000,
    "I(" * 400 + "x" + ")" * 400,
    "I(" + "-" * 3000 + "x)",
    "+".join(["x"] * 100_000),
    "I(" + "+".join(["x"] * 4000) + ")",
    "I(" + "*".join(["x"] * 4000) + ")",
    "*".join(["(x+y+eval+chr+größe)"] * 40),
    ":".join(["(sex+exec+lambda)"] * 12),
    "/".join(f"(x^{n % 9 + 1}+y)" for n in range(200)),
    "x" * 100_000,
    "`" + "x" * 9000 + "`",
    "C(x):C(y):C(eval)",
    "x^" + "9" * 5000,
    "log(" * 25 + "x" + ")" * 25,
]
_PIECES = [
    *_NUMBERS, *_CATEGORIES, "`a b`", "'x'", '"y"', "0", "1", "2", ".5", "1e3", "1e400", "~", "+", "-", "*", ":", "/",
    "^",
    "**", "(", ")", ",", "=", "==", "!=", "<", "<=", ">", ">=", " ", "log", "log2", "log10", "exp", "sqrt", "abs",
    "poly",
    "C", "I", "center", "scale", "degree", "log(", "poly(", "I(", "C(", "degree=", "m", "[", "]", "{", "}", "@", "%",
    "|",
    ".", ";", "\\", "\0", "\n", "\t", "\u2028", "\u202e", "\ufeff", "\u00a0", "²", "ﬁ", "ℓ", "٣", "‘", "`", "'", '"',
    "#", "$",
    "__class__", "lambda", "True", "None", "nan", "inf", "\ud800", "1_000", "0x10", "e1", "m f", "é", "e\u0301",
]  # fmt: skip
_SOUND = [
    "x", "log(x)", "x^2", "sex", "I(x * 2 + y)", "x:sex", "poly(x, 2)", "C(x)", "sqrt(abs(x))", "center(x)", "x*sex",
    "log(x + 1)^2", "eval", "sex = m", "x > 3", "= 0", "m", "x + y", "2 * (x - y)", "`a b`", "scale(y)",
    "(x + sex):exec",
]  # fmt: skip

_WRAPS = {
    "formula": [
        "y ~ {}",
        "y ~ {}",
        "y ~ x + {}",
        "log(y) ~ 0 + {}",
        "{} ~ x",
        "y ~ log({})",
        "y ~ I({})",
        "y ~ ({})^2",
        "{}",
    ],
    "term": ["{}", "{}", "log({})", "I({})", "{}^2", "x = {}", "sex != {}"],
    "relation": ["x = {}", "{} <= y", "{}", "2 * ({}) > y"],
    "condition": ["{}", "= {}", "> {}", "!= '{}'"],
}
KINDS = tuple(_WRAPS)


def canary(n: int = 40) -> Any:
    """Make a file whose columns have the names of what must never run."""
    rng = np.random.default_rng(0)
    columns = {name: rng.integers(1, 9, n) + 0.5 * rng.random(n).round(1) for name in _NUMBERS}
    columns |= {name: rng.choice(["m", "f", "other"], n) for name in _CATEGORIES}
    return pa.table(columns)


def drawn(seed: int, number: int) -> tuple[str, str]:
    """Return kind and text of case `number` of a seed."""
    rng = np.random.default_rng(np.random.SeedSequence([seed, number]))
    kind = one_of(rng, KINDS)
    return kind, one_of(rng, _WRAPS[kind]).replace("{}", _text(rng))


def _text(rng: Random) -> str:
    draw = rng.random()
    if draw < 0.3:
        core = one_of(rng, PAYLOADS)
    elif draw < 0.36:
        core = one_of(rng, HEAVY)
    elif draw < 0.7:
        core = "".join(one_of(rng, _PIECES) for _ in range(int(rng.integers(1, 25))))
    else:
        core = one_of(rng, [" + ", ":", "*", "/", " - ", " "]).join(
            one_of(rng, _SOUND) for _ in range(int(rng.integers(1, 6)))
        )
    if len(core) < 500:
        for _ in range(int(rng.integers(0, 4)) if chance(rng, 0.5) else 0):  # a letter is lost, doubled or changed
            at = int(rng.integers(0, len(core) + 1))
            core = core[:at] + one_of(rng, ["", core[at : at + 1] * 2, one_of(rng, _PIECES)]) + core[at + 1 :]
        if chance(rng, 0.1):
            core = core.translate(_MATHEMATICAL)
    return core


class Watch:
    """Sees what Python compiles, runs, imports or starts while it is on."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self._on = False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, _: tuple[Any, ...]) -> None:
        if self._on and event.startswith(_WATCHED):
            self.seen.append(event)

    def during(self, work: Callable[[], Any]) -> Any:
        """Do something, watched."""
        self._on = True
        try:
            return work()
        finally:
            self._on = False


def _read(kind: str, text: str, names: list[str]) -> None:
    match kind:
        case "formula":
            formula_of(text)
        case "term":
            Term.parse(text, names)
        case "relation":
            ma.Relation.of(text)
        case _:
            Condition.parse(text)


def _computed(kind: str, text: str, file: Any) -> None:
    match kind:
        case "formula":
            ma.utility(file, file, [ma.Analysis("linear", formula=text)])
        case "term":
            ma.utility(file, file, [ma.Analysis("linear", [text, "y"])])
        case "relation":
            ma.relations(file, file, [text])
        case _:
            ma.utility(file, file, [ma.Analysis("share", "x", value=text)])


def judged(kind: str, text: str, file: Any, watch: Watch) -> tuple[str, list[str]]:
    """Return whether a text was read or refused, and what is wrong with that."""
    wrong: list[str] = []
    watch.seen.clear()
    began = time.process_time()
    try:
        watch.during(lambda: _read(kind, text, file.column_names))
        done = "read"
    except (InvalidParameter, RoleError):
        done = "refused"
    except Exception as error:  # noqa: BLE001
        return "failed", [f"{type(error).__name__} where it is read"]
    try:
        watch.during(lambda: _computed(kind, text, file))
    except InputError:
        pass
    except Exception as error:  # noqa: BLE001
        wrong.append(f"{type(error).__name__} where it is computed")
    else:
        wrong += ["refused, and yet computed"] if done == "refused" else []
    if (seconds := time.process_time() - began) > PATIENCE:
        wrong.append(f"took {seconds:.1f} s")
    wrong += [f"Python did {event}" for event in dict.fromkeys(watch.seen)]
    wrong += ["the file was written"] if Path(SENTINEL).exists() else []
    return done, wrong


def warm_up(file: Any) -> None:
    """Import and compile whatever the work needs, so that the watch sees only what texts do."""
    for kind, text in (("formula", "log(y) ~ x + sex"), ("term", "x"), ("relation", "x = y"), ("condition", "= 3")):
        _computed(kind, text, file)


def main(arguments: list[str]) -> int:
    """Try hostile texts, and print those that did anything but be read or refused."""
    parser = argparse.ArgumentParser(prog="python -m adversary grammar")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=5000)
    asked = parser.parse_args(arguments)
    file, watch, counts, failed = canary(), Watch(), Counter[tuple[str, str]](), 0
    warm_up(file)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for number in range(asked.cases):
            kind, text = drawn(asked.seed, number)
            done, wrong = judged(kind, text, file, watch)
            counts[kind, done] += 1
            if wrong:
                failed += 1
                print(f"case {number}: {kind} {text[:200]!r}: {'; '.join(wrong)}")
    print(", ".join(f"{kind} {done} {n}" for (kind, done), n in sorted(counts.items())))
    print(f"{asked.cases} texts, {failed} failed")
    return int(failed > 0)
