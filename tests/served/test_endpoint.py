"""Asking an endpoint that answers well, badly or not at all."""

import gzip
import itertools
import json
import threading
import time

import pytest

from truemoment.base.boundary.endpoints import checked_url
from truemoment.base.errors import DataWarning, UsageError
from truemoment.learning.served import Endpoint, EndpointError, key_from_environment

from .stub import FAST_S, Reply, error, said

KEY = "sk-secret-0123456789"
MESSAGES = [{"role": "user", "content": "when?"}]


def then(*replies):
    """The nth request gets the nth reply, later ones the last."""
    return lambda _, nth: replies[min(nth, len(replies) - 1)]


@pytest.fixture
def ask(serve):
    """Ask a server that replies so: ask(reply, ...) -> (answer, server)."""

    def once(*replies, stop=None, **options):
        server = serve(then(*replies))
        endpoint = Endpoint(server.url, "m", **{"first_wait_s": FAST_S, "timeout_s": 5.0, **options})
        with endpoint.connect() as connection:
            return endpoint.ask(connection, MESSAGES, stop), server

    return once


@pytest.fixture
def fails(serve):
    """Ask a server that gives no answer: fails(reply, ...) -> (error, requests made)."""

    def once(*replies, **options):
        server = serve(then(*replies))
        endpoint = Endpoint(server.url, "m", **{"first_wait_s": FAST_S, "timeout_s": 5.0, "retries": 2, **options})
        with endpoint.connect() as connection, pytest.raises(EndpointError) as found:
            endpoint.ask(connection, MESSAGES)
        assert "\n" not in str(found.value)
        return found.value, len(server.requests)

    return once


def test_what_is_sent(ask):
    answer, server = ask(said("2 - 3"), key=KEY, options={"temperature": 0, "seed": 4})
    assert (answer.text, answer.finish_reason, answer.prompt_tokens, answer.completion_tokens) == (
        "2 - 3",
        "stop",
        100,
        7,
    )
    assert answer.tries == 1
    assert 0 < answer.took_s < 5
    assert server.paths == ["/v1/chat/completions"]
    assert server.requests == [{"model": "m", "messages": MESSAGES, "temperature": 0, "seed": 4}]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"


def test_no_key_is_no_header_whatever_lies_in_the_home_folder(ask, tmp_path, monkeypatch):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password other-secret\n")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    _, server = ask(said("2 - 3"))
    assert "Authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (said("  2 - 3\n"), "  2 - 3\n"),
        (said(None), ""),
        (said(None, finish_reason="length"), ""),
        (said(None, refusal="I'm sorry, I can't."), "I'm sorry, I can't."),
        (said([{"type": "text", "text": "2 "}, {"type": "image"}, {"type": "text", "text": "- 3"}]), "2 - 3"),
        (said("2 - 3", usage=None), "2 - 3"),
        (said("2 - 3 \u00e9\U0001f600"), "2 - 3 \u00e9\U0001f600"),
    ],
)
def test_answers_to_the_letter(ask, reply, text):
    assert ask(reply)[0].text == text


def test_tokens_that_are_not_counted(ask):
    answer, _ = ask(said("2 - 3", usage=None))
    assert (answer.prompt_tokens, answer.completion_tokens) == (None, None)


# ---- Tried again

HTML = Reply(body=b"<html><body>Bad gateway</body></html>", headers={"Content-Type": "text/html"})
WHOLE = said("2 - 3").body

