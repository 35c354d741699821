"""Pages of the experiments: each experiments/NAME/RESULTS.md is on the site as experiments/NAME, where there is one.

Sphinx reads below docs alone, so the pages are copied there while it runs, with links that still lead somewhere.
"""

import os
import re
import shutil
from pathlib import Path

DOCS = Path(__file__).parent.parent
FROM, TO = DOCS.parent / "experiments", DOCS / "experiments"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
NAMED = re.compile(r"^# ", re.MULTILINE)


def page(path: Path) -> str:
    """Give the text of one page, as it shall stand in docs/experiments."""

    def relink(match: re.Match[str]) -> str:
        picture, words, target, anchor = match.groups(default="")
        goal = (path.parent / target).resolve()
        if goal.name == "RESULTS.md" and goal.parent.parent == FROM.resolve():
            new = f"{goal.parent.name}.md{anchor}"
        elif goal.exists() and (picture or (goal.suffix == ".md" and goal.is_relative_to(DOCS.resolve()))):
            new = os.path.relpath(goal, TO.resolve()) + anchor
        else:
            return words  # a file of the repository that is not on the site
        return f"{picture}[{words}]({new})"

    text = path.read_text("utf-8")
    return LINK.sub(relink, text if NAMED.search(text) else f"# {path.parent.name}\n\n{text}")


def bring(app, config) -> None:  # noqa: ARG001
    """Copy the pages there are."""
    remove(app)
    for path in sorted(FROM.glob("*/RESULTS.md")):
        TO.mkdir(exist_ok=True)
        (TO / f"{path.parent.name}.md").write_text(page(path), "utf-8")


def list_what_is_there(app, docname, source) -> None:  # noqa: ARG001
    """Take from the list of results what nobody has written yet."""
    if docname == "results":
        absent = [line for line in ("experiments/*", "errata") if not any(DOCS.glob(f"{line}.md"))]
        source[0] = "\n".join(line for line in source[0].split("\n") if line not in absent)


def remove(app, error=None) -> None:  # noqa: ARG001
    """Leave docs as it was."""
    shutil.rmtree(TO, ignore_errors=True)


def setup(app) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("config-inited", bring)
    app.connect("source-read", list_what_is_there)
    app.connect("build-finished", remove)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
