"""Written and read again, rows are the same to the last bit: each format, and each after each other."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from truemoment.base.errors import InputError
from truemoment.data.formats import FORMATS, PredictionRows, read_rows, write_rows

from ..thorough import quick_are

pytestmark = pytest.mark.slow

WRITABLE = [name for name, format_ in FORMATS.items() if format_.write is not None]
# What each names beside the moments, as the modules say: a format that lacks what the next one needs is refused there.
NAMES = {
    "native": {"ids", "videos", "sentences"},
    "moment-detr": {"ids", "videos", "sentences"},
    "results-by-video": {"videos", "sentences"},
    "csv": {"ids", "videos", "sentences"},
    "parquet": {"ids", "videos", "sentences"},
    "unitime": {"ids", "videos", "sentences"},
    "cone": {"ids", "videos"},
    "ego4d-nlq": {"ids", "videos"},
    "activitynet-challenge": {"videos", "sentences"},
    "fiftyone": {"videos", "sentences"},
}
NEEDS = {
    "native": set(),
    "csv": set(),
    "parquet": set(),
    "moment-detr": {"ids"},
    "unitime": {"ids"},
    "cone": {"ids"},
    "ego4d-nlq": {"ids", "videos"},
    "results-by-video": {"videos", "sentences"},
    "activitynet-challenge": {"videos", "sentences"},
    "fiftyone": {"videos", "sentences"},
}

TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
TIME = st.floats(0, 1e8) | st.sampled_from([0.0, 1e-300, 0.1, 1 / 3, 1e8])  # within MAX_TIME_S of records.py
SCORE = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.5, -0.0, 5e-324])


def test_every_writable_format_is_here():
    assert set(NAMES) == set(NEEDS) == set(WRITABLE)


@st.composite
def worlds(draw, loses):
    """Rows that a format can hold; each query has an id as Ego4D's, and a sentence of its own in its video."""
    names = draw(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5, unique=True))
    ids = [f"{video}_{number}" for number, (video, _) in enumerate(names)]
    fewest = int("abstentions" in loses)
    most = 1 if "several moments" in loses else 4
    lists = [draw(st.lists(st.tuples(TIME, TIME, SCORE), min_size=fewest, max_size=most)) for _ in names]
    offsets = np.cumsum([0, *map(len, lists)])
    flat = np.array([moment for moments in lists for moment in moments], dtype=np.float64).reshape(-1, 3)
    scored = draw(st.booleans())
    by_rank = np.array([float(-rank) for moments in lists for rank in range(len(moments))])
    rows = PredictionRows(
        Path("drawn"),
        None,
        ids,
        [video for video, _ in names],
        [sentence for _, sentence in names],
        offsets,
        flat[:, 0].copy(),
        flat[:, 1].copy(),
        flat[:, 2].copy() if scored else by_rank,
        scored=scored,
    )
    if "ratings" not in loses and draw(st.booleans()):
        ratings = [draw(st.lists(SCORE, max_size=3)) for _ in names]
        saliency = np.array([rating for of_query in ratings for rating in of_query], dtype=np.float64)
        rows = replace(rows, saliency_offsets=np.cumsum([0, *map(len, ratings)]), saliency=saliency)
    if "statuses" not in loses and draw(st.booleans()):
        unread = st.sampled_from(["no answer", "refused", "ambiguous", "failed"])
        rows = replace(rows, status=["parsed" if moments else draw(unread) for moments in lists])
    return rows


def held(rows, names):
    """What rows say, by what all of them name: bits of the moments, status, ratings."""
    columns = [getattr(rows, name).view(np.int64).tolist() for name in ("start", "end", "score")]
    moments = list(zip(*columns, strict=True))
    found = {}
    for row in range(len(rows)):
        low, high = rows.offsets[row : row + 2]
        key = (
            rows.query_id[row] if "ids" in names else None,
            rows.video_id[row] if "videos" in names else None,
            rows.sentence[row] if "sentences" in names else None,
        )
        ratings = None
        if rows.saliency is not None:
            clips = slice(*rows.saliency_offsets[row : row + 2])
            ratings = rows.saliency[clips].view(np.int64).tolist()
        assert key not in found
        found[key] = moments[low:high], ratings, None if rows.status is None else rows.status[row]
    return found


def through(folder, rows, name):
    path = folder / f"p.{name}"
    write_rows(path, rows, format=name)
    found, why = read_rows(path)
    assert found.format == name, why
    return found


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("conversion")


@pytest.mark.parametrize("name", WRITABLE)
@given(data=st.data())
def test_round_trip(folder, name, data):
    rows = data.draw(worlds(FORMATS[name].loses))
    assert held(through(folder, rows, name), NAMES[name]) == held(rows, NAMES[name])


