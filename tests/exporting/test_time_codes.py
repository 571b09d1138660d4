"""Time codes: read back from every editing format by other readers, by label and by frame.

Expected frame numbers: SMPTE ST 12-1. An hour of labels has 3600 times the counted frames per second; drop frame leaves
out 108 (29.97) or 216 (59.94) of them. Labels are compared with those of OpenTimelineIO 0.18 where it knows the rate.
"""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as ET
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from truemoment.base.errors import UsageError
from truemoment.media.video.stamps import FrameTable
from truemoment.searching.exporting.formats import export_text
from truemoment.searching.exporting.moments import ExportedFilm, ExportedMoment, film_of
from truemoment.searching.exporting.timecodes import read_time_code, time_code_of

otio = pytest.importorskip("opentimelineio")

SENTENCE = 'a "door"\n\n2 --> 3 ]]> </note> =cmd|calc & <b>\x1b[31m FROM CLIP NAME: x\r\nM2 {\\an8} ' + "w" * 10_000

# Rate, label of the first frame, and its number.
KINDS = [
    ("24000/1001", "01:00:00:00", 86_400),
    ("24", "01:00:00:00", 86_400),
    ("25", "10:00:00:00", 900_000),
    ("30000/1001", "01:00:00;00", 107_892),
    ("30000/1001", "01:00:00:00", 108_000),
    ("30", "01:00:00:00", 108_000),
    ("50", "01:00:00:00", 180_000),
    ("60000/1001", "01:00:00;00", 215_784),
    ("60000/1001", "01:00:00:00", 216_000),
    ("60", "01:00:00:00", 216_000),
    ("12", "01:00:00:00", 43_200),
]

every_kind = pytest.mark.parametrize(("rate", "start", "first"), KINDS, ids=str)


def moments_of(rate, start, hours=1.2):
    """Three moments of a film, the last at its end."""
    n = int(hours * 3600 * rate)
    table = FrameTable(1 / Fraction(rate.numerator), rate.denominator * np.arange(n), rate.denominator * n)
    film = ExportedFilm("film", Path("/films/film.mov"), table, rate, read_time_code(start, rate))
    return [ExportedMoment(film, low, high, SENTENCE, 0.5) for low, high in ((1799, 1848), (0, 0), (n - 50, n - 1))]


def label_of(frame, rate, drops):
    """The label that another program gives a frame; of 12 frames a second, which it does not know, by division."""
    frame = int(frame)
    if rate == 12:
        return f"{frame // 43200:02d}:{frame // 720 % 60:02d}:{frame // 12 % 60:02d}:{frame % 12:02d}"
    counted = float(rate)
    return otio.opentime.to_timecode(otio.opentime.RationalTime(frame, counted), counted, drops)


def sources(moments, first):
    """Number of the first frame in the film's time code and number after the last, of each moment."""
    return [(first + moment.first, first + moment.last + 1) for moment in moments]


@every_kind
def test_an_edit_list_read_back(rate, start, first):
    rate, drops = Fraction(rate), ";" in start
    moments = moments_of(rate, start)
    text = export_text(moments, ".edl")
    assert text.splitlines()[1] == f"FCM: {'' if drops else 'NON-'}DROP FRAME"
    label = r"(\d\d:\d\d:\d\d[:;]\d\d)"
    events = re.findall(rf"^\d{{3}}  R001     V     C        {label} {label} {label} {label}$", text, re.MULTILINE)
    records = [(0, 50), (50, 51), (51, 101)]
    assert events == [
        tuple(label_of(frame, rate, drops) for frame in (*source, *record))
        for source, record in zip(sources(moments, first), records, strict=True)
    ]
    if rate != 12:  # the adapter knows no such rate
        counted = float(rate) if drops else round(rate)
        back = otio.adapters.read_from_string(text, "cmx_3600", rate=counted)
        clips = [clip.source_range for clip in back.tracks[0]]
        assert [(span.start_time.value, span.end_time_exclusive().value) for span in clips] == sources(moments, first)


