"""Scenes of shapes, and sentences that describe them.

A scene has one or two things (a shape, a colour, small or large, a place) on a ground. A sentence names a thing, or two
and their relation, and perhaps the ground. :func:`truth` computes from numbers whether a sentence is true of a scene.

Coordinates: x from 0 at the left to :data:`ASPECT` at the right, y from 0 at the top to 1 at the bottom.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from truemoment.base.intervals import Bools

Codes = npt.NDArray[np.int8]

ASPECT = 4 / 3

SHAPES = ("circle", "square", "triangle", "star", "cross", "ring", "diamond", "heart")
COLOURS = ("red", "orange", "yellow", "green", "blue", "purple", "white", "black")
GROUNDS = ("grass", "sand", "snow", "water", "night", "bricks")
HIDDEN_ON = {"grass": "green", "sand": "yellow", "snow": "white", "water": "blue", "night": "black", "bricks": "red"}
"""The colour that is hard to see on a ground: no thing on it has it."""

RELATIONS = ("above", "below", "left", "right")
WITH = len(RELATIONS)
"""Code of "and", "with", "beside": both things are there, wherever they are."""

MOST_THINGS = 2
RADII = ((0.16, 0.19), (0.26, 0.32))
"""Of small and of large things, from the least to the greatest."""

CLEAR = 0.15
"""How much more one thing must be above another than beside it (or the other way round) to be called so."""

ANY = -1

SHAPE_WORDS = {
    "circle": ("circle", "disc", "ball"),
    "square": ("square", "box"),
    "triangle": ("triangle",),
    "star": ("star",),
    "cross": ("cross", "plus"),
    "ring": ("ring", "hoop"),
    "diamond": ("diamond",),
    "heart": ("heart",),
}
COLOUR_WORDS = {colour: (colour,) for colour in COLOURS} | {"purple": ("purple", "violet")}
SIZE_WORDS = (("small", "little", "tiny"), ("large", "big", "huge"))
RELATION_WORDS = (
    ("above", "over"),
    ("below", "under", "beneath"),
    ("on the left of", "left of", "to the left of"),
    ("on the right of", "right of", "to the right of"),
    ("and", "with", "next to", "beside", "near"),
)
GROUND_WORDS = {
    "grass": ("on grass", "on the grass", "on green ground", "on a lawn", "in a meadow"),
    "sand": ("on sand", "on the sand", "on yellow ground", "on a beach", "in the desert"),
    "snow": ("on snow", "in the snow", "on white ground"),
    "water": ("on water", "on the water", "on blue ground", "in the sea"),
    "night": ("at night", "in the night sky", "in the dark", "on black ground"),
    "bricks": ("in front of a brick wall", "before a wall", "on bricks", "on red ground"),
}
MOVING = ("moves", "drifts", "slides", "glides", "floats", "rolls")
STILL = ("is", "stands", "rests", "stays")
"""What a sentence may say that a thing does. One picture does not show it: it distinguishes no two sentences."""


@dataclass(frozen=True)
class Thing:
    """A thing in a scene, with a shape of :data:`SHAPES` and a colour of :data:`COLOURS`.

    Parameters
    ----------
    radius
        Half of its extent, as a share of the picture's height.
    start, end
        Its centre (x, y) at the start and end of the scene; it moves evenly between.
    tilt
        Rotation in radians.
    enters
        Share of the scene's time after which it is visible.
    """

    shape: str
    colour: str
    large: bool
    radius: float
    start: tuple[float, float]
    end: tuple[float, float]
    tilt: float = 0.0
    enters: float = 0.0

    @property
    def moves(self) -> bool:
        """Whether it moves."""
        return self.start != self.end

    def place(self, at: float) -> tuple[float, float]:
        """Its centre (x, y) after a share `at` of the scene's time."""
        return tuple(a + at * (b - a) for a, b in zip(self.start, self.end, strict=True))  # type: ignore[return-value]


