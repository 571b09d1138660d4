"""Hostile HTTP requests, as bytes: wrong methods, paths, headers and bodies, and bytes that are no request at all."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from urllib.parse import quote

import numpy as np
from tests.hostile.mutators import JSON, NUMBERS, PAYLOADS

METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get", "G\tT", "")
PARTS = (
    "0",
    "1",
    "-1",
    "99999999999999999999",
    "../../study.json",
    "..%2f..%2fsettings.json",
    "%2e%2e/%2e%2e/etc/passwd",
    "a%00b",
    "%ff%fe",
    "%",
    "%zz",
    "x" * 9000,
    ".",
    "..",
    "~",
    "é",
    "CON",
    "*",
    "{video}",
    "1.0",
    "1e3",
    "%0d%0aSet-Cookie:a=b",
)
HEADERS = (
    "Host: evil.example",
    "Host: 127.0.0.1.evil.example",
    "Host:",
    "Host: [::1",
    "Origin: http://evil.example",
    "Origin: null",
    "Cookie: a=" + "b" * 5000,
    "Cookie: ;;=;\x01",
    "Content-Length: -1",
    "Content-Length: 1e3",
    "Content-Length: 99999999999",
    "Content-Length: 5\r\nContent-Length: 6",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: chunked\r\nContent-Length: 3",
    "Transfer-Encoding: xchunked",
    "Range: bytes=0-0",
    "Range: bytes=-1",
    "Range: bytes=5-2",
    "Range: bytes=0-,0-,0-,0-,0-",
    "Range: bytes=" + ",".join(f"{n}-{n}" for n in range(300)),
    "Range: lines=1-2",
    "Range: bytes=99999999999999999999-",
    'If-None-Match: "' + "x" * 3000 + '"',
    "If-Modified-Since: yesterday",
    "Expect: 100-continue",
    "Upgrade: websocket",
    "Connection: close, \x00",
    "X-Forwarded-Host: evil.example",
    "X-Forwarded-For: 127.0.0.1",
    "Accept: ",
    "Sec-Fetch-Site: cross-site",
    "Content-Type: text/plain",
    "Content-Type: application/json; charset=utf-16",
    "X: " + "y" * 70_000,
    "Bad header",
    " folded",
    "Forwarded: host=evil.example",
)


@dataclass(frozen=True)
class Route:
    """A route of a page: its path with parts in braces, and a whole body."""

    method: str
    path: str
    body: object = None


def draw_request(route: Route, host: str, cookie: str, rng: np.random.Generator) -> bytes:
    """Return the bytes of a request that is wrong in one to three ways."""
    method, path, body = route.method, route.path, b"" if route.body is None else json.dumps(route.body).encode()
    headers = [
        f"Host: {host}",
        f"Origin: http://{host}",
        f"Cookie: {cookie}",
        "Connection: close",
        "Content-Type: application/json",
    ]
    path = re.sub(r"\{\w+\}", lambda _: "1" if rng.random() < 0.4 else PARTS[int(rng.integers(len(PARTS)))], path)
    for _ in range(int(rng.integers(1, 4))):
        match int(rng.integers(9)):
            case 0:
                method = METHODS[int(rng.integers(len(METHODS)))]
            case 1:
                path += ("/", "//", "/..", "?", "#", "%00", ";a=b", "?" + "a=1&" * 2000)[int(rng.integers(8))]
            case 2 | 3:
                names = ("q", "n", "from", "to", "order", "filter", "top", "v", "start", "end", "page", "film")
                value = (*PAYLOADS, *NUMBERS)[int(rng.integers(len(PAYLOADS) + len(NUMBERS)))]
                name = names[int(rng.integers(len(names)))]
                path += f"{'&' if '?' in path else '?'}{name}={quote(value.encode('utf-8', 'surrogatepass'))}"
            case 4 | 5:
                header = HEADERS[int(rng.integers(len(HEADERS)))]
                name = header.partition(":")[0]
                if rng.random() < 0.5:
                    headers = [of for of in headers if not of.startswith(f"{name}:")]
                headers.append(header)
            case 6:
                body = JSON[int(rng.integers(len(JSON)))](body or b'{"a": 1}', rng)[:200_000]
            case 7:
                body = (b"", b"null", b"[" * 100_000, b"\xff" * 50, b"x" * 2_000_000, b"5\r\nhello\r\n0\r\n\r\n")[
                    int(rng.integers(6))
                ]
            case _:
                headers = [
                    of for of in headers if not of.startswith(("Cookie", "Origin", "Host")[int(rng.integers(3))])
                ]
    if body and not any(of.lower().startswith(("content-length", "transfer-encoding")) for of in headers):
        headers.append(f"Content-Length: {len(body)}")
    head = "\r\n".join([f"{method} {path} HTTP/1.1", *headers, "", ""])
    data = head.encode("utf-8", "surrogatepass") + body
    match int(rng.integers(20)):
        case 0:
            return data[: int(rng.integers(1, len(data)))]
        case 1:
            return rng.bytes(300)
        case 2:
            return data + data
        case 3:
            return data.replace(b"HTTP/1.1", (b"HTTP/9.9", b"HTTP/0.9", b"", b"\x16\x03\x01")[int(rng.integers(4))])
        case 4:
            return data.replace(b"\r\n", b"\n")
    return data
