"""The page that a disclosure committee reads: plain data first, then one file of HTML."""

from microagg.report.html import render, write
from microagg.report.model import build, to_json
from microagg.report.parts import ReportModel, SourceFacts, WrittenFacts

__all__ = ["ReportModel", "SourceFacts", "WrittenFacts", "build", "render", "to_json", "write"]
