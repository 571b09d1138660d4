"""read_bytes, read_text, iterate_lines, sha256_of: what is given back, and what is said of a bad file."""

import gzip
import os

import pytest

from truemoment.base.boundary.files import iterate_lines, read_bytes, read_text, sha256_of, write_json_lines
from truemoment.base.errors import InputError, MissingFileError

TEXT = "first\nzwei ✓\n"


def lines_of(path):
    return list(iterate_lines(path))


def test_bytes_come_as_they_are(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"\xef\xbb\xbf\x00\xff\r\n")
    assert read_bytes(path) == b"\xef\xbb\xbf\x00\xff\r\n"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (TEXT.encode(), TEXT),
        (b"\xef\xbb\xbf" + TEXT.encode(), TEXT),  # the byte-order mark goes (docstring of read_text)
        (b"a\r\nb\r\n", "a\r\nb\r\n"),  # line ends stay: the readers of CSV and text decide
        (b"", ""),
        (b"\xef\xbb\xbf", ""),
    ],
)
def test_text(tmp_path, content, text):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert read_text(path) == text


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"a\nb\n", [b"a\n", b"b\n"]),
        (b"a\r\nb", [b"a\r\n", b"b"]),
        (b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", [b"a\n", b"\xef\xbb\xbfb\n"]),  # a mark is one only at the very start
        (b"", []),
        (b"\n\n", [b"\n", b"\n"]),
    ],
)
def test_lines(tmp_path, content, lines):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert lines_of(path) == lines


@pytest.mark.parametrize("content", [TEXT.encode(), b"", b"x" * 300_000 + b"\n" + b"y"])
def test_a_name_in_gz_is_unpacked(tmp_path, content):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(content))
    assert read_bytes(path) == content
    assert read_text(path) == content.decode()
    assert b"".join(lines_of(path)) == content


def test_only_the_name_says_gz(tmp_path):
    path = tmp_path / "a.txt"
    packed = gzip.compress(b"a")
    path.write_bytes(packed)
    assert read_bytes(path) == packed


def test_two_gz_members_read_as_one(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))  # "cat a.gz b.gz", legal by RFC 1952, 2.2
    assert read_bytes(path) == b"a\nb\n"
    assert lines_of(path) == [b"a\n", b"b\n"]


@pytest.mark.parametrize(
    ("content", "line", "byte"),
    [
        (b"\xff", 1, "0xff"),
        (b"fine\nfine\nbad \xc3(\n", 3, "0xc3"),  # a first byte of two without its second
        (b"fine\r\ncut \xe2\x9c", 2, "0xe2"),  # cut within a letter
        (b"\xef\xbb\xbffine\n\x80", 2, "0x80"),
        ("name\n".encode("utf-16"), 1, "0xff"),  # little-endian UTF-16 begins FF FE
    ],
)
def test_text_that_is_not_utf8_names_line_and_byte(tmp_path, content, line, byte):
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_text(path)
    assert str(caught.value) == f"{path}:{line}: got byte {byte}, expected UTF-8 text; save it as UTF-8"


@pytest.mark.parametrize("read", [read_bytes, read_text, lines_of])
@pytest.mark.parametrize("name", ["none", "none.gz", "none/below"])
def test_missing_file(tmp_path, read, name):
    with pytest.raises(MissingFileError) as caught:
        read(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: no such file"


@pytest.mark.parametrize("read", [read_bytes, read_text, lines_of])
@pytest.mark.parametrize("name", ["folder", "folder.gz"])
def test_folder(tmp_path, read, name):
    (tmp_path / name).mkdir()
    with pytest.raises(InputError) as caught:
        read(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: is a folder, expected a file"


@pytest.mark.parametrize("read", [read_bytes, read_text, lines_of])
def test_a_file_in_place_of_a_folder(tmp_path, read):
    (tmp_path / "file").write_bytes(b"x")
    path = tmp_path / "file" / "below"
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: cannot be read (")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"x")
    path.chmod(0)
    with pytest.raises(InputError) as caught:
        read_bytes(path)
    assert str(caught.value).startswith(f"{path}: cannot be read (")


PACKED = gzip.compress(b'{"name":"a"}\n' * 200, mtime=0)
BROKEN_GZ = {
    "cut in the end": PACKED[:-4],
    "cut in the middle": PACKED[: len(PACKED) // 2],
    "cut in the head": PACKED[:5],
    "not packed at all": b'{"name":"a"}\n',
    "wrong checksum": PACKED[:-8] + bytes(4) + PACKED[-4:],
    "a bit of the body flipped": PACKED[:10] + bytes([PACKED[10] ^ 0x06]) + PACKED[11:],  # another kind of block
    "noise in the body": PACKED[:10] + b"\xff" * 20 + PACKED[-8:],
    "junk behind the end": PACKED + b"junk",
}


@pytest.mark.parametrize("read", [read_bytes, read_text, lines_of])
@pytest.mark.parametrize("kind", BROKEN_GZ)
def test_broken_gz_is_refused_by_name(tmp_path, read, kind):
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(BROKEN_GZ[kind])
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: cannot be read (")
    assert "\n" not in str(caught.value)


def test_sha256(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"abc")
    # FIPS 180-2, appendix B.1: the digest of "abc".
    assert sha256_of(path) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_progress_changes_nothing_that_is_read(tmp_path, monkeypatch, capsys, name):
    content = b"\xef\xbb\xbf" + b'{"name":"a"}\n' * 50
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    lines = lines_of(path)
    assert list(iterate_lines(path, progress=True)) == lines
    assert capsys.readouterr().err == ""  # a small file is read before a bar could be seen
    monkeypatch.setattr("truemoment.base.boundary.files.LARGE_FILE_BYTES", 100)
    assert list(iterate_lines(path, progress=True)) == lines
    out, err = capsys.readouterr()
    assert out == ""
    assert ("reading a.jsonl" in err) == (name == "a.jsonl")  # how much a packed file holds is not known before


def test_lines_of_json_are_counted(tmp_path):
    assert write_json_lines(tmp_path / "a.jsonl", [{"a": 1}, [2]]) == 2
    assert read_text(tmp_path / "a.jsonl") == '{"a":1}\n[2]\n'
