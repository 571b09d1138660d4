"""Simulated perception for Charades: frame features of a simulated action detector of a given quality.

A video's features are the scores of the detector: a row each second, a number for each of the 157 action classes,
simulated from the annotated action intervals (column ``actions`` of ``Charades_v1_*.csv``). Reference moments *are*
such intervals: 16,124 of the 16,128 moments of Charades-CD (97.5 to 98.5 % after overlapping intervals of one class are
joined). So these features test grounding machinery and the use of shortcuts, not perception (:data:`CAUTION`); compare
with the rules of :mod:`truemoment.worlds.interval_rules`.

A detector is four settings (:class:`Detector`), all functions of one dial q from 0 (noise) to 1 (oracle)::

    detection rate              q           each interval is found with this probability
    false positives a minute    12 (1 - q)  Poisson, anywhere in the video; classes and lengths as in training videos
    jitter, seconds             4 (1 - q)   standard deviation of the normal error of each end
    noise                       0.5 (1 - q) standard deviation of the normal error of each number

    score(row, class) = share of the row that found intervals of the class cover + noise.

The quality is *measured*: the mean over classes of the average precision over all rows of the training videos (frame
mAP, Sigurdsson et al. 2016, section 6; :func:`frame_map`). :data:`CALIBRATION` gives the dial of a frame mAP. The draws
of a video depend only on the seed and its id.
"""

from __future__ import annotations

import copy
import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from truemoment.base.boundary.files import DATA_BYTES, read_number, read_text
from truemoment.base.boundary.tables import read_csv
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.data.datasets.base import required_file
from truemoment.media.features.base import SIMULATED
from truemoment.worlds.features import Frames, coverage, frames_of

CAUTION = (
    "Simulated perception: these features are made from the action annotations of Charades, and the moments of "
    "Charades-STA and Charades-CD are such annotations (16,124 of the 16,128 moments of Charades-CD). A result with "
    "these features shows how a method grounds what it is given and whether it takes shortcuts. It shows nothing about "
    "perception, and is not comparable with results on features of real videos."
)
"""What every result made with these features must say."""

WITH_ACTIONS = ("charades-sta", "charades-cd")
"""Datasets whose features are simulated from annotated actions."""

FPS = 1.0
"""Rows per second."""

# Dials, rising from 0 to 1, and the frame mAP of each.
Calibration = tuple[tuple[float, float], ...]

CALIBRATION: Calibration = (
    (0, 0.0169),
    (0.05, 0.0194),
    (0.1, 0.0233),
    (0.15, 0.0297),
    (0.2, 0.039),
    (0.25, 0.0523),
    (0.3, 0.0707),
    (0.35, 0.0956),
    (0.4, 0.1278),
    (0.45, 0.1687),
    (0.5, 0.2164),
    (0.55, 0.2718),
    (0.6, 0.3298),
    (0.65, 0.3923),
    (0.7, 0.4602),
    (0.75, 0.5362),
    (0.8, 0.619),
    (0.85, 0.7132),
    (0.9, 0.8113),
    (0.95, 0.9059),
    (1, 1.0),
)
"""Dial and frame mAP on the training videos of Charades: ``calibrate(folder, dials, seed=0)``, to four decimals."""

LONGEST_VIDEO_S = 3600.0
"""A longer video than this is a fault of the file; the longest of Charades has 194 s."""

ACTIVE_SHARE = 0.5
"""A row is a positive of a class whose annotated intervals cover at least this share of it."""

WITHIN_S = 0.15
"""A moment of Charades is an action interval if both ends differ by this at most."""

_INTERVAL = re.compile(r"c(?P<klass>\d{3}) (?P<start>\S+) (?P<end>\S+)")