@dataclass(frozen=True)
class Scene:
    """One or two things on a ground of :data:`GROUNDS`; `texture` is the seed of the ground's pattern."""

    ground: str
    things: tuple[Thing, ...]
    texture: int = 0


@dataclass(frozen=True)
class Noun:
    """The attributes of a thing that a sentence states; None for the others."""

    shape: str | None
    colour: str | None
    large: bool | None = None


@dataclass(frozen=True)
class Description:
    """The content of a sentence.

    Parameters
    ----------
    subject
        The thing it is about; None for a sentence about the ground alone.
    relation, other
        Relation of `subject` to another thing, as position in :data:`RELATION_WORDS`; :data:`ANY` without another.
    ground
        One of :data:`GROUNDS`; None if not stated.
    """

    subject: Noun | None
    relation: int = ANY
    other: Noun | None = None
    ground: str | None = None


@dataclass(frozen=True, eq=False)
class SceneCodes:
    """S scenes as numbers; :data:`ANY` for things that do not exist.

    Parameters
    ----------
    shape, colour, large : (S, T)
        Attributes of each thing, T = :data:`MOST_THINGS`.
    relation : (S, T, T)
        Position in :data:`RELATIONS` of the relation of the first to the second.
    ground : (S,)
    """

    shape: Codes
    colour: Codes
    large: Codes
    relation: Codes
    ground: Codes


def codes_of(scenes: Sequence[Scene], at: Sequence[float] | None = None) -> SceneCodes:
    """Return scenes as numbers, each after a share `at` of its time (default: at its end)."""
    shares = [1.0] * len(scenes) if at is None else at
    shape, colour, large = (np.full((len(scenes), MOST_THINGS), ANY, np.int8) for _ in range(3))
    relation = np.full((len(scenes), MOST_THINGS, MOST_THINGS), ANY, np.int8)
    for row, (scene, share) in enumerate(zip(scenes, shares, strict=True)):
        things = [thing for thing in scene.things if share >= thing.enters]
        for i, thing in enumerate(things):
            shape[row, i] = SHAPES.index(thing.shape)
            colour[row, i] = COLOURS.index(thing.colour)
            large[row, i] = thing.large
            for j, other in enumerate(things):
                if i != j:
                    relation[row, i, j] = relation_of(thing.place(share), other.place(share))
    ground = np.array([GROUNDS.index(scene.ground) for scene in scenes], np.int8)
    return SceneCodes(shape, colour, large, relation, ground)


def relation_of(place: tuple[float, float], other: tuple[float, float]) -> int:
    """Return the position in :data:`RELATIONS` of one place to another, along the axis of larger distance."""
    right, down = place[0] - other[0], place[1] - other[1]
    if abs(down) > abs(right):
        return 0 if down < 0 else 1
    return 2 if right < 0 else 3


def truth(scenes: SceneCodes, descriptions: Sequence[Description]) -> Bools:
    """Return whether each sentence is true of each scene, (S, D).

    A sentence is true if the ground matches, and a thing (or two things in the stated relation) matches its nouns.
    """
    subject, other = (
        _fits(scenes, [getattr(description, part) for description in descriptions]) for part in ("subject", "other")
    )
    relation = np.array([description.relation for description in descriptions], np.int8)
    two = scenes.relation[:, None] != ANY
    stands = two & ((relation[:, None, None] == WITH) | (scenes.relation[:, None] == relation[:, None, None]))
    pairs = (subject[..., :, None] & other[..., None, :] & stands).any((-1, -2))
    bare = np.array([description.subject is None for description in descriptions], np.bool_)
    things = np.where(relation == ANY, subject.any(-1) | bare, pairs)
    ground = np.array(
        [ANY if description.ground is None else GROUNDS.index(description.ground) for description in descriptions],
        np.int8,
    )
    return np.asarray(things & ((ground == ANY) | (scenes.ground[:, None] == ground)))


