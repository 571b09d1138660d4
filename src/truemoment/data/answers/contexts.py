"""Words beside a moment that make it something else than the answer: a length, an example, a question, a denial."""

from __future__ import annotations

import re
from typing import NamedTuple

from truemoment.data.answers import words
from truemoment.data.answers.words import one_of

NEAR = 60
"""Characters before and behind a moment that are its context."""
LOOKED_AT = "a part to look at"
"""Context of what is looked at to find the answer."""
NOT_PLACED = "a length or a count"
"""Context of a range of which nothing says that it lies somewhere."""
NO_MOMENT = "another number"
"""Context of what is no moment of the video at all."""

# The mark in place of a moment, by its kind.
_BARE, _OTHER, _TWO_UNITS, _ONE_UNIT, _ONE_SECOND, _ONE_MINUTE, _OF_A_DAY = (chr(0xE000 + kind) for kind in range(7))
_ANY = f"[{_BARE}-{_OF_A_DAY}]"
_RANGE = f"[{_BARE}{_TWO_UNITS}-{_ONE_MINUTE}]"
_ONE = f"[{_BARE}{_ONE_UNIT}-{_ONE_MINUTE}]"
"""A range with a unit behind the second time only: "5 to 8 s"."""

_ABOUT = one_of("is was of about around between at only just roughly approximately another some the")
_AT = one_of("from between at in during within the span_of segment interval range around about moment it to")
_LOOK = one_of(
    """check look examine zoom inspect verify crop view review watch focus sample analyze analyse extract rewatch recheck
    re-watch re-check locate take_a_look take_a_closer_look take_another_look have_a_look"""
)
_WILL = one_of(
    """let_me let's let_us i_will i'll i_am_going_to i'm_going_to i_need_to need_to i_have_to i_want_to should_i should_we
    could_you please we_should we_can i_can i_should i_would_like_to i_would i'd"""
)
_DAY = rf"(?:(?:every|each|per|a) (?:week)?day|daily|in the {one_of('morning afternoon evening')}|at night|at noon)"
_NAMED_SPAN = one_of("mark range interval window segment span period portion timeframe frame part section stretch")
_NOUN = rf"(?!(?:{'|'.join(words.FOLLOWERS)}|{_NAMED_SPAN})s?\b)[a-z]{{2}}"


_QUANTITY = "score|price|temperature|number|count|speed|level|volume|weight|height"
_COOK = one_of("bake cook boil simmer fry roast chill heat knead microwave marinate steam rest soak rise")
_LOOKING_TOOL = one_of("zoom crop_and_zoom inspect view look seek sample search peek scan get_frames get_clip read_frames")


class Context(NamedTuple):
    """Why a moment is no answer, and a pattern for the words that say so, with a mark in place of the moment.

    `signs` are parts of words of which one occurs wherever the pattern matches: a quick check.
    """

    why: str
    signs: str
    pattern: str


