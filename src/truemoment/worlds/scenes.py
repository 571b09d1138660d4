"""Rendered scenes: pictures of shapes on a ground, and videos of such scenes with known moments.

A video is a sequence of shots. Some show what a sentence of the annotations describes, a few of those twice; the others
are distractors, many of which differ from an event in one respect. Start and end of a moment are exact to the frame.
Things move, but no two sentences differ by motion alone: a method that sees single pictures cannot see its direction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.files import atomic_write
from truemoment.base.errors import InputError, MissingPackageError, UsageError
from truemoment.base.records import Annotations
from truemoment.media.video.frames import Pixels
from truemoment.worlds.descriptions import (
    ASPECT,
    MOVING,
    STILL,
    Description,
    Noun,
    Scene,
    Thing,
    codes_of,
    describe,
    draw_scene,
    in_words,
    swapped,
    truth,
)

Canvas = npt.NDArray[np.float32]  # colours from 0 to 1

COLOUR_VALUES = {
    "red": (0.86, 0.12, 0.14),
    "orange": (0.98, 0.55, 0.08),
    "yellow": (0.98, 0.90, 0.15),
    "green": (0.10, 0.62, 0.22),
    "blue": (0.13, 0.28, 0.86),
    "purple": (0.55, 0.20, 0.70),
    "white": (0.97, 0.97, 0.97),
    "black": (0.06, 0.06, 0.07),
}

OUTLINE = 0.025
"""Breadth, by a picture's height, of the dark line around each thing, and of the light one around that: they look like
stickers, and so a shape looks the same in every colour and on every ground."""

DARK, LIGHT = (0.06, 0.06, 0.07), (0.97, 0.97, 0.97)

ENTERING_S = 0.25
"""How long a thing grows when it comes in."""


def draw_picture(scene: Scene, at: float = 1.0, height: int = 120, width: int = 160) -> Pixels:
    """Return the picture of a scene after a share `at` of its time, (H, W, 3)."""
    planes = _planes_of_ground(scene, height, width)
    _draw_things(planes, scene, at)
    return _pixels(planes)


def _pixels(planes: Canvas) -> Pixels:
    pixels = np.empty((*planes.shape[1:], 3), np.uint8)
    pixels.transpose(2, 0, 1)[:] = planes * 255 + 0.5
    return pixels


def _planes_of_ground(scene: Scene, height: int, width: int) -> Canvas:
    """Return the ground of a scene, a plane a colour (3, H, W): NumPy is slow where rows of three are the innermost."""
    return np.ascontiguousarray(_draw_ground(scene, height, width).transpose(2, 0, 1))


def _draw_ground(scene: Scene, height: int, width: int) -> Canvas:
    """Return the ground of a scene, (H, W, 3)."""
    rng = np.random.default_rng(scene.texture)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    x, y = (x + 0.5) * np.float32(ASPECT / width), (y + 0.5) / np.float32(height)  # middles of the pixels
    fine = rng.random((height, width), np.float32) - 0.5
    coarse = _smooth_noise(rng, height, width, 6)
    shade = (0.9 + 0.15 * float(rng.random())) * (1 + 0.1 * coarse)
    canvas: Canvas
    match scene.ground:
        case "grass":
            blades = np.sin(90 * x + 6 * _smooth_noise(rng, height, width, 12)) * (fine > -0.2)
            canvas = _coloured((0.36, 0.66, 0.24), shade + 0.15 * blades + 0.25 * fine)
        case "sand":
            ripples = np.sin(40 * y + 5 * coarse + 8 * x)
            canvas = _coloured((0.90, 0.78, 0.50), shade + 0.05 * ripples + 0.12 * fine)
        case "snow":
            canvas = _coloured((0.90, 0.94, 1.0), 0.95 + 0.05 * coarse + 0.04 * fine)
        case "water":
            waves = np.sin(55 * y + 3 * np.sin(9 * x + 6 * float(rng.random())) + 4 * coarse)
            canvas = _coloured((0.25, 0.60, 0.85), shade + 0.12 * waves)
        case "night":
            sky = _coloured((0.07, 0.08, 0.22), shade + 0.3 * (1 - y))
            canvas = np.where(rng.random((height, width, 1)) > 0.994, np.float32(0.8), sky)
        case _:
            row = np.floor(y * 10)
            seam = (np.mod(y * 10, 1) < 0.14) | (np.mod(x * 5 + 0.5 * np.mod(row, 2), 1) < 0.07)
            mortar, brick = _coloured((0.80, 0.76, 0.70), shade), _coloured((0.62, 0.30, 0.24), shade + 0.15 * fine)
            canvas = np.where(seam[..., None], mortar, brick)
    return np.clip(canvas, 0, 1).astype(np.float32)


def _coloured(colour: tuple[float, float, float], shade: npt.NDArray[np.floating]) -> Canvas:
    return cast(Canvas, (np.asarray(colour, np.float32) * shade[..., None]).astype(np.float32))


def _smooth_noise(rng: np.random.Generator, height: int, width: int, cells: int) -> Canvas:
    """Noise from -1 to 1 that changes over a picture's 1 / `cells`, (H, W)."""
    corners = rng.uniform(-1, 1, (cells + 1, cells + 1)).astype(np.float32)
    down, right = (np.linspace(0, cells, n, endpoint=False, dtype=np.float32) for n in (height, width))
    i, j = down.astype(int), right.astype(int)
    v, u = (down - i)[:, None], (right - j)[None, :]
    upper = corners[np.ix_(i, j)] * (1 - u) + corners[np.ix_(i, j + 1)] * u
    lower = corners[np.ix_(i + 1, j)] * (1 - u) + corners[np.ix_(i + 1, j + 1)] * u
    return cast(Canvas, upper * (1 - v) + lower * v)


