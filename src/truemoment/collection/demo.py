"""Collecting a simulated film, and comparing what was collected with the truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from truemoment.base.boundary.files import read_json
from truemoment.base.errors import InputError
from truemoment.collection import layout
from truemoment.collection.hearing import hear
from truemoment.collection.layout import CollectSettings, FilmReport, FoundFilm, StoredSentence, films_in
from truemoment.collection.narration import Evidence
from truemoment.collection.pipeline import CollectRecipe, collect_films, opened
from truemoment.collection.rules_compared import RuleScore, compare_rules
from truemoment.collection.scoring import AlignmentScore, SentenceScore, score_alignment, score_sentences
from truemoment.collection.soundtracks import NarratorRuns
from truemoment.collection.tasks import make_task
from truemoment.media.audio.alignment import Alignment, read_alignment
from truemoment.media.audio.recording import record
from truemoment.media.audio.sources import Source
from truemoment.media.speech.subtitles import read_subtitles
from truemoment.worlds.described.film import DescribedSettings, Truth, make_described

TO_PASS = (
    ("alignment error", "at most 20 ms"),
    ("pieces", "all"),
    ("sentence recall", "at least 0.95"),
    ("sentence precision", "at least 0.98"),
    ("word error rate", "at most 0.05"),
    ("boundary IoU", "at least 0.85"),
    ("dialogue leakage", "0"),
)
"""What the figures of a simulated film must be, with the recogniser ``tones``."""


@dataclass(frozen=True)
class DemoResult:
    """The sentences and figures of a simulated film.

    Parameters
    ----------
    truth
        What is known of the film.
    alignment, runs, evidence, sentences, film
        What was collected, and what it was judged by.
    aligned, score
        Alignment and sentences against the truth.
    rules
        Every rule on the same film.
    """

    truth: Truth
    alignment: Alignment
    runs: NarratorRuns
    evidence: Evidence
    sentences: Sequence[StoredSentence]
    film: FilmReport
    aligned: AlignmentScore
    score: SentenceScore
    rules: Sequence[RuleScore]

    @property
    def passed(self) -> dict[str, bool]:
        """Whether each figure reaches its threshold."""
        holds = (
            self.aligned.error_s <= 0.02 and self.aligned.unmapped_s == 0,
            self.aligned.pieces_right,
            self.score.recall >= 0.95,
            self.score.precision >= 0.98,
            self.score.word_error <= 0.05,
            self.score.mean_iou >= 0.85,
            self.score.leakage == 0,
        )
        return dict(zip((name for name, _ in TO_PASS), holds, strict=True))


def run_demo(
    described: Path,
    out: Path,
    minutes: float,
    seed: int,
    *,
    speech: str = "tones",
    on_status: Callable[[str], None] = lambda _: None,
) -> DemoResult:
    """Simulate a film, collect its sentences, and compare them with the truth.

    Parameters
    ----------
    described
        Folder of the simulated film.
    out
        Folder of the collection.
    minutes, seed
        Length of the film, and seed of all draws.
    speech
        What hears the words, as ``collect run --speech``. The voices are tones for ``tones``, and those of espeak-ng
        for any other recogniser, which hears nothing in tones.
    on_status
        Called with what is being done.
    """
    on_status("simulating a described film")
    voices = "tones" if speech == "tones" else "espeak"
    truth = make_described(described, minutes, seed, DescribedSettings(voices=voices))
    task = make_task(str(truth.film), str(truth.track), truth.subtitles)
    recipe = CollectRecipe(CollectSettings(), speech, None, out)
    collect_films([task], recipe, on_status=lambda _, status: on_status(status))
    (film,) = films_in(out)
    on_status("comparing with the truth")
    return score_film(film, truth, recipe)


def score_film(film: FoundFilm, truth: Truth, recipe: CollectRecipe) -> DemoResult:
    """Compare a collected film with the truth.

    Parameters
    ----------
    film
        A finished film of a collection.
    truth
        What is known of it.
    recipe
        How it was collected.
    """
    if film.report.discarded:
        raise InputError(f"gives no sentences ({film.report.discarded})", path=truth.film)
    alignment = read_alignment(film.folder / layout.ALIGNMENT)
    runs = read_json(film.folder / layout.SPEECH, NarratorRuns)
    subtitles = read_subtitles(truth.subtitles)
    evidence = Evidence(runs=None if runs.why else runs.spans, cues=subtitles.spoken)
    engine = opened(recipe.speech, recipe.settings.language)
    transcript = hear(engine, record(Source(truth.track)), alignment, None)
    sentences = film.sentences()
    return DemoResult(
        truth,
        alignment,
        runs,
        evidence,
        sentences,
        film.report,
        score_alignment(alignment, truth),
        score_sentences([sentence for sentence in sentences if sentence.kept], truth),
        compare_rules(transcript.words, evidence, subtitles, alignment, truth, punctuated=engine.punctuates),
    )