CONTEXTS = (
    Context(
        NO_MOMENT,
        "conf score prob iou certain price temperature speed level volume weight height number count",
        r"(?<!% )(?<!high )(?<!low )(?<!medium )\b(?:confidence|score|probability|iou|certainty)\W{0,3}(?:is |was |of |from )?"
        rf"\W{{0,2}}{_ANY}|\b(?:{_QUANTITY})\b[^.;:\n]{{0,24}}{_BARE}|\b(?:count(?:s|ed|ing)?(?: (?:down|up))?|numbered) "
        rf"(?:from )?{_ANY}",
    ),
    Context(
        NO_MOMENT,
        "box coord pixel margin error toler certain off wrong early late accura precis plus give",
        r"(?:\b(?:bounding box|bbox|box|coordinates?|pixels?)\W{0,4}(?:at |are |is )?\W{0,3}"
        r"|\b(?:margin|error|tolerance|uncertainty)\W{0,3}(?:of |is )?(?:about )?"
        rf"|\b(?:off|wrong|early|late|inaccurate) by (?:{_ABOUT} )?|\b(?:accurate|precise) to (?:within )?"
        rf"|\b(?:plus or minus|give or take)\W{{1,3}}){_ANY}",
    ),
    Context(
        NO_MOMENT,
        "video film foot movie record",
        rf"(?:{words.VIDEO_IS}|\b{words.WHOLE_VIDEO}(?:'s)? (?:length|duration|range|timeline)\b)[^.;\n]{{0,20}}{_ANY}",
    ),
    Context(
        NO_MOMENT,
        "video_ move slid set drag turn adjust raise lower says reads said titled",
        rf"\bvideo_[a-z]+\W{{1,4}}{_ANY}|\b{one_of('move moves set sets drag drags turn turns adjust raise lower')}\b[^.;:\n]{{0,30}}"
        rf"{_BARE}|\b(?:says|reads|said|titled)[,:]? [\"']{_ANY}",
    ),
    Context(
        "the time of a clock in the video",
        "verse psalm watch clock countdown microwave",
        rf"\b{one_of('verses verse psalms psalm stopwatch game_clock match_clock countdown microwave')}\b[^.;\n]{{0,20}}{_ANY}"
        rf"|{_ANY}[^.;\n]{{0,16}}\b(?:game|match) clock",
    ),
    Context(
        "a time of day",
        "clock watch alarm display day open hours work sched news air local morning evening noon night",
        rf"(?:\b(?:wristwatch|{one_of('opening office business working visiting')} hours)\b[^.;\n]{{0,24}}"
        rf"|\b{one_of('open opens closed works work scheduled airs aired news bulletin')} (?:daily )?(?:from|between|of|at) "
        rf"|\b(?:clock|watch|alarm|display)\b[^.;\n]{{0,24}}\b{one_of('shows show reads says at from changes goes moves displays rings')}\b"
        rf"[^.;\n]{{0,12}}){_OF_A_DAY}|{_OF_A_DAY}\s?(?:the alarm|o'clock|local time|hours\b|{_DAY}\b|on [a-z]+days?\b)",
    ),
    Context(
        "a rate", "every each per times", rf"\b(?:every|each) (?:{_ABOUT} )?{_ANY}|{_ANY}\s(?:times|per|apart)\b"
    ),
    Context(
        "a length",
        f"last tak took dura length long for wait paus rest hold held of {_ONE_SECOND} {_ONE_MINUTE}",
        r"\b(?:lasts?|lasted|lasting|takes?|took|taking|duration|length|waits?|waited|pauses?|paused|rests?|holds?)\W{1,3}"
        rf"(?:(?:him|her|them|it|me|us|{_ABOUT})\W{{1,2}})*{_RANGE}|\b(?<!go )(?<!opt )(?<!look )(?<!asked )for (?:{_ABOUT} )*{_RANGE}"
        rf"|\ban? (?:[a-z]+ ){{0,2}}(?:{words.VIDEO}|moment|period|scene|shot|interval) of (?:{_ABOUT} )?{_RANGE}"
        rf"|{_RANGE}[\s-]{{1,2}}(?:long\b|in (?:length|duration|total)\b)"
        rf"|\b(?:lasts?|lasted|lasting|takes?|took|taking|long) (?:{_ABOUT} )?from (?:{_ABOUT} )?{_ONE}"
        rf"|\b{_COOK}\b[^.;\n]{{0,30}}{_ONE_MINUTE}"
        rf"|\b(?:an?|the|this|that|brief|short) {_ONE_SECOND}[ -]{_NOUN}",
    ),
    Context(
        "a moment that is denied",
        "nothing never neither nor instead rather except exclud unlike other ignor need requir not n't anything wrong false correct mistaken",
        r"(?:\b(?:instead of|rather than|except(?: for)?|exclud(?:es?|ing)|unlike|other than|ignor(?:es?|ing)"
        rf"|anything but|(?:need|require)s? (?:more|additional) [a-z]+|neither|nor)\W{{1,3}}(?:{_AT}\W)*"
        rf"|(?:\bnot|n't)(?: {one_of('happening occurring visible shown present seen be it')})? (?:{_AT} )*){_ANY}"
        rf"|\b(?:nothing|never)\b[^.,;:\n]{{0,40}}{_ANY}"
        rf"|{_ANY}[^.,;\n\d]{{0,24}}\b(?:is|are|was|were|would be|seems?) (?:{one_of('wrong false incorrect mistaken')}\b"
        r"|not (?:right|correct|true|it\b|the (?:right|correct|answer)))",
    ),
    Context(
        "a moment beside it",
        "after before follow prior previous meanwhile rest",
        r"\b(?:(?:after|before|following|prior to) (?:that|this|which)|afterwards?|beforehand|previously|meanwhile"
        rf"|the rest)\b[^.;\n]{{0,40}}{_ANY}",
    ),
    Context(
        "an example",
        "e.g example instance such form template",
        r"(?:(?:\be\.g\.,?|\bfor example,?|\bfor instance,?|\bsuch as) ?[\[({\"']{0,2}"
        r"|\bexample(?: has| is| was| shows| gives| of| output| format|:){1,2}[\s\"']{1,4}"
        r"|\b(?:the|this|that|an?|following|of|expected|output) (?:form|format|template)(?: of| like| such as|,|:)?"
        rf"[\s\"'\[({{]{{1,3}})(?:from |between )?{_ANY}",
    ),
    Context(
        LOOKED_AT,
        "let i'll will going need should could please assum suppos if ask we i can want have look check search zoom view",
        rf"(?:\b{_WILL} (?:{one_of('now first then also just next again quickly')} )*{_LOOK}\b[^.;:!?\n]{{0,40}}"
        r"|\bif you (?:could |can )?(?:describe|share|provide|send|tell|give|upload|mean)\b[^.;:!?\n]{0,50}"
        r"|\b(?:assuming|supposing|suppose|if it (?:were|was))\b[^.,;:!?\n]{0,40}"
        rf"|\bplease (?:share|provide|upload|send|describe|clarify|specify|confirm)\b[^.;:!?\n]{{0,50}}"
        rf"|\bi(?:'ve| have)? (?:looked|checked|searched|examined|scanned|reviewed|watched|went)\b[^.;:!?\n]{{0,40}}"
        rf"|\b{_LOOKING_TOOL.replace(' ', '_')}[a-z_]*(?:[\"'>(]|\s{{1,2}}action input:)[^\n]{{0,48}}"
        rf"|\bask(?:s|ed|ing)? (?:me )?(?:about|for|whether)\b[^.,;:!?\n]{{0,20}}){_ANY}"
        rf"|{_ANY}[^a-z\n]{{0,12}}(?:</[a-z_]+>)?\s*(?:i will|i'll|let me) (?:now |first |then )?{_LOOK}\b",
    ),
    Context(
        "a boundary that lies between two times",
        "start begin end stop finish",
        r"\b(?:starts?|starting|begins?|beginning|ends?|ending|stops?|finish(?:es)?|finishing) (?:(?:anywhere|somewhere|some ?time"
        rf"|at some point) )?(?:between|(?<=where )from|(?<=time )from|within) {_ANY}",
    ),
    Context(
        "one time or another", "later earlier", rf"{_ANY} or (?:a (?:little|bit) |slightly |somewhat )?(?:later|earlier)\b"
    ),
    Context("a question", "?", rf"{_ANY}[^.,;!?\n\"{{}}()\[\]]{{0,60}}\?"),
    Context("relative to another time", "before after", rf"{_ANY}\s(?:before|after)\s(?:the )?\d"),
    Context("relative to another time", "within", rf"\bwithin {_ANY}\sof\s(?:the )?(?!{words.VIDEO}\b)"),
)
"""Contexts of moments, the first that applies first."""


