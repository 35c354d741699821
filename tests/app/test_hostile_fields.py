"""What no name and no number can be, typed into any field of any page: refused, never a fault."""

import re
from urllib.parse import urlencode

import pytest

from microagg.app.pages import PAGES
from tests.lengths import first_few

HOSTILE = {
    "NUL": "a\0b",
    "long": "x" * 5000,
    "deep": "x/" * 5000 + "x",
    "nobody": "~nobody-of-this-name/out",
    "digits": "1" * 5000,
    "minus": "-" + "1" * 5000,
    "surrogate": "a\ud800b",
    "brackets": "[" * 5000,
    "dots": "{a" + ".a" * 5000 + " = 1}",
    "number in braces": "{width = " + "1" * 5000 + "}",
}


def posts(client):
    """Give all that can be posted on the pages: where, and the fields of the form."""
    found = {("/open/read", ("path", "file")), ("/open/recipe", ("place",)), ("/quit/end", ("place", "how"))}
    for path in ("/open", "/", "/try", "/compare", "/look", "/release", "/quit"):
        text = client.get(path).text
        for form in re.findall(r"<form\b.*?</form>", text, re.DOTALL):
            actions = re.findall(r'(?:form)?action="(/[^"]*)"', form)
            fields = sorted({*re.findall(r'\bname="([^"]+)"', form)} - {"number"})
            found |= {(action, tuple(fields)) for action in actions}
    known = {(page.path if page.path != "/" else f"/{page.module}") for page in PAGES}
    assert {action for action, _ in found} >= {"/release/write", "/columns/load", "/try/apply"}
    return sorted(one for one in found if any(one[0].startswith(path) for path in known))


@pytest.mark.parametrize("what", first_few(1, HOSTILE))
def test_no_field_of_any_page_brings_a_fault(client, what):
    text = HOSTILE[what].encode("utf-8", "surrogatepass")
    for action, fields in posts(client):
        for field in fields:
            body = urlencode([("number", client.number), (field, text)]).encode()
            if action == "/quit/end":
                body += b"&how=stay"
            answer = client.ask("POST", action, body, origin=client.keys.origin)
            assert answer.status in (200, 303, 404, 409, 422), (action, field, answer.text[-500:])
            client.settle()
            client.get("/")


@pytest.mark.parametrize("what", ["NUL", "long", "deep", "nobody"])
@pytest.mark.parametrize(
    ("action", "field"), [("/release/write", "folder"), ("/open/read", "path"), ("/columns/load", "path")]
)
def test_a_path_that_cannot_be_is_refused_at_its_field(client, action, field, what):
    client.get("/release")
    client.settle()
    answer = client.post(action, **{field: HOSTILE[what]})
    assert answer.status == 422
    words = " ".join(answer.text.split())
    assert "letters cannot be used: it is too long, holds a character that no name can have" in words
    assert client.get("/release").status == 200
