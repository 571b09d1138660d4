"""Units of times: what they look like if they are improbable as seconds, and what commands do about it."""

import html
import json

import numpy as np
import pytest

import truemoment as tm
from truemoment import Annotations
from truemoment.base.errors import InputError
from truemoment.cli import run
from truemoment.data.formats import read_predictions
from truemoment.data.units import ReferenceTimes, look_at_units
from truemoment.studies.meta.request import SystemSource, VariantSource

N = 120


def annotations(low_s=20.0, high_s=45.0, n_queries=N):
    """Queries on videos of some lengths, moments of a third of the video."""
    rng = np.random.default_rng(0)
    duration_s = rng.uniform(low_s, high_s, n_queries)
    start_s = rng.uniform(0, 0.6, n_queries) * duration_s
    end_s = start_s + rng.uniform(0.2, 0.4, n_queries) * duration_s
    rows = zip(duration_s.tolist(), start_s.tolist(), end_s.tolist(), strict=True)
    return Annotations.from_rows(
        [(f"v{k}#0", f"v{k}", d, f"a man opens door {k}", s, e) for k, (d, s, e) in enumerate(rows)],
        dataset="made",
        split="test",
    )


def look(of, convert):
    """Look at the references of annotations, converted from (seconds, duration) and with noise."""
    references = ReferenceTimes.of(of, np.arange(of.n_queries))
    noise_s = np.random.default_rng(1).normal(0, 0.1, (2, of.n_queries)) * of.duration_s
    start_s, end_s = np.sort(np.stack([of.start_s, of.end_s]) + noise_s, axis=0).clip(0, of.duration_s)
    return look_at_units(convert(start_s, of.duration_s), convert(end_s, of.duration_s), of.duration_s, references)


UNITS = {
    "fps=24": lambda t, _: np.round(24 * t),
    "fps=25": lambda t, _: np.round(25 * t),
    "fps=30": lambda t, _: np.round(29.97 * t),
    "fps=60": lambda t, _: np.round(60 * t),
    "milliseconds": lambda t, _: np.round(1000 * t),
    "percent": lambda t, d: 100 * t / d,
    "fraction": lambda t, d: t / d,
}


@pytest.mark.parametrize("axis", UNITS)
@pytest.mark.parametrize("lengths", [(20.0, 45.0), (60.0, 240.0)])
def test_the_axis_that_fits_is_named(axis, lengths):
    seen = look(annotations(*lengths), UNITS[axis])
    assert seen.certain
    kind, _, rate = axis.partition("=")
    assert (seen.axis.kind, seen.axis.number) == (kind, pytest.approx(float(rate or 1), rel=0.05))


def test_whole_hundredths_from_00_to_99_are_bins():
    seen = look(annotations(), lambda t, d: np.minimum(np.floor(100 * t / d), 99))
    assert str(seen.axis) == "bins=100"


@pytest.mark.parametrize("lengths", [(20.0, 45.0), (60.0, 240.0), (95.0, 160.0), (2.0, 4.0)])
@pytest.mark.parametrize("rounded", [lambda t, _: t, lambda t, _: np.round(t), lambda t, _: np.minimum(t, 100.0)])
def test_seconds_are_seconds(lengths, rounded):
    assert look(annotations(*lengths), rounded) is None


def test_times_beyond_every_video_are_no_seconds_even_where_no_unit_fits():
    of = annotations()
    start_s = of.duration_s * np.random.default_rng(2).uniform(2, 150, N)
    end_s = start_s - 1  # swapped, so that no unit makes them overlap anything
    seen = look_at_units(start_s, end_s, of.duration_s, ReferenceTimes.of(of, np.arange(N)))
    assert (seen.axis, seen.certain) == (None, True)


def test_answers_in_the_unit_of_the_references_are_left_alone():
    """Frames in both files: the durations are wrong, not the answers."""
    of = Annotations.from_rows([(f"v{k}#0", f"v{k}", 30.0, "a door", 300.0, 600.0) for k in range(20)])
    start, end = np.full(20, 300.0), np.full(20, 610.0)
    assert look_at_units(start, end, of.duration_s, ReferenceTimes.of(of, np.arange(20))) is None


def test_without_durations_the_last_reference_is_the_measure():
    of = annotations()
    start, end = of.start_s * 30, of.end_s * 30
    seen = look_at_units(start, end, np.full(N, np.nan), ReferenceTimes.of(of, np.arange(N)))
    assert seen.axis.kind == "fps"
    assert look_at_units(of.start_s, of.end_s, np.full(N, np.nan), ReferenceTimes.of(of, np.arange(N))) is None


