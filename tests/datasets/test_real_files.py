"""The real annotation files: counts, checksums and every fault, against counts made without this package.

Origin of the counts: field.md, section 2.1, and a count of the files in plain Python, independent of this
package ("counted independently from the files" below), by the definitions of field.md: past the end = end more
than 1e-6 s over the duration; duplicates after strip, lower case and dropping a last full stop, times to
2 decimals; whole video = 99 % or more; shorter than 0.5 s without zero and swapped ones.
"""

import functools

import numpy as np
import pytest

from truemoment.data.datasets import DATASETS, load_annotations
from truemoment.data.datasets.check import check_dataset

from ..thorough import quick_are

pytestmark = pytest.mark.data

AT_HAND = (
    "charades-sta",
    "charades-cd",
    "charades-cg",
    "activitynet-captions",
    "activitynet-cd",
    "activitynet-cg",
    "tacos",
    "qvhighlights",
    "tvr",
    "tvgbench",
)


@pytest.fixture(scope="module")
def checked(data_dir):
    """Check a dataset once for all tests here."""

    @functools.cache
    def check(name):
        if not (data_dir / name).is_dir():
            pytest.skip(f"no real files in {data_dir / name}")
        return check_dataset(DATASETS[name], data_dir)

    return check


@pytest.fixture(scope="module")
def read_split(data_dir):
    @functools.cache
    def read(name, split):
        if not (data_dir / name).is_dir():
            pytest.skip(f"no real files in {data_dir / name}")
        return load_annotations(name, split, data_dir=data_dir)

    return read


@pytest.mark.parametrize("name", quick_are(set(AT_HAND) - {"activitynet-captions", "activitynet-cd"}, AT_HAND))
def test_nothing_unexpected(checked, name):
    assert checked(name).unexpected == ()


@pytest.mark.parametrize("name", AT_HAND)
def test_checksums_of_the_files_at_hand(data_dir, name):
    agrees = {
        file.name: file.agrees(data_dir / name / file.name)
        for file in DATASETS[name].files
        if (data_dir / name / file.name).is_file()
    }
    if not agrees:
        pytest.skip(f"no real files in {data_dir / name}")
    assert all(agrees.values()), agrees
    for file in DATASETS[name].files:
        if file.name in agrees:
            assert file.n_bytes == (data_dir / name / file.name).stat().st_size


TRIVIAL, COMPOSITION, WORD = "test-trivial", "test-novel-composition", "test-novel-word"

# (queries, videos). Closer Look (2021), Table 1; Compositional Temporal Grounding (2022), Table 1, but for the novel
# words; these, TACoS, QVHighlights, TVR and TVGBench: counted independently from the files.
COUNTS = {
    "charades-sta": {"train": (12_408, 5_338), "test": (3_720, 1_334)},
    "charades-cd": {"train": (11_071, 4_564), "val": (859, 333), "test-iid": (823, 333), "test-ood": (3_375, 1_442)},
    "charades-cg": {"train": (8_281, 3_555), TRIVIAL: (3_096, 1_689), COMPOSITION: (3_442, 2_480), WORD: (695, 580)},
    "activitynet-cg": {
        "train": (36_724, 9_659),
        TRIVIAL: (15_712, 4_775),
        COMPOSITION: (12_028, 4_202),
        WORD: (3_920, 1_991),
    },
    "activitynet-captions": {
        "train": (37_421, 10_009),
        "val_1": (17_505, 4_917),
        "val_2": (17_031, 4_885),
        "test": (34_536, 4_917),
    },
    "activitynet-cd": {
        "train": (51_415, 10_984),  # derived: its own file is not at hand
        "val": (3_521, 746),
        "test-iid": (3_443, 746),
        "test-ood": (13_578, 2_450),
    },
    "tacos": {"train": (9_790, 75), "val": (4_436, 27), "test": (4_001, 25)},
    "qvhighlights": {"train": (7_218, 7_100), "val": (1_550, 1_519)},
    "tvr": {"val": (10_895, 2_179)},
    "tvgbench": {"test": (800, 540)},
}


