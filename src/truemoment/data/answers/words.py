"""The words and signs of answers, as sets and as parts of patterns, in small letters."""

from __future__ import annotations

from typing import Literal

Label = Literal["", "start", "end", "length", "between", "other"]
"""Meaning of the word before a time."""


def each(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def one_of(text: str) -> str:
    """Return a pattern for one of the words of a text; an underscore is a blank.

    Examples
    --------
    >>> one_of("does does_not")
    '(?:does not|does)'
    """
    return f"(?:{'|'.join(word.replace('_', ' ') for word in sorted(text.split(), key=len, reverse=True))})"


# Numbers in words.
_ONES = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
ONES = {word: value for value, word in enumerate(_ONES.split())}
TENS = {word: 10 * value for value, word in enumerate(_TENS.split(), 2)}
_UNIT_ORDINALS = "third fourth fifth sixth seventh eighth ninth"
_ORDINALS = f"""{_UNIT_ORDINALS} tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth
nineteenth twentieth"""
ORDINALS = {word: value for value, word in enumerate(_ORDINALS.split(), 3)}
ORDINALS |= {f"{ten[:-1]}ieth": value for ten, value in TENS.items()} | {"first": 1, "second": 2}
_ORDER = one_of(" ".join(word for word in ORDINALS if word not in ("first", "second")))
SPELLED = (
    rf"\b(?:{one_of(' '.join(TENS))}"
    rf"(?:[- ](?:{one_of(' '.join(list(ONES)[1:10]))}|{one_of(f'first {_UNIT_ORDINALS}')}|second(?= second\b)))?"
    rf"|{one_of(' '.join(ONES))}|{_ORDER}|half an?|an?(?=[ ](?:minute|hour)))\b"
)
"""A number or an order in words; "first" and "second" alone are neither."""

VIDEO = one_of("video clip film footage movie recording timeline")

# Between two times.
RANGE = each("to - -- --> -> => > → ~ .. ... … until till til through thru upto uptil")
"""Words that make a moment of the times before and after them."""
AND = each("and")
"""The same after "between"."""
SPAN_OF = (
    r"\b(?:(?:span|interval|window|range|segment) of|(?:timestamps|boundaries|start and end(?: times)?) are)"
    r" (?:about |around )?\Z"
)
"""Before the first of two times that "and" joins."""
ASIDE_IN_RANGE = r",? ?\b(?:let's say|let me say|say|hmm|um|uh|i think|i'd say|i believe|maybe|perhaps|possibly)\b,?"
"""Between two times, it changes nothing."""
UP_TO = each("to until till through")
"""The same after a start, whatever else is between."""
FILLERS = each(
    """about around approximately approx roughly circa ca just exactly nearly almost near the a at t its of no number
    index timestamp time time_s mark point second seconds sec s frame frames minute minutes
    = : ( ) [ ] { } \\ " ' . | < > / ~ $"""
)
"""Words that may be beside it."""

LABELS: dict[str, Label] = {
    **dict.fromkeys(
        each("""start starts started starting begin begins began beginning onset from t_start starttime"""), "start"
    ),
    **dict.fromkeys(
        each(
            """end ends ended ending finish finishes finished finishing stop stops conclude concludes concluding
            until till offset endtime"""
        ),
        "end",
    ),
    **dict.fromkeys(each("lasts lasting lasted duration length long total runtime"), "length"),
    **dict.fromkeys(each("between"), "between"),
    **dict.fromkeys(
        each(
            """score confidence conf prob probability id index qid video_id query_id fps rate step option question
            figure fig chapter page scene shot part rank iou width height version layer item no"""
        ),
        "other",
    ),
}
"""What a word means for the time after it; of "start_time" the part before the line counts."""
LABEL_WORD = r"[a-z_]+"

# Behind and before a range of two bare numbers.
FOLLOWERS = each(
    """in on at when where while as is are was were and or which that the during with after before by because since
    this it he she they there both then but out so per mark marks range inclusive respectively corresponds corresponding
    show shows match matches contain contains depict depicts represent represents a an into onwards i you we his her
    their"""
)
"""Words that may follow it; another word names what is counted: "2 to 3 bags"."""
MEASURED = each(
    """meter meters metre metres m cm mm km feet foot ft inch inches mile miles kg kilograms g grams pounds lbs degrees
    dollars euros points stars litres liters l ml gb mb fps hz"""
)
"""Words after a number with a point that name what is measured; others may be misspelt units of time."""
NUMBERED_THINGS = one_of(
    """step option figure fig chapter page scene shot part question item section room level person player video clip
    image version season episode score ratio age aged grade lane number no"""
)
"""Things that have numbers: "steps 2 to 3"."""

# One time and an end of the video.
GOES_ON = one_of("goes going continues continuing lasts lasting runs running keeps extends stays")
ONWARD = one_of("on onward onwards going all_the_way right up")
TO_THE_END = (
    rf"(?:[\s,\"'()]{{0,3}}(?:mark |seconds? )?(?:"
    rf"(?P<to>(?:and )?(?:it )?(?:{GOES_ON} )?(?:{ONWARD} ){{0,2}}"
    r"(?:to|until|till|through|-+|and ends? (?:at|with)|\"?end(?:_time)?\"?:)\s?\"?"
    rf"(?:(?:the )?{VIDEO} (?:ends|finishes|is over)\b|(?:the )?(?:very )?end\b)(?!(?:[ _]time)?[_:\"]*\s?[:=]?\s?\d))"
    r"|(?P<on>(?:and )?(?:onwards?\b|on\b(?=\W*$|[,.])|and after\b|to \?)))"
    r"|(?P<end>\"?\s?,\s?\"?(?:the )?end\"?(?=\s*[\])])))"
)
LATER = r"\s(?:later|afterwards?)\b"
"""Behind a number of seconds that count from the time before it."""
LASTS = r"\b(?:lasts?|lasting|lasted|for)(?: about| only| around| roughly| approximately| just| for){0,2} \Z"
NAMED_BEHIND = r"\s?(?:\(|(?:as|is) (?:the |its )?)(?:(?P<start>start|begin)|(?P<end>end))[a-z ]{0,20}\)?"
FROM_THE_START = (
    r"(?:"
    rf"(?:from |at )?(?:the )?(?:very )?(?:start|beginning|outset|0)(?: of the {VIDEO})?"
    r"\s?,?(?:to|until|till|through|up to|-+|and (?:ends?|stops?|finishes|lasts until|continues until) (?:at)?)\s?"
    rf"|\b{one_of('until till up_to before within_the_first during_the_first in_the_first the_first first')} "
    r")(?:about |around |approximately |the |roughly |second |minute ){0,3}\Z"
)
NOT_UNTIL = r"(?:\bnot|n't|\bnever) [a-z ,]{0,40}(?:until|till|before) (?:about |around |the )?\Z"
BEFORE_THE_END = r"\b(?:the )?(?:last|final)(?: about)? \Z"
WHOLE = (
    rf"\b(?:whole|entire|full|complete) (?:duration of the |length of the )?{VIDEO}\b"
    rf"|\bthroughout (?:the |this )?(?:whole |entire )?{VIDEO}?"
    r"|\bvideo in its entirety\b|\b(?:from )?(?:the )?(?:start|beginning) (?:to|until|till) (?:the )?end\b"
    r"|\bduring the video from start to finish\b"
)

# Before a moment that is not the answer.
WHOLE_VIDEO = one_of("video film footage movie recording")  # a clip may be the moment itself
VIDEO_IS = rf"\b{WHOLE_VIDEO}(?:'s)?(?: itself)? (?:is|lasts|ends|finishes|runs|has|covers|spans|goes|plays)\b"
UNIT_BEFORE = (
    r"(?:\A|[\W_])(?:(?P<frame>frames?|frame_(?:start|end|begin|stop|first|last|no|number|id|idx|ind\w+)|frameind\w+|indices)|(?P<percent>percent(?:ages?)?)"
    r"|(?P<other>ms|msec|milliseconds?|minutes?|mins?|hours?))\b[^.;\n\d]{0,30}\Z"
)
STATES_LENGTH = rf"(?:{VIDEO_IS}[^.\d]{{0,20}}|\bout of |\btotal(?: of)? )\Z"
IS_THE_LENGTH = rf"[\s-]{{0,2}}(?:long\b|{VIDEO}\b)"
TWICE = r"\b(?:twice|two times|both times|several times|each time|and again (?:at|around|from))\b"

# Between two moments.
CONNECTING = each(
    """and then also again plus as well followed by another from between at around about to the in of is it or either
    moment moments segment segments event events interval intervals occurrence occurrences instance instances clip clips
    time times timestamp timestamps span spans window windows range ranges period periods query video answer
    first second third fourth next finally later once more start starts end ends seconds sec secs s
    maybe possibly perhaps
    , ; & | / [ ] { } ( ) < > : - • = # " ' +"""
)
"""Words that may be between two moments of one answer."""
_CHOICE = one_of(
    """so therefore thus hence answer final finally conclusion correct actual actually real itself queried query asked
    ask match matches matching best better confirm instead rather but although though wait correction sorry requested
    relevant you_describe you_mean you_want you_asked described target wanted right make_that i'd i_would i'll
    the_moment the_event the_one now closer_inspection closer_look"""
)
CHOICE = rf"\b{_CHOICE}\b|\bno,|\btime\s{{0,3}}:"
"""Behind other moments, it leads to the one that is the answer."""
UNDECIDED = (
    r"\b(?P<hedge>maybe|perhaps|possibly)\b[^.;\n]{1,40}\b(?P=hedge)\b"
    r"|\btorn between\b|\b(?:just as|equally) (?:likely|possible|plausible|good)\b"
    r"|\b(?:could|might|may) (?:also|equally)\b|\bone\b[^.;\n]{0,60}\bthe other\b"
    r"|\bone at\b[^.;\n]{0,30}\bone at\b"
    r"|\b(?:could|can|would) you (?:please )?(?:clarify|specify|tell me which)"
    r"|\b(?:somewhere )?in between[,.;]|\balternatively\b|\banother (?:possibility|candidate|option)\b"
    r"|\bdepend(?:s|ing) on\b|\bboth (?:are |seem )?(?:possible|plausible|likely)\b"
    r"|\b(?:not sure|not certain|unsure|unclear|(?:can't|cannot) (?:decide|tell)) (?:which|whether|if|between)\b"
)
"""In a text with several moments, none is chosen."""
COUNTED_MOMENT = one_of("moment segment event interval occurrence instance clip time span window range")

# Which part is the answer.
THOUGHT = one_of("think thinking reasoning thought thoughts")
ANSWER_TAG = one_of("answer final_answer output response prediction").replace("final answer", "final_answer")
TIME_TAG = (
    one_of(
        "time times timestamp timestamps moment moments segment segments interval intervals span spans clip glue seg"
    )[:-1]
    + "|time_range|temporal_window|timespan)"
)
ANSWER_MARK = (
    r"\b(?<!sample )(?<!example )(?:final |correct |my |the )?(?:answer|conclusion|prediction|result)"
    r"(?: is| would be)?\"? ?[:=]"
    r"|\b(?<!sample )(?<!example )(?:final |correct )?answer is\b|\bfinal answer\b"
)
ANSWER_WORDS = ("answer", "conclusion", "prediction", "result")

# There is none.
NOT = (
    rf"(?:\b{one_of('does do did is are was were has have can could will')}(?: not|n't| never)"
    rf"|\b{one_of('cannot cant never not without_being')})"
)
TO_BE_SEEN = (
    r"(?:occur|happen|appear|correspond|take place|exist|present|shown?|visible|found|find|seen?|contain"
    r"|include|mention|depict|display|portray|featured?|observed?|locate|identified|match"
    r"|relevant|related|any (?:moment|time|point|such|segment|scene|instance|event)|in (?:the|this) (?:video|clip))"
)
MOMENTS = (
    r"(?:moments?|events?|scenes?|segments?|actions?|such|answer|clips?|parts?|intervals?|occurrences?|instances?"
    r"|match(?:es|ing)?|timestamps?|time|evidence|footage|one)"
)
DENIAL = (
    rf"{NOT}\b (?:[a-z']+ ){{0,5}}?{TO_BE_SEEN}"
    r"|\bnever (?:occurs|happens|appears|shows|takes place)"
    r"|\bnone of (?:the|these)\b|\bneither [a-z ,']{1,60}\b(?:appears?|occurs?|happens?|present|shown|seen|visible)"
    rf"|\bno (?:[a-z']+ ){{0,3}}?{MOMENTS}\b"
    r"|\bthere(?: is|'s| are|s) no(?:thing|body| one)?\b|\bnothing (?:in the video )?(?:matches|like|corresponds)"
    r"|\bno [a-z]+(?: [a-z]+)? (?:is|are|was|were) (?:ever )?(?:visible|seen|shown|present|heard|found|observed)\b"
    r"|\bno [a-z]+ (?:is|are|was|were) [a-z]+ed in (?:the|this)\b"
    r"|\bno [a-z]+,? (?:anywhere|at all|whatsoever)\b|\"(?:is )?not (?:present|found|visible|available|shown)\""
    r"|\b(?:is|are) absent\b|\babsent from\b|\bnot applicable\b|\bno corresponding\b"
    r"|\"(?:[a-z]+_)?(?:found|exists?|present|occurs?|detected|match|visible)\"\s*:\s*\"?(?:false|no)\b"
)
MAY_DENY = ("no", "neither", "n't", "never", "absent", "false", "cant", "there")
"""A text without any of these denies nothing."""
HARMLESS = one_of(
    """again elsewhere anywhere_else otherwise other another outside apart_from before_that after_that before_this
    after_this afterward afterwards beyond earlier later anymore any_more besides"""
)
"""Beside a denial: what is denied is another moment."""
BUT = (
    rf"\b{one_of('but instead rather however until except only though although yet while just then so')}\b"
    r"|[;.!?\n]|, (?:it|the|he|she|they)\b"
)
"""Behind a denial: what follows is not denied."""
CLOSEST = r"\b(?:closest|nearest|most similar)\b"
NOT_THERE = r"\bnot (?:happening |occurring |visible |shown |present )?(?:from|between|at|in|during|within) (?:the )?\Z"
NOTHING = one_of(
    """none null n/a na nil no nothing not_found no_match no_answer no_moment no_result not_applicable nan undefined
    empty not_present not_available"""
)
"""Alone, it means that there is none."""

# The model declines.
CANNOT = one_of(
    """cannot can't can_not cant unable_to not_able_to not_possible_to impossible_to am_not_capable_of couldn't
    could_not won't will_not"""
)
MAY_DECLINE = ("can", "could", "able", "won", "will", "n't", "not", "sorry")
"""A text without any of these has none of them."""
DO_IT = one_of(
    """watch view access process analyse analyze open play load determine answer help assist provide comply tell
    identify give say pinpoint specify see viewing watching accessing localize estimate directly interpret fulfil
    fulfill do_that do_this"""
)
A_MODEL = r"\bas an? (?:ai|language|large|text|artificial)\b"
REFUSAL = (
    rf"\b{CANNOT} (?:[a-z']+ ){{0,3}}?{DO_IT}\b"
    rf"|{A_MODEL}|\bi(?:'m| am) sorry\b|\bsorry,|\bi apologi[sz]e\b"
    r"|\b(?:don't|do not|does not|doesn't) have (?:the |any |a )?"
    r"(?:access|ability|capability|enough|sufficient|video|eyes|means|way)\b"
    r"|\bno (?:video|image|frames?|file|media) (?:was|were|is|has been|have been)?\s?"
    r"(?:provided|attached|uploaded|given|available|found)?"
    r"|\bneed (?:more|additional|the) (?:information|context|video|details)"
    rf"|\bplease (?:provide|upload|share|attach) (?:the |a |your |me )?(?:actual )?(?:file|frames|{VIDEO})"
    r"|\binsufficient (?:information|context|evidence|visual)|\bnot enough (?:information|context)"
)
