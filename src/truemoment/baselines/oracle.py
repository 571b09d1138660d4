"""Oracle: the proposals of a scheme that overlap the reference best; a ceiling, not a method.

No method that answers with proposals of the scheme overlaps the references, as annotated, more (MAD, Soldan et al.
2022, section 4); a protocol that clips references, or a measure of something else than the IoU, may rank proposals
otherwise. It uses the references, and abstains where there is none.

A long video has hundreds of thousands of proposals. Only those of the windows around a reference are computed: no
other overlaps it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats, ranked, temporal_iou
from truemoment.base.records import Annotations, Predictions, Queries
from truemoment.baselines.base import LearnsNothing
from truemoment.baselines.proposals import FrameProposals, Proposals, SparseMap
from truemoment.evaluation.references import all_references


@dataclass(frozen=True, eq=False)
class Oracle(LearnsNothing):
    """Predict the best proposals, by IoU with the nearest of the references."""

    references: Annotations
    proposals: Proposals = field(default_factory=SparseMap)
    name: str = "Oracle"

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Return the proposals nearest to the references, earlier ones first in ties.

        A query whose references have no moment gets no prediction.
        """
        references = all_references(self.references, self.references.start_s, self.references.end_s)
        nothing = np.zeros(0)
        answers: list[tuple[Floats, Floats, Floats]] = [(nothing, nothing, nothing)] * len(queries)
        layout: dict[float, tuple[Floats, Floats]] = {}
        framed = self.proposals if isinstance(self.proposals, FrameProposals) else None
        for row, (query_id, duration_s) in enumerate(zip(queries.query_id, queries.duration_s.tolist(), strict=True)):
            q = self.references.queries.index.get(query_id)
            if q is not None and self.references.without_moment[q]:
                continue
            if q is None or not duration_s > 0:
                need = "a reference" if q is None else "the video's duration"
                raise InputError(f"{self.name} needs {need} of query {query_id!r}")
            times = np.stack([references.start[q], references.end[q]], axis=1)
            times = times[~np.isnan(times[:, 0])]
            nearest = None if framed is None else _among_few(framed, duration_s, times, top)
            if nearest is None:
                if duration_s not in layout:
                    layout = {duration_s: self.proposals.moments(duration_s)}  # queries of a video are contiguous
                nearest = _nearest(layout[duration_s], times, top)
            answers[row] = nearest
        offsets = np.cumsum([0, *(len(iou) for _, _, iou in answers)])
        start_s, end_s, score = (np.concatenate([nothing, *(answer[part] for answer in answers)]) for part in range(3))
        return Predictions(queries.query_id, offsets, start_s, end_s, score, name=self.name)


def _among_few(
    proposals: FrameProposals, duration_s: float, times: Floats, top: int
) -> tuple[Floats, Floats, Floats] | None:
    """Return proposals that can overlap a reference (R, 2); None if fewer than `top` do."""
    numbers_near = [proposals.overlapping(duration_s, start_s, end_s) for start_s, end_s in times.tolist()]
    numbers = numbers_near[0] if len(numbers_near) == 1 else np.unique(np.concatenate(numbers_near))
    nearest = _nearest(proposals.moments(duration_s, numbers), times, top)
    return nearest if len(nearest[2]) == top and nearest[2][-1] > 0 else None


def _nearest(moments: tuple[Floats, Floats], times: Floats, top: int) -> tuple[Floats, Floats, Floats]:
    """Return start, end and IoU of the moments (P,) nearest to any reference (R, 2), ties in order."""
    iou = temporal_iou(*moments, times[:, :1], times[:, 1:]).max(axis=0)
    best = ranked(iou, top)
    return moments[0][best], moments[1][best], iou[best]
