"""Hostile files: whatever the bytes, a file is read or refused; nothing but our own errors escapes."""

import gzip
import io
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from truemoment import Annotations
from truemoment.base.errors import TrueMomentError
from truemoment.data.formats import FORMATS, read_predictions

from ..thorough import quick_are

pytestmark = pytest.mark.slow

ANNOTATIONS = Annotations.from_rows(
    [
        ("7", "v", 30.0, "A man's dog, barking.", 2.0, 5.0),
        ("8", "v", 30.0, "a door opens", 6.0, 9.0),
        ("9", "w", 20.0, "Die Tür geht auf 🚪", 1.0, 2.0),
    ]
)


def native():
    lines = [
        {"truemoment": 1, "dataset": "own", "split": "all", "annotations_sha256": ANNOTATIONS.sha256},
        {"query_id": "7", "video_id": "v", "sentence": "a man s dog barking", "moments": [[1, 2.5, 0.5], [3, 4, 0.25]]},
        {"query_id": 8, "moments": [[1e1, 20]]},
        {"video_id": "w", "sentence": "die Tür geht auf", "moments": []},
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def moment_detr():
    window = {"pred_relevant_windows": [[0, 2, 0.5]], "pred_saliency_scores": [1, -0.5]}
    nothing = {"pred_relevant_windows": [], "pred_saliency_scores": [2]}
    lines = [
        {"qid": 7, "query": "A man's dog, barking.", "vid": "v", **window},
        {"qid": "8", "query": "a door opens", "vid": "v", **nothing},
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def results_by_video():
    answers = [
        {"sentence": "a door opens", "timestamp": [1.5, 2], "score": 0.5},
        {"sentence": "?", "timestamp": [0, 1]},
    ]
    return json.dumps({"version": 1, "results": {"v": answers}}).encode()


def table():
    return b'query_id,sentence,start,end,score\n7,"A man\'s dog, barking.",1,2.5,0.5\n8,a door opens,3,4,0.25\n'


def parquet():
    moments = [[{"start_s": 1.0, "end_s": 2.0, "score": 0.5}], []]
    stream = io.BytesIO()
    said = {b"truemoment": json.dumps({"truemoment": 1, "annotations_sha256": ANNOTATIONS.sha256}).encode()}
    pq.write_table(pa.table({"query_id": ["7", "8"], "moments": moments}).replace_schema_metadata(said), stream)
    return stream.getvalue()


GOOD = {
    "native": native(),
    "moment-detr": moment_detr(),
    "results-by-video": results_by_video(),
    "csv": table(),
    "parquet": parquet(),
}
PACKED = {name: gzip.compress(content, mtime=0) for name, content in GOOD.items() if name != "parquet"}


@pytest.fixture(scope="session")
def survives(tmp_path_factory):
    """Read bytes in every way; only our errors may escape, on one line. Return how many ways gave predictions."""
    folder = tmp_path_factory.mktemp("fuzz")

    def run(content, name="p", formats=(None, *FORMATS)):
        path = folder / name
        path.write_bytes(content)
        n_read = 0
        for format_name in formats:
            try:
                read_predictions(path, ANNOTATIONS, format=format_name, on_unknown="ignore", on_negative="clip")
                n_read += 1
            except TrueMomentError as error:
                said = str(error)
            else:
                continue
            assert said
        return n_read

    return run


@pytest.mark.parametrize("name", GOOD)
def test_the_good_files_are_good(survives, name):
    assert survives(GOOD[name], formats=(None, name)) == 2


@pytest.mark.parametrize("name", PACKED)
def test_the_packed_files_are_good(survives, name):
    assert survives(PACKED[name], "p.gz", formats=(None, name)) == 2


@given(st.binary(max_size=300))
@example(b"\xef\xbb\xbf")
@example(b"\x00")
@example(b"PAR1" + bytes(20) + b"PAR1")
@example(b"\x1f\x8b" + bytes(30))
@example(b"start,end\n")
@example(b'"start",end\n"')
def test_random_bytes(survives, content):
    survives(content)
    survives(content, "p.csv", formats=(None,))
    survives(content, "p.gz", formats=(None, "native", "csv"))


@given(st.text(st.sampled_from('{}[]",:\\ \n\r0123456789.-eE+nulltrefasNI_\ufeffä\ud7ff'), max_size=200))
def test_random_text_that_looks_like_json(survives, text):
    survives(text.encode("utf-8", "surrogatepass"))
    survives(b'{"query_id": "7", "moments": ' + text.encode(), formats=("native",))


@st.composite
def mutations(draw, good):
    """Draw a valid file with a few bytes flipped, put in, taken out, or the rest cut away."""
    content = bytearray(good)
    for _ in range(draw(st.integers(1, 4))):
        if not content:
            break
        at = draw(st.integers(0, len(content) - 1))
        kind = draw(st.sampled_from(["flip", "insert", "delete", "truncate", "repeat"]))
        if kind == "flip":
            content[at] ^= draw(st.integers(1, 255))
        elif kind == "insert":
            content[at:at] = draw(st.binary(min_size=1, max_size=4))
        elif kind == "delete":
            del content[at : at + draw(st.integers(1, 8))]
        elif kind == "truncate":
            del content[at:]
        else:
            content[at:at] = content[max(0, at - 30) : at]
    return bytes(content)


@settings(max_examples=100)
@given(data=st.data())
@pytest.mark.parametrize("name", GOOD)
def test_mutated_files(survives, name, data):
    survives(data.draw(mutations(GOOD[name])), formats=(None, name))


@given(data=st.data())
@pytest.mark.parametrize("name", PACKED)
def test_mutated_packed_files(survives, name, data):
    survives(data.draw(mutations(PACKED[name])), "p.gz", formats=(None, name))


@pytest.mark.parametrize("most", quick_are([300], [300, 1 << 20]))
@pytest.mark.parametrize("name", GOOD)
def test_single_bytes_flipped(survives, name, most):
    # One bit of each byte in turn, or of so many bytes: a seeded choice, so that each run does the same.
    rng = random.Random(0)  # noqa: S311 - no secret
    n_read, n_bytes = 0, len(GOOD[name])
    places = rng.sample(range(n_bytes), min(most, n_bytes))
    for at in places:
        content = bytearray(GOOD[name])
        content[at] ^= 1 << rng.randrange(8)
        n_read += survives(bytes(content), formats=(name,))
    assert n_read < len(places)  # some flips must be refused


@pytest.mark.parametrize("name", GOOD)
def test_every_truncation(survives, name):
    every = 7 if name == "parquet" else 1  # its end says what is where: without it all lengths are alike
    for length in range(0, len(GOOD[name]), every):
        survives(GOOD[name][:length], formats=(None, name))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
KEYS = ["query_id", "video_id", "sentence", "moments", "truemoment", "annotations_sha256", "qid", "vid", "query",
        "pred_relevant_windows", "pred_saliency_scores", "results", "timestamp", "score"]  # fmt: skip


@given(st.lists(st.dictionaries(st.sampled_from(KEYS), JSON, max_size=6), min_size=1, max_size=3))
def test_json_of_other_shapes(survives, lines):
    # The right keys, with values of every other kind (json.dumps writes NaN and Infinity as such).
    survives("".join(json.dumps(line) + "\n" for line in lines).encode())
    answers = {str(number): [line] for number, line in enumerate(lines)}
    survives(json.dumps({"results": answers}).encode(), formats=("results-by-video",))
