"""Prompts: the text and frames that a model gets, and the rules that read its answer.

A prompt is a TOML file::

    name = "short"                # what reports call it
    system = "You watch videos."  # optional
    frame_label = "{time_s} s:"   # text in front of each frame; "" for none
    user = '''
    {frames}
    When does this happen in these {duration_s} seconds: {sentence}
    Answer as "START - END".
    '''
    axis = "seconds"              # how the answer is read, as `truemoment evaluate` takes it:
    which = "chosen"              # axis, which, one_sided and swapped
    one_sided = "ambiguous"
    swapped = "ambiguous"

A placeholder is a name in braces; other braces stay as they are, and ``{{name}}`` writes a name in braces. The user's
text knows ``{frames}`` (where the frames go), ``{n_frames}``, ``{fps}``, ``{sentence}``, ``{duration_s}`` and
``{duration_clock}``; the label of a frame knows ``{time_s}``, ``{time_clock}`` and ``{number}``, from 1. A prompt
without ``{frames}`` shows none: it asks for a guess.
"""

from __future__ import annotations

import base64
import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from truemoment.base.boundary.files import read_text
from truemoment.base.errors import InputError, UsageError
from truemoment.base.known_names import one_of_known
from truemoment.data.answers import Reading
from truemoment.media.video import Frames

PROMPTS = ("seconds", "clock", "json", "text-only")
"""Names of the prompts that come along."""

FRAME_FIELDS = ("frames", "n_frames", "fps")
USER_FIELDS = ("sentence", "duration_s", "duration_clock", *FRAME_FIELDS)
LABEL_FIELDS = ("time_s", "time_clock", "number")

_PLACEHOLDER = re.compile(r"\{(\{[a-z_]+\})\}|\{([a-z_]+)\}")


