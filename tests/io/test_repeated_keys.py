"""A key that stands twice in a row: one of its two values would be lost in silence, so the row is refused."""

import re
from pathlib import Path

import pytest

from truemoment import read_annotations
from truemoment.base.errors import InputError
from truemoment.data.formats import read_rows

SAMPLES = Path(__file__).parent / "samples"
ROWS = sorted(path.name for path in SAMPLES.glob("*.jsonl") if path.name != "annotations.jsonl")


def with_a_key_twice(line):
    """Put the first key of a row at the row's end too."""
    key = re.match(rb'\{\s*"([^"]*)":', line)[1]
    return line.rstrip()[:-1] + b', "' + key + b'": 0}\n', key.decode()


@pytest.mark.parametrize(
    ("name", "read"), [*((name, read_rows) for name in ROWS), ("annotations.jsonl", read_annotations)]
)
def test_a_key_twice_in_a_row_is_refused(name, read, tmp_path):
    lines = (SAMPLES / name).read_bytes().splitlines(keepends=True)
    lines[-1], key = with_a_key_twice(lines[-1])
    path = tmp_path / name
    path.write_bytes(b"".join(lines))
    with pytest.raises(InputError) as caught:
        read(path)
    said = f"{path}:{len(lines)}: field {key}: {key!r} appears twice, expected each key once"
    assert str(caught.value) == said