@pytest.mark.parametrize("name", AT_HAND)
def test_counts(checked, name):
    counts = checked(name).counts
    assert {split: counts[split] for split in COUNTS[name]} == COUNTS[name]


END, LATE, SWAP, ZERO = "past the end", "past the end by more than 1 s", "swapped", "zero length"
AFTER, BLANK, SHORT = "starts after the end", "leading blank", "shorter than 0.5 s"
WHOLE, AT_0, TO_END = "whole video (99 % or more)", "starts at 0", "ends within 0.5 s of the end"
TWICE, TIMES = "exact duplicate", "same query, different times"
MANY, SEVERAL = "moment with several queries", "several moments"
VIDEOS, VERBATIM = "videos in both splits", "sentence verbatim in train"

# Counted independently from the files; every kind that occurs, and no other.
FINDINGS = {
    "charades-sta": {
        "train": {END: 1805, LATE: 734, SWAP: 4, AFTER: 3, AT_0: 2390, TO_END: 1984, MANY: 2771},
        "test": {END: 562, LATE: 228, AT_0: 790, TO_END: 609, MANY: 847},
        "train -> test": {VERBATIM: 1571},
    },
    "charades-cd": {
        "train": {END: 1652, LATE: 430, AT_0: 2610, TO_END: 1814, MANY: 2515},
        "val": {END: 135, LATE: 35, AT_0: 191, TO_END: 147, MANY: 207},
        "test-iid": {END: 151, LATE: 32, AT_0: 169, TO_END: 163, MANY: 187},
        "test-ood": {END: 348, LATE: 115, AFTER: 3, WHOLE: 2, AT_0: 210, TO_END: 382, MANY: 709},
        "train -> val": {VERBATIM: 401},
        "train -> test-iid": {VERBATIM: 353},
        "train -> test-ood": {VERBATIM: 1474},
    },
    "activitynet-captions": {
        "train": {
            END: 29,
            SWAP: 2,
            ZERO: 2,
            TIMES: 5,
            BLANK: 25_731,
            SHORT: 87,
            WHOLE: 1137,
            AT_0: 8156,
            TO_END: 8364,
        },
        "val_1": {END: 5, TIMES: 3, BLANK: 11_639, SHORT: 43, WHOLE: 607, AT_0: 4081, TO_END: 4112},
        "val_2": {END: 1, BLANK: 11_483, SHORT: 60, WHOLE: 761, AT_0: 4681, TO_END: 4369},
        # Sums of the two, and what stands in both: 235 moments; 9 sentences of the same video, of which 1 at the
        # same time (hence 3 + 8 at different times).
        "test": {
            END: 6,
            TWICE: 1,
            TIMES: 11,
            BLANK: 23_122,
            SHORT: 103,
            WHOLE: 1368,
            AT_0: 8762,
            TO_END: 8481,
            MANY: 235,
        },
        "train -> val_1": {VERBATIM: 280},
        "train -> val_2": {VERBATIM: 194},
        "train -> test": {VERBATIM: 474},  # 280 + 194
        "val_1 -> val_2": {VIDEOS: 4885},
    },
    "activitynet-cd": {
        "train": {
            END: 25,
            TWICE: 1,
            TIMES: 9,
            BLANK: 34_167,
            SHORT: 150,
            WHOLE: 2189,
            AT_0: 13_241,
            TO_END: 13_469,
            MANY: 193,
        },
        "val": {END: 4, TIMES: 1, BLANK: 2357, SHORT: 9, WHOLE: 166, AT_0: 921, TO_END: 901, MANY: 11},
        "test-iid": {END: 2, TIMES: 2, BLANK: 2299, SHORT: 7, WHOLE: 150, AT_0: 900, TO_END: 906, MANY: 13},
        "test-ood": {
            END: 4,
            SWAP: 2,
            ZERO: 2,
            TIMES: 4,
            BLANK: 10_030,
            SHORT: 24,
            AT_0: 1856,
            TO_END: 1569,
            MANY: 18,
        },
        "train -> val": {VERBATIM: 68},
        "train -> test-iid": {VERBATIM: 60},
        "train -> test-ood": {VERBATIM: 150},
    },
    "tacos": {
        "train": {END: 43, TWICE: 1211, TIMES: 441, BLANK: 21, SHORT: 1, TO_END: 56, MANY: 1725},
        "val": {TWICE: 521, TIMES: 232, BLANK: 12, TO_END: 8, MANY: 791},
        "test": {END: 5, TWICE: 577, TIMES: 218, BLANK: 20, TO_END: 10, MANY: 686},
        "train -> val": {VERBATIM: 1022},
        "train -> test": {VERBATIM: 1132},
    },
    "qvhighlights": {
        "train": {WHOLE: 302, AT_0: 1542, TO_END: 1687, MANY: 13, SEVERAL: 2363},
        "val": {WHOLE: 52, AT_0: 333, TO_END: 330, MANY: 5, SEVERAL: 530},
        "train -> val": {VERBATIM: 13},
    },
    "charades-cg": {
        "train": {END: 1255, LATE: 494, AT_0: 1754, TO_END: 1374, MANY: 1826},
        TRIVIAL: {END: 412, LATE: 186, AT_0: 692, TO_END: 450, MANY: 528},
        COMPOSITION: {END: 452, LATE: 179, AT_0: 432, TO_END: 499, MANY: 634},
        WORD: {END: 109, LATE: 45, AT_0: 139, TO_END: 119, MANY: 78},
        f"train -> {TRIVIAL}": {VERBATIM: 1484},
        f"{TRIVIAL} -> {COMPOSITION}": {VIDEOS: 1337},
        f"{TRIVIAL} -> {WORD}": {VIDEOS: 304},
        f"{COMPOSITION} -> {WORD}": {VIDEOS: 114},
    },
    "activitynet-cg": {
        "train": {
            END: 29,
            SWAP: 2,
            ZERO: 2,
            TWICE: 1,
            TIMES: 10,
            BLANK: 25_194,
            SHORT: 87,
            WHOLE: 1167,
            AT_0: 8179,
            TO_END: 8326,
            MANY: 7,
        },
        TRIVIAL: {END: 3, TIMES: 3, BLANK: 10_216, SHORT: 44, WHOLE: 737, AT_0: 4501, TO_END: 4062, MANY: 70},
        COMPOSITION: {END: 3, BLANK: 8456, SHORT: 39, WHOLE: 153, AT_0: 2342, TO_END: 2436, MANY: 24},
        WORD: {END: 1, TIMES: 1, BLANK: 2798, SHORT: 12, WHOLE: 58, AT_0: 752, TO_END: 749, MANY: 4},
        f"train -> {TRIVIAL}": {VERBATIM: 420},
        f"{TRIVIAL} -> {COMPOSITION}": {VIDEOS: 4000},
        f"{TRIVIAL} -> {WORD}": {VIDEOS: 1577},
        f"{COMPOSITION} -> {WORD}": {VIDEOS: 1324},
    },
    "tvr": {"val": {TWICE: 16, TIMES: 30, BLANK: 6, SHORT: 9, WHOLE: 82, AT_0: 1622, TO_END: 949, MANY: 45}},
    "tvgbench": {
        "test": {
            END: 27,
            LATE: 10,
            ZERO: 11,
            TWICE: 1,
            TIMES: 1,
            BLANK: 104,
            SHORT: 3,
            WHOLE: 1,
            AT_0: 96,
            TO_END: 67,
            MANY: 43,
        },
    },
}
FAULTS = {END, SWAP, ZERO, AFTER, TWICE, TIMES, VIDEOS}


