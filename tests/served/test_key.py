"""The key: whatever a host sends back, no part of it stands in what leaves the endpoint's module."""

import base64
import html
import json
import logging
import urllib.parse

import pytest

from truemoment.base.boundary.endpoints.key import Key
from truemoment.base.errors import UsageError
from truemoment.learning.served import Endpoint, EndpointError

from .stub import FAST_S, Reply, error, said
from .wire import talking

KEY = "sk-Secret/5f+Q9w_0123~x~"
MESSAGES = [{"role": "user", "content": "when?"}]

WRITTEN = {
    "as it is": KEY,
    "in small letters": KEY.lower(),
    "as a header's name": KEY.title(),
    "URL-encoded": urllib.parse.quote(KEY, safe=""),
    "URL-encoded, every letter": "".join(f"%{ord(c):02x}" for c in KEY),
    "URL-encoded twice": urllib.parse.quote(urllib.parse.quote(KEY, safe=""), safe=""),
    "as JSON": json.dumps(KEY).replace("/", "\\/"),
    "as JSON, every letter": "".join(f"\\u{ord(c):04X}" for c in KEY),
    "as JSON in JSON": json.dumps("".join(f"\\u{ord(c):04x}" for c in KEY)),
    "as Python's bytes": "".join(f"\\x{ord(c):02x}" for c in KEY),
    "as HTML": html.escape(KEY),
    "as HTML, every letter": "".join(f"&#{ord(c)};" for c in KEY),
    "as HTML, in hexadecimal": "".join(f"&#x{ord(c):X};" for c in KEY),
    "in hexadecimal": KEY.encode().hex(),
    "in lines": "\r\n ".join(KEY[k : k + 5] for k in range(0, len(KEY), 5)),
    **{f"in base64 of {user}:key": base64.b64encode(f"{user}:{KEY}".encode()).decode() for user in ("", "u", "us")},
    "in base64 of URLs": base64.urlsafe_b64encode(f"{KEY}~~".encode()).decode(),
}


def parts_of(text, length):
    return {text[k : k + length].lower() for k in range(len(text) - length + 1)}


def shows_key(text, length=4):
    """Whether a text shows so many characters of the key in a row, in any of the ways above; a slow search."""
    text = "".join(text.lower().split())
    decoded = urllib.parse.unquote(urllib.parse.unquote(html.unescape(text.replace("\\x", "%").replace("\\u00", "%"))))
    plain = any(part in kind for kind in (text, decoded) for part in parts_of(KEY, length))
    coded = [KEY.encode().hex(), *(base64.b64encode(bytes(k) + KEY.encode()).decode()[4:-4] for k in range(3))]
    coded += [form.replace("+", "-").replace("/", "_") for form in coded]
    return plain or any(part in text for form in coded for part in parts_of(form, 12))


def ask(url, **options):
    endpoint = Endpoint(url, "m", KEY, **{"retries": 0, "first_wait_s": FAST_S, "timeout_s": 5.0, **options})
    with endpoint.connect() as connection:
        return endpoint.ask(connection, MESSAGES)


def told_by(url, **options):
    with pytest.raises(EndpointError) as found:
        ask(url, **options)
    return str(found.value)


# ---- The ways it left


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_the_key_leaves_in_no_finish_reason(serve, written):
    answer = ask(serve(lambda *_: said("2 - 3", finish_reason=f"stop {written}")).url)
    assert answer.finish_reason.startswith("stop ")
    assert not shows_key(answer.finish_reason)


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_the_key_leaves_in_no_malformed_status_line(written):
    def talk(wire, sock):
        wire.read_request(sock)
        sock.sendall(f"HTTP/1.1 what {written}\r\n\r\n".encode())

    with talking(talk) as wire:
        told = told_by(wire.url)
    assert "cannot be reached (" in told
    assert not shows_key(told)


@pytest.mark.parametrize("at", range(160, 201, 5))
def test_the_key_leaves_in_no_location_that_is_cut(serve, at):
    """Messages are cut at 200 characters, after they are cleaned: wherever the key begins, no part of it is left."""
    where = "http://host/".ljust(at, "a")
    told = told_by(serve(lambda *_: Reply(307, headers={"Location": where + KEY + "b" * 100})).url)
    assert "which is not followed" in told
    assert not shows_key(told, 3)


@pytest.mark.parametrize("status", [302, 403, 429])
@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_the_key_leaves_in_no_message(serve, status, written):
    reply = error(status, f"no such key: {written}", Location=f"/{urllib.parse.quote(written)}")
    told = told_by(serve(lambda *_: reply).url)
    assert f"{status}" in told or "leads to" in told
    assert not shows_key(told)


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_the_key_leaves_in_no_answer(serve, written):
    text = ask(serve(lambda *_: said(f"from 2.5 s, {written}, to 7 s")).url).text
    assert text.startswith("from 2.5 s, ")
    assert text.endswith(", to 7 s")
    assert not shows_key(text, 8)


@pytest.mark.parametrize("part", [KEY[:8], KEY[5:13], KEY[-8:], KEY[:12] + "...", "***" + KEY[-10:]])
def test_a_part_of_the_key_leaves_in_no_answer(serve, part):
    assert not shows_key(ask(serve(lambda *_: said(f"key {part}.")).url).text, 8)


@pytest.mark.parametrize("shown", [f"{KEY[:7]}...{KEY[-4:]}", f"ending in {KEY[-4:]}", f"{KEY[:5]}****"])
def test_a_masked_key_leaves_in_no_message(serve, shown):
    assert not shows_key(told_by(serve(lambda *_: error(403, f"the key {shown} may not")).url))


def test_malformed_headers_that_repeat_the_key_are_not_logged(caplog, capfd):
    caplog.set_level(logging.DEBUG)

    def talk(wire, sock):
        wire.read_request(sock)
        body = said("2 - 3").body
        sock.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n{KEY}\r\nX: {KEY}\r\n\r\n".encode() + body)

    with talking(talk) as wire:
        assert ask(wire.url).text == "2 - 3"
    assert not shows_key(caplog.text + "".join(capfd.readouterr()))


def test_tokens_that_are_no_count_are_left_out(serve):
    """Numbers of 8 digits and more may be a part of a key."""
    assert ask(serve(lambda *_: said("2 - 3", usage=(12345678, -1))).url).prompt_tokens is None


@pytest.mark.parametrize(
    "changes",
    [
        {"url": f"http://localhost/{urllib.parse.quote(KEY, safe='')}/v1"},
        {"model": f"m:{KEY}"},
        {"options": {"user": {"key": KEY}}},
    ],
)
def test_a_key_among_the_settings_is_refused(changes):
    """Results tell the settings."""
    with pytest.raises(UsageError, match="the key in OPENAI_API_KEY is in the address, the model or --set too") as e:
        Endpoint(**{"url": "http://localhost/v1", "model": "m", "key": KEY, **changes})
    assert not shows_key(str(e.value).replace("OPENAI_API_KEY", ""))


# ---- What is left as it is


@pytest.mark.parametrize(
    "text", ["", "2.5 - 7.0", "From 10 to 20 seconds (100%).\n", '{"start": 1, "end": "0:02"}', "\\"]
)
def test_what_holds_no_key_is_left_as_it_is(text):
    assert Key(KEY).hidden_in(text, 8) == text
    assert Key(KEY).hidden_in(text) == text


def test_only_the_key_is_hidden():
    assert Key(KEY).hidden_in(f"a %41 {KEY} &amp; {KEY.upper()}\\n") == "a %41 [key] &amp; [key]\\n"