@dataclass(frozen=True)
class Detector:
    """Errors of a simulated detector.

    Parameters
    ----------
    detection_rate
        Probability that an annotated interval is found.
    false_positives_per_minute
        Mean number of intervals that are not there, a minute of video.
    jitter_s
        Standard deviation of the error of each end of what is found, seconds.
    noise
        Standard deviation of the error of each score; a row that is covered whole scores 1.
    """

    detection_rate: float
    false_positives_per_minute: float
    jitter_s: float
    noise: float

    @classmethod
    def at(cls, dial: float) -> Detector:
        """Return the detector at a dial from 0 (noise) to 1 (oracle).

        Examples
        --------
        >>> Detector.at(1.0)
        Detector(detection_rate=1.0, false_positives_per_minute=0.0, jitter_s=0.0, noise=0.0)
        >>> Detector.at(0.5)
        Detector(detection_rate=0.5, false_positives_per_minute=6.0, jitter_s=2.0, noise=0.25)
        """
        return cls(dial, _MOST_FALSE_PER_MINUTE * (1 - dial), 4.0 * (1 - dial), 0.5 * (1 - dial))


_MOST_FALSE_PER_MINUTE = 12.0


@dataclass(frozen=True, eq=False)
class AnnotatedActions:
    """The annotated intervals of one video.

    Intervals of one class do not overlap: overlapping ones are joined. An interval that does not end after its start (7
    of 66,500 in Charades) is left out.
    """

    duration_s: float
    klass: Ints
    start_s: Floats
    end_s: Floats


@dataclass(frozen=True, eq=False)
class Habits:
    """Distribution of false positives: sorted classes, and sorted lengths, of the intervals of the training videos."""

    klass: Ints
    length_s: Floats


class Perception:
    """Scores of a simulated detector, a :class:`~truemoment.media.features.base.FeatureStore` that computes on demand.

    Row i covers the time from ``i / fps`` to ``(i + 1) / fps``; the last one ends with the video.

    Parameters
    ----------
    actions
        Annotated intervals by video id.
    habits
        What false positives are drawn from.
    n_classes
        Dimensions of a row.
    """

    fps = FPS
    caution = CAUTION
    calibration: ClassVar[Calibration] = CALIBRATION
    origin: ClassVar[str] = "Charades"
    interval_title: ClassVar[str] = "action interval"
    within_s: ClassVar[float] = WITHIN_S

    def __init__(
        self,
        actions: Mapping[str, AnnotatedActions],
        habits: Habits,
        detector: Detector,
        *,
        n_classes: int,
        seed: int,
        name: str = "perception",
    ) -> None:
        self.actions = MappingProxyType(dict(actions))
        self.habits = habits
        self.detector = detector
        self.n_dimensions = n_classes
        self.seed = seed
        self.name = name

    def __contains__(self, video_id: object) -> bool:
        return video_id in self.actions

    def __iter__(self) -> Iterator[str]:
        return iter(self.actions)

    def __len__(self) -> int:
        return len(self.actions)

    def __getitem__(self, video_id: str) -> Frames:
        """Return the scores of a video, (T, classes)."""
        actions, rng = self._perceived(video_id)
        scores = row_coverage(actions, self.n_dimensions)
        noise = rng.standard_normal(scores.shape, dtype=np.float32)
        scores += np.float32(self.detector.noise) * noise
        scores.flags.writeable = False
        return scores

    def intervals(self, video_id: str) -> AnnotatedActions:
        """Return the intervals that the detector finds in a video; they can reach beyond its start or end."""
        return self._perceived(video_id)[0]

    def _perceived(self, video_id: str) -> tuple[AnnotatedActions, np.random.Generator]:
        actions = self._actions_of(video_id)
        seeds = np.random.SeedSequence([self.seed, *_words(video_id)]).spawn(2)
        of_hits, rng = map(np.random.default_rng, seeds)  # two: noise does not depend on the number of actions
        return _detected(actions, self.habits, self.detector, of_hits, rng), rng

    def at(self, quality: float, *, seed: int) -> Self:
        """Return the detections of another quality in the same videos; its frame mAP is not measured."""
        if seed < 0:
            raise UsageError(f"perception: got seed {seed}, expected 0 or above")
        perception = copy.copy(self)
        perception.detector = Detector.at(dial_of(quality, self.calibration))
        perception.seed = seed
        perception.name = f"{SIMULATED}{quality:g}, seed={seed}"
        return perception

    def edges_s(self, video_id: str, duration_s: float) -> Floats:  # noqa: ARG002 - Charades itself has the duration
        """Return the edges of the rows of a video in seconds, (T + 1,); `duration_s` is not used."""
        return row_edges_s(self._actions_of(video_id).duration_s)

    def _actions_of(self, video_id: str) -> AnnotatedActions:
        try:
            return self.actions[video_id]
        except KeyError:
            raise InputError(f"{self.origin} has no video {video_id!r} to perceive", field="features") from None


