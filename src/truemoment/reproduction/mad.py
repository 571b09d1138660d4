"""MAD (Soldan et al. 2022): the contents of datasets (Table 1), and search in whole films (Tables 2 and 3).

For Table 1 it does not state how words were counted, nor in which files. Its figures show that words per query include
punctuation, that the vocabulary is case-sensitive, that moments are clipped at the end of the video, and that videos
annotated twice count once. This reproduces all totals, queries and vocabularies on the available files, except the
hours of Charades-STA. Parts of speech depend on the tagger and are not judged.

Tables 2 and 3 are three methods on the same proposals, in whole films and in chunks of three minutes: Oracle, Random
Chance and CLIP, from files in the authors' form in ``mad/`` of the data folder. They need an agreement, so that nobody
has compared these figures here; what the paper leaves open is reported with each figure, and simulated films
(:mod:`truemoment.worlds.films`) are distinguished from MAD.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

import numpy as np

from truemoment.base.errors import MissingFileError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations
from truemoment.baselines import Oracle, RandomChance
from truemoment.baselines.proposals import WindowedGrid
from truemoment.data.datasets.base import required_file
from truemoment.data.language import Remembered
from truemoment.evaluation.evaluate import evaluate
from truemoment.evaluation.measures import Recall, parse_measure
from truemoment.evaluation.protocols import get_protocol
from truemoment.evaluation.scores import Scores
from truemoment.media.features import FeatureStore
from truemoment.media.features.sentences import SentenceFile
from truemoment.reproduction.base import (
    PublishedTable,
    Reproduced,
    TableInputs,
    beside,
    beside_scores,
    by_dataset,
    data_signature,
    unchecked,
    without_files,
)
from truemoment.reproduction.systems import SYSTEMS, SplitEvaluator, TrainedMethods
from truemoment.searching.chunks import TOP, chunk_annotations, ground_chunks
from truemoment.searching.opening import open_features
from truemoment.searching.zero_shot import ZeroShot
from truemoment.studies.bias.statistics import Statistics, dataset_statistics
from truemoment.studies.compare.comparison import PublishedFigure
from truemoment.worlds.films import MANIFEST

PAPER = "MAD (Soldan et al. 2022)"

SPLITS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "TACoS": ("train", "val", "test"),
        "Charades-STA": ("train", "test"),
        "DiDeMo": ("train", "val", "test"),
        "ActivityNet Captions": ("train", "val_1", "val_2"),
        "MAD": ("train", "val", "test"),
    }
)
"""Splits that make up a dataset."""

TWO_FILES = "train and val_1"
"""The part of ActivityNet Captions whose sentences have as many words as in the paper."""

OURS: Mapping[str, Callable[[Statistics], float]] = MappingProxyType(
    {
        "total duration": lambda figures: figures.videos.total_h,
        "duration per video": lambda figures: figures.videos.mean_min,
        "duration per moment": lambda figures: figures.moments.within_mean_s,
        "queries": lambda figures: figures.sentences.n,
        "words per query": lambda figures: figures.sentences.tokens_mean,
        "tokens": lambda figures: figures.sentences.n_tokens,
        "vocabulary, adjectives": lambda figures: figures.sentences.vocabulary.sizes.adjectives,
        "vocabulary, nouns": lambda figures: figures.sentences.vocabulary.sizes.nouns,
        "vocabulary, verbs": lambda figures: figures.sentences.vocabulary.sizes.verbs,
        "vocabulary, all": lambda figures: figures.sentences.vocabulary.spelt("written").sizes.total,
    }
)
"""Our figure for each column."""


@dataclass(frozen=True)
class Judged:
    """The tolerance of a figure, with its reason."""

    tolerance: str | None
    reason: str = ""


EXACT = Judged("0")
TOKENISER = "punctuation counts, as theirs seems to; other tokeniser (NLTK's gives the same to 0.01)"
TAGGER = (
    "not judged, as the tagger decides: each word, in lower case, counts under the part of speech that it is read as "
    "most often (counted under every one that it is ever read as: 9.1 thousand nouns in ActivityNet Captions)"
)
OF_COLUMN: Mapping[str, Judged] = MappingProxyType(
    {
        "duration per moment": Judged("0", "of the part of a moment within its video; where none sticks out, the same"),
        "words per query": Judged("0.1", TOKENISER),
        "vocabulary, adjectives": Judged(None, TAGGER),
        "vocabulary, nouns": Judged(None, TAGGER),
        "vocabulary, verbs": Judged(None, TAGGER),
        "vocabulary, all": Judged("0.1", "words as written, case-sensitive; other tokeniser"),
    }
)
"""Columns that need not print alike, or are counted in a way that needs saying."""

CHARADES_HOURS = (
    "lengths from the dataset's own list of videos; the published figures do not fit each other: 57.1 hours of 6,672 "
    "videos are 0.51 minutes a video"
)
OF_FIGURE: Mapping[tuple[str, str], Judged] = MappingProxyType(
    {
        ("Charades-STA", "total duration"): Judged("0.5", CHARADES_HOURS),
        ("Charades-STA", "duration per video"): Judged("0.01", CHARADES_HOURS),
        ("ActivityNet Captions", "words per query"): Judged(
            None,
            f"not judged: the published figure is that of {TWO_FILES} (below); sentences of val_2 are a tenth shorter",
        ),
        ("TACoS", "words per query"): Judged(
            None,
            "not judged: unexplained. The 18,227 sentences have 9.4 words with punctuation and 8.5 without; the "
            "12,452 distinct ones 10.7. The paper's 18.2 thousand queries are ours, not TALL's 18.8 thousand",
        ),
    }
)
"""Figures of their own kind."""


def table_1(figures: Sequence[PublishedFigure], inputs: TableInputs) -> Iterator[Reproduced]:
    """Every column of the datasets whose files are there; the others stay as published."""
    engine = inputs.words
    errors: list[MissingFileError] = []
    datasets = by_dataset(figures)
    for dataset, of_dataset in datasets.items():
        try:
            splits = {split: inputs.load(dataset, split) for split in SPLITS[dataset]}
        except MissingFileError as error:
            errors.append(error)
            if len(errors) == len(datasets):
                raise
            inputs.on_status(f"{dataset} is left out: {error}")
            yield from (without_files(figure, dataset) for figure in of_dataset)
            continue
        inputs.on_status(f"words of {dataset}")
        yield from _rows(of_dataset, splits, engine, simulated=dataset == "MAD" and is_simulated(inputs))


def _rows(
    figures: Sequence[PublishedFigure], splits: Mapping[str, Annotations], engine: Remembered, *, simulated: bool
) -> Iterator[Reproduced]:
    groups = {TWO_FILES: ("train", "val_1")} if "val_1" in splits else {}
    statistics = dataset_statistics(splits, engine, groups=groups)
    signature = f"words:{engine.name}|{data_signature(splits.values())}"
    for figure in figures:
        ours = OURS[figure.measure]
        judged = OF_FIGURE.get((figure.dataset, figure.measure), OF_COLUMN.get(figure.measure, EXACT))
        if simulated:
            judged = Judged(None, SIMULATED)
        yield beside(
            figure, ours(statistics.whole), tolerance=judged.tolerance, reason=judged.reason, signature=signature
        )
        if groups and figure.measure == "words per query":
            judged = OF_COLUMN[figure.measure]
            yield beside(
                replace(figure, split=TWO_FILES),
                ours(statistics.of_group[TWO_FILES]),
                tolerance=judged.tolerance,
                reason=judged.reason,
                signature=signature,
            )


# ------------------------------------------------------------------------------------------- whole films

CHUNK_S = 180.0
"""Length of the chunks of Table 3."""

FPS = 5.0
"""Frames a second of the films' features."""

