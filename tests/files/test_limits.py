"""Limits of what is read: a sparse file has any size, and a damaged one may be a single line."""

import gzip
import os
import time

import pytest

from truemoment.base.boundary import files
from truemoment.base.boundary.files import DATA_BYTES, SETTINGS_BYTES, read_bytes, read_json, read_json_lines, read_text
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import InputError


@pytest.mark.parametrize("of", [OwnPath, lambda folder: folder])
@pytest.mark.parametrize("read", [read_bytes, read_text, lambda path: read_json(path, dict)])
def test_settings_of_20_gigabytes_are_refused_before_they_are_read(tmp_path, of, read):
    with (tmp_path / "settings.json").open("wb") as stream:
        stream.truncate(20_000_000_000)  # it takes no room on the disk
    began = time.monotonic()
    with pytest.raises(InputError) as caught:
        read(of(tmp_path) / "settings.json")
    assert str(caught.value) == f"{tmp_path}/settings.json: is larger than 16 MiB, the most of a file of its kind"
    assert time.monotonic() - began < 1


def test_the_largest_file_that_is_read(tmp_path):
    (tmp_path / "a").write_bytes(b"x" * SETTINGS_BYTES)
    assert len(read_bytes(tmp_path / "a")) == SETTINGS_BYTES
    (tmp_path / "a").write_bytes(b"x" * (SETTINGS_BYTES + 1))
    with pytest.raises(InputError, match="is larger than 16 MiB"):
        read_bytes(tmp_path / "a")
    assert len(read_bytes(tmp_path / "a", most=DATA_BYTES)) == SETTINGS_BYTES + 1


def test_what_a_packed_file_unpacks_to_counts(tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(os.urandom(1000) * 100))
    with pytest.raises(InputError, match="is larger than 0 MiB"):
        read_bytes(tmp_path / "a.gz", most=99_999)
    assert len(read_bytes(tmp_path / "a.gz", most=100_000)) == 100_000


def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LINE_BYTES", 1 << 20)
    (tmp_path / "a.jsonl").write_bytes(b"{}\n" + b" " * (1 << 20) + b"\n")
    with pytest.raises(InputError, match=r"a.jsonl:2: is longer than 1 MiB, expected shorter lines"):
        list(read_json_lines(tmp_path / "a.jsonl", dict))
    (tmp_path / "a.jsonl").write_bytes(b"{}\n" + b" " * ((1 << 20) - 3) + b"{}")
    assert len(list(read_json_lines(tmp_path / "a.jsonl", dict))) == 2
