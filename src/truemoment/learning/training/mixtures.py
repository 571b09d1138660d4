"""Training on mixtures: sources of sentences, a share of each, joined to one training split (MAD, Tables 5 and 6).

A recipe states them::

    data:
      - {annotations: clean.jsonl}
      - {dataset: mad, share: 0.32, by: sentences}

Shares are nested and the same on every machine: sentences (or films) are ordered by a hash of the seed and their id,
and a share is the beginning of that order. The paper states neither what its shares were drawn from nor how many steps
a row took.

**Guard.** A film that is in a source and in a test split makes figures too good. It is refused by its id, by the files
of a collection that name films that are the same, and by name for MAD and LSMDC, whose films are the same under other
ids: MAD's validation and test splits are LSMDC's 162 films.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np

from truemoment.base.boundary.files import read_number
from truemoment.base.errors import UsageError
from truemoment.base.intervals import Bools, Floats
from truemoment.base.records import Annotations, as_strings
from truemoment.data.datasets.source import AnnotationSource
from truemoment.data.language.tokens import tokenise
from truemoment.learning.training.mixed_stores import MARK
from truemoment.learning.training.recipe_sources import MixtureSource
from truemoment.learning.training.recipes import Recipe

NAMED_FILMS = 3
"""Films that a message names."""


@dataclass(frozen=True, eq=False)
class MixturePart:
    """The share of a source that is learned from.

    Parameters
    ----------
    source
        What the recipe states.
    annotations
        Its share, with the ids of the source.
    n_sentences
        Sentences of the whole source.
    """

    source: MixtureSource
    annotations: Annotations
    n_sentences: int

    @property
    def words(self) -> str:
        """What was used, in words."""
        share = f"{100 * self.source.share:g} % of {self.source.by}" if self.source.share < 1 else "all"
        weight = f", drawn {self.source.weight:g} times" if self.source.weight != 1 else ""
        used = f"{self.annotations.n_queries:,} of {self.n_sentences:,} sentences ({share}){weight}"
        return f"{self.source.title}: {used}, {self.annotations.n_videos:,} films"


@dataclass(frozen=True, eq=False)
class Mixture:
    """Several sources as one training split.

    Parameters
    ----------
    parts
        The sources, in the order of the recipe.
    annotations
        All of them; ids of queries begin with the name of their source.
    weights : (Q,)
        How often each query is drawn in an epoch; None where all are drawn once.
    """

    parts: tuple[MixturePart, ...]
    annotations: Annotations
    weights: Floats | None

    def notes(self, tokens: Callable[[str], Iterable[str]] = lambda text: tokenise(text, "words")) -> list[str]:
        """Return what results must state: the size of each source, and the words that only one of them has."""
        lines = [part.words for part in self.parts]
        if len(self.parts) > 1:
            words_of = [{word for text in part.annotations.sentence for word in tokens(text)} for part in self.parts]
            times = Counter(word for words in words_of for word in words)
            own = (sum(times[word] == 1 for word in words) for words in words_of)
            only = ", ".join(f"{n:,} in {part.source.title}" for n, part in zip(own, self.parts, strict=True))
            lines.append(f"words that a single source has: {only}")
        rated = [part.source.title for part in self.parts if part.annotations.saliency is not None]
        if rated and self.annotations.saliency is None:
            lines.append(f"ratings of clips of {', '.join(rated)} are left out: not all sources have such ratings")
        return lines


def read_mixture(sources: Sequence[MixtureSource], seed: int, data_dir: Path | None) -> Mixture:
    """Read the sources of a mixture, and take the share of each.

    Parameters
    ----------
    sources
        What is mixed.
    seed
        Seed of the shares.
    data_dir
        Folder of datasets that name none.
    """
    parts = []
    for source in sources:
        own = Path(source.annotations) if source.annotations else None
        folder = Path(source.data_dir) if source.data_dir else data_dir
        whole = AnnotationSource(source.dataset, own, source.split, folder).read()
        share = whole.select_queries(in_share(whole, source.share, source.by, seed))
        parts.append(MixturePart(source, share, whole.n_queries))
    weights = np.concatenate([np.full(part.annotations.n_queries, part.source.weight) for part in parts])
    return Mixture(tuple(parts), joined_parts(parts), None if (weights == 1).all() else weights)


def joined_parts(parts: Sequence[MixturePart]) -> Annotations:
    """Return all parts as one split."""
    renamed = []
    for part in parts:
        ids = [f"{part.source.title}{MARK}{query_id}" for query_id in part.annotations.query_id]
        renamed.append(dataclasses.replace(part.annotations, query_id=as_strings(ids, "query_id"), dataset="mixture"))
    split = " + ".join(f"{100 * part.source.share:g} % {part.source.title}" for part in parts)
    return Annotations.joined(renamed, split=split)


def in_share(annotations: Annotations, share: float, by: str, seed: int) -> Bools:
    """Return which queries are in a share, (Q,): the first of an order by hash; one sentence or film at least.

    Parameters
    ----------
    annotations
        The source.
    share
        Above 0, up to 1.
    by
        ``sentences`` or ``films``.
    seed
        Seed of the order.
    """
    queries = annotations.queries
    of_query = queries.query_id if by == "sentences" else queries.video_id
    names = sorted(
        set(of_query.tolist()),
        key=lambda name: (hashlib.blake2b(f"{seed}\0{name}".encode(), digest_size=8).digest(), name),
    )
    sample = set(names[: max(1, round(share * len(names)))])
    return np.array([name in sample for name in of_query.tolist()], dtype=bool)


# ---------------------------------------------------------------------------------------------- options


def read_mix(texts: Sequence[str]) -> tuple[MixtureSource, ...]:
    """Read sources as options of the command line write them: ``NAME[:SPLIT][=SHARE][,KEY=VALUE]...``.

    NAME is a dataset or a file ``.jsonl``; the keys are those of a block
    ``data`` of a recipe.

    Examples
    --------
    >>> sources = read_mix(["clean.jsonl", "mad:train=0.32,by=films,weight=2"])
    >>> [(source.title, source.share, source.by, source.weight) for source in sources]
    [('clean', 1.0, 'sentences', 1.0), ('mad', 0.32, 'films', 2.0)]
    """
    return tuple(map(_source_of, texts))


def _source_of(text: str) -> MixtureSource:
    first, *fields = text.split(",")
    where, equals, share = first.partition("=")
    name, _, split = where.partition(":")
    if not name or (equals and not share):
        raise UsageError(f"--mix: got {text!r}, expected NAME[:SPLIT]=SHARE, e.g. mad:train=0.32")
    values: dict[str, object] = {"annotations" if name.lower().endswith(".jsonl") else "dataset": name}
    values |= {"split": split} if split else {}
    if share:
        values["share"] = read_number(share)
    for field in fields:
        key, equals, value = field.partition("=")
        if not equals:
            raise UsageError(f"--mix: got {field!r} in {text!r}, expected KEY=VALUE, e.g. by=films")
        values[key.strip()] = value.strip()
    if not 0 < float(str(values.get("share", 1.0))) <= 1:
        raise UsageError(f"--mix: got a share of {share} in {text!r}, expected above 0 and up to 1")
    try:
        return msgspec.convert(values, MixtureSource, strict=False)
    except msgspec.ValidationError as error:
        raise UsageError(f"--mix: {text!r}: {error}") from None


def with_sources(recipe: Recipe, sources: Sequence[MixtureSource]) -> Recipe:
    """Return a recipe that learns from these sources; none for those that it states."""
    return msgspec.structs.replace(recipe, data=tuple(sources)) if sources else recipe


# ----------------------------------------------------------------------------------------------- guard


def shared_films(
    mixture: Mixture, tests: Mapping[str, Annotations], group_of: Mapping[str, str] | None = None
) -> Iterator[str]:
    """Yield a line for each source and test split that share films; none if no figure is too good.

    Parameters
    ----------
    mixture
        What is learned from.
    tests
        The test splits.
    group_of
        Group of each film, where a collection has found films that are the same.
    """
    group_of = group_of or {}
    for name, test in tests.items():
        for part in mixture.parts:
            groups = {group_of.get(film) or film: film for film in part.annotations.video_id.tolist()}
            shared = sorted({film for film in test.video_id.tolist() if (group_of.get(film) or film) in groups})
            if shared:
                listed = ", ".join(shared[:NAMED_FILMS]) + (", ..." if len(shared) > NAMED_FILMS else "")
                yield f"{part.source.title} has {len(shared):,} of the films of {test.dataset}/{name} ({listed})"
            elif _are_lsmdc_and_mad(part.annotations, part.source.title, test, name):
                yield f"{part.source.title} has films of {test.dataset}/{name}: MAD's val and test are LSMDC's films"


def _are_lsmdc_and_mad(source: Annotations, title: str, test: Annotations, test_split: str) -> bool:
    """Whether one is LSMDC and the other MAD's validation or test split, in either order."""

    def is_lsmdc(*names: str) -> bool:
        return any("lsmdc" in name.casefold() for name in names)

    def is_held_out_mad(annotations: Annotations, split: str) -> bool:
        return annotations.dataset == "mad" and split in ("val", "test")

    one_way = is_lsmdc(source.dataset, title) and is_held_out_mad(test, test_split)
    return one_way or (is_held_out_mad(source, source.split) and is_lsmdc(test.dataset))
