"""Words beside a moment that make it something else than the answer: a length, an example, a question, a denial."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from truemoment.data.answers import words
from truemoment.data.answers.places import NAMED_SPAN, Wording, is_placed, kind_of
from truemoment.data.answers.times import any_of
from truemoment.data.answers.words import one_of

NEAR = 60
"""Characters before and behind a moment that are its context."""
LOOKED_AT = "a part to look at"
"""Context of what is looked at to find the answer."""
NOT_PLACED = "a length or a count"
"""Context of a range of which nothing says that it lies somewhere."""
NO_MOMENT = "another number"
"""Context of what is no moment of the video at all."""

_RANGES = frozenset(Wording) - {Wording.OTHER, Wording.OF_A_DAY, Wording.OF_ROUND_HOURS, Wording.PAIR}
# In the patterns, a mark is in place of a moment.
_MARKS = {kind: chr(0xE000 + number) for number, kind in enumerate(Wording)}
_ANY = f"[{''.join(_MARKS.values())}]"
_RANGE = f"[{''.join(mark for kind, mark in _MARKS.items() if kind in _RANGES)}]"
_BARE, _MINUTES, _SECOND = (
    _MARKS[kind] for kind in (Wording.BARE, Wording.ONE_UNIT_OF_MINUTES, Wording.ONE_UNIT_SECOND)
)
_NO_UNIT = f"[{_BARE}{_MARKS[Wording.PAIR]}]"
_OF_A_DAY = f"[{_MARKS[Wording.OF_A_DAY]}{_MARKS[Wording.OF_ROUND_HOURS]}]"
_ONE_UNIT = f"[{_BARE}{_MARKS[Wording.ONE_UNIT]}{_SECOND}{_MINUTES}]"

_HIM = one_of("him her them it me us")
_ABOUT = one_of("is was of about around between at only just roughly approximately another some the")
_AT = one_of("from between at in during within the span_of segment interval range around about moment it to")
_LENGTH = one_of(
    """last lasts lasted lasting take takes took taking duration length wait waits waited need needs needed pause
    pauses paused rest rests hold holds add adds added"""
)
_LOOK = one_of(
    """check look examine zoom inspect verify crop view review watch focus sample analyze analyse extract rewatch
    recheck re-watch re-check locate take_a_look take_a_closer_look take_another_look have_a_look"""
)
_WILL = one_of(
    """let_me let's let_us i_will i'll i_am_going_to i'm_going_to i_need_to need_to i_have_to i_want_to should_i
    should_we could_you please we_should we_can i_can i_should i_would_like_to i_would i'd"""
)
_TOOL = r"(?:zoom|crop|inspect|view|look|seek|sample|search|peek|scan|get_frames|get_clip|read_frames)[a-z_]*"
"""A tool that shows a part of the video to the model."""
_ANSWERS = (
    r"\w*(?:answer|submit|ground|locali|locate|finish|final|trim|cut|report|result|return|predict|output|moment|respon)"
)
"""A tool that takes the answer."""
_DAY = rf"(?:(?:every|each|per|a) (?:week)?day|daily|in the {one_of('morning afternoon evening')}|at night|at noon)"
_SHOWS = one_of("shows show reads says at from changes goes moves displays rings")
_MAY = one_of("should may might must can could")
_WRITTEN = one_of("written given reported formatted expressed stated look")
_RESULT = one_of("answer output response")
_NOUN = rf"(?!(?:{'|'.join(sorted(words.FOLLOWERS))}|{NAMED_SPAN})s?\b)[a-z]{{2}}"
_QUANTITY = one_of(
    """score price temperature number numbers count speed level volume weight height rate value values slope age ages
    size position point card cards dice coordinates coordinate"""
)
_CLOCKS = one_of("verses verse psalms psalm stopwatch game_clock match_clock shot_clock timer countdown microwave")
_MOVES = one_of("goes go went rises rise rose falls fall fell climbs drops jumps moves changes advances")
_CHANGES = one_of("increases increased decreases decreased grows grew shrinks improves improved reduces reduced")
_OWN_TIME = one_of("processing visiting opening waiting cooking reaction exposure response running elapsed inference")
_OTHER = one_of("another other previous earlier different")
_FALSE = one_of("wrong false incorrect mistaken")
_NO_PART_OF = "".join(rf"(?<!\b{name} of the )" for name in ("part", "portion", "segment", "section", "moment"))
_COOK = one_of("bake cook boil simmer fry roast chill heat knead microwave marinate steam rest soak rise")
_MOVE = one_of("move moves set sets drag drags turn turns adjust raise lower")