@every_kind
def test_final_cut_7_read_back(rate, start, first):
    rate, drops = Fraction(rate), ";" in start
    moments = moments_of(rate, start)
    text = export_text(moments, ".xml")
    root = ET.fromstring(text)  # noqa: S314 - our own text
    code = root.find(".//file/timecode")
    assert [code.findtext(tag) for tag in ("string", "frame", "displayformat", "rate/timebase", "rate/ntsc")] == [
        start,
        str(first),
        "DF" if drops else "NDF",
        str(round(rate)),
        str(rate.denominator == 1001).upper(),
    ]
    assert root.find(".//sequence/timecode").findtext("displayformat") == ("DF" if drops else "NDF")
    back = otio.adapters.read_from_string(text, "fcp_xml")
    spans = [clip.source_range for clip in (back if isinstance(back, otio.schema.Timeline) else back[0]).tracks[0]]
    frames = [(span.start_time.value, span.end_time_exclusive().value) for span in spans]
    assert [tuple(map(round, pair)) for pair in frames] == sources(moments, first)
    assert spans[0].start_time.rate == pytest.approx(float(rate))


@every_kind
def test_final_cut_pro_read_back(rate, start, first):
    rate, drops = Fraction(rate), ";" in start
    moments = moments_of(rate, start)
    root = ET.fromstring(export_text(moments, ".fcpxml").partition("<!DOCTYPE fcpxml>")[2])  # noqa: S314 - our own text

    def frame(element, key):
        exact = Fraction(element.get(key).removesuffix("s")) * rate
        assert exact.denominator == 1
        return int(exact)

    assert root.find("resources/format").get("frameDuration") == f"{rate.denominator}/{rate.numerator}s"
    assert frame(root.find("resources/asset"), "start") == first
    clips = root.findall(".//asset-clip")
    spans = [(frame(clip, "start"), frame(clip, "start") + frame(clip, "duration")) for clip in clips]
    assert spans == sources(moments, first)
    assert [frame(clip, "offset") for clip in clips] == [0, 50, 51]
    assert {element.get("tcFormat") for element in (*clips, root.find(".//sequence"))} == {"DF" if drops else "NDF"}


@every_kind
def test_open_timeline_read_back(rate, start, first):
    rate, drops = Fraction(rate), ";" in start
    moments = moments_of(rate, start)
    clips = list(otio.adapters.read_from_string(export_text(moments, ".otio"), "otio_json").tracks[0])
    spans = [(clip.source_range.start_time.value, clip.source_range.end_time_exclusive().value) for clip in clips]
    assert spans == sources(moments, first)
    assert clips[0].source_range.start_time.rate == float(rate)
    about = [clip.metadata["truemoment"] for clip in clips]
    assert [(clip["source_in"], clip["source_out"]) for clip in about] == [
        tuple(label_of(frame, rate, drops) for frame in span) for span in spans
    ]
    assert {clip["drop_frame"] for clip in about} == {drops}


@pytest.mark.parametrize(
    ("rate", "mark"), [("24000/1001", ":"), *((f"{rate}/1001", mark) for rate in (30000, 60000) for mark in ":;")]
)
def test_each_frame_around_each_minute_of_a_day(rate, mark):
    rate = Fraction(rate)
    code = read_time_code(f"00:00:00{mark}00", rate)
    step = round(60 * rate)
    frames = [minute * step + around for minute in range(0, 1440, 7) for around in range(-90, 90, 4)]
    frames = [frame for frame in frames if 0 <= frame < code.day]
    assert [code.label(frame) for frame in frames] == [label_of(frame, rate, code.drops) for frame in frames]
    for frame in frames[::17]:
        assert read_time_code(code.label(frame), rate) == code._replace(first=frame)
    assert code.label(code.day) == f"00:00:00{mark}00"
    assert code.label(code.day - 1) == f"23:59:59{mark}{round(rate) - 1:02d}"


