"""A data folder of one's own: put(...) files into it, load(...) a split, or see it refused."""

import json

import pytest

from truemoment.base.errors import TrueMomentError
from truemoment.data.datasets import load_annotations


@pytest.fixture
def put(tmp_path):
    """Write a file of a dataset: put("tacos", "val.json", content); what is no text is written as JSON."""

    def write(dataset, name, content):
        path = tmp_path / dataset / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        elif isinstance(content, str):
            path.write_text(content, encoding="utf-8", newline="")
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def load(tmp_path):
    """Read a split of what was put there."""
    return lambda dataset, split: load_annotations(dataset, split, data_dir=tmp_path)


@pytest.fixture
def rows():
    """Give the rows of annotations as tuples (query, video, duration, sentence, start, end, annotator)."""

    def as_tuples(a):
        columns = (a.query_id, a.video_id, a.duration_s, a.sentence, a.start_s, a.end_s, a.annotator)
        return list(zip(*(column.tolist() for column in columns), strict=True))

    return as_tuples


@pytest.fixture
def refused(tmp_path, load):
    """Read a split that must be refused; return what is said, the data folder left out of paths."""

    def run(dataset, split):
        with pytest.raises(TrueMomentError) as caught:
            load(dataset, split)
        said = str(caught.value)
        assert len(said.splitlines()) == 1
        return said.replace(f"{tmp_path}/", "").replace("`", "")  # how fields are quoted is not tested

    return run
