"""Nobody is let in but by a one-time address, from this host, by pages of ours."""

import pytest

from microagg.app.guard import Guard, Keys

OURS = "http://127.0.0.1:8899"


def refused(answer, client):
    assert answer.status == 403
    assert "survey" not in answer.text
    assert client.keys.session not in answer.text
    return True


def test_every_page_is_refused_without_the_cookie(client):
    client.cookie = ""
    for path in ("/", "/try", "/open", "/job", "/static/app.js", "/nothing"):
        assert refused(client.ask("GET", path), client)


def test_the_cookie_alone_is_not_enough(client):
    for headers in (
        {"host": "evil.example"},
        {"host": "localhost:8899"},
        {"host": "127.0.0.1"},
        {"host": "127.0.0.1:8898"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"upgrade": "websocket"},
    ):
        assert refused(client.ask("GET", "/", **headers), client), headers
    for origin in ("http://evil.example", "null", "http://localhost:8899", "https://127.0.0.1:8899", None):
        headers = {} if origin is None else {"origin": origin}
        assert refused(client.ask("POST", "/history", **headers), client), origin
    assert client.ask("GET", "/", sec_fetch_site="none").status == 200
    assert client.post("/history", to=0).status == 200


def test_a_token_is_good_once(client):
    address = client.keys.address().removeprefix(OURS)
    client.cookie = ""
    answer = client.ask("GET", address)
    assert (answer.status, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert address.split("=")[1] not in cookie
    client.cookie = ""
    assert refused(client.ask("GET", address), client)
    for wrong in ("/enter", "/enter?token=", "/enter?token=abc"):
        assert refused(client.ask("GET", wrong), client)
    assert refused(client.ask("POST", client.keys.address().removeprefix(OURS), origin=OURS), client)


def test_a_browser_that_comes_from_a_file_is_led_on_by_a_page(client):
    """After a redirect that began elsewhere, browsers would send no strict cookie."""
    address = client.keys.address().removeprefix(OURS)
    answer = client.ask("GET", address, sec_fetch_site="cross-site")
    assert answer.status == 200
    assert 'content="0;url=/"' in answer.text
    assert "token" not in answer.text
    assert "microagg-8899=" in answer.headers["set-cookie"]


def test_answers_carry_the_headers(client):
    refusal = client.ask("GET", "/", host="evil.example")
    for answer in (client.get("/"), client.get("/static/app.js"), client.get("/nothing"), client.get("/job"), refusal):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self';" in policy
        assert "unsafe-eval" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert "server" not in answer.headers


def ask(scope):
    """Call the guard as a server does, and give what it sends."""
    import asyncio

    sent = []

    async def inside(*_):
        raise AssertionError("the guard let it in")

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(inside, Keys(8899))(scope, None, send))
    return sent


def test_other_scopes_are_refused():
    assert ask({"type": "websocket", "headers": []}) == [{"type": "websocket.close", "code": 1008}]
    with pytest.raises(RuntimeError, match="only http"):
        ask({"type": "webtransport", "headers": []})


def test_two_hosts_in_one_request_are_refused():
    both = [(b"host", b"127.0.0.1:8899"), (b"host", b"evil.example")]
    scope = {"type": "http", "path": "/", "method": "GET", "headers": both, "query_string": b""}
    assert ask(scope)[0]["status"] == 403
