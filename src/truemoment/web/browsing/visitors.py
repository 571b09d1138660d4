"""Links of a page that one person starts: the owner's, and one for guests."""

from __future__ import annotations

from truemoment.web.browsing.video_routes import GUEST, OWNER
from truemoment.web.pages.sessions import Visitor, new_token, sha256_of_token


class LinkTokens:
    """Random tokens of the links of one start of a server.

    Parameters
    ----------
    guests
        Whether there is a link for guests.
    """

    def __init__(self, *, guests: bool = False) -> None:
        self.owner = new_token()
        self.guest = new_token() if guests else None
        self._roles = {sha256_of_token(self.owner): Visitor(OWNER)}
        if self.guest is not None:
            self._roles[sha256_of_token(self.guest)] = Visitor(GUEST)

    def find(self, digest: bytes) -> Visitor | None:
        """Return who has the token with a SHA-256."""
        return self._roles.get(digest)
