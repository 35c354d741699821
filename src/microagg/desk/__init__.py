"""One file's work without a voice: open, guess, mask, judge, compare, write all or nothing.

The command line and other edges parse what a person asks for, call these functions and show what comes back. Nothing
here prints, asks or draws a bar: progress is a callable, and what it raises stops the work with nothing left behind.
"""

from microagg.desk.again import command, script
from microagg.desk.assessing import Assessed, assess
from microagg.desk.candidates import each_candidate
from microagg.desk.masking import mask, mask_beyond_memory
from microagg.desk.opening import Opened, open_file
from microagg.desk.words import Told, told
from microagg.desk.writing import Written, write

__all__ = [
    "Assessed",
    "Opened",
    "Told",
    "Written",
    "assess",
    "command",
    "each_candidate",
    "mask",
    "mask_beyond_memory",
    "open_file",
    "script",
    "told",
    "write",
]