_PLACES = one_of(
    """from between at is are was be during within amid via on and but or to as like say confirm i.e. namely form second seconds
    sec minute minutes frame frames timestamp timestamps time times span spans covers covering occupies matches match answer
    clip segment moment interval range window period section part scene event events result prediction output it's that's
    either both then then_from first happens occurs happening occurring located seen visible somewhere
    em en nos nas no los las el la aux aos a pendant durante mellan im in_den vom den während nei nel nello pada di
    trong vào op w na"""
)
"""Words before a range such as "5 to 8 seconds" that make it a moment; it is a length else: "he waited 5 to 8 seconds"."""
_ABOUT_A_PLACE = one_of("about around approximately roughly circa ca ~ only just exactly maybe perhaps probably the")
_PLACED = re.compile(
    rf"(?:\A|[^a-z \t]|\b{_PLACES}|\b(?:happen|occur|locat|found|lie|place|seen|shown|visible|falls?)[a-z]* in"
    rf"|\b{_NAMED_SPAN} of)[ \t]*(?:\b{_ABOUT_A_PLACE}[ \t]*)*\Z"
)
_NAMED_BEHIND = re.compile(rf"[ -]{{0,2}}{_NAMED_SPAN}\b")
_OF_IT = re.compile(
    r"\b(?:it|this|that|answer|moment|range|interval|segment|times?|window|clip|span|period|event|prediction|result|match"
    r"|timestamps?|action|activity|scene)\b[^.;\n]{0,40}\b(?:is|are|was|be)\b[a-z ]*\Z"
)
_IS = re.compile(r"\b(?:is|are|was|were)[ \t]+\Z")


