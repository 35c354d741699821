"""The pictures of a report: SVG by templates, in the page's colours, light or dark.

A picture has no ids, so that any number of them fit into one page. What colour shows, shape, place or a figure shows
too, so that a grey print says the same.
"""

from microagg.report.pictures.bars import worst_group
from microagg.report.pictures.correlations import correlations
from microagg.report.pictures.distribution import distribution, in_numbers
from microagg.report.pictures.records import record_risk
from microagg.report.pictures.results import estimates
from microagg.report.pictures.risk_map import Link, risk_map
from microagg.report.pictures.tree import tree

__all__ = [
    "Link",
    "correlations",
    "distribution",
    "estimates",
    "in_numbers",
    "record_risk",
    "risk_map",
    "tree",
    "worst_group",
]
