"""Rewriting an answer for the reader: one sign for each meaning, English words for those of other languages, no LaTeX.

Each character of the rewritten text knows its place in the answer.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from truemoment.data.answers.languages import LANGUAGES, Language
from truemoment.data.answers.times import any_of

_SMALL = {
    code: chr(code).lower()
    for begin, end in ((0x41, 0x5B), (0xC0, 0x180), (0x391, 0x530), (0x1E00, 0x1F00))
    for code in range(begin, end)
    if len(chr(code).lower()) == 1
}
_ZEROS = (0xFF10, 0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, 0xE50, 0x17E0)
_SIGNS = {
    **{chr(code): chr(code - 0xFEE0).lower() for code in (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B))},
    **dict.fromkeys("‐‑‒–—―−﹣－", "-"),
    **dict.fromkeys("\u200b\u200c\u200d\u200e\u200f\ufeff\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000*`", " "),
    "◁": "<",
    "▷": ">",
    **dict.fromkeys("➝➜➞➔⟶⇒➡⮕", "→"),
    **dict(
        zip(
            "：，；～〜〰（）【】［］｛｝＂“”„‘’′％＝．٫،٪。、।？！؟",
            ':,;~~~()[][]{}""""\'\'\'%=..,%.,.?!?',
            strict=True,
        )
    ),
}
_PLAIN = str.maketrans(
    {
        **_SMALL,
        **{zero + digit: str(digit) for zero in _ZEROS for digit in range(10)},
        **{ord(k): v for k, v in _SIGNS.items()},
    }
)


def plain(text: str) -> str:
    r"""Write a text with one sign for each meaning, character by character: positions stay as they are.

    Examples
    --------
    >>> plain("From **12** \u2013 20 S")
    'from   12   - 20 s'
    """
    return text.translate(_PLAIN)


MOST_CHARACTERS = 30_000
"""Characters of an answer; of a longer one only the beginning and the end are read."""


class Rewritten(NamedTuple):
    """A text, and for each of its characters the position in the answer; None if all positions are the same."""

    text: str
    origin: Sequence[int] | None = None

    def place(self, begin: int, end: int) -> tuple[int, int]:
        """Return the positions in the answer of characters of this text."""
        if self.origin is None or begin >= end:
            return begin, end
        return self.origin[begin], self.origin[end - 1] + 1

    def replaced(self, pattern: re.Pattern[str], by: Callable[[re.Match[str]], str]) -> Rewritten:
        """Return the text with each match replaced."""
        pieces: list[str] = []
        origin: list[int] = []
        old = self.origin or range(len(self.text))
        at = 0
        for match in pattern.finditer(self.text):
            word = by(match)
            if word == match[0] or not match[0]:
                continue
            pieces += [self.text[at : match.start()], word]
            origin += old[at : match.start()]
            last = match.end() - match.start() - 1
            origin += [old[match.start() + min(k, last)] for k in range(len(word) - 1)]
            origin += [old[match.end() - 1]] if word else []
            at = match.end()
        if not at:
            return self
        return Rewritten("".join([*pieces, self.text[at:]]), [*origin, *old[at:]])


def rewritten(answer: str) -> Rewritten:
    r"""Return an answer in the words and signs that the reader knows.

    Examples
    --------
    >>> rewritten("12초부터 20초까지").text.split()
    ['12', 'seconds', 'to', '20', 'seconds', '까지']
    >>> rewritten(r"$12\text{s} \to 20\text{s}$").text.split()
    ['12', 's', '-', '20', 's']
    """
    text = _shortened(answer)
    if '"' in answer or "'" in answer:
        text = text.replaced(_CAMEL_KEY, lambda key: _HUMP.sub("_", key[0]))
    text = text._replace(text=plain(text.text))
    if any_of(('"', "'", "to_", "</"), text.text):
        text = text.replaced(_KEY, lambda key: f"{'end' if key['end'] else 'start'}{key['rest'] or ''}")
    if any_of(("\\", "$", "≤", "<="), answer):
        typed = text
        for pattern, by in _LATEX:
            typed = typed.replaced(pattern, by)
        text = typed.replaced(_MATHEMATICS if typed is text else _DOLLAR, _blank)
    if "<" in text.text:
        text = text.replaced(
            _TIME_TOKENS, lambda tokens: " to ".join(f"frame {n}" for n in _DIGIT_RUN.findall(tokens[0]))
        )
    if any_of(("over", "finished", "done", "gone", "out of"), text.text):
        text = text.replaced(_OVER, lambda _: "ends ")
    if " and a half" in text.text:
        text = text.replaced(_MINUTE_AND_A_HALF, lambda unit: f"{unit['one'] or ''}{unit['unit']} 30 seconds")
    if '"' in text.text:
        text = text.replaced(_REASONS, _blank)
    if any_of(("~~", "frame", "pt"), text.text):
        text = text.replaced(_ASIDE, _blank)
    if "start" in text.text:
        text = text.replaced(_ASSIGNED, lambda pair: f"start: {pair['start']} end: {pair['end']}")
    if "start" in text.text and "\n" in text.text:
        text = text.replaced(_TABLE, _rows)
    known = _languages(text.text)
    if known:
        text = text.replaced(_NUMERAL, lambda numeral: f"{_value(numeral[0]):g}")
        text = text.replaced(*_translation(known))
    return text


