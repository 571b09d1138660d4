"""Prompts as data."""

import base64

import msgspec
import numpy as np
import pytest

from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.data.answers import parse_answer
from truemoment.learning.served import PROMPTS, Prompt, get_prompt
from truemoment.learning.served.prompts import clock, messages
from truemoment.media.video import Frames

FRAMES = Frames(np.array([0.0, 65.0]), [b"one", b"two"], 120.0)


@pytest.mark.parametrize("name", PROMPTS)
def test_those_that_come_along(name):
    prompt = get_prompt(name)
    assert prompt.name == name
    said = prompt.fill("a dog barks", 120.04, FRAMES)
    text = "\n".join(part for part in said if isinstance(part, str))
    assert "a dog barks" in text
    assert ("02:00" if name == "clock" else "120.0 seconds") in text
    assert "{" not in text.replace('{"start"', "").replace("{sentence}", "{")
    assert [part for part in said if isinstance(part, bytes)] == ([] if name == "text-only" else [b"one", b"two"])


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("seconds", "2.5 - 7.0"),
        ("clock", "00:02 - 00:07"),
        ("json", '[{"start": 2.5, "end": 7.0}]'),
        ("text-only", "2.5 - 7.0"),
    ],
)
def test_the_answer_a_prompt_asks_for_can_be_read(name, answer):
    prompt = get_prompt(name)
    assert answer in prompt.user
    assert parse_answer(answer, prompt.reading).status == "parsed"


@pytest.mark.parametrize(("name", "answer"), [("seconds", "not in the video"), ("json", "[]")])
def test_what_a_prompt_asks_for_where_there_is_nothing(name, answer):
    prompt = get_prompt(name)
    assert answer in prompt.user
    assert parse_answer(answer, prompt.reading).status == "no answer"


def test_frames_stand_where_the_prompt_says_each_behind_its_label():
    prompt = Prompt("mine", "before {frames} after {sentence}", frame_label="{number}: {time_s} s, {time_clock}")
    said = prompt.fill("x", 1.0, FRAMES)
    assert said == ["before", "1: 0.0 s, 00:00", b"one", "2: 65.0 s, 01:05", b"two", "after x"]


def test_what_a_sentence_holds_is_not_filled_again():
    prompt = Prompt("mine", '{sentence} {{sentence}} {"a": {"b": 1}} {0} { duration_s}')
    prompt.check()
    said = prompt.fill("{duration_s} {frames} {{", 2.0)
    assert said == ['{duration_s} {frames} {{ {sentence} {"a": {"b": 1}} {0} { duration_s}']


def test_braces_around_frames_show_none():
    prompt = Prompt("mine", "{{frames}} {sentence}")
    prompt.check()
    assert not prompt.shows_frames
    assert prompt.fill("x", 1.0) == ["{frames} x"]


def test_frames_a_second_as_shown():
    prompt = Prompt("mine", "{frames} {fps} {n_frames} {sentence}")
    assert prompt.fill("x", 1.0, FRAMES)[-1] == "0.0167 2 x"  # two frames of 120 s


def test_a_prompt_that_shows_frames_needs_some():
    with pytest.raises(UsageError, match="shows frames, and got none"):
        get_prompt("seconds").fill("x", 1.0)


def test_messages():
    prompt = Prompt("mine", "{frames} {sentence}", system="Be brief.")
    system, user = messages(prompt, prompt.fill("x", 1.0, FRAMES))
    assert system == {"role": "system", "content": "Be brief."}
    one, two, text = user["content"]
    assert base64.b64decode(one["image_url"]["url"].removeprefix("data:image/jpeg;base64,")) == b"one"
    assert two["type"] == "image_url"
    assert text == {"type": "text", "text": "x"}
    alone = Prompt("mine", "{sentence}")
    assert messages(alone, alone.fill("x", 1.0)) == [{"role": "user", "content": "x"}]


def test_clock():
    assert [clock(t) for t in (0, 59.99, 60, 3599, 3600)] == ["00:00", "00:59", "01:00", "59:59", "1:00:00"]


# ---- A prompt of one's own

OWN = 'name = "mine"\nuser = "{frames} When is {sentence}?"\naxis = "percent"\nwhich = "first"\n'


def test_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(OWN)
    prompt = get_prompt(str(path))
    assert (prompt.name, prompt.axis, prompt.shows_frames) == ("mine", "percent", True)
    assert str(prompt.reading) == "axis=percent,which=first,one_sided=ambiguous,swapped=ambiguous"
    other = msgspec.structs.replace(prompt, which="last")
    assert prompt.sha256 != other.sha256
    assert prompt.sha256 == get_prompt(str(path)).sha256


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (OWN + "colour = 3\n", "colour"),
        (OWN.replace("{sentence}", "{query}"), "got {query}, expected {sentence}"),
        (OWN.replace("{sentence}", "it"), "expected {sentence} in it"),
        (OWN.replace("{frames}", "{frames} {frames}"), "got {frames} twice"),
        (OWN.replace("{frames}", "{n_frames}"), "got {n_frames} without {frames}"),
        (OWN.replace("{frames}", "") + 'frame_label = "{time_s}"\n', "got a label without {frames}"),
        (OWN + 'frame_label = "{sentence}"\n', "field frame_label: got {sentence}"),
        (OWN + 'system = "{sentence}"\n', "expected no placeholder"),
        (OWN.replace("percent", "miles"), "miles"),
        (OWN.replace('"first"', '"second"'), "second"),
        (OWN.replace('"mine"', '" "'), "field name"),
        (OWN.replace('"mine"', "3"), "$.name"),
        (OWN.replace('name = "mine"\n', ""), "name"),
        ("a text\n", "is no TOML"),
        ("x = " + "9" * 5000, "is no TOML"),
        ("", "name"),
        ("x = " + "[" * 5000, "nested too deeply"),
    ],
)
def test_a_file_that_is_no_prompt(tmp_path, text, told):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(InputError) as found:
        get_prompt(str(path))
    assert told in str(found.value)
    assert str(path) in str(found.value)


def test_no_such_prompt(tmp_path):
    with pytest.raises(UsageError, match=r"unknown prompt 'second', .*one of seconds, .*did you mean seconds\?"):
        get_prompt("second")
    with pytest.raises(MissingFileError):
        get_prompt(str(tmp_path / "none.toml"))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="expected UTF-8"):
        get_prompt(str(tmp_path / "bytes.toml"))
