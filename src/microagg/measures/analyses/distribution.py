"""Distributions: quantiles, the Gini coefficient and the poverty rate.

A quantile is the smallest value with a cumulated weight of at least p of all.
"""

import numpy as np

from microagg.measures.analyses.analysis import Analysis
from microagg.measures.analyses.definition import AnalysisKind, Estimates, Option, one_figure, positive, probabilities
from microagg.measures.analyses.records import Sample, Values, errors_of
from microagg.measures.analyses.terms import Term

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


def _quantile(sample: Sample, analysis: Analysis) -> Estimates:
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
    return Estimates(terms, np.array(found), (high - low) / (2.0 * sample.z), (low, high))


QUANTILE = AnalysisKind("quantile", "Quantile", _quantile, options={"p": Option((0.5,), probabilities)}, tested=False)


def _gini(sample: Sample, analysis: Analysis) -> Estimates:
    """Return G = ΣΣ w_i w_j |x_i − x_j| / (2 W Σ w x), in percent.

    The influence of record k is (A_k − G (Y + W x_k)) / (W Y), with A_k = Σ_j w_j |x_k − x_j| and Y = Σ w x.
    """
    term = Term.parse(analysis.columns[0], sample.names)
    found = np.full(sample.n_domains, np.nan)
    influences = np.full(sample.size, np.nan)
    for domain, order, x, weights in Cumulated(sample, term).domains:
        w = sample.weights[order]
        sums = np.cumsum(w * x)
        total, amount = weights[-1], sums[-1]
        if amount <= 0:
            continue
        gaps = x * (2.0 * weights - total) - (2.0 * sums - amount)
        gini = float(w @ gaps) / (2.0 * total * amount)
        found[domain] = gini
        influences[order] = w * (gaps - gini * (amount + total * x)) / (total * amount)
    return one_figure(100.0 * found, 100.0 * errors_of(sample, influences))


def _poverty(sample: Sample, analysis: Analysis) -> Estimates:
    """Return the share of x < t with t = f · median, in percent; each domain has its own median.

    The threshold is estimated too (Deville 1999; Osier 2009), so that with the density d the influence is
    ([x < t] − r)/W − f · d(t)/d(median) · ([x ≤ median] − F(median))/W.
    """
    term = Term.parse(analysis.columns[0], sample.names)
    fraction = analysis.option("fraction")
    cumulated, x, w = Cumulated(sample, term), sample.values(term), sample.weights
    median = cumulated.quantiles(np.full(sample.n_domains, 0.5))
    line = fraction * median
    own = sample.domains
    poor = (x < line[own]).astype(np.float64)
    below = (x <= median[own]).astype(np.float64)
    rate, half = (sample.summed(w * part) / sample.totals for part in (poor, below))
    width = _bandwidths(sample, cumulated, x)
    density = np.array([_density(sample, x, place, width) for place in (line, median)])
    with np.errstate(divide="ignore", invalid="ignore"):
        steepness = fraction * density[0] / density[1]
    influences = w * ((poor - rate[own]) - steepness[own] * (below - half[own])) / sample.totals[own]
    return one_figure(100.0 * rate, 100.0 * errors_of(sample, influences))


def _bandwidths(sample: Sample, cumulated: Cumulated, x: Values) -> Values:
    """Return Silverman's bandwidth of each domain: 0.9 · min(s, quartiles' distance / 1.349) · m^(-1/5).

    m = (Σw)²/Σw² is the effective number of records, and s the standard deviation with weights.
    """
    w, own, totals = sample.weights, sample.domains, sample.totals
    means = sample.summed(w * x) / totals
    deviations = np.sqrt(sample.summed(w * (x - means[own]) ** 2) / totals)
    low, high = (cumulated.quantiles(np.full(sample.n_domains, p)) for p in (0.25, 0.75))
    spread = np.where(high > low, np.minimum(deviations, (high - low) / 1.349), deviations)
    effective = totals**2 / np.where(sample.counts > 0, sample.summed(w**2), np.nan)
    return np.asarray(0.9 * spread * effective**-0.2)


def _density(sample: Sample, x: Values, place: Values, width: Values) -> Values:
    """Return the density of each domain at a place of its own, by a normal kernel."""
    own = sample.domains
    with np.errstate(divide="ignore", invalid="ignore"):
        kernel = np.exp(-0.5 * ((x - place[own]) / width[own]) ** 2)
        return np.asarray(sample.summed(sample.weights * kernel) / (sample.totals * width * np.sqrt(2.0 * np.pi)))


GINI = AnalysisKind("gini", "Gini coefficient", _gini, tested=False)
POVERTY = AnalysisKind(
    "poverty", "Poverty rate", _poverty, options={"fraction": Option(0.6, positive)}, unit="%", tested=False
)
