"""Variances by linearisation: of a statistic whose every record adds its influence."""

import numpy as np

from microagg.measures.analyses.records import Sample, Values


def errors_of(sample: Sample, influences: Values) -> Values:
    """Return the standard error of a statistic in each domain, from w·z of each record.

    z is the influence of a record on the statistic: its derivative by the record's weight (Deville 1999). With
    u = Σ w·z of a cluster, or of a record where there are none, the variance is c/(c−1) · Σ u², c being the clusters of
    the domain: that of a domain taken by itself, as if it had been drawn with replacement. The sum of all u is 0. NaN
    where a domain has fewer than two clusters.
    """
    pieces = sample.pieces
    squares = np.bincount(pieces.domain_of, weights=pieces.summed(influences) ** 2, minlength=sample.n_domains)
    return np.sqrt(squares * _correction(pieces.inside.astype(np.float64)))


def errors_of_totals(sample: Sample, amounts: Values) -> Values:
    """Return the standard error of the sum of w·x in each domain.

    How many records of a domain are drawn is by chance too, so that all c clusters of the sample count, those with
    nothing in the domain as well: c/(c−1) · Σ (u − ū)².
    """
    pieces = sample.pieces
    if not sample.size:
        return np.full(sample.n_domains, np.nan)
    sums, n = pieces.summed(amounts), pieces.n_clusters
    totals = np.bincount(pieces.domain_of, weights=sums, minlength=sample.n_domains)
    inside = np.bincount(pieces.domain_of, minlength=sample.n_domains)
    # Centred first: a difference of large sums of squares would lose its digits.
    centred = sums - (totals / n)[pieces.domain_of]
    squares = np.bincount(pieces.domain_of, weights=centred**2, minlength=sample.n_domains)
    return np.sqrt((squares + (n - inside) * (totals / n) ** 2) * _correction(np.full(sample.n_domains, float(n))))


def _correction(clusters: Values) -> Values:
    return np.asarray(np.divide(clusters, clusters - 1.0, out=np.full(clusters.size, np.nan), where=clusters > 1))
