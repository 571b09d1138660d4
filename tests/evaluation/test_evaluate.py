"""evaluate and Scores: what is refused, what is counted, and what is written and read back."""

from __future__ import annotations

import dataclasses
import io
import json
import pickle
import re
import zipfile

import numpy as np
import pytest

import truemoment
from truemoment import Annotations, Predictions, Scores, get_protocol, parse_measures
from truemoment.base.errors import InputError, MeasureError, MissingFileError, TrueMomentError
from truemoment.evaluation.evaluate import evaluate

from ..thorough import quick_are

nan = float("nan")
MEASURES = "R@1,IoU=0.5; mIoU; dR@1,IoU=0.3; NCxIoU@3,p=weights(1,2,3); mAP,length=short; R@1,IoU=0.5[ref=rows]"


# ---- Lining up


def test_unknown_predictions_are_refused(one_video):
    annotations, predictions = one_video(
        {"a": [(0, 10)], "b": [(0, 10)]},
        {"a": [(0.0, 10.0)], **{f"x{i}": [(0.0, 1.0)] for i in range(5)}},
    )
    with pytest.raises(InputError) as caught:
        evaluate(annotations, predictions, "mIoU")
    assert str(caught.value) == (
        "predictions name 5 queries that are not in own/all (x0, x1, x2, ...); is it the right split? "
        "on_unknown=ignore leaves them out"
    )


def test_unknown_predictions_are_ignored_when_asked(one_video):
    answers = {"x": [(0.0, 1.0, 0.1)], "b": [(0.0, 5.0, 0.2)], "y": [], "a": [(0.0, 10.0, 0.3)], "z": [(1.0, 2.0, 9.0)]}
    annotations, predictions = one_video({"a": [(0, 10)], "b": [(0, 10)]}, answers)
    scores = evaluate(annotations, predictions, "mIoU", on_unknown="ignore")
    assert scores.query_id.tolist() == ["a", "b"]
    assert scores.numerator.tolist() == [[1.0, 0.5]]
    assert scores.touched == {}


def test_unknown_predictions_are_not_counted_as_clipped(one_video):
    annotations, predictions = one_video({"a": [(0, 10)]}, {"x": [(30.0, 99.0)], "a": [(0.0, 10.0)]}, duration_s=20.0)
    scores = evaluate(annotations, predictions, "mIoU", "default,clip_predictions=yes", on_unknown="ignore")
    assert scores.touched == {"a clipped answer": 0}


def test_no_query_to_evaluate_on():
    empty = Annotations.from_rows([], dataset="tacos", split="val")
    with pytest.raises(InputError) as caught:
        evaluate(empty, Predictions.from_lists({}), "mIoU")
    assert str(caught.value) == "tacos/val has no query to evaluate on"


def test_no_predictions_at_all(one_video):
    annotations, predictions = one_video({"a": [(0, 10)], "b": [(0, 10)]}, {})
    scores = evaluate(annotations, predictions, "R@1,IoU=0.5; mIoU; mAP; F1,IoU=0.5; AxIoU@5; mIoU[ref=rows]")
    assert not scores.numerator.any()
    assert scores.weight.tolist() == [[1, 1]] * 6
    assert scores.touched == {"no answer (worst value)": 2}


def test_the_order_of_the_annotations_is_kept(world):
    w = world(3)
    scores = evaluate(w.annotations, w.predictions, "mIoU")
    assert scores.query_id.tolist() == w.annotations.queries.query_id.tolist()
    assert scores.video_id.tolist() == w.annotations.queries.video_id.tolist()
    assert scores.annotations_sha256 == w.annotations.sha256
    assert (scores.dataset, scores.split) == ("own", "all")


