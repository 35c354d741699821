"""Do analyses on two files and compare their estimates."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.columns.table import Table
from microagg.columns.weights import Labels
from microagg.errors import InputError, InvalidData, MicroaggError, blamed
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.analyses.definition import Estimates, Values
from microagg.measures.analyses.estimate import Estimate, Judged, Utility
from microagg.measures.analyses.records import FileRecords, Sample, Shared
from microagg.measures.analyses.terms import Term, known
from microagg.work import Progress, in_parallel, one_thread_for_matrices, part, tell, threads_for

Units = Mapping[Any, NDArray[np.int64]]
Failed = list[tuple[Analysis, Exception]]
"""Where analyses go that cannot be done, with the reason; who hands in none has it raised."""


def terms_of(analysis: Analysis, names: Any) -> list[Term]:
    """Return what an analysis reads, but for domains, weight and unit."""
    terms = analysis.definition.terms
    return [Term.parse(one, names) for one in analysis.columns] if terms is None else terms(analysis, names)


def columns_read(analyses: Sequence[Analysis], names: Any) -> list[Any]:
    """Return the columns that analyses read, but for units, or say which is not there."""
    found: dict[Any, None] = {}
    for one in analyses:
        weight = [] if one.weight is None else [one.weight]
        try:
            terms = terms_of(one, names)
            for name in (*(name for term in terms for name in term.columns), *one.by, *weight):
                found[known(name, names)] = None
        except InputError as error:
            raise blamed(one, error) from None
    return list(found)


@np.errstate(all="ignore")  # values may be as large as floats go; of what is beyond, no estimate is made
def measure_utility(
    before: Table,
    after: Table,
    analyses: Sequence[Analysis],
    *,
    units_before: Units | None = None,
    units_after: Units | None = None,
    level: float = 0.95,
    failed: Failed | None = None,
    progress: Progress | None = None,
) -> Utility:
    """Compare the estimates of analyses in two tables, whose categories have the same codes.

    Units are numbered, by the name of their column; a file that lacks one is not clustered.
    """
    if not analyses:
        return Utility((), level)
    shared = Shared(before, after)
    files = FileRecords(before, shared, units_before or {}), FileRecords(after, shared, units_after or {})
    z = NormalDist().inv_cdf(0.5 + level / 2.0)
    judged = []
    n_jobs = threads_for(max(one.n for one in files))
    for number, one in enumerate(analyses):
        tell(progress, number, len(analyses))
        domains = shared.domains(one.by, files)
        work = partial(_estimated, one, domains, z)
        parts: list[tuple[Sample, Estimates]] = []
        with one_thread_for_matrices():  # as two threads of ours work on them
            both = in_parallel(work, files, n_jobs, part(progress, number, number + 1, len(analyses)))
        for found in both:
            if isinstance(found, Exception):
                if failed is None:
                    raise found
                failed.append((one, found))
                break
            parts.append(found)
        else:
            judged.append(_judged(one, files, shared, domains, parts, z))
    tell(progress, len(analyses), len(analyses))
    return Utility(tuple(judged), level)


@np.errstate(all="ignore")  # which each thread has of its own
def _estimated(
    analysis: Analysis, domains: Labels, z: float, file: FileRecords, check: Callable[[], None]
) -> tuple[Sample, Estimates] | MicroaggError | np.linalg.LinAlgError:
    """Return the records of one file that an analysis is of, and its estimates; or why it cannot be done."""
    check()
    try:
        sample = _sample(file, analysis, domains, z, check)
        return sample, analysis.definition.estimate(sample, analysis)
    except (MicroaggError, np.linalg.LinAlgError) as error:
        return error


def _judged(
    analysis: Analysis,
    files: tuple[FileRecords, FileRecords],
    shared: Shared,
    domains: Labels,
    estimated: Sequence[tuple[Sample, Estimates]],
    z: float,
) -> Judged:
    """Put the estimates of both files beside each other."""
    samples, found = zip(*estimated, strict=True)
    terms = list(dict.fromkeys([*found[0].terms, *found[1].terms]))
    parts = [_by_term(one, terms, domains.size, z) for one in found]
    estimates = []
    for d, code in enumerate(domains.tolist()):
        where = shared.shown_domain(analysis.by, code)
        for t, term in enumerate(terms):
            before, after = (part[:, t, d].tolist() for part in parts)
            if analysis.definition.hides_zeros and before[0] == after[0] == 0.0:
                continue
            estimates.append(
                Estimate(
                    analysis=analysis.name,
                    kind=analysis.kind,
                    domain=where,
                    term=term,
                    before=before[0],
                    after=after[0],
                    interval_before=(before[1], before[2]),
                    interval_after=(after[1], after[2]),
                    unit=analysis.definition.unit,
                    tested=analysis.definition.tested and term not in analysis.definition.untested,
                )
            )
    left_out = [file.n - sample.size + one.left_out for file, sample, one in zip(files, samples, found, strict=True)]
    clustered = [sample.clusters is not None for sample in samples]
    return Judged(analysis, tuple(estimates), (left_out[0], left_out[1]), (clustered[0], clustered[1]))


def _by_term(found: Estimates, terms: list[str], n_domains: int, z: float) -> Values:
    """Return value, low and high of each term and domain, (3, terms, domains)."""
    low, high = found.intervals or (found.values - z * found.errors, found.values + z * found.errors)
    made = np.full((3, len(terms), n_domains), np.nan)
    places = [terms.index(term) for term in found.terms]
    made[:, places] = found.values, low, high
    made[:, ~np.isfinite(made[0])] = np.nan  # beyond what a float holds
    made[1:, ~np.isfinite(made[1:]).all(axis=0)] = np.nan
    return made


def _sample(records: FileRecords, analysis: Analysis, domains: Labels, z: float, check: Callable[[], None]) -> Sample:
    """Take the records that lack nothing an analysis needs; those of weight 0 count for nothing."""
    lacking = np.zeros(records.n, dtype=bool)
    for term in terms_of(analysis, records.names):
        lacking |= records.lacks(term)
    own = np.zeros(records.n, dtype=np.int64)
    if analysis.by:
        own = records.domain_codes(analysis.by, domains)
        lacking |= own < 0
    weights = np.ones(records.n)
    if analysis.weight is not None:
        weights = records.values(Term.of(analysis.weight))
        _check_weights(weights, analysis.weight)
        lacking |= ~(weights > 0)
    clusters = records.units.get(analysis.unit) if analysis.unit is not None else None
    parts = None if clusters is None else records.parts(analysis.unit, analysis.by, own, domains.size)
    if not lacking.any():
        return Sample(records, None, weights, own, domains.size, clusters, parts, z, check)
    rows = ~lacking
    clusters = None if clusters is None else clusters[rows]
    return Sample(records, rows, weights[rows], own[rows], domains.size, clusters, parts, z, check)


def _check_weights(weights: Values, name: Any) -> None:
    negative = int(np.count_nonzero(weights < 0))
    if negative:
        raise InvalidData(
            f"the weight {name!r} of an analysis has {negative} negative value(s). Name a column of 0 or more.",
            parameter="weight",
            columns=(name,),
        )
