"""A method for short videos on films: asked window by window, ranked over the film."""

import dataclasses
import zlib

import numpy as np
import pytest

from truemoment import Annotations, Grounder, Predictions, Queries
from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import temporal_iou
from truemoment.evaluation.evaluate import evaluate
from truemoment.media.features.base import Features
from truemoment.media.features.changed import ChangedFeatures
from truemoment.searching import windowed
from truemoment.searching.windowed import WindowedGrounder
from truemoment.searching.windows import Windows
from truemoment.worlds import make_world
from truemoment.worlds.toy import ToyGrounder


class Drawn:
    """A method that sees videos: its moments are drawn from what it is asked and the numbers it sees."""

    name = "drawn"

    def __init__(self, features, *, ranked=True):
        self.features, self.ranked, self.asked = features, ranked, []

    def fit(self, train, val=None):
        del train, val
        return self

    def with_features(self, features):
        other = type(self)(features, ranked=self.ranked)
        other.asked = self.asked
        return other

    def answer(self, sentence, video_id, duration_s):
        seen = self.features[video_id].tobytes()
        rng = np.random.default_rng(zlib.crc32(sentence.encode() + seen))
        times = np.sort(rng.integers(0, 9, (int(rng.integers(0, 7)), 2)) / 8, axis=1) * duration_s
        moments = [(start, end, float(rng.integers(0, 6))) for start, end in times.tolist()]
        return sorted(moments, key=lambda moment: -moment[2]) if self.ranked else moments

    def ground(self, queries, top=1):
        self.asked.append(len(queries))
        found = {
            query_id: self.answer(sentence, video_id, duration_s)[:top]
            for query_id, video_id, duration_s, sentence in zip(
                queries.query_id, queries.video_id, queries.duration_s, queries.sentence, strict=True
            )
        }
        order = sorted(found)  # its own order; what it has no answer to is left out
        return Predictions.from_lists({query_id: found[query_id] for query_id in order if found[query_id]})


def films(lengths=(97, 64, 20, 8), fps=2.0):
    rng = np.random.default_rng(7)
    return Features(
        {f"film{k}": rng.standard_normal((n, 3)).astype(np.float32) for k, n in enumerate(lengths)}, fps=fps
    )


def queries_of(store, each=5):
    """Queries of all films, mixed up."""
    rows = [(f"{film}#{k}", film, len(store[film]) / store.fps, f"sentence {k}") for k in range(each) for film in store]
    query_id, video_id, duration_s, sentence = zip(*rows, strict=True)
    return Queries(query_id, video_id, np.array(duration_s), sentence)


def slowly(method, windows, query, *, nms, top):
    """The definition: ask each window by itself, put the answers one behind the other, rank, leave out, cut."""
    video_id, sentence = query
    rows, fps = method.features[video_id], method.features.fps
    pooled = []
    for low, high in zip(*windows.rows_of(len(rows), fps), strict=True):
        part = Features({"part": rows[low:high]}, fps=fps)
        for start, end, score in method.with_features(part).answer(sentence, "part", (high - low) / fps):
            pooled.append((start + low / fps, end + low / fps, score))
    kept = []
    for moment in sorted(pooled, key=lambda moment: -moment[2]):  # sorted() keeps ties in order
        ious = [
            float(temporal_iou(np.array(moment[0]), np.array(moment[1]), np.array(of[0]), np.array(of[1])))
            for of in kept
        ]
        if all(iou <= nms + 1e-9 for iou in ious):  # an IoU that equals the threshold is kept
            kept.append(moment)
    return kept[:top]


@pytest.mark.parametrize("tail", ["covered", "dropped"])
@pytest.mark.parametrize(("nms", "top"), [(0.3, 100), (0.3, 3), (0.0, 100), (1.0, 100)])
def test_answers_are_those_of_all_windows_one_by_one(tail, nms, top):
    store = films()
    method, windows, queries = Drawn(store), Windows(8.0, 4.0, tail), queries_of(store)
    found = WindowedGrounder(method, windows, nms).ground(queries, top)
    assert found.query_id.tolist() == queries.query_id.tolist()
    for row in range(len(queries)):
        query = queries.video_id[row], queries.sentence[row]
        expected = slowly(method, windows, query, nms=nms, top=top)
        part = slice(found.offsets[row], found.offsets[row + 1])
        moments = list(zip(found.start_s[part], found.end_s[part], found.score[part], strict=True))
        assert moments == [pytest.approx(moment) for moment in expected]
    if tail == "dropped":  # 20 rows are 10 s, more than a window; 8 rows are none
        assert set(found.query_id[found.lengths == 0]) >= {f"film3#{k}" for k in range(5)}