@pytest.mark.parametrize("protocol", ["default", "default,denominator=union", "cone", "closer-look"])
@pytest.mark.parametrize("rule", ["nearest", "merged", "pooled"])
def test_the_longest_times_allowed_are_misses(one_video, protocol, rule):
    # Predicted times reach up to 1e8 s. The IoU with a reference of ten seconds is 1e-7 or less (1/4 where answers are
    # clipped to 40 s): a miss, a number, and nothing is warned.
    annotations, predictions = one_video({"a": [(0, 10)]}, {"a": [(0.0, 1e8), (1.0, 1e8)]})
    scores = evaluate(annotations, predictions, f"R@1,IoU=0.5[ref={rule}]; AxIoU@2[ref={rule}]", protocol)
    assert scores.value(f"R@1,IoU=0.5[ref={rule}]") == 0
    assert np.all(np.isfinite(scores.numerator))


# ---- Durations


def unknown_durations():
    rows = [("a", "v1", nan, "s", 0.0, 10.0), ("b", "v1", nan, "t", 0.0, 10.0), ("c", "v2", 0.0, "s", 0.0, 10.0)]
    rows += [("d", "v3", 20.0, "s", 0.0, 10.0)]
    return Annotations.from_rows(rows), Predictions.from_lists({q: [(0.0, 10.0)] for q in "abcd"})


def test_missing_durations_are_no_matter_where_none_is_needed():
    scores = evaluate(*unknown_durations(), "R@1,IoU=0.5; mIoU; mAP; mAP,length=short; F1,IoU=0.5; DCG@3; AP@2,IoU=0.5")
    assert scores.numerator.tolist() == [[1, 1, 1, 1]] * 5 + [[1, 1, 1, 1]] + [[0.75] * 4]


@pytest.mark.parametrize(
    ("measures", "protocol", "what"),
    [
        ("mIoU; dR@1,IoU=0.5", "default", "dR@1,IoU=0.5"),
        ("mIoU", "default,times=normalised", "protocol default,times=normalised"),
        ("mIoU", "2d-tan", "protocol 2d-tan"),
    ],
)
def test_missing_durations_are_refused_where_they_are_needed(measures, protocol, what):
    with pytest.raises(MeasureError) as caught:
        evaluate(*unknown_durations(), measures, protocol)
    assert str(caught.value) == (
        f"{what} needs every video's duration; 2 videos have none (queries a, b, c, ...); "
        "give durations (--durations FILE or --videos DIR) or ask for other measures"
    )


def test_the_usual_measures_are_those_that_the_durations_allow():
    annotations, answers = unknown_durations()
    found = truemoment.evaluate(answers, annotations=annotations)
    usual = parse_measures(get_protocol("default").measures)
    assert list(found.measures) == [measure for measure in usual if not str(measure).startswith("dR")]
    assert found.report().notes[0] == (
        "without dR@1,IoU=0.3, dR@1,IoU=0.5, dR@1,IoU=0.7, as 2 videos have no duration; --durations FILE or "
        "--videos DIR gives them"
    )
    known = dataclasses.replace(annotations, duration_s=np.full(len(annotations), 20.0))
    assert list(truemoment.evaluate(answers, annotations=known).measures) == list(usual)
    assert "without" not in str(truemoment.evaluate(answers, annotations=known).report().notes)


# ---- Counts


def test_on_threshold_counts_queries_whose_best_answer_stands_on_it(one_video):
    # By hand, references (0, 10): IoUs 0.5 | 0.3, 0.5 | 0.5, 0.8 | 0.5 + 1e-10 | 0.5 + 1e-8 | none.
    annotations, predictions = one_video(
        {q: [(0, 10)] for q in "abcdef"},
        {
            "a": [(0.0, 5.0)],
            "b": [(0.0, 3.0), (0.0, 5.0)],
            "c": [(0.0, 5.0), (0.0, 8.0)],
            "d": [(0.0, 5.000000001)],
            "e": [(0.0, 5.0000001)],
        },
    )
    measures = "R@1,IoU=0.5; R@2,IoU=0.5; R@1,IoU=0.3; dR@1,IoU=0.5; mIoU; AxIoU@2; AP@2,IoU=0.5; F1,IoU=0.5"
    scores = evaluate(annotations, predictions, measures)
    # R@1: a, c, d. R@2: a, b, d (the best of c is 0.8). R@1 at 0.3: b. Where no single answer decides: -1.
    assert scores.on_threshold.tolist() == [3, 3, 1, 3, -1, -1, -1, -1]
    figures = {figure.measure: figure.on_threshold for figure in scores.measured()}
    assert figures["R@1,IoU=0.5"] == 3
    assert figures["mIoU"] is None
    assert figures["F1,IoU=0.5"] is None


