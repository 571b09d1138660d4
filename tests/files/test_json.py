"""decode_json, read_json_lines, read_json_mapping: values, and the exact line said of a bad file."""

import contextlib
import gzip
import json
import sys
import time
from typing import Annotated

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment.base.boundary.files import decode_json, read_json_lines, read_json_mapping
from truemoment.base.errors import InputError, MissingFileError


class Entry(msgspec.Struct):
    """A line, or the value of a key."""

    name: str
    times: list[tuple[float, float]] = []
    number: int = 0
    share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0


def lines_of(path):
    return list(read_json_lines(path, Entry))


def mapping_of(path):
    return read_json_mapping(path, Entry)


def refusal(read, path, content):
    """Write the content, read it, and return what is said."""
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read(path)
    said = str(caught.value)
    assert len(said.splitlines()) == 1  # DESIGN.md, command line: one clear line
    return said.removeprefix(str(path)).replace("`", "")  # how fields are quoted is not tested


# ---------------------------------------------------------------------------------------------- lines


@pytest.mark.parametrize(
    ("content", "numbers"),
    [
        (b'{"name":"a"}\n{"name":"b"}\n', [1, 2]),
        (b'{"name":"a"}\n{"name":"b"}', [1, 2]),  # no last line end
        (b'{"name":"a"}\r\n{"name":"b"}\r\n', [1, 2]),
        (b'\xef\xbb\xbf{"name":"a"}\r\n{"name":"b"}', [1, 2]),
        (b'\n  \t\n{"name":"a"}\n\r\n{"name":"b"}\n\n', [3, 5]),  # blank lines are passed over, and counted
        (b'\xef\xbb\xbf\n{"name":"a"}\n{"name":"b"}', [2, 3]),
        (b' {"name": "a", "unknown": [1, {}]} \n{"name":"b"}', [1, 2]),
    ],
)
def test_lines(tmp_path, content, numbers):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    assert lines_of(path) == list(zip(numbers, [Entry("a"), Entry("b")], strict=True))


