"""A connection: where a request goes, and that it ends in time however the host behaves."""

import os
import shutil
import socket
import ssl
import subprocess
import threading
import time

import pytest

from truemoment.base.errors import UsageError
from truemoment.learning.served import Endpoint, EndpointError

from .stub import FAST_S, said
from .wire import talking

pytestmark = pytest.mark.slow


KEY = "sk-secret-0123456789"
MESSAGES = [{"role": "user", "content": "when?"}]
TIMEOUT_S = 0.3


def ask(url, *, messages=MESSAGES, retries=0, **options):
    endpoint = Endpoint(url, "m", KEY, retries=retries, first_wait_s=FAST_S, **{"timeout_s": 5.0, **options})
    with endpoint.connect() as connection:
        return endpoint.ask(connection, messages)


# ---- The deadline


def silent(wire, _):
    wire.gone.wait()


def reads_nothing(wire, sock):
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    wire.gone.wait()


def reads_slowly(wire, sock):
    while sock.recv(4096):
        wire.gone.wait(0.05)


def drips(data):
    def talk(wire, sock):
        wire.read_request(sock)
        wire.drip(sock, data)

    return talk


def floods(data):
    def talk(wire, sock):
        wire.read_request(sock)
        while not wire.gone.is_set():
            sock.sendall(data)

    return talk


def begins_with(data, then):
    def talk(wire, sock):
        wire.read_request(sock)
        sock.sendall(data)
        then(wire, sock)

    return talk