AGAIN = {
    "500": error(500),
    "502 and a page": Reply(502, HTML.body),
    "503": error(503),
    "408": error(408),
    "409": error(409),
    "425": error(425),
    "429": error(429, Retry_After="0"),
    "429, a date": error(429, Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
    "503, compressed": Reply(503, gzip.compress(WHOLE), {"Content-Encoding": "gzip"}),
    "hang-up": Reply(hang_up=True),
    "a page": HTML,
    "nothing": Reply(),
    "broken JSON": Reply(body=WHOLE[:-9]),
    "cut off": Reply(body=WHOLE[:-9], headers={"Content-Length": str(len(WHOLE))}),
    "no choices": Reply(body=json.dumps({"choices": []}).encode()),
    "choices of another kind": Reply(body=json.dumps({"choices": 3}).encode()),
    "content of another kind": said(3.5),
    "a list": Reply(body=b"[1, 2]"),
    "no text": Reply(body=b"\xff\xfe\x00"),
    "nested": Reply(body=b'{"choices":' + b"[" * 100_000),
    "tokens of another kind": Reply(
        body=json.dumps({"choices": [{"message": {"content": "x"}}], "usage": "many"}).encode()
    ),
}


@pytest.mark.parametrize("name", AGAIN)
def test_what_is_tried_again(ask, name):
    bad = AGAIN[name]
    if name == "cut off":
        bad = Reply(200, WHOLE[:-9], {"Content-Length": str(len(WHOLE)), "Connection": "close"}, hang_up=False)
    answer, server = ask(bad, bad, said("2 - 3"), timeout_s=0.3 if name == "cut off" else 5.0)
    assert (answer.text, answer.tries, len(server.requests)) == ("2 - 3", 3, 3)


@pytest.mark.parametrize("name", ["500", "a page", "no choices", "hang-up"])
def test_in_the_end_it_is_given_up(fails, name):
    found, n_requests = fails(AGAIN[name])
    assert found.fault == "transient"
    assert n_requests == 3  # two retries


def test_a_stall(ask, fails):
    answer, server = ask(Reply(stall_s=1.0), said("2 - 3"), timeout_s=0.1)
    assert (answer.text, len(server.requests)) == ("2 - 3", 2)
    found, _ = fails(Reply(stall_s=1.0), timeout_s=0.05, retries=0)
    assert "gave no answer within 0.05 s" in str(found)


def test_a_drip_counts_as_a_stall(fails):
    # Each byte comes in time, the answer does not.
    began = time.monotonic()
    found, _ = fails(Reply(body=WHOLE, drip_s=0.02), timeout_s=0.15, retries=0)
    assert "gave no answer within 0.15 s" in str(found)
    assert time.monotonic() - began < 1.5  # the whole would take over 4 s


def test_an_answer_without_end(fails, monkeypatch):
    monkeypatch.setattr("truemoment.base.boundary.endpoints.connection.MAX_ANSWER_BYTES", 1 << 20)
    found, _ = fails(said("2 - 3" * 1_000_000), retries=0)
    assert "sent more than 1 MiB" in str(found)


def test_nobody_there():
    endpoint = Endpoint("http://127.0.0.1:9", "m", retries=1, first_wait_s=FAST_S)
    said = r"the endpoint http://127\.0\.0\.1:9 cannot be reached \(Connection refused\); it is asked again, 1 times"
    with pytest.warns(DataWarning, match=said), endpoint.connect() as connection, pytest.raises(EndpointError) as found:
        endpoint.ask(connection, MESSAGES)  # six retries took a minute without a word
    assert "cannot be reached (Connection refused)" in str(found.value)


class Waits(threading.Event):
    """An event that notes how long was waited for it, and does not wait."""

    def __init__(self):
        super().__init__()
        self.waits = []

    def wait(self, timeout=None):
        self.waits.append(timeout)
        return False


def test_waits_double_with_some_chance_in_them(serve):
    server = serve(then(*[error(500)] * 7, said("2 - 3")))
    stop = Waits()
    endpoint = Endpoint(server.url, "m", retries=9, first_wait_s=1.0)
    with endpoint.connect() as connection:
        endpoint.ask(connection, MESSAGES, stop)
    assert len(stop.waits) == 7
    for k, waited in enumerate(stop.waits):  # 1, 2, 4, ... and up to 1 s more, all in all up to 60 s
        assert min(2**k, 59) <= waited <= min(2**k, 59) + 1
    assert len({waited % 1 for waited in stop.waits}) == 7


@pytest.mark.parametrize(("asked", "waited"), [("7", 7.0), ("0", 0.0), ("86400", 120.0)])
def test_retry_after_is_honoured_within_reason(serve, asked, waited):
    server = serve(then(error(429, Retry_After=asked), said("2 - 3")))
    stop = Waits()
    endpoint = Endpoint(server.url, "m")
    with endpoint.connect() as connection:
        endpoint.ask(connection, MESSAGES, stop)
    assert stop.waits == [waited]


def test_stopping_ends_the_waiting(serve):
    server = serve(then(error(500)))
    stop = threading.Event()
    timer = threading.Timer(0.05, stop.set)
    timer.start()
    began = time.monotonic()
    endpoint = Endpoint(server.url, "m", retries=9, first_wait_s=30.0)
    with endpoint.connect() as connection, pytest.raises(EndpointError, match="answers 500"):
        endpoint.ask(connection, MESSAGES, stop)
    timer.join()
    assert time.monotonic() - began < 5


# ---- Not tried again


@pytest.mark.parametrize(
    ("reply", "fault", "told"),
    [
        (error(400, "context too long"), "request", "answers 400 (context too long)"),
        (error(413), "request", "answers 413 (no)"),
        (Reply(422, b'{"detail": "bad field"}'), "request", "answers 422 (bad field)"),
        (Reply(400, b"<html>no</html>"), "request", "answers 400"),
        (error(401), "endpoint", "answers 401: it does not take the key in OPENAI_API_KEY"),
        (error(403, "not yours"), "endpoint", "answers 403 (not yours): the key in OPENAI_API_KEY may not use it"),
        (error(404, "no model"), "endpoint", "answers 404 (no model): it has no model 'm', or its address is another"),
        (
            Reply(200, gzip.compress(WHOLE), {"Content-Encoding": "gzip"}),
            "endpoint",
            "compresses its answer, expected no compression",
        ),
    ],
)
def test_what_is_final(fails, reply, fault, told):
    found, n_requests = fails(reply, key=KEY)
    assert (found.fault, str(found), n_requests) == (fault, told, 1)


def test_a_key_that_is_asked_for_and_not_there(fails):
    found, _ = fails(error(401), key_variable="MY_KEY")
    assert str(found) == "answers 401: it asks for a key, and there is none in MY_KEY"


def test_redirects_are_not_followed(fails, serve):
    other = serve()
    found, _ = fails(Reply(307, headers={"Location": f"{other.url}/chat/completions"}), key=KEY)
    assert found.fault == "endpoint"
    assert "which is not followed" in str(found)
    assert other.requests == []


# ---- The key


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
def test_an_error_that_repeats_the_key(fails, status):
    found, _ = fails(error(status, f"Incorrect API key: {KEY}. " + "x" * 150 + KEY), key=KEY)
    assert KEY not in str(found)
    assert KEY[:8] not in str(found)


def test_an_answer_that_repeats_the_key(ask):
    assert ask(said(f"your key is {KEY}"), key=KEY)[0].text == "your key is [key]"


def test_a_key_of_few_letters_is_no_secret(ask):
    answer, _ = ask(said("none"), key="none")
    assert answer.text == "none"


def test_the_key_is_in_no_text_of_the_endpoint():
    endpoint = Endpoint("http://localhost/v1", "m", KEY)
    assert KEY not in repr(endpoint)
    assert KEY not in str(endpoint)


@pytest.mark.parametrize("key", ["sk 1234567", "sk-1234567\nX: y", "sk-\u00e9234567"])
def test_a_key_that_cannot_be_sent_is_not_told(key):
    with pytest.raises(UsageError) as found:
        Endpoint("http://localhost/v1", "m", key, "MY_KEY")
    assert str(found.value) == "the variable MY_KEY has a value that cannot be a key"


def test_the_key_comes_from_the_environment(monkeypatch):
    assert key_from_environment("https://host/v1") == (None, "OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    monkeypatch.setenv("MY_KEY", "other-key")
    assert key_from_environment("https://host/v1") == (KEY, "OPENAI_API_KEY")
    assert key_from_environment("https://host/v1", "MY_KEY") == ("other-key", "MY_KEY")
    with pytest.raises(UsageError, match="NO_KEY is not set"):
        key_from_environment("https://host/v1", "NO_KEY")


def test_the_key_is_sent_in_the_clear_only_where_asked_for(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    for near in ("http://localhost:8000/v1", "http://127.0.0.1/v1", "http://[::1]:80/v1"):
        assert key_from_environment(near)[0] == KEY
    with pytest.raises(UsageError, match="would go to far unencrypted") as found:
        key_from_environment("http://far/v1")
    assert KEY not in str(found.value)
    assert key_from_environment("http://far/v1", "OPENAI_API_KEY")[0] == KEY


# ---- The address


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://localhost:8000/v1/", "http://localhost:8000/v1"),
        ("https://host/a/chat/completions", "https://host/a"),
        (" http://[::1]:1 ", "http://[::1]:1"),
    ],
)
def test_addresses(text, url):
    assert checked_url(text) == url


@pytest.mark.parametrize(
    "text",
    [
        "model.safetensors",
        "ftp://host/v1",
        "http://",
        "http://host:port/v1",
        f"http://me:{KEY}@host/v1",
        f"https://host/v1?key={KEY}",
        "https://host/v1#x",
        "",
    ],
)
def test_no_addresses(text):
    with pytest.raises(UsageError, match="endpoint") as found:
        checked_url(text)
    assert KEY not in str(found.value)


@pytest.mark.parametrize(
    "options",
    [
        {"model": " "},
        {"timeout_s": 0},
        {"timeout_s": float("nan")},
        {"retries": -1},
        *({"options": {name: 1}} for name in ("model", "messages", "stream", "n")),
    ],
)
def test_impossible_options(options):
    with pytest.raises(UsageError):
        Endpoint(**{"url": "http://localhost/v1", "model": "m", **options})


def test_connections_are_kept(serve):
    server = serve(lambda *_: said("2 - 3"))
    endpoint = Endpoint(server.url, "m")
    with endpoint.connect() as connection:
        for _ in itertools.repeat(None, 3):
            endpoint.ask(connection, MESSAGES)
    assert len(server.requests) == 3
    assert len(set(server.clients)) == 1
