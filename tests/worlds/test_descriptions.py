"""Scenes and sentences: what is true of what."""

from dataclasses import replace

import numpy as np
import pytest

from truemoment.worlds.descriptions import (
    ANY,
    ASPECT,
    COLOURS,
    GROUND_WORDS,
    GROUNDS,
    HIDDEN_ON,
    MOST_THINGS,
    RADII,
    RELATION_WORDS,
    RELATIONS,
    SHAPE_WORDS,
    SHAPES,
    WITH,
    Description,
    Noun,
    Scene,
    Thing,
    codes_of,
    describe,
    draw_scene,
    in_words,
    is_clear,
    relation_of,
    swapped,
    truth,
)


def thing(shape, colour, place, *, large=False, end=None, enters=0.0):
    return Thing(shape, colour, large, 0.1, place, end or place, enters=enters)


def holds(description, scene, at=1.0):
    """By the words of the definition, one thing after the other."""

    def fits(noun, of):
        said = (noun.shape, noun.colour, noun.large)
        return all(wish is None or wish == has for wish, has in zip(said, (of.shape, of.colour, of.large), strict=True))

    there = [of for of in scene.things if at >= of.enters]
    if description.ground not in {None, scene.ground}:
        return False
    if description.relation == ANY:
        return description.subject is None or any(fits(description.subject, of) for of in there)
    return any(
        fits(description.subject, one)
        and fits(description.other, other)
        and description.relation in {WITH, relation_of(one.place(at), other.place(at))}
        for one in there
        for other in there
        if one is not other
    )


def test_truth_is_the_definition():
    rng = np.random.default_rng(0)
    scenes = [draw_scene(rng) for _ in range(60)]
    scenes += [replace(of, things=(*of.things[:-1], replace(of.things[-1], enters=0.5))) for of in scenes[:20]]
    descriptions = [describe(rng, scene, fully=bool(k % 2)) for k, scene in enumerate(scenes)]
    shares = rng.random(len(scenes)).tolist()
    found = truth(codes_of(scenes, shares), descriptions)
    expected = [[holds(of, scene, at) for of in descriptions] for scene, at in zip(scenes, shares, strict=True)]
    assert np.array_equal(found, expected)
    assert 0.01 < found.mean() < 0.5


def test_a_description_is_true_of_its_scene():
    rng = np.random.default_rng(1)
    scenes = [draw_scene(rng) for _ in range(100)]
    for fully in (False, True):
        descriptions = [describe(rng, scene, fully=fully) for scene in scenes]
        assert truth(codes_of(scenes), descriptions).diagonal().all()
        assert all(of.ground for of in descriptions) == fully


def test_one_scene_by_hand():
    scene = Scene("grass", (thing("circle", "red", (0.6, 0.2)), thing("square", "blue", (0.7, 0.8), enters=0.5)))
    red, blue = Noun("circle", "red"), Noun("square", "blue")
    said = {
        Description(red): (True, True),
        Description(Noun(None, "blue")): (False, True),
        Description(red, RELATIONS.index("above"), blue): (False, True),
        Description(blue, RELATIONS.index("below"), red, "grass"): (False, True),
        Description(red, RELATIONS.index("left"), blue): (False, False),
        Description(red, WITH, blue): (False, True),
        Description(red, WITH, red): (False, False),  # one thing is not two
        Description(red, ground="snow"): (False, False),
        Description(None, ground="grass"): (True, True),
        Description(Noun("circle", "red", large=True)): (False, False),
    }
    found = truth(codes_of([scene, scene], [0.2, 0.9]), list(said))
    assert [tuple(column) for column in found.T.tolist()] == list(said.values())


@pytest.mark.parametrize("relation", range(4))
def test_relations_are_turned_round_by_their_opposites(relation):
    places = np.random.default_rng(2).random((200, 2, 2))
    opposite = (1, 0, 3, 2)[relation]
    for one, other in places.tolist():
        assert (relation_of(one, other) == relation) == (relation_of(other, one) == opposite)


