"""What the name of a column suggests. A name alone never lets a column out, it only makes a guess more careful."""

import re
from collections.abc import Iterable

_SPLIT = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[0-9])")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WEIGHING = re.compile(r"weight|wgt|gewicht|poids|wt$")

IDENTIFIER = frozenset(
    """id ids name surname firstname lastname fullname ssn nin nino nif dni passport email mail phone telephone mobile
    iban account address street person patient respondent citizen employee customer client key uuid guid pid rowid index
    licence license plate ip serial""".split()
)
UNIT = frozenset("household hh hhid hid firm company enterprise family establishment school hospital".split())
WEIGHT = frozenset("w weight weights wgt wt wgts gewicht poids peso pond expansion fnlwgt pweight".split())
STRATUM = frozenset(
    """region state province county district nuts nuts1 nuts2 nuts3 country canton land sex gender sector nace stratum
    strata area department""".split()
)
CONFIDENTIAL = frozenset(
    """diagnosis disease illness hiv religion religious ethnic ethnicity race orientation party vote crime offence drug
    drugs disability pregnant abortion health icd icd10 treatment medication union political""".split()
)
NUMBERED = frozenset("no nr number num ref code".split())
CODED = frozenset(
    """code codes isco isco08 nace naics sic zip postcode postal plz icd icd10 fips occupation industry branch type
    status category class nationality citizenship municipality commune""".split()
)
_BODILY = frozenset("kg lb lbs g body birth net gross".split())

SEXES = frozenset(
    """male female m f man woman men women boy girl männlich weiblich mann frau homme femme masculin féminin hombre
    mujer masculino femenino uomo donna maschio femmina""".split()
)
"""Words that, where a column has no others, say that it is a person's sex."""

NO_ANSWER = re.compile(r"refus|don'?t know|not know|no answer|not answer|not applicable|n/a|missing|unknown|not stated")
"""What the label of a value says when it stands for a missing one."""


def words_of(name: str) -> frozenset[str]:
    """Return the words of a column's name, and the whole of it as one."""
    split = _SPLIT.split(_CAMEL.sub("_", name).lower())
    return frozenset(split) | {name.lower().replace("_", "").replace(" ", "")}


def may_be_a_weight(words: Iterable[str]) -> bool:
    """Return whether a name may be that of a sampling weight; of a body's, it says so more often than not."""
    words = set(words)
    return not words & _BODILY and (bool(words & WEIGHT) or any(_WEIGHING.search(word) for word in words))