@pytest.mark.parametrize("name", AT_HAND)
def test_faults_and_remarks(checked, name):
    found = {}
    for finding in checked(name).findings:
        if not set(finding.split.split(" -> ")) <= set(COUNTS[name]):
            continue  # a split that was not at hand when the counts were made
        found.setdefault(finding.split, {})[finding.kind] = finding.count
        assert finding.fault == (finding.kind in FAULTS)
    assert found == FINDINGS[name]


def details(report, split):
    return {finding.kind: finding.detail for finding in report.findings if finding.split == split}


def named(report, split):
    return {finding.kind: finding.query_ids for finding in report.findings if finding.split == split}


def test_charades_sta_in_words(checked):
    report = checked("charades-sta")
    train, test = named(report, "train"), named(report, "test")
    # field.md, section 2.1: LEOL6, IOL8Q and AKKWU twice are swapped; by the count of the files LEOL6 (8.0-7.0 in
    # 6.25 s) and both of AKKWU (38-13 in 12.17 s) start after the end.
    assert sorted(query_id.split("#")[0] for query_id in train[SWAP]) == ["AKKWU", "AKKWU", "IOL8Q", "LEOL6"]
    assert sorted(query_id.split("#")[0] for query_id in train[AFTER]) == ["AKKWU", "AKKWU", "LEOL6"]
    # field.md, section 2.1, test: at most 1.5 s past the end; a perfect answer held to the video reaches mean IoU
    # 0.871 (min 0.559; 27 below 0.7; 333 below 0.9); 847 moments carry 1,989 queries.
    assert details(report, "test")[END] == (
        "at most 1.50 s; an answer clipped to the video has mean IoU 0.871 (min 0.559, below 0.7: 27, below 0.9: 333)"
    )
    assert details(report, "test")[MANY] == "1,989 queries"
    assert len(test[MANY]) == 1989
    # 1,571 of 3,720 is 42.2 %.
    assert details(report, "train -> test")[VERBATIM] == "42.2 % of 3,720 queries"