@pytest.mark.parametrize(("pairs", "held", "shown"), [(1, 1, 1), (7, 1, 3), (64, 250, 64), (10_000, 10**9, 2)])
def test_how_much_is_asked_at_a_time_changes_nothing(pairs, held, shown, monkeypatch):
    store = films()
    queries, method = queries_of(store), Drawn(store)
    whole = WindowedGrounder(method, Windows(8.0, 4.0), each=6).ground(queries)
    monkeypatch.setattr(windowed, "MOST_PAIRS", pairs)
    monkeypatch.setattr(windowed, "MOST_MOMENTS", held)
    monkeypatch.setattr(windowed, "MOST_WINDOWS", shown)
    method.asked.clear()
    parts = WindowedGrounder(method, Windows(8.0, 4.0), each=6).ground(queries)
    assert max(method.asked) <= pairs
    for column in ("offsets", "start_s", "end_s", "score"):
        assert getattr(parts, column).tolist() == getattr(whole, column).tolist()


def test_moments_lie_within_the_film():
    store = films()
    queries = queries_of(store)
    found = WindowedGrounder(Drawn(store), Windows(8.0, 4.0)).ground(queries)
    assert (found.end_s <= np.repeat(queries.duration_s, found.lengths) + 1e-9).all()
    assert (found.lengths > 0).sum() > 10


def test_moments_end_with_a_film_that_ends_within_its_last_row():
    store = films((97,))
    queries = Queries(["q"] * 1, ["film0"], [48.1], ["sentence 3"])  # 97 rows at 2 a second: 48.5 s
    whole = Queries(["q"] * 1, ["film0"], [48.5], ["sentence 3"])
    method = WindowedGrounder(Drawn(store), Windows(8.0, 4.0), nms=1.0)
    cut, plain = (method.ground(asked, 1000) for asked in (queries, whole))
    assert plain.end_s.max() > 48.1
    assert cut.start_s.tolist() == np.minimum(plain.start_s, 48.1).tolist()
    assert cut.end_s.tolist() == np.minimum(plain.end_s, 48.1).tolist()


def test_what_is_kept_overlaps_no_better_one():
    found = WindowedGrounder(Drawn(store := films()), Windows(8.0, 2.0), 0.3).ground(queries_of(store))
    for row in range(len(found)):
        part = slice(found.offsets[row], found.offsets[row + 1])
        start, end = found.start_s[part], found.end_s[part]
        iou = temporal_iou(start[:, None], end[:, None], start, end)
        assert (iou[~np.eye(len(start), dtype=bool)] <= 0.3 + 1e-9).all()


class Thirds(Drawn):
    """Moments that overlap by exactly the threshold: 3 of 10 steps, a step a fifth of a second and more."""

    def answer(self, sentence, video_id, duration_s):
        del sentence, video_id
        step = duration_s / 40
        return [(at * 3.5 * step, (at * 3.5 + 6.5) * step, 1.0) for at in range(4)]


def test_an_overlap_of_exactly_the_threshold_is_kept_wherever_the_window_lies():
    """6.5 steps, moved by 3.5: 3 shared of 10; in seconds, rounding puts some of them above 0.3."""
    store = films((4000,), fps=5.0)
    queries = queries_of(store, each=1)
    found = WindowedGrounder(Thirds(store), Windows(12.8, 12.8, "dropped")).ground(queries, 10_000)
    assert len(found.start_s) == 4 * 62
    start, end = found.start_s, found.end_s
    iou = temporal_iou(start[:-1], end[:-1], start[1:], end[1:])
    assert (iou[iou > 0.1] > 0.3).any()


def test_it_is_a_grounder_that_can_be_shown_other_features():
    store = films()
    method = WindowedGrounder(Drawn(store), Windows(8.0, 4.0))
    assert isinstance(method, Grounder)
    assert method.name == "drawn in windows of 8 s"
    queries = queries_of(store)
    turned = ChangedFeatures(store, "reversed")
    assert method.with_features(turned).ground(queries).score.tolist() != method.ground(queries).score.tolist()
    again = WindowedGrounder(Drawn(turned), Windows(8.0, 4.0)).ground(queries)
    assert method.with_features(turned).ground(queries).start_s.tolist() == again.start_s.tolist()


def test_progress_counts_what_is_asked():
    seen = []

    def follow(items, what):
        seen.append((len(items), what))
        return items

    store = films()
    method = Drawn(store)
    WindowedGrounder(method, Windows(8.0, 4.0), track=follow).ground(queries_of(store))
    assert seen == [(len(method.asked), "windows")]


def test_nothing_asked_is_nothing_answered():
    store = films()
    nothing = Queries([], [], np.zeros(0), [])
    assert len(WindowedGrounder(Drawn(store), Windows()).ground(nothing)) == 0