def test_no_scene_and_no_description():
    assert truth(codes_of([]), [Description(Noun("star", None))]).shape == (0, 1)
    assert truth(codes_of([draw_scene(np.random.default_rng(0))]), []).shape == (1, 0)


def test_drawn_scenes_can_be_seen_and_told_apart():
    rng = np.random.default_rng(3)
    scenes = [draw_scene(rng) for _ in range(150)]
    scenes += [swapped(rng, scene) for scene in scenes]
    for scene in scenes:
        assert 1 <= len(scene.things) <= MOST_THINGS
        assert is_clear(scene.things)
        for of in scene.things:
            assert of.colour != HIDDEN_ON[scene.ground]
            assert RADII[of.large][0] <= of.radius <= RADII[of.large][1]
            for x, y in (of.place(0), of.place(0.3), of.place(1)):
                assert of.radius - 1e-9 <= x <= ASPECT - of.radius + 1e-9
                assert of.radius - 1e-9 <= y <= 1 - of.radius + 1e-9
    assert {of.shape for scene in scenes for of in scene.things} == set(SHAPES)
    assert {of.colour for scene in scenes for of in scene.things} == set(COLOURS)
    assert {scene.ground for scene in scenes} == set(GROUNDS)


def test_a_relation_stays_as_things_move():
    rng = np.random.default_rng(4)
    for _ in range(40):
        scene = draw_scene(rng)
        relations = [codes_of([scene], [at]).relation for at in np.linspace(0, 1, 21)]
        assert all(np.array_equal(of, relations[0]) for of in relations)


def test_a_swapped_scene_differs_in_one_respect():
    rng = np.random.default_rng(5)
    kinds = set()
    for _ in range(150):
        scene = draw_scene(rng)
        other = swapped(rng, scene)
        one_has, other_has = ([(of.shape, of.colour, of.large) for of in it.things] for it in (scene, other))
        places = [of.place(0) for of in scene.things] != [of.place(0) for of in other.things]
        shapes = sum(a[0] != b[0] for a, b in zip(one_has, other_has, strict=True))
        colours = sum(a[1] != b[1] for a, b in zip(one_has, other_has, strict=True))
        kind = (scene.ground != other.ground, places, shapes, colours)
        assert kind in {
            (True, False, 0, 0),
            (False, True, 0, 0),
            (False, False, 1, 0),
            (False, False, 0, 1),
            (False, False, 0, 2),
        }
        kinds.add(kind)
    assert len(kinds) == 5


def test_the_plainest_words():
    rng = np.random.default_rng(0)
    said = Description(Noun("circle", "red", large=True), 0, Noun("square", "orange"), "grass")
    assert (
        in_words(rng, said, verbs=("drifts",), plain=True)
        == "a large red circle drifts above an orange square on grass"
    )
    assert in_words(rng, said, verbs=(), plain=True) == "a large red circle above an orange square on grass"
    assert in_words(rng, Description(Noun("star", None)), verbs=(), plain=True) == "a star"


def test_words_say_what_is_meant():
    rng = np.random.default_rng(6)
    for _ in range(100):
        scene = draw_scene(rng)
        said = describe(rng, scene)
        text = f" {in_words(rng, said).replace(',', '')} "
        nouns = [noun for noun in (said.subject, said.other) if noun]
        for noun in nouns:
            assert noun.shape is None or any(f" {word} " in text for word in SHAPE_WORDS[noun.shape])
            assert noun.colour is None or any(word in text for word in (noun.colour, "violet"))
        if said.other:
            assert any(f" {words} " in text for words in RELATION_WORDS[said.relation])
        if said.ground and nouns:
            assert any(f" {words} " in text for words in GROUND_WORDS[said.ground])
        assert "  " not in text


def test_no_two_relations_or_grounds_share_their_words():
    for phrases in (RELATION_WORDS, tuple(GROUND_WORDS.values()), tuple(SHAPE_WORDS.values())):
        words = [text for texts in phrases for text in texts]
        assert len(words) == len(set(words))


def test_the_same_seed_draws_the_same():
    one, other = ([draw_scene(np.random.default_rng(7)) for _ in range(3)] for _ in range(2))
    assert one == other
