"""The work on one file, without printing anything: open, guess, mask, judge, compare, write all or nothing.

The command line and other edges parse what a person asks for, call these functions and show what comes back. Nothing
here prints, asks or draws a bar: progress is a callable, and what it raises stops the work with nothing left behind.
Everything is imported when it is first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microagg.jobs.again import command as command
    from microagg.jobs.again import script as script
    from microagg.jobs.assessment import Assessed as Assessed
    from microagg.jobs.assessment import assess as assess
    from microagg.jobs.candidates import each_candidate as each_candidate
    from microagg.jobs.facts import findings_of as findings_of
    from microagg.jobs.inspecting import SmallStrata as SmallStrata
    from microagg.jobs.inspecting import write_small_strata as write_small_strata
    from microagg.jobs.masking import judge as judge
    from microagg.jobs.masking import mask as mask
    from microagg.jobs.masking import mask_beyond_memory as mask_beyond_memory
    from microagg.jobs.messages import Told as Told
    from microagg.jobs.messages import told as told
    from microagg.jobs.opening import Opened as Opened
    from microagg.jobs.opening import open_file as open_file
    from microagg.jobs.pairs import read_pair as read_pair
    from microagg.jobs.tables import apart as apart
    from microagg.jobs.writing import Written as Written
    from microagg.jobs.writing import write as write

_HOME = {
    "Assessed": "assessment",
    "Opened": "opening",
    "SmallStrata": "inspecting",
    "Told": "messages",
    "Written": "writing",
    "apart": "tables",
    "assess": "assessment",
    "command": "again",
    "each_candidate": "candidates",
    "findings_of": "facts",
    "judge": "masking",
    "mask": "masking",
    "mask_beyond_memory": "masking",
    "open_file": "opening",
    "read_pair": "pairs",
    "script": "again",
    "told": "messages",
    "write": "writing",
    "write_small_strata": "inspecting",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'microagg.jobs' has no attribute {name!r}")
    return getattr(importlib.import_module(f"microagg.jobs.{_HOME[name]}"), name)
