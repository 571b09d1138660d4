"""The application of a page: routes whose handlers are functions of a visit, behind the guard.

::

    site = Site("A study", cookie_name("study"), Address(), find_visitor, PageTemplates(folder))
    app = make_app(site, [page_route("/", "task.html.j2", roles=("person",)),
                          route("GET", "/api/me", me, roles=("person",)),
                          route("PUT", "/api/tasks/{task:number}/answer", save, roles=("person",), body=Save)])
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.convertors import Convertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route

from truemoment.base.boundary.files import read_number
from truemoment.base.errors import TrueMomentError
from truemoment.base.records import MAX_TIME_S
from truemoment.web.pages.errors import PageError, error_response, on_known_error, on_page_error, on_unexpected_error
from truemoment.web.pages.security import MOST_BODY_BYTES, Address, Application, Guard, Receive, Scope, Send
from truemoment.web.pages.sessions import FindVisitor, Tries, Visitor, sign_in, visitor_of
from truemoment.web.pages.static_files import StaticFiles
from truemoment.web.pages.templates import PageTemplates

MOST_NUMBER = (1 << 53) - 1
"""Largest number that is exact in a browser and in SQLite."""


class PathNumber(Convertor[int]):
    """A number in a path, as ``{task:number}``; with more than 100 digits, which Python may not read, it is no path."""

    regex = "[0-9]{1,100}"

    def convert(self, value: str) -> int:
        """Return the number."""
        return int(value)

    def to_string(self, value: int) -> str:
        """Return its digits."""
        return str(value)


register_url_convertor("number", PathNumber())


@dataclass(frozen=True)
class Home:
    """The folder that pages are opened from: their header leads back to it, and has its search box.

    Parameters
    ----------
    title
        Name of the folder.
    cookie, find_visitor
        Its cookie, and who has a token: whoever is signed in there is signed in on its pages.
    root
        Beginning of the addresses of a page below it; "" for the page of the folder.
    back
        Returns the address and the title of what a page belongs to; None for nothing.
    """

    title: str
    cookie: str
    find_visitor: FindVisitor
    root: str = ""
    back: Callable[[], tuple[str, str] | None] = lambda: None


@dataclass(frozen=True)
class Site:
    """A page.

    Parameters
    ----------
    title
        Title that browsers show.
    cookie
        Name of its cookie (:func:`~truemoment.web.pages.sessions.cookie_name`).
    address
        Names under which it is reached.
    find_visitor
        Returns who has a token, by its SHA-256.
    templates
        Templates of its pages.
    static
        Files of its pages: scripts and style sheets.
    most_body_bytes
        Size of the largest body that a request may have.
    home
        The folder that it is opened from; None for a page of its own.
    """

    title: str
    cookie: str
    address: Address
    find_visitor: FindVisitor
    templates: PageTemplates = field(default_factory=PageTemplates)
    static: StaticFiles = field(default_factory=StaticFiles)
    tries: Tries = field(default_factory=Tries)
    most_body_bytes: int = MOST_BODY_BYTES
    home: Home | None = None

    @property
    def root(self) -> str:
        """Beginning of its addresses."""
        return "" if self.home is None else self.home.root


@dataclass(frozen=True)
class Visit:
    """One request of a visitor with access.

    Parameters
    ----------
    request
        The request; its body is read already.
    visitor
        Who makes it.
    body
        The checked body, an instance of the route's `body`; None where the route has none.
    site
        The page.
    """

    request: Request
    visitor: Visitor
    body: Any
    site: Site

    def number(self, name: str) -> int:
        """Return a number of the path; one too large is not found."""
        value = int(self.request.path_params[name])
        if value > MOST_NUMBER:
            raise PageError(404, "there is no such thing")
        return value

    def query_number(self, name: str, default: int, *, least: int = 0, highest: int = MOST_NUMBER) -> int:
        """Return a whole number of the query string."""
        text = self.request.query_params.get(name)
        if text is None:
            return default
        if not text.isascii() or not text.isdecimal() or len(text) > 16 or not least <= int(text) <= highest:
            raise PageError(400, f"got {text[:40]!r}, expected a whole number from {least} to {highest}", name)
        return int(text)

    def query_seconds(self, name: str, default: float | None = None) -> float:
        """Return a time in seconds of the query string; `default` None means that it must be there."""
        text = self.request.query_params.get(name)
        if text is None and default is not None:
            return default
        value = read_number(text)
        if not 0 <= value <= MAX_TIME_S:
            raise PageError(400, f"got {(text or '')[:40]!r}, expected seconds, 0 or more", name)
        return value

    def query_text(self, name: str, max_length: int = 200) -> str:
        """Return a text of the query string, without blanks around it; "" if it is not there."""
        text = self.request.query_params.get(name, "").strip()
        if len(text) > max_length:
            raise PageError(400, f"got {len(text):,} characters, expected at most {max_length:,}", name)
        return text

    def require_same_site(self) -> None:
        """Refuse a read that costs work and comes from another page."""
        if self.request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            raise PageError(403, "expected a request of the page itself")


Handler = Callable[[Visit], object]
"""Answers a visit: with a response, with None (204), or with a value that becomes JSON."""


RouteOf = Callable[[Site], BaseRoute]
"""A route that is bound to a site by :func:`make_app`."""


class Signing(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /in``."""

    token: str