def test_the_first_rows(read_split):
    # Read off the files with head -1 and jq.
    a = read_split("charades-sta", "test")
    assert (a.query_id[0], a.start_s[0], a.end_s[0]) == ("3MSZA#0", 24.3, 30.4)
    assert a.sentence[0] == "person turn a light on."
    assert a.duration_s[0] == 30.96


def test_every_charades_video_has_a_duration(read_split):
    for split in ("train", "test"):
        assert np.isfinite(read_split("charades-sta", split).duration_s).all()


def test_the_two_validation_files_of_activitynet_hold_the_same_videos(read_split):
    # field.md, section 2.1: all 4,885 videos of val_2 are in val_1, 32 are only in val_1.
    one, two = (set(read_split("activitynet-captions", split).video_id) for split in ("val_1", "val_2"))
    assert two < one
    assert (len(two), len(one - two)) == (4885, 32)


def test_activitynet_cd_train_holds_no_video_of_the_other_splits(read_split):
    train = set(read_split("activitynet-cd", "train").video_id)
    assert not any(
        train & set(read_split("activitynet-cd", split).video_id) for split in ("val", "test-iid", "test-ood")
    )


def test_two_tests_of_activitynet_cg_share_queries(read_split):
    # Counted independently from the files: 1,724 queries of the same video, sentence and times.
    composition, word = (
        set(zip(a.video_id, a.sentence, a.start_s.tolist(), a.end_s.tolist(), strict=True))
        for a in (read_split("activitynet-cg", split) for split in (COMPOSITION, WORD))
    )
    assert len(composition & word) == 1724


def test_qvhighlights(read_split):
    # field.md, sections 1 and 2.1: 2,803 windows of 1,550 queries; nominal 150 s, another length in 39; all times on a
    # 2-s grid; three ratings of every clip of every window.
    val = read_split("qvhighlights", "val")
    assert len(val) == 2803
    assert int((val.queries.duration_s != 150).sum()) == 39
    assert not np.any(val.start_s % 2)
    assert not np.any(val.end_s % 2)
    assert val.saliency.rating.shape == (int(((val.end_s - val.start_s) / 2).sum()), 3)
    assert set(np.unique(val.saliency.rating)) <= set(range(5))


