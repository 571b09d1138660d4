"""Simulated perception for ActivityNet: frame features of a simulated detector of the words of sentences.

ActivityNet Captions has no action labels for its moments, so its sentences are the labels. A *concept* is a verb or a
noun (base form and part of speech, :mod:`truemoment.data.language`). The concepts are the :data:`N_CONCEPTS` that occur
in most sentences of the training split. A concept is *visible* in a second of a video if the middle of the second lies
in the moment of a sentence with this concept. The annotated intervals of a concept are its runs of visible seconds.

A detector of these intervals is simulated as for Charades (:mod:`truemoment.worlds.perception`): one dial sets
detection rate, false positives, jitter and noise. Features have one row each second and one number for each concept.
The quality is again the frame mAP on training videos; :data:`CALIBRATION` gives the dial.

What the features do not contain:

- A moment counts only by the seconds that it makes visible: moments that differ within half a second give the same
  features.
- The number of rows depends on the duration only. Noise is drawn for all rows and concepts alike.
- False positives are drawn from the number of training sentences with each concept, and from an exponential
  distribution of lengths with a fixed mean (:data:`FALSE_LENGTH_S`). No moment changes them: at quality 0 features
  depend on the duration, the training sentences, the video id and the seed.

What they do contain: the visible seconds of test videos come from the sentences and moments under test. At high
quality, intervals of the features *are* the moments. Compare with the rules of
:mod:`truemoment.worlds.interval_rules`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations
from truemoment.data.datasets import get_dataset, load_annotations
from truemoment.data.language import Engine, Tag, get_engine
from truemoment.media.features.base import SIMULATED
from truemoment.worlds.perception import (
    LONGEST_VIDEO_S,
    AnnotatedActions,
    Calibration,
    Detector,
    Habits,
    Perception,
    frame_map,
    join_intervals,
    row_edges_s,
)

WITH_SENTENCES = ("activitynet-captions", "activitynet-cd")
"""Datasets whose features are simulated from their sentences."""

CAUTION = (
    "Simulated perception: these features are made from the sentences and moments of ActivityNet Captions, of test "
    "videos too. Each second shows the frequent verbs and nouns of the sentences whose moments cover it. A result with "
    "these features shows how a method grounds what it is given and whether it takes shortcuts. It shows nothing about "
    "perception, and is not comparable with results on features of real videos."
)
"""What every result made with these features must say."""

N_CONCEPTS = 500
"""Largest number of concepts: the width of the C3D features of ActivityNet after PCA, with which papers train."""

FALSE_LENGTH_S = 40.0
"""Mean length of false positives; the moments of the training split of ActivityNet-CD have a mean of 39.96 s."""

N_CALIBRATION_VIDEOS = 1000
"""Training videos on which the quality is measured, evenly spaced in the order of their ids."""

CALIBRATION: Calibration = (
    (0, 0.0138),
    (0.05, 0.0165),
    (0.1, 0.0214),
    (0.15, 0.0295),
    (0.2, 0.0408),
    (0.25, 0.0568),
    (0.3, 0.0822),
    (0.35, 0.113),
    (0.4, 0.1536),
    (0.45, 0.1999),
    (0.5, 0.2537),
    (0.55, 0.3166),
    (0.6, 0.374),
    (0.65, 0.4328),
    (0.7, 0.4958),
    (0.75, 0.5681),
    (0.8, 0.6385),
    (0.85, 0.7165),
    (0.9, 0.8024),
    (0.95, 0.8944),
    (1, 1.0),
)
"""Dial and frame mAP on training videos of ActivityNet-CD: ``calibrate_concepts(..., seed=0)``, to four decimals."""

_BATCH = 4096


class Concept(NamedTuple):
    """A verb or noun in its base form."""

    lemma: str
    tag: Tag


# The distinct concepts of a sentence, in alphabetical order.
Concepts = tuple[Concept, ...]


@dataclass(frozen=True, eq=False)
class ConceptVocabulary:
    """The concepts of training sentences.

    Parameters
    ----------
    concepts : (C,)
        Sorted by falling count.
    count : (C,)
        Number of training sentences with each concept.
    """

    concepts: tuple[Concept, ...]
    count: Ints

    @classmethod
    def of(cls, sentences: Iterable[Concepts], n_concepts: int = N_CONCEPTS) -> ConceptVocabulary:
        """Return the most frequent concepts of sentences; ties in alphabetical order.

        Examples
        --------
        >>> vocabulary = ConceptVocabulary.of(concepts_of(["A man jumps.", "The man sits."], get_engine()), 2)
        >>> [(concept.lemma, concept.tag) for concept in vocabulary.concepts], vocabulary.count.tolist()
        ([('man', 'NOUN'), ('jump', 'VERB')], [2, 1])
        """
        counted = Counter(concept for concepts in sentences for concept in concepts)
        frequent = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:n_concepts]
        return cls(
            tuple(concept for concept, _ in frequent), np.array([count for _, count in frequent], dtype=np.int64)
        )

    def false_positives(self) -> Habits:
        """Return the distribution of false positives: concepts by count, lengths of an exponential distribution."""
        klass = np.repeat(np.arange(len(self.concepts)), self.count)
        share = (np.arange(len(klass)) + 0.5) / max(len(klass), 1)
        return Habits(klass, -FALSE_LENGTH_S * np.log1p(-share))


class ConceptPerception(Perception):
    """Scores of a simulated detector of concepts; see :class:`~truemoment.worlds.perception.Perception`.

    Parameters
    ----------
    visible
        Runs of visible seconds by video id.
    vocabulary
        The concepts, one for each dimension of a row.
    detector, seed, name
        As in :class:`~truemoment.worlds.perception.Perception`.
    """

    caution = CAUTION
    calibration: ClassVar[Calibration] = CALIBRATION
    origin: ClassVar[str] = "ActivityNet"
    interval_title: ClassVar[str] = "interval of a concept"
    within_s: ClassVar[float] = 0.5

    def __init__(
        self,
        visible: dict[str, AnnotatedActions],
        vocabulary: ConceptVocabulary,
        detector: Detector,
        *,
        seed: int,
        name: str,
    ) -> None:
        habits = vocabulary.false_positives()
        super().__init__(visible, habits, detector, n_classes=len(vocabulary.concepts), seed=seed, name=name)
        self.concepts = vocabulary.concepts


def concept_features(
    dataset: str, *, data_dir: str | Path | None = None, quality: float, seed: int
) -> ConceptPerception:
    """Simulate a detector of concepts whose frame mAP is `quality`, for all videos of a dataset.

    Parameters
    ----------
    dataset
        Name of a dataset with a split ``train``, one of :data:`WITH_SENTENCES`.
    data_dir
        Folder with one folder per dataset. Default: the variable ``TRUEMOMENT_DATA``.
    quality
        Frame mAP on the training videos, from that of noise to 1; 0 for noise.
    seed
        Seed of all draws.
    """
    perfect = perfect_concepts(dataset, data_dir=data_dir)
    perception = perfect.at(quality, seed=seed)
    perception.name = f"{SIMULATED}{quality:g} ({perception.n_dimensions:,} concepts of {dataset}), seed={seed}"
    return perception


def perfect_concepts(dataset: str, *, data_dir: str | Path | None = None) -> ConceptPerception:
    """Return features without errors: the detector finds every concept in every second in which it is visible."""
    names = [split.name for split in get_dataset(dataset).splits if not split.merges and split.name != "train"]
    train = load_annotations(dataset, "train", data_dir=data_dir)
    return perceived_concepts(train, [load_annotations(dataset, name, data_dir=data_dir) for name in names])


def perceived_concepts(
    train: Annotations,
    other_parts: Sequence[Annotations] = (),
    *,
    n_concepts: int = N_CONCEPTS,
    engine: Engine | None = None,
) -> ConceptPerception:
    """Return features without errors of the videos of annotations.

    Parameters
    ----------
    train
        Annotations whose sentences define the concepts.
    others
        Further annotations; a video can be in several.
    n_concepts
        Largest number of concepts.
    engine
        Finds verbs and nouns. [default: the lexicon]
    """
    engine = engine or get_engine()
    read = [(part, concepts_of(part.sentence.tolist(), engine)) for part in (train, *other_parts)]
    vocabulary = ConceptVocabulary.of(read[0][1], n_concepts)
    visible = visible_runs(read, vocabulary)
    return ConceptPerception(visible, vocabulary, Detector.at(1.0), seed=0, name=f"{SIMULATED}1")


def concepts_of(sentences: Sequence[str], engine: Engine) -> list[Concepts]:
    """Return the distinct verbs and nouns of each sentence, in alphabetical order."""
    return [
        tuple(sorted({Concept(token.lemma, token.tag) for token in tokens if token.tag in ("VERB", "NOUN")}))
        for at in range(0, len(sentences), _BATCH)
        for tokens in engine.analyse(sentences[at : at + _BATCH])
    ]


def visible_runs(
    annotations: Iterable[tuple[Annotations, Sequence[Concepts]]], vocabulary: ConceptVocabulary
) -> dict[str, AnnotatedActions]:
    """Return the runs of seconds in which each concept is visible, by video id.

    Start and end are edges of rows (:func:`~truemoment.worlds.perception.row_edges_s`).

    Parameters
    ----------
    annotations
        Annotations, each with the concepts of every row's sentence.
    vocabulary
        Concepts that can be visible; the others are ignored.
    """
    number = {concept: at for at, concept in enumerate(vocabulary.concepts)}
    duration_s: dict[str, float] = {}
    moments: defaultdict[str, list[tuple[tuple[int, ...], float, float]]] = defaultdict(list)
    for part, concepts in annotations:
        shown = (tuple(number[concept] for concept in concepts_here if concept in number) for concepts_here in concepts)
        columns = (part.video_id, part.duration_s, part.start_s, part.end_s)
        for numbers, video_id, seconds, start_s, end_s in zip(
            shown, *(column.tolist() for column in columns), strict=True
        ):
            if duration_s.setdefault(video_id, seconds) != seconds or not 0 < seconds <= LONGEST_VIDEO_S:
                expected = f"expected one duration above 0 and at most {LONGEST_VIDEO_S:g} s"
                problem = f"got {seconds} s after {duration_s[video_id]} s for video {video_id!r}, {expected}"
                raise InputError(problem, path=f"{part.dataset}/{part.split}", field="duration_s")
            moments[video_id].append((numbers, start_s, end_s))
    return {video_id: _runs(duration_s[video_id], video_moments) for video_id, video_moments in moments.items()}


def _runs(duration_s: float, moments: Sequence[tuple[tuple[int, ...], float, float]]) -> AnnotatedActions:
    """Return the runs of visible seconds of a video; a moment has the concepts of its sentence, start and end."""
    edges_s = row_edges_s(duration_s)
    middle_s = (edges_s[:-1] + edges_s[1:]) / 2
    first = np.searchsorted(middle_s, [start_s for _, start_s, _ in moments], side="left").tolist()
    beyond = np.searchsorted(middle_s, [end_s for _, _, end_s in moments], side="right").tolist()
    seconds = edges_s.tolist()
    return join_intervals(
        duration_s,
        (
            (concept, seconds[low], seconds[high])
            for (concepts, _, _), low, high in zip(moments, first, beyond, strict=True)
            if low < high
            for concept in concepts
        ),
    )


def calibrate_concepts(perfect: ConceptPerception, train: Annotations, dials: Floats, *, seed: int) -> Floats:
    """Return the frame mAP at each dial (D,), on :data:`N_CALIBRATION_VIDEOS` of the training videos."""
    video_ids = sorted(set(train.video_id.tolist()))
    step = max(len(video_ids) // N_CALIBRATION_VIDEOS, 1)
    some = {video_id: perfect.actions[video_id] for video_id in video_ids[::step][:N_CALIBRATION_VIDEOS]}
    reached = []
    for dial in dials.tolist():
        detector = Detector.at(dial)
        store = Perception(some, perfect.habits, detector, n_classes=perfect.n_dimensions, seed=seed)
        reached.append(frame_map(store, some))
    return np.array(reached)