def test_on_threshold_allows_for_the_rounding_of_float32_times(one_video):
    # By hand: 2.1 s of 4.2 s is an IoU of exactly 0.5. At 6,000 s float32 has steps of 0.0005 s, so that the IoU is off
    # by 7e-5; 3.1 s of 4.2 s is no tie. Near 0 s, 2.102 of 4.2 s (0.5005) is none either.
    annotations, predictions = one_video(
        {"late": [(6000.1, 6004.3)], "longer": [(6000.1, 6004.3)], "early": [(0.0, 4.2)]},
        {"late": [(6000.1, 6002.2)], "longer": [(6000.1, 6003.2)], "early": [(0.0, 2.102)]},
        duration_s=7000.0,
    )
    for precision in ("float32", "float64"):
        scores = evaluate(annotations, predictions, "R@1,IoU=0.5", f"default,precision={precision}")
        assert scores.on_threshold.tolist() == [1]


def test_on_threshold_counts_a_query_once_under_rows(one_video):
    # Two references each hit at exactly 0.5: two rows, one query.
    annotations, predictions = one_video({"a": [(0, 10), (0, 10)], "b": [(0, 10)]}, {"a": [(0.0, 5.0)]})
    assert evaluate(annotations, predictions, "R@1,IoU=0.5[ref=rows]").on_threshold.tolist() == [1]


def test_on_threshold_counts_only_references_of_the_length_class(one_video):
    # Query a stands on 0.5 with its short reference; with respect to its middle one it does not (5/20), nor does b.
    annotations, predictions = one_video(
        {"a": [(0, 10), (0, 20)], "b": [(0, 10)]}, {"a": [(0.0, 5.0)], "b": [(0.0, 5.0)]}
    )
    scores = evaluate(annotations, predictions, "R@1,IoU=0.5,length=short; R@1,IoU=0.5,length=middle")
    assert scores.weight.tolist() == [[1, 1], [1, 0]]
    assert scores.on_threshold.tolist() == [2, 0]


def test_on_threshold_leaves_dropped_queries_out(one_video):
    # A query that has no answer and no weight stands on no threshold, not even on 0.
    annotations, predictions = one_video({"a": [(0, 10)], "b": [(0, 10)]}, {"a": [(0.0, 10.0)]})
    scores = evaluate(annotations, predictions, "R@1,IoU=0", "default,missing=drop")
    assert scores.on_threshold.tolist() == [0]


def test_touched_counts_queries(one_video):
    annotations, predictions = one_video(
        {"a": [(30, 50), (35, 60)], "b": [(0, 10)], "c": [(0, 10)]},
        {"a": [(30.0, 50.0), (60.0, 70.0)], "b": [(0.0, 41.0)], "c": []},
    )
    protocol = "default,clip_references=yes,clip_predictions=yes"
    assert evaluate(annotations, predictions, "mIoU", protocol).touched == {
        "no answer (worst value)": 1,
        "a clipped reference": 1,
        "a clipped answer": 2,
    }
    assert evaluate(annotations, predictions, "mIoU").touched == {"no answer (worst value)": 1}


# ---- Figures


