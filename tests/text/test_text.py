"""Text from outside, made fit to be shown."""

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.boundary.text import (
    LINE_CHARACTERS,
    one_line,
    printable,
    printable_json,
    printable_lines,
    short_line,
)

SIGNS = {"\u0600", "\u0601", "\u0602", "\u0603", "\u0604", "\u0605", "\u06dd", "\u070f", "\u0890", "\u0891", "\u08e2"}
SIGNS |= {"\U000110bd", "\U000110cd"}
"""Signs of Arabic, Syriac and Kaithi that are seen, though Unicode calls them format characters."""

STEERS = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Categories of Unicode: controls, formats, halves of characters, separators of lines and of paragraphs."""


def test_every_character_that_steers_or_hides_is_an_escape():
    hidden = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) in STEERS and c not in SIGNS]
    assert len(hidden) > 2000  # among them 2,048 halves
    assert not [c for c in hidden if not printable(c).isascii() or not printable(c).isprintable()]


def test_every_other_character_stays():
    rest = [c for c in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(c) not in (*STEERS, "Cn")]
    assert not [c for c in [*rest, *SIGNS] if printable(c) != c]


@pytest.mark.parametrize(
    "text",
    [
        "一个人打开门",
        "رجل يفتح الباب",
        "می‌خواهم",  # Persian, with a joiner that a word is written with
        "क्‍ष",  # Devanagari, with the other one
        "👨‍👩‍👧 👍🏽 ❤️ 🇫🇷",  # a family of three joined emoji, a tone, a variant, a flag
        "Ünïcödé, Å, e\u0301, non\u00a0breaking, 東京\u3000",
    ],
)
def test_ordinary_text_stays(text):
    assert printable(text) == text
    assert printable_json(text) == text


def test_joiners_that_hide_in_a_name_are_escapes():
    assert printable("pay\u200dpal\u200c") == r"pay\u200dpal\u200c"
    assert printable("一\u200d\u200d门") == r"一\u200d\u200d门"


@given(st.text())
def test_one_line_is_one_line_of_what_is_seen(text):
    shown = one_line(text)
    assert one_line(shown) == shown
    assert len(shown.splitlines()) <= 1
    assert printable(shown) == shown


@given(st.text())
def test_lines_and_tabs_stay(text):
    shown = printable_lines(text)
    assert [shown.count(sign) for sign in "\n\t"] == [text.count(sign) for sign in "\n\t"]
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]


@given(st.text())
def test_json_holds_the_same(text):
    written = json.dumps({"a": text}, indent=1, ensure_ascii=False)
    assert json.loads(printable_json(written)) == {"a": text}
    assert printable_lines(printable_json(written)) == printable_json(written)


@given(st.text(st.characters(exclude_categories=STEERS), max_size=2000))
def test_a_short_line_is_two_lines_of_a_terminal(text):
    shown = short_line(text)
    assert len(shown) <= LINE_CHARACTERS
    assert len(one_line(text)) > LINE_CHARACTERS or shown == one_line(text)


def test_a_short_line_cuts_between_words():
    names = [f"name-{number}" for number in range(99)]
    shown = short_line(f"unknown 'x', expected one of {', '.join(names)}")
    assert set(shown.replace(" ... ", " ").removeprefix("unknown 'x', expected one of ").rstrip(",").split(", ")) <= {
        *names
    }
    assert shown.endswith(", name-98")


def test_a_short_line_keeps_the_file_the_value_and_what_to_do():
    line = f"/data/{'x' * 300}/preds.jsonl:17: field moments[0]: got '{'9' * 5000}', expected a number; see --help"
    shown = short_line(line)
    assert shown.startswith("/data/xxx")
    assert "/preds.jsonl:17: field moments[0]: got '999" in shown
    assert shown.endswith("999', expected a number; see --help")