# Right values of public reports: repository, issue.
REPORTED = [
    ("30000/1001", "01:00:00:00", 2103, "01:01:10:03"),  # IgorRidanovic/smpte 1
    ("30000/1001", "00:00:00:00", 107_957, "00:59:58:17"),  # AcademySoftwareFoundation/OpenTimelineIO 476
    ("30000/1001", "00:00:00;00", 107_957, "01:00:02;05"),
    ("30000/1001", "00:00:00:00", 18_000, "00:10:00:00"),  # eoyilmaz/timecode 34
    ("30000/1001", "00:00:59;29", 1, "00:01:00;02"),  # reidransom/timecode.js 4 and 12
    ("24000/1001", "00:00:00:00", 2_071_872, "23:58:48:00"),  # eoyilmaz/timecode pull request 2: counted to 24
    ("24000/1001", "10:00:00:06", 1, "10:00:00:07"),  # CrystalComputerCorp/smpte-timecode 36
    ("60000/1001", "00:00:00:00", 461_734, "02:08:15:34"),  # CrystalComputerCorp/smpte-timecode 42: no mark ";"
]


@pytest.mark.parametrize(("rate", "start", "frame", "label"), REPORTED)
def test_labels_of_public_reports(rate, start, frame, label):
    assert read_time_code(start, Fraction(rate)).label(frame) == label


def test_the_label_of_the_same_frame_in_both_conventions():
    # 27 s and 29 frames after 01:00:00:00 (non-drop): frame 3627 * 30 + 29.
    rate = Fraction(30000, 1001)
    assert read_time_code("01:00:00:00", rate).label(27 * 30 + 29) == "01:00:27:29"
    assert read_time_code("00:00:00;00", rate).label(3627 * 30 + 29) == "01:00:31;17"


@pytest.mark.parametrize(
    ("text", "rate", "finding"),
    [
        ("1:00", "25", "expected hours, minutes, seconds and frames below 25"),
        ("00:00:00:25", "25", "expected hours, minutes, seconds and frames below 25"),
        ("00:61:00:00", "25", "expected hours, minutes, seconds and frames below 25"),
        ("01:00:00;00", "25", "only 29.97 and 59.94 drop frames"),
        ("01:00:00;00", "30", "only 29.97 and 59.94 drop frames"),
        ("00:01:00;01", "30000/1001", "which no frame has: drop frame leaves out this number"),
        ("00:01:00;03", "60000/1001", "which no frame has: drop frame leaves out this number"),
        ("01:00:00:00", "25/2", "a rate without time codes"),
    ],
)
def test_what_is_no_time_code(text, rate, finding):
    with pytest.raises(UsageError, match=finding):
        read_time_code(text, Fraction(rate))


def test_films_of_both_conventions():
    rate = Fraction(30000, 1001)
    mixed = [*moments_of(rate, "01:00:00:00"), *moments_of(rate, "01:00:00;00")]
    with pytest.raises(
        UsageError, match=r".edl: films have drop-frame and non-drop-frame time codes, expected one kind"
    ):
        export_text(mixed, ".edl")
    formats = re.findall("<displayformat>(N?DF)", export_text(mixed, ".xml"))
    assert formats == ["NDF", "NDF", "DF"]  # of the sequence, and of each film


def written(path, rate, **metadata):
    """A video of 12 frames whose file states a time code."""
    av = pytest.importorskip("av")
    with av.open(str(path), "w") as container:
        container.metadata.update(metadata)
        stream = container.add_stream("mpeg2video" if path.suffix == ".mxf" else "mpeg4", rate=rate)
        stream.width = stream.height = 32
        for _ in range(12):
            picture = av.VideoFrame.from_ndarray(np.zeros((32, 32, 3), np.uint8), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode())
    return path


@pytest.mark.parametrize("name", ["film.mov", "film.mp4", "film.mkv", "film.avi", "film.mxf"])
@pytest.mark.parametrize(("start", "first"), [("01:00:00:00", 108_000), ("01:00:00;00", 107_892)])
def test_the_time_code_of_a_file(tmp_path, name, start, first):
    rate = Fraction(30000, 1001)
    path = written(tmp_path / name, rate, timecode=start)
    code = film_of("film", path).time_code
    assert (code.first, code.drops) == (first, ";" in start)
    assert film_of("film", path, "02:00:00:00").time_code.label(0) == "02:00:00:00"  # the user's choice counts


