"""Which sentences are the narrator's: rules that give a verdict with its evidence, and ways to combine them.

==============  ====================================================================================================
``overlap``     the paper's: a sentence that shares more than 0 s with a cue of speech is dialogue
``difference``  under half of its words' time lies where the track has sound that the film has not (narrator runs)
``text``        its words are those of a cue within 2 s
``voice``       the film's own sound has a voice in over half of it
``speaker``     the transcript names another speaker than the narrator
``nowhere``     most of its words touch no narrator run by 0.3 s
==============  ====================================================================================================

A rule without its input (no subtitles, no alignment good enough) has no verdict, and gives the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, get_args

from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.base.known_names import one_of_known
from truemoment.collection.spans import Span, covered_s, share_within, touches
from truemoment.media.speech.base import HeardWord
from truemoment.media.speech.subtitles import Cue, cues_within

Rule = Literal["overlap", "difference", "text", "voice", "speaker", "nowhere"]
RULES: tuple[Rule, ...] = get_args(Rule)

Mode = Literal["both", "paper", "difference", "subtitles", "speaker"]
MODES: tuple[Mode, ...] = get_args(Mode)

LEAST_IN_RUNS = 0.5
NEAR_CUE_S = 2.0
SAME_TEXT = 75.0
"""Similarity, from 0 to 100, from which a sentence is that of a cue."""

LEAST_WORDS = 2
"""Fewer words are found in any text."""

NOWHERE_S = 0.3
LEAST_TOUCHING = 0.5

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


class RuleVerdict(NamedTuple):
    """The verdict of a rule on a sentence.

    Parameters
    ----------
    rule
        Name of the rule.
    keep
        Whether the sentence is description; None if the rule has no verdict.
    value
        The figure that decided: seconds, a share, or a similarity from 0 to 100.
    evidence
        What it was compared with, in words; or why the rule has no verdict.
    """

    rule: Rule
    keep: bool | None
    value: float | None = None
    evidence: str = ""


@dataclass(frozen=True)
class Evidence:
    """What rules decide by; None where it is not known.

    Parameters
    ----------
    runs
        Where the narrator speaks, in film time, disjoint and rising.
    cues
        Cues of speech.
    voice
        Where the film's own sound has a voice, disjoint and rising.
    narrator
        Name of the narrator in the transcript.
    overlap_s
        Seconds that a sentence may share with a cue.
    """

    runs: Sequence[Span] | None = None
    cues: Sequence[Cue] | None = None
    voice: Sequence[Span] | None = None
    narrator: str | None = None
    overlap_s: float = 0.0


class Candidate(NamedTuple):
    """A sentence under judgement: its text, and its words in film time."""

    text: str
    words: tuple[HeardWord, ...]

    @property
    def span(self) -> Span:
        """Start of the first word and end of the last."""
        return self.words[0].start_s, max(word.end_s for word in self.words)

    @property
    def word_spans(self) -> list[Span]:
        """The time of each word."""
        return [(word.start_s, word.end_s) for word in self.words]


def judge(sentence: Candidate, evidence: Evidence) -> tuple[RuleVerdict, ...]:
    """Return the verdict of every rule."""
    return tuple(rule(sentence, evidence) for rule in _RULES.values())


def by_overlap(sentence: Candidate, evidence: Evidence) -> RuleVerdict:
    """Judge by overlap with cues of speech, as the paper does."""
    if evidence.cues is None:
        return RuleVerdict("overlap", None, evidence="no subtitles")
    start_s, end_s = sentence.span
    near = cues_within(evidence.cues, start_s, end_s, 0.0)
    longest = max(near, key=lambda cue: covered_s(sentence.span, [(cue.start_s, cue.end_s)]), default=None)
    shared = 0.0 if longest is None else covered_s(sentence.span, [(longest.start_s, longest.end_s)])
    return RuleVerdict("overlap", shared <= evidence.overlap_s, shared, longest.text if longest and shared else "")


def by_difference(sentence: Candidate, evidence: Evidence) -> RuleVerdict:
    """Judge by the share of the words' time that lies in narrator runs."""
    if evidence.runs is None:
        return RuleVerdict("difference", None, evidence="no narrator runs")
    share = share_within(sentence.word_spans, evidence.runs)
    return RuleVerdict("difference", share >= LEAST_IN_RUNS, share)


def by_text(sentence: Candidate, evidence: Evidence) -> RuleVerdict:
    """Judge by similarity with the text of cues near it."""
    if evidence.cues is None:
        return RuleVerdict("text", None, evidence="no subtitles")
    words = words_of(sentence.text)
    near = cues_within(evidence.cues, *sentence.span, NEAR_CUE_S)
    subtitle_words = [word for cue in near for word in words_of(cue.text)]
    if len(words) < LEAST_WORDS or not subtitle_words:
        return RuleVerdict("text", True, 0.0)
    score = _similarity(words, subtitle_words)
    return RuleVerdict("text", score < SAME_TEXT, score, " / ".join(cue.text for cue in near))


def by_voice(sentence: Candidate, evidence: Evidence) -> RuleVerdict:
    """Judge by the voice in the film's own sound."""
    if evidence.voice is None:
        return RuleVerdict("voice", None, evidence="no voice activity")
    share = share_within([sentence.span], evidence.voice)
    return RuleVerdict("voice", share <= 0.5, share)


