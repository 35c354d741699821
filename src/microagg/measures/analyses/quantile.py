"""Quantiles: the smallest value with a cumulated weight of at least p of all."""

import numpy as np

from microagg.measures.analyses.analysis import Analysis
from microagg.measures.analyses.definition import AnalysisKind, Found, Option, probabilities
from microagg.measures.analyses.records import Sample, Values
from microagg.measures.analyses.terms import Term
from microagg.measures.analyses.variance import errors_of

_ROUNDING = 1e-12  # of all weight: sums that differ by less are equal


class Cumulated:
    """The values of a column in each domain, in their order, with the weight up to each."""

    def __init__(self, sample: Sample, term: Term) -> None:
        self.sample = sample
        values = sample.values(term)
        self.domains = [
            (domain, order, values[order], np.cumsum(sample.weights[order]))
            for domain, order in sample.sorted_domains(term)
        ]

    def quantiles(self, p: Values) -> Values:
        """Return the quantile of each domain for its own p; NaN where there are no records."""
        found = np.full(self.sample.n_domains, np.nan)
        for domain, _, values, weights in self.domains:
            if not np.isnan(p[domain]):
                wanted = (p[domain] - _ROUNDING) * weights[-1]
                found[domain] = values[min(int(np.searchsorted(weights, wanted)), values.size - 1)]
        return found


def _quantile(sample: Sample, analysis: Analysis) -> Found:
    """Return quantiles with intervals by Woodruff (1952).

    The share F of values up to the quantile is linearised, and the interval p ± z · error of F is turned back into
    values: it follows heaps and gaps, of which masked files have many, where a density would smooth them.
    """
    term = Term.parse(analysis.columns[0], sample.names)
    cumulated, values, w = Cumulated(sample, term), sample.values(term), sample.weights
    found, lows, highs = [], [], []
    for p in analysis.option("p"):
        here = cumulated.quantiles(np.full(sample.n_domains, p))
        up_to = (values <= here[sample.domains]).astype(np.float64)
        share = sample.summed(w * up_to) / sample.totals
        moves = sample.z * errors_of(sample, w * (up_to - share[sample.domains]) / sample.totals[sample.domains])
        found.append(here)
        lows.append(cumulated.quantiles(np.maximum(p - moves, 0.0)))
        highs.append(cumulated.quantiles(np.minimum(p + moves, 1.0)))
    low, high = np.array(lows), np.array(highs)
    terms = [f"p = {p:g}" for p in analysis.option("p")]
    return Found(terms, np.array(found), (high - low) / (2.0 * sample.z), (low, high))


QUANTILE = AnalysisKind("quantile", "Quantile", _quantile, options={"p": Option((0.5,), probabilities)}, tested=False)