def _draw_things(planes: Canvas, scene: Scene, at: float, entering: float = 0.0) -> None:
    """Draw the things of a scene on a ground (3, H, W); `entering` is the share of time in which a new thing grows."""
    for thing in scene.things:
        if at < thing.enters - entering:
            continue
        growth = 1.0 if not entering or not thing.enters else min(1.0, (at - thing.enters + entering) / entering)
        window, layers = _sticker(thing, thing.place(at), growth, *planes.shape[1:])
        part = planes[window]
        for kept, added in layers:
            part[:] = part * kept + added


Layers = list[tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]]


@lru_cache(maxsize=8)  # a thing that does not move is the same in all pictures of a shot
def _sticker(
    thing: Thing, place: tuple[float, float], growth: float, height: int, width: int
) -> tuple[tuple[slice, ...], Layers]:
    """Return where a thing is in a picture, and how much of the picture each of its layers keeps (H, W) and adds."""
    x, y = place
    reach = 1.5 * thing.radius
    top, bottom = max(0, int((y - reach) * height)), max(0, min(height, int((y + reach) * height) + 2))
    left, right = max(0, int((x - reach) / ASPECT * width)), max(0, min(width, int((x + reach) / ASPECT * width) + 2))
    u, v = np.arange(left, right, dtype=np.float32), np.arange(top, bottom, dtype=np.float32)[:, None]
    radius = max(thing.radius * growth, 1e-3)
    across, down = ((u + 0.5) * (ASPECT / width) - x) / radius, ((v + 0.5) / height - y) / radius
    cos, sin = np.cos(thing.tilt), np.sin(thing.tilt)
    distance = _distance(thing.shape, cos * across + sin * down, cos * down - sin * across) * radius * height
    line = OUTLINE * height
    layers = []
    for colour, grown in ((LIGHT, 2 * line), (DARK, line), (COLOUR_VALUES[thing.colour], 0.0)):
        inside = np.clip(0.5 + grown - distance, 0, 1)
        layers.append((1 - inside, inside * np.asarray(colour, np.float32)[:, None, None]))
    return np.s_[:, top:bottom, left:right], layers


def _distance(shape: str, u: Canvas, v: Canvas) -> Canvas:
    """How far points (u, v) lie outside a shape of radius 1 around 0; below 0 inside. v points down."""
    round_ = np.hypot(u, v)
    wide, high = np.abs(u), np.abs(v)
    distance: npt.NDArray[np.floating]
    match shape:
        case "circle":
            distance = round_ - 0.95
        case "ring":
            distance = np.abs(round_ - 0.72) - 0.23
        case "square":
            distance = np.maximum(wide, high) - 0.82
        case "diamond":
            distance = (1.35 * wide + 0.95 * high - 1) / 1.65
        case "triangle":
            distance = np.maximum(v - 0.6, 0.866 * wide - 0.5 * v - 0.55)
        case "cross":
            distance = np.maximum(np.maximum(wide, high) - 0.95, np.minimum(wide, high) - 0.30)
        case "star":
            angle = np.mod(np.arctan2(u, -v) + np.pi / 5, 2 * np.pi / 5) - np.pi / 5
            along, off = round_ * np.cos(angle), round_ * np.abs(np.sin(angle))
            tip, notch = (1.05, 0.0), (0.45 * np.cos(np.pi / 5), 0.45 * np.sin(np.pi / 5))
            normal = np.array((notch[1], tip[0] - notch[0])) / np.hypot(notch[1], tip[0] - notch[0])
            distance = (along - tip[0]) * normal[0] + off * normal[1]
        case _:
            lobes = np.hypot(wide - 0.45, v + 0.32) - 0.52
            point = np.maximum((wide + v - 0.9) / np.sqrt(2), -0.32 - v)
            distance = np.minimum(lobes, np.maximum(point, wide - 0.97))
    return cast(Canvas, distance)