class Exclusion(NamedTuple):
    """Why a moment is no answer, and patterns for the words that say so.

    `signs` are parts of words of which one occurs wherever a pattern matches: a quick check. An underscore is a blank.
    """

    why: str
    signs: str
    patterns: tuple[str, ...]


EXCLUSIONS = (
    Exclusion(
        NO_MOMENT,
        """conf score prob iou certain accura price temperature speed level volume weight height number count age size
        position point card dice coord rate value slope _from_ out_of time""",
        (
            r"(?<!% )(?<!high )(?<!low )(?<!medium )\b(?:confidence|score|probability|iou|certainty|accuracy)"
            rf"(?: interval| range)?\W{{0,3}}(?:is |was |of |from |between )?\W{{0,2}}{_ANY}",
            rf"{_ANY}\W{{0,3}}(?:is|are) the (?:confidence|score|probability|{_QUANTITY})\b|{_BARE} out of \d",
            rf"\b{_OWN_TIME} times?\b[^.;\n]{{0,12}}{_ANY}",
            rf"\b{_QUANTITY}\b[^.;\n]{{0,24}}{_NO_UNIT}",
            rf"(?<!it )(?<!event )(?<!action )(?<!moment )(?<!segment )\b{_MOVES}(?: up| down)?"
            rf" from (?:{_ABOUT} )?{_BARE}",
            rf"\b{_CHANGES}\b[^.,;\n]{{0,20}} from (?:{_ABOUT} )?{_RANGE}",
            rf"\b(?:count(?:s|ed|ing)?(?: (?:down|up))?|numbered) (?:from )?{_ANY}",
        ),
    ),
    Exclusion(
        NO_MOMENT,
        """box pixel clicks taps image picture photo screen margin error toler certain off wrong early late accura
        precis plus give""",
        (
            rf"\b(?:bounding box|bbox|box|pixels?|clicks|taps)(?: on)?\W{{0,4}}(?:at |are |is )?"
            rf"\W{{0,3}}{_ANY}|{_NO_UNIT}\W{{0,3}}(?:in|of|on) (?:the|this) (?:image|picture|photo|screen)\b",
            rf"\b(?:margin|error|tolerance|uncertainty)\W{{0,3}}(?:of |is )?(?:about )?{_ANY}",
            rf"\b(?:off|wrong|early|late|inaccurate) by (?:{_ABOUT} )?{_ANY}",
            rf"\b(?:accurate|precise) to (?:within )?{_ANY}",
            rf"\b(?:plus or minus|give or take)\W{{1,3}}{_ANY}",
        ),
    ),
    Exclusion(
        NO_MOMENT,
        "video film foot movie record",
        (
            rf"{_NO_PART_OF}{words.VIDEO_IS}[^.;\n]{{0,20}}{_ANY}",
            rf"\b{words.WHOLE_VIDEO}(?:'s)? (?:length|duration|range|timeline)\b[^.;\n]{{0,20}}{_ANY}",
            rf"\b{words.WHOLE_VIDEO},? (?:which|that) (?:only )?(?:covers|lasts|runs|spans)\b[^.;\n]{{0,20}}{_ANY}",
            rf"\bvideo_[a-z]+\W{{1,4}}{_ANY}|(?:\A|[\n.;] ?)video: {_ANY}",
        ),
    ),
    Exclusion(
        NO_MOMENT,
        """move set drag turn adjust raise lower says reads said title kids child boys girls students pupils teen
        people age morning evening noon quarter inning half round game""",
        (
            rf"{_BARE} in the (?:morning|evening|afternoon|[a-z]+ (?:set|quarter|inning|half|round|game)s?)\b",
            rf"\b{one_of('kids children boys girls students pupils teenagers people aged age ages')} "
            rf"(?:from|between) {_BARE}",
            rf"\b{_MOVE}\b[^.;:\n]{{0,30}}{_BARE}",
            rf"\b(?:says|reads|said|titled|title is)[,:]? [\"'](?:from |between )?{_ANY}",
        ),
    ),
    Exclusion(
        "the time of a clock in the video",
        "verse psalm watch clock countdown microwave timer",
        (
            rf"\b{_CLOCKS}\b"
            rf"[^.;\n]{{0,20}}{_ANY}",
            rf"{_ANY}[^.;\n]{{0,16}}\b(?:game|match) clock",
        ),
    ),
    Exclusion(
        "a time of day",
        "clock watch alarm display day open hours work sched news air local morning evening noon night",
        (
            rf"\b(?:wristwatch|{one_of('opening office business working visiting')} hours)\b[^.;\n]{{0,24}}{_OF_A_DAY}",
            rf"\b{one_of('open opens closed works work scheduled airs aired news bulletin')} (?:daily )?"
            rf"(?:from|between|of|at) {_OF_A_DAY}",
            rf"\b(?:clock|watch|alarm|display)\b[^.;\n]{{0,24}}\b{_SHOWS}\b[^.;\n]{{0,12}}{_OF_A_DAY}",
            rf"{_OF_A_DAY}\s?(?:the alarm|o'clock|local time|hours\b|{_DAY}\b|on [a-z]+days?\b)",
        ),
    ),
    Exclusion(
        "a rate",
        "every each per_ _times _apart",
        (rf"\b(?:every|each) (?:{_ABOUT} )?{_ANY}", rf"\bper [a-z]+ ?[:=] ?{_ANY}", rf"{_ANY}\s(?:times|per|apart)\b"),
    ),
    Exclusion(
        "a length",
        f"""last tak took need dura length long for_ wait paus rest hold held add _of_ total runs pass elapse go_by
        enough {_SECOND} {_MINUTES}""",
        (
            rf"\b{_LENGTH}\W{{1,3}}(?:(?:{_HIM}|{_ABOUT})\W{{1,2}})*{_RANGE}",
            rf"\b(?:{_LENGTH}|long) (?:{_HIM} )?(?:{_ABOUT} )?from (?:{_ABOUT} )?{_ONE_UNIT}",
            rf"\b(?<!go )(?<!opt )(?<!look )(?<!asked )for (?:{_ABOUT} )*{_RANGE}",
            rf"\ban? (?:[a-z]+ ){{0,2}}(?:{words.VIDEO}|moment|period|scene|shot|interval) of (?:{_ABOUT} )?{_RANGE}",
            rf"{_RANGE}[\s-]{{1,2}}(?:long\b|in (?:length|duration|total)\b)",
            rf"\b{_COOK}\b[^.;\n]{{0,30}}{_MINUTES}|\bruns {_ONE_UNIT}",
            rf"{_ONE_UNIT} of (?!(?:the |this )?(?:\d[\d:.]*[ -]?[a-z]* )?{words.VIDEO}\b)[a-z]",
            rf"{_ONE_UNIT} (?:pass|elapse|go by|are enough)",
            rf"\b(?:an?|the|this|that|brief|short) {_SECOND}[ -]{_NOUN}",
        ),
    ),
    Exclusion(
        "a moment that is denied",
        """nothing never neither nor instead rather except exclud unlike other ignor need requir not n't anything wrong
        false correct mistaken doubt unlikely hardly anywhere every outside nobody no_one missing absent possible so_i
        so_we so_it""",
        (
            rf"\b(?:doubt|unlikely|hardly|impossible|(?:anywhere|everything) but|outside(?: of)?|would be {_FALSE})\b"
            rf"(?:(?!{words.BUT})[^.;:\n]){{0,40}}{_ANY}",
            rf"{_ANY}\W{{1,3}}nothing\b",
            rf"{_ANY}[^.;\n]{{0,60}}\bso (?:i|we|it) (?:can't|cannot|can not|is impossible)\b",
            r"\b(?:instead of|rather than|except(?: for)?|exclud(?:es?|ing)|unlike|other than|ignor(?:es?|ing)"
            rf"|anything but|(?:need|require)s? (?:more|additional) [a-z]+|neither|nor)\W{{1,3}}(?:{_AT}\W)*{_ANY}",
            rf"(?:\bnot|n't)(?: {one_of('happening occurring visible shown present seen be it')})? (?:{_AT} )*{_ANY}",
            rf"\b(?:is|are|was|were|does|do|did)(?: not|n't) (?:(?!{words.BUT})[a-z]+ ){{1,5}}"
            rf"(?:from|between|at|during|in) {_ANY}",
            rf"\b(?:nothing|never|nobody|no one|missing|absent)\b[^.,;:\n]{{0,40}}{_ANY}",
            rf"{_ANY}[^.,;\n\d]{{0,24}}\b(?:is|are|was|were|would be|seems?) "
            rf"(?:{_FALSE}\b|not (?:right|correct|true|it\b|the (?:right|correct|answer)))",
        ),
    ),
    Exclusion(
        "a moment beside it",
        "after before follow prior previous meanwhile rest other earlier different",
        (
            rf"\b{_OTHER} {one_of('video clip film question query example answer task turn response one')}\b"
            rf"[^.;\n]{{0,40}}{_ANY}",
            rf"\b(?:after|before|following|prior to) (?:that|this|which)\b[^.;\n]{{0,40}}{_ANY}",
            rf"\b(?:afterwards?|beforehand|previously|meanwhile|the rest)\b[^.;\n]{{0,40}}{_ANY}",
        ),
    ),
    Exclusion(
        "an example",
        "e.g example sample instance such form template as_ like with should may might must output write",
        (
            rf"\b(?:respond|reply|write it|output|{_MAY} (?:be )?{_WRITTEN}) (?:something )?(?:with|as|like)\b"
            rf"[^.;\n]{{0,40}}{_ANY}",
            rf"\b(?:e\.g\.|form is|format is|example\b|sample {_RESULT}|for instance)[^.;)\n]{{0,40}}{_ANY}",
            rf"\bsuch as [\[({{\"']{{0,2}}(?:from |between )?{_ANY}",
            r"\b(?:the|this|that|an?|following|of|expected|output) (?:form|format|template)(?: of| like| such as|,|:)?"
            rf"[\s\"'\[({{]{{1,3}}(?:from |between )?{_ANY}",
        ),
    ),
    Exclusion(
        LOOKED_AT,
        """look check search zoom view exam inspect verif crop watch focus sampl analy extract locat scan seek peek get
        read went assum suppos if_ ask describ shar prompt question need instruct task provid send
        tell giv upload mean clarif
        specif confirm name" tool" action" function\"""",
        (
            rf"\b{_WILL} (?:{one_of('now first then also just next again quickly')} )*{_LOOK}\b"
            rf"[^.;:!?\n]{{0,40}}{_ANY}",
            rf"\bif you (?:could |can )?{one_of('describe share provide send tell give upload mean')}\b"
            rf"[^.;:!?\n]{{0,50}}{_ANY}",
            rf"\bneed (?:to see|(?:the )?(?:frames|clip|footage)) {_AT} {_ANY}",
            rf"(?:\A|[.,;!?\n\"] ?)if\b[^.;:!?\n]{{0,40}}\b(?:were|was|had(?! to))\b[^.;:!?\n]{{0,50}}{_ANY}",
            rf"\bplease {one_of('share provide upload send describe clarify specify confirm')}\b"
            rf"[^.;:!?\n]{{0,50}}{_ANY}",
            rf"\bi(?:'ve| have)? {one_of('looked checked searched examined scanned reviewed watched went')}\b"
            rf"[^.;:!?\n]{{0,40}}{_ANY}",
            rf"\b(?:prompt|question|instruction|task) {one_of('says said asks asked reads is was')}\b"
            rf"[^.;!?\n]{{0,40}}{_ANY}",
            rf"\b(?:assuming|supposing|suppose)\b[^.,;:!?\n]{{0,40}}{_ANY}",
            rf"\bask(?:s|ed|ing)? (?:me )?{one_of('about for whether what when where who which if')}\b"
            rf"(?:(?!\b(?:is|are|was|were)\b)[^.,;:!?\n]){{0,20}}{_ANY}",
            rf"\"(?:name|tool|action|function)\"\s?:\s?\"(?!{_ANSWERS})\w+\"\s?,\s?\"(?:arg|param|input)"
            rf"[^\n]{{0,48}}{_ANY}",
            rf"\b{_TOOL}(?:[\"'>(]|\s{{1,2}}action input:)[^\n]{{0,48}}{_ANY}",
            rf"{_ANY}[^a-z\n]{{0,12}}(?:</[a-z_]+>)?\s*(?:i will|i'll|let me) (?:now |first |then )?{_LOOK}\b",
        ),
    ),
    Exclusion(
        "a boundary that lies between two times",
        "start begin end stop finish anywhere",
        (
            rf"\banywhere (?:between|from|within) {_ANY}",
            rf"\b{one_of('starts start starting begins begin beginning ends end ending stops stop finishes finish')} "
            r"(?:[a-z]+ing )?"
            r"(?:(?:anywhere|somewhere|some ?time|at some point) )?(?:between|(?<=where )from|(?<=time )from|within) "
            f"{_ANY}",
        ),
    ),
    Exclusion(
        "one time or another",
        "later earlier or_",
        (
            rf"{_ANY}(?: or so)?[^.;\n]{{0,12}} or "
            r"(?:(?:a (?:little|bit) |slightly |somewhat )?(?:later|earlier)|before|after)\b",
        ),
    ),
    Exclusion("a question", "?", (rf"{_ANY}[^.,;!?\n\"{{}}()\[\]]{{0,60}}\?",)),
    Exclusion(
        "relative to another time",
        "before after within",
        (rf"{_ANY}\s(?:before|after)\s(?:the )?\d", rf"\bwithin {_ANY}\sof\s(?:the )?(?!{words.VIDEO}\b)"),
    ),
)
"""Contexts of moments, the first that applies first."""


