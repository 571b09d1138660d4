"""Features for a model that ranks clips: vectors of frames, or pictures for encoders that learn."""

from __future__ import annotations

from pathlib import Path

from truemoment.base.errors import UsageError
from truemoment.learning.training.recipes import Recipe
from truemoment.media.features.base import FeatureStore
from truemoment.media.video.encoders import load_encoder
from truemoment.media.video.picture_store import PICTURES, PictureStore
from truemoment.searching.opening import open_features


def open_clip_features(
    text: str,
    recipe: Recipe,
    dataset: str | None,
    data_dir: Path | None = None,
    *,
    seed: int = 0,
    fps: float | None = None,
) -> FeatureStore:
    """Open the features that a recipe asks for.

    Parameters
    ----------
    text
        As for :func:`~truemoment.searching.opening.open_features`, or ``pictures:FOLDER`` with video files of films or
        clips.
    recipe
        With ``tune: towers`` it needs pictures, else vectors.
    dataset, data_dir, seed, fps
        As for :func:`~truemoment.searching.opening.open_features`.
    """
    learns_towers = recipe.settings.get("tune") == "towers"
    is_pictures = text.startswith(PICTURES)
    if learns_towers != is_pictures:
        needed = f"pictures: give --features {PICTURES}FOLDER" if learns_towers else "vectors of frames, not pictures"
        raise UsageError(f"settings.tune: the model learns from {needed}")
    if not is_pictures:
        return open_features(text, dataset=dataset, data_dir=data_dir, seed=seed, fps=fps)
    return PictureStore(Path(text.removeprefix(PICTURES)), load_encoder(recipe.settings["encoder"], device="cpu"))