def _is_placed(before: str, mark: str, behind: str) -> bool:
    """Whether a range with a unit behind its second time, or with none, lies somewhere and is no length or count."""
    if mark not in (_BARE, _ONE_UNIT, _ONE_SECOND, _ONE_MINUTE) or _NAMED_BEHIND.match(behind):
        return True
    if mark == _BARE and _IS.search(before) and not _OF_IT.search(before):
        return False
    return _PLACED.search(before) is not None


def _signs(signs: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, signs.split())))


_ANY_SIGN = _signs(" ".join(context.signs for context in CONTEXTS))
_PATTERNS = [(context.why, _signs(context.signs), re.compile(context.pattern)) for context in CONTEXTS]
_HAS_ONE_UNIT = re.compile(r"(?:[\d.,]+|[a-z-]+) ?(?:-+|~|to|and|until|till)\b")
_MINUTES = re.compile(r"\b(?:min|minutes?|hours?)\Z")
_MAY_BE_OF_A_DAY = re.compile(r"(?:[6-9]|1\d|2[0-3]):[0-5]\d(?![\d:.])")


def context_of(before: str, moment: str, behind: str, *, is_range: bool, is_bare: bool = False) -> str:
    """Return why a moment is no answer, by the text before, in and behind it; "" if nothing speaks against it.

    Examples
    --------
    >>> context_of("the scene lasts ", "5 to 8 seconds", ".", is_range=True)
    'a length'
    >>> context_of("he jumps from ", "5 to 8 seconds", ".", is_range=True)
    ''
    """
    mark = _mark(moment, is_range=is_range, is_bare=is_bare)
    around = f"{before}{mark}{behind}"
    if _ANY_SIGN.search(around) is not None:  # rarely; the patterns take time
        for why, signs, pattern in _PATTERNS:
            if signs.search(around) is not None and pattern.search(around) is not None:
                return why
    return "" if _is_placed(before, mark, behind) else NOT_PLACED


def _mark(moment: str, *, is_range: bool, is_bare: bool) -> str:
    """Return the mark for the kind of a moment, given its text."""
    if _MAY_BE_OF_A_DAY.match(moment):
        return _OF_A_DAY
    if not is_range:
        return _OTHER
    if is_bare:
        return _BARE
    if not _HAS_ONE_UNIT.match(moment):
        return _TWO_UNITS
    if moment.endswith("second"):
        return _ONE_SECOND
    return _ONE_MINUTE if _MINUTES.search(moment) else _ONE_UNIT