@pytest.mark.parametrize("content", [b"", b"\n", b" \r\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_file_without_a_line_gives_none(tmp_path, content):
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    assert lines_of(path) == []


def test_packed_lines(tmp_path):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"name":"a"}\n\n{"name":"b"}\n'))
    assert lines_of(path) == [(1, Entry("a")), (3, Entry("b"))]


GOOD = b'{"name":"a"}\n'
BAD_LINES = {
    # case: (content, what is said behind the file's name)
    "another type": (GOOD + b'{"name":3}\n', ":2: field name: got a whole number, expected text"),
    "null": (GOOD + b'{"name":null}\n', ":2: field name: got null, expected text"),
    "true for a number": (
        GOOD + b'{"name":"b","number":true}',
        ":2: field number: got true or false, expected a whole number",
    ),
    "fraction for a whole number": (
        b'{"name":"b","number":1.5}',
        ":1: field number: got a number, expected a whole number",
    ),
    "text for a number": (
        GOOD + b'{"name":"b","times":[[1,2],["3",4]]}\n',
        ":2: field times[1][0]: got text, expected a number",
    ),
    "no object": (GOOD + b"[1]\n", ":2: got a list, expected an object"),
    "field missing": (GOOD + GOOD + b'{"number":1}\n', ":3: field name: is missing"),
    "three values for two": (b'{"name":"b","times":[[1,2,3]]}', ":1: field times[0]: expected a list of length 2"),
    "NaN": (
        GOOD + b'{"name":"b","times":[[NaN,2]]}',
        ":2: got NaN, expected a number",
    ),
    "Infinity": (
        b'{"name":"b","times":[[1,Infinity]]}',
        ":1: got Infinity, expected a number",
    ),
    "-Infinity": (
        b'{"name":"b","times":[[-Infinity,2]]}',
        ":1: got -Infinity, expected a number",
    ),
    "beyond float64": (b'{"name":"b","times":[[1e999,2]]}', ":1: field times[0][0]: number out of range"),
    "5,000 digits for a time": (
        b'{"name":"b","times":[[' + b"9" * 5000 + b",2]]}",
        ":1: field times[0][0]: number out of range",
    ),
    "5,000 digits for a whole number": (
        b'{"name":"b","number":' + b"9" * 5000 + b"}",
        ":1: field number: integer value out of range",
    ),
    "beyond its bounds": (b'{"name":"b","share":1.5}', ":1: field share: got 1.5, expected a number <= 1.0"),
    "beyond its bounds, and no JSON behind it": (
        b'{"name":"b","share":-2,"x',
        ":1: field share: got another number, expected a number >= 0.0",
    ),
    "cut": (GOOD + b'{"name":"b","ti', ":2: input data was truncated, expected JSON"),
    "two objects in a line": (
        b'{"name":"a"}{"name":"b"}\n',
        ":1: JSON is malformed: trailing characters (byte 13), expected JSON",
    ),
    "a zero byte": (GOOD + b"\x00\n", ":2: JSON is malformed: invalid character (byte 0), expected JSON"),
    "single quotes": (b"{'name':'a'}\n", ":1: JSON is malformed: object keys must be strings (byte 1), expected JSON"),
    "half a surrogate pair": (
        b'{"name":"\\ud800 and no second half"}',
        ":1: JSON is malformed: unexpected end of escaped utf-16 surrogate pair (byte 15), expected JSON",
    ),
    "very deep in a field nobody asked for": (
        GOOD + b'{"name":"a","x":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        ":2: is nested too deeply",
    ),
    "very deep where a number stands": (
        b'{"name":"a","times":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
        ":1: field times[0][0]: got a list, expected a number",
    ),
}


BAD_LINES |= {
    f"a key twice{how}": (GOOD + line + b"\n", ":2: field name: 'name' appears twice, expected each key once")
    for how, line in {
        "": b'{"name":"a","name":"b"}',
        ", with the same value": b'{"name":"a","number":1,"name":"a"}',
        ", in an object that nobody reads": b'{"name":"a","x":{"name":1,"y":[],"name":2}}',
        ", blanks before the colon": b'{"name" :"a","number":1,"name"\t:"b"}',
        ", once with an escape": b'{"name":"a","n\\u0061me":"b"}',
        ", behind numbers": b'{"name":"a","times":[[1,2],[3,4.5]],"name":"b"}',
        ", behind a text that looks like one": b'{"name":"x\\":1,\\"","number":1,"name":"b"}',
    }.items()
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_a_bad_line_is_refused(tmp_path, case):
    content, said = BAD_LINES[case]
    assert refusal(lines_of, tmp_path / "a.jsonl", content) == said


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (GOOD + b'{"name":"\xff"}\n', 2),
        (GOOD + GOOD + b'{"name":"a\xc3("}\n', 3),
        (b'{"name":"cut \xe2\x9c"}\n', 1),
    ],
)
def test_lines_that_are_not_utf8_name_the_line(tmp_path, content, line):
    said = refusal(lines_of, tmp_path / "a.jsonl", content)
    assert said.startswith(f":{line}: ")
    assert "utf-8" in said.lower()


