r"""Text from outside, made fit to be shown: what would steer a terminal, or hide, is written as an escape.

A name, a sentence or a path may contain escape codes that clear the screen, marks that turn the direction of the text
around them, and characters that nobody sees. They are shown as ``\x1b`` or ``\u202e``. Ordinary text of any script,
accents and emoji stay as they are.
"""

from __future__ import annotations

import json
import re

_HIDDEN = re.compile(
    "["
    "\x00-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # marks of direction
    "\u2028\u2029"  # line and paragraph separator
    "\xad\u180e\u200b\u2060-\u2065\u206a-\u206f\ufeff\ufff0-\ufffb"  # without width
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U00013430-\U0001343f\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
    "\ud800-\udfff"  # halves of characters, as bytes of a path that are no text are read
    "\ufdd0-\ufdef\ufffe\uffff"  # no characters
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 17))
    + "]"
    # A joiner belongs to the text between signs of a script that joins them, or between two emoji.
    "|(?<![^\x00-\u024f\u2000-\u206f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u024f\u2000-\u206f])"
)

_HALF = re.compile("[\ud800-\udfff]")

LINE_CHARACTERS = 240
"""Two lines of a terminal of 120 columns."""

WORD_CHARACTERS = 80
"""Characters of a word in a line that is too long."""

_LONG_WORD = re.compile(rf"\S{{{WORD_CHARACTERS + 1},}}")


def printable(text: str) -> str:
    r"""Write what would steer a terminal, or hide, as an escape; a path's bytes that are no text too.

    Examples
    --------
    >>> printable("a\x1b[2J\u202eb\n"), printable("日本 é"), printable("a\udcff")
    ('a\\x1b[2J\\u202eb\\x0a', '日本 é', 'a\\xff')
    """
    return text if text.isascii() and text.isprintable() else _HIDDEN.sub(_escape, text)


def printable_lines(text: str) -> str:
    """Write a text of several lines as :func:`printable` does, its line ends and tabs kept."""
    return "".join(part if part in "\n\t" else printable(part) for part in re.split("([\n\t])", text))


def as_text(text: str) -> str:
    r"""Write halves of characters as escapes: a path's bytes that are no text, which no text file can contain.

    Examples
    --------
    >>> as_text("mine\udcff.jsonl"), as_text("a\x1b[2J")
    ('mine\\xff.jsonl', 'a\x1b[2J')
    """
    return text if text.isascii() else _HALF.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if 0xDC80 <= code <= 0xDCFF:  # how Python stores a byte of a path that is no text
        code -= 0xDC00
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def one_line(text: str) -> str:
    r"""Write text from outside on one line, as :func:`printable` does; any white space becomes a blank.

    Examples
    --------
    >>> one_line("a door\n opens\x07")
    'a door opens\\x07'
    """
    return " ".join(map(printable, text.split()))


def printable_json(text: str) -> str:
    r"""Write the same in a JSON document, whose strings have it as ``\u001b``: nothing of them is changed.

    Examples
    --------
    >>> printable_json('{"a": "\u202eb"}')
    '{"a": "\\u202eb"}'
    """
    return "\n".join(_HIDDEN.sub(lambda match: json.dumps(match[0])[1:-1], line) for line in text.split("\n"))


def short_line(text: str) -> str:
    """Write text on one line, cut to two lines of a terminal: its beginning and its end stay.

    Where it is too long, long words lose their middle first, as paths and values of files may be.

    Examples
    --------
    >>> short_line("no such file"), short_line(f"unknown 'x', expected {', '.join(map(str, range(1000)))}")[-13:]
    ('no such file', '997, 998, 999')
    """
    text = one_line(text)
    if len(text) > LINE_CHARACTERS:
        half = (WORD_CHARACTERS - len("...")) // 2
        text = _LONG_WORD.sub(lambda word: f"{word[0][:half]}...{word[0][-half:]}", text)
    if len(text) <= LINE_CHARACTERS:
        return text
    end = LINE_CHARACTERS // 3
    begin = LINE_CHARACTERS - end - len(" ... ")
    return f"{text[:begin].rsplit(' ', 1)[0]} ... {text[-end:].split(' ', 1)[-1]}"


_FORMULA = re.compile(r"'*([=@\t\r]|[+-](?![\w.:#-]*\Z))")


def no_formula(text: str) -> str:
    r"""Return a text that no spreadsheet reads as a formula: one that begins with = + - @ gets a ' before it.

    Names and numbers that begin with a sign, as some ids of videos do, stay: they call nothing.

    Examples
    --------
    >>> no_formula("=1+1"), no_formula("-x7_Q"), no_formula("-2+cmd|' /C calc'!A0"), no_formula("'=1")
    ("'=1+1", '-x7_Q', "'-2+cmd|' /C calc'!A0", "''=1")
    """
    return f"'{text}" if _FORMULA.match(text) else text


def from_cell(text: str) -> str:
    """Return the text that :func:`no_formula` made a cell of."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text, 1) else text