def _fits(scenes: SceneCodes, nouns: Sequence[Noun | None]) -> Bools:
    """Return whether each thing fits each noun, (S, D, T)."""
    patterns = [noun or Noun(None, None) for noun in nouns]
    shape = np.array([ANY if noun.shape is None else SHAPES.index(noun.shape) for noun in patterns], np.int8)
    colour = np.array([ANY if noun.colour is None else COLOURS.index(noun.colour) for noun in patterns], np.int8)
    large = np.array([ANY if noun.large is None else noun.large for noun in patterns], np.int8)
    fits = scenes.shape[:, None] != ANY
    for wanted, has in ((shape, scenes.shape), (colour, scenes.colour), (large, scenes.large)):
        fits = fits & ((wanted[:, None] == ANY) | (has[:, None] == wanted[:, None]))
    return np.asarray(fits)


# ---- Drawing lots


def draw_thing(rng: np.random.Generator, ground: str, *, shape: str | None = None, colour: str | None = None) -> Thing:
    """Draw a thing that is visible on a ground, within the picture, still or moving slowly."""
    visible = [colour_name for colour_name in COLOURS if colour_name != HIDDEN_ON[ground]]
    shape = shape or SHAPES[int(rng.integers(len(SHAPES)))]
    colour = colour or visible[int(rng.integers(len(visible)))]
    large = bool(rng.random() < 0.5)
    radius = float(rng.uniform(*RADII[large]))
    start, move = rng.uniform((radius, radius), (ASPECT - radius, 1 - radius)), rng.normal(0, 0.12, 2)
    end = np.clip(start + move * (rng.random() < 0.7), radius, (ASPECT - radius, 1 - radius))
    return Thing(
        shape,
        colour,
        large,
        radius,
        (float(start[0]), float(start[1])),
        (float(end[0]), float(end[1])),
        float(rng.uniform(-0.2, 0.2)),
    )


def draw_scene(rng: np.random.Generator, things: Sequence[Noun] | None = None, ground: str | None = None) -> Scene:
    """Draw a scene without overlaps or ambiguous relations.

    It has `things`, whose open attributes are drawn, or one or two things by default.
    """
    ground = ground or GROUNDS[int(rng.integers(len(GROUNDS)))]
    nouns = things if things is not None else [Noun(None, None)] * (1, 2, 2)[int(rng.integers(3))]
    while True:
        drawn = [draw_thing(rng, ground, shape=noun.shape, colour=noun.colour) for noun in nouns]
        sizes = all(noun.large in {None, thing.large} for noun, thing in zip(nouns, drawn, strict=True))
        if sizes and is_clear(drawn):
            return Scene(ground, tuple(drawn), int(rng.integers(1 << 31)))


def is_clear(things: Sequence[Thing]) -> bool:
    """Whether things are apart and in one clear relation all the time, and no two look alike."""
    if len({(thing.shape, thing.colour) for thing in things}) < len(things):
        return False
    for i, thing in enumerate(things):
        for other in things[:i]:
            relations = set()
            for at in (0.0, 0.25, 0.5, 0.75, 1.0):
                place, beside = thing.place(at), other.place(at)
                right, down = abs(place[0] - beside[0]), abs(place[1] - beside[1])
                if np.hypot(right, down) < thing.radius + other.radius or abs(right - down) < CLEAR:
                    return False
                relations.add(relation_of(place, beside))
            if len(relations) > 1:
                return False
    return True


def describe(rng: np.random.Generator, scene: Scene, *, fully: bool = False) -> Description:
    """Draw a true description of a scene.

    With `fully`, it names both things with shape and colour, their relation and the ground; else any may be left out.
    """

    def noun(thing: Thing) -> Noun:
        if fully:
            return Noun(thing.shape, thing.colour, thing.large if rng.random() < 0.3 else None)
        draw = rng.random()
        shape, colour = thing.shape if draw > 0.08 else None, thing.colour if not 0.08 < draw < 0.16 else None
        return Noun(shape, colour, thing.large if rng.random() < 0.25 else None)

    order = rng.permutation(len(scene.things))
    ground = scene.ground if fully or rng.random() < 0.6 else None
    if not fully and ground and rng.random() < 0.04:
        return Description(None, ground=ground)
    first = scene.things[order[0]]
    if len(order) == 1 or (not fully and rng.random() < 0.25):
        return Description(noun(first), ground=ground)
    second = scene.things[order[1]]
    relation = relation_of(first.place(1.0), second.place(1.0))
    spatial = fully or rng.random() < 0.8
    return Description(noun(first), relation if spatial else WITH, noun(second), ground)


