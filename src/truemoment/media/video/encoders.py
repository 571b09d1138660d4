"""Frames and sentences to vectors of one space: the two towers of a CLIP, SigLIP or X-CLIP model.

``load_encoder("scenes")`` is a small built-in model for rendered shapes (:mod:`truemoment.worlds.scenes`); a folder or
a name on the model hub gives a general one. Vectors are not normalised: the vector of a moment is the mean of its
frames' vectors, compared by cosine similarity.

A :class:`Preparation` prepares pictures without a model, so that processes which decode video load none. Pictures stay
bytes until they are on the device of the model, which scales their colours.
A model of frames sees one picture at a time: it cannot see the direction of a motion. A model of clips (X-CLIP) sees
some pictures at once. Its sentences are embedded without the prompts that its authors make of the video that they are
compared with, so that one vector of a sentence serves all videos.

Only tensors, numbers and words of a model are read: weights are safetensors, and code beside them is never run.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import re
import string
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, cast, runtime_checkable

import msgspec
import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.files import decode_json, read_bytes, read_text, sha256_of
from truemoment.base.boundary.inputs import reading
from truemoment.base.errors import InputError, MissingFileError, MissingPackageError, TrueMomentError, UsageError
from truemoment.media.features.base import Frames
from truemoment.media.video.frames import Pixels
from truemoment.media.video.resizing import resized_part

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedTokenizerBase

Prepared = npt.NDArray[np.uint8]  # a picture of the size that a model takes, (h, w, 3), or several

BUILT_IN = "scenes"
"""The model that comes along."""

PARTS = (
    "config.json",
    "preprocessor_config.json",
    "processor_config.json",
    "tokenizer*.json",
    "special_tokens_map.json",
)
WORDS = ("vocab.json", "merges.txt", "spiece.model")
WEIGHTS = ("model*.safetensors", "model.safetensors.index.json")
"""The files of a model that are read; what else lies beside them is neither fetched nor opened."""

KNOWN_WORDS, PLAIN_SENTENCES = "known_words.txt", "plain_sentences.txt"
"""The words that a model was trained on, one a line; models of the hub have no such file."""

NEEDED = (
    (("config.json",),),
    (("preprocessor_config.json",), ("processor_config.json",)),
    (("tokenizer.json", "tokenizer_config.json"), ("vocab.json", "merges.txt"), ("spiece.model",)),
)
"""What a whole model has besides its weights: of each of these lines one of the sets of files."""

LAYER_BYTES = 1000
"""Names of a layer's 16 tensors, with their shapes and places, as in a file of weights."""

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}/[A-Za-z0-9][\w.-]{0,95}", re.ASCII)

MOST_PIXELS_A_SIDE = 2048

MOST_FRAMES_A_CLIP = 64

MOST_ASPECT = 100
"""A picture that is longer than so many times its breadth is cut first."""


@runtime_checkable
class Encoder(Protocol):
    """Maps frames and sentences to vectors of one space."""

    @property
    def name(self) -> str:
        """Name in signatures."""
        ...

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of a hash of weights, preparation and tokenizer."""
        ...

    @property
    def n_dimensions(self) -> int:
        """D, dimensions of a vector."""
        ...

    @property
    def preparation(self) -> Callable[[Pixels], Prepared]:
        """Function that prepares a picture; it is sent to the processes that decode videos."""
        ...

    def prepare(self, rgb: Pixels) -> Prepared:
        """Prepare a picture (H, W, 3): (h, w, 3), the same h and w for every picture."""
        ...

    def images(self, batch: Prepared) -> Frames:
        """Return the vectors (B, D) of prepared pictures (B, h, w, 3), or of clips of them (B, n, h, w, 3)."""
        ...

    def sentences(self, texts: Sequence[str]) -> Frames:
        """Return the vectors (S, D) of sentences."""
        ...


@runtime_checkable
class TokenEncoder(Protocol):
    """Makes a row of numbers of each token of a sentence."""

    @property
    def name(self) -> str:
        """Name in signatures."""
        ...

    @property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of a hash of weights, preparation and tokenizer."""
        ...

    @property
    def n_hidden(self) -> int:
        """E, numbers of a row."""
        ...

    def tokens(self, texts: Sequence[str]) -> list[Frames]:
        """Return the rows of the tokens of each sentence, (L, E)."""
        ...