def _shortened(answer: str) -> Rewritten:
    """Leave out the middle of a very long answer, between two blanks: what counts is at an end."""
    if len(answer) <= MOST_CHARACTERS:
        return Rewritten(answer)
    head = _blank_near(answer, MOST_CHARACTERS // 2)
    tail = _blank_near(answer, len(answer) - MOST_CHARACTERS // 2)
    return Rewritten(f"{answer[:head]}\n{answer[tail:]}", [*range(head + 1), *range(tail, len(answer))])


def _blank_near(text: str, at: int) -> int:
    """Return where a blank is a little before a position; the position itself if there is none."""
    blank_at = max(text.rfind(blank, at - 200, at) for blank in " \n")
    return blank_at if blank_at >= 0 else at


_CAMEL_KEY = re.compile(r"(?<=[\"'])[a-z]+(?:[A-Z][a-z]+){1,3}(?=[\"']\s?:)")
_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
_KEY = re.compile(
    r"(?:(?<=[\"'])|(?<![^\s{,])(?=[a-z]+_)|(?<=</)|(?<=<))(?:t_?0|st?|in|from|beg|(?P<end>t_?1|ed?|fin|out|to|until|finish))"
    r"(?P<rest>_[a-z]{1,12})?(?=[\"']?\s?[:=]|>)"
)
"""A key for a start or an end: "t0" and "t1", "st" and "ed", "from_sec" and "to_sec"."""
_TIME_TOKENS = re.compile(r"<t?\d{1,4}>(?:\s?<t?\d{1,4}>)?")
"""One or two times of a model with tokens of its own, such as LITA: numbers of equal parts of the video."""
_OVER = re.compile(
    r"\b(?:is|are|'s) (?:over|finished|done|gone|out of (?:view|frame|sight)) (?=(?:by|at|around|about|after) )"
)
_MINUTE_AND_A_HALF = re.compile(r"(?P<one>\b(?:an?|one|1) )(?P<unit>minute) and a half\b")
_DIGIT_RUN = re.compile(r"\d+")
_ASIDE = re.compile(
    r"~~[^~\n]{1,200}~~|(?<=[s\d\]]) ?\((?:at |in )?frames? #?\d+(?: ?(?:-|to|and) ?#?\d+)?\)"
    r"|\bframes? ?#?\d+ ?\((?=(?:\d+(?:\.\d+)? ?s(?:ec|econds)?|\d+:[\d.:]+)\))|(?<=[\"' ])pt(?=\d+(?:\.\d+)?[hms])"
)
"""Text that is struck out, numbers of frames behind times, and the letters before a duration of ISO 8601."""
_REASONS = re.compile(
    r"(?<=\")(?:explanation|reason(?:ing|s)?|rationale|analysis|thoughts?|question|query|sentence)\"\s?:\s?\"[^\"]{0,2000}(?=\")"
)
"""Values of the keys that hold reasoning or repeat the question."""
_ASSIGNED = re.compile(r"\bstart\w*, ?end\w*\)? ?[=:] ?[\[(]?(?P<start>\d+(?:[.:]\d+)*) ?s?, ?(?P<end>\d+(?:[.:]\d+)*)")
_TABLE = re.compile(
    r"(?<![^\n])(?P<head>[^\n]{0,80}\bstart[^\n]{0,80}\bend[^\n]{0,80})\n(?:[|:\- ]+\n)?"
    r"(?P<rows>(?:[^\n]{0,200}[,|;\t][^\n]{0,200}(?:\n|\Z))+)"
)
"""A table with columns for a start and an end, in Markdown or with commas, semicolons or tabs."""


def _rows(table: re.Match[str]) -> str:
    """Return the rows of a table as "start: 1 end: 2" each; the table itself if its columns are not clear."""
    sign = next((sign for sign in "|\t;," if sign in table["head"]), "")
    head, *rows = (
        [cell.strip() for cell in line.strip().strip("|").split(sign)] if sign else []
        for line in (table["head"], *table["rows"].splitlines())
    )
    columns = [
        [at for at, cell in enumerate(head) if re.match(rf"{name}(?:s|ed|_[a-z]+)?\b", cell)]
        for name in ("start", "end")
    ]
    if [len(column) for column in columns] != [1, 1] or any(len(row) != len(head) for row in rows):
        return table[0]
    (start,), (end,) = columns
    return "\n".join(f"start: {row[start]} end: {row[end]}" for row in rows)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _words(match: re.Match[str]) -> str:
    return f" {match['words']} "


_AT_MOST = r" ?(?:\\{1,2}l(?:eq?|t)(?![a-z])|≤|<=|<) ?"
_LATEX: Sequence[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = (
    (
        re.compile(r"\\{1,2}(?:text|textbf|textrm|mathrm|mathbf|mathit|mbox|operatorname)\s?\{(?P<words>[^{}\n]*)\}"),
        _words,
    ),
    (re.compile(r"\{(?P<words>[:.,]|-{1,2})\}"), lambda match: match["words"]),
    (re.compile(r"\\{1,2}(?P<brace>[{}])"), lambda match: "[" if match["brace"] == "{" else "]"),
    (re.compile(rf"{_AT_MOST}[tx]{_AT_MOST}"), lambda _: " - "),
    (re.compile(r"\\{1,2}(?:rightarrow|longrightarrow|to|sim|ldots|dots|cdots)(?![a-z])"), lambda _: " - "),
    (re.compile(r"\\{1,2}(?:[,;:! ()\[\]]|(?:q?quad|left|right|approx|in|displaystyle)(?![a-z]))"), lambda _: " "),
    (re.compile(r"_\{(?P<words>[a-z ]{1,20})\}"), lambda index: f"_{index['words']}"),
    (re.compile(r"\}\s?\$?\s?(?P<words>to|-|and|,)\s?\$?\s?\\boxed\{"), _words),
)
"""Marks of type and space, arrows, indices, and joined boxes."""
_DOLLAR = re.compile(r"\$")
_MATHEMATICS = re.compile(r"\$\$|\$(?=-?\d[\d.:,]{0,12} ?[a-z]{0,7}\$)|(?<=[\d\])}s])\$(?!\d)")
"""Dollars around a number in a text without commands of LaTeX."""

_DIGITS = {
    sign: value
    for signs, value in zip(("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"), range(10), strict=True)
    for sign in signs
}
_NUMERAL = re.compile(
    r"[零〇一二两兩三四五六七八九十百]{1,7}(?:点[零〇一二三四五六七八九]{1,3})?"
    r"(?=秒|分[钟鐘零〇一二三四五六七八九十\d到至半]|个?小时|[到至]第?[一二三四五六七八九十百]{1,5}秒)"
)


def _value(numeral: str) -> float:
    """Return the value of a Chinese numeral below 1000.

    Examples
    --------
    >>> _value("一百零五"), _value("十二点五"), _value("十点零五")
    (105.0, 12.5, 10.05)
    """
    whole, _, decimals = numeral.partition("点")
    total, digit = 0, 0
    for sign in whole:
        if sign in ("十", "百"):
            total, digit = total + (digit or 1) * (10 if sign == "十" else 100), 0
        else:
            digit = _DIGITS[sign]
    return float(f"{total + digit}.{''.join(str(_DIGITS[sign]) for sign in decimals) or 0}")


_WORD = re.compile(r"[^\W\d_]+")
_SIGNS_OF_WORDS = frozenset(sign for language in LANGUAGES for sign in language.signs.split())


def _languages(text: str) -> tuple[Language, ...]:
    """Return the languages other than English that a text has words or letters of."""
    words = _SIGNS_OF_WORDS.intersection(_WORD.findall(text))
    letters = "" if text.isascii() else "".join(letter for letter in set(text) if letter > "\u00ff")
    by_script = [language for language in LANGUAGES if letters and language.is_written_in(letters)]
    n_signs = {language: language.n_signs(words) for language in LANGUAGES if words}
    most = max(n_signs.values(), default=0)
    return tuple(language for language in LANGUAGES if language in by_script or (most and n_signs[language] == most))


@functools.lru_cache(maxsize=32)
def _translation(languages: tuple[Language, ...]) -> tuple[re.Pattern[str], Callable[[re.Match[str]], str]]:
    """Return the pattern of the words of some languages, and what replaces each."""
    meanings = [pair for language in languages for pair in language.meanings()]
    meanings.sort(key=lambda pair: -len(pair[0]))
    pattern = re.compile("|".join(f"({word})" for word, _ in meanings))
    return pattern, lambda match: _spaced(meanings[(match.lastindex or 1) - 1][1], match)


def _spaced(meaning: str, match: re.Match[str]) -> str:
    """Return a meaning with blanks to the letters and digits beside it."""
    if meaning == "th":
        return meaning
    before, after = match.string[max(match.start() - 1, 0) : match.start()], match.string[match.end() : match.end() + 1]
    return f"{' ' * before.isalnum()}{meaning}{' ' * after.isalnum()}"
