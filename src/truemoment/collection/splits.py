"""Splits by film: films of one group lie in one split, and the shares of sentences are near those requested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from truemoment.base.boundary.files import read_number, read_text
from truemoment.base.errors import InputError, UsageError

NAMES = ("train", "val", "test")
DEFAULT_SHARES = (0.75, 0.08, 0.17)
"""About the shares of MAD: 280.5, 32 and 72 thousand sentences."""

# Sentences that leave a split, the groups that go, and the groups that come back.
Move = tuple[float, tuple[int, ...], tuple[int, ...]]

ROUNDS = 200
"""Moves and swaps of groups that are tried at most to come nearer to the shares."""


def read_shares(text: str) -> tuple[float, ...]:
    """Return the shares of ``0.75,0.08,0.17``: train, val and test, with a sum of 1.

    Examples
    --------
    >>> read_shares("0.8,0.1,0.1")
    (0.8, 0.1, 0.1)
    """
    shares = tuple(read_number(part) for part in text.split(","))
    if len(shares) != len(NAMES) or not all(share > 0 for share in shares) or abs(sum(shares) - 1) > 1e-6:
        raise UsageError(f"--splits: got {text!r}, expected three shares above 0 with a sum of 1, e.g. 0.75,0.08,0.17")
    return shares


def split_films(
    counts: Mapping[str, int], groups: Mapping[str, str], shares: Sequence[float], rng: np.random.Generator
) -> dict[str, str]:
    """Return the split of each film.

    Groups are placed from the largest to the smallest, each in the split that is missing most; then groups are moved
    and swapped as long as the shares come nearer.

    Parameters
    ----------
    counts
        Number of sentences of each film.
    groups
        Group of each film; a film without one is its own.
    shares
        Shares of train, val and test.
    rng
        Order of groups of one size.
    """
    members: dict[str, list[str]] = {}
    for film in sorted(counts):
        members.setdefault(f"group {groups[film]}" if groups.get(film) else f"film {film}", []).append(film)
    names = sorted(members)
    if len(names) < len(NAMES):
        problem = f"{len(counts)} films in {len(names)} groups cannot be split into {', '.join(NAMES)}"
        raise InputError(problem, hint="collect more films, or give --clean LIST")
    sizes = np.array([sum(counts[film] for film in members[name]) for name in names], float)
    targets = np.asarray(shares) * sizes.sum()
    place = _greedy(sizes, targets, rng)
    _improve(place, sizes, targets)
    empty = next((name for k, name in enumerate(NAMES) if not (place == k).any()), None)
    if empty is not None:
        raise InputError(f"no group of films fits the split {empty}", hint="give other shares: --splits")
    return {film: NAMES[place[k]] for k, name in enumerate(names) for film in members[name]}


def _greedy(sizes: np.ndarray, targets: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the number of the split of each group; every split gets one as long as there are groups."""
    place = np.full(len(sizes), -1)
    sums = np.zeros(len(targets))
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    for n_left, group in zip(range(len(order), 0, -1), order.tolist(), strict=True):
        empty = [k for k in range(len(targets)) if not (place == k).any()]
        choices = empty if len(empty) >= n_left else range(len(targets))
        place[group] = max(choices, key=lambda k: targets[k] - sums[k])
        sums[place[group]] += sizes[group]
    return place


def _improve(place: np.ndarray, sizes: np.ndarray, targets: np.ndarray) -> None:
    """Move and swap groups as long as the largest distance from the shares falls."""
    n_splits = len(targets)
    sums = np.bincount(place, weights=sizes, minlength=n_splits)
    for _ in range(ROUNDS):
        best, change = _distance(sums, targets), None
        n_groups = np.bincount(place, minlength=n_splits)
        for a in range(n_splits):
            for b in range(n_splits):
                ours, theirs = np.flatnonzero(place == a), np.flatnonzero(place == b)
                if a == b or not len(ours):
                    continue
                moves: list[Move] = [(float(sizes[g]), (g,), ()) for g in ours.tolist()] if n_groups[a] > 1 else []
                if a < b:
                    swaps = ((float(sizes[g] - sizes[h]), (g,), (h,)) for g in ours.tolist() for h in theirs.tolist())
                    moves += swaps
                for size, out, back in moves:
                    tried = sums.copy()
                    tried[a] -= size
                    tried[b] += size
                    if (distance := _distance(tried, targets)) < best - 1e-9:
                        best, change = distance, (a, b, out, back, tried)
        if change is None:
            return
        a, b, out, back, sums = change
        place[list(out)], place[list(back)] = b, a


def _distance(sums: np.ndarray, targets: np.ndarray) -> float:
    return float(np.square(sums - targets).sum())


def read_clean(path: Path) -> dict[str, str | None]:
    """Read a list of films with clean annotations: ``NAME``, or ``NAME<TAB>val`` or ``test``, a line each."""
    splits: dict[str, str | None] = {}
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        name, tab, split = line.strip().partition("\t")
        if not name or (tab and split.strip() not in NAMES[1:]):
            raise InputError(f"got {line!r}, expected NAME, or NAME, a tab, and val or test", path=path, line=number)
        if name in splits:
            raise InputError(f"got the film {name!r} again, expected it once", path=path, line=number)
        splits[name] = split.strip() or None
    return splits


def split_clean(
    counts: Mapping[str, int],
    groups: Mapping[str, str],
    clean: Mapping[str, str | None],
    shares: Sequence[float],
    path: Path | None = None,
) -> dict[str, str]:
    """Return the split of each film: films with clean annotations are val and test, all others train, as in the paper.

    Films of the list without a split go where val and test are missing most by their shares.
    """
    unknown = next((name for name in clean if name not in counts), None)
    if unknown is not None:
        raise InputError(f"got the film {unknown!r}, which the collection does not have", path=path)
    split_of = dict.fromkeys(counts, "train")
    split_of |= {film: split for film, split in clean.items() if split is not None}
    sums = {name: sum(counts[film] for film, split in clean.items() if split == name) for name in NAMES[1:]}
    for film in sorted(
        (film for film, split in clean.items() if split is None), key=lambda film: (-counts[film], film)
    ):
        split_of[film] = min(NAMES[1:], key=lambda name: sums[name] / shares[NAMES.index(name)])
        sums[split_of[film]] += counts[film]
    for name in sorted(set(groups.values()) - {""}):
        films = [film for film in sorted(counts) if groups.get(film) == name]
        splits = sorted({split_of[film] for film in films})
        if len(splits) > 1:
            problem = f"the group {name!r} lies in {' and '.join(splits)} ({', '.join(films)}), expected one split"
            raise InputError(problem, path=path)
    return split_of