Side = Annotated[int, msgspec.Meta(ge=1, le=MOST_PIXELS_A_SIDE)]


class _Size(msgspec.Struct, frozen=True, omit_defaults=True):
    shortest_edge: Side | None = None
    height: Side | None = None
    width: Side | None = None


class _PreparationFile(msgspec.Struct, frozen=True):
    """``preprocessor_config.json``, with the defaults of CLIP and SigLIP alike."""

    size: _Size | Side = _Size(shortest_edge=224)
    crop_size: _Size | Side | None = None
    do_resize: bool = True
    do_center_crop: bool = False
    do_rescale: bool = True
    do_normalize: bool = True
    rescale_factor: float = 1 / 255
    image_mean: tuple[float, float, float] = (0.5, 0.5, 0.5)
    image_std: tuple[float, float, float] = (0.5, 0.5, 0.5)
    resample: Literal[0, 1, 2, 3, 4, 5] = 3


class _ProcessorFile(msgspec.Struct, frozen=True):
    image_processor: _PreparationFile


Count = Annotated[int, msgspec.Meta(ge=1, le=1 << 20)]
Labels = Annotated[int, msgspec.Meta(ge=0, le=1 << 16)]  # towers have none, but the library makes up a name for each


class _TowerFile(msgspec.Struct, frozen=True):
    """Numbers of a tower that its size depends on; missing ones have the library's defaults."""

    hidden_size: Count | msgspec.UnsetType = msgspec.UNSET
    intermediate_size: Count | msgspec.UnsetType = msgspec.UNSET
    num_hidden_layers: Count | msgspec.UnsetType = msgspec.UNSET
    num_attention_heads: Count | msgspec.UnsetType = msgspec.UNSET
    vocab_size: Count | msgspec.UnsetType = msgspec.UNSET
    max_position_embeddings: Count | msgspec.UnsetType = msgspec.UNSET
    image_size: Count | msgspec.UnsetType = msgspec.UNSET
    patch_size: Count | msgspec.UnsetType = msgspec.UNSET
    num_channels: Literal[3] | msgspec.UnsetType = msgspec.UNSET
    projection_size: Count | None = None
    projection_dim: Count | None = None
    num_labels: Labels | None = None
    num_frames: Annotated[int, msgspec.Meta(ge=1, le=MOST_FRAMES_A_CLIP)] | msgspec.UnsetType = msgspec.UNSET
    mit_hidden_size: Count | msgspec.UnsetType = msgspec.UNSET
    mit_intermediate_size: Count | msgspec.UnsetType = msgspec.UNSET
    mit_num_hidden_layers: Count | msgspec.UnsetType = msgspec.UNSET
    mit_num_attention_heads: Count | msgspec.UnsetType = msgspec.UNSET


class _ConfigFile(msgspec.Struct, frozen=True):
    """The part of ``config.json`` that is checked before a model is made."""

    model_type: Literal["clip", "siglip", "xclip"]
    text_config: _TowerFile | None = None
    vision_config: _TowerFile | None = None
    text_config_dict: _TowerFile | None = None
    vision_config_dict: _TowerFile | None = None
    projection_dim: Count | msgspec.UnsetType = msgspec.UNSET
    num_labels: Labels | None = None


class _TokenizerConfigFile(msgspec.Struct, frozen=True):
    """The part of ``tokenizer_config.json`` that is checked here; transformers reads the rest."""

    tokenizer_class: str | None = None
    do_lower_case: bool | None = None


class _WeightsIndexFile(msgspec.Struct, frozen=True):
    """``model.safetensors.index.json``: in which file each tensor is."""

    weight_map: dict[str, str]


