"""Which model an index is made and searched with, as far as a user chooses it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError, UsageError
from truemoment.media.features.own import DType
from truemoment.media.video.encoders import Encoder, is_folder, is_here, pinned
from truemoment.searching.extraction import Loader, frames_of
from truemoment.searching.layout import SETTINGS, Settings, default_proposals, is_index, read_settings
from truemoment.searching.request import DEFAULT_CLIPS, DEFAULT_FPS, DEFAULT_MODEL

if TYPE_CHECKING:
    from truemoment.searching.index import Index

DEFAULT_COMMIT = "1a25a446712ba5ee05982a381eed697ef9b435cf"
"""Commit of the default model. Public repositories name this one, in their caches and as a pinned revision."""

LEAST_FPS, MOST_FPS = 0.01, 120.0


@dataclass(frozen=True)
class EncoderOptions:
    """How videos are embedded, as far as the user says.

    Parameters
    ----------
    model, fps, proposals
        None: as the index was made, or the defaults for a new one.
    device
        Where the model runs; None for a GPU if there is one.
    option
        The option that names the model, for messages.
    """

    model: str | None = None
    fps: float | None = None
    proposals: str | None = None
    device: str | None = None
    option: str = "--model"

    def __post_init__(self) -> None:
        """Refuse frame rates that no video has."""
        if self.fps is not None and not LEAST_FPS <= self.fps <= MOST_FPS:
            raise UsageError(f"--fps: got {self.fps:g}, expected {LEAST_FPS:g} to {MOST_FPS:g} frames a second")

    def loader(self, index: AnyPath, made: Settings | None) -> Loader:
        """Find the model: the given one, that of an index, or the default; a model of the hub by its commit.

        Whoever made an index chose the model that it names. So it is only fetched if it is the default or given.

        Parameters
        ----------
        index
            The index, for messages.
        made
            How it was made; None for a new one.

        Raises
        ------
        UsageError
            If an index names a model that is not on this machine.
        MissingFileError, InputError, MissingPackageError
            If it cannot be fetched, or is damaged.
        """
        default = full_name(DEFAULT_MODEL)
        model = default if self.model is None else full_name(self.model)
        if made is not None and (self.model is None or names_model(self.model, made.model)):
            model = full_name(made.model)  # the commit of the given model that was used
        if self.model is None and model != default and not is_here(model):
            raise UsageError(
                f"{index}: its model {model} is not on this machine; an index can name any model: if "
                f"you trust it, give {self.option} {model.partition('@')[0]}"
            )
        return Loader(pinned(model), self.device)

    def settings(self, index: AnyPath) -> Settings:
        """Load the model, and return how an index is made with it."""
        made = read_settings(index) if is_index(index) else None
        loader = self.loader(index, made)
        with self._name_index(index):
            default = DEFAULT_FPS if frames_of(loader.load().preparation) == 1 else DEFAULT_CLIPS
            fps = (made.fps if made else default) if self.fps is None else self.fps
            proposals = self.proposals or (made.proposals if made and made.fps == fps else default_proposals(fps))
            return settings_with(loader, fps, proposals, made.dtype if made else "float16")

    @contextlib.contextmanager
    def _name_index(self, index: AnyPath) -> Iterator[None]:
        """Name an index in the error of loading its model, if the user has named none."""
        try:
            yield
        except UsageError as error:
            if self.model is not None:
                raise
            raise InputError(str(error), path=index / SETTINGS, field="model") from None

    def encoder_of(self, index: Index) -> Encoder:
        """Load the model that an index was made with."""
        settings = index.settings
        loader = self.loader(index.path, settings)
        with self._name_index(index.path):
            encoder = loader.load()
        if encoder.fingerprint != settings.fingerprint:
            raise UsageError(
                f"{index.path}: was made with {settings.encoder}#{settings.fingerprint[:8]}, and "
                f"{encoder.name}#{encoder.fingerprint[:8]} is another model; give --model {settings.model}, or index "
                "again"
            )
        return encoder


def full_name(model: str) -> str:
    """Return a model's name that finds the same model at any time and from any folder."""
    if model == DEFAULT_MODEL:
        return f"{DEFAULT_MODEL}@{DEFAULT_COMMIT}"
    return str(Path(model).expanduser().resolve()) if model != "scenes" and is_folder(model) else model


def names_model(text: str, model: str) -> bool:
    """Whether a text names the model of an index: with or without its commit, or by a path of its folder."""
    return model.partition("@")[0] == text or full_name(text) == full_name(model)


def index_of(video: Path) -> Path:
    """Return the default place of the index of a video, or of a folder of videos: beside it."""
    beside = video if video.name not in ("", "..") else video.resolve()
    return beside.with_name(f"{beside.name}.index")


def settings_with(loader: Loader, fps: float, proposals: str, dtype: DType = "float16") -> Settings:
    """Load a model, and return how an index is made with it."""
    encoder = loader.load()
    return Settings(
        model=loader.model,
        encoder=encoder.name,
        fingerprint=encoder.fingerprint,
        n_dimensions=encoder.n_dimensions,
        fps=fps,
        dtype=dtype,
        proposals=proposals,
    )
