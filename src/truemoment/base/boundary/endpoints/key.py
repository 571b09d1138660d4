"""An API key, and how a text is shown that may repeat it.

What an endpoint sends may contain the key it was given: whole or in part, and written in other ways: URL-encoded, with
the escapes of JSON or HTML, in base64 behind a user name, in hexadecimal digits, in capitals, or broken into lines.
:meth:`Key.hidden_in` finds all of these. Texts are cleaned before they are cut: a cut would leave half a key behind.
"""

from __future__ import annotations

import base64
import functools
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

SECRET_LENGTH = 6
"""Keys shorter than this are no secrets ("none", "x"), and would be found in innocent words."""

IN_ANSWER = 8
"""Characters of a key in a row that are hidden in an answer: numbers of an answer match fewer by chance."""

IN_MESSAGE = 4
"""Characters of a key in a row that are hidden in a message, where a match by chance does no harm."""

IN_BASE64, IN_HEX = 9, 12
"""Characters in a row of the key's other forms, six or seven bytes of the key."""

SHOWN = "[key]"

_CHARACTER = re.compile(
    r"%(?:25)*(?P<url>[0-9a-f]{2})|\\+u(?P<json>[0-9a-f]{4})|\\+x(?P<python>[0-9a-f]{2})"
    r"|&(?:amp;)*(?P<html>\#?\w{2,8};)|\\+(?P<escaped>[^a-z0-9]|[nrt])|(?P<itself>.)",
    re.IGNORECASE | re.DOTALL,
)
"""A character in any of the ways in which it is written."""

_AS_ONE = str.maketrans("-_", "+/")
"""base64 has two alphabets."""


@dataclass(frozen=True)
class Key:
    """A key that no text may show."""

    text: str = field(repr=False)

    @functools.cached_property
    def _forms(self) -> list[tuple[str, int | None]]:
        """The key as texts may have it, and how much of each is hidden; None: as much as is requested."""
        if len(self.text) < SECRET_LENGTH:
            return []
        data = self.text.encode()
        forms: list[tuple[str, int | None]] = [(self.text, None), (data.hex(), IN_HEX)]
        for before in range(3):  # bytes in front of it, as of "user:key", move the letters of base64
            letters = base64.b64encode(bytes(before) + data).decode()
            forms.append((letters[-(-8 * before // 6) : 8 * (before + len(data)) // 6], IN_BASE64))
        return [("".join(letter for letter, _, _ in _characters(form)), least) for form, least in forms]

    def hidden_in(self, text: str, least: int = IN_MESSAGE) -> str:
        """Return a text, as it was received and not cut yet, without the key and without parts of it.

        The shortest part that is hidden has `least` characters: :data:`IN_MESSAGE` or :data:`IN_ANSWER`.

        Examples
        --------
        >>> Key("sk-secret-0123456789").hidden_in("no such key: sk%2Dsecret%2D0123456789")
        'no such key: [key]'
        """
        if not self._forms:
            return text
        letters = list(_characters(text))
        plain = "".join(letter for letter, _, _ in letters)
        hidden = bytearray(len(plain))
        for form, of_form in self._forms:
            length = min(of_form or least, len(form))
            for part in {form[k : k + length] for k in range(len(form) - length + 1)}:
                at = plain.find(part)
                while at >= 0:
                    hidden[at : at + length] = b"\x01" * length
                    at = plain.find(part, at + 1)
        parts, end = [], 0
        for run in re.finditer(rb"\x01+", hidden):
            parts += [text[end : letters[run.start()][1]], SHOWN]
            end = letters[run.end() - 1][2]
        return "".join([*parts, text[end:]])


def _characters(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the characters of a text and their positions, each written in one way; blanks are left out."""
    for match in _CHARACTER.finditer(text):
        escape, written = match.lastgroup, match[match.lastgroup or 0]
        if escape in {"url", "json", "python"}:
            letter = chr(int(written, 16))
        elif escape == "html":
            letter = html.unescape(f"&{written}")
        else:
            letter = "" if escape == "escaped" and written.lower() in "nrt" else written
        if letter.isprintable() and not letter.isspace():
            for plain in letter.casefold().translate(_AS_ONE):
                yield plain, match.start(), match.end()