@dataclass(frozen=True)
class Preparation:
    """How a picture is prepared for a model, as a value that can be sent to other processes.

    A picture is resized with the filter of the model's training, cropped to its centre, and each colour is scaled:
    ``(value * rescale - mean) / std``.

    Parameters
    ----------
    height, width
        Size of the model's input.
    shortest_side
        Size of the picture's shorter side before the crop; None resizes it to `height` and `width` without a crop.
    mean, std
        Of each colour.
    rescale
        Factor of colour values 0 to 255.
    resample
        Number of Pillow's filter: 2 bilinear, 3 bicubic.
    frames
        Number of successive pictures that the model sees at once.
    """

    height: int
    width: int
    shortest_side: int | None
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    rescale: float = 1 / 255
    resample: int = 3
    frames: int = 1

    @classmethod
    def read(cls, folder: Path) -> Preparation:
        """Read ``preprocessor_config.json`` of a model's folder, or ``processor_config.json`` of newer ones."""
        path = folder / "processor_config.json"
        if path.is_file() and not (folder / "preprocessor_config.json").is_file():
            settings = decode_json(read_bytes(path), _ProcessorFile, path=path).image_processor
        else:
            path = folder / "preprocessor_config.json"
            settings = decode_json(read_bytes(path), _PreparationFile, path=path)
        size = settings.size if isinstance(settings.size, _Size) else _Size(shortest_edge=settings.size)
        if not settings.do_resize:
            raise InputError("got a model whose pictures are not resized, expected one of a fixed size", path=path)
        if size.height and size.width and not settings.do_center_crop:
            height, width, shortest = size.height, size.width, None
        elif size.shortest_edge and settings.do_center_crop:
            crop = (
                settings.crop_size
                if isinstance(settings.crop_size, _Size)
                else _Size(height=settings.crop_size, width=settings.crop_size)
            )
            height, width, shortest = crop.height or 0, crop.width or 0, size.shortest_edge
            if not 0 < max(height, width) <= shortest or not min(height, width):
                raise InputError(
                    f"got a middle of {height} x {width} of {shortest} pixels, expected it to fit", path=path
                )
        else:
            raise InputError("got no fixed size of pictures, expected height and width, or a crop", path=path)
        if settings.do_normalize and not all(0 < std < np.inf for std in settings.image_std):
            raise InputError(f"got {settings.image_std}, expected numbers above 0", path=path, field="image_std")
        scaled = settings.do_normalize
        return cls(
            height,
            width,
            shortest,
            settings.image_mean if scaled else (0.0, 0.0, 0.0),
            settings.image_std if scaled else (1.0, 1.0, 1.0),
            settings.rescale_factor if settings.do_rescale else 1.0,
            settings.resample,
        )

    def __call__(self, rgb: Pixels) -> Prepared:
        """Resize and crop a picture (H, W, 3) to (height, width, 3)."""
        rgb = _not_too_long(rgb)
        height, width = rgb.shape[:2]
        tall, wide = self.height, self.width
        if self.shortest_side is not None:
            side, shorter = self.shortest_side, min(height, width)
            tall, wide = (side if n == shorter else int(side * n / shorter) for n in (height, width))
        top, left = (tall - self.height) // 2, (wide - self.width) // 2
        part = slice(top, top + self.height), slice(left, left + self.width)
        return resized_part(rgb, (tall, wide), part, self.resample)

    def scaled(self, pictures: Prepared) -> npt.NDArray[np.float32]:
        """Scale the colours of prepared pictures (..., h, w, 3) as in the model's training: (..., 3, h, w)."""
        factor, offset = self.scale
        return np.ascontiguousarray(np.moveaxis(pictures * factor + offset, -1, -3))

    @property
    def scale(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Factor and offset of each colour, (3,): ``value * factor + offset`` is what the model takes."""
        mean, std = np.array(self.mean), np.array(self.std)
        return (self.rescale / std).astype(np.float32), (-mean / std).astype(np.float32)


def _not_too_long(rgb: Pixels) -> Pixels:
    """Return a picture, or the middle of an absurdly long one, which would need much memory once it is resized."""
    height, width = rgb.shape[:2]
    most = MOST_ASPECT * min(height, width)
    if max(height, width) <= most:
        return rgb
    top, left = max(0, height - most) // 2, max(0, width - most) // 2
    return np.ascontiguousarray(rgb[top : top + most, left : left + most])


def load_encoder(text: str, *, device: str | None = None) -> Encoder:
    """Load a model for frames and sentences.

    Parameters
    ----------
    text
        ``scenes`` (built in), a folder, or a name on the model hub such as ``openai/clip-vit-large-patch14``,
        optionally with ``@COMMIT``: a CLIP, SigLIP or X-CLIP model as transformers saves it, with weights as
        safetensors. A model that is not on this machine is fetched.
        ``URL#NAME`` is a model behind an address (:mod:`truemoment.media.video.endpoint_encoder`).
    device
        PyTorch device; None: an accelerator if there is one. On CUDA it computes in mixed precision, elsewhere in
        float32.
    """
    if is_address(text):
        from truemoment.media.video.endpoint_encoder import EndpointEncoder  # noqa: PLC0415 - it needs this module

        return EndpointEncoder.load(text)
    if sys.flags.optimize > 1:
        raise UsageError("PYTHONOPTIMIZE=2 (python -OO) removes the docstrings that transformers reads: unset it")
    try:
        import torch  # noqa: PLC0415, F401 - importing it takes seconds
        import transformers  # noqa: PLC0415, F401 - as above
    except ModuleNotFoundError as error:
        raise MissingPackageError(error.name or "transformers", "search", "turning frames into vectors") from None
    folder, name = _folder_of(text)
    return TwoTowers.load(folder, name, device)


def is_address(text: str) -> bool:
    """Whether a text names a model behind an address, not one of this machine."""
    return text.startswith(("http://", "https://"))


def _folder_of(text: str) -> tuple[Path, str]:
    if text == BUILT_IN:
        return Path(str(files("truemoment.media.video") / BUILT_IN)), BUILT_IN
    name, commit = _of_hub(text)
    if not commit and is_folder(text):  # a name with a commit is one of the hub, whatever the current folder contains
        folder = Path(text).expanduser()
        return folder, folder.resolve().name
    if not name:
        expected = f"{BUILT_IN!r}, a folder, or a name on the hub (OWNER/NAME or OWNER/NAME@COMMIT, 40 digits)"
        raise UsageError(f"got the model {text!r}, expected {expected}")
    return _fetched(name, commit), name


_COMMIT = re.compile(r"[0-9a-f]{40}", re.ASCII)


def _of_hub(text: str) -> tuple[str, str | None]:
    """Read the name of a model on the hub and its commit, None for the newest; "" if the text can be no name there."""
    name, at, commit = text.partition("@")
    is_valid = _HUB_NAME.fullmatch(name) and ".." not in name and (not at or _COMMIT.fullmatch(commit))
    return (name if is_valid else "", commit or None)


def pinned(text: str) -> str:
    """Return a text by which :func:`load_encoder` loads the same model at any later time.

    A model of the hub gets its commit, ``OWNER/NAME@COMMIT``, and is fetched if needed; other texts stay.
    """
    name, _ = _of_hub(text)
    if not name or is_folder(text):
        return text
    folder, _ = _folder_of(text)
    return f"{name}@{folder.name}" if _COMMIT.fullmatch(folder.name) else text


def is_here(text: str) -> bool:
    """Whether :func:`load_encoder` finds all files of this model on this machine."""
    name, commit = _of_hub(text)
    return not is_address(text) and (not name or is_folder(text) or _found(name, commit) is not None)


def is_folder(text: str) -> bool:
    """Whether a text is the path of a folder; one that no system would open is none."""
    try:
        return bool(text) and Path(text).expanduser().is_dir()
    except (OSError, RuntimeError):
        return False  # too long for a path, or the home of nobody


def _snapshot(name: str, commit: str | None, *, local_files_only: bool) -> Path:
    """Return the folder of a model of the hub, fetched unless only this machine is searched."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read when it is imported
    try:
        from huggingface_hub import snapshot_download  # noqa: PLC0415 - comes with transformers
    except ModuleNotFoundError:
        raise MissingPackageError("transformers", "search", "turning frames into vectors") from None
    wanted = [*PARTS, *WORDS, *WEIGHTS]
    return Path(snapshot_download(name, revision=commit, allow_patterns=wanted, local_files_only=local_files_only))


def _found(name: str, commit: str | None) -> Path | None:
    """Return the folder of a model of the hub if it is on this machine, whole."""
    try:
        folder = _snapshot(name, commit, local_files_only=True)
    except (OSError, ValueError):
        return None
    return folder if _is_whole(folder) else None


def _fetched(name: str, commit: str | None) -> Path:
    folder = _found(name, commit)
    if folder is not None:
        return folder
    try:
        return _snapshot(name, commit, local_files_only=False)
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        revision = f" --revision {commit}" if commit else ""
        raise MissingFileError(  # the command comes first: of a line that is too long, the middle is cut
            f"with a network, run `hf download {name}{revision} --local-dir FOLDER`, and give FOLDER as the model: "
            f"it is not on this machine and cannot be fetched ({reason})"
        ) from None


def _is_whole(folder: Path) -> bool:
    weights, index = {"model.safetensors"}, folder / "model.safetensors.index.json"
    if index.is_file() and not (folder / "model.safetensors").is_file():
        weights = set(decode_json(read_bytes(index), _WeightsIndexFile, path=index).weight_map.values())
    return all(
        any(all((folder / name).is_file() for name in names) for names in forms)
        for forms in ((tuple(weights),), *NEEDED)
    )


@dataclass(frozen=True, eq=False)
class TwoTowers:
    """A CLIP, SigLIP or X-CLIP model of transformers."""

    name: str
    folder: Path
    preparation: Preparation
    model: Any  # transformers types its models loosely
    tokenizer: PreTrainedTokenizerBase
    n_words: int
    device: torch.device

    @classmethod
    def load(cls, folder: Path, name: str, device: str | None = None) -> TwoTowers:
        """Load a model from a folder."""
        path = reading(folder) / "config.json"
        kind = decode_json(read_bytes(path), _ConfigFile, path=path).model_type
        preparation = Preparation.read(folder)
        if not any(folder.glob(WEIGHTS[0])):
            raise MissingFileError(
                f"{folder}: has no weights as safetensors; other formats can run code and are not opened"
            )
        on = _device_of(device)
        with _quiet():
            model = _model_of(folder, kind, _config_of(folder, kind))
            tokenizer = _tokenizer_of(folder, kind)
        text, side = model.config.text_config, model.config.vision_config.image_size
        if kind == "xclip":
            preparation = replace(preparation, frames=model.config.vision_config.num_frames)
        if {preparation.height, preparation.width} != {side}:
            came = f"{preparation.height} x {preparation.width}"
            raise InputError(f"makes pictures of {came}, but its model takes {side} x {side}", path=folder)
        if len(tokenizer) > text.vocab_size:
            problem = f"its words have {len(tokenizer)} numbers, but its model knows {text.vocab_size}"
            raise InputError(problem, path=folder)
        with _enough_memory(name, on):
            model = model.to(on).eval()
        encoder = cls(name, folder, preparation, model, tokenizer, text.max_position_embeddings, on)
        encoder.refuse_unusable()
        return encoder

    def refuse_unusable(self) -> None:
        """Try the model; refuse one that fails on a picture or a sentence, or whose vectors differ in length."""
        black = np.zeros((1, self.preparation.height, self.preparation.width, 3), np.uint8)
        try:
            widths = self.images(black).shape[1], self.sentences(["a"]).shape[1]
            self.cut_short(["a"])
        except TrueMomentError:
            raise
        except Exception as error:
            raise InputError(f"cannot be used as a model ({_first_line(error)})", path=self.folder) from None
        if widths != (self.n_dimensions, self.n_dimensions):
            problem = f"gives {widths[0]} numbers a picture and {widths[1]} a sentence"
            raise InputError(f"{problem}, expected {self.n_dimensions} of both", path=self.folder)

    @functools.cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits of the SHA-256 of all files that determine the vectors."""
        digest = hashlib.sha256()
        paths = {path for pattern in (*PARTS, *WORDS, *WEIGHTS) for path in self.folder.glob(pattern)}
        for path in sorted(paths):
            digest.update(f"{path.name} {sha256_of(path)}\n".encode())
        return digest.hexdigest()[:16]

    @functools.cached_property
    def n_dimensions(self) -> int:
        """D, dimensions of a vector."""
        config = self.model.config
        return int(config.vision_config.hidden_size if config.model_type == "siglip" else config.projection_dim)

    @functools.cached_property
    def vocabulary(self) -> frozenset[str] | None:
        """The words that the model was trained on, in small letters; None where they are not known."""
        path = self.folder / KNOWN_WORDS
        return frozenset(read_text(path).split()) if path.is_file() else None

    @functools.cached_property
    def plain_sentences(self) -> tuple[str, ...]:
        """Sentences of a model that knows few words (:mod:`truemoment.searching.unrelated`); none for others."""
        path = self.folder / PLAIN_SENTENCES
        return tuple(read_text(path).splitlines()) if path.is_file() else ()

    def prepare(self, rgb: Pixels) -> Prepared:
        """Prepare a picture (H, W, 3): (h, w, 3)."""
        return self.preparation(rgb)

    def images(self, batch: Prepared) -> Frames:
        """Return the vectors (B, D) of prepared pictures (B, h, w, 3), or of clips of them (B, n, h, w, 3).

        A model of clips takes a picture for a clip that shows nothing else.
        """
        with self._computing():
            pixels = self._on_device(batch)
            if self.preparation.frames == 1:
                return _vectors(self.model.get_image_features(pixel_values=pixels))
            if pixels.ndim == 4:
                pixels = pixels[:, None].expand(-1, self.preparation.frames, -1, -1, -1)
            return _vectors(self.model.get_video_features(pixel_values=pixels))

    def _on_device(self, pictures: Prepared) -> torch.Tensor:
        """Bring prepared pictures (..., h, w, 3) to the device as bytes, and scale them there: (..., 3, h, w)."""
        import torch  # noqa: PLC0415 - importing it takes seconds

        on_device = torch.from_numpy(np.array(pictures)).to(self.device).movedim(-1, -3).contiguous().float()
        factor, offset = (torch.from_numpy(values).to(self.device)[:, None, None] for values in self.preparation.scale)
        return on_device.mul_(factor).add_(offset)

    def sentences(self, texts: Sequence[str]) -> Frames:
        """Return the vectors (S, D) of sentences, each cut to `n_words` tokens."""
        if not texts:
            return np.zeros((0, self.n_dimensions), np.float32)
        padding = "max_length" if self.model.config.model_type == "siglip" else "longest"  # as each was trained
        rows = []
        with self._computing():
            for inputs in self._tokenised(texts, padding):
                if padding == "max_length":
                    inputs.pop("attention_mask", None)
                rows.append(_vectors(self.model.get_text_features(**inputs)))
        return np.concatenate(rows)

    @property
    def n_hidden(self) -> int:
        """E, numbers that the text transformer makes of a token."""
        return int(self.model.config.text_config.hidden_size)

    def tokens(self, texts: Sequence[str]) -> list[Frames]:
        """Return what the text transformer makes of each token of sentences, (L, E), L at most `n_words`.

        These are the rows after its last layer norm and before the projection, with those of the begin and end mark.
        """
        if self.model.config.model_type != "clip":
            raise UsageError(f"{self.name} marks no begin and end of a sentence, expected a CLIP model")
        rows: list[Frames] = []
        with self._computing():
            for inputs in self._tokenised(texts, "longest"):
                hidden = self.model.text_model(**inputs).last_hidden_state.float().cpu().numpy()
                lengths = inputs["attention_mask"].sum(dim=1).tolist()
                rows += [table[:length].copy() for table, length in zip(hidden, lengths, strict=True)]
        return rows

    def _tokenised(self, texts: Sequence[str], padding: str) -> Iterator[dict[str, torch.Tensor]]:
        """Yield the tokens of some sentences at a time, each sentence cut to `n_words`."""
        for first in range(0, len(texts), SENTENCES_AT_ONCE):
            tokens = self.tokenizer(
                list(texts[first : first + SENTENCES_AT_ONCE]),
                padding=padding,
                truncation=True,
                max_length=self.n_words,
                return_tensors="pt",
            ).to(self.device)
            yield {name: tokens[name] for name in ("input_ids", "attention_mask") if name in tokens}

    def cut_short(self, texts: Sequence[str]) -> list[int]:
        """Return the positions of the sentences that exceed `n_words` tokens."""
        return [
            at for at, text in enumerate(texts) if len(self.tokenizer(text, verbose=False)["input_ids"]) > self.n_words
        ]

    @contextmanager
    def _computing(self) -> Iterator[None]:
        """Compute without gradients: on CUDA in mixed precision, elsewhere in float32."""
        import torch  # noqa: PLC0415 - importing it takes seconds

        precision = torch.autocast("cuda") if self.device.type == "cuda" else nullcontext()
        with _enough_memory(self.name, self.device), torch.inference_mode(), precision:
            yield


SENTENCES_AT_ONCE = 256


def _vectors(output: Any) -> Frames:  # noqa: ANN401 - transformers 4 returns a tensor, 5 an output that contains one
    tensor = getattr(output, "pooler_output", output)
    return np.asarray(tensor.float().cpu().numpy(), dtype=np.float32)


def _device_of(device: str | None) -> torch.device:
    import torch  # noqa: PLC0415 - importing it takes seconds

    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        torch.empty(1, device=device).cpu()  # numbers come back from it, unlike from "meta"
        return torch.device(device)
    except (RuntimeError, AssertionError, NotImplementedError, ImportError) as error:
        reason = str(error).splitlines()[0] if str(error) else "not known"
        raise UsageError(f"got the device {device!r}, which cannot be used here ({reason})") from None


@contextmanager
def _enough_memory(name: str, device: torch.device) -> Iterator[None]:
    """Raise an error in one line if a device has too little memory for a model."""
    import torch  # noqa: PLC0415 - importing it takes seconds

    try:
        yield
    except torch.cuda.OutOfMemoryError:
        raise UsageError(
            f"the model {name} needs more memory than is free on {device}: end what else uses it, or take a smaller "
            "model, another device or cpu"
        ) from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the progress bars and hints of loading; errors are still raised."""
    from transformers import utils  # noqa: PLC0415 - importing it takes seconds

    logging: Any = utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _config_of(folder: Path, kind: str) -> Any:  # noqa: ANN401 - transformers types its models loosely
    from transformers import CLIPConfig, SiglipConfig, XCLIPConfig  # noqa: PLC0415 - importing it takes seconds

    family: Any = {"clip": CLIPConfig, "siglip": SiglipConfig, "xclip": XCLIPConfig}[kind]
    path = folder / "config.json"
    try:
        config = family.from_pretrained(folder, local_files_only=True)
        least = _least_bytes(config)
    except Exception as error:
        raise InputError(f"is not how a model is built ({_first_line(error)})", path=path) from None
    n_bytes = sum(weights.stat().st_size for weights in folder.glob(WEIGHTS[0]))
    if least > n_bytes:
        problem = f"{path.name} is of one of {least:,} bytes or more, its weights have {n_bytes:,}: cut off?"
        raise InputError(f"cannot be loaded as a model ({problem})", path=folder)
    return config


def _least_bytes(config: Any) -> int:  # noqa: ANN401 - as above
    """Bytes that the weights of a model have at least: one a number, and the names of each layer."""
    text, vision = config.text_config, config.vision_config
    projected = text.projection_size if config.model_type == "siglip" else config.projection_dim
    of_words = text.vocab_size + text.max_position_embeddings + projected
    of_pictures = (vision.image_size // vision.patch_size) ** 2 + vision.num_channels * vision.patch_size**2
    layers = [
        tower.num_hidden_layers
        * (2 * tower.hidden_size * (2 * tower.hidden_size + tower.intermediate_size) + LAYER_BYTES)
        for tower in (text, vision)
    ]
    return int(of_words * text.hidden_size + of_pictures * vision.hidden_size + sum(layers))


def _model_of(folder: Path, kind: str, config: Any) -> Any:  # noqa: ANN401 - transformers types its models loosely
    import torch  # noqa: PLC0415 - importing it takes seconds
    from transformers import CLIPModel, SiglipModel, XCLIPModel  # noqa: PLC0415 - as above

    family: Any = {"clip": CLIPModel, "siglip": SiglipModel, "xclip": XCLIPModel}[kind]
    try:
        model, loading = family.from_pretrained(
            folder,
            config=config,
            use_safetensors=True,
            local_files_only=True,
            trust_remote_code=False,
            dtype=torch.float32,
            output_loading_info=True,
        )
    except Exception as error:
        raise InputError(f"cannot be loaded as a model ({_first_line(error)})", path=folder) from None
    missing = sorted(loading["missing_keys"])
    if missing:
        more = f" and {len(missing) - 1} others" if len(missing) > 1 else ""
        raise InputError(f"has no weights {missing[0]}{more}", path=folder)
    broken = next((name for name, tensor in model.state_dict().items() if not torch.isfinite(tensor).all()), None)
    if broken is not None:
        raise InputError(f"{broken} has numbers that are not finite", path=folder)
    return model


def _tokenizer_of(folder: Path, kind: str) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer, CLIPTokenizer, PreTrainedTokenizerFast  # noqa: PLC0415 - takes seconds

    whole = (folder / "tokenizer.json").is_file()
    parts = ("spiece.model",) if kind == "siglip" else ("vocab.json", "merges.txt")
    if not whole and not all((folder / part).is_file() for part in parts):
        raise MissingFileError(f"{folder}: has neither tokenizer.json nor {' and '.join(parts)}")
    if kind == "siglip" and not whole and importlib.util.find_spec("sentencepiece") is None:
        hint = "pip install sentencepiece protobuf, or save its tokenizer as tokenizer.json"
        raise InputError("has its words in spiece.model alone, which needs another package", path=folder, hint=hint)
    family: Any = CLIPTokenizer if kind != "siglip" else PreTrainedTokenizerFast if whole else AutoTokenizer
    try:
        tokenizer = cast(
            "PreTrainedTokenizerBase", family.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
        )
    except Exception as error:
        raise InputError(f"has no tokenizer that can be loaded ({_first_line(error)})", path=folder) from None
    if tokenizer.pad_token is None:
        raise InputError("names no token that fills sentences up, expected a pad_token", path=folder)
    if kind == "siglip" and whole:
        _write_as_in_training(tokenizer, folder)
    return tokenizer


def _write_as_in_training(tokenizer: Any, folder: Path) -> None:  # noqa: ANN401 - transformers types it loosely
    """Make the tokenizer of a SigLIP model lower-case sentences, and for SigLIP 1 drop punctuation, as in training.

    ``tokenizer.json`` need not do so: models of SigLIP 2 for pictures of one size are saved as SigLIP 1, with a
    tokenizer that keeps capitals.
    """
    from tokenizers import Regex, normalizers  # noqa: PLC0415 - comes with transformers

    path = folder / "tokenizer_config.json"
    settings = (
        decode_json(read_bytes(path), _TokenizerConfigFile, path=path) if path.is_file() else _TokenizerConfigFile()
    )
    steps: list[Any] = [] if settings.do_lower_case is False else [normalizers.Lowercase()]
    if settings.tokenizer_class == "SiglipTokenizer" or (folder / "spiece.model").is_file():
        punctuation = normalizers.Replace(Regex(f"[{re.escape(string.punctuation)}]"), "")
        steps += [punctuation, normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()]
    backend = tokenizer.backend_tokenizer
    backend.normalizer = normalizers.Sequence([*steps, *([backend.normalizer] if backend.normalizer else [])])


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
