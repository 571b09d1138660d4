"""The script of a simulated film: its scenes, and its lines with speaker and time.

The narrator describes each event of the picture (:func:`truemoment.worlds.scenes.plan_video`) as its moment begins.
Actors speak in the gaps. No sentence is spoken twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from truemoment.base.errors import UsageError
from truemoment.worlds.described.dialogue import draw_sentence
from truemoment.worlds.described.voices import NARRATOR, SpokenWord, Voices, words_at
from truemoment.worlds.scenes import SceneVideo, plan_video

Kind = Literal["description", "dialogue", "song"]
Span = tuple[float, float]

PART_MINUTES = 20.0
"""A longer film is planned in parts, whose events can be distinguished only within a part."""

EVENTS_A_MINUTE = 4.0

SCENE_S = (30.0, 110.0)
PAUSE_S = (0.15, 2.5)
NEAR_S, FAR_S = (0.02, 0.2), (0.4, 1.5)
"""Pause between dialogue and description where it is tight, and elsewhere."""

TIGHT, SILENT, SUNG = 0.15, 0.2, 0.03
"""Share of tight pauses, of gaps without dialogue, and of songs among the lines."""


@dataclass(frozen=True)
class Line:
    """A sentence that is spoken.

    Parameters
    ----------
    kind
        ``description`` (the narrator's, not in the film's own sound), ``dialogue`` or ``song``.
    text
        As written: a large first letter and a full stop.
    voice
        0 is the narrator.
    start_s, end_s
        Start of the first word and end of the last, film seconds.
    scene
        Number of the scene that it lies in.
    words
        Each word as spoken, film seconds.
    """

    kind: Kind
    text: str
    voice: int
    start_s: float
    end_s: float
    scene: int
    words: tuple[SpokenWord, ...] = ()


@dataclass(frozen=True)
class Script:
    """A film before it is made.

    Parameters
    ----------
    duration_s
        Its duration.
    videos
        What is shown, in parts that follow each other.
    scenes
        Start and end of each scene, which has a sound of its own; a scene has many shots.
    lines
        What is spoken, by start.
    """

    duration_s: float
    videos: tuple[SceneVideo, ...]
    scenes: tuple[Span, ...]
    lines: tuple[Line, ...]


def write_script(rng: np.random.Generator, minutes: float, voices: Voices, *, fps: int = 5) -> Script:
    """Draw the script of a film.

    Raises
    ------
    UsageError
        If the film is shorter than 1 minute or longer than 600.
    """
    if not 1 <= minutes <= 600:
        raise UsageError(f"got a described film of {minutes:g} minutes, expected 1 to 600")
    n_parts = int(np.ceil(minutes / PART_MINUTES))
    part = minutes / n_parts
    n_events = max(1, round(EVENTS_A_MINUTE * part))
    videos = tuple(plan_video(rng, part, fps=fps, n_events=n_events) for _ in range(n_parts))
    duration_s = sum(video.n_frames / video.fps for video in videos)
    scenes = _draw_scenes(rng, duration_s)
    stage = _Staging(voices, scenes)
    described = _narration(rng, videos, duration_s, stage)
    spoken = _dialogue(rng, described, duration_s, stage)
    return Script(duration_s, videos, scenes, tuple(sorted([*described, *spoken], key=lambda line: line.start_s)))


def _draw_scenes(rng: np.random.Generator, duration_s: float) -> tuple[Span, ...]:
    """Cut a film into scenes; a short rest belongs to the last one."""
    edges = [0.0]
    while duration_s - edges[-1] > SCENE_S[1]:
        edges.append(edges[-1] + float(rng.uniform(*SCENE_S)))
    return tuple(pairwise([*edges, duration_s]))


def scene_at(scenes: Sequence[Span], time_s: float) -> int:
    """Return the number of the scene at a time."""
    return next((number for number, (_, end) in enumerate(scenes) if time_s < end), len(scenes) - 1)


def _moments(videos: Sequence[SceneVideo]) -> Iterator[tuple[float, float, str]]:
    """Yield the first moment of each event of a film, in order: start and end in seconds, and its sentence."""
    part_s = 0.0
    for video in videos:
        done: set[int] = set()
        shot_start = 0
        for shot in video.shots:
            if shot.event is not None and shot.event not in done:
                done.add(shot.event)
                start, end = shot_start + shot.first_frame, shot_start + shot.n_frames
                yield part_s + start / video.fps, part_s + end / video.fps, video.sentences[shot.event]
            shot_start += shot.n_frames
        part_s += video.n_frames / video.fps


SCRIPT_HZ = 16_000
"""Sampling rate at which sentences are spoken to learn how long they last."""


@dataclass(frozen=True)
class _Staging:
    """Where lines are spoken: the voices and the scenes of a film."""

    voices: Voices
    scenes: tuple[Span, ...]

    def line(self, kind: Kind, text: str, voice: int, start_s: float) -> Line:
        """Return a line that starts at a time."""
        words = words_at(self.voices.say(text, voice, SCRIPT_HZ).words, start_s)
        return Line(kind, text, voice, words[0].start_s, words[-1].end_s, scene_at(self.scenes, start_s), words)


def _narration(
    rng: np.random.Generator, videos: Sequence[SceneVideo], duration_s: float, stage: _Staging
) -> list[Line]:
    """Describe each event as it is shown; one that would be described after its moment is left out."""
    lines: list[Line] = []
    used: set[str] = set()
    free_s = 0.5
    for start_s, end_s, sentence in _moments(videos):
        text = f"{sentence[0].upper()}{sentence[1:]}."
        at = max(start_s + float(rng.uniform(0, 0.4)), free_s)
        if text in used or at >= end_s - 1:
            continue
        line = stage.line("description", text, NARRATOR, at)
        if line.end_s < duration_s - 0.5:
            lines.append(line)
            used.add(text)
            free_s = line.end_s + float(rng.uniform(PAUSE_S[0], 1.0))
    return lines


def _dialogue(rng: np.random.Generator, described: Sequence[Line], duration_s: float, stage: _Staging) -> list[Line]:
    """Fill the gaps between the narrator's sentences with lines of actors."""
    edges = [0.3, *(edge for line in described for edge in (line.start_s, line.end_s)), duration_s - 0.3]
    lines: list[Line] = []
    used: set[str] = set()
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        tight = rng.random(2) < TIGHT
        before, after = (float(rng.uniform(*(NEAR_S if near else FAR_S))) for near in tight)
        room = high - after - (low + before)
        block = [] if rng.random() < SILENT else _conversation(rng, stage, low + before, room, used)
        if not block:
            continue
        slack = room - (block[-1].end_s - block[0].start_s)
        shift = 0.0 if tight[0] else slack if tight[1] else float(rng.uniform(0, slack))
        lines += [stage.line(line.kind, line.text, line.voice, line.start_s + shift) for line in block]
    return lines


def _conversation(
    rng: np.random.Generator, stage: _Staging, start_s: float, room_s: float, used: set[str]
) -> list[Line]:
    """Return lines from a time on that fit into the room, between two voices of the scene."""
    cast = 1 + np.random.default_rng(scene_at(stage.scenes, start_s)).permutation(stage.voices.n_voices - 1)[:2]
    lines: list[Line] = []
    at = start_s
    while True:
        text = draw_sentence(rng)
        if text in used:
            continue
        kind: Kind = "song" if rng.random() < SUNG else "dialogue"
        line = stage.line(kind, text, int(cast[len(lines) % 2]), at)
        if line.end_s - start_s > room_s:
            return lines
        lines.append(line)
        used.add(text)
        at = line.end_s + float(rng.uniform(*PAUSE_S))