OK = b"HTTP/1.1 200 OK\r\n"
SLOW = {
    "nothing": silent,
    "a status line byte by byte": drips(b"HTTP/1.1 200 " + b"O" * 60_000),
    "headers byte by byte": begins_with(OK, lambda wire, sock: wire.drip(sock, b"X-A: 1\r\n")),
    "100 Continue without end": drips(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "a flood of 100 Continue": floods(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "100 Continue and headers without end": floods(b"HTTP/1.1 100 Continue\r\n" + b"X: y\r\n" * 90 + b"\r\n"),
    "a body byte by byte": begins_with(
        OK + b"Content-Length: 100000\r\n\r\n", lambda wire, sock: wire.drip(sock, b" ")
    ),
    "chunks byte by byte": begins_with(
        OK + b"Transfer-Encoding: chunked\r\n\r\n", lambda wire, sock: wire.drip(sock, b"1\r\nx\r\n")
    ),
    "a trailer without end": begins_with(
        OK + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", lambda wire, sock: wire.drip(sock, b"X-A: 1\r\n")
    ),
}


@pytest.mark.parametrize("name", SLOW)
def test_the_timeout_is_the_whole_time_of_a_request(name):
    with talking(SLOW[name]) as wire:
        began = time.monotonic()
        with pytest.raises(EndpointError, match=r"gave no answer within 0\.3 s"):
            ask(wire.url, timeout_s=TIMEOUT_S)
        assert TIMEOUT_S <= time.monotonic() - began < TIMEOUT_S + 1  # the time asked for, and some for the machine


@pytest.mark.parametrize("talk", [reads_nothing, reads_slowly])
def test_the_timeout_holds_while_a_request_is_sent(talk):
    large = [{"role": "user", "content": "x" * (32 << 20)}]
    with talking(talk) as wire:
        began = time.monotonic()
        with pytest.raises(EndpointError, match=r"gave no answer within 0\.3 s"):
            ask(wire.url, messages=large, timeout_s=TIMEOUT_S)
        assert time.monotonic() - began < TIMEOUT_S + 2  # 32 MiB have to be encoded too


def test_the_timeout_holds_while_the_host_is_looked_up(monkeypatch):
    looked = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: looked.wait(10) or [])
    began = time.monotonic()
    with pytest.raises(EndpointError, match=r"gave no answer within 0\.3 s"):
        ask("http://far.example/v1", timeout_s=TIMEOUT_S)
    assert time.monotonic() - began < TIMEOUT_S + 1
    looked.set()


def test_the_timeout_holds_for_the_handshake_of_tls():
    with talking(silent) as wire:
        began = time.monotonic()
        with pytest.raises(EndpointError, match=r"gave no answer within 0\.3 s"):
            ask(wire.url.replace("http", "https"), timeout_s=TIMEOUT_S)
        assert time.monotonic() - began < TIMEOUT_S + 1


def test_a_kept_connection_that_the_host_has_closed_is_opened_again():
    """The host closes it between two requests, without having said so."""

    def talk(wire, sock):
        wire.read_request(sock)
        wire.received = b""
        body = said("2 - 3").body
        sock.sendall(OK + b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    with talking(talk) as wire:
        endpoint = Endpoint(wire.url, "m", retries=0)
        with endpoint.connect() as connection:
            for _ in range(3):
                assert endpoint.ask(connection, MESSAGES).text == "2 - 3"
                time.sleep(0.05)  # the end of the connection arrives


def test_an_answer_that_comes_before_the_whole_request_is_read():
    """A web server before a model refuses a request that is too large, and reads no more of it."""

    def refuses(_, sock):
        sock.recv(1 << 16)
        sock.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
        sock.shutdown(socket.SHUT_RDWR)

    large = [{"role": "user", "content": "x" * (8 << 20)}]
    with talking(refuses) as wire, pytest.raises(EndpointError, match="answers 413"):
        ask(wire.url, messages=large)


# ---- The proxy of the environment


def refuses(wire, sock):
    """Note what comes, and close."""
    wire.receive(sock)


@pytest.fixture
def proxy(monkeypatch):
    """A proxy that the environment names for everything, and notes what it gets."""
    with talking(refuses) as wire:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{wire.port}")
            monkeypatch.setenv(name.upper(), f"http://127.0.0.1:{wire.port}")
        yield wire


@pytest.fixture
def far(monkeypatch):
    """Let names of other machines lead to a port of this one: far(port)."""
    found = socket.getaddrinfo

    def lead(port):
        monkeypatch.setattr(socket, "getaddrinfo", lambda _host, _port, **options: found("127.0.0.1", port, **options))

    return lead


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_an_endpoint_of_this_machine_is_not_asked_through_a_proxy(serve, proxy, host):
    server = serve(lambda *_: said("2 - 3"))
    assert ask(server.url.replace("127.0.0.1", host)).text == "2 - 3"
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert proxy.received == b""


def test_no_proxy_reads_the_key_of_a_request_that_is_not_encrypted(serve, proxy, far):
    server = serve(lambda *_: said("2 - 3"))
    far(server.server.server_port)
    assert ask("http://far.example/v1").text == "2 - 3"
    assert server.headers[0]["Host"] == "far.example"
    assert proxy.received == b""


def connects(wire, sock):
    """Take a CONNECT, and note what is sent then."""
    wire.read_request(sock)
    sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    wire.receive(sock)


def test_a_proxy_passes_on_what_it_cannot_read(monkeypatch):
    with talking(connects) as wire:
        monkeypatch.setenv("HTTPS_PROXY", f"http://me:pass%40word@127.0.0.1:{wire.port}")
        monkeypatch.delenv("https_proxy", raising=False)
        with pytest.raises(EndpointError):
            ask("https://far.example/v1")
        assert wire.received.startswith(b"CONNECT far.example:443 HTTP/1.1\r\nHost: far.example:443\r\n")
        assert b"Proxy-Authorization: Basic bWU6cGFzc0B3b3Jk\r\n" in wire.received  # base64 of me:pass@word
        assert wire.received.partition(b"\r\n\r\n")[2][:2] == b"\x16\x03"  # a TLS handshake (RFC 8446, 5.1)
        assert KEY.encode() not in wire.received


def test_a_proxy_that_refuses_gets_no_key(monkeypatch):
    def refuse(wire, sock):
        wire.read_request(sock)
        sock.sendall(f"HTTP/1.1 407 {KEY}\r\n\r\n".encode())

    with talking(refuse) as wire:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{wire.port}")
        with pytest.raises(EndpointError) as found:
            ask("https://far.example/v1")
        assert str(found.value) == "cannot be reached (the proxy of the environment answers 407)"
        assert KEY.encode() not in wire.received


def test_a_proxy_that_is_exempted_is_not_used(monkeypatch, proxy):
    monkeypatch.setenv("no_proxy", "far.example")
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [])
    with pytest.raises(EndpointError, match="its name has no address"):
        ask("https://far.example/v1")
    assert proxy.received == b""


def test_a_proxy_of_another_kind_is_told(monkeypatch):
    monkeypatch.setenv("https_proxy", "socks5://me:secret@127.0.0.1:1")
    with pytest.raises(UsageError) as found:
        ask("https://far.example/v1")
    assert "of the kind socks5, expected http" in str(found.value)
    assert "secret" not in str(found.value)


# ---- TLS


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A certificate of far.example, with its key in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    folder = tmp_path_factory.mktemp("tls")
    made = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=far.example -keyout key -out"
    names = ["-addext", "subjectAltName=DNS:far.example"]
    subprocess.run(["openssl", *made.split(), "cert", *names], cwd=folder, check=True, capture_output=True)
    both = folder / "both.pem"
    both.write_bytes((folder / "cert").read_bytes() + (folder / "key").read_bytes())
    return both


@pytest.fixture
def secure(certificate):
    """A host that speaks TLS and answers, or drips: secure(drip=False) -> Wire."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)

    def serving(*, drip=False, proxied=False):
        def talk(wire, sock):
            if proxied:
                wire.read_request(sock)
                wire.received = b""
                sock.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            with context.wrap_socket(sock, server_side=True) as safe:
                wire.read_request(safe)
                body = said("2 - 3").body
                head = OK + b"Content-Length: %d\r\n\r\n" % len(body)
                if drip:
                    wire.drip(safe, head[:-2] + b"X: y\r\n" * 1000)
                safe.sendall(head + body)
                safe.unwrap()

        return talking(talk)

    return serving


def test_tls(secure, certificate, far, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", os.fspath(certificate))
    with secure() as wire:
        far(wire.port)
        assert ask("https://far.example/v1").text == "2 - 3"
        assert f"Authorization: Bearer {KEY}".encode() in wire.received


def test_tls_through_a_proxy(secure, certificate, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", os.fspath(certificate))
    with secure(proxied=True) as wire:
        monkeypatch.setenv("https_proxy", f"http://127.0.0.1:{wire.port}")
        assert ask("https://far.example/v1").text == "2 - 3"
        assert b"Host: far.example\r\n" in wire.received


@pytest.mark.parametrize("host", ["far.example", "other.example"])
def test_a_host_that_cannot_show_who_it_is_gets_no_key(secure, certificate, far, monkeypatch, host):
    """Its certificate is of nobody that is trusted, or of another host."""
    if host == "other.example":
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", os.fspath(certificate))
    with secure() as wire:
        far(wire.port)
        with pytest.raises(EndpointError, match="certificate verify failed"):
            ask(f"https://{host}/v1")
        assert wire.received == b""


def test_the_timeout_is_the_whole_time_with_tls_too(secure, certificate, far, monkeypatch):
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", os.fspath(certificate))
    with secure(drip=True) as wire:
        far(wire.port)
        began = time.monotonic()
        with pytest.raises(EndpointError, match=r"gave no answer within 0\.6 s"):
            ask("https://far.example/v1", timeout_s=0.6)
        assert time.monotonic() - began < 1.6