def test_two_moments_are_seen_with_doubt():
    of = Annotations.from_rows([("a", "a", 30.0, "x", 2.0, 8.0), ("b", "b", 28.0, "y", 10.0, 25.0)])
    seen = look_at_units(
        np.array([60.0, 300.0]), np.array([240.0, 760.0]), of.duration_s, ReferenceTimes.of(of, np.arange(2))
    )
    assert not seen.certain
    assert str(seen) == (
        "the times look like frames at 30 (or 29.97) a second: 100 % end after the end of their video; too few to be "
        "sure (--axis fps=30)"
    )


# ------------------------------------------------------------------------------------------- commands


@pytest.fixture
def files(tmp_path):
    """Annotations and predictions in frames at 30 a second."""
    of = annotations()
    lines = [
        {"query_id": q, "video_id": v, "duration_s": d, "sentence": s, "moments": [[a, b]]}
        for q, v, d, s, a, b in zip(
            of.query_id.tolist(), of.video_id.tolist(), of.duration_s.tolist(), of.sentence.tolist(),
            of.start_s.tolist(), of.end_s.tolist(), strict=True,
        )
    ]  # fmt: skip
    own = tmp_path / "own.jsonl"
    own.write_text("".join(json.dumps(line) + "\n" for line in lines))
    frames = tmp_path / "frames.csv"
    rows = (f"{line['query_id']},{line['moments'][0][0] * 30:.0f},{line['moments'][0][1] * 30:.0f}\n" for line in lines)
    frames.write_text("query_id,start,end\n" + "".join(rows))
    return own, frames


LINE = (
    "the times look like frames at 30 (or 29.97) a second: 100 % end after the end of their video; --axis fps=30 reads "
    "them so, --axis seconds insists on seconds"
)


def test_an_audit_ends_before_any_verdict(files):
    own, frames = files
    with pytest.raises(InputError) as refused:
        tm.audit(frames, annotations=own, fit_split="none", resamples=2, permutations=1)
    assert str(refused.value) == f"{frames}: {LINE}"


def test_a_comparison_ends_before_any_verdict(files):
    own, frames = files
    with pytest.raises(InputError, match="frames at 30"):
        tm.compare({"a": frames, "b": frames}, annotations=own, fit_split="none", resamples=2, permutations=1)


def test_a_study_of_measures_ends_before_any_verdict(files):
    own, frames = files
    with pytest.raises(InputError) as refused:
        SystemSource((f"a={frames}", f"b={frames}"), annotations=own).load()
    assert str(refused.value) == f"{frames}: {LINE}"
    SystemSource((f"a={frames}", f"b={frames}"), annotations=own, axis="fps=30").load()


def test_model_selection_maps_columns_and_takes_durations(files):
    """Frames in columns of other names are the references, on both sides."""
    folder, rows = files[0].parent, [json.loads(line) for line in files[0].read_text().splitlines()]
    table = "".join("{query_id},{video_id},{sentence},{0},{1}\n".format(*row["moments"][0], **row) for row in rows)
    (folder / "mine.csv").write_text("id,clip,text,from,to\n" + table)
    durations = "".join(f"{row['video_id']},{row['duration_s']}\n" for row in rows)
    (folder / "long.csv").write_text("video_id,duration_s\n" + durations)
    variants = (f"a={files[1]}", f"b={files[1]}")
    source = VariantSource(
        validation=variants,
        test=variants,
        validation_annotations=folder / "mine.csv",
        annotations=folder / "mine.csv",
        fields="query_id=id, video_id=clip, sentence=text, start_s=from, end_s=to",
        durations=folder / "long.csv",
        prediction_fields="query_id=query_id, start_s=start/30, end_s=end/30",
        measures="mIoU; dR@1,IoU=0.5",
    )
    validation, test = source.load()
    assert validation.figures.min() > 0.95
    assert test.systems.figures.min() > 0.95


@pytest.mark.usefixtures("few_floors", "undrawn")
def test_a_leaderboard_reads_the_axis_of_a_system(files, capfd):
    """The board is refused without the axis; with it, the frames are the references."""
    own, _ = files
    board = own.parent / "leaderboard.yaml"
    systems = [f"  - {{name: {name}, files: frames.csv, sees_video: false%s}}\n" for name in "ab"]
    head = "title: t\nannotations: own.jsonl\nfit_split: none\nmeasures: mIoU\nsystems:\n"
    words = ["leaderboard", str(own.parent), "--resamples", "200", "--permutations", "9", "--quiet"]
    board.write_text(head + "".join(system % "" for system in systems))
    assert run(words) == 2
    assert capfd.readouterr().err.endswith(f"frames.csv: {LINE}\n")
    board.write_text(head + "".join(system % ", axis: fps=30" for system in systems))
    assert run(words) == 0
    document = json.loads((own.parent / "site" / "leaderboard.json").read_text())
    assert document["comparison"]["methods"][0]["measures"][0]["value"] > 0.95


