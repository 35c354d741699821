"""Whose a file or folder is, and who else can change it."""

import os
import stat

KNOWN = hasattr(os, "geteuid")
"""Whether this system knows owners by number. Windows does not: there nothing is checked."""


def is_ours(status: os.stat_result) -> bool:
    """Return whether something belongs to the user that this process works for."""
    return not KNOWN or status.st_uid == os.geteuid()


def is_ours_alone(status: os.stat_result) -> bool:
    """Return whether something belongs to us and neither our group nor others can write to it."""
    return not KNOWN or (is_ours(status) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