def test_measured(one_video):
    annotations, predictions = one_video({"a": [(0, 10)], "b": [(0, 50)]}, {"a": [(0.0, 9.0)], "b": [(0.0, 10.0)]})
    scores = evaluate(annotations, predictions, "mIoU; R@1,IoU=0.5,length=short; R@1,IoU=0.5,length=middle")
    mean, short, middle = scores.measured(np.array([[0.4, 0.7], [nan, nan], [0.0, 1.0]]))
    assert mean.value == pytest.approx((0.9 + 0.2) / 2, rel=1e-15)
    assert mean.ci95 == (0.4, 0.7)
    assert (mean.n_queries, mean.n_videos, mean.why) == (2, 1, "")
    assert (short.value, short.n_queries, short.ci95) == (1.0, 1, None)
    assert (middle.value, middle.n_queries, middle.why) == (None, 0, "no query has a reference that counts")
    assert mean.signature == (
        "mIoU|protocol:default|hit:IoU>m|tie:1e-09|iou:hull,float64|times:seconds|rank:score|ref:nearest|missing:worst"
        f"|data:own/all#{annotations.sha256[:8]}|truemoment:{truemoment.__version__}"
    )


def test_value_of_a_measure_that_was_not_asked_for(one_video):
    scores = evaluate(*one_video({"a": [(0, 10)]}, {"a": [(0.0, 9.0)]}), "mIoU; R@1,IoU=0.50")
    assert scores.value("R@1,IoU=0.5") == 1.0
    with pytest.raises(MeasureError) as caught:
        scores.value("R@1,IoU=0.7")
    assert str(caught.value) == "R@1,IoU=0.7: not among the measures computed: mIoU; R@1,IoU=0.5"


def test_measures_as_values_and_repeated(one_video):
    pair = one_video({"a": [(0, 10)]}, {"a": [(0.0, 9.0)]})
    measures = parse_measures("mIoU; AxIoU@3")
    scores = evaluate(*pair, [*measures, *measures])
    assert scores.measures == measures


def test_a_progress_bar_changes_nothing(world, monkeypatch, capsys):
    w = world(4)
    plain = evaluate(w.annotations, w.predictions, MEASURES)
    monkeypatch.setattr("truemoment.evaluation.evaluate.BLOCK_MOMENTS", 1)
    shown = evaluate(w.annotations, w.predictions, MEASURES, progress=True)
    assert shown.numerator == pytest.approx(plain.numerator, rel=1e-15)
    assert capsys.readouterr().out == ""  # standard output is not the bar's


# ---- Saving and loading


@pytest.fixture(name="scores")
def scores_fixture(world):
    w = world(5)
    return evaluate(w.annotations, w.predictions, MEASURES, "default,top=3,missing=drop")


def test_saved_scores_read_back(scores, tmp_path):
    path = tmp_path / "scores.npz"
    scores.save(path)
    read = Scores.load(path)
    assert read.measures == scores.measures
    assert read.protocol == scores.protocol
    assert read.query_id.tolist() == scores.query_id.tolist()
    assert read.video_id.tolist() == scores.video_id.tolist()
    for name in ("numerator", "weight", "on_threshold"):
        assert getattr(read, name).tolist() == getattr(scores, name).tolist()
        assert getattr(read, name).dtype == getattr(scores, name).dtype
    assert read.touched == scores.touched
    assert (read.dataset, read.split) == (scores.dataset, scores.split)
    assert read.annotations_sha256 == scores.annotations_sha256
    assert [read.value(m) for m in read.measures] == [scores.value(m) for m in scores.measures]
    assert read.signature() == scores.signature()


def test_texts_survive_saving(tmp_path):
    ids = ["v#0", "val_1/v_abc#3", "überall#1", "新#0", "a\x00b", "", "NUL at the end\x00"]
    rows = [(q, f"video of {q}", 20.0, "s", 0.0, 10.0) for q in ids]
    scores = evaluate(Annotations.from_rows(rows), Predictions.from_lists({}), "mIoU")
    scores.save(tmp_path / "s.npz")
    read = Scores.load(tmp_path / "s.npz")
    assert read.query_id.tolist() == ids
    assert read.video_id.tolist() == [f"video of {q}" for q in ids]


