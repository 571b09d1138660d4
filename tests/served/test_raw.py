"""The file of raw answers: written whole, read back, refused where it is another's."""

import json
import subprocess
import sys

import msgspec
import pytest

from truemoment.base.errors import InputError
from truemoment.learning.served import RawAnswer, RawAnswers
from truemoment.learning.served.raw import Usage, key_of

SETTINGS = {"model": "m", "endpoint": "http://localhost/v1", "frames": {"fps": 1}, "request": {"seed": 0}}


def answer(number, **changes):
    fields = {
        "key": f"key{number}",
        "query_id": f"v#{number}",
        "video_id": "v",
        "sentence": "a \u00e9 \u2028 door\n",
        "duration_s": 30.5,
        "answer": "2.5 - 7.0\nso",
        "finish_reason": "stop",
        "usage": Usage(100, None),
        "took_s": 0.25,
        "asked_at": "2026-01-31T12:00:00+00:00",
    }
    return RawAnswer(**{**fields, **changes})


@pytest.fixture
def path(tmp_path):
    """A file of three answers."""
    path = tmp_path / "a.raw.jsonl"
    with RawAnswers(path, SETTINGS, dataset="own", split="test") as raw:
        for number in range(3):
            raw.add(answer(number))
    return path


def test_lines(path):
    head, *lines = (json.loads(line) for line in path.read_text().rstrip("\n").split("\n"))
    assert head.pop("version")
    assert head == {"truemoment_answers": 1, "made_by": SETTINGS, "dataset": "own", "split": "test"}
    assert len(lines) == 3
    assert lines[1] == {
        "key": "key1",
        "query_id": "v#1",
        "video_id": "v",
        "sentence": "a \u00e9 \u2028 door\n",
        "duration_s": 30.5,
        "answer": "2.5 - 7.0\nso",
        "finish_reason": "stop",
        "usage": {"prompt_tokens": 100, "completion_tokens": None},
        "took_s": 0.25,
        "asked_at": "2026-01-31T12:00:00+00:00",
    }


def test_what_was_written_is_read_back_and_goes_on(path):
    with RawAnswers(path, SETTINGS) as raw:
        assert len(raw) == 3
        assert raw.find("v#1", "key1") == answer(1)
        assert raw.find("v#3", "key3") is None
        raw.add(answer(3))
    with RawAnswers(path, SETTINGS) as raw:
        assert raw.find("v#3", "key3") == answer(3)


def test_every_answer_is_there_at_once(path):
    with RawAnswers(path, SETTINGS) as raw:
        raw.add(answer(3))
        assert path.read_bytes().count(b"\n") == 5  # before the file is closed


@pytest.mark.parametrize("cut", [1, 2, 30, 200])
def test_a_last_line_that_was_cut_off_is_dropped(path, cut):
    whole = path.read_bytes()
    last = len(whole.splitlines(keepends=True)[-1])
    path.write_bytes(whole[:-cut])
    with RawAnswers(path, SETTINGS) as raw:
        assert raw.dropped_bytes == last - cut
        assert len(raw) == 2
        raw.add(answer(2))
    assert path.read_bytes() == whole


@pytest.mark.parametrize("left", [0, 1, 10, 25, 60])
def test_a_first_line_that_was_cut_off(path, left):
    whole = path.read_bytes()
    path.write_bytes(whole[:left])
    with RawAnswers(path, SETTINGS, dataset="own", split="test") as raw:
        assert (len(raw), raw.dropped_bytes) == (0, left)
    assert path.read_bytes() == whole.splitlines(keepends=True)[0]


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"model": "n"}, "(model)"),
        ({"frames": {"fps": 2}, "request": {}}, "(frames, request)"),
        ({"shuffled": {"seed": 0}}, "(shuffled)"),
    ],
)
def test_answers_by_another_setting_are_refused(path, changes, named):
    before = path.read_bytes()
    with pytest.raises(InputError, match="contains answers by another setting") as found:
        RawAnswers(path, {**SETTINGS, **changes})
    assert named in str(found.value)
    assert path.read_bytes() == before


def test_a_server_may_move(path):
    with RawAnswers(path, {**SETTINGS, "endpoint": "http://localhost:9/v1"}) as raw:
        assert len(raw) == 3


def test_an_answer_to_another_question_is_refused(path):
    with RawAnswers(path, SETTINGS) as raw, pytest.raises(InputError, match="an answer to 'v#1' for another sentence"):
        raw.find("v#1", "other")


@pytest.mark.parametrize(
    "content", [b"hello", b"hello\n", b'{"truemoment": 1}\n', b'{"query_id": "v#0", "answer": "x"}\n']
)
def test_a_file_of_something_else_is_left_alone(tmp_path, content):
    path = tmp_path / "notes"
    path.write_bytes(content)
    with pytest.raises(InputError, match="exists and contains no raw answers"):
        RawAnswers(path, SETTINGS)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (b"{\n", ":5: "),
        (b'{"key": 3}\n', "field key: got a whole number, expected text"),
        (msgspec.json.encode(answer(1)) + b"\n", "'v#1' occurs twice"),
        (b"\n", ":5: "),
    ],
)
def test_a_line_that_is_none(path, line, told):
    path.write_bytes(path.read_bytes() + line)
    with pytest.raises(InputError) as found:
        RawAnswers(path, SETTINGS)
    assert told in str(found.value)


def test_another_version(path):
    path.write_bytes(path.read_bytes().replace(b'"truemoment_answers":1', b'"truemoment_answers":2'))
    with pytest.raises(InputError, match="got version 2, expected 1"):
        RawAnswers(path, SETTINGS)


def test_no_place_to_write(tmp_path):
    with pytest.raises(InputError, match="expected one to write to"):
        RawAnswers(tmp_path, SETTINGS)
    with pytest.raises(InputError, match="cannot be written"):
        RawAnswers(tmp_path / "none" / "a", SETTINGS)


def test_one_process_at_a_time(path):
    program = (
        "import sys, json; from pathlib import Path; from truemoment.learning.served import RawAnswers\n"
        "try: RawAnswers(Path(sys.argv[1]), json.loads(sys.argv[2]))\n"
        "except Exception as error: print(error)\n"
    )

    def another():
        words = [sys.executable, "-c", program, str(path), json.dumps(SETTINGS)]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout

    with RawAnswers(path, SETTINGS):
        assert "is being written by another process" in another()
        with pytest.raises(InputError, match="another process"):
            RawAnswers(path, SETTINGS)
    assert another() == ""


def test_the_key_hangs_on_all_that_decides_an_answer():
    one = key_of(SETTINGS, "12:ab", "a door opens", 30.0)
    assert one == key_of(dict(reversed(SETTINGS.items())), "12:ab", "a door opens", 30.0)
    assert one == key_of({**SETTINGS, "endpoint": "elsewhere"}, "12:ab", "a door opens", 30.0)
    others = [
        key_of({**SETTINGS, "model": "n"}, "12:ab", "a door opens", 30.0),
        key_of({**SETTINGS, "request": {"seed": 1}}, "12:ab", "a door opens", 30.0),
        key_of(SETTINGS, "12:ac", "a door opens", 30.0),
        key_of(SETTINGS, None, "a door opens", 30.0),
        key_of(SETTINGS, "12:ab", "a door closes", 30.0),
        key_of(SETTINGS, "12:ab", "a door opens", 31.0),
        key_of(SETTINGS, "12:ab", "a door opens", None),
    ]
    assert len({one, *others}) == 8
