"""No reader takes fewer entries without a word: one damage at a time, everywhere in a small file of every form.

A file with a damage is refused, or gives as many entries as before, or says in a note or warning what was left out.
"""

import copy
import json
import re
import warnings
from pathlib import Path

import pytest

from truemoment.base.errors import DataWarning, TrueMomentError
from truemoment.collection.tasks import read_tasks
from truemoment.data.formats import read_predictions
from truemoment.data.references import read_annotations
from truemoment.media.speech.subtitles import read_subtitles
from truemoment.media.speech.transcripts import read_transcript

from .conftest import FILES

MANY_SRT = "".join(f"{k}\n00:00:{k:02},100 --> 00:00:{k:02},900\nLine {k} is said.\n\n" for k in range(1, 4))
MANY_VTT = "WEBVTT\n\nSTYLE\n::cue { color: red }\n\nNOTE by hand\n\n" + re.sub(r",(\d\d\d)", r".\1", MANY_SRT)
ASS = """[Script Info]
ScriptType: v4.00+

[Events]
Format: Layer, Start, End, Style, Text
Dialogue: 0,0:00:01.00,0:00:02.50,Default,Who is there?
Dialogue: 0,0:00:03.00,0:00:04.50,Default,{\\pos(4,5)}Nobody, she says.
"""
MICRODVD = "{25}{62}Who is|there?\n{75}{99}{y:i}Nobody.\n"
WORDS = [("A", 1.0, 1.2), ("door", 1.25, 1.6), ("opens.", 1.7, 2.2)]
TIMED = [{"word": word, "start": start_s, "end": end_s} for word, start_s, end_s in WORDS]
TICKS = [{"Word": w, "Offset": round(s * 1e7), "Duration": round((e - s) * 1e7)} for w, s, e in WORDS]
TRANSCRIPTS = {
    "Whisper": ("a.json", json.dumps({"segments": [{"text": w["word"], "words": [w]} for w in TIMED]})),
    "Vosk": ("a.jsonl", "".join(json.dumps({"result": [w], "text": w["word"]}) + "\n" for w in TIMED)),
    "pipeline": (
        "a.json",
        json.dumps({"chunks": [{"text": w["word"], "timestamp": [w["start"], w["end"]]} for w in TIMED]}),
    ),
    "Azure": ("a.json", json.dumps([{"RecognitionStatus": "Success", "NBest": [{"Words": [w]}]} for w in TICKS])),
    "CTM": ("a.ctm", "".join(f"film 1 {s:.2f} {e - s:.2f} {w} 0.6\n" for w, s, e in WORDS)),
    "WebVTT words": ("a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.200\nA<00:00:01.250><c> door</c><00:00:01.700> opens.\n"),
}
FILMS = "".join(json.dumps({"film": f"{k}.mkv", "described": f"{k}.mp3", "name": f"film {k}"}) + "\n" for k in range(2))


def count_of_cues(path):
    subtitles = read_subtitles(path, fps=25.0)
    return len(subtitles.cues), subtitles.notes


LOST = ("missing", "unmatched", "empty", "refused", "ambiguous", "failed")
"""Counts of a report that say what was left out of predictions."""


def count_of_moments(path):
    _, report = read_predictions(path, ANNOTATIONS)
    return report.moments, tuple(name for name in LOST if getattr(report, name))


def references(options):
    return lambda path: (len(read_annotations(path, **options).query_id), ())


SAMPLES = Path(__file__).parents[1] / "io" / "samples"
ANNOTATIONS = read_annotations(SAMPLES / "annotations.jsonl")
PREDICTIONS = [
    path for path in sorted(SAMPLES.glob("*.*")) if path.name not in ("annotations.jsonl", "fiftyone.frames.json")
]