def in_words(
    rng: np.random.Generator, description: Description, *, verbs: Sequence[str] = (*MOVING, *STILL), plain: bool = False
) -> str:
    """Return a description as a sentence.

    Parameters
    ----------
    verbs
        Verbs that may be used; none for a sentence without.
    plain
        Use the simplest words and order: "a red circle drifts above a blue square on grass".
    """

    def one_of(words: Sequence[str]) -> str:
        return words[0] if plain else str(words[int(rng.integers(len(words)))])

    def named(noun: Noun, article: str) -> str:
        size = one_of(SIZE_WORDS[noun.large]) if noun.large is not None else ""
        colour = one_of(COLOUR_WORDS[noun.colour]) if noun.colour else ""
        shape = one_of(SHAPE_WORDS[noun.shape]) if noun.shape else one_of(("thing", "shape", "object"))
        words = " ".join(word for word in (size, colour, shape) if word)
        return f"{'an' if article == 'a' and words[0] in 'aeiou' else article} {words}"

    place = one_of(GROUND_WORDS[description.ground]) if description.ground else ""
    if description.subject is None:
        return place.split(" ", 1)[1] if place.startswith("on ") and rng.random() < 0.5 else place
    start = "" if plain or rng.random() < 0.7 else one_of(("there is ", "we see ", "here is "))
    article = "a" if plain or start or rng.random() < 0.7 else "the"
    phrase = start + named(description.subject, article)
    if verbs and not start and (plain or rng.random() < 0.4):
        phrase += f" {verbs[int(rng.integers(len(verbs)))]}"
    if description.other is not None:
        article = "a" if plain or rng.random() < 0.7 else "the"
        phrase += f" {one_of(RELATION_WORDS[description.relation])} {named(description.other, article)}"
    if place and not plain and rng.random() < 0.15:
        return f"{place}, {phrase}"
    return f"{phrase} {place}".strip()


def swapped(rng: np.random.Generator, scene: Scene) -> Scene:
    """Return a scene that differs in one respect: colours or places exchanged, one attribute changed, or the ground."""
    while True:
        changed = _changed(rng, scene)
        is_visible = all(thing.colour != HIDDEN_ON[changed.ground] for thing in changed.things)
        if changed != scene and is_visible and is_clear(changed.things):
            return replace(changed, texture=int(rng.integers(1 << 31)))


def _changed(rng: np.random.Generator, scene: Scene) -> Scene:
    things = list(scene.things)
    k = int(rng.integers(len(things)))
    thing, other = things[k], things[(k + 1) % len(things)]
    match str(rng.choice(("colours", "places", "places", "shape", "colour", "ground"))):
        case "colours":
            things[k], things[(k + 1) % len(things)] = (
                replace(thing, colour=other.colour),
                replace(other, colour=thing.colour),
            )
        case "places":
            things[k], things[(k + 1) % len(things)] = _moved_to(thing, other), _moved_to(other, thing)
        case "shape":
            things[k] = replace(thing, shape=str(rng.choice(SHAPES)))
        case "colour":
            things[k] = replace(thing, colour=str(rng.choice(COLOURS)))
        case _:
            return replace(scene, ground=str(rng.choice(GROUNDS)))
    return replace(scene, things=tuple(things))


def _moved_to(thing: Thing, other: Thing) -> Thing:
    places = [
        (float(np.clip(x, thing.radius, ASPECT - thing.radius)), float(np.clip(y, thing.radius, 1 - thing.radius)))
        for x, y in (other.start, other.end)
    ]
    return replace(thing, start=places[0], end=places[1])
