"""MAD (Soldan et al. 2022), Table 1: what the field's datasets consist of.

The paper says neither how it counts words nor whose files it counts. What its figures tell: words a query include
punctuation; the vocabulary tells words apart as written, *The* from *the*; moments are cut off at the end of the video;
videos annotated twice count once. Counted so, all totals, queries and vocabularies come out on the files at hand but
for the hours of Charades-STA. Parts of speech depend on the tagger and are not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from truemoment.bias.statistics import Statistics, dataset_statistics
from truemoment.comparison import PublishedFigure
from truemoment.exceptions import MissingFileError
from truemoment.language import Remembered, get_engine
from truemoment.records import Annotations
from truemoment.reproduction.base import Reproduced, Setting, Table, beside, unchecked

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
"""The part of ActivityNet Captions whose sentences have as many words as the paper says."""

OURS: Mapping[str, Callable[[Statistics], float]] = MappingProxyType(
    {
        "total duration": lambda of: of.videos.total_h,
        "duration per video": lambda of: of.videos.mean_min,
        "duration per moment": lambda of: of.moments.within_mean_s,
        "queries": lambda of: of.sentences.n,
        "words per query": lambda of: of.sentences.tokens_mean,
        "tokens": lambda of: of.sentences.n_tokens,
        "vocabulary, adjectives": lambda of: of.sentences.vocabulary.sizes.adjectives,
        "vocabulary, nouns": lambda of: of.sentences.vocabulary.sizes.nouns,
        "vocabulary, verbs": lambda of: of.sentences.vocabulary.sizes.verbs,
        "vocabulary, all": lambda of: of.sentences.vocabulary.spelt("written").sizes.total,
    }
)
"""Our figure for each column."""


@dataclass(frozen=True)
class Judged:
    """How a figure is judged.

    Parameters
    ----------
    tolerance, reason
        As for :func:`~truemoment.reproduction.base.beside`.
    """

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
        "vocabulary, all": Judged("0.1", "words as written, upper and lower case apart; other tokeniser"),
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

NOT_THERE = "not recomputed: its files are not in the data folder"


def table_1(figures: Sequence[PublishedFigure], setting: Setting) -> Iterator[Reproduced]:
    """Every column of the datasets whose files are there; the others stay as published.

    Raises
    ------
    MissingFileError
        If none is.
    """
    engine = Remembered(get_engine(setting.engine))
    missing: list[MissingFileError] = []
    datasets = dict.fromkeys(figure.dataset for figure in figures)
    for dataset in datasets:
        of_dataset = [figure for figure in figures if figure.dataset == dataset]
        try:
            splits = {split: setting.load(dataset, split) for split in SPLITS[dataset]}
        except MissingFileError as error:
            missing.append(error)
            if len(missing) == len(datasets):
                raise
            setting.tell(f"{dataset} is left out: {error}")
            yield from (replace(unchecked(figure), reason=f"{dataset}: {NOT_THERE}") for figure in of_dataset)
            continue
        setting.tell(f"words of {dataset}")
        yield from _rows(of_dataset, splits, engine)


def _rows(
    figures: Sequence[PublishedFigure], splits: Mapping[str, Annotations], engine: Remembered
) -> Iterator[Reproduced]:
    groups = {TWO_FILES: ("train", "val_1")} if "val_1" in splits else {}
    found = dataset_statistics(splits, engine, groups=groups)
    data = "+".join(f"{split.dataset}/{split.split}#{split.sha256[:8]}" for split in splits.values())
    signature = f"words:{engine.name}|data:{data}"
    for figure in figures:
        ours = OURS[figure.measure]
        judged = OF_FIGURE.get((figure.dataset, figure.measure), OF_COLUMN.get(figure.measure, EXACT))
        yield beside(figure, ours(found.whole), tolerance=judged.tolerance, reason=judged.reason, signature=signature)
        if groups and figure.measure == "words per query":
            judged = OF_COLUMN[figure.measure]
            yield beside(
                replace(figure, split=TWO_FILES),
                ours(found.of_group[TWO_FILES]),
                tolerance=judged.tolerance,
                reason=judged.reason,
                signature=signature,
            )


TABLES = (
    Table(
        "mad-1",
        "What the datasets consist of: videos, moments, queries, words",
        f"{PAPER}, Table 1",
        ("tacos", "charades-sta", "activitynet-captions"),
        "mad_table1.csv",
        table_1,
    ),
)