# ---- Videos


@dataclass(frozen=True)
class Shot:
    """A part of a video without a cut; `event` is the number of its sentence, None for a distractor."""

    scene: Scene
    n_frames: int
    event: int | None = None

    @property
    def first_frame(self) -> int:
        """The first frame in which all its things are visible."""
        return round(max(thing.enters for thing in self.scene.things) * self.n_frames)


@dataclass(frozen=True)
class SceneVideo:
    """The content of a video before it is rendered: shots in order, and the description and sentence of each event."""

    shots: tuple[Shot, ...]
    descriptions: tuple[Description, ...]
    sentences: tuple[str, ...]
    fps: int

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return sum(shot.n_frames for shot in self.shots)

    def annotations(self, video_id: str) -> Annotations:
        """Return a row for each moment, in seconds: an event that is shown twice has two."""
        rows = []
        duration_s = self.n_frames / self.fps
        for event, sentence in enumerate(self.sentences):
            shot_start = 0
            for shot in self.shots:
                if shot.event == event:
                    start_s = (shot_start + shot.first_frame) / self.fps
                    end_s = (shot_start + shot.n_frames) / self.fps
                    rows.append((f"{video_id}#{event}", video_id, duration_s, sentence, start_s, end_s))
                shot_start += shot.n_frames
        return Annotations.from_rows(rows, dataset="scenes")


