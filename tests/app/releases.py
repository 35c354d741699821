"""Releases as a person writes them on the page, in process."""

import hashlib
import re
from html import unescape


def boxes(page):
    """Give what the boxes of a page post."""
    return re.findall(r'name="tick" value="(\w+)"', page.text)


def write(client, folder, path="/release", **fields):
    """Fill in the fields of a page, tick every box that it then has, and write."""
    page = client.post(f"{path}/apply", **fields) if fields else client.get(path)
    client.settle()
    ticks = boxes(client.get(path)) or boxes(page)
    given = {"folder": str(folder), "shown": ticks, "tick": ticks, **fields}
    return client.post(f"{path}/write", **given)


def field(page, name):
    """Give the text of a readonly field."""
    return unescape(re.search(rf'<textarea id="{name}"[^>]*>(.*?)</textarea>', page.text, re.DOTALL)[1])


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
