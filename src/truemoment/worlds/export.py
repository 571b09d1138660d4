"""A world as files: annotations as JSON Lines, features as NPZ.

::

    FOLDER/annotations.jsonl    all splits, in the format of truemoment.data.datasets.own
    FOLDER/humans.jsonl         the test splits by several annotators, in the same format; not where there is one
    FOLDER/features.npz         the frame features of all videos (truemoment.media.features.npz)
    FOLDER/world.json           the settings
"""

from __future__ import annotations

import dataclasses

from truemoment.base.boundary.documents import document_head
from truemoment.base.boundary.files import write_json
from truemoment.base.boundary.own_path import AnyPath, OwnPath, any_path
from truemoment.base.errors import InputError
from truemoment.data.datasets import own
from truemoment.media.features.npz import read_features, write_features
from truemoment.worlds.world import World

FILES = ("annotations.jsonl", "humans.jsonl", "features.npz", "world.json")
"""Names of the files of a world."""

__all__ = ["read_features", "write_features", "write_world"]


def write_world(world: World, folder: AnyPath | str) -> None:
    """Write a world into a folder, which is made if it does not exist; existing files are replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from truemoment import read_annotations
    >>> from truemoment.worlds import make_world
    >>> world = make_world(20)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_world(world, folder)
    ...     val = read_annotations(Path(folder) / "annotations.jsonl", "val")
    ...     features = read_features(Path(folder) / "features.npz")
    >>> val.sha256 == world.splits["val"].sha256, len(features)
    (True, 20)
    """
    out = OwnPath.of(any_path(folder))
    try:
        out.mkdir(parents=True, exist_ok=True)
        out.refuse_links()
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror})", path=out) from None
    annotations, humans, features, about = (out / name for name in FILES)
    own.write(annotations, world.splits.values())
    if world.settings.n_annotators > 1:
        own.write(humans, world.humans.values())
    else:
        humans.unlink(missing_ok=True)  # of another world
    write_features(features, world.features)
    settings = {**document_head("world/1"), **dataclasses.asdict(world.settings)}
    write_json(about, settings)
