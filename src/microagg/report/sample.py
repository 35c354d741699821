"""Which records were judged, in words, where not all were."""

from microagg.judge import Judgement
from microagg.report.parts import Finding
from microagg.report.text import count, percent


def findings(judgement: Judgement) -> list[Finding]:
    """Return that only some records were judged."""
    if judgement.sample is None:
        return []
    short = f"judged on {_drawn(judgement)}"
    return [Finding("note", "sample", _words(judgement), f"{short}; k and the information loss are of the whole file.")]


def limits(judgement: Judgement) -> list[str]:
    """Return the same, for what is not claimed."""
    return [] if judgement.sample is None else [_words(judgement)]


def _drawn(judgement: Judgement) -> str:
    own = judgement.sample
    assert own is not None
    return f"{count(own.records)} of {count(own.of_records)} records"


def _words(judgement: Judgement) -> str:
    own = judgement.sample
    assert own is not None
    words = (
        f"The file is larger than memory, and was judged on {_drawn(judgement)}: those of {count(own.groups)} of its "
        f"{count(own.of_groups)} groups. k, the groups, the strata, missing values and the information loss are those "
        f"of the whole file. All other figures are of the records drawn"
    )
    if judgement.public:
        return f"{words}."
    return (
        f"{words}; counts are estimates from them, and the standard error of a share of records is at most "
        f"{percent(own.error)}. Records were linked only to records drawn. The whole file has more records that fit: "
        f"linkage is an upper limit, and so is the number of records with unique values."
    )
