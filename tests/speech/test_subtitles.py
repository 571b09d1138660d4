"""Subtitles: forms, encodings, kinds of cues, and files that should not be used."""

import pytest

from truemoment.base.errors import InputError, MissingFileError
from truemoment.media.speech.captions import classify
from truemoment.media.speech.subtitles import embedded, moved, read_subtitles, with_doubts

SRT = """1
00:00:01,000 --> 00:00:02,500
<i>Who</i> is {\\an8}there?

2
00:00:05,000 --> 00:00:06,000
[door slams]

3
00:00:07,000 --> 00:00:09,000
♪ La la ♪
"""
VTT = """WEBVTT

NOTE a comment

00:01.000 --> 00:02.500 align:start
<v Bob>Who is &quot;there&quot;?</v>
"""
ASS = """[Script Info]
ScriptType: v4.00+

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:00:02.50,Default,,0,0,0,,{\\i1}Who{\\i0} is\\Nthere?
Comment: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,not shown
"""
MICRODVD = "{25}{62}{y:i}Who is|there?\n"


def written(folder, content, name="film.srt"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_cues_of_speech_songs_and_sounds(tmp_path):
    found = read_subtitles(written(tmp_path, SRT))
    assert [(cue.start_s, cue.end_s, cue.text, cue.kind) for cue in found.cues] == [
        (1.0, 2.5, "Who is there?", "speech"),
        (5.0, 6.0, "", "sound"),
        (7.0, 9.0, "La la", "song"),
    ]
    assert [cue.text for cue in found.spoken] == ["Who is there?", "La la"]
    assert found.notes == ()


@pytest.mark.parametrize(
    ("content", "fps"),
    [(VTT, None), (ASS, None), (MICRODVD, 25.0), (SRT.replace("\n", "\r\n"), None), ("\ufeff" + SRT, None)],
)
def test_every_form_gives_the_same_first_cue(tmp_path, content, fps):
    cue = read_subtitles(written(tmp_path, content), fps=fps).cues[0]
    assert (cue.start_s, cue.text.replace('"', "")) == (1.0, "Who is there?")
    assert cue.end_s == pytest.approx(2.5, abs=0.03)


def test_encodings(tmp_path):
    accent = SRT.replace("there", "thére")
    assert read_subtitles(written(tmp_path, accent.encode("utf-16"))).cues[0].text == "Who is thére?"
    found = read_subtitles(written(tmp_path, accent.replace("♪", "#").encode("cp1252")))
    assert found.cues[0].text == "Who is thére?"
    assert found.notes == ("the text is not UTF-8 and was read as Windows-1252",)


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("(SIGHS)", ("", "sound")),
        ("[music playing]\n- Come in.", ("Come in.", "speech")),
        ("MAN: Come in.", ("Come in.", "speech")),
        ("THUNDER RUMBLES", ("", "sound")),
        ("I know.", ("I know.", "speech")),
        ("# And we go #", ("And we go", "song")),
        ("♪", ("", "sound")),
        ("<font color='red'>Stop</font>", ("Stop", "speech")),
        ("ドアが開く", ("ドアが開く", "speech")),
    ],
)
def test_kinds_of_cues(raw, expected):
    assert classify(raw) == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is no subtitle file that TrueMoment reads"),
        ("once upon a time\n", "is no subtitle file that TrueMoment reads"),
        (b"\x00\x01\x02" * 50, "contains NUL bytes"),
        (b"\xff\xfea", "got broken UTF-16"),
        (MICRODVD, "counts frames (MicroDVD) without frames per second; give them: --subtitle-fps F"),
        ("1\n00:00:01,000 --> 00:00:02,000\n[door slams]\n", "has no cues of speech"),
        ("1\n00:00:02,000 --> 00:00:01,000\nBack.\n", "has no cues of speech"),
        (SRT + "x" * 20_000_000, "is larger than 16 MiB, the most of a file of its kind"),
        ('{"events": []}', "is no subtitle file that TrueMoment reads"),
    ],
)
def test_faults_are_refused_in_one_line(tmp_path, content, message):
    path = written(tmp_path, content)
    with pytest.raises(InputError) as error:
        read_subtitles(path)
    assert message in str(error.value)
    assert str(path) in str(error.value)


def test_cues_that_end_before_they_start_are_counted(tmp_path):
    found = read_subtitles(written(tmp_path, SRT + "\n4\n00:00:12,000 --> 00:00:11,000\nBack.\n"))
    assert found.notes == ("1 of 4 cues do not end after they start and are left out",)
    with pytest.raises(MissingFileError):
        read_subtitles(tmp_path / "none.srt")


def test_stubs_and_subtitles_of_another_film_are_doubted(tmp_path):
    found = read_subtitles(written(tmp_path, SRT))
    assert with_doubts(found, 12.0).doubts == ()
    (few, early) = with_doubts(found, 600.0).doubts
    assert few == "0.20 cues a minute, expected 1 or more"
    assert early == "the last cue ends at 9 s of 600 s, before 60 %"
    assert with_doubts(moved(found, 1.0, 100.0), 12.0).doubts == (
        "the last cue ends at 109 s, after the end of the film at 12 s",
    )


def test_embedded_streams_by_name():
    assert embedded("film.mkv#sub:2")[1] == 2
    assert embedded("film.mkv#sub:x")[1] is None