def by_speaker(sentence: Candidate, evidence: Evidence) -> RuleVerdict:
    """Judge by the name of the speaker in the transcript."""
    voices = Counter(word.voice for word in sentence.words if word.voice is not None)
    if evidence.narrator is None or not voices:
        return RuleVerdict("speaker", None, evidence="no names of speakers")
    share = voices[evidence.narrator] / sum(voices.values())
    return RuleVerdict("speaker", share > 0.5, share, min(voices, key=lambda name: (-voices[name], name)))


def by_place(sentence: Candidate, evidence: Evidence) -> RuleVerdict:
    """Judge by the share of words that touch a narrator run: an engine may invent text in silence."""
    if evidence.runs is None:
        return RuleVerdict("nowhere", None, evidence="no narrator runs")
    touching = sum(touches(span, evidence.runs, NOWHERE_S) for span in sentence.word_spans) / len(sentence.words)
    return RuleVerdict("nowhere", touching >= LEAST_TOUCHING, touching)


_RULES = MappingProxyType(
    {
        "overlap": by_overlap,
        "difference": by_difference,
        "text": by_text,
        "voice": by_voice,
        "speaker": by_speaker,
        "nowhere": by_place,
    }
)

_MODES: Mapping[Mode, tuple[tuple[Rule, ...], ...]] = MappingProxyType(
    {
        "paper": (("overlap",),),
        "difference": (("difference", "nowhere"),),
        "subtitles": (("overlap", "text"),),
        "speaker": (("speaker",),),
        "both": (("difference", "nowhere", "text"), ("overlap", "text"), ("voice",)),
    }
)
"""The rules that decide, by mode: the first group whose first rule has a verdict."""


def deciding(verdicts: Sequence[RuleVerdict], mode: Mode) -> tuple[Rule, ...]:
    """Return the rules that decide in a mode; none if no rule has a verdict."""
    rules = {verdict.rule for verdict in verdicts if verdict.keep is not None}
    group = next((group for group in _MODES[mode] if group[0] in rules), ())
    return tuple(rule for rule in group if rule in rules)


def dropped_by(verdicts: Sequence[RuleVerdict], mode: Mode) -> Rule | None:
    """Return the rule that drops a sentence; None if it is kept."""
    rules = deciding(verdicts, mode)
    return next(
        (verdict.rule for rule in rules for verdict in verdicts if verdict.rule == rule and not verdict.keep), None
    )


def refuse_without_evidence(
    evidence: Evidence,
    mode: Mode,
    *,
    keep_all: bool,
    unused: Sequence[str] = (),
    path: Any = None,  # noqa: ANN401 - a path or None
) -> None:
    """Refuse a film for which no rule of the mode can separate description from dialogue.

    Parameters
    ----------
    evidence, mode
        What rules decide by, and which of them count.
    keep_all
        Whether films without evidence are taken.
    unused
        What was given and is not used, with the reason.
    path
        The film.
    """
    if mode not in MODES:
        raise UsageError(f"--dialogue: got {mode!r}, expected {one_of_known(mode, MODES)}")
    has = {
        "overlap": evidence.cues is not None,
        "difference": evidence.runs is not None,
        "voice": evidence.voice is not None,
        "speaker": evidence.narrator is not None,
    }
    if keep_all or any(has[group[0]] for group in _MODES[mode]):
        return
    need = {"paper": "subtitles", "subtitles": "subtitles", "speaker": "a transcript with speakers"}
    needed = need.get(mode, "an alignment to 20 ms, or subtitles")
    raise InputError(
        "; ".join([f"nothing separates description from dialogue: --dialogue {mode} needs {needed}", *unused]),
        path=path,
        hint="or give --keep-all",
    )


def narrator_of(words: Sequence[HeardWord], runs: Sequence[Span] | None, cues: Sequence[Cue] | None) -> str | None:
    """Return the speaker with the most seconds in narrator runs, or outside cues; None without names or either."""
    seconds: Counter[str] = Counter()
    spoken = None if cues is None else [(cue.start_s, cue.end_s) for cue in cues]
    for word in words:
        if word.voice is None:
            continue
        span = (word.start_s, word.end_s)
        if runs is not None:
            seconds[word.voice] += covered_s(span, runs)  # type: ignore[assignment]  # seconds, not counts
        elif spoken is not None:
            seconds[word.voice] += max(0.0, span[1] - span[0] - covered_s(span, spoken))  # type: ignore[assignment]
    return min(seconds, key=lambda name: (-seconds[name], name)) if seconds else None


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, without punctuation.

    Examples
    --------
    >>> words_of("It's late -- go!")
    ["it's", 'late', 'go']
    """
    return [word.lower().replace("’", "'") for word in _WORD.findall(text)]


def require_comparison() -> None:
    """Raise in one line if the package that compares sentences is missing, before a film is heard for minutes."""
    try:
        import rapidfuzz  # noqa: F401, PLC0415 - optional
    except ModuleNotFoundError:
        raise MissingPackageError("rapidfuzz", "collect", "comparing sentences with subtitles") from None


def _similarity(words: Sequence[str], text: Sequence[str]) -> float:
    """Return from 0 to 100 how far the words are a part of the nearby subtitles."""
    require_comparison()
    from rapidfuzz import fuzz  # noqa: PLC0415 - optional
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415 - as above

    if len(words) <= len(text):
        return float(fuzz.partial_ratio(words, text))
    return 100.0 * LCSseq.similarity(words, text) / len(words)