@pytest.mark.usefixtures("few_floors", "undrawn")
def test_a_leaderboard_maps_the_columns_of_annotations_and_of_a_system(files):
    """Frames in columns of other names are the references; a mapping may be a file, below the folder only."""
    folder = files[0].parent
    rows = [json.loads(line) for line in files[0].read_text().splitlines()]
    table = "".join("{video_id},{sentence},{0},{1}\n".format(*row["moments"][0], **row) for row in rows)
    (folder / "mine.csv").write_text("clip,text,from,to\n" + table)
    durations = "".join(f"{row['video_id']},{row['duration_s']}\n" for row in rows)
    (folder / "long.csv").write_text("video_id,duration_s\n" + durations)
    frames = "".join(f"{row['video_id']},{row['moments'][0][0] * 30},{row['moments'][0][1] * 30}\n" for row in rows)
    (folder / "out.csv").write_text("clip,first,last\n" + frames)
    (folder / "out.map").write_text("query_id=clip\nstart_s=first/30\nend_s=last/30\n")
    mapping = "query_id=clip, video_id=clip, sentence=text, start_s=from, end_s=to"
    head = f"title: t\nannotations: mine.csv\nfields: '{mapping}'\ndurations: long.csv\nfit_split: none\n"
    head += "measures: mIoU\nsystems:\n"
    system = "  - {name: %s, files: out.csv, sees_video: false, prediction_fields: '%s'}\n"
    words = ["leaderboard", str(folder), "--resamples", "200", "--permutations", "9", "--quiet"]
    board = folder / "leaderboard.yaml"
    fields = "query_id=clip, start_s=first/30, end_s=last/30"
    board.write_text(head + system % ("a", fields) + system % ("b", "@out.map"))
    assert run(words) == 0
    document = json.loads((folder / "site" / "leaderboard.json").read_text())
    assert [method["measures"][0]["value"] for method in document["comparison"]["methods"]] == pytest.approx([1, 1])
    assert f"--prediction-fields '{fields}'" in html.unescape((folder / "site" / "index.html").read_text())
    for wrong, problem in (
        ("from=first", "got the field 'from'"),
        ("@../o.map", "got '../o.map', expected a path"),
    ):
        board.write_text(head + system % ("a", fields) + system % ("b", wrong))
        with pytest.raises(InputError, match=r"field systems\[1\]\.prediction_fields: ") as refused:
            tm.leaderboard(folder)
        assert problem in str(refused.value)


def test_a_record_is_looked_at_as_a_file(files):
    own, frames = files
    of = tm.read_annotations(own)
    record, _ = read_predictions(frames, of)
    with pytest.raises(InputError) as refused:
        tm.audit(record, annotations=of, fit_split="none", resamples=2, permutations=1)
    assert str(refused.value) == f"predictions: {LINE}"
    assert LINE.partition(";")[0] in tm.evaluate(record, annotations=of).document()["notes"][0]


def test_random_hundredths_are_seen_where_they_pass_short_videos():
    """A third of the videos is too short for 100 s; the same numbers, held to the videos, may be seconds."""
    of = annotations(30.0, 400.0)
    references = ReferenceTimes.of(of, np.arange(N))
    start, end = np.sort(np.random.default_rng(1).uniform(0, 100, (2, N)), axis=0)
    seen = look_at_units(start, end, of.duration_s, references)
    assert (seen.axis.kind, seen.certain) == ("percent", True)
    held = np.fmin(end, of.duration_s)
    assert look_at_units(np.fmin(start, held), held, of.duration_s, references) is None


def test_the_whole_of_every_video_in_per_cent_is_seen():
    """Videos of 150 s, as QVHighlights has, of which none is too short for 100 s."""
    of = annotations(150.0, 150.0)
    seen = look_at_units(np.zeros(N), np.full(N, 100.0), of.duration_s, ReferenceTimes.of(of, np.arange(N)))
    assert (str(seen.axis), seen.certain) == ("percent", True)


LONG = pytest.mark.parametrize("lengths", [(150.0, 150.0), (120.0, 300.0)])
"""Videos of which none is too short for 100 s: as QVHighlights has, and as TACoS."""


@LONG
@pytest.mark.parametrize("middle", [None, (25.0, 75.0), (10.0, 90.0)])
def test_blind_answers_in_per_cent_of_long_videos_are_seen(lengths, middle):
    """Random ones, and one answer to all: nothing but the numbers shows the unit."""
    of = annotations(*lengths)
    start, end = np.sort(np.random.default_rng(1).uniform(0, 100, (2, N)), axis=0)
    if middle is not None:
        start, end = np.full(N, middle[0]), np.full(N, middle[1])
    seen = look_at_units(start, end, of.duration_s, ReferenceTimes.of(of, np.arange(N)))
    assert (str(seen.axis), seen.certain) == ("percent", True)