@pytest.mark.parametrize(("settings", "told"), [({"nms": 1.5}, "suppression"), ({"each": 0}, "moments a window")])
def test_numbers_out_of_range_are_refused(settings, told):
    with pytest.raises(UsageError, match=told):
        WindowedGrounder(Drawn(films()), Windows(), **settings)
    with pytest.raises(UsageError, match="top"):
        WindowedGrounder(Drawn(films()), Windows()).ground(queries_of(films()), 0)


def test_a_method_that_does_not_tell_what_it_sees_is_given_the_films():
    store = films()
    method, queries = Drawn(store), queries_of(store)
    del method.features
    with pytest.raises(UsageError, match="give the features of the videos"):
        WindowedGrounder(method, Windows()).ground(queries)
    given = WindowedGrounder(method, Windows(), features=store).ground(queries)
    assert given.score.tolist() == WindowedGrounder(Drawn(store), Windows()).ground(queries).score.tolist()


def test_a_film_without_features_is_told():
    other = Queries(["x#0"], ["x"], np.array([50.0]), ["a door opens"])
    with pytest.raises(InputError, match="'x'"):
        WindowedGrounder(Drawn(films()), Windows()).ground(other)


class Blind:
    """A method that sees nothing, and says so by having no features."""

    name = "blind"

    def fit(self, train, val=None):
        del val
        self.learned = train
        return self

    def ground(self, queries, top=1):
        del top
        return Predictions.from_lists(
            {q: [(0.0, d, 1.0)] for q, d in zip(queries.query_id, queries.duration_s, strict=True)}
        )


def test_a_method_that_sees_nothing_is_asked_about_spans():
    queries = Queries(["film#0"], ["film"], np.array([9.0]), ["a door opens"])
    found = WindowedGrounder(Blind(), Windows(4.0, 4.0), nms=1.0).ground(queries)
    assert list(zip(found.start_s, found.end_s, strict=True)) == [(0.0, 4.0), (4.0, 8.0), (5.0, 9.0)]
    with pytest.raises(UsageError, match="cannot be shown"):
        WindowedGrounder(Blind(), Windows(), features=films())


def test_what_is_learned_from_are_windows_that_hold_the_moment():
    rows = [(f"film#{k}", "film", 900.0, f"sentence {k}", 40.0 * k + 3, 40.0 * k + 9) for k in range(20)]
    learned = WindowedGrounder(Blind(), Windows()).fit(Annotations.from_rows(rows)).grounder.learned
    assert learned.n_queries == 20
    np.testing.assert_allclose(learned.end_s - learned.start_s, 6.0)
    np.testing.assert_allclose(learned.duration_s, 25.6)
    assert len(set(learned.start_s.round(3))) > 15  # anywhere in the window


def joined(world, split, per_film):
    """Short videos one behind the other as films."""
    of, features = world.splits[split], world.features
    ids = list(dict.fromkeys(of.video_id))
    rows, frames = [], {}
    for low in range(0, len(ids), per_film):
        some = ids[low : low + per_film]
        ends = np.cumsum([len(features[name]) for name in some])
        film, starts = f"{split}-film{low}", dict(zip(some, np.append(0, ends[:-1]) / features.fps, strict=True))
        frames[film] = np.concatenate([features[name] for name in some])
        for row in np.flatnonzero(np.isin(of.video_id.astype(str), some)):
            at = starts[of.video_id[row]]
            moment = at + of.start_s[row], at + of.end_s[row]
            rows.append((of.query_id[row], film, ends[-1] / features.fps, of.sentence[row], *moment))
    return Annotations.from_rows(rows, split=split), frames


def test_the_toy_method_learns_from_windows_and_answers_films():
    """Of films it finds far more than when it is shown them in another order."""
    world = make_world(240, location_prior=0.0, query_prior=0.0, perception=1.0, seed=1)
    train, frames = joined(world, "train", 8)
    test, others = joined(world, "test-iid", 8)
    store = Features(frames | others, fps=world.features.fps)
    windows = Windows(48.0, 24.0)
    assert (test.duration_s > 4 * windows.window_s).all()
    toy = WindowedGrounder(ToyGrounder(store), windows).fit(train)
    measures = ["R@1,IoU=0.5", "R@5,IoU=0.5"]
    found = evaluate(test, toy.ground(test.queries, 10), measures)
    lost = evaluate(test, toy.with_features(shuffled(store)).ground(test.queries, 10), measures)
    assert found.value("R@5,IoU=0.5") > 0.5
    assert found.value("R@1,IoU=0.5") > 3 * lost.value("R@1,IoU=0.5")
    assert found.value("R@5,IoU=0.5") > 3 * lost.value("R@5,IoU=0.5")


def shuffled(store):
    changed = ChangedFeatures(store, "shuffled", 0)
    return dataclasses.replace(store, by_video={name: changed[name] for name in store})
