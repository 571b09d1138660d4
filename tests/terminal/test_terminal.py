"""What is printed passes one place, where nothing steers a terminal and no character ends the program."""

import ast
import io
import logging
import re
import sys
from pathlib import Path

import pytest
from tqdm import tqdm

from truemoment.base.boundary import terminal
from truemoment.base.boundary.terminal import CleanStream, clean_streams

ROOT = Path(__file__).parents[2] / "src" / "truemoment"


def written(*texts, encoding="utf-8"):
    """What a stream of an encoding, that is strict, gets of some texts."""
    below = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="strict", newline="")
    stream = CleanStream(below, "standard output")
    for text in texts:
        assert stream.write(text) == len(text)
    stream.flush()
    return below.buffer.getvalue().decode(encoding)


def test_what_steers_a_terminal_is_an_escape():
    assert written("a\x1b[2J\u202eb\x9b\r\n\tc\x07") == "a\\x1b[2J\\u202eb\\x9b\\x0d\n\tc\\x07"


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [("utf-8", r"é 門 \xff\ud800"), ("latin-1", r"é \u9580 \xff\ud800"), ("ascii", r"\xe9 \u9580 \xff\ud800")],
)
def test_what_an_encoding_has_no_sign_for_is_an_escape(encoding, expected):
    assert written("é 門 \udcff\ud800", encoding=encoding) == expected


class Terminal(io.StringIO):
    """A stream that a person sees."""

    def isatty(self):
        return True


def test_a_bar_moves_and_its_words_do_not():
    below = Terminal()
    stream = CleanStream(below, "standard error")
    with tqdm(total=2, desc="film\x1b[2J\n\r", file=stream, ncols=80) as bar, tqdm(total=1, file=stream, ncols=80):
        bar.update()
    text = below.getvalue()
    assert r"film\x1b[2J\x0a\x0d" in text
    assert "\r" in text
    assert "\x1b[A" in text  # from the inner bar back to the outer one
    assert set(text.replace("\x1b[A", "").replace("\r", "").replace("\n", "")).isdisjoint(map(chr, range(32)))


def test_a_bar_in_a_file_is_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr(terminal, "EVERY_S", 0.0)
    below = io.StringIO()
    stream = CleanStream(below, "standard error")
    with tqdm(total=2, desc="films", file=stream, leave=False) as bar, tqdm(total=1, file=stream, leave=False):
        bar.update()
    print("done", file=stream)
    print(file=stream)
    print("end", file=stream)
    lines = below.getvalue().splitlines()
    assert lines[0].startswith("films:   0%")
    assert lines[-3:] == ["done", "", "end"]
    assert set(below.getvalue()).isdisjoint("\r\x1b")


def test_a_bar_of_quick_work_leaves_nothing_in_a_file():
    below = io.StringIO()
    with tqdm(total=1, file=CleanStream(below, "standard error"), leave=False) as bar:
        bar.update()
    assert below.getvalue() == ""


def test_an_error_names_the_stream():
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left") as caught:
        CleanStream(Full(), "standard output").flush()
    assert caught.value.filename == "standard output"


def test_words_of_libraries_pass_it_too(capsys):
    with clean_streams():
        logging.StreamHandler().emit(logging.makeLogRecord({"msg": "broken file \x1b[2J\u202e"}))
    assert capsys.readouterr().err == "broken file \\x1b[2J\\u202e\n"
    assert not isinstance(sys.stdout, CleanStream)


def test_nothing_prints_but_through_it():
    # Inside of a command sys.stdout and sys.stderr are clean streams; these are the ways round them.
    around = {"sys.__stdout__", "sys.__stderr__", "sys.stdout.buffer", "sys.stderr.buffer", "os.write", "print"}
    last = {name.rpartition(".")[2] for name in around}
    words = re.compile("|".join(rf"\b{re.escape(name.removeprefix('sys.'))}\b" for name in around))  # parsing is slow
    found = [
        (path.relative_to(ROOT).as_posix(), ast.unparse(node))
        for path in sorted(ROOT.rglob("*.py"))
        if words.search(text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and node.attr in last))
        and ast.unparse(node) in around
    ]
    # The line of an interrupt, whose words are fixed, is written where nothing can be imported.
    assert found == [("cli/__init__.py", "os.write")]