@LONG
def test_seconds_that_stop_at_100_are_seconds(lengths):
    """Answers at the limit where the moment is later, and answers that are then anywhere; and one answer to all."""
    of = annotations(*lengths)
    references = ReferenceTimes.of(of, np.arange(N))
    rng = np.random.default_rng(1)
    near_s = (np.stack([of.start_s, of.end_s]) + rng.normal(0, 5, (2, N))).clip(0, 100)
    assert look_at_units(*np.sort(near_s, axis=0), of.duration_s, references) is None
    anywhere_s = np.where(of.end_s > 100, rng.uniform(0, 100, (2, N)), near_s)
    assert look_at_units(*np.sort(anywhere_s, axis=0), of.duration_s, references) is None
    assert look_at_units(np.full(N, 20.0), np.full(N, 60.0), of.duration_s, references) is None


@pytest.mark.parametrize("axis", ["seconds", "fps=30"])
def test_a_given_axis_is_what_the_person_means(files, axis):
    own, frames = files
    result = tm.compare(
        {"a": frames, "b": frames}, annotations=own, fit_split="none", resamples=2, permutations=1, axis=axis
    )
    assert (result.rows()[0]["difference"], result.compared.comparison.mean[0, 0] > 0.9) == (0, axis == "fps=30")


def test_an_evaluation_says_it_first(files):
    own, frames = files
    result = tm.evaluate(frames, annotations=own)
    said = (
        "the times look like frames at 30 (or 29.97) a second: 100 % end after the end of their video (--axis fps=30)"
    )
    assert result.document()["notes"][0] == said
    assert said in str(result.report().sections[0].blocks[0])
    assert result.document()["match"]["signs"] == [said]


def test_a_report_of_biases_ends_before_any_figure_and_reads_an_axis(files, tmp_path):
    own, _ = files
    lines = [json.loads(line) for line in own.read_text().splitlines()]
    in_frames = tmp_path / "frames.jsonl"
    for line in lines:
        line["moments"] = [[30 * a, 30 * b] for a, b in line["moments"]]
    in_frames.write_text("".join(json.dumps(line) + "\n" for line in lines))
    few = {"permutations": 1, "draws": 1}
    with pytest.raises(InputError, match=r"frames at about 25 a second: .*--axis fps=25 reads them so"):
        tm.bias(annotations=in_frames, **few)
    read = tm.bias(annotations=in_frames, axis="fps=30", **few)
    assert read.rows() == [{**tm.bias(annotations=own, **few).rows()[0], "dataset": "frames.jsonl"}]


def test_references_that_cannot_be_hit_are_counted(tmp_path):
    nan = float("nan")
    rows = [
        ("a", "v", 30.0, "x", 2.0, 2.0),
        ("b", "v", 30.0, "y", 1.0, 5.0),
        ("c", "v", 30.0, "z", 30.0, 35.0),  # starts where the video ends
        ("d", "v", 30.0, "u", 40.0, 45.0),
        ("d", "v", 30.0, "u", 3.0, 3.0),
        ("e", "v", 30.0, "w", 29.0, 35.0),  # one second of it can be hit
        ("f", "w", nan, "x", 40.0, 45.0),
        ("g", "v", 30.0, "v", nan, nan),  # no moment
        ("h", "v", 30.0, "t", 9.0, 3.0),
    ]
    path = tmp_path / "p.csv"
    path.write_text("query_id,start,end\n" + "".join(f"{name},1,5\n" for name in "abcdefgh"))
    notes = tm.evaluate(path, annotations=Annotations.from_rows(rows), measures="mIoU").document()["notes"]
    assert "2 queries have only references that end where or before they start, which no prediction overlaps" in notes
    assert "2 queries have only references outside their video, which no prediction inside it overlaps" in notes


@pytest.mark.parametrize(
    ("scores", "note"),
    [
        ("777", "all scores of the file are equal, so the ranking is the order of the file"),
        ("778", "1 list has tied scores, ranked in file order"),
    ],
)
def test_equal_scores_throughout_are_one_note(tmp_path, scores, note):
    of = Annotations.from_rows([("a", "v", 30.0, "x", 2.0, 4.0), ("b", "v", 30.0, "y", 1.0, 5.0)])
    path = tmp_path / "p.csv"
    path.write_text("query_id,start,end,score\na,2,4,{}\na,3,9,{}\nb,1,5,{}\n".format(*scores))
    assert [line for line in tm.evaluate(path, annotations=of).document()["notes"] if "score" in line] == [note]


def test_signs_and_units_agree(tmp_path):
    of = annotations()
    path = tmp_path / "p.csv"
    path.write_text("query_id,start,end\n" + "".join(f"v{k}#0,0.1,0.5\n" for k in range(N)))
    _, match = read_predictions(path, of)
    assert match.signs[0] == str(match.units)
    assert "fractions of the video" in match.signs[0]