def test_nothing_follows_a_bad_line(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(GOOD + b"{\n" + GOOD)
    lines = read_json_lines(path, Entry)
    assert next(lines) == (1, Entry("a"))
    with pytest.raises(InputError):
        next(lines)
    assert list(lines) == []


@pytest.mark.parametrize(
    "line",
    [
        b'{"name":"name","number":1}',  # a text that is called as a key is
        b'{"name":"\\"name\\":1, \\"name\\":2","number":1}',  # JSON in a text
        b'{"name":"a","number":1,"x":{"name":2},"y":[{"name":3},{"name":4}]}',  # one in each of several objects
        b'{"name":"a: b","number":1}',
        b'{"name":"a","number":1,"\\"":2,"\\\\":3}',
        b'{"name":"a","number":1,"":2}',
    ],
)
def test_a_key_in_a_text_or_in_another_object_is_not_a_second_one(tmp_path, line):
    path = tmp_path / "a.jsonl"
    path.write_bytes(line + b"\n")
    assert [entry.number for _, entry in lines_of(path)] == [1]


def escaped(text):
    return '"' + "".join(rf"\u{ord(letter):04x}" for letter in text) + '"'


KEYS = st.text('ab":\\{}[], ', max_size=2)  # letters that mean something to JSON
SPELLINGS = st.sampled_from([json.dumps, escaped])
BLANKS = st.sampled_from(["", "", "", " ", "\t  "])
VALUES = KEYS | st.none() | st.lists(KEYS, max_size=2) | st.dictionaries(KEYS, KEYS, max_size=2)
ROWS = st.lists(st.tuples(KEYS, SPELLINGS, BLANKS, VALUES), max_size=5)


@given(st.lists(ROWS, max_size=4))
def test_a_key_that_stands_twice_is_found_however_it_is_spelled(tmp_path_factory, rows):
    # The rows before one must not change what is found in it: they say which keys are usual.
    lines = [
        "{" + ",".join(f"{spell(key)}{blanks}:{json.dumps(value)}" for key, spell, blanks, value in row) + "}"
        for row in rows
    ]
    path = tmp_path_factory.mktemp("keys") / "a.jsonl"
    path.write_text("\n".join(lines))
    sound = [len(json.loads(line)) == len(row) for line, row in zip(lines, rows, strict=True)]
    expected = [json.loads(line) for line in lines[: [*sound, False].index(False)]]
    found = []
    with contextlib.suppress(InputError):
        for _, keys in read_json_lines(path, dict[str, object]):
            found.append(keys)
    assert found == expected


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(MissingFileError, match=r"none\.jsonl: no such file$"):
        lines_of(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match=r": is a folder, expected a file$"):
        lines_of(tmp_path)


# -------------------------------------------------------------------------------------------- decoding


def test_decoding_counts_lines_from_the_one_given(tmp_path):
    content = b'{"name":\n"a",\n"times": x}'
    with pytest.raises(InputError) as caught:
        decode_json(content, Entry, path=tmp_path, line=5)
    # The x stands in the third line of the text, which begins at line 5.
    assert str(caught.value) == f"{tmp_path}:7: JSON is malformed: invalid character (byte 23), expected JSON"


def test_an_error_keeps_its_parts(tmp_path):
    with pytest.raises(InputError) as caught:
        decode_json(b'{"name":"a","times":[[1,"2"]]}', Entry, path=tmp_path / "a")
    error = caught.value
    assert (error.path, error.line, error.field) == (tmp_path / "a", 1, "times[0][1]")
    assert error.problem == "got text, expected a number"
    assert error.hint is None


# -------------------------------------------------------------------------------------------- mappings


@pytest.mark.parametrize(
    "content",
    [
        b'{"v":{"name":"a"},"w":{"name":"b"}}',
        b'{\r\n "v": {"name":"a"},\r\n "w": {"name":"b"}\r\n}\r\n',
        b'\xef\xbb\xbf{"v":{"name":"a"},"w":{"name":"b"}}',  # as read_text and read_json_lines take it
    ],
)
def test_mapping(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_bytes(content)
    found = mapping_of(path)
    assert found == {"v": Entry("a"), "w": Entry("b")}
    assert list(found) == ["v", "w"]  # in file order


def test_packed_mapping(tmp_path):
    path = tmp_path / "a.json.gz"
    path.write_bytes(gzip.compress(b'{"v":{"name":"a"}}'))
    assert mapping_of(path) == {"v": Entry("a")}


def test_an_empty_mapping(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b"{}")
    assert mapping_of(path) == {}


BAD_MAPPINGS = {
    "empty file": (b"", ":1: input data was truncated, expected JSON"),
    "blank file": (b" \n", ":1: input data was truncated, expected JSON"),
    "a list": (b"[]", ":1: got a list, expected an object"),
    "another type": (b'{"v":{"name":"a"},\n"w":{"name":3}}', ":2: field w.name: got a whole number, expected text"),
    "a list in an entry": (
        b'{"v":{"name":"a"},\n"w":{"name":"b","times":[[1,2],[3,"4"]]}}',
        ":2: field w.times[1][1]: got text, expected a number",
    ),
    "no object": (b'{"v":{"name":"a"},\n\n"w":7}', ":3: field w: got a whole number, expected an object"),
    # The 3 in another entry's name must not be taken for the value 3 of w.
    "no object, the same digits earlier": (
        b'{"v":{"name":"a3"},\n"w":3}',
        ":2: field w: got a whole number, expected an object",
    ),
    "the same key earlier, in another entry": (
        b'{"v":{"name":"a","w":\n2},\n"w":3}',
        ":3: field w: got a whole number, expected an object",
    ),
    "field missing": (b'{"v":{"number":1}}', ":1: field v.name: is missing"),
    "a key twice": (
        b'{"v":{"name":"a"},"v":{"name":"b"}}',
        ": field v: 'v' appears twice, expected each key once",
    ),
    "a field twice": (
        b'{"v":{"name":"a","name":"b"}}',
        ": field name: 'name' appears twice, expected each key once",
    ),
    "NaN": (
        b'{"v":{"name":"a","times":[[NaN,1]]}}',
        ":1: got NaN, expected a number",
    ),
    "beyond float64": (b'{"v":{"name":"a","times":[[1e999,1]]}}', ":1: field v.times[0][0]: number out of range"),
    "trailing text": (b'{"v":{"name":"a"}}x', ":1: JSON is malformed: trailing characters (byte 19), expected JSON"),
    "very deep": (
        b'{"v":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        ":1: is nested too deeply",
    ),
    "UTF-16": (
        '{"v":{"name":"a"}}'.encode("utf-16"),
        ":1: JSON is malformed: invalid character (byte 0), expected JSON",
    ),
}


@pytest.mark.parametrize("case", BAD_MAPPINGS)
def test_a_bad_mapping_is_refused(tmp_path, case):
    content, said = BAD_MAPPINGS[case]
    assert refusal(mapping_of, tmp_path / "a.json", content) == said


@pytest.mark.parametrize(
    "content",
    [
        b'{"v":{"name":"a"},"\xff":{"name":"b"}}',  # in a key
        b'{"v":{"name":"\xff"}}',  # in a value that is read
    ],
)
def test_a_mapping_that_is_not_utf8_is_refused(tmp_path, content):
    assert "utf-8" in refusal(mapping_of, tmp_path / "a.json", content).lower()


# Python refuses to read more than 4,300 digits by default (sys.int_info): that is no crash of ours.
DIGITS = b"9" * 5000


def test_a_number_of_5000_digits_is_refused(tmp_path):
    said = refusal(mapping_of, tmp_path / "a.json", b'{"v":{"name":"a","number":' + DIGITS + b"}}")
    assert said == ":1: field v.number: integer value out of range"


def test_a_number_of_5000_digits_that_nobody_reads(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'{"v":{"name":"a","unread":' + DIGITS + b"}}")
    with contextlib.suppress(InputError):  # it may be passed over, or refused
        assert mapping_of(path) == {"v": Entry("a")}


def test_no_depth_of_nesting_escapes(tmp_path):
    # Each depth is either read or refused, also just below the interpreter's limit.
    path = tmp_path / "a.json"
    refused = 0
    limit = sys.getrecursionlimit()
    for depth in [*range(limit - 120, limit + 20), 100_000]:
        path.write_bytes(b'{"v":{"name":"a","x":' + b"[" * depth + b"]" * depth + b"}}")
        try:
            assert mapping_of(path) == {"v": Entry("a")}
        except InputError:
            refused += 1
    assert refused > 0  # the deepest exceed the limit, so the range covers both sides


def test_missing_mapping_and_folder(tmp_path):
    with pytest.raises(MissingFileError, match=r"none\.json: no such file$"):
        mapping_of(tmp_path / "none.json")
    with pytest.raises(InputError, match=r": is a folder, expected a file$"):
        mapping_of(tmp_path)


def test_a_key_that_stands_twice_among_many_is_found_at_once(tmp_path):
    # 30,000 keys (MAD's training file has 280,183): comparing each with all before it takes seconds to hours.
    keys = [f"k{number}" for number in range(30_000)]
    content = "{" + ",".join(f'"{key}":{{"name":"a"}}' for key in [*keys, keys[-1]]) + "}"
    before = time.process_time()
    said = refusal(mapping_of, tmp_path / "a.json", content.encode())
    assert said == ": field k29999: 'k29999' appears twice, expected each key once"
    assert time.process_time() - before < 1.5  # reading them once takes some hundredths of a second


@pytest.mark.slow
def test_a_long_entry_is_refused_at_once(tmp_path):
    # 2 MB: searched for as a regular expression, which takes long to make, this took 5 s.
    content = '{"v":{"name":"a"},\n"w":{"name":"b","times":[' + "[1,2]," * 350_000 + '[1,"2"]]}}'
    before = time.process_time()
    said = refusal(mapping_of, tmp_path / "a.json", content.encode())
    assert said == ":2: field w.times[350000][1]: got text, expected a number"
    assert time.process_time() - before < 2.5
