"""How docstrings are read: `name` links to a public name and is code otherwise; results show no signature."""

import dataclasses
from typing import Any

from docutils import nodes
from sphinx import addnodes

import microagg
from microagg import datasets, errors

COLON = "\ue000"  # stands for one meanwhile
PUBLIC = (
    {name: f"microagg.{name}" for name in microagg.__all__ if name not in ("datasets", "errors")}
    | {name: f"microagg.datasets.{name}" for name in datasets.__all__}
    | {name: f"microagg.errors.{name}" for name, one in vars(errors).items() if isinstance(one, type)}
    | {f"microagg.report.{name}": f"microagg.report.{name}" for name in ("SourceFacts", "ReportModel", "to_json")}
)


def backticks(name, rawtext, text, lineno, inliner, options=None, content=()) -> tuple[list, list]:  # noqa: ARG001
    """Return a link to a public name, and code for everything else."""
    code = nodes.literal(rawtext, text)
    if text not in PUBLIC:
        return [code], []
    link = addnodes.pending_xref(
        rawtext, code, refdomain="py", reftype="obj", reftarget=PUBLIC[text], refexplicit=True, refwarn=True
    )
    link["refdoc"] = inliner.document.settings.env.docname
    return [link], []


def hide_signature(app, what, name, obj, options, signature, return_annotation) -> Any:  # noqa: ARG001
    """Results are made by functions, not by hand: leave out how they are put together."""
    if what == "class" and dataclasses.is_dataclass(obj) and obj.__name__ not in ("Measure", "SourceFacts"):
        return "", None
    return None


def hide_colon(app, what, name, obj, options, lines) -> None:  # noqa: ARG001
    """Keep what stands before a colon in a property's sentence from being taken for its type."""
    if what == "property" and lines:
        lines[0] = lines[0].replace(":", COLON)


def escape_bars(app, what, name, obj, options, lines) -> None:  # noqa: ARG001
    """Let |a − b| be an absolute value, not a substitution; show colons again."""
    lines[:] = [line if "`" in line or ">>>" in line else line.replace("|", r"\|") for line in lines]
    lines[:] = [line.replace(COLON, ":") for line in lines]


def setup(app) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_role("backticks", backticks)
    app.config.default_role = "backticks"
    app.connect("autodoc-process-signature", hide_signature)
    app.connect("autodoc-process-docstring", hide_colon, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", escape_bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