class Prompt(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """The text of a prompt, and how its answer is read; see the module for the fields.

    Parameters
    ----------
    name, user, system, frame_label
        Texts; `user` and `frame_label` with placeholders.
    axis, which, one_sided, swapped
        As of :class:`truemoment.data.answers.Reading`.
    """

    name: str
    user: str
    system: str = ""
    frame_label: str = ""
    axis: str = "seconds"
    which: str = "chosen"
    one_sided: str = "ambiguous"
    swapped: str = "ambiguous"

    @property
    def shows_frames(self) -> bool:
        """Whether the model sees the video."""
        return "frames" in _names_in(self.user)

    @cached_property
    def reading(self) -> Reading:
        """How answers are read."""
        options: dict[str, Any] = {name: getattr(self, name) for name in ("axis", "which", "one_sided", "swapped")}
        return Reading(**options)

    @property
    def sha256(self) -> str:
        """Hash of all fields."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()

    def check(self, path: Path | None = None) -> None:
        """Refuse a prompt that cannot be filled."""
        for field, fields in (("user", USER_FIELDS), ("frame_label", LABEL_FIELDS), ("system", ())):
            names = _names_in(getattr(self, field))
            strange = next((name for name in names if name not in fields), None)
            if strange is not None:
                expected = ", ".join(f"{{{name}}}" for name in fields) or "no placeholder"
                hint = f"{{{{{strange}}}}} writes it as text"
                raise InputError(f"got {{{strange}}}, expected {expected}", path=path, field=field, hint=hint)
        names = _names_in(self.user)
        if "sentence" not in names:
            raise InputError("expected {sentence} in it", path=path, field="user")
        if names.count("frames") > 1:
            raise InputError("got {frames} twice, expected it once or not at all", path=path, field="user")
        frame_field = next((name for name in names if name in FRAME_FIELDS), None)
        if frame_field and "frames" not in names:
            raise InputError(f"got {{{frame_field}}} without {{frames}}", path=path, field="user")
        if self.frame_label and "frames" not in names:
            raise InputError("got a label without {frames} in the user's text", path=path, field="frame_label")
        if not self.name.strip() or len(self.name) > 100:
            raise InputError(f"got {self.name[:100]!r}, expected a short name", path=path, field="name")
        try:
            _ = self.reading
        except UsageError as error:
            raise InputError(str(error), path=path) from None

    def fill(self, sentence: str, duration_s: float, frames: Frames | None = None) -> list[str | bytes]:
        """Return the content of the user message: texts, and frames as JPEG files, in order.

        `duration_s` is the stated duration; frames are not used if the prompt shows none.
        """
        values = {"sentence": sentence, "duration_s": f"{duration_s:.1f}", "duration_clock": clock(duration_s)}
        if not self.shows_frames:
            return [_filled(self.user, values).strip()]
        if frames is None:
            raise UsageError(f"prompt {self.name} shows frames, and got none")
        values["n_frames"] = str(len(frames.images))
        values["fps"] = f"{len(frames.images) / frames.duration_s:.3g}"
        before, after = (_filled(part, values).strip() for part in re.split(r"(?<!\{)\{frames\}(?!\})", self.user))
        parts: list[str | bytes] = [before]
        for number, (time_s, image) in enumerate(zip(frames.times_s.tolist(), frames.images, strict=True), start=1):
            values = {"time_s": f"{time_s:.1f}", "time_clock": clock(time_s), "number": str(number)}
            parts += [_filled(self.frame_label, values), image]
        return [part for part in [*parts, after] if part]


def messages(prompt: Prompt, parts: Sequence[str | bytes]) -> list[dict[str, Any]]:
    """Return the messages of a request, frames as ``data:`` addresses."""
    content: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, str):
            content.append({"type": "text", "text": part})
        else:
            url = f"data:image/jpeg;base64,{base64.b64encode(part).decode()}"
            content.append({"type": "image_url", "image_url": {"url": url}})
    alone = len(parts) == 1 and isinstance(parts[0], str)
    user = {"role": "user", "content": parts[0] if alone else content}  # not every server takes a list of one text
    return [{"role": "system", "content": prompt.system}, user] if prompt.system else [user]


def clock(time_s: float) -> str:
    """Return seconds as clock time, rounded down: MM:SS, from an hour on H:MM:SS.

    Examples
    --------
    >>> clock(7.9), clock(3725.0)
    ('00:07', '1:02:05')
    """
    minutes, seconds = divmod(int(time_s), 60)
    if minutes < 60:
        return f"{minutes:02d}:{seconds:02d}"
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def get_prompt(name: str) -> Prompt:
    """Return one of :data:`PROMPTS` by name, or read a prompt from a file that ends in ``.toml``."""
    if name in PROMPTS:
        return _read(name, read_text(Path(__file__).with_name(f"{name}.toml")), None)
    if not name.lower().endswith(".toml"):
        raise UsageError(
            f"unknown prompt {name!r}, expected a file that ends in .toml, or {one_of_known(name, PROMPTS)}"
        )
    path = Path(name)
    return _read(name, read_text(path), path)


def _read(name: str, text: str, path: Path | None) -> Prompt:
    try:
        prompt = msgspec.convert(tomllib.loads(text), Prompt)
    except RecursionError:
        raise InputError("is nested too deeply", path=path or name) from None
    except msgspec.ValidationError as error:
        fields = ", ".join(Prompt.__struct_fields__)
        raise InputError(f"{error}; a prompt has {fields}", path=path or name) from None
    except ValueError as error:  # no TOML, or a number of more digits than Python reads
        raise InputError(f"is no TOML ({error})", path=path or name) from None
    prompt.check(path)
    return prompt


def _names_in(text: str) -> list[str]:
    """Return the placeholders of a text, in order."""
    return [match[2] for match in _PLACEHOLDER.finditer(text) if match[2]]


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Put values in place of placeholders, once: braces within a value stay as they are."""
    return _PLACEHOLDER.sub(lambda match: match[1] or values[match[2]], text)
