"""Scripts, style sheets and drawings of pages, by name from fixed folders, and the colours of roles.

No other file is served.
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from starlette.responses import Response

from truemoment.base.boundary.files import read_bytes
from truemoment.report.roles import role_stylesheet
from truemoment.web.pages.errors import PageError

SHARED = Path(__file__).parent / "static"

TYPES = MappingProxyType(
    {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
)


class StaticFiles:
    """Static files of a page, read into memory when they are first used.

    Parameters
    ----------
    *folders
        Folders of the page's own files, which go before the shared ones. All are served from ``/static/NAME``.
    """

    def __init__(self, *folders: Path) -> None:
        self._folders = (SHARED, *folders)

    @cached_property
    def _files(self) -> dict[str, tuple[bytes, str, str]]:
        roles = role_stylesheet().encode()
        files = {"roles.css": (roles, TYPES[".css"], _etag(roles))}
        for folder in self._folders:
            for path in sorted(folder.iterdir()):
                if path.suffix in TYPES:
                    data = read_bytes(path)
                    files[path.name] = data, TYPES[path.suffix], _etag(data)
        return files

    def answer(self, name: str, client_etag: str | None) -> Response:
        """Return a file; 304 if the browser has it (`client_etag` is its ``If-None-Match``)."""
        if name not in self._files:
            raise PageError(404, "there is no such file")
        data, kind, etag = self._files[name]
        headers = {"ETag": etag, "Cache-Control": "private, no-cache"}
        if client_etag == etag:
            return Response(status_code=304, headers=headers)
        return Response(data, headers=headers | {"Content-Type": kind})


def _etag(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'
