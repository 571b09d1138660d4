"""Word vectors from text files, as GloVe's are written: a word and its numbers a line.

The file is read line by line, and only the requested words are kept: GloVe's 840B has 2.2 million words of 300
numbers, 2.6 GB, of which Charades-STA needs 1,000.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.files import iterate_lines
from truemoment.base.errors import InputError
from truemoment.data.language.tokens import How, tokenise

Vectors = npt.NDArray[np.float32]

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COUNTS = re.compile(rb"\s*\d+\s+\d+\s*")


@dataclass(frozen=True)
class Coverage:
    """How many of the tokens of some sentences have a vector.

    Parameters
    ----------
    unknown
        Number of occurrences of each token without a vector, the most frequent first.
    """

    n_tokens: int
    n_unknown: int
    unknown: Mapping[str, int]

    @property
    def share(self) -> float:
        """Share of the tokens with a vector; NaN without a token."""
        return 1 - self.n_unknown / self.n_tokens if self.n_tokens else float("nan")


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A vector for each of W words; every other word is the zero vector.

    Parameters
    ----------
    words
        Each once, as :func:`~truemoment.data.language.tokens.tokenise` writes them.
    vectors : (W, E) float32
        Theirs.

    Examples
    --------
    >>> vectors = WordVectors(("door", "opens"), np.eye(2, dtype=np.float32), "two words")
    >>> vectors.of(("the", "door"))
    array([[0., 0.],
           [1., 0.]], dtype=float32)
    >>> vectors.n_unknown(("the", "door")), "door" in vectors, vectors.n_dimensions
    (1, True, 2)
    """

    words: tuple[str, ...]
    vectors: Vectors
    name: str

    def __post_init__(self) -> None:
        shape = self.vectors.shape
        if len(shape) != 2 or shape[0] != len(self.words) or self.vectors.dtype != np.float32:
            raise InputError(
                f"got {self.vectors.dtype} of shape {shape}, expected float32 of ({len(self.words)}, numbers)",
                field="vectors",
            )
        if not np.isfinite(self.vectors).all():
            raise InputError("got a number that is not finite, expected finite ones", field="vectors")
        if len(self.index) != len(self.words):
            raise InputError("a word occurs twice, expected each once", field="words")

    @functools.cached_property
    def index(self) -> Mapping[str, int]:
        """Row of each word."""
        return MappingProxyType({word: row for row, word in enumerate(self.words)})

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index

    @property
    def n_dimensions(self) -> int:
        """E, numbers a vector."""
        return int(self.vectors.shape[1])

    def of(self, tokens: Sequence[str]) -> Vectors:
        """Return the vectors of L tokens (L, E), zeros for unknown ones, in a new array."""
        rows = np.array([self.index.get(token, -1) for token in tokens], dtype=np.int64)
        vectors = np.zeros((len(rows), self.n_dimensions), dtype=np.float32)
        vectors[rows >= 0] = self.vectors[rows[rows >= 0]]
        return vectors

    def n_unknown(self, tokens: Iterable[str]) -> int:
        """Count the tokens that have no vector."""
        return sum(token not in self.index for token in tokens)

    def coverage(self, sentences: Iterable[str], how: How = "words") -> Coverage:
        """Count the tokens of sentences that have a vector.

        Examples
        --------
        >>> vectors = WordVectors(("opens", "door"), np.eye(2, dtype=np.float32), "two words")
        >>> coverage = vectors.coverage(["She opens the door.", "The door opens."], "blanks")
        >>> coverage.n_tokens, coverage.n_unknown, dict(coverage.unknown)
        (7, 5, {'the': 2, 'she': 1, 'door.': 1, 'opens.': 1})
        """
        count = Counter(token for sentence in sentences for token in tokenise(sentence, how))
        unknown = Counter({token: times for token, times in count.items() if token not in self.index})
        return Coverage(count.total(), unknown.total(), MappingProxyType(dict(unknown.most_common())))


def read_glove(path: Path | str, keep: Collection[str] | None = None) -> WordVectors:
    """Read word vectors from a text file: on each line a word and its numbers, separated by one blank.

    A name that ends in ``.gz`` is unpacked. Only the words in `keep` are read, by default all, in the order of the
    file; of a word that occurs twice the first vector counts. The first line determines the number of numbers; a line
    of two counts before it is skipped. A word may contain blanks ("at name@domain.com" in GloVe 840B).
    """
    path = Path(path)
    words_wanted = None if keep is None else {word.encode("utf-8", "surrogatepass") for word in keep}
    heads = None if words_wanted is None else {word.split(b" ", 1)[0] for word in words_wanted}
    width = 0
    vectors: dict[str, Vectors] = {}
    for number, line in enumerate(iterate_lines(path, progress=True), start=1):
        if not line.strip() or (number == 1 and _COUNTS.fullmatch(line)):
            continue
        width = width or line.rstrip().count(b" ")
        if width == 0:
            raise InputError("got no blank, expected a word and its numbers", path=path, line=number)
        if heads is not None and line.split(b" ", 1)[0] not in heads:
            continue
        word, *numbers = line.rstrip().rsplit(b" ", width)
        if words_wanted is None or word in words_wanted:
            try:
                vectors.setdefault(_decoded(word), _vector_of(word, numbers, width))
            except InputError as error:
                raise InputError(error.problem, path=path, line=number) from None
    if not width:
        raise InputError("contains no word vector, expected a word and its numbers on each line", path=path)
    words = tuple(vectors)
    table = np.stack(list(vectors.values())) if vectors else np.zeros((0, width), dtype=np.float32)
    digest = hashlib.sha256("\n".join(words).encode() + table.astype("<f4", copy=False).tobytes())
    return WordVectors(words, table, f"{path.name}#{digest.hexdigest()[:8]}")


def _vector_of(word: bytes, numbers: list[bytes], width: int) -> Vectors:
    if len(numbers) != width:
        raise InputError(f"got {len(numbers)} numbers, expected {width}")
    if b" " in word and _NUMBER.fullmatch(word.rsplit(b" ", 1)[-1]):
        raise InputError(f"got more than {width} numbers, expected as many as on the first line")
    for text in numbers:
        if not _NUMBER.fullmatch(text):
            raise InputError(f"got {text.decode('utf-8', 'replace')[:40]!r}, expected numbers after the word")
    with np.errstate(over="ignore"):  # values beyond float32 are not finite and are reported below
        vector = np.array([float(text) for text in numbers], dtype=np.float64).astype(np.float32)
    if not np.isfinite(vector).all():
        raise InputError("got a number beyond float32, expected numbers after the word")
    return vector


def _decoded(word: bytes) -> str:
    if not word.strip():
        raise InputError("got no word, expected a word and its numbers")
    try:
        return word.decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"got the word {word[:40]!r}, expected UTF-8 text") from None