_PATTERNS = [
    (
        exclusion.why,
        [sign.replace("_", " ") for sign in exclusion.signs.split()],
        re.compile("|".join(exclusion.patterns)),
    )
    for exclusion in EXCLUSIONS
]


def context_of(before: str, moment: str, behind: str, how: str = "a range", *, is_bare: bool = False) -> str:
    """Return why a moment is no answer, by the text before, in and behind it; "" if nothing speaks against it.

    `how` it was recognised, and whether it `is_bare`, without a unit, are those of a :class:`Moment`.

    Examples
    --------
    >>> context_of("the scene lasts ", "5 to 8 seconds", ".")
    'a length'
    >>> context_of("he jumps from ", "5 to 8 seconds", ".")
    ''
    """
    kind = kind_of(moment, how, is_bare=is_bare)
    return excluded(before, kind, behind) or ("" if is_placed(before, kind, behind) else NOT_PLACED)


@functools.lru_cache(maxsize=4096)  # models repeat their wordings
def excluded(before: str, kind: Wording, behind: str) -> str:
    """Return what words beside a moment say that it is; "" if they say nothing."""
    around = f"{before}{_MARKS[kind]}{behind}"
    for why, signs, pattern in _PATTERNS:
        if any_of(signs, around) and pattern.search(around) is not None:
            return why
    return ""