def route(method: str, path: str, handler: Handler, *, roles: Sequence[str], body: type | None = None) -> RouteOf:
    """Return a route, to be bound to a site by :func:`make_app`.

    Parameters
    ----------
    method
        ``GET`` (which includes HEAD), ``POST``, ``PUT`` or ``DELETE``.
    handler
        Runs in a thread.
    roles
        Who may use it. Without a valid token, the answer is 401 (pages: the way to ``/in``), with another role 403.
    body
        Type of the JSON body, a msgspec struct; None for none.
    """

    def bind(site: Site) -> Route:
        async def endpoint(request: Request) -> Response:
            visitor = await run_in_threadpool(visitor_of, request, site.cookie, site.find_visitor)
            if visitor is None:
                raise PageError(401, "you are not signed in; please open your link again")
            if visitor.role not in roles:
                raise PageError(403, "your link does not allow this")
            value = None if body is None else decoded(await body_of(request, site.most_body_bytes), body)
            return as_response(await run_in_threadpool(handler, Visit(request, visitor, value, site)))

        return Route(path, endpoint, methods=[method])

    return bind


def page_route(
    path: str,
    template: str | Callable[[Visit], str | Response],
    *,
    roles: Sequence[str],
    values: Callable[[Visit], Mapping[str, object]] | None = None,
) -> RouteOf:
    """Return the route of an HTML page; whoever is not signed in is sent to ``/in``.

    `values` returns the values of the template; ``site`` and ``visitor`` are always there. `template` may depend on the
    visit, or be the way to another page.
    """

    def bind(site: Site) -> Route:
        async def endpoint(request: Request) -> Response:
            visitor = await run_in_threadpool(visitor_of, request, site.cookie, site.find_visitor)
            if visitor is None or visitor.role not in roles:
                return RedirectResponse("/in", status_code=303)
            visit = Visit(request, visitor, None, site)
            name = template if isinstance(template, str) else template(visit)
            if isinstance(name, Response):
                return name
            context = {} if values is None else await run_in_threadpool(values, visit)
            return HTMLResponse(site.templates.render(name, site=site, visitor=visitor, **context))

        return Route(path, endpoint, methods=["GET"])

    return bind


def rooms_route(path: str, enter: Callable[[str], Application], *, roles: Sequence[str]) -> RouteOf:
    """Return the route of pages below `path`: `enter` returns the application that the next part of the path names."""

    def bind(site: Site) -> BaseRoute:
        async def below(scope: Scope, receive: Receive, send: Send) -> None:
            visitor = await run_in_threadpool(visitor_of, Request(scope), site.cookie, site.find_visitor)
            if visitor is None or visitor.role not in roles:
                await RedirectResponse("/in", status_code=303)(scope, receive, send)
                return
            root: str = scope["root_path"]  # ends with `path`
            name = scope["path"].removeprefix(root).lstrip("/").partition("/")[0]
            app = await run_in_threadpool(enter, name)
            await app({**scope, "root_path": f"{root}/{name}"}, receive, send)

        return Mount(path, app=below)

    return bind


def make_app(
    site: Site, routes: Iterable[RouteOf], *, lifespan: Callable[[], AbstractAsyncContextManager[None]] | None = None
) -> Application:
    """Return the ASGI application of a site: its routes, sign-in, static files, and the guard before them.

    Parameters
    ----------
    lifespan
        Context in which requests are answered, for what starts and ends with the server.
    """

    @asynccontextmanager
    async def running(app: Starlette) -> AsyncIterator[None]:
        del app
        if lifespan is None:
            yield
        else:
            async with lifespan():
                yield

    inner = Starlette(
        routes=[*_common_routes(site), *(bind(site) for bind in routes)],
        lifespan=running,
        exception_handlers={
            PageError: on_page_error,
            TrueMomentError: on_known_error,
            HTTPException: _on_http_error,
            Exception: on_unexpected_error,
        },
    )
    return Guard(cast(Application, inner), site.address, site.most_body_bytes)


def _common_routes(site: Site) -> list[BaseRoute]:
    """Return the routes that every page has: sign-in and static files."""

    async def door(request: Request) -> Response:
        del request
        return HTMLResponse(site.templates.render("sign_in.html.j2", site=site, visitor=None))

    async def enter(request: Request) -> Response:
        signing = decoded(await body_of(request), Signing)
        return await run_in_threadpool(
            sign_in, signing.token, site.cookie, site.find_visitor, site.tries, tls=site.address.tls
        )

    async def static(request: Request) -> Response:
        return site.static.answer(request.path_params["name"], request.headers.get("if-none-match"))

    async def icon(request: Request) -> Response:
        del request
        return Response(status_code=204)

    return [
        Route("/in", door, methods=["GET"]),
        Route("/in", enter, methods=["POST"]),
        Route("/static/{name}", static, methods=["GET"]),
        Route("/favicon.ico", icon, methods=["GET"]),
    ]


async def body_of(request: Request, most_bytes: int = MOST_BODY_BYTES) -> bytes:
    """Return the body of a request; one that is too large is refused before it is read whole."""
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most_bytes:
                raise PageError(413, f"expected at most {most_bytes:,} bytes")
            parts.append(part)
    except ClientDisconnect:
        raise PageError(400, "the connection ended before the body did") from None
    return b"".join(parts)


def decoded(data: bytes, kind: type) -> Any:  # noqa: ANN401 - an instance of `kind`
    """Return a JSON body as a checked value."""
    try:
        return msgspec.json.decode(data or b"{}", type=kind)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        raise PageError(400, problem, place.strip("`").lstrip(".")) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise PageError(400, "the body is no valid JSON") from None


def as_response(value: object) -> Response:
    """Return what a handler gave as a response: 204 for None, JSON for other values."""
    if isinstance(value, Response):
        return value
    if value is None:
        return Response(status_code=204)
    return Response(msgspec.json.encode(value), media_type="application/json")


async def _on_http_error(request: Request, error: Exception) -> Response:
    """Answer with the status of the framework, e.g. 404 for an unknown path and 405 for a wrong method."""
    del request
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for this class alone
    return error_response(error.status_code, "there is no such thing" if error.status_code == 404 else error.detail)
