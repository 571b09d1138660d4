"""Films that are the same film twice: another edition, another cut, another speed. They lie in one split."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.arrays import map_npy, refusing_damage
from truemoment.base.boundary.own_path import OwnPath
from truemoment.media.audio.bands import coarse_bands, log_bands
from truemoment.media.audio.rates import score_rates
from truemoment.media.audio.recording import Recording
from truemoment.media.audio.windows import FilmSearch

BANDS = "bands.npy"
"""File of a film's folder with the bands of its sound, by which two films are compared."""

LEAST_SHARE = 0.3
"""Share of 24 windows of one film that are found in another, from which both are one film."""

SPEEDS = ("1", "25/24", "24/25")

Bands = npt.NDArray[np.float32]


def bands_of(sound: Recording) -> bytes:
    """Return the bands of a film's own sound as a file of half precision."""
    stream = io.BytesIO()
    np.save(stream, coarse_bands(log_bands(sound)).astype(np.float16), allow_pickle=False)
    return stream.getvalue()


def read_bands(folder: OwnPath) -> Bands:
    """Return the bands of a film, (bands, frames)."""
    path = folder / BANDS
    with refusing_damage(path, "is not a table of numbers"):
        return np.asarray(map_npy(path), np.float32)


def is_same(search: FilmSearch, other: Bands) -> bool:
    """Whether windows of another film are found in a film."""
    return score_rates(search, other, SPEEDS)[0].share >= LEAST_SHARE


def same_films(
    folders: Mapping[str, OwnPath], *, on_status: Callable[[str], None] = lambda _: None
) -> list[tuple[str, str]]:
    """Return the pairs of films that are the same film.

    Parameters
    ----------
    folders
        Folder of each film.
    on_status
        Called with the film that is compared with the others.
    """
    names = sorted(folders)
    pairs = []
    for k, name in enumerate(names[:-1]):
        on_status(f"comparing {name} with {len(names) - k - 1} films")
        search = FilmSearch(read_bands(folders[name]))
        pairs += [(name, other) for other in names[k + 1 :] if is_same(search, read_bands(folders[other]))]
    return pairs


def joined(groups: Mapping[str, str], pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the groups of films, with pairs of the same film in one group.

    Examples
    --------
    >>> joined({"a": "", "b": "series", "c": "series", "d": ""}, [("a", "c")])
    {'a': 'series', 'b': 'series', 'c': 'series', 'd': ''}
    """
    group_of = {name: group or "" for name, group in groups.items()}
    for a, b in pairs:
        group = min(filter(None, (group_of[a], group_of[b])), default=f"same as {min(a, b)}")
        old = {group_of[a], group_of[b]} - {""}
        group_of |= {name: group for name, group_name in group_of.items() if name in (a, b) or group_name in old}
    return group_of
