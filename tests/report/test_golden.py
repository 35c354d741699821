"""The pages are those that were kept, byte for byte."""

import difflib
import re

import pytest

from tests.report.pages import FOLDER, KINDS, pages


@pytest.mark.parametrize("kind", KINDS)
def test_the_pages_are_as_they_were_kept(kind):
    for name, page in pages(kind).items():
        kept = (FOLDER / f"{name}.html").read_text(encoding="utf-8")
        changed = difflib.unified_diff(kept.splitlines(), page.splitlines(), "kept", "now", lineterm="", n=0)
        assert not re.search(r"--[a-z]", page)  # who reads it may never have seen a command line
        assert page == kept, f"{name}: see tests/report/pages.py\n" + "\n".join(list(changed)[:20])
