"""What the plugin shows of each video: detections in seconds, computed by TrueMoment. It imports no FiftyOne."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from truemoment.base.boundary.caching import Cache
from truemoment.data.datasets.source import AnnotationSource
from truemoment.web.browsing.lanes import lanes_of
from truemoment.web.browsing.looking import look_at

FIELDS = ("references", "predictions", "floor")


class Moment(NamedTuple):
    """A temporal detection: its label is the sentence, `attributes` are what the audit says of it."""

    field: str
    label: str
    start_s: float
    end_s: float
    confidence: float | None
    attributes: dict[str, Any]


def moments_by_video(predictions: Path, source: AnnotationSource, *, floors: bool) -> dict[str, list[Moment]]:
    """Return the moments of each video: references, predictions, and the first answer of the strongest floor.

    A floor is a baseline that never sees the video. It is fitted if `floors`, which takes a minute on large data.
    """
    columns = look_at(
        [("predictions", predictions)], source, floors="best" if floors else "none", cache=Cache.of_user()
    )
    videos: dict[str, list[Moment]] = {}
    for query in range(columns.n_queries):
        lanes = lanes_of(columns, query)
        system = lanes["systems"][0]
        sentence, about = lanes["sentence"], {"query_id": lanes["query_id"]}
        if columns.floor_errors is not None:
            about |= {"floor_hit": lanes["floor"]["hit"], "floor_iou": lanes["floor"]["iou"]}
        found = videos.setdefault(lanes["video_id"], [])
        first = about | {"kind": system["kind"], "iou": system["iou"], "rank_of_hit": system["rank_of_hit"]}
        for start_s, end_s in lanes["references"]:
            found.append(Moment("references", sentence, start_s, end_s, None, first))
        for rank, (start_s, end_s, score, iou) in enumerate(system["answers"], start=1):
            attributes = about | {"rank": rank, "iou": iou} | ({"kind": system["kind"]} if rank == 1 else {})
            found.append(Moment("predictions", sentence, start_s, end_s, score, attributes))
        for floor in lanes["floors"]:
            for start_s, end_s, score, iou in floor["answers"][:1]:
                attributes = about | {"name": floor["name"], "iou": iou}
                found.append(Moment("floor", sentence, start_s, end_s, score, attributes))
    return videos
