"""Features for a model that ranks clips: vectors of frames, or pictures for encoders that learn."""

from __future__ import annotations

from pathlib import Path

from truemoment.exceptions import UsageError
from truemoment.features.base import FeatureStore
from truemoment.features.opening import open_features
from truemoment.training.recipes import Recipe
from truemoment.video.encoders import load_encoder
from truemoment.video.picture_store import PICTURES, PictureStore


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
        As for :func:`~truemoment.features.opening.open_features`, or ``pictures:FOLDER`` with video files of films or
        clips.
    recipe
        With ``tune: towers`` it needs pictures, else vectors.
    dataset, data_dir, seed, fps
        As for :func:`~truemoment.features.opening.open_features`.
    """
    learns_towers = recipe.settings.get("tune") == "towers"
    is_pictures = text.startswith(PICTURES)
    if learns_towers != is_pictures:
        needed = f"pictures: give --features {PICTURES}FOLDER" if learns_towers else "vectors of frames, not pictures"
        raise UsageError(f"settings.tune: the model learns from {needed}")
    if not is_pictures:
        return open_features(text, dataset=dataset, data_dir=data_dir, seed=seed, fps=fps)
    return PictureStore(Path(text.removeprefix(PICTURES)), load_encoder(recipe.settings["encoder"], device="cpu"))