PAIRS = {f"{first}-{second}": (first, second) for first, second in product(WRITABLE, WRITABLE)}


@pytest.mark.parametrize("pair", quick_are([name for name in PAIRS if "native" in PAIRS[name]], PAIRS))
@settings(max_examples=4)
@given(data=st.data())
def test_conversion_loses_nothing_that_both_carry(folder, pair, data):
    first, second = pair
    rows = data.draw(worlds(FORMATS[first].loses | FORMATS[second].loses))
    read = through(folder, rows, first)
    if not NEEDS[second] <= NAMES[first]:
        with pytest.raises(InputError, match=f"format {second} cannot represent "):
            write_rows(folder / "refused", read, format=second)
        assert not (folder / "refused").exists()
        return
    both = NAMES[first] & NAMES[second]
    assert held(through(folder, read, second), both) == held(rows, both)


SMALL = PredictionRows(
    Path("small"),
    None,
    ["a_0", "a_1"],
    ["v", "v"],
    ["s", "t"],
    np.array([0, 2, 2]),
    np.array([1.0, 3.0]),
    np.array([2.0, 4.0]),
    np.array([0.5, 0.25]),
)
REFUSED = [
    ("csv", SMALL, "an abstention (query 'a_1'); write native or parquet"),
    ("results-by-video", SMALL, "an abstention (query 'a_1'); write native or parquet"),
    (
        "results-by-video", replace(SMALL, status=["parsed", "refused"]),
        "an answer that could not be read (query 'a_1'); write native",
    ),
    (
        "results-by-video",
        replace(SMALL, offsets=np.array([0, 2]), query_id=["a_0"], video_id=["v"], sentence=["s"]),
        "several moments for query 'a_0'; write native",
    ),
    (
        "unitime", replace(SMALL, status=["parsed", "refused"]),
        "an answer that could not be read (query 'a_1'); write native",
    ),
    (
        "cone", replace(SMALL, saliency=np.zeros(2), saliency_offsets=np.array([0, 1, 2])),
        "clip ratings; write native, parquet or moment-detr",
    ),
    (
        "cone", replace(SMALL, query_id=["a_0", None]),
        "rows without an id (video 'v', sentence 't'); give --dataset or --annotations, so that ids are known",
    ),
    (
        "fiftyone", replace(SMALL, sentence=["s", None], offsets=np.array([0, 1, 2])),
        "query 'a_1' without video and sentence; give --dataset or --annotations",
    ),
    (
        "activitynet-challenge", replace(SMALL, sentence=["s", "s"], offsets=np.array([0, 1, 2])),
        "two answers to query 'a_1'; write native or csv",
    ),
    (
        "csv", replace(SMALL, query_id=[None, None], sentence=["s", "s"], offsets=np.array([0, 1, 2])),
        "two answers to video 'v', sentence 's'; write native or parquet",
    ),
    (
        "ego4d-nlq", replace(SMALL, query_id=["a_0", "b"], offsets=np.array([0, 1, 2])),
        "query id 'b', expected an id ANNOTATION_NUMBER, and a video, which is the clip",
    ),
    (
        "ego4d-nlq", replace(SMALL, video_id=["v", None], offsets=np.array([0, 1, 2])),
        "query 'a_1' without its clip, expected an id ANNOTATION_NUMBER, and a video, which is the clip",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "rows", "what"), REFUSED, ids=[f"{row[0]}-{at}" for at, row in enumerate(REFUSED)])
def test_what_a_format_cannot_hold_is_refused_before_it_is_written(tmp_path, name, rows, what):
    path = tmp_path / "p"
    path.write_text("old")
    with pytest.raises(InputError) as caught:
        write_rows(path, rows, format=name)
    assert str(caught.value) == f"{path}: format {name} cannot represent {what}"
    assert path.read_text() == "old"


@pytest.mark.parametrize("name", ["moment-detr", "unitime", "cone"])
@pytest.mark.parametrize("query_id", ["7", "007", "9" * 15, "9" * 16, "9" * 5000, "٣", "-1", "1_0"])
def test_ids_of_digits_stay_as_they_are(tmp_path, name, query_id):
    rows = replace(SMALL, query_id=[query_id, "other"])
    assert through(tmp_path, rows, name).query_id == [query_id, "other"]


def test_seconds_are_written_whatever_axis_the_file_was_on(tmp_path):
    frames = Path(__file__).parent / "samples" / "fiftyone.frames.json"
    from truemoment.data.formats import Reading

    rows, _ = read_rows(frames, reading=Reading(axis="fps=4"))
    write_rows(tmp_path / "p", rows)
    assert read_rows(tmp_path / "p")[0].start.tolist()[:2] == [2.5, 10.0]  # frames 11 and 41 of 4 a second, from 1
