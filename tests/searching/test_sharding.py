"""An index shared among machines: equal to one index, whatever is missing is named, hostile answers are refused."""

import contextlib
import http.client
import itertools
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import msgspec
import numpy as np
import pytest
from drawn_indexes import sentences_near, write_drawn

from truemoment.base.errors import InputError, UsageError
from truemoment.searching.codes import make_codes
from truemoment.searching.index import Index
from truemoment.searching.outstanding import Background, backgrounds
from truemoment.searching.searcher import IndexSearcher, RankingOptions
from truemoment.searching.serving import MOST_CONNECTIONS, ShardServer, refuse_public, serving
from truemoment.searching.sharding import IndexShard, refuse_gaps
from truemoment.searching.shards import ShardAddress, SharedIndex
from truemoment.searching.stopping import calibrate, write_calibration

pytest.importorskip("faiss", exc_type=ImportError)
RANKING = RankingOptions(5, 2.0)
EXACT = RankingOptions(5, 2.0, exact=True)
PLAIN = [Background(0.0, 1.0)]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """An index of 30 videos with codes and a calibration."""
    from truemoment.searching.layout import Settings, default_proposals

    def settings(**others):
        made = {"model": "drawn", "encoder": "drawn", "fingerprint": "0123456789abcdef", "fps": 2.0}
        return Settings(**made, proposals=default_proposals(2.0), **others)

    path = tmp_path_factory.mktemp("shared") / "index"
    index = write_drawn(path, settings, 30)
    make_codes(index)
    write_calibration(path, calibrate(index, sentences_near(index, 40, seed=5), sentences="drawn"))
    return Index(path)


@contextlib.contextmanager
def machines(index, count, numbers=None):
    """Serve shards; yield their addresses."""
    with contextlib.ExitStack() as opened:
        addresses = []
        for number in numbers or range(1, count + 1):
            server = ShardServer(index, IndexShard(number, count))
            addresses.append(ShardAddress("127.0.0.1", opened.enter_context(served_on(server, "127.0.0.1"))))
        yield addresses


@contextlib.contextmanager
def served_on(server, host, port=0):
    """Serve a shard; yield its port."""
    with serving(server, host, port) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield listening.server_port
        finally:
            listening.shutdown()
            thread.join()


def test_every_video_belongs_to_one_shard(shared):
    parts = [IndexShard(number, 3).videos_of(shared) for number in (1, 2, 3)]
    assert sorted(itertools.chain.from_iterable(parts)) == sorted(shared)
    assert all(parts)


def test_three_shards_are_one_index_to_the_bit(shared):
    vectors = sentences_near(shared, 20, seed=8)
    one_exact = IndexSearcher(shared, EXACT).find(vectors)
    one = IndexSearcher(shared, RANKING).find(vectors)
    with machines(shared, 3) as addresses:
        several = SharedIndex(addresses, shared.settings, 30.0)
        for alone, answer in zip(one_exact, several.find(vectors, backgrounds(shared, vectors), EXACT), strict=True):
            assert answer.found == alone
            assert answer.silent == ()
        by_rule = several.find(vectors, backgrounds(shared, vectors), RANKING)
    ended = [alone.ended_by for alone in one]
    assert ended.count("rule") > 10
    for exact, alone, answer in zip(one_exact, one, by_rule, strict=True):
        best = [of.score for of in answer.found.moments]
        assert best >= [of.score for of in alone.moments]  # never worse
        assert answer.found.n_videos >= alone.n_videos
        if alone.ended_by == "rule" and alone.moments == exact.moments:
            assert answer.found.moments == alone.moments


def test_a_shard_that_does_not_answer_is_named(shared):
    vectors = sentences_near(shared, 2)
    with machines(shared, 3, (1, 3)) as addresses:
        with machines(shared, 3, (2,)) as (killed,):
            pass
        several = SharedIndex([addresses[0], killed, addresses[1]], shared.settings, 5.0)
        found = several.find(vectors, backgrounds(shared, vectors), EXACT)
    missing = set(IndexShard(2, 3).videos_of(shared))
    expected = IndexSearcher(shared, EXACT, set(shared) - missing).find(vectors)
    for alone, answer in zip(expected, found, strict=True):
        assert answer.silent == (str(killed),)
        assert answer.found.moments == alone.moments
    with pytest.raises(InputError, match=f"no shard answers: {killed}"):
        SharedIndex([killed], shared.settings, 5.0).find(vectors, backgrounds(shared, vectors), EXACT)


def test_a_machine_that_hangs_is_named(shared):
    class Hangs(BaseHTTPRequestHandler):
        def do_GET(self):
            hung.wait(20)

    hung = threading.Event()
    with machines(shared, 2, (1,)) as (address,), HTTPServer(("127.0.0.1", 0), Hangs) as listening:
        thread = threading.Thread(target=listening.handle_request, daemon=True)
        thread.start()
        slow = ShardAddress("127.0.0.1", listening.server_port)
        found = SharedIndex([address, slow], shared.settings, 0.5).find(sentences_near(shared, 1), PLAIN, EXACT)
        hung.set()
        thread.join()
    assert found[0].silent == (str(slow),)