PROPOSALS = WindowedGrid()
"""Windows of 128 frames, moved by 64, each with the 626 proposals of VLG-Net; the tail of a film is not covered."""

PROTOCOL = get_protocol("mad-clip")
VLG_NET_PROTOCOL = get_protocol("mad-vlgnet")


@dataclass(frozen=True)
class PublishedGrid:
    """A windowed grid as the published code lays it out: copies in overlapping windows too, in seconds of float32.

    What overlaps by exactly 0.3, which many do, is suppressed there or not as float32 rounds the seconds (Soldelli/MAD,
    baselines/0ShotCLIP/utils.py); in a film of 117 minutes that moves R@100 at an IoU of 0.5 by a point.

    Examples
    --------
    >>> start_s, end_s = PublishedGrid(PROPOSALS).moments(60.0)
    >>> start_s.dtype, len(start_s), len(PROPOSALS.spans(300)[0])
    (dtype('float32'), 1878, 1366)
    """

    grid: WindowedGrid

    def count(self, duration_s: Floats) -> Ints:
        """As the grid."""
        return self.grid.count(duration_s)

    def moments(self, duration_s: float, number: Ints | None = None) -> tuple[Floats, Floats]:
        """As the grid, rounded to float32."""
        start_s, end_s = self.grid.moments(duration_s, number)
        return start_s.astype(np.float32), end_s.astype(np.float32)


