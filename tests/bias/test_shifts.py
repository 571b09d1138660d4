"""In what test-ood is to differ: ranks of locations against SciPy's density, terms against sentences read by hand."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import gaussian_kde, multivariate_normal

from truemoment import Annotations
from truemoment.base.errors import InputError, UsageError
from truemoment.data.language import Token, get_engine
from truemoment.studies.bias.shifts import LocationShift, WordShift, compositions_of, words_of

NAN = math.nan
PLACES = ("start-end", "start-length", "middle-length", "middle-log-length", "seconds")


def placed(moments_by_query, duration_s=20.0):
    """Annotations of one video a query: a list of moments each, None for no moment; one duration, or one a query."""
    durations = [duration_s] * len(moments_by_query) if isinstance(duration_s, float) else duration_s
    rows = [
        (f"q{q}", f"v{q}", durations[q], "a door opens", *(moment or (NAN, NAN)))
        for q, moments in enumerate(moments_by_query)
        for moment in (moments or [None])
    ]
    return Annotations.from_rows(rows)


def drawn(seed, n=25):
    """Random moments: several a query, none, unknown durations, swapped and past the end, twice the same."""
    rng = np.random.default_rng(seed)
    queries, durations = [], []
    for _ in range(n):
        length_s = float(rng.uniform(5, 60))
        kind = rng.random()
        moments = [tuple(rng.uniform(0, 1.2 * length_s, 2).tolist()) for _ in range(int(rng.integers(1, 4)))]
        queries.append(None if kind < 0.1 else moments)
        durations.append(NAN if 0.1 < kind < 0.2 else length_s)
    queries += [queries[0], queries[1]]  # asked for twice
    durations += durations[:2]
    return queries, durations


def slow_place(place, start_s, end_s, duration_s):
    start, end = sorted((start_s, end_s))
    a, b = start / duration_s, end / duration_s
    return {
        "start-end": (a, b),
        "start-length": (a, b - a),
        "middle-length": (a + (b - a) / 2, b - a),
        "middle-log-length": (a + (b - a) / 2, math.log(max(b - a, 0.001))),
        "seconds": (start, end),
    }[place]


@pytest.mark.parametrize("width", [None, 0.05])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("seed", range(3))
def test_density_of_a_query_is_that_of_its_densest_moment(place, width, seed):
    queries, durations = drawn(seed)
    points = [
        slow_place(place, *moment, duration)
        for moments, duration in zip(queries, durations, strict=True)
        for moment in moments or []
        if not math.isnan(duration)
    ]
    if width is None:
        scott = gaussian_kde(np.array(points).T)
        density = lambda at: float(scott(at)[0])  # noqa: E731  # one of two
    else:
        kernels = [multivariate_normal(point, width**2 * np.eye(2)) for point in points]
        density = lambda at: float(np.mean([kernel.pdf(at) for kernel in kernels]))  # noqa: E731
    found = LocationShift(place, width).rank(placed(queries, durations))
    assert found.terms is None
    assert found.candidates == ()
    for q, (moments, duration) in enumerate(zip(queries, durations, strict=True)):
        if not moments or math.isnan(duration):
            assert not found.eligible[q]
            assert np.isinf(found.rank[q])
            assert np.isnan(found.density[q])
        else:
            expected = max(density(slow_place(place, *moment, duration)) for moment in moments)
            assert found.density[q] == pytest.approx(expected, rel=1e-9)  # the promise of Density.evaluate
            assert found.rank[q] == found.density[q]
            assert found.eligible[q]
    assert found.rank[-2:].tolist() == found.rank[:2].tolist()  # the same moments, the same rank to the last bit


def test_equal_moments_of_videos_of_other_lengths_rank_alike():
    # (5, 10) of 20 s, (10, 20) of 40 s and the swapped (20, 10) of 40 s are one place, as shares exact in float64.
    found = LocationShift().rank(
        placed(
            [[(5, 10)], [(10, 20)], [(20, 10)], [(0, 3)], [(7, 19)], [(9, 11)]], [20.0, 40.0, 40.0, 20.0, 20.0, 20.0]
        )
    )
    assert len(set(found.rank[:3])) == 1
    assert len(set(found.rank)) == 4


@pytest.mark.parametrize("shift", [LocationShift(), LocationShift(width=0.07), LocationShift("seconds")], ids=str)
def test_mirrored_places_tie_in_any_order_of_the_file(shift):
    # Each moment (a, b) of 30 s beside (30 - b, 30 - a): equal densities, but for the order of the sums.
    for seed in range(10):
        rng = np.random.default_rng(seed)
        moments = [tuple(pair) for pair in np.sort(rng.uniform(0, 30, (20, 2)), axis=1).tolist()]
        moments += [(30 - end, 30 - start) for start, end in moments]
        order = rng.permutation(40)
        rank = shift.rank(placed([[moment] for moment in moments], 30.0)).rank
        turned = shift.rank(placed([[moments[at]] for at in order], 30.0)).rank
        assert rank[:20].tolist() == rank[20:].tolist()
        assert len(set(rank)) == 20
        one, other = (np.unique(column, return_inverse=True)[1] for column in (rank[order], turned))
        assert one.tolist() == other.tolist()  # the same ranking, whatever its last bits


def test_the_densest_moment_counts_wherever_it_stands_in_the_query():
    crowd = [[(1.0 + n / 8, 3.0 + n / 4)] for n in range(6)]
    alone, typical = (15.0, 19.0), (1.0, 3.0)
    ranks = [LocationShift().rank(placed([*crowd, both])).rank for both in ([alone, typical], [typical, alone])]
    for rank in ranks:
        assert rank[-1] == rank[0]  # that of (1, 3), which the first of the crowd is
    assert LocationShift().rank(placed([*crowd, [alone]])).rank.argmin() == 6


@pytest.mark.parametrize(
    ("queries", "durations", "message"),
    [
        ([], 20.0, "own: got 0 points, expected 2 or more to fit a density to; there is no density to split by"),
        ([[(0, 5)], None], 20.0, "own: got 1 points"),
        ([[(0, 5)], [(3, 4)]], NAN, "own: no video's duration is known; --durations FILE or --videos DIR gives them"),
        ([[(0, 5)], [(3, 4)], [(8, 9)]], [NAN, 0.0, 9.0], "own: got 1 points"),
        ([[(0, 5)], [(1, 6)], [(3, 8)]], 20.0, "own: the points lie on one line"),
        ([[(0, 5)], [(0, 5)]], 20.0, "own: the points lie on one line"),
        (
            [[(0, 5)], [(1, 9)], [(3, 9)]],
            [20.0, 1e-12, 20.0],
            "got a moment to 9 s in a video of 1e-12 s for query 'q1'",
        ),
        ([[(0, 5)], [(1, 9)], [(3, 9)]], [20.0, 1e-320, 20.0], "for query 'q1'; expected both in seconds"),
    ],
)
@pytest.mark.parametrize("place", PLACES)
def test_what_has_no_density_is_refused(place, queries, durations, message):
    if place == "seconds" and "1e-12" in message:  # seconds do not mind
        assert LocationShift(place).rank(placed(queries, durations)).eligible.all()
        return
    with pytest.raises(InputError) as caught:
        LocationShift(place).rank(placed(queries, durations))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"place": "end"},
            "got place 'end', expected one of start-end, start-length, middle-length, middle-log-length, seconds",
        ),
        ({"width": 0.0}, "got a width of 0, expected 1e-06 to 1e+06"),
        ({"width": -0.1}, "got a width of -0.1"),
        ({"width": 1e7}, "got a width of 1e+07"),
        ({"width": NAN}, "got a width of nan"),
        ({"width": math.inf}, "got a width of inf"),
    ],
)
def test_a_shift_of_location_refuses(arguments, message):
    with pytest.raises(UsageError) as caught:
        LocationShift(**arguments)
    assert message in str(caught.value)


def test_a_shift_of_words_refuses():
    with pytest.raises(UsageError, match=r"^got 'verbs', expected one of words, compositions$"):
        WordShift("verbs")


def test_shifts_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        LocationShift().width = 1.0


# --------------------------------------------------------------------------------------------------- terms


def tokens(text):
    """Read "open/V the/O door/N": lemmas as they stand."""
    tags = {"V": "VERB", "N": "NOUN", "A": "ADJ", "X": "AUX", "O": "OTHER"}
    return [Token(word, word, tags[tag]) for word, tag in (item.split("/") for item in text.split())]


@pytest.mark.parametrize(
    ("text", "words", "compositions"),
    [
        ("", set(), set()),
        ("man/N open/V big/A door/N", {"man", "open", "big", "door"}, {"open door"}),
        ("is/X open/V door/N", {"open", "door"}, {"open door"}),  # an auxiliary is no verb
        ("open/V door/N window/N", {"open", "door", "window"}, {"open door"}),  # the first noun alone
        ("sit/V and/O eat/V food/N", {"sit", "eat", "food"}, {"eat food"}),  # before the next verb
        ("eat/V food/N drink/V water/N", {"eat", "food", "drink", "water"}, {"eat food", "drink water"}),
        ("eat/V food/N eat/V food/N", {"eat", "food"}, {"eat food"}),
        ("door/N open/V", {"door", "open"}, set()),  # a noun before it is none after it
        ("very/O soon/O", set(), set()),
    ],
)
def test_words_and_compositions_of_a_sentence(text, words, compositions):
    assert words_of(tokens(text)) == words
    assert compositions_of(tokens(text)) == compositions


class Spoken:
    """An engine that reads "open/V door/N"."""

    name = "spoken"

    def analyse(self, sentences):
        return [tokens(sentence) for sentence in sentences]


def said(sentences_by_video):
    """One video an item, one query a sentence."""
    rows = [
        (f"v{v}#{s}", f"v{v}", 20.0, sentence, 1.0 + v % 7, 9.0 + s)
        for v, sentences in enumerate(sentences_by_video)
        for s, sentence in enumerate(sentences)
    ]
    return Annotations.from_rows(rows)


def ranked(annotations, new="words", seed=0):
    return WordShift(new).rank(annotations, Spoken(), np.random.default_rng(seed))


def test_a_word_may_be_drawn_from_5_queries_on_and_up_to_a_twentieth_of_the_videos():
    # Of 40 videos a twentieth is 2. four: 4 queries. five: 5 queries of 1 video. wide: 3 videos. two: 5 queries of 2.
    videos = [["x/O"] for _ in range(40)]
    videos[0] = ["four/N"] * 4
    videos[1] = ["five/N"] * 5
    videos[2] = videos[3] = videos[4] = ["wide/V"] * 4
    videos[5], videos[6] = ["two/A"] * 3, ["two/A"] * 2
    found = ranked(said(videos))
    assert sorted(found.candidates) == ["five", "two"]
    place = {term: at for at, term in enumerate(found.candidates)}
    for q, (sentence, rank) in enumerate(zip(said(videos).queries.sentence, found.rank, strict=True)):
        word = sentence.split("/")[0]
        assert rank == place.get(word, math.inf)
        assert found.terms[q] == ((word,) if word in place else ())
    assert found.eligible.all()
    assert found.density is None


def test_a_query_ranks_by_the_first_of_its_terms_that_is_drawn():
    videos = [["a/N"] * 5, ["b/N"] * 5, ["a/N b/V"], *[["x/O"]] * 60]
    firsts = set()
    for seed in range(8):
        found = ranked(said(videos), seed=seed)
        assert set(found.candidates) == {"a", "b"}
        assert found.rank[10] == 0
        assert found.terms[10] == found.candidates  # all it holds, by rank
        firsts.add(found.candidates[0])
    assert firsts == {"a", "b"}  # drawn at random: a chance of 2 in 256 to fail, and the seeds are fixed


def test_compositions_are_drawn_as_such():
    videos = [["open/V door/N"] * 5, ["close/V door/N"] * 4, *[["x/O"]] * 40]
    assert ranked(said(videos), "compositions").candidates == ("open door",)


@pytest.mark.parametrize("new", ["words", "compositions"])
def test_nothing_to_draw_is_refused(new):
    message = f"^own: none of the {new} is in at least 5 queries and at most 5 % of the videos$"
    with pytest.raises(InputError, match=message):
        ranked(said([["a/V b/N"] * 4, *[["x/O"]] * 5]), new)


def test_the_lexicon_is_what_reads_by_default():
    (read,) = get_engine().analyse(["The person opens the big door and closes a window."])
    assert words_of(read) == {"person", "open", "big", "door", "close", "window"}
