"""Oracle: the proposals of a scheme that overlap the reference best; a ceiling, not a method.

No method that answers with proposals of the scheme overlaps the references, as annotated, more (MAD, Soldan et al.
2022, section 4); a protocol that clips references, or a measure of something else than the IoU, may rank proposals
otherwise. It is handed the references by name, as nothing else is, and abstains where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from truemoment.exceptions import InputError
from truemoment.intervals import Floats, temporal_iou
from truemoment.proposals import Proposals, SparseMap
from truemoment.records import Annotations, Predictions, Queries
from truemoment.references import all_references


@dataclass(frozen=True, eq=False)
class Oracle:
    """Answer with the best proposals, by IoU with the nearest reference.

    Parameters
    ----------
    references
        The annotations that are asked about.
    proposals
        The scheme.
    """

    references: Annotations
    proposals: Proposals = field(default_factory=SparseMap)
    name: str = "Oracle"

    def fit(self, train: Annotations, val: Annotations | None = None) -> Oracle:
        """Return itself."""
        del train, val
        return self

    def ground(self, queries: Queries, top: int = 1) -> Predictions:
        """Look the references up and answer with the nearest proposals, earlier ones first where they tie.

        A query whose references say that there is no moment is abstained from.

        Raises
        ------
        InputError
            If a query is not among the references, or a video's duration is not known.
        """
        table = all_references(self.references, self.references.start_s, self.references.end_s)
        lists: dict[str, Sequence[Sequence[float]]] = {}
        layout: dict[float, tuple[Floats, Floats]] = {}
        for query_id, duration_s in zip(queries.query_id, queries.duration_s, strict=True):
            q = self.references.queries.index.get(query_id)
            if q is not None and self.references.without_moment[q]:
                lists[query_id] = []
                continue
            if q is None or not duration_s > 0:
                what = "a reference" if q is None else "the video's duration"
                raise InputError(f"{self.name} needs {what} of query {query_id!r}")
            if duration_s not in layout:
                layout = {duration_s: self.proposals.moments(duration_s)}  # queries of a video stand together
            start, end = layout[duration_s]
            iou = np.nan_to_num(temporal_iou(start, end, table.start[q][:, None], table.end[q][:, None])).max(axis=0)
            best = np.argsort(-iou, kind="stable")[:top]
            lists[query_id] = list(zip(start[best], end[best], iou[best], strict=True))
        return Predictions.from_lists(lists, name=self.name)