@pytest.mark.parametrize(
    ("split", "counts", "ratings"),
    [
        (
            "train",
            ((4_855, 1_230, 466, 266, 140), 12_803, 261, 213, 302, 194),
            (165, 484, 971, 1_883, 3_538, 5_962, 9_491, 14_117, 20_268, 26_721, 34_041, 31_937, 10_995),
        ),
        (
            "val",
            ((1_020, 278, 116, 40, 33), 2_803, 63, 39, 52, 40),
            (33, 86, 286, 488, 807, 1_245, 2_018, 2_917, 4_507, 5_426, 6_589, 6_425, 1_722),
        ),
    ],
)
def test_what_a_model_of_qvhighlights_learns_from(read_split, split, counts, ratings):
    """Counts of detr.md, section 14.7; those of val by windows and ratings: counted independently from the file.

    Queries with 1 to 5 windows; windows; queries with more, in videos below 150 s, without an unrated clip, and whose
    rated clips have one rating (the sum of three). Rated clips by rating; they are those of the windows.
    """
    annotations = read_split("qvhighlights", split)
    saliency, windows = annotations.saliency, np.diff(annotations.offsets)
    clips, total = np.split(saliency.clip, saliency.offsets[1:-1]), saliency.rating.sum(axis=1)
    of_query = np.split(total, saliency.offsets[1:-1])
    n_clips = (annotations.queries.duration_s // 2).tolist()
    assert counts == (
        tuple(np.bincount(windows)[1:6]),
        len(annotations),
        (windows > 5).sum(),
        (annotations.queries.duration_s < 150).sum(),
        sum(len(rated) >= n for rated, n in zip(clips, n_clips, strict=True)),
        sum(rated.min() == rated.max() for rated in of_query),
    )
    assert tuple(np.bincount(total)) == ratings
    bounds = np.stack([annotations.start_s, annotations.end_s], axis=1) // 2
    for rated, rows in zip(clips, np.split(bounds.astype(int), annotations.offsets[1:-1]), strict=True):
        assert set(rated.tolist()) == {clip for low, high in rows.tolist() for clip in range(low, high)}
    train = read_split("qvhighlights", "train")
    assert int((train.queries.duration_s != 150).sum()) == 213


def test_labels_of_qvhighlights_test(checked, data_dir):
    # Not among the files at hand everywhere. field.md, section 2.1: 1,542 queries, 511 with several windows. Counted
    # independently from the file: 1,529 videos and the other figures.
    if not (data_dir / "qvhighlights" / "highlight_test_with_gt.jsonl").is_file():
        pytest.skip(f"no labels of the test split in {data_dir / 'qvhighlights'}")
    report = checked("qvhighlights")
    assert report.counts["test"] == (1542, 1529)
    found = {finding.kind: finding.count for finding in report.findings if finding.split == "test"}
    assert found == {WHOLE: 54, AT_0: 326, TO_END: 340, SEVERAL: 511}


def test_tacos_is_in_seconds(read_split):
    # 29.4 frames a second throughout (field.md, section 2.1): each time is a whole number of frames.
    for split in ("train", "val", "test"):
        a = read_split("tacos", split)
        frames = a.end_s * 29.4
        assert np.allclose(frames, np.round(frames), atol=1e-6)


def test_didemo(checked):
    # Not among the files at hand everywhere. Counted independently from the files: 4,180 / 4,021 sentences of
    # 1,094 / 1,037 videos; annotators disagree in 2,753 / 2,630; some pair is disjoint in 978 / 902.
    report = checked("didemo")
    assert report.unexpected == ()
    found = {(finding.split, finding.kind): finding.count for finding in report.findings}
    for split, counts in {"val": (4180, 1094, 2753, 978), "test": (4021, 1037, 2630, 902)}.items():
        if split in report.counts:
            assert report.counts[split] == counts[:2]
            assert found[split, "annotators disagree"] == counts[2]
            assert found[split, "two annotators fully disjoint"] == counts[3]
