"""A small set of annotations, and two ways to hold a file against them: it is read, or it is refused."""

import pytest

from truemoment import Annotations, Predictions
from truemoment.base.errors import TrueMomentError
from truemoment.data.formats import read_predictions


def as_lists(predictions: Predictions) -> dict[str, list[tuple[float, float, float]]]:
    """Predictions as plain lists by query id."""
    columns = (predictions.start_s.tolist(), predictions.end_s.tolist(), predictions.score.tolist())
    moments = list(zip(*columns, strict=True))
    offsets = predictions.offsets.tolist()
    return {q: moments[low:high] for q, low, high in zip(predictions.query_id, offsets, offsets[1:], strict=False)}


@pytest.fixture(scope="session")
def lists():
    """Give the function that turns predictions into plain lists."""
    return as_lists


@pytest.fixture(scope="session")
def annotations():
    """Three queries: two of video v (30 s), one of video w (20 s)."""
    return Annotations.from_rows(
        [
            ("v#0", "v", 30.0, "A man's dog, barking.", 2.0, 5.0),
            ("v#1", "v", 30.0, "a door opens", 6.0, 9.0),
            ("w#0", "w", 20.0, "Die Tür geht auf 🚪", 1.0, 2.0),
        ],
        dataset="small",
        split="test",
    )


@pytest.fixture
def read(tmp_path, annotations):
    """Write a file and read it: read(content, name, **options) -> (plain lists, report)."""

    def run(content, name="p.jsonl", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        predictions, report = read_predictions(path, options.pop("against", annotations), **options)
        return as_lists(predictions), report

    return run


@pytest.fixture
def refused(tmp_path, annotations):
    """Write a file that must be refused: refused(content, name, **options) -> what is said behind its name."""

    def run(content, name="p.jsonl", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(TrueMomentError) as caught:
            read_predictions(path, options.pop("against", annotations), **options)
        said = str(caught.value)
        assert said.startswith(str(path))  # the file is named,
        assert len(said.splitlines()) == 1  # on one line (DESIGN.md, command line)
        return said.removeprefix(str(path)).replace("`", "")  # how fields are quoted is not tested

    return run