@pytest.mark.parametrize(
    ("shards", "n_silent", "told"),
    [
        ("1/3 3/3", 0, "2/3 missing"),
        ("1/3 1/3 2/3", 0, "shard 1/3 answers twice"),
        ("1/3 2/2", 0, "shares of one number"),
        ("1/2 2/2", 1, "1 more than there are"),
    ],
)
def test_overlaps_and_gaps_are_refused(shards, n_silent, told):
    with pytest.raises(UsageError, match=told):
        refuse_gaps([IndexShard.read(text) for text in shards.split()], n_silent)
    refuse_gaps([IndexShard(1, 3), IndexShard(3, 3)], 1)


@pytest.mark.parametrize("text", ["", "3", "0/3", "4/3", "1/0", "a/b", "1/99999", "1/2/3", "-1/2"])
def test_what_is_no_shard(text):
    with pytest.raises(UsageError, match="expected K/N"):
        IndexShard.read(text)


@pytest.mark.parametrize("text", ["", "host", "host:", ":1", "host:0", "host:99999", "a:1,a:1", "a:1,,b:2"])
def test_what_is_no_address(text):
    with pytest.raises(UsageError, match="--shards"):
        ShardAddress.read_all(text)


@pytest.mark.parametrize(
    "host",
    [
        "0.0.0.0",  # noqa: S104 - it is refused
        "8.8.8.8",
        "::",
        "example.org",
        "2001:4860:4860::8888",
        "::ffff:8.8.8.8",
    ],
)
def test_public_addresses_are_refused(host):
    with pytest.raises(UsageError, match="--host"):
        refuse_public(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "10.0.0.3", "192.168.1.2", "::1"])
def test_private_addresses(host):
    refuse_public(host)


def test_a_shard_of_another_index_is_refused(shared):
    for field, value in (("fingerprint", "f" * 16), ("fps", 5.0), ("n_dimensions", 12)):
        other = msgspec.structs.replace(shared.settings, **{field: value})
        with machines(shared, 1) as addresses, pytest.raises(InputError, match=f"{field}.*expected"):
            SharedIndex(addresses, other, 5.0).find(sentences_near(shared, 1), PLAIN, EXACT)


def test_vectors_of_another_size_are_refused(shared):
    with machines(shared, 1) as addresses, pytest.raises(InputError, match="expected vectors of 24 numbers"):
        SharedIndex(addresses, shared.settings, 5.0).find(np.ones((1, 23), np.float32), PLAIN, EXACT)


def ask(address, method, path, body=None, **headers):
    connection = http.client.HTTPConnection(address.host, address.port, timeout=10)
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


REQUEST = {
    "vectors": [[0.5] * 24],
    "backgrounds": [{"median": 0.1, "spread": 0.1}],
    "top": 2,
    "apart_s": 2.0,
}


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"{}", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b'{"\xff": 1}', {}, 400),
        (json.dumps(REQUEST).replace("0.5", "NaN"), {}, 400),
        (json.dumps(REQUEST).replace("0.5", "1e39"), {}, 400),  # no float32
        (b"\x80\x04.", {}, 400),  # a pickle
        (json.dumps(REQUEST | {"top": 0}), {}, 400),
        (json.dumps(REQUEST | {"top": 10**9}), {}, 400),
        (json.dumps(REQUEST | {"vectors": [[0.5] * 24] * 65}), {}, 400),
        (json.dumps(REQUEST | {"vectors": [[0.5] * 23, [0.5] * 24]}), {}, 400),
        (json.dumps(REQUEST | {"backgrounds": []}), {}, 400),
        (json.dumps(REQUEST | {"backgrounds": [{"median": 0.1, "spread": 0.1}] * 2}), {}, 400),
        (json.dumps(REQUEST | {"backgrounds": [{"median": "x", "spread": 0.1}]}), {}, 400),
        (json.dumps(REQUEST | {"backgrounds": [{"median": 1e308, "spread": 0.1}]}), {}, 400),
        (json.dumps(REQUEST | {"apart_s": -1}), {}, 400),
        (json.dumps(REQUEST | {"more": 1}), {}, 400),
        (json.dumps(REQUEST), {"Origin": "http://127.0.0.1"}, 403),
        (json.dumps(REQUEST), {"Content-Type": "text/plain"}, 403),
        (json.dumps(REQUEST), {"Host": "rebound.example:8765"}, 403),
        (json.dumps(REQUEST), {"Host": "[::1]:8765"}, 200),
        (json.dumps(REQUEST), {"Content-Length": str(1 << 40)}, 413),
        (json.dumps(REQUEST), {"Content-Length": "x"}, 413),
        (json.dumps(REQUEST), {}, 200),
    ],
)
def test_requests_are_bounded(shared, body, headers, status):
    with machines(shared, 1) as (address,):
        found = ask(address, "POST", "/search", body, **({"Content-Type": "application/json"} | headers))
        assert found[0] == status
        assert ("error" in found[1]) == (status != 200)
        assert ask(address, "GET", "/about")[0] == 200  # it still answers
        assert ask(address, "GET", "/other")[0] == 404


