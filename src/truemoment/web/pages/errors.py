"""Errors of a page: a status, one line for people, and the field at fault."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from truemoment.base.boundary.text import short_line
from truemoment.base.errors import TrueMomentError


class PageError(Exception):
    """A request is refused.

    Parameters
    ----------
    status
        HTTP status, 400 or more.
    problem
        One line for people.
    field
        Field of the request that is at fault; "" for none.
    """

    def __init__(self, status: int, problem: str, field: str = "") -> None:
        super().__init__(problem)
        self.status, self.problem, self.field = status, problem, field

    def response(self) -> Response:
        """Return the error as JSON."""
        return error_response(self.status, self.problem, self.field)


def error_response(status: int, problem: str, field: str = "") -> Response:
    """Return an error as JSON: ``{"error": ..., "field": ...}``."""
    return JSONResponse({"error": short_line(problem), "field": field}, status_code=status)


async def on_page_error(request: Request, error: Exception) -> Response:
    """Answer a request that a handler refused."""
    del request
    assert isinstance(error, PageError)  # noqa: S101 - registered for this class alone
    return error.response()


async def on_known_error(request: Request, error: Exception) -> Response:
    """Answer a request that failed by one of the package's own errors, e.g. a file that is gone."""
    del request
    assert isinstance(error, TrueMomentError)  # noqa: S101 - registered for this class alone
    return error_response(400, str(error))


async def on_unexpected_error(request: Request, error: Exception) -> Response:
    """Answer a request that failed by a bug: its details stay on the server."""
    del request, error
    return error_response(500, "the server failed; its terminal shows why")
