"""Transcripts of other programs: each form, and files that are malformed."""

import json

import pytest

from truemoment.base.errors import DataWarning, InputError, MissingFileError
from truemoment.media.speech.transcripts import read_transcript, refuse_past_end

WORDS = [("A", 1.0, 1.2), ("door", 1.25, 1.6), ("opens.", 1.7, 2.2)]

WHISPER = {
    "text": "A door opens.",
    "language": "en",
    "segments": [
        {
            "start": 1.0,
            "end": 2.2,
            "text": " A door opens.",
            "words": [{"word": f" {w}", "start": s, "end": e, "probability": 0.9} for w, s, e in WORDS],
        }
    ],
}
WHISPERX = {
    "segments": [
        {
            "speaker": "SPEAKER_01",
            "words": [
                {"word": "A", "start": 1.0, "end": 1.2, "score": 0.8, "speaker": "SPEAKER_01"},
                {"word": "3", "speaker": "SPEAKER_01"},
                {"word": "opens.", "start": 1.7, "end": 2.2, "score": 0.9, "speaker": "SPEAKER_01"},
            ],
        }
    ],
    "word_segments": [],
}
AZURE = {
    "RecognitionStatus": "Success",
    "Offset": 10_000_000,
    "Duration": 12_000_000,
    "NBest": [
        {
            "Confidence": 0.87,
            "Lexical": "a door opens",
            "Display": "A door opens.",
            "Words": [{"Word": w, "Offset": round(s * 1e7), "Duration": round((e - s) * 1e7)} for w, s, e in WORDS],
        },
        {"Confidence": 0.1, "Lexical": "adore", "Words": [{"Word": "adore", "Offset": 0, "Duration": 1}]},
    ],
}
AZURE_BATCH = {
    "recognizedPhrases": [
        {
            "speaker": 2,
            "offsetInTicks": 1e7,
            "nBest": [
                {
                    "words": [
                        {
                            "word": w,
                            "offsetInTicks": round(s * 1e7),
                            "durationInTicks": round((e - s) * 1e7),
                            "confidence": 0.5,
                        }
                        for w, s, e in WORDS
                    ]
                }
            ],
        }
    ]
}
VOSK = {"result": [{"word": w, "start": s, "end": e, "conf": 0.7} for w, s, e in WORDS], "text": "A door opens."}
CHUNKS = {"text": " A door opens.", "chunks": [{"text": f" {w}", "timestamp": [s, e]} for w, s, e in WORDS]}
CTM = "".join(f"film 1 {s:.2f} {e - s:.2f} {w} 0.6\n" for w, s, e in WORDS)
WEBVTT = """WEBVTT
Kind: captions

00:01.000 --> 00:02.200 align:start
A<00:00:01.250><c> door</c><00:00:01.700><c> opens.</c>

00:02.200 --> 00:02.210
A door opens.
"""


def written(folder, name, content):
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize(
    ("file", "form", "sure", "voice"),
    [
        (("a.json", WHISPER), "Whisper", 0.9, None),
        (("a.json", AZURE), "Azure", 0.87, None),
        (("a.json", [AZURE]), "Azure", 0.87, None),
        (("a.json", AZURE_BATCH), "Azure", 0.5, "2"),
        (("a.json", VOSK), "Vosk", 0.7, None),
        (("a.jsonl", json.dumps(VOSK) + "\n" + json.dumps({"result": [], "text": ""}) + "\n"), "Vosk", 0.7, None),
        (("a.json", CHUNKS), "pipeline", None, None),
        (("a.ctm", CTM), "CTM", 0.6, None),
        (("a.vtt", WEBVTT), "WebVTT", None, None),
    ],
)
def test_every_form_gives_the_same_words(tmp_path, file, form, sure, voice):
    found = read_transcript(written(tmp_path, *file))
    assert found.name == f"{form} {file[0]}"
    assert found.punctuates
    assert [(word.text, word.start_s) for word in found.words] == [(w, pytest.approx(s)) for w, s, _ in WORDS]
    assert found.words[-1].end_s == pytest.approx(2.2)
    assert {word.voice for word in found.words} == {voice}
    assert found.words[0].probability == sure