def plan_video(
    rng: np.random.Generator, minutes: float = 5.0, *, fps: int = 12, n_events: int | None = None
) -> SceneVideo:
    """Draw the content of a video: shots of 4 to 9 s, about a third of them events.

    Each sentence is true of its own moments and of no other. A quarter of the events are shown twice, drawn anew; half
    of the distractors differ from an event in one respect. By default there is a sentence for about every four shots.
    """
    if not 0.1 <= minutes <= 600:
        raise UsageError(f"got a video of {minutes:g} minutes, expected 0.1 to 600")
    if not 1 <= fps <= 60:
        raise UsageError(f"got {fps} frames a second, expected 1 to 60")
    lengths = _shot_lengths(rng, round(minutes * 60 * fps), fps)
    n_events = max(1, len(lengths) // 4) if n_events is None else n_events
    if not 1 <= n_events <= min(len(lengths), 200):
        raise UsageError(f"got {n_events} events, expected 1 to {min(len(lengths), 200)} in {len(lengths)} shots")
    events = _draw_events(rng, n_events)
    descriptions = tuple(description for _, description in events)
    twice = rng.permutation(n_events)[: min(n_events // 4, len(lengths) - n_events)]
    shown: list[tuple[Scene, int | None]] = [(scene, event) for event, (scene, _) in enumerate(events)]
    shown += [(_shown_anew(rng, events[event][0], event, descriptions), event) for event in twice.tolist()]
    scenes = [scene for scene, _ in events]
    shown += [(_distractor(rng, scenes, descriptions), None) for _ in range(len(lengths) - len(shown))]
    order = rng.permutation(len(shown)).tolist()
    shots = []
    for n_frames, (scene, event) in zip(lengths, (shown[at] for at in order), strict=True):
        comes_in = event is not None and rng.random() < 0.4
        shots.append(Shot(_entering(rng, scene, n_frames) if comes_in else scene, n_frames, event))
    sentences = [
        in_words(rng, description, verbs=MOVING if _subject_of(scene, description).moves else STILL, plain=True)
        for scene, description in events
    ]
    return SceneVideo(tuple(shots), descriptions, tuple(sentences), fps)


def _shot_lengths(rng: np.random.Generator, n_frames: int, fps: int) -> list[int]:
    """Cut a number of frames into shots of 4 to 9 s; a short video is one shot."""
    lengths: list[int] = []
    while (remaining := n_frames - sum(lengths)) > 0:
        drawn = int(rng.integers(4 * fps, 9 * fps + 1))
        lengths.append(remaining if remaining - drawn < 4 * fps else drawn)
    return lengths


def _draw_events(rng: np.random.Generator, n_events: int) -> list[tuple[Scene, Description]]:
    """Draw scenes, each with a sentence that is true of no other."""
    events: list[tuple[Scene, Description]] = []
    while len(events) < n_events:
        nouns = [Noun(None, None)] * (1 if rng.random() < 0.2 else 2)
        scene = draw_scene(rng, nouns)
        description = describe(rng, scene, fully=True)
        old_true = truth(codes_of([old for old, _ in events]), [description]).any()
        new_true = truth(codes_of([scene]), [description for _, description in events]).any()
        if not old_true and not new_true:
            events.append((scene, description))
    return events


def _subject_of(scene: Scene, description: Description) -> Thing:
    """Return the thing that a sentence is about."""
    named = description.subject
    return next(thing for thing in scene.things if named and (thing.shape, thing.colour) == (named.shape, named.colour))


def _shown_anew(rng: np.random.Generator, scene: Scene, event: int, descriptions: Sequence[Description]) -> Scene:
    """Draw another scene that the same sentence describes, and no other sentence."""
    moves = _subject_of(scene, descriptions[event]).moves
    expected = np.arange(len(descriptions)) == event
    while True:
        anew = draw_scene(rng, [Noun(thing.shape, thing.colour, thing.large) for thing in scene.things], scene.ground)
        is_as_expected = np.array_equal(truth(codes_of([anew]), descriptions)[0], expected)
        if is_as_expected and _subject_of(anew, descriptions[event]).moves == moves:
            return anew


def _distractor(rng: np.random.Generator, scenes: Sequence[Scene], descriptions: Sequence[Description]) -> Scene:
    """Draw a scene that no sentence describes; half of them are nearly an event's."""
    while True:
        near = rng.random() < 0.5
        scene = swapped(rng, scenes[int(rng.integers(len(scenes)))]) if near else draw_scene(rng)
        if not truth(codes_of([scene]), descriptions).any():
            return scene


def _entering(rng: np.random.Generator, scene: Scene, n_frames: int) -> Scene:
    """Let the last of several things come in during the shot, at a whole frame."""
    if len(scene.things) < 2:
        return scene
    late = replace(scene.things[-1], enters=int(rng.uniform(0.3, 0.5) * n_frames) / n_frames)
    return replace(scene, things=(*scene.things[:-1], late))


def render_video(
    path: Path,
    rng: np.random.Generator,
    minutes: float = 5.0,
    *,
    fps: int = 12,
    height: int = 120,
    width: int = 160,
    n_events: int | None = None,
) -> Annotations:
    """Write a video of rendered scenes (:func:`plan_video`) as MP4, and return its annotations, a row per moment.

    The name of the file without the suffix is the video id, and queries are ``VIDEO#0``, ``VIDEO#1`` ... `height` and
    `width` are even numbers of pixels.

    Examples
    --------
    >>> video = plan_video(np.random.default_rng(0), minutes=1)
    >>> video.sentences[1]
    'a white ring stays below a purple heart on water'
    """
    try:
        import av  # noqa: PLC0415 - only videos need it
    except ModuleNotFoundError:
        raise MissingPackageError("av", "search", "rendering a video") from None
    if height % 2 or width % 2 or not 16 <= height <= 2160 or not 16 <= width <= 4096:
        raise UsageError(f"got pictures of {width} x {height}, expected even numbers from 16 to 4096 x 2160")
    video = plan_video(rng, minutes, fps=fps, n_events=n_events)
    with atomic_write(path) as stream:
        try:
            with av.open(stream, "w", format="mp4") as container:
                encoded = container.add_stream("libx264", rate=fps)
                encoded.height, encoded.width, encoded.pix_fmt = height, width, "yuv420p"
                encoded.codec_context.options = {"preset": "veryfast", "crf": "20", "bf": "0"}
                encoded.codec_context.thread_count = 1  # with more, the bytes depend on how many cores there are
                for number, pixels in enumerate(video_frames(video, height, width)):
                    frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
                    frame.pts, frame.time_base = number, Fraction(1, fps)
                    container.mux(encoded.encode(frame))
                container.mux(encoded.encode())
        except av.FFmpegError as error:
            raise InputError(f"cannot be written as a video ({error})", path=path) from None
    return video.annotations(path.stem)


PAN = 1 / 8
"""How much of a picture's width its ground slides by during a shot, for a camera is never quite still."""


def video_frames(video: SceneVideo, height: int, width: int) -> Iterator[Pixels]:
    """Yield all frames of a video, (H, W, 3) each."""
    for shot in video.shots:
        slide = int(width * PAN)
        ground = _planes_of_ground(shot.scene, height, width + slide)
        leftwards = shot.scene.texture % 2
        for number in range(shot.n_frames):
            at = number / shot.n_frames
            left = round(slide * (1 - at if leftwards else at))
            planes = ground[:, :, left : left + width] * np.float32(1 + 0.02 * np.sin(number / 3))
            _draw_things(planes, shot.scene, at, ENTERING_S * video.fps / shot.n_frames)
            yield _pixels(np.clip(planes, 0, 1))
