"""Every rule on the same film: what each keeps of all that is spoken on the described track, against the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from truemoment.collection.layout import CollectSettings, StoredSentence
from truemoment.collection.narration import Evidence
from truemoment.collection.scoring import SentenceScore, score_sentences
from truemoment.collection.sentencing import make_sentences
from truemoment.media.audio.alignment import Alignment
from truemoment.media.speech.base import HeardWord
from truemoment.media.speech.subtitles import Subtitles
from truemoment.worlds.described.film import Truth

MISSING = 0.15
"""Share of the cues that one row leaves out."""

OVERLAP_S = 0.5


@dataclass(frozen=True)
class RuleScore:
    """A way to drop dialogue, and how well its sentences match the truth."""

    title: str
    score: SentenceScore


def compare_rules(
    words: Sequence[HeardWord],
    evidence: Evidence,
    subtitles: Subtitles,
    alignment: Alignment,
    truth: Truth,
    *,
    punctuated: bool,
    seed: int = 0,
) -> list[RuleScore]:
    """Return how well each rule does on all words of the described track.

    Parameters
    ----------
    words
        Words of the whole track, in film time.
    evidence
        Narrator runs and cues of the film.
    subtitles
        All cues, captions of sounds too.
    alignment, truth
        Where the track lies in the film, and what is known of it.
    punctuated
        Whether the words carry punctuation.
    seed
        Seed of the cues that are left out in one row.
    """

    def apply_rule(settings: CollectSettings, evidence: Evidence) -> list[StoredSentence]:
        sentences = make_sentences("film", words, evidence, alignment, settings, punctuated=punctuated)
        return [sentence for sentence in sentences.stored if sentence.kept]

    cues = list(evidence.cues or ())
    mask = np.random.default_rng(seed).random(len(cues)) >= MISSING
    fewer = [cue for cue, stays in zip(cues, mask, strict=True) if stays]
    sounds = [cue for cue in subtitles.cues if cue.kind == "sound"]
    paper = CollectSettings(dialogue="paper")
    rows: list[tuple[str, Callable[[], list[StoredSentence]]]] = [
        ("no rule", lambda: apply_rule(CollectSettings(keep_all=True), Evidence())),
        ("paper: any overlap with a cue", lambda: apply_rule(paper, evidence)),
        ("paper, captions of sounds not left out", lambda: apply_rule(paper, replace(evidence, cues=[*cues, *sounds]))),
        (f"paper, {100 * MISSING:.0f} % of the cues missing", lambda: apply_rule(paper, replace(evidence, cues=fewer))),
        (f"overlap of more than {OVERLAP_S:g} s", lambda: apply_rule(paper, replace(evidence, overlap_s=OVERLAP_S))),
        ("subtitles: overlap and text", lambda: apply_rule(CollectSettings(dialogue="subtitles"), evidence)),
    ]
    if evidence.runs is not None:
        rows += [
            ("difference: no subtitles at all", lambda: apply_rule(CollectSettings(), replace(evidence, cues=None))),
            ("both: difference, then text", lambda: apply_rule(CollectSettings(), evidence)),
        ]
    return [RuleScore(title, score_sentences(rule(), truth)) for title, rule in rows]
