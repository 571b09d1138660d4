"""Sign-in by a token: a link carries it behind ``#``, the page sends it once, and a cookie keeps it.

The part after ``#`` is not sent with requests, so no log or referrer contains it. Servers store the SHA-256 only.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from truemoment.web.pages.errors import PageError

TOKEN_BYTES = 16
"""128 random bits."""

MOST_WRONG, WITHIN_S = 10, 60.0
"""Wrong tokens that are looked up within a time; further tries wait."""

COOKIE_DAYS = 400
"""Longest time that browsers keep a cookie; longer than a study takes."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,64}")


@dataclass(frozen=True)
class Visitor:
    """A visitor who is signed in.

    Parameters
    ----------
    role
        ``owner``, or another role that routes name.
    number
        Number of the person in the page's own data.
    name
        Name that the page shows, e.g. ``w07``.
    """

    role: str
    number: int = 0
    name: str = ""


FindVisitor = Callable[[bytes], Visitor | None]
"""Returns who has the token with a SHA-256; None if it is not valid."""


def new_token() -> str:
    """Return a random token of 128 bits, in 22 letters."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def sha256_of_token(token: str) -> bytes:
    """Return the SHA-256 of a token, which is what is stored."""
    return hashlib.sha256(token.encode()).digest()


def cookie_name(name: str) -> str:
    """Return the name of a page's cookie; cookies are shared by all ports of a host, so it contains the page's name.

    Examples
    --------
    >>> cookie_name("Charades, anew!")[:17]
    'tm_Charades-anew-'
    """
    plain = re.sub("[^A-Za-z0-9]+", "-", name)[:32]
    return f"tm_{plain}_{hashlib.sha256(name.encode()).hexdigest()[:8]}"


class Tries:
    """Counts wrong tokens, and refuses further ones after many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: deque[float] = deque()
        self._lock = threading.Lock()

    def check(self) -> None:
        """Refuse a try if there were too many wrong ones lately."""
        with self._lock:
            while self._wrong and self._wrong[0] < self._clock() - WITHIN_S:
                self._wrong.popleft()
            if len(self._wrong) >= MOST_WRONG:
                raise PageError(429, "too many wrong links; wait a minute and try again")

    def add_wrong(self) -> None:
        """Record a wrong token."""
        with self._lock:
            self._wrong.append(self._clock())


def visitor_of(request: Request, cookie: str, find: FindVisitor) -> Visitor | None:
    """Return the visitor who sends a request; None without a session."""
    token = request.cookies.get(cookie, "")
    return find(sha256_of_token(token)) if _TOKEN.fullmatch(token) else None


def sign_in(token: str, cookie: str, find: FindVisitor, tries: Tries, *, tls: bool) -> Response:
    """Return the answer that signs a visitor in, a cookie and the way to ``/``; refuse a wrong token."""
    tries.check()
    if not _TOKEN.fullmatch(token) or find(sha256_of_token(token)) is None:
        tries.add_wrong()
        raise PageError(401, "this link is not valid (any more); ask the owner of the page for a new one", "token")
    response = Response(status_code=303, headers={"Location": "/"})
    response.set_cookie(
        cookie, token, max_age=COOKIE_DAYS * 86400, path="/", secure=tls, httponly=True, samesite="strict"
    )
    return response