def test_a_file_without_a_time_code_has_that_of_its_rate(tmp_path):
    assert film_of("film", written(tmp_path / "film.mov", Fraction(30000, 1001))).time_code.label(1800) == "00:01:00;02"
    assert film_of("film", written(tmp_path / "film.mkv", 12)).time_code == time_code_of(Fraction(12))


def description_of(data):
    """Return where flags, clock, ticks of a frame and frames of a second of a time code track are in a QuickTime file.

    Before them: version and number of descriptions (8 bytes), length (4), name (4), reference (8) and 4 bytes of zeros.
    """
    return re.search(rb"stsd.{12}tmcd.{12}", data, re.DOTALL).end()


def marked_drop_frame(path):
    """Set the drop-frame flag of the time code track of a QuickTime file: the lowest bit of its flags."""
    data = bytearray(path.read_bytes())
    data[description_of(data) + 3] |= 1
    path.write_bytes(data)
    return path


@pytest.mark.parametrize(("rate", "start"), [(24, "19:38:00:00"), (30, "14:09:42:00"), (25, "01:00:00:00")])
def test_a_drop_frame_flag_at_a_rate_that_cannot_have_it(tmp_path, rate, start):
    # Final Cut Camera sets it at 24 and 30 (barefootford/buttercut, pull request 141): the number of the frame counts.
    path = marked_drop_frame(written(tmp_path / "film.mov", rate, timecode=start))
    assert film_of("film", path).time_code.label(0) == start
    text = written(tmp_path / "film.mkv", rate, timecode=start[:-3] + ";00")  # a label alone
    assert film_of("film", text).time_code.label(0) == start


def counting(path, number, new_rate, new_number):
    """Let the time code track of a QuickTime file count other frames than the film's."""
    data = bytearray(path.read_bytes())
    clock = description_of(data) + 4
    data[clock : clock + 9] = struct.pack(">IIB", new_rate.numerator, new_rate.denominator, round(new_rate))
    sample = number.to_bytes(4, "big")
    assert data.count(sample) == 1
    path.write_bytes(data.replace(sample, new_number.to_bytes(4, "big")))
    return path


# Numbers by SMPTE ST 12-1: an hour has 108,000 labels of 30 frames a second, 107,892 of them with drop frame. Two
# frames of a film at 60 frames a second share a label of 30.
@pytest.mark.parametrize(
    ("rate", "counted", "number", "label"),
    [
        (60, Fraction(30), 108_015, "01:00:00:30"),
        (Fraction(60000, 1001), Fraction(30000, 1001), 107_892, "01:00:00;00"),
        (Fraction(60000, 1001), Fraction(30000, 1001), 108_001, "01:00:00:02"),
        (50, Fraction(25), 90_024, "01:00:00:48"),
        (24, Fraction(24000, 1001), 86_400, "01:00:00:00"),  # both count 24
    ],
)
def test_a_time_code_track_that_counts_half_of_the_frames(tmp_path, rate, counted, number, label):
    path = written(tmp_path / "film.mov", rate, timecode=label[:-2] + "00")
    counting(path, film_of("film", path).time_code.first, counted, number)
    assert film_of("film", path).time_code.label(0) == label


@pytest.mark.parametrize(("rate", "counted"), [(24, 60), (30, 60), (25, 30)])
def test_a_time_code_track_that_counts_other_frames_is_refused(tmp_path, rate, counted):
    path = written(tmp_path / "film.mov", rate, timecode="01:00:00:00")
    counting(path, 3600 * rate, Fraction(counted), 3600 * counted)
    film = film_of("film", path)  # formats without labels can be written
    with pytest.raises(UsageError, match=f"film.mov: states the time code 01:00:00:00 of {counted} frames per second"):
        _ = film.time_code
    assert film_of("film", path, "02:00:00:00").time_code.label(0) == "02:00:00:00"


def test_a_label_that_no_frame_of_the_film_has_is_refused(tmp_path):
    path = written(tmp_path / "film.mkv", 24, timecode="01:00:00:45")
    with pytest.raises(UsageError, match=r"states the time code 01:00:00:45, and the film has 24 frames.*--start"):
        _ = film_of("film", path).time_code