FRAME_FILES = ("CLIP_B32_frames_features_5fps.h5", "CLIP_frames_features_5fps.h5")
SENTENCE_FILES = (
    "CLIP_B32_language_features_MAD_test.h5",
    "CLIP_language_features_MAD_test.h5",
    "CLIP_language_sentence_features.h5",
)
"""Feature files by the names of the releases (Soldelli/MAD, doc/README.md and baselines/0ShotCLIP), the newest first;
the last is what others call sentence features of all splits."""

OF_ALL = "MAD's files need an agreement: these figures were never compared on them here"
JUDGED: Mapping[tuple[str, str], Judged] = MappingProxyType(
    {
        ("Table 2", "Oracle"): Judged("0.01", OF_ALL),
        ("Table 2", "Random Chance"): Judged(
            "0.1",
            f"{OF_ALL}; proposals drawn without replacement and not suppressed, which the paper leaves open; on "
            "simulated films with MAD's mean lengths the published row comes out like that",
        ),
        ("Table 2", "CLIP"): Judged("0.1", f"{OF_ALL}; proposals behind the last frame, NaN there, are left out"),
        ("Table 3", "Oracle"): Judged(
            "0.2", f"{OF_ALL}; moments that a cut goes through stay whole, as the paper's ceiling wants it"
        ),
        ("Table 3", "Random Chance"): Judged("0.5", f"{OF_ALL}; as in Table 2; code for chunks is not published"),
        ("Table 3", "CLIP"): Judged(
            "1.0", f"{OF_ALL}; code for chunks is not published: here windows start anew in each, its tail not covered"
        ),
    }
)
"""How each row is judged."""

NO_FEATURES = "its feature files are not in the data folder"
SIMULATED = "not judged: the files are simulated films in MAD's format; no figures are published for them"