READERS = {
    **{f"predictions {path.name}": (path.name, path.read_text("utf-8"), count_of_moments) for path in PREDICTIONS},
    **{form: (name, content, references(options)) for form, (name, content, options, _) in FILES.items()},
    **{
        f"subtitles {name}": (name, content, count_of_cues)
        for name, content in (
            ("a.srt", MANY_SRT),
            ("a.vtt", MANY_VTT),
            ("a.ass", ASS),
            ("a.sub", MICRODVD),
        )
    },
    **{
        f"references {name}": (name, content, references({}))
        for name, content in (
            ("a.srt", MANY_SRT),
            ("a.vtt", MANY_VTT),
            ("a.ass", ASS),
        )
    },
    **{
        f"transcript {form}": (name, content, lambda path: (len(read_transcript(path).words), ()))
        for form, (name, content) in TRANSCRIPTS.items()
    },
    "films": ("films.jsonl", FILMS, lambda path: (len(read_tasks(path)), ())),
}
"""By reader: name and content of a file, and a function to the number of entries and notes."""


OF_THE_FORM = ('"relevant_windows": []', "<c> door<\n")
"""Damages that no reader can see: a query without a moment is written so, and a line of text may end anywhere."""


def damaged_values(value):
    """Yield JSON values with one damage: a key that is misspelt, or a value that is nothing or a word."""
    places = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in list(places):
        for other in (None, "?", {}, []):
            if other != inside:
                yield replaced(value, key, other)
        if isinstance(value, dict):
            yield {f"{name}_" if name == key else name: inner for name, inner in value.items()}
        for damaged in damaged_values(inside):
            yield replaced(value, key, damaged)


def replaced(value, key, inside):
    value = copy.copy(value)
    value[key] = inside
    return value


def damaged_texts(name, content):
    """Yield contents with one damage."""
    lines = content.splitlines(keepends=True)
    if name.endswith(".json"):
        yield from map(json.dumps, damaged_values(json.loads(content)))
    elif name.endswith(".jsonl"):
        for k, line in enumerate(lines):
            for damaged in map(json.dumps, damaged_values(json.loads(line))):
                yield "".join([*lines[:k], damaged + "\n", *lines[k + 1 :]])
            yield "".join([*lines[:k], line[: len(line) // 2] + "\n", *lines[k + 1 :]])
    else:
        for number in re.finditer(r"\d+", content):
            for other in ("", "?", "-1"):
                yield content[: number.start()] + other + content[number.end() :]
        for mark in re.finditer(r"[^\w\s]+", content):
            yield content[: mark.start()] + content[mark.end() :]
        for k in range(len(lines)):
            if "-->" in lines[k]:
                yield "".join([*lines[:k], *lines[k + 1 :]])
            yield "".join([*lines[:k], lines[k][: len(lines[k]) // 2] + "\n", *lines[k + 1 :]])


MOST_DAMAGES = 20
"""Of a file in the quick test, evenly over it."""


@pytest.mark.parametrize("reader", READERS)
def test_fewer_entries_are_never_silent(tmp_path, reader):
    refuse_silence(tmp_path, reader, MOST_DAMAGES)


@pytest.mark.thorough
@pytest.mark.parametrize("reader", READERS)
def test_fewer_entries_are_never_silent_wherever_the_damage_is(tmp_path, reader):
    refuse_silence(tmp_path, reader, 1_000_000)


def refuse_silence(tmp_path, reader, most):
    name, content, read = READERS[reader]
    path = tmp_path / name
    path.write_text(content, "utf-8")
    whole, _ = read(path)
    silent = []
    damages = list(dict.fromkeys(damaged_texts(name, content)))
    for damaged in damages[:: -(-len(damages) // most)]:
        path.write_text(damaged, "utf-8")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", DataWarning)
            try:
                count, notes = read(path)
            except TrueMomentError:
                continue
        if count < whole and not notes and not said and not any(own in damaged for own in OF_THE_FORM):
            silent.append(damaged)
    assert not silent, f"{len(silent)}: {silent[:40]}"