def test_words_without_times_lie_between_their_neighbours(tmp_path):
    words = read_transcript(written(tmp_path, "x.json", WHISPERX)).words
    assert [word.text for word in words] == ["A", "3", "opens."]
    assert (words[1].start_s, words[1].end_s, words[1].timed) == (1.2, 1.7, False)
    assert words[1].voice == "SPEAKER_01"
    assert words[0].timed


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.json", {"segments": [{"text": " A door."}]}, "has segments without words"),
        ("a.json", {"segments": []}, "has no words with times"),
        ("a.json", {"subtitles": []}, "is no transcript that TrueMoment knows"),
        ("a.json", "{", "expected JSON"),
        ("a.json", {"segments": [{"words": [{"word": "a", "start": "1"}]}]}, "got text, expected a number"),
        ("a.json", {"result": [{"word": "a", "start": 2, "end": 1}]}, "from 2.00 to 1.00 s, expected rising times"),
        (
            "a.json",
            {"result": [{"word": "a", "start": 9, "end": 10}, {"word": "b", "start": 1, "end": 2}]},
            "got the word 'b' at 1.00 s after one at 9.00 s",
        ),
        (  # whisperX#419: words of a segment from the last to the first
            "a.json",
            {
                "segments": [
                    {"words": [{"word": w, "start": s, "end": s + 0.1} for w, s in (("Your", 9.0), ("real", 7.5))]}
                ]
            },
            "got the word 'real' at 7.50 s after one at 9.00 s",
        ),
        ("a.json", {"result": [{"word": "a"}]}, "has no word with a time"),
        ("a.ctm", "film 1 0.5 a door\n", "a.ctm:1: got 'film 1 0.5 a door', expected FILE CHANNEL START"),
        ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nA door.\n", "has no time stamps between words"),
        ("a.vtt", "WEBVTT\n\n1:2:3:4 --> 00:02.000\nA <00:00:01.100>door.\n", "expected HH:MM:SS.mmm"),
    ],
)
def test_malformed_transcripts_are_refused_in_one_line(tmp_path, name, content, message):
    with pytest.raises(InputError) as error:
        read_transcript(written(tmp_path, name, content))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_words_without_length_and_segments_without_text_are_read(tmp_path):
    # transformers.js#223: words of length 0; Exmaralda#357: an empty segment between others.
    words = [("Oh,", 2.88, 2.88), ("what", 2.88, 2.88), ("in", 2.88, 3.0)]
    segments = [{"text": f" {w}", "words": [{"word": f" {w}", "start": s, "end": e}]} for w, s, e in words]
    segments.insert(1, {"text": "", "words": []})
    found = read_transcript(written(tmp_path, "a.json", {"segments": segments})).words
    assert [(word.text, word.start_s, word.end_s) for word in found] == words


def test_a_transcript_of_a_longer_sound_is_refused(tmp_path):
    path = written(tmp_path, "a.json", VOSK)
    words = read_transcript(path).words
    refuse_past_end(words, 2.0, path)
    with pytest.raises(InputError, match=r"'opens\.' at 2\.20 s, expected times up to 1\.00 s"):
        refuse_past_end(words, 1.0, path)
    with pytest.raises(MissingFileError):
        read_transcript(tmp_path / "none.json")


def test_chunks_of_sentences_are_refused(tmp_path):
    chunks = [{"text": " A door opens.", "timestamp": [1.0, 2.2]}]
    with pytest.raises(InputError, match=r'has chunks of several words.*return_timestamps="word"'):
        read_transcript(written(tmp_path, "a.json", {"text": " A door opens.", "chunks": chunks}))


def test_a_word_that_lasts_too_long_is_reported(tmp_path):
    # As a public report on stable-ts has it: the first word is held from the start of the file.
    held = {
        "segments": [{"words": [{"word": "A", "start": 0.2, "end": 17.2}, {"word": "door", "start": 17.2, "end": 18}]}]
    }
    with pytest.warns(DataWarning, match="1 of 2 words last longer than 5 s; the first is 'A' from 0.20 to 17.20 s"):
        read_transcript(written(tmp_path, "a.json", held))
