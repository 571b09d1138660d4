"""SplitConstant: the one share of the video that is best on the audited split itself, found on its other videos.

It is the most that one constant reaches, also where moments were moved away from those of training. On Charades-CD
test-ood the share from 30 to 90 % of the video has R@1,IoU=0.5 of 34.2, the best constant of the training split 10.0,
the sentence network 22.0. No method may know this constant, but a method may be near it by luck.

The videos are distributed over ten folds. A query of a fold gets the constant that is best on the other nine, so no
reference of its own video is used, and the figure is not optimistic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.base import LearnsNothing, answers_by_row, deal_folds, padded_constants
from truemoment.baselines.best_constant import best_constants
from truemoment.evaluation.measures import Measure, as_measure
from truemoment.evaluation.protocols import Protocol

N_FOLDS = 10


@dataclass(frozen=True, eq=False)
class SplitConstant(LearnsNothing):
    """Predict for each query the constants that are best on the other folds of its split.

    Parameters
    ----------
    fold_of
        Fold of each video with a reference moment, from 0.
    ranked : (F + 1, K, 3)
        Start, end (shares of the video) and score of the constants of each fold, best first, padded with NaN. The last
        row was found on all videos: it answers videos of no fold.
    """

    fold_of: Mapping[str, int]
    ranked: Floats

    @property
    def name(self) -> str:
        """Name with the constant that most folds have."""
        constants, count = np.unique(self.ranked[:-1, 0, :2], axis=0, return_counts=True)
        start, end = 100 * constants[count.argmax()]
        mostly = "mostly " if len(constants) > 1 else ""
        return f"best constant of this split ({mostly}{start:.4g}-{end:.4g} % of the video)"

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Predict the constants of each query's fold, best first."""
        last = len(self.ranked) - 1
        fold = np.array([self.fold_of.get(video, last) for video in queries.video_id.tolist()], dtype=np.int64)
        return answers_by_row(queries, self.ranked, fold, top=top, name=self.name)


def split_constants(
    measures: Sequence[Measure | str], references: Annotations, *, protocol: str | Protocol | None = None
) -> list[SplitConstant]:
    """Find the constants of each fold for each measure.

    A fold whose other folds leave a measure undefined gets the whole video.

    Parameters
    ----------
    references
        Annotations of the split that is answered.

    Raises
    ------
    InputError
        If fewer than two videos have a moment.
    """
    annotations = references.with_moments()
    fold_of = _folds_of_videos(annotations)
    fold = np.array([fold_of[video] for video in annotations.queries.video_id.tolist()])
    parsed = list(map(as_measure, measures))
    parts = [annotations.select_queries(fold != number) for number in range(int(fold.max()) + 1)]
    constants = [best_constants(parsed, part, protocol=protocol) for part in (*parts, annotations)]
    whole_video = np.array([[0.0, 1.0, 0.0]])
    return [
        SplitConstant(
            fold_of,
            padded_constants(
                [whole_video if constant is None or constant.ranked is None else constant.ranked for constant in row]
            ),
        )
        for row in zip(*constants, strict=True)
    ]


def _folds_of_videos(annotations: Annotations) -> dict[str, int]:
    """Distribute the videos over ten folds, fewer where there are fewer videos; the same each time."""
    videos = np.unique(annotations.queries.video_id)
    if len(videos) < 2:
        raise InputError(
            f"{annotations.dataset}/{annotations.split}: found {len(videos)} videos with a moment, expected two or "
            "more: a constant of the split is found on other videos than those it answers"
        )
    fold = deal_folds(videos, min(N_FOLDS, len(videos)), np.random.default_rng(0))
    return dict(zip(videos.tolist(), fold.tolist(), strict=True))
