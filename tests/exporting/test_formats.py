"""Exports read back: the same frames at every rate, and sentences that do no harm."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.errors import UsageError
from truemoment.media.video.stamps import FrameTable
from truemoment.searching.exporting.formats import ENDINGS, TIMELINES, check_ending, export_text
from truemoment.searching.exporting.moments import ExportedFilm, ExportedMoment
from truemoment.searching.exporting.rates import RATES, constant_rate
from truemoment.searching.exporting.timecodes import TimeCode, time_code_of

otio = pytest.importorskip("opentimelineio")
pysubs2 = pytest.importorskip("pysubs2")

# Sentences with what each format could mistake for its own (specification of the pages, section 15).
HOSTILE = 'a "door"\n\n2 --> 3 ]]> </note> =cmd|calc & <b>\x1b[31m FROM CLIP NAME: x\r\nM2 {\\an8} باب ' + "w" * 300


def table(rate, n_frames, tick=None):
    """Frames of a constant rate on a clock whose ticks divide them, or are rounded."""
    tick = tick or 1 / Fraction(rate.numerator * 1)
    starts = np.array([round(k / rate / tick) for k in range(n_frames)])
    return FrameTable(tick, starts, round(n_frames / rate / tick))


def film(rate=Fraction(25), name="film one.mp4", n_frames=5000, time_code=None):
    return ExportedFilm(name, Path("/films") / name, table(rate, n_frames), rate, time_code or time_code_of(rate))


def some(of, sentence="a door opens"):
    return [ExportedMoment(of, first, last, sentence, 0.5) for first, last in ((100, 149), (0, 0), (4000, 4999))]


@pytest.mark.parametrize("rate", RATES, ids=str)
@pytest.mark.parametrize("tick", [None, Fraction(1, 1000), Fraction(1, 90000)], ids=["own", "ms", "90 kHz"])
def test_the_rate_of_a_table(rate, tick):
    assert constant_rate(table(rate, 4000, tick)) == rate


def test_an_odd_and_a_variable_rate():
    assert constant_rate(FrameTable(Fraction(1, 700), np.arange(0, 500, 10), 500)) == 70
    assert constant_rate(FrameTable(Fraction(1, 1000), np.array([0, 40, 70, 200]), 240)) is None
    assert constant_rate(FrameTable(Fraction(1, 1000), np.array([0, 40, 120, 160]), 200)) is None  # one was dropped


@pytest.mark.parametrize("rate", ["30000/1001", "24000/1001", "12"])
def test_the_rate_of_a_clock_of_milliseconds_in_finer_ticks(rate):
    # Matroska: the frame table divides a millisecond into ten ticks.
    starts = 10 * np.round(np.arange(300) * float(1000 / Fraction(rate))).astype(int)
    assert constant_rate(FrameTable(Fraction(1, 10_000), 7 + starts, int(starts[-1]) + 400)) == Fraction(rate)


def test_subtitles_read_back():
    moments = some(film(), HOSTILE)
    cues = pysubs2.SSAFile.from_string(export_text(moments, ".srt"), format_="srt")
    assert [(of.start, of.end) for of in cues] == [(0, 40), (4000, 6000), (160_000, 200_000)]
    assert all('a "door" 2 --> 3' in of.plaintext.replace("\n", " ") for of in cues)
    vtt = export_text(moments, ".vtt")
    assert vtt.startswith("WEBVTT\n\n1\n00:00:00.000 --> 00:00:00.040\n")
    assert vtt.count("-->") == 3  # those of the sentence are escaped
    assert len(pysubs2.SSAFile.from_string(vtt, format_="vtt")) == 3


def test_tables():
    rows = list(csv.DictReader(io.StringIO(export_text(some(film(), "=1+1"), ".csv"))))
    assert rows[0]["sentence"] == "'=1+1"
    assert (rows[0]["first_frame"], rows[0]["last_frame"], rows[0]["start_s"], rows[0]["end_s"]) == (
        "100",
        "149",
        "4.0",
        "6.0",
    )
    assert json.loads(export_text(some(film(), HOSTILE), ".json"))[0]["sentence"] == HOSTILE


SHORT = film(n_frames=25)


@given(st.text(max_size=60))
def test_no_sentence_forges_an_event(sentence):
    moments = [ExportedMoment(SHORT, 0, 24, sentence, 1.0)]
    edl = export_text(moments, ".edl")
    assert sum(line[:3].isdigit() for line in edl.splitlines()) == 1
    assert export_text(moments, ".vtt").count("-->") == 1
    ET.fromstring(export_text(moments, ".fcpxml").partition("<!DOCTYPE fcpxml>")[2])  # noqa: S314 - our own text
    ET.fromstring(export_text(moments, ".xml").encode())  # noqa: S314 - our own text
    assert len(pysubs2.SSAFile.from_string(export_text(moments, ".srt"), format_="srt")) == 1


def test_names_and_neighbours_of_public_reports():
    # PySceneDetect#516: an event ends where the next one starts, at 24 frames a second; auto-editor#344 and dj-beat#1:
    # names with signs of XML.
    name = 'Bob\'s & "Ann" <1>.mp4'
    moments = [ExportedMoment(film(Fraction(24), name), a, b, "x", 0.5) for a, b in ((0, 40), (41, 86), (87, 125))]
    events = [line.split()[-2:] for line in export_text(moments, ".edl").splitlines() if line[:3].isdigit()]
    assert events == [
        ["00:00:00:00", "00:00:01:17"],
        ["00:00:01:17", "00:00:03:15"],
        ["00:00:03:15", "00:00:05:06"],
    ]
    root = ET.fromstring(export_text(moments, ".xml").encode())  # noqa: S314 - our own text
    assert name in {of.text for of in root.iter("name")}


def test_markers_have_the_sentence_the_match_and_the_note():
    moments = [ExportedMoment(film(), 100, 149, "a door opens", 0.2944, 0.976, "the best\ntake")]
    comment = "match 98 %, score 0.294, the best take"
    edl = export_text(moments, ".edl")
    assert f"\n* LOC: 00:00:04:00 RED     1 a door opens - {comment}\n" in edl
    root = ET.fromstring(export_text(moments, ".xml").encode())  # noqa: S314 - our own text
    assert [of.text for of in root.iter("comment")] == [f"a door opens - {comment}"]
    fcpxml = ET.fromstring(export_text(moments, ".fcpxml").encode())  # noqa: S314 - our own text
    (marker,) = fcpxml.iter("marker")  # Apple's FCPXML reference: times of a marker are those of the clip's source
    assert marker.attrib == {"start": "100/25s", "duration": "1/25s", "value": "a door opens", "note": comment}
    back = otio.adapters.read_from_string(export_text(moments, ".otio"), "otio_json")
    (mark,) = next(iter(back.tracks[0])).markers
    assert (mark.name, mark.comment) == ("a door opens", comment)
    assert json.loads(export_text(moments, ".json"))[0]["note"] == "the best\ntake"
    assert export_text([ExportedMoment(film(), 0, 0, "x")], ".edl").splitlines()[5].endswith(" RED     1 x")


def test_a_timeline_of_several_sentences_names_how_many():
    moments = [*some(film(name="a.mp4"), "a dog"), *some(film(name="b.mp4"), "a door"), *some(film(), "a dog")]
    assert export_text(moments, ".edl").startswith("TITLE: a dog and 1 other\n")


def test_reels_and_names():
    moments = [*some(film(name="film one part 1.mp4")), *some(film(name="film one part 2.mp4"))]
    edl = export_text(moments, ".edl", names_only=True)
    assert "* REEL R001: film one part 1.mp4" in edl
    assert "* REEL R002: film one part 2.mp4" in edl
    for ending in TIMELINES:
        assert "/films/" in export_text(moments, ending)
        assert "/films/" not in export_text(moments, ending, names_only=True)


@pytest.mark.parametrize("ending", [".edl", ".xml", ".fcpxml"])
def test_a_variable_rate_and_two_rates_are_refused(ending):
    variable = ExportedFilm("v", Path("v.mkv"), FrameTable(Fraction(1, 1000), np.array([0, 40, 70, 200]), 240), None)
    with pytest.raises(UsageError, match=r"v.mkv has a variable frame rate; expected .otio"):
        export_text([ExportedMoment(variable, 0, 1, "x")], ending)
    with pytest.raises(UsageError, match=r"films have 24 and 25 frames per second, expected one rate"):
        export_text([*some(film(Fraction(24))), *some(film())], ending)


@pytest.mark.parametrize("ending", [".edl", ".xml"])
def test_a_rate_without_time_codes_is_refused(ending):
    with pytest.raises(UsageError, match=r"film one.mp4 has 25/2 frames per second, a rate without time codes"):
        export_text(some(film(Fraction(25, 2))), ending)


def test_otio_holds_a_variable_rate():
    variable = ExportedFilm("v", Path("v.mkv"), FrameTable(Fraction(1, 1000), np.array([0, 40, 70, 200]), 240), None)
    back = otio.adapters.read_from_string(export_text([ExportedMoment(variable, 1, 2, "x")], ".otio"), "otio_json")
    span = next(iter(back.tracks[0])).source_range
    assert (span.start_time.to_seconds(), span.duration.to_seconds()) == pytest.approx((0.04, 0.16))


@pytest.mark.parametrize("ending", ENDINGS)
def test_no_moment_and_many(ending):
    assert export_text([], ending) is not None
    of = film(Fraction(24000, 1001), n_frames=2_000)
    assert len(export_text([ExportedMoment(of, k, k, "x", 0.1) for k in range(1000)], ending)) > 10_000


def test_subtitles_of_two_films_and_unknown_endings():
    with pytest.raises(UsageError, match=r"found moments of 2 videos, expected those of one"):
        export_text([*some(film(name="a.mp4")), *some(film(name="b.mp4"))], ".srt")
    with pytest.raises(UsageError, match=r"expected a name that ends in .otio, .edl"):
        check_ending(Path("found.aaf"))


def test_a_time_code_that_begins_again_is_refused():
    n_frames = 30 * 3600 * 25
    of = ExportedFilm(
        "film",
        Path("film.mp4"),
        FrameTable(Fraction(1, 25), np.arange(n_frames), n_frames),
        Fraction(25),
        TimeCode(25, False),
    )
    with pytest.raises(UsageError, match=r"film.mp4 ends after 24 hours, where time codes begin again; expected .otio"):
        export_text([ExportedMoment(of, n_frames - 50, n_frames - 1, "x")], ".edl")
    assert "00:00:04:00" in export_text([ExportedMoment(of, 100, 149, "x")], ".edl")


def test_records_of_a_collection_read_back(tmp_path):
    from truemoment.data.datasets import own
    from truemoment.data.formats import read_predictions
    from truemoment.searching.exporting.formats import annotations_text, predictions_text

    moments = [*some(film(name="a.mp4"), HOSTILE), *some(film(name="b.mp4"), "a door")]
    (tmp_path / "a.jsonl").write_text(annotations_text(moments), encoding="utf-8")
    (tmp_path / "p.jsonl").write_text(predictions_text(moments[::-1]), encoding="utf-8")
    annotations = own.read(tmp_path / "a.jsonl")
    predictions, _ = read_predictions(tmp_path / "p.jsonl", annotations)
    assert annotations.n_queries == len(predictions) == 2
    assert sorted(annotations.start_s.tolist()) == [0, 0, 4, 4, 160, 160]  # frames 0, 100 and 4000 at 25 a second
    assert predictions.lengths.tolist() == [3, 3]
