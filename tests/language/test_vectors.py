"""Word vectors: read from text files, looked up, and hostile lines named."""

import gzip

import numpy as np
import pytest

from truemoment import load_annotations
from truemoment.base.errors import InputError, MissingFileError
from truemoment.data.language.vectors import WordVectors, read_glove


@pytest.fixture
def file(tmp_path):
    def write(data):
        path = tmp_path / "vectors.txt"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


PLAIN = "the 0.5 -1 2e-1\ndoor 1 2 3\n, 0 0 1\n"


def test_words_and_numbers(file):
    found = read_glove(file(PLAIN))
    assert found.words == ("the", "door", ",")
    assert found.vectors.dtype == np.float32
    assert found.vectors == pytest.approx(np.array([[0.5, -1, 0.2], [1, 2, 3], [0, 0, 1]]))
    assert (len(found), found.n_dimensions, "door" in found, "Door" in found) == (3, 3, True, False)


def test_unknown_words_are_zero_and_counted(file):
    found = read_glove(file(PLAIN))
    assert found.of(("door", "opens", "the")).tolist() == [[1, 2, 3], [0, 0, 0], [0.5, -1, np.float32(0.2)]]
    assert found.of(()).shape == (0, 3)
    assert found.n_unknown(("door", "opens", "opens", "the")) == 2


def test_what_is_given_out_is_a_copy(file):
    found = read_glove(file(PLAIN))
    found.of(("door",))[:] = 9
    assert found.of(("door",)).tolist() == [[1, 2, 3]]


def test_only_words_asked_for_are_kept(file):
    found = read_glove(file(PLAIN + "broken x y z\n"), keep={"door", "window"})
    assert found.words == ("door",)
    assert read_glove(file(PLAIN), keep=()).of(("door",)).tolist() == [[0, 0, 0]]


def test_words_may_hold_blanks_as_in_840b(file):
    # GloVe 840B has ". . ." and "at name@domain.com" among its words.
    text = PLAIN + ". . . 7 8 9\nat name@domain.com 4 5 6\n"
    assert read_glove(file(text)).of((". . .", "at name@domain.com")).tolist() == [[7, 8, 9], [4, 5, 6]]
    assert read_glove(file(text), keep={"at name@domain.com"}).words == ("at name@domain.com",)


def test_other_forms_of_the_same_file(file, tmp_path):
    packed = tmp_path / "vectors.txt.gz"
    packed.write_bytes(gzip.compress(PLAIN.encode()))
    for text in (
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", " \n"),
        "3 3\n" + PLAIN,
        "\ufeff" + PLAIN,
        PLAIN + "\n",
    ):
        assert read_glove(file(text)).words == read_glove(packed).words == ("the", "door", ",")


def test_the_first_vector_of_a_word_counts(file):
    assert read_glove(file("a 1 2\nb 3 4\na 5 6\n")).of(("a",)).tolist() == [[1, 2]]


def test_names_tell_what_was_kept(file):
    names = {read_glove(file(PLAIN), keep=keep).name for keep in (None, {"door"}, {"the"})}
    assert len(names) == 3
    assert all(name.startswith("vectors.txt#") for name in names)
    assert read_glove(file(PLAIN)).name == read_glove(file(PLAIN)).name != read_glove(file(PLAIN + "x 1 2 3\n")).name


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("a 1 2\nb 1\n", ":2: got 1 numbers, expected 2"),
        ("a 1 2\nb 1 2 3\n", ":2: got more than 2 numbers"),
        ("a 1\nb 1 2\n", ":2: got more than 1 numbers"),  # the first line is cut
        ("a 1 2\n\nb 1 x\n", ":3: got 'x', expected numbers"),
        ("a 1 nan\n", ":1: got 'nan'"),
        ("a 1 inf\n", ":1: got 'inf'"),
        ("a 1 1_0\n", ":1: got '1_0'"),
        ("a 1 1e300\n", ":1: got a number beyond float32"),
        ("a 1 2\nb 1  2\n", ":2: got more than 2"),
        ("a 1 2\n 1 2\n", ":2: got no word"),
        ("a 1 2\n1 2\n", ":2: got 1 numbers, expected 2"),
        ("a\t1\t2\n", ":1: got no blank"),
        ("", ": contains no word vector"),
        ("3 3\n", ": contains no word vector"),
        (b"a 1 2\n\xff\xfe 1 2\n", ":2: got the word"),
        (b"\x00\x01\x02", ":1: got no blank"),
    ],
)
def test_hostile_lines_are_named(data, said, file):
    with pytest.raises(InputError) as caught:
        read_glove(file(data))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(MissingFileError, match="no such file"):
        read_glove(tmp_path / "x.txt")


@pytest.mark.parametrize(
    ("words", "vectors", "said"),
    [
        (("a",), np.zeros((2, 3), np.float32), "shape"),
        (("a",), np.zeros((1, 3)), "float64"),
        (("a",), np.zeros(1, np.float32), "shape"),
        (("a", "a"), np.zeros((2, 3), np.float32), "twice"),
        (("a",), np.full((1, 3), np.nan, np.float32), "finite"),
    ],
)
def test_words_and_vectors_belong_together(words, vectors, said):
    with pytest.raises(InputError, match=said):
        WordVectors(words, vectors, "x")


def test_coverage_counts_tokens_by_the_way_they_are_made():
    vectors = WordVectors(("door", "opens"), np.eye(2, dtype=np.float32), "two")
    sentences = ["Door opens.", "The door", "the window."]
    told = vectors.coverage(sentences)
    assert (told.n_tokens, told.n_unknown, dict(told.unknown)) == (6, 3, {"the": 2, "window": 1})
    assert told.share == 0.5
    assert vectors.coverage(sentences, "blanks").n_unknown == 4
    assert np.isnan(vectors.coverage([]).share)


@pytest.mark.data
def test_the_real_subset_covers_charades(data_dir):
    # data/README.md: GloVe 840B cut to the words of Charades-STA.
    path = data_dir / "glove" / "glove.840B.300d.charades.txt"
    vectors = read_glove(path)
    assert vectors.n_dimensions == 300
    sentences = [
        s for split in ("train", "test") for s in load_annotations("charades-sta", split, data_dir=data_dir).sentence
    ]
    assert vectors.coverage(sentences).share > 0.999
    # The last word of most sentences keeps its full stop where they are split at blanks (specs/tan2d.md, section 7).
    assert vectors.coverage(sentences, "blanks").share < 0.9
    kept = read_glove(path, keep={"door", "person"})
    assert np.array_equal(kept.of(("door",)), vectors.of(("door",)))
