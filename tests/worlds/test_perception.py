"""Simulated perception: what the dial means, and that a video's features depend on nothing else."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.worlds.perception import (
    CALIBRATION,
    CAUTION,
    FPS,
    AnnotatedActions,
    Detector,
    Perception,
    average_precision,
    calibrate,
    dial_of,
    frame_map,
    perception_features,
    perfect_perception,
    read_actions,
    read_classes,
    row_coverage,
    row_edges_s,
)

HEADER = "id,actions,length\n"


@pytest.fixture
def folder(tmp_path):
    """Give a Charades of 60 + 4 videos and 5 classes, drawn anew from one seed."""
    rng = np.random.default_rng(7)
    (tmp_path / "Charades_v1_classes.txt").write_text("".join(f"c{k:03d} Doing {k}\n" for k in range(5)))

    def video(name):
        length = rng.uniform(8, 40)
        actions = []
        for _ in range(rng.integers(1, 5)):
            start = rng.uniform(0, length - 2)
            actions.append(f"c{rng.integers(5):03d} {start:.2f} {start + rng.uniform(1, 12):.2f}")
        return f"{name},{';'.join(actions)},{length:.2f}\n"

    (tmp_path / "Charades_v1_train.csv").write_text(HEADER + "".join(video(f"t{i}") for i in range(60)))
    rows = [*(video(f"s{i}") for i in range(3)), "nothing,,20.00\n"]
    (tmp_path / "Charades_v1_test.csv").write_text(HEADER + "".join(rows))
    return tmp_path


def slow_average_precision(scores, active):
    """Area below precision and recall, one threshold at a time, in exact counts."""
    found, before = 0.0, 0
    for threshold in sorted(set(scores), reverse=True):
        taken = [hit for score, hit in zip(scores, active, strict=True) if score >= threshold]
        found += (sum(taken) - before) / sum(active) * sum(taken) / len(taken)
        before = sum(taken)
    return found


@given(
    st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=1, max_size=30).filter(
        lambda r: any(h for _, h in r)
    )
)
def test_average_precision_is_the_area_below_the_curve(rows):
    scores, active = zip(*rows, strict=True)
    found = average_precision(np.array(scores, dtype=np.float32), np.array(active))
    assert found == pytest.approx(slow_average_precision(scores, active), abs=1e-12)


def test_rows_end_with_the_video_and_are_covered_in_part():
    # Rows 0-1, 1-2 and 2-2.5 s; class 1 from 0.25 to 1.5, class 0 from 2.25 to past the end.
    of = AnnotatedActions(2.5, np.array([1, 0]), np.array([0.25, 2.25]), np.array([1.5, 9.0]))
    assert FPS == 1.0
    assert row_edges_s(2.5).tolist() == [0, 1, 2, 2.5]
    assert row_coverage(of, 3).tolist() == [[0, 0.75, 0], [0, 0.5, 0], [0.5, 0, 0]]


def test_an_oracle_scores_what_is_annotated(folder):
    store = perception_features(folder, quality=1.0, seed=3)
    train = read_actions(folder / "Charades_v1_train.csv", 5)
    for video_id, of in train.items():
        assert np.array_equal(store[video_id], row_coverage(of, 5))
        assert len(store.edges_s(video_id, of.duration_s)) == len(store[video_id]) + 1
    assert frame_map(store, train) == 1
    assert not store["nothing"].any()
    assert store["nothing"].shape == (20, 5)


def test_noise_knows_nothing_of_the_actions(folder):
    train = folder / "Charades_v1_train.csv"
    first = perception_features(folder, quality=0.0, seed=0)
    lines = train.read_text().splitlines()
    # The actions of two videos change places, and their lengths stay: so does all that false positives are drawn from.
    (one, of_one, long), (other, of_other, short) = (line.split(",") for line in lines[1:3])
    assert of_one.count(";") != of_other.count(";")
    lines[1:3] = [",".join([one, of_other, long]), ",".join([other, of_one, short])]
    train.write_text("\n".join(lines))
    second = perception_features(folder, quality=0.0, seed=0)
    assert all(np.array_equal(first[video_id], second[video_id]) for video_id in first)
    # And a little perception sees the change.
    little = perception_features(folder, quality=0.1, seed=0)
    assert not np.array_equal(little[one], first[one])


def test_features_depend_on_seed_and_video_alone(folder):
    one, same, other = (perception_features(folder, quality=0.3, seed=seed) for seed in (0, 0, 1))
    backwards = {video_id: same[video_id] for video_id in reversed(list(same))}
    assert len(backwards) == len(one) == 64
    for video_id in one:
        assert np.array_equal(one[video_id], backwards[video_id])
        assert not np.array_equal(one[video_id], other[video_id])
    train = folder / "Charades_v1_train.csv"
    header, *rows = train.read_text().splitlines()
    train.write_text("\n".join([header, *reversed(rows)]) + "\n")
    sorted_otherwise = perception_features(folder, quality=0.3, seed=0)
    assert all(np.array_equal(one[video_id], sorted_otherwise[video_id]) for video_id in one)
    assert one["t5"].dtype == np.float32
    with pytest.raises(ValueError, match="read-only"):
        one["t5"][0, 0] = 1


def test_better_perception_is_better_and_every_setting_moves_one_way():
    dials = np.linspace(0, 1, 11)
    settings = [Detector.at(dial) for dial in dials.tolist()]
    assert np.all(np.diff([one.detection_rate for one in settings]) > 0)
    for name in ("false_positives_per_minute", "jitter_s", "noise"):
        assert np.all(np.diff([getattr(one, name) for one in settings]) < 0)
    assert settings[0].detection_rate == 0
    assert np.all(np.diff(np.array(CALIBRATION), axis=0) > 0)
    qualities = np.linspace(CALIBRATION[0][1], 1, 50)
    assert np.all(np.diff([dial_of(quality) for quality in qualities]) > 0)


def test_the_folder_given_is_what_is_measured(folder):
    store = perception_features(folder, quality=0.3, seed=2)
    train = read_actions(folder / "Charades_v1_train.csv", 5)
    assert store.name == f"perception:0.3 (frame mAP {frame_map(store, train):.3f} on 60 videos), seed=2"
    assert store.n_dimensions == 5
    assert store.caution == CAUTION
    assert "the moments of Charades-STA and Charades-CD are such annotations" in CAUTION


def test_intervals_are_what_the_scores_are_made_of(folder):
    """Of an oracle the annotated ones; else those that cover what it scores without noise."""
    train = read_actions(folder / "Charades_v1_train.csv", 5)
    perfect = perfect_perception(folder)
    for video_id, of in train.items():
        found = perfect.intervals(video_id)
        annotated = zip(of.klass, of.start_s, of.end_s, strict=True)
        assert sorted(zip(found.klass, found.start_s, found.end_s, strict=True)) == sorted(annotated)
    silent = Perception(perfect.actions, perfect.habits, Detector(0.5, 6.0, 2.0, 0.0), n_classes=5, seed=3)
    for video_id in ("t5", "s1", "nothing"):
        assert np.array_equal(silent[video_id], row_coverage(silent.intervals(video_id), 5))
    with pytest.raises(InputError, match="no video 'x' to perceive"):
        perfect.intervals("x")


def test_features_of_another_quality_are_those_asked_for_by_name(folder):
    found = perfect_perception(folder).at(0.3, seed=2)
    expected = perception_features(folder, quality=0.3, seed=2)
    assert (found.name, len(found)) == ("perception:0.3, seed=2", 64)
    assert all(np.array_equal(found[video_id], expected[video_id]) for video_id in expected)
    with pytest.raises(UsageError, match="quality 2"):
        perfect_perception(folder).at(2, seed=0)


def test_overlapping_intervals_of_a_class_are_one(tmp_path):
    path = tmp_path / "list.csv"
    path.write_text(HEADER + "v,c001 5.0 9.0;c001 2 6;c000 2 3;c001 9.0 9.5;c000 8 7,12\n")
    found = read_actions(path, 2)["v"]
    assert found.klass.tolist() == [0, 1]
    assert (found.start_s.tolist(), found.end_s.tolist()) == ([2, 2], [3, 9.5])


@pytest.mark.parametrize(
    ("line", "field", "came"),
    [
        ("v,c009 1 2,10", "actions", "c009 1 2"),
        ("v,c001 1,10", "actions", "c001 1"),
        ("v,c001 nan 2,10", "actions", "nan"),
        ("v,c001 -1 2,10", "actions", "-1"),
        ("v,c001 1 inf,10", "actions", "inf"),
        ("v,c١٢٣ 1 2,10", "actions", "1 2"),
        ("v,,0", "length", "'0'"),
        ("v,,1e9", "length", "1e9"),
        ("v,,", "length", "''"),
        ("v", "length", "None"),
        (",,10", "id", "''"),
        ("a,,10", "id", "'a'"),
    ],
)
def test_a_line_at_fault_is_named(tmp_path, line, field, came):
    path = tmp_path / "list.csv"
    path.write_text(f"{HEADER}a,,5\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        read_actions(path, 5)
    assert (caught.value.path, caught.value.line, caught.value.field) == (path, 3, field)
    assert came in str(caught.value)


def test_files_at_fault_are_named(folder):
    with pytest.raises(InputError, match="actions are missing"):
        read_actions(_written(folder / "x.csv", "id,length\nv,3\n"), 5)
    for text in ("c000 a\nc002 b\n", "", "c000\n"):
        with pytest.raises(InputError, match=r"classes|empty|expected 'c00"):
            read_classes(_written(folder / "classes.txt", text))
    train = folder / "Charades_v1_train.csv"
    with train.open("a") as stream:
        stream.write("s0,,10\n")
    with pytest.raises(InputError, match="'s0'"):
        perception_features(folder, quality=0.5, seed=0)
    train.unlink()
    with pytest.raises(MissingFileError, match="Charades_v1_train"):
        perception_features(folder, quality=0.5, seed=0)


def _written(path, text):
    path.write_text(text)
    return path


@pytest.mark.parametrize("quality", [-0.1, 0.001, 1.1, float("nan")])
def test_a_quality_that_cannot_be_is_refused(folder, quality):
    with pytest.raises(UsageError, match=r"from 0\.017"):
        perception_features(folder, quality=quality, seed=0)


def test_a_video_that_is_not_there_is_named(folder):
    store = perception_features(folder, quality=0.0, seed=0)
    for look in (lambda: store["zzz"], lambda: store.edges_s("zzz", 3.0)):
        with pytest.raises(InputError, match="'zzz'"):
            look()
    with pytest.raises(UsageError, match="seed -1"):
        perception_features(folder, quality=0.0, seed=-1)


@pytest.mark.data
@pytest.mark.thorough
def test_quality_is_the_measured_frame_map_on_charades(data_dir):
    folder = data_dir / "charades-sta"
    store = perception_features(folder, quality=0.3, seed=11)
    train = read_actions(folder / "Charades_v1_train.csv", 157)
    assert (len(train), len(store), store.n_dimensions) == (7985, 9848, 157)  # the published lists
    (reached,) = re.findall(r"frame mAP (\S+) on 7,985 videos", store.name)
    assert float(reached) == pytest.approx(0.3, abs=0.02)
    # Other dials under the same seed, on every fifth video.
    some = dict(list(train.items())[::5])

    def reached_at(quality):
        detector = Detector.at(dial_of(quality))
        return frame_map(Perception(some, store.habits, detector, n_classes=157, seed=11), some)

    assert reached_at(0.1) == pytest.approx(0.1, abs=0.02)
    assert reached_at(0.6) == pytest.approx(0.6, abs=0.02)
    assert reached_at(1.0) > 0.99
    # Noise has the mean share of active rows, of classes that have any.
    prevalence = np.mean(np.concatenate([row_coverage(of, 157) >= 0.5 for of in some.values()]), axis=0)
    assert reached_at(0.0) == pytest.approx(prevalence[prevalence > 0].mean(), abs=0.004)


def test_calibration_measures_each_dial(folder):
    train = read_actions(folder / "Charades_v1_train.csv", 5)
    noise, half, oracle = calibrate(folder, np.array([0.0, 0.5, 1.0]), seed=3).tolist()
    assert noise < half < oracle == 1
    assert oracle == frame_map(perception_features(folder, quality=1.0, seed=3), train)