def perception_features(folder: Path, *, quality: float, seed: int) -> Perception:
    """Simulate a detector whose frame mAP is `quality`, for all training and test videos of Charades.

    Parameters
    ----------
    folder
        Folder of Charades-STA with ``Charades_v1_train.csv``, ``Charades_v1_test.csv`` and ``Charades_v1_classes.txt``.
    quality
        Frame mAP on the training videos, from that of noise to 1; 0 for noise.

    Returns
    -------
    Perception
        Its `name` states the requested and the measured quality.
    """
    dial = dial_of(quality)
    if seed < 0:
        raise UsageError(f"perception: got seed {seed}, expected 0 or above")
    n_classes, train, test = _read(folder)
    perception = Perception({**train, **test}, _habits(train), Detector.at(dial), n_classes=n_classes, seed=seed)
    reached = frame_map(perception, train)
    figure = "undefined" if math.isnan(reached) else f"{reached:.3f}"
    perception.name = f"{SIMULATED}{quality:g} (frame mAP {figure} on {len(train):,} videos), seed={seed}"
    return perception


def perfect_perception(folder: Path) -> Perception:
    """Return features without errors: the detector finds the annotated intervals of every video."""
    n_classes, train, test = _read(folder)
    actions = {**train, **test}
    return Perception(actions, _habits(train), Detector.at(1.0), n_classes=n_classes, seed=0, name=f"{SIMULATED}1")


def dial_of(quality: float, calibration: Calibration = CALIBRATION) -> float:
    """Return the dial whose frame mAP on the training videos is `quality`, by interpolation.

    `calibration` is that of Charades by default.

    Examples
    --------
    >>> dial_of(0.0), dial_of(1.0)
    (0.0, 1.0)
    """
    dials, reached = zip(*calibration, strict=True)
    floor = reached[0]
    if not (quality == 0 or floor <= quality <= 1):
        raise UsageError(
            f"perception: got quality {quality:g}, expected a frame mAP from {floor:.3f} (what noise reaches) to 1, or "
            "0 for noise"
        )
    return float(np.interp(quality, reached, dials))


def calibrate(folder: Path, dials: Floats, *, seed: int) -> Floats:
    """Return the frame mAP on the training videos at each dial (D,); :data:`CALIBRATION` was made so."""
    n_classes, train, _ = _read(folder)
    habits = _habits(train)
    makers = (Perception(train, habits, Detector.at(dial), n_classes=n_classes, seed=seed) for dial in dials.tolist())
    return np.array([frame_map(features, train) for features in makers])


# -------------------------------------------------------------------------------------------- files


def read_actions(path: Path, n_classes: int) -> dict[str, AnnotatedActions]:
    """Return the intervals of a Charades list by video: columns ``id``, ``length``, ``actions``."""
    actions: dict[str, AnnotatedActions] = {}
    for line, record in read_csv(path, ("id", "length", "actions")):
        video_id = record["id"] or ""
        if not video_id or video_id in actions:
            raise InputError(f"got {video_id!r}, expected each id once", path=path, line=line, field="id")
        duration_s = read_number(record["length"])
        if not 0 < duration_s <= LONGEST_VIDEO_S:
            raise InputError(
                f"got {record['length']!r}, expected seconds above 0 and at most {LONGEST_VIDEO_S:g}",
                path=path,
                line=line,
                field="length",
            )
        intervals = []
        for text in filter(None, map(str.strip, (record["actions"] or "").split(";"))):
            interval = _read_interval(text, n_classes)
            if interval is None:
                raise InputError(
                    f"got {text[:60]!r}, expected 'cNNN START END' with a class below {n_classes} and seconds",
                    path=path,
                    line=line,
                    field="actions",
                )
            intervals.append(interval)
        actions[video_id] = join_intervals(duration_s, intervals)
    return actions


