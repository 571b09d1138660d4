"""Write the files that the golden commands read: invented annotations, answers and features, the same every time.

Only `random.Random.random` is drawn from, which gives the same numbers in every version of Python.
"""

import json
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

SPLITS = {"train": 24, "val": 10, "test-iid": 12, "test-ood": 16}
"""Number of videos a split, each with two queries."""

PHRASES = ("opens the door", "pours some water", "closes the book", "waters the plants", "holds a towel", "takes a cup")
PLACES = (
    *("kitchen", "garden", "garage", "bathroom", "bedroom", "hallway", "office", "cellar", "attic", "balcony", "shop"),
    *("school", "library", "church", "station", "factory", "stable", "theatre", "museum", "hospital", "bakery"),
)
"""Each is seen in three videos, so that it can be a new word of test-ood."""

ROWS, DIMENSIONS = 16, 4

Row = dict[str, object]


def write_inputs(folder: Path) -> None:
    """Write all of them into a folder."""
    rows = _annotations()
    _write(folder / "world.jsonl", rows)
    for split in SPLITS:
        _write(folder / f"{split}.jsonl", [{**row, "split": "all"} for row in rows if row["split"] == split])
    for name, (split, right, seed) in {
        "ours-1": ("test-ood", 0.6, 1),
        "ours-2": ("test-ood", 0.6, 2),
        "base": ("test-ood", 0.4, 3),
        "poor": ("test-ood", 0.1, 4),
        "iid": ("test-iid", 0.7, 5),
        "shuffled": ("test-ood", 0.3, 6),
        "blind": ("test-ood", 0.2, 7),
        "select-val/a": ("val", 0.7, 8),
        "select-val/b": ("val", 0.5, 9),
        "select-val/c": ("val", 0.2, 10),
        "select-test/a": ("test-ood", 0.6, 11),
        "select-test/b": ("test-ood", 0.5, 12),
        "select-test/c": ("test-ood", 0.1, 13),
    }.items():
        _write(folder / f"{name}.jsonl", _answers([row for row in rows if row["split"] == split], right, seed))
    _write(folder / "annotators.jsonl", _annotators([row for row in rows if row["split"] == "test-ood"]))
    (folder / "published.csv").write_text(
        "source,table,dataset,split,method,measure,value,unit,note\n"
        'a paper,Table 1,world,test-ood,theirs,"R@1,IoU=0.5",41.5,percent,\n'
        'a paper,Table 1,world,test-ood,theirs,"mIoU",0.4,fraction,\n',
        encoding="utf-8",
    )
    _write_features(folder / "features", sorted({str(row["video_id"]) for row in rows}))
    (folder / "videos").mkdir()
    for video_id in {str(row["video_id"]) for row in rows if row["split"] == "test-ood"}:
        (folder / "videos" / f"{video_id}.mp4").write_text(f"not a video: {video_id}", encoding="utf-8")


def _uniform(seed: int) -> Callable[[], float]:
    """Return a function that draws numbers from 0 to 1."""
    return random.Random(seed).random  # noqa: S311 - nothing here is secret


def _annotations() -> list[Row]:
    """Two queries a video; moments of test-ood lie late, all others early."""
    draw = _uniform(0)
    rows: list[Row] = []
    for split, n_videos in SPLITS.items():
        for video in range(n_videos):
            place = PLACES[len(rows) // 6]
            duration_s = 20 + int(40 * draw())
            for query in range(2):
                length_s = 3 + int(8 * draw())
                late = draw() ** 2 if split != "test-ood" else 1 - draw() ** 2
                start_s = int((duration_s - length_s) * late)
                video_id = f"{split}-{video:02d}"
                rows.append(
                    {
                        "query_id": f"{video_id}#{query}",
                        "video_id": video_id,
                        "duration_s": float(duration_s),
                        "sentence": f"a person {PHRASES[int(len(PHRASES) * draw())]} in the {place}.",
                        "moments": [[float(start_s), float(start_s + length_s)]],
                        "split": split,
                    }
                )
    return rows


def _answers(rows: Iterable[Row], right: float, seed: int) -> list[Row]:
    """Five moments a query; with probability `right` the first is within two seconds of the reference."""
    draw = _uniform(seed)
    lines: list[Row] = []
    for row in rows:
        duration_s, ((start_s, end_s),) = float(row["duration_s"]), row["moments"]
        if draw() >= right:
            start_s, end_s = 0.0, float(int(duration_s / 3))
        moments = []
        for rank in range(5):
            low = max(0.0, start_s + int((2 + 4 * rank) * (draw() - 0.5)))
            high = min(duration_s, max(low + 1, end_s + int((2 + 4 * rank) * (draw() - 0.5))))
            moments.append([min(low, high - 1), high, (9 - rank) / 10])
        lines.append({"query_id": row["query_id"], "moments": moments})
    return lines


def _annotators(rows: Sequence[Row]) -> list[Row]:
    """Three people a query, each within two seconds of the reference."""
    draw = _uniform(20)
    lines: list[Row] = []
    for row in rows:
        ((start_s, end_s),) = row["moments"]
        marked = []
        for _ in range(3):
            low = max(0.0, start_s + int(5 * draw()) - 2)
            marked.append([low, min(float(row["duration_s"]), max(low + 1, end_s + int(5 * draw()) - 2))])
        lines.append({**row, "moments": marked, "annotators": ["ann", "bob", "eve"], "split": "all"})
    return lines


def _write_features(folder: Path, videos: Iterable[str]) -> None:
    """Write a file VIDEO.npy a video: eighths, which are exact in float32."""
    folder.mkdir()
    draw = _uniform(30)
    for video in videos:
        rows = [[int(16 * draw() - 8) / 8 for _ in range(DIMENSIONS)] for _ in range(ROWS)]
        np.save(folder / f"{video}.npy", np.array(rows, np.float32))


def _write(path: Path, lines: Iterable[Row]) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
