"""Write into pages of the docs what their Python blocks print now, after a sentence or a figure has changed.

    python -m tests.printed docs/utility.md && git diff --word-diff docs

Without names, all pages are done. Read the difference: what a page says about a figure may have to change too.
"""

import contextlib
import io
import os
import sys
import tempfile
from pathlib import Path

from tests.test_docs import BLOCK, PAGES


def rewritten(page: Path) -> str:
    """Return the page with what its blocks print."""
    namespace: dict[str, object] = {}

    def ran(block):
        code, shown = block.groups()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec"), namespace)
        if shown is None:
            return block.group()
        lines = "".join(f"{line.rstrip()}\n" for line in printed.getvalue().splitlines())
        return f"```python\n{code}```\n\n```text\n{lines}```"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return BLOCK.sub(ran, page.read_text())


if __name__ == "__main__":
    os.environ.setdefault("MICROAGG_COMPILE_AHEAD", "0")
    for path in map(Path.absolute, map(Path, sys.argv[1:]) if sys.argv[1:] else PAGES):
        path.write_text(rewritten(path))