def read_classes(path: Path) -> tuple[str, ...]:
    """Return the names of the classes: ``c000 Holding some clothes`` and so on, numbered from 0."""
    names: list[str] = []
    for number, line in enumerate(read_text(path, most=DATA_BYTES).splitlines(), start=1):
        if not line.strip():
            continue
        label, _, name = line.partition(" ")
        if label != f"c{len(names):03d}" or not name.strip():
            raise InputError(f"got {line[:60]!r}, expected 'c{len(names):03d} NAME'", path=path, line=number)
        names.append(name.strip())
    if not names:
        raise InputError("is empty, expected a class a line", path=path)
    return tuple(names)


def class_names(folder: Path) -> tuple[str, ...]:
    """Return the names of the classes in the folder of Charades-STA."""
    return read_classes(required_file(folder, "Charades_v1_classes.txt", dataset="charades-sta"))


def _read(folder: Path) -> tuple[int, dict[str, AnnotatedActions], dict[str, AnnotatedActions]]:
    """Read how many classes there are, and the intervals of the training and of the test videos."""
    n_classes = len(class_names(folder))
    paths = [required_file(folder, f"Charades_v1_{part}.csv", dataset="charades-sta") for part in ("train", "test")]
    train, test = (read_actions(path, n_classes) for path in paths)
    both = sorted(train.keys() & test.keys())
    if both:
        raise InputError(f"has video {both[0]!r}, which is a training video too", path=paths[1], field="id")
    return n_classes, train, test


def _read_interval(text: str, n_classes: int) -> tuple[int, float, float] | None:
    """Class, start and end in seconds; None where the text is no interval."""
    parts = _INTERVAL.fullmatch(text)
    if parts is None:
        return None
    klass, start_s, end_s = int(parts["klass"]), read_number(parts["start"]), read_number(parts["end"])
    return (klass, start_s, end_s) if klass < n_classes and start_s >= 0 and end_s >= 0 else None  # NaN is neither


def join_intervals(duration_s: float, intervals: Iterable[tuple[int, float, float]]) -> AnnotatedActions:
    """Join overlapping and adjacent intervals (class, start, end in seconds) of one class of a video."""
    joined: list[tuple[int, float, float]] = []
    for klass, start_s, end_s in sorted(intervals):
        if not end_s > start_s:
            continue
        if joined and joined[-1][0] == klass and start_s <= joined[-1][2]:
            joined[-1] = (klass, joined[-1][1], max(end_s, joined[-1][2]))
        else:
            joined.append((klass, start_s, end_s))
    table = np.array(joined, dtype=np.float64).reshape(-1, 3)
    return AnnotatedActions(duration_s, table[:, 0].astype(np.int64), table[:, 1], table[:, 2])


# ---------------------------------------------------------------------------------------- simulation


def _words(video_id: str) -> list[int]:
    """A hash of an id, as numbers that seed a generator."""
    digest = hashlib.sha256(video_id.encode()).digest()
    return [int.from_bytes(digest[at : at + 4], "little") for at in range(0, 16, 4)]


def _habits(actions: Mapping[str, AnnotatedActions]) -> Habits:
    annotated = list(actions.values())
    nothing = [np.zeros(0)]
    klass = np.concatenate([video.klass for video in annotated] or nothing).astype(np.int64)
    length_s = np.concatenate([video.end_s - video.start_s for video in annotated] or nothing)
    return Habits(np.sort(klass), np.sort(length_s))  # sorted: the order of the file does not count


