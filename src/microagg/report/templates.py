"""The templates of the page, its sections and its pictures."""

import hashlib
import sys
import tempfile
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from microagg.judge import text
from microagg.judge.topics.results import word_of


class _Compiled(BytecodeCache):
    """Keeps compiled templates where Python keeps compiled modules, on the same terms; where it keeps none, nothing."""

    def __init__(self) -> None:
        self._folder = Path(cache_from_source(__file__)).parent
        self._settings = Path(__file__).read_bytes()  # what is compiled depends on the environment below too

    def get_source_checksum(self, source: str) -> str:
        """Return a digest of all that a compiled template is made of."""
        return hashlib.sha256(self._settings + source.encode()).hexdigest()

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template that was compiled before."""
        try:
            with self._place(bucket).open("rb") as kept:
                bucket.load_bytecode(kept)
        except OSError:  # not yet
            pass

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep a template, if its place can be written; nobody finds half of it there."""
        if sys.dont_write_bytecode:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self._folder, delete=False) as file:
                fresh = Path(file.name)
                bucket.write_bytecode(file)
        except OSError:  # read-only, as many installations are
            return
        try:
            fresh.chmod(Path(__file__).stat().st_mode & 0o666)  # for whoever may read the program
            fresh.replace(self._place(bucket))
        except OSError:
            fresh.unlink(missing_ok=True)

    def _place(self, bucket: Bucket) -> Path:
        return self._folder / f"{bucket.key}.{sys.implementation.cache_tag}.j2c"


@cache
def environment() -> Environment:
    """Return the templates, compiled once: the page, and under sections/ each part of it, which reads `model` too."""
    found = Environment(
        loader=PackageLoader("microagg", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        bytecode_cache=_Compiled(),
    )
    found.filters |= {
        "percent": text.percent,
        "points": text.points,
        "count": text.count,
        "number": text.number,
        "change": text.change,
        "word": word_of,
        "px": px,
    }
    return found


def px(value: float) -> str:
    """Return a length or a place in a picture: to a tenth of a pixel, and no longer than that takes."""
    return f"{value:.1f}".removesuffix(".0")


def drawn(name: str, **what: object) -> Markup:
    """Return a picture as an element of the page; its template escapes every name in it."""
    return Markup(environment().get_template(f"pictures/{name}.svg.j2").render(**what).strip())