@pytest.mark.parametrize(
    "protocol", ["default,tolerance=1.2345678e-7", "default,epsilon=0.1234567891", "default,nms_threshold=0.4567891"]
)
def test_the_protocol_survives_saving(world, tmp_path, protocol):
    w = world(5)
    scores = evaluate(w.annotations, w.predictions, "R@1,IoU=0.5", protocol)
    scores.save(tmp_path / "s.npz")
    assert Scores.load(tmp_path / "s.npz").protocol == get_protocol(protocol)


def test_a_protocol_of_ones_own_survives_saving(world, tmp_path):
    # A protocol is a value that anybody may make; what was evaluated with it must be readable again.
    w = world(5)
    mine = truemoment.Protocol(name="mine", summary="mine", source="this test", comparison=">=", top=2)
    scores = evaluate(w.annotations, w.predictions, "R@1,IoU=0.5", mine)
    scores.save(tmp_path / "s.npz")
    read = Scores.load(tmp_path / "s.npz")
    assert read.protocol.convention() == mine.convention()
    assert read.signature() == scores.signature()


def test_saving_replaces_the_whole_file_or_nothing(scores, tmp_path):
    path = tmp_path / "scores.npz"
    path.write_bytes(b"what stood here before, " * 1000)
    scores.save(path)
    assert Scores.load(path).measures == scores.measures
    assert [p.name for p in tmp_path.iterdir()] == ["scores.npz"]  # no half-written file stays behind


def parts(scores, tmp_path):
    """Save and take the file apart into its arrays."""
    path = tmp_path / "sound.npz"
    scores.save(path)
    with np.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}


def packed(arrays):
    """Write arrays as a file of saved scores would; None leaves one out."""
    stream = io.BytesIO()
    np.savez_compressed(stream, **{name: value for name, value in arrays.items() if value is not None})
    return stream.getvalue()