def _detected(
    actions: AnnotatedActions,
    habits: Habits,
    detector: Detector,
    of_hits: np.random.Generator,
    rng: np.random.Generator,
) -> AnnotatedActions:
    """Draw the detections of a detector; the draws are the same for every detector, and so is their number."""
    n_actions, n_habits = len(actions.klass), len(habits.klass)
    chance = of_hits.random(n_actions)
    errors = of_hits.standard_normal((2, n_actions))
    n_false = int(rng.poisson(_MOST_FALSE_PER_MINUTE * actions.duration_s / 60)) if n_habits else 0
    drawn = rng.integers(max(n_habits, 1), size=(2, n_false))
    middle_s = actions.duration_s * rng.random(n_false)
    false_chance = rng.random(n_false)

    hit = chance < detector.detection_rate
    start_s, end_s = np.sort(np.stack([actions.start_s, actions.end_s])[:, hit] + detector.jitter_s * errors[:, hit], 0)
    false = false_chance < detector.false_positives_per_minute / _MOST_FALSE_PER_MINUTE
    half_s = habits.length_s[drawn[1, false]] / 2
    return AnnotatedActions(
        actions.duration_s,
        np.concatenate([actions.klass[hit], habits.klass[drawn[0, false]]]),
        np.concatenate([start_s, middle_s[false] - half_s]),
        np.concatenate([end_s, middle_s[false] + half_s]),
    )


def row_edges_s(duration_s: float) -> Floats:
    """Return the edges of the rows of a video in seconds, (T + 1,)."""
    edges = np.arange(_n_rows(duration_s) + 1) / FPS
    edges[-1] = duration_s
    return np.asarray(edges)


def row_coverage(actions: AnnotatedActions, n_classes: int) -> Frames:
    """Return the share of each row that intervals of each class cover, (T, classes), float32."""
    n_rows = _n_rows(actions.duration_s)
    covered = coverage(actions.start_s, np.minimum(actions.end_s, actions.duration_s), n_rows, FPS)
    covered[:, -1] /= actions.duration_s * FPS - (n_rows - 1)
    by_class = np.zeros((n_classes, n_rows), dtype=np.float32)
    np.add.at(by_class, actions.klass, covered.astype(np.float32))
    return np.ascontiguousarray(np.minimum(by_class, 1).T)


def _n_rows(duration_s: float) -> int:
    return int(frames_of(np.array([duration_s]), FPS)[0])


# ------------------------------------------------------------------------------------------- quality


def frame_map(features: Perception, actions: Mapping[str, AnnotatedActions]) -> float:
    """Return the frame mAP: the mean of :func:`average_precision` over classes with a positive row, or NaN."""
    if not actions:
        return math.nan
    active = np.concatenate(
        [row_coverage(video, features.n_dimensions).T >= ACTIVE_SHARE for video in actions.values()], axis=1
    )
    scores = np.empty(active.shape, dtype=np.float32)
    filled = 0
    for video_id in actions:
        rows = features[video_id]
        scores[:, filled : filled + len(rows)] = rows.T
        filled += len(rows)
    precisions = [average_precision(scores[k], active[k]) for k in range(len(scores)) if active[k].any()]
    return float(np.mean(precisions)) if precisions else math.nan


def average_precision(scores: npt.NDArray[np.float32], active: Bools) -> float:
    r"""Return the mean over the positives P of the precision among all rows that score as high or higher.

    .. math:: AP = \frac{1}{|P|} \sum_{i \in P} \frac{|\{j \in P : s_j \ge s_i\}|}{|\{j : s_j \ge s_i\}|}
    """
    ranked, positive = np.sort(scores), np.sort(scores[active])
    above = len(ranked) - np.searchsorted(ranked, positive, side="left")
    hits = len(positive) - np.searchsorted(positive, positive, side="left")
    return float(np.mean(hits / above))