def test_a_page_whose_name_points_here_learns_nothing(shared):
    with machines(shared, 1) as (address,):
        assert ask(address, "GET", "/about", Host="rebound.example")[0] == 403


def test_a_shard_is_asked_by_a_name_and_on_ipv6(shared):
    vectors = sentences_near(shared, 1)
    with machines(shared, 1) as (address,):
        asked = SharedIndex([ShardAddress("localhost", address.port)], shared.settings, 5.0)
        named = asked.find(vectors, backgrounds(shared, vectors), EXACT)
        assert named[0].silent == ()
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with served_on(ShardServer(shared, IndexShard(1, 1)), "::1") as port:
        asked = SharedIndex(ShardAddress.read_all(f"[::1]:{port}"), shared.settings, 5.0)
        assert asked.find(vectors, backgrounds(shared, vectors), EXACT) == named


def test_what_clients_break_off_is_no_traceback(shared, capsys):
    body = json.dumps(REQUEST).encode()
    head = b"POST /search HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
    with machines(shared, 1) as (address,):
        for sent in (head + body[:5], head + body, b"\x16\x03\x01\r\n\r\n", b""):
            with socket.create_connection((address.host, address.port)) as connection:
                connection.sendall(sent)
        assert ask(address, "GET", "/about")[0] == 200
    assert capsys.readouterr().err == ""


def test_silent_connections_are_bounded(shared):
    with machines(shared, 1) as (address,):
        where = address.host, address.port
        with contextlib.ExitStack() as opened:
            for _ in range(MOST_CONNECTIONS):  # one that does not fit into the queue is tried again after a second
                opened.enter_context(socket.create_connection(where, timeout=0.9))
            with socket.create_connection(where, timeout=5) as one_more:
                assert one_more.recv(1) == b""  # closed
        assert eventually(lambda: ask(address, "GET", "/about")[0] == 200)


def eventually(holds):
    """Whether something holds within 5 s; connections that are refused are tried again."""
    ends_at = time.monotonic() + 5
    while time.monotonic() < ends_at:
        with contextlib.suppress(OSError, http.client.HTTPException):
            if holds():
                return time.monotonic() < ends_at
        time.sleep(0.1)
    return False


def test_an_index_that_changes_while_it_is_served_is_told(tmp_path, settings):
    index = write_drawn(tmp_path / "index", settings, 4)
    vectors = sentences_near(index, 1)
    around = backgrounds(index, vectors)
    body, headers = json.dumps(REQUEST | {"exact": True}), {"Content-Type": "application/json"}
    with machines(index, 1) as (address,):
        assert ask(address, "POST", "/search", body, **headers)[0] == 200
        rows = next((tmp_path / "index" / "videos").glob("*/features.npy"))
        rows.with_suffix(".new").write_bytes(b"")
        rows.with_suffix(".new").replace(rows)
        status, answer = ask(address, "POST", "/search", body, **headers)
        assert (status, "features.npy: is not a table of numbers" in answer["error"]) == (500, True)
        with pytest.raises(InputError, match=f"shard {address}: answers 500: .*features.npy"):
            SharedIndex([address], index.settings, 5.0).find(vectors, around, EXACT)


def test_a_port_in_use(shared):
    with (
        machines(shared, 1) as (address,),
        pytest.raises(UsageError, match=f"cannot listen on 127.0.0.1:{address.port}"),
    ):
        served_on(ShardServer(shared, IndexShard(1, 1)), "127.0.0.1", address.port).__enter__()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"answers": "x"}',
        b'{"answers": [{"moments": [["v", 0, 1, "x"]], "n_videos": 1, "ended_by": "all"}]}',
        b'{"answers": [{"moments": [], "n_videos": 1, "ended_by": "luck"}]}',
        b'{"answers": []}',
    ],
)
def test_hostile_answers_are_refused(shared, content, monkeypatch):
    with machines(shared, 1) as addresses:
        get = ShardAddress.get

        def answers(self, path, body, wait_s):
            return content if path == "/search" else get(self, path, body, wait_s)

        monkeypatch.setattr(ShardAddress, "get", answers)
        with pytest.raises(InputError, match="answers something else") as error:
            SharedIndex(addresses, shared.settings, 5.0).find(sentences_near(shared, 1), PLAIN, EXACT)
        assert "\n" not in str(error.value)