def bare(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def with_a_huge_claim(arrays):
    """A table whose header claims 8 EB, and no data behind it."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        for name, value in arrays.items():
            stream = io.BytesIO(bare(value))
            if name == "numerator":
                stream = io.BytesIO()
                claim = {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)}
                np.lib.format.write_array_header_1_0(stream, claim)
            members.writestr(f"{name}.npy", stream.getvalue())
    return archive.getvalue()


def another_archive(_):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as members:
        members.writestr("readme.txt", "nothing here")
    return archive.getvalue()


def header(text):
    return lambda arrays: packed(arrays | {"header": np.frombuffer(text, dtype=np.uint8)})


def header_with(**changes):
    """Change fields of the header; a value of None takes the field out."""

    def write(arrays):
        fields = json.loads(bytes(arrays["header"])) | changes
        fields = {name: value for name, value in fields.items() if value is not None}
        return packed(arrays | {"header": np.frombuffer(json.dumps(fields).encode(), dtype=np.uint8)})

    return write


def table(name, change):
    return lambda arrays: packed(arrays | {name: change(arrays[name])})


# What is wrong with the file: how to write it, given the arrays of a sound one of six measures and fourteen queries.
BROKEN = {
    "empty": lambda _: b"",
    "text": lambda _: b"not a zip file at all",
    "JSON": lambda _: b'{"schema": "truemoment/scores/1"}',
    "a bare array": lambda _: bare(np.zeros(3)),
    "a pickle": lambda _: pickle.dumps({"numerator": 1}),
    "a pickled table": table("numerator", lambda _: np.array([{"a": 1}], dtype=object)),
    "a pickled header": table("header", lambda _: np.array([{"a": 1}], dtype=object)),
    "cut in half": lambda arrays: packed(arrays)[: len(packed(arrays)) // 2],
    "last byte gone": lambda arrays: packed(arrays)[:-1],
    "another archive": another_archive,
    "a claim of 8 EB": with_a_huge_claim,
    "no header": lambda arrays: packed(arrays | {"header": None}),
    "no numerator": lambda arrays: packed(arrays | {"numerator": None}),
    "no weight": lambda arrays: packed(arrays | {"weight": None}),
    "no counts": lambda arrays: packed(arrays | {"on_threshold": None}),
    "header no JSON": header(b"{oh"),
    "header no text": header(b"\xff\xfe"),
    "header a list": header(b"[]"),
    "header nested without end": header(b"[" * 100_000),
    "header of numbers": lambda arrays: packed(arrays | {"header": np.arange(3.0)}),
    "header without measures": header_with(measures=None),
    "header without protocol": header_with(protocol=None),
    "header without queries": header_with(query_id=None),
    "header without videos": header_with(video_id=None),
    "measures a number": header_with(measures=3),
    "a measure no text": header_with(measures=[1, 2, 3, 4, 5, 6]),
    "an unknown measure": header_with(measures=["X"] * 6),
    "fewer measures": header_with(measures=["mIoU"]),
    "protocol a number": header_with(protocol=7),
    "protocol of another kind": header_with(protocol={"name": "mine"}),
    "protocol with an impossible field": header_with(
        protocol={"name": "mine", "summary": "s", "source": "t", "top": -5}
    ),
    "another schema": header_with(schema="somebody/else/9"),
    "touched a list": header_with(touched=["a"]),
    "queries of numbers": header_with(query_id=list(range(14))),
    "fewer queries": header_with(query_id=["q"]),
    "fewer videos": header_with(video_id=["v"]),
    "a shorter table": table("numerator", lambda values: values[:, :-1]),
    "a flat table": table("weight", np.ravel),
    "a table of text": table("numerator", lambda values: np.full(values.shape, "x")),
    "a table of complex numbers": table("numerator", lambda values: values + 0j),
    "NaN in the table": table("numerator", lambda values: np.full_like(values, nan)),
    "infinite weights": table("weight", lambda values: np.full_like(values, np.inf)),
    "negative weights": table("weight", np.negative),
    "fewer counts": table("on_threshold", lambda values: values[:-1]),
    "counts of text": table("on_threshold", lambda values: np.full(values.shape, "x")),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_refused_by_name(scores, tmp_path, kind):
    arrays = parts(scores, tmp_path)
    path = tmp_path / "broken.npz"
    path.write_bytes(packed(arrays))
    Scores.load(path)  # taken apart and put together it is sound: only what is changed below is at fault
    path.write_bytes(BROKEN[kind](arrays))
    with pytest.raises(InputError, match=re.escape(str(path))):
        Scores.load(path)


def test_a_missing_file_is_refused_by_name(tmp_path):
    with pytest.raises(MissingFileError, match=re.escape(str(tmp_path / "none.npz"))):
        Scores.load(tmp_path / "none.npz")


def test_nothing_in_a_file_is_executed(scores, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "sprung"), "w"))

    arrays = parts(scores, tmp_path)
    for name in arrays:
        np.savez(tmp_path / "trap.npz", **(arrays | {name: np.array([Trap()], dtype=object)}))
        with pytest.raises(InputError):
            Scores.load(tmp_path / "trap.npz")
        assert not (tmp_path / "sprung").exists()


@pytest.mark.slow
@pytest.mark.parametrize("every", quick_are([4], [1, 4]))
def test_any_damaged_byte_is_read_or_refused(one_video, tmp_path, every):
    # A damaged file ends in InputError, never in somebody else's exception; or it reads, where the byte has no meaning.
    small = evaluate(*one_video({"a": [(0, 10)]}, {"a": [(0.0, 9.0)]}), "mIoU")
    path = tmp_path / "scores.npz"
    small.save(path)
    sound = path.read_bytes()
    other = {}
    for position in range(0, len(sound), every):
        damaged = bytearray(sound)
        damaged[position] ^= 0xFF
        path.write_bytes(bytes(damaged))
        try:
            Scores.load(path)
        except InputError:
            continue
        except Exception as error:  # which others come is what is tested
            other.setdefault(f"{type(error).__name__}: {error}", []).append(position)
    assert not other
    assert issubclass(InputError, TrueMomentError)