def search_tables(
    figures: Sequence[PublishedFigure], inputs: TableInputs, length_s: float = math.inf
) -> Iterator[Reproduced]:
    """Tables 2 and 3: every method on whole films, or on chunks of a length.

    CLIP stays as published where there are no feature files, VLG-Net where there is no run. Answers of a run to chunks
    are in ``test-180s.jsonl``, as ``truemoment predict run RUN --chunks 180`` writes them.
    """
    films = inputs.load("MAD", "test")
    whole = math.isinf(length_s)

    def cut(annotations: Annotations) -> Annotations:
        return annotations if whole else chunk_annotations(annotations, length_s).annotations

    evaluated = cut(films)
    folder = inputs.folder / "mad"
    simulated = is_simulated(inputs)
    measures = tuple(dict.fromkeys(figure.measure for figure in figures))
    trained = TrainedMethods(
        inputs,
        SYSTEMS,
        VLG_NET_PROTOCOL,
        SplitEvaluator(inputs, VLG_NET_PROTOCOL, measures, cut, ending="" if whole else f"-{length_s:g}s"),
        SIMULATED if simulated else "",
    )
    for method in dict.fromkeys(figure.method for figure in figures):
        of_method = [figure for figure in figures if figure.method == method]
        made_of = f"proposals:{PROPOSALS}"
        runs: list[Scores] = []
        if method == "Oracle":
            inputs.on_status(method)
            runs = [evaluate(evaluated, Oracle(evaluated, PROPOSALS).ground(evaluated.queries), protocol=PROTOCOL)]
        elif method == "Random Chance":
            runs = list(_chance(of_method, inputs, evaluated))
        elif method == "CLIP":
            try:
                files = [
                    required_file(folder, *names, *(f"features/{name}" for name in names), dataset="mad")
                    for names in (FRAME_FILES, SENTENCE_FILES)
                ]
                frames, sentences = open_features(files[0], fps=FPS), SentenceFile(files[1])
            except MissingFileError as error:
                inputs.on_status(f"CLIP is left out: {error}")
            else:
                made_of += f"|features:{frames.name}+{sentences.name}"
                runs = [_clip(films, length_s, frames, sentences, inputs)]
        for figure in of_method:
            if method in SYSTEMS:
                yield from trained.rows(replace(figure, note=""))  # which figures are bold
                continue
            if not runs:
                yield unchecked(figure, "files under agreement", NO_FEATURES)
                continue
            judged = Judged(None, SIMULATED) if simulated else JUDGED[figure.table, method]
            yield beside_scores(
                figure,
                runs,
                tolerance=judged.tolerance,
                protocol=runs[0].protocol,
                reason=judged.reason,
                suffix=f"|{made_of}",
            )


def is_simulated(inputs: TableInputs) -> bool:
    """Whether the folder of MAD contains simulated films in its form."""
    return (inputs.folder / "mad" / MANIFEST).exists()


def _chance(figures: Sequence[PublishedFigure], inputs: TableInputs, annotations: Annotations) -> Iterator[Scores]:
    """Runs of Random Chance, drawn separately; nothing is suppressed, so that no more are drawn than are examined."""
    measures = [figure.measure for figure in figures]
    deepest = max(measure.n for measure in map(parse_measure, measures) if isinstance(measure, Recall))
    for number, rng in enumerate(inputs.rng.spawn(inputs.runs), start=1):
        inputs.on_status(f"Random Chance, run {number} of {inputs.runs}")
        answers = RandomChance(PROPOSALS, rng).ground(annotations.queries, deepest)
        yield evaluate(annotations, answers, measures, replace(PROTOCOL, nms_threshold=None))


def _clip(
    films: Annotations, length_s: float, frames: FeatureStore, sentences: SentenceFile, inputs: TableInputs
) -> Scores:
    """Scores of CLIP on chunks of a length; what it suppresses, the protocol would, too."""

    def track(videos: list[tuple[str, float]]) -> Iterator[tuple[str, float]]:
        for number, video in enumerate(videos, start=1):
            inputs.on_status(f"CLIP, video {number:,} of {len(videos):,}")
            yield video

    def method(features: FeatureStore) -> ZeroShot:
        return ZeroShot(features, sentences, PublishedGrid(PROPOSALS), track=track)

    if math.isinf(length_s):
        return evaluate(films, method(frames).ground(films.queries, TOP), protocol=PROTOCOL)
    return ground_chunks(films, frames, length_s, method, protocol=PROTOCOL).scores


TABLES = (
    PublishedTable(
        "mad-1",
        "What the datasets consist of: videos, moments, queries, words",
        f"{PAPER}, Table 1",
        ("tacos", "charades-sta", "activitynet-captions"),
        "mad_table1.csv",
        table_1,
        seconds=6,
    ),
    PublishedTable(
        "mad-2",
        "Search in whole films: Oracle, Random Chance and CLIP on the same proposals",
        f"{PAPER}, Table 2",
        ("mad",),
        "mad_table2.csv",
        search_tables,
        seconds=3600,
    ),
    PublishedTable(
        "mad-3",
        "The same in chunks of three minutes: the short-video setting",
        f"{PAPER}, Table 3",
        ("mad",),
        "mad_table3.csv",
        partial(search_tables, length_s=CHUNK_S),
        seconds=3600,
    ),
)
