"""Records that are judged where not all are: which they are, and what counts of them say of the whole file."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from microagg.base.frozen import frozen
from microagg.judge.parts import Alone, Finding, JudgedRisk
from microagg.judge.run import JudgedRun
from microagg.judge.text import count, percent
from microagg.judge.topics.confidential import GivenAway
from microagg.judge.topics.topic import Topic
from microagg.judge.topics.weights import JudgedWeights

if TYPE_CHECKING:
    from microagg.judge.judgement import Judgement
    from microagg.release import Release


@frozen()
class JudgedSample:
    """The records that are judged where a file does not fit into memory: those of whole groups."""

    records: int
    of_records: int
    groups: int
    of_groups: int
    error: float  # the standard error of a share of records, at most, in percent


class SampleScale:
    """Turns counts of the records, or groups, that are judged into estimates of the whole file's."""

    def __init__(self, sample: JudgedSample | None) -> None:
        self._factor = 1.0 if sample is None else sample.of_records / sample.records

    def count(self, number: int) -> int:
        """Return a count of the whole file."""
        return round(self._factor * number)

    def counts(self, found: Mapping[str, int]) -> dict[str, int]:
        """Return counts by name."""
        return {name: self.count(number) for name, number in found.items()}

    def alone(self, found: Alone) -> Alone:
        """Return the records with unique values; categories that few have are those of the whole file."""
        return replace(
            found,
            by_column=self.counts(found.by_column),
            together=self.count(found.together),
            by_all=self.count(found.by_all),
            few_units=self.counts(found.few_units),
            amounts=self.counts(found.amounts),
            medians=self.counts(found.medians),
        )

    def risk(self, found: JudgedRisk) -> JudgedRisk:
        """Return the groups that fail a rule."""
        columns = [
            one if one.dominated is None else replace(one, dominated=self.count(one.dominated)) for one in found.columns
        ]
        return replace(found, columns=tuple(columns))

    def given_away(self, found: GivenAway) -> GivenAway:
        """Return the groups with one value, and their records."""
        groups, records = map(self.count, (found.uniform_groups, found.uniform_records))
        return replace(found, uniform_groups=groups, uniform_records=records)

    def weights(self, found: JudgedWeights | None) -> JudgedWeights | None:
        """Return the records whose weight few share, and what all weigh together."""
        if found is None:
            return None
        links, population = found.expected_links, found.population
        return replace(
            found,
            found=tuple(replace(one, rare=self.count(one.rare)) for one in found.found),
            population=None if population is None else self._factor * population,
            expected_links=None if links is None else self._factor * links,
        )


class SampleOfRecords(Topic[JudgedSample]):
    """Which records are judged, where not all are."""

    name = "sample"

    def find(self, release: "Release[Any]", run: JudgedRun) -> JudgedSample | None:
        """Return which records are judged; None where all are.

        Records of a group are as similar as can be, so that the error of a share is that of so many groups drawn.
        """
        if release.whole is None:
            return None
        groups = int(release.groups.max()) + 1
        error = 50.0 / math.sqrt(groups) * math.sqrt(1.0 - groups / release.n_groups)
        return JudgedSample(len(release.groups), release.whole.records, groups, release.n_groups, error)

    def public(self, found: JudgedSample) -> JudgedSample:
        """Return all of it: it says nothing of values."""
        return found

    def findings(self, judgement: "Judgement") -> list[Finding]:
        """Return that only some records were judged."""
        found = self.of(judgement)
        if found is None:
            return []
        short = f"judged on {_drawn(found)}; k and the information loss are of the whole file."
        return [Finding("note", "sample", _words(found, judgement.public), short)]

    def limits(self, judgement: "Judgement") -> list[str]:
        """Return the same, for what is not claimed."""
        found = self.of(judgement)
        return [] if found is None else [_words(found, judgement.public)]


def _drawn(own: JudgedSample) -> str:
    return f"{count(own.records)} of {count(own.of_records)} records"


def _words(own: JudgedSample, public: bool) -> str:
    words = (
        f"The file is larger than memory, and was judged on {_drawn(own)}: those of {count(own.groups)} of its "
        f"{count(own.of_groups)} groups. k, the groups, the strata, missing values and the information loss are those "
        f"of the whole file. All other figures are of the records drawn"
    )
    if public:
        return f"{words}."
    return (
        f"{words}; counts are estimates from them, and the standard error of a share of records is at most "
        f"{percent(own.error)}. Records were linked only to records drawn. The whole file has more records that fit: "
        f"linkage is an upper limit, and so is the number of records with unique values."
    )


SAMPLE = SampleOfRecords()
