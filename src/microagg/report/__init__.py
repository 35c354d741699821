"""The page that a disclosure committee reads: plain data first, then one file of HTML.

Everything is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microagg.report.html import render as render
    from microagg.report.html import write as write
    from microagg.report.model import build as build
    from microagg.report.model import to_json as to_json
    from microagg.report.parts import ReportModel as ReportModel
    from microagg.report.parts import SourceFacts as SourceFacts
    from microagg.report.parts import WrittenFacts as WrittenFacts

_HOME = {
    "ReportModel": "parts",
    "SourceFacts": "parts",
    "WrittenFacts": "parts",
    "build": "model",
    "render": "html",
    "to_json": "model",
    "write": "html",
}

__all__ = ["ReportModel", "SourceFacts", "WrittenFacts", "build", "render", "to_json", "write"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'microagg.report' has no attribute {name!r}")
    return getattr(importlib.import_module(f"microagg.report.{_HOME[name]}"), name)
