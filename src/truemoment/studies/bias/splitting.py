"""Split a dataset again, so that guessing where moments usually are helps less.

The procedure of Closer Look (Yuan et al. 2021, section 4.1), with settings for what the paper leaves open:

1. All queries are ranked by the density of their moments (:mod:`truemoment.studies.bias.shifts`).
2. The queries of the lowest ranks are *marked* for test-ood: the smallest number that fills it, or a given share.
3. Videos with more than half of their queries marked go to test-ood; those with exactly half only by `ties`.
4. Videos with a long moment (by default at least half of the video) stay out of test-ood: else the prediction "the
   whole video" gains there.
5. The other videos are assigned at random to val, test-iid and train.

``docs/resplit.md`` has the settings that reproduce Charades-CD and ActivityNet-CD query by query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import TIE, Bools, Ints, seconds_to_norm
from truemoment.base.known_names import one_of_known
from truemoment.base.records import Annotations
from truemoment.data.datasets.resplit_folder import ASIDE, SPLITS
from truemoment.data.language import Engine, get_engine
from truemoment.studies.bias.shifts import LocationShift, Ranking, Shift, WordShift

Ties = Literal["ood", "rest"]


@dataclass(frozen=True)
class Plan:
    """Settings of a new split of a dataset.

    Parameters
    ----------
    ood, val, iid
        Shares of the queries for test-ood, val and test-iid; train gets the rest.
    shifts
        One shift, or a shift of location and one of words, which are combined.
    marked
        Share of the queries marked for test-ood by their location; None for as many as fill it, or for
        :data:`MARKED_OF_TWO` if new words fill it.
    longest_norm
        Videos with a moment of at least this share of the video (in plain float64) stay out of test-ood; None for no
        limit. Only used by a shift of location.
    ties
        Destination of videos with exactly half of their queries marked; None for ``rest``, or for ``ood`` with new
        terms (the other queries of the video are then put aside).
    """

    ood: float = 0.2
    val: float = 0.05
    iid: float = 0.05
    shifts: tuple[Shift, ...] = (LocationShift(),)
    marked: float | None = None
    longest_norm: float | None = 0.5
    ties: Ties | None = None

    def __post_init__(self) -> None:
        for name in ("ood", "val", "iid", "marked", "longest_norm"):
            share = getattr(self, name)
            if share is not None and not 0 < share < 1:
                raise UsageError(f"got {name} {share:g}, expected a share of more than 0 and less than 1")
        if self.ood + self.val + self.iid > LARGEST_TESTS + TIE:
            raise UsageError(
                f"got {self.ood:g} for test-ood, {self.val:g} for val and {self.iid:g} for test-iid, expected "
                f"{LARGEST_TESTS:g} together at most: the rest is for training"
            )
        if self.ties is not None and self.ties not in get_args(Ties):
            raise UsageError(f"got ties {self.ties!r}, expected one of {', '.join(get_args(Ties))}")
        kinds = [type(shift) for shift in self.shifts]
        if not kinds or len(set(kinds)) < len(kinds):
            raise UsageError("expected one shift, or one of location and one of words or compositions")
        if self.marked is not None and self.location is None:
            raise UsageError("a share of the queries is marked by location, but there is no shift of location")

    @property
    def location(self) -> LocationShift | None:
        """The shift of location, if there is one."""
        return next((shift for shift in self.shifts if isinstance(shift, LocationShift)), None)

    @property
    def ties_go(self) -> Ties:
        """Destination of videos with exactly half of their queries marked."""
        return self.ties or ("rest" if self.new is None else "ood")

    @property
    def least_dense(self) -> float | None:
        """Share of the queries marked by their location; None for as many as fill test-ood, or for none."""
        if self.marked is None and self.location is not None and self.new is not None:
            return MARKED_OF_TWO
        return self.marked

    @property
    def new(self) -> WordShift | None:
        """The shift of words or compositions, if there is one."""
        return next((shift for shift in self.shifts if isinstance(shift, WordShift)), None)


LARGEST_TESTS = 0.9
"""Largest share of test-ood, val and test-iid together."""

N_TRIED = 32
"""Number of ranks to try if none fills test-ood; the nearest one is used."""

MARKED_OF_TWO = 0.4
"""Share of the queries, the least dense, that test-ood is drawn from by a shift of both location and words."""


@dataclass(frozen=True, eq=False)
class Resplit:
    """A new split of a dataset.

    Parameters
    ----------
    members
        Name of a split -> mask of its queries, (Q,); also :data:`ASIDE` if queries were put aside.
    marked : (Q,)
        Queries that were marked for test-ood.
    terms
        New words or compositions, in the order in which they were drawn; none for a shift of location alone.
    """

    annotations: Annotations
    plan: Plan
    members: Mapping[str, Bools]
    marked: Bools
    ranking: Ranking
    terms: tuple[str, ...] = ()

    def part(self, name: str) -> Annotations:
        """Return a split."""
        if name not in self.members:
            raise UsageError(f"got split {name!r}, expected {one_of_known(name, self.members)}")
        return replace(self.annotations.select_queries(self.members[name]), split=name)


def resplit(
    annotations: Annotations, rng: np.random.Generator, plan: Plan | None = None, engine: Engine | None = None
) -> Resplit:
    """Split a dataset again.

    Queries without a moment or of unknown duration are never marked by location. An InputError means that there are too
    few videos, no density, no word to draw, or no video for test-ood.

    Examples
    --------
    >>> import numpy as np
    >>> from truemoment import Annotations
    >>> from truemoment.worlds import make_world
    >>> world = make_world(100, seed=1)
    >>> whole = Annotations.joined([world.splits[name] for name in ("train", "val", "test-iid")])
    >>> members = resplit(whole, np.random.default_rng(0)).members
    >>> {name: round(float(member.mean()), 2) for name, member in members.items()}
    {'train': 0.68, 'val': 0.05, 'test-iid': 0.06, 'test-ood': 0.2}
    """
    plan = Plan() if plan is None else plan
    drawing, assigning = rng.spawn(2)
    # Numbers by name, so that the order of the file has no effect.
    names, video = np.unique(annotations.queries.video_id.astype(str), return_inverse=True)
    n_videos = len(names)
    if n_videos < len(SPLITS):
        raise InputError(f"{annotations.dataset}: got {n_videos} videos, expected {len(SPLITS)} or more to split")
    ranking = _ranking(annotations, plan, engine, drawing)
    barred = _overlong(annotations, video, None if plan.location is None else plan.longest_norm)
    sides = partial(_sides, ranking, video, barred, plan)
    low = ranking.rank <= _threshold(ranking, plan, lambda low: int(sides(low)[0].sum()))
    ood, rest = sides(low)
    if not ood.any():
        raise InputError(f"{annotations.dataset}: no video reaches test-ood{_why_none(plan)}")
    n_left = len(np.unique(video[rest]))
    if n_left < len(SPLITS) - 1:
        raise InputError(
            f"{annotations.dataset}: test-ood leaves {n_left} videos, expected {len(SPLITS) - 1} or more for train, "
            "val and test-iid"
        )
    val, iid = _assign(video, rest, (plan.val, plan.iid), assigning)
    members = {"train": rest & ~val & ~iid, "val": val, "test-iid": iid, "test-ood": ood}
    if not members["train"].any():
        raise InputError(f"{annotations.dataset}: nothing is left for train, expected smaller shares for the others")
    if not np.all(ood | rest):
        members[ASIDE] = ~(ood | rest)
    return Resplit(annotations, plan, MappingProxyType(members), low & ranking.eligible, ranking, _drawn(ranking, low))


def _sides(ranking: Ranking, video: Ints, barred: Bools, plan: Plan, low: Bools) -> tuple[Bools, Bools]:
    """Return the queries of test-ood and of other splits, (Q,) each, given the queries of `low` rank.

    With new terms some queries are in neither: those of low rank elsewhere, the other queries of the videos of
    test-ood, and new compositions of a word that is not in training.
    """
    marked = low & ranking.eligible
    in_ood = by_majority(video, marked, ties_count=plan.ties_go == "ood")[video] & ~barred[video]
    if ranking.terms is None:
        return in_ood, ~in_ood
    ood, rest = in_ood & marked, ~in_ood & ~low
    if plan.new is not None and plan.new.new == "compositions":
        ood = ood & parts_known(ranking, _drawn(ranking, low), rest)
    return ood, rest


def _ranking(annotations: Annotations, plan: Plan, engine: Engine | None, rng: np.random.Generator) -> Ranking:
    """Rank by location, by new words, or by new words of queries at rare locations."""
    by_location = None if plan.location is None else plan.location.rank(annotations)
    if plan.new is None:
        if by_location is None:
            raise UsageError("expected a shift")
        return by_location
    by_words = plan.new.rank(annotations, get_engine() if engine is None else engine, rng)
    if by_location is None:
        return by_words
    marked = by_location.rank <= _quantile(by_location, plan.least_dense or 1.0)
    return replace(by_words, eligible=marked & by_location.eligible, density=by_location.density)


def _quantile(ranking: Ranking, share: float) -> float:
    """Return the rank up to which a share of all queries is."""
    ordered = np.sort(ranking.rank)
    return float(ordered[max(int(share * len(ordered) + TIE), 1) - 1])


def _overlong(annotations: Annotations, video: Ints, longest_norm: float | None) -> Bools:
    """Return videos with a moment of at least this share of the video, (V,)."""
    barred = np.zeros(int(video.max()) + 1, dtype=bool)
    if longest_norm is not None:
        has_duration = annotations.duration_s > 0
        duration_s = np.where(has_duration, annotations.duration_s, 1.0)
        start, end = (seconds_to_norm(times, duration_s) for times in (annotations.start_s, annotations.end_s))
        long = has_duration & (np.abs(end - start) >= longest_norm)  # plain float64, as the published splits were made
        barred[np.repeat(video, np.diff(annotations.offsets))[long]] = True
    return barred


def by_majority(video: Ints, marked: Bools, *, ties_count: bool) -> Bools:
    """Return videos with more than half of their queries marked, (V,); with exactly half too if `ties_count`."""
    size, n_marked = np.bincount(video), np.bincount(video, weights=marked)
    return np.asarray((2 * n_marked > size) | (ties_count & (2 * n_marked == size)))


def _threshold(ranking: Ranking, plan: Plan, n_ood: Callable[[Bools], int]) -> float:
    """Return the rank up to which queries are marked: a share of them, or as many as fill test-ood."""
    if plan.marked is not None and plan.new is None:
        return _quantile(ranking, plan.marked)
    ranks = np.unique(ranking.rank[np.isfinite(ranking.rank)])
    target = plan.ood * len(ranking.rank) - TIE
    low, high = 0, len(ranks) - 1  # `high` is the lowest rank known to fill it, or the last
    while low < high:
        middle = (low + high) // 2
        filled = n_ood(ranking.rank <= ranks[middle]) >= target
        low, high = (low, middle) if filled else (middle + 1, high)
    if not len(ranks):
        return -np.inf
    if n_ood(ranking.rank <= ranks[high]) < target:  # too many new compositions, so training does not have their words
        positions = np.unique(np.linspace(0, high, N_TRIED).astype(np.int64))
        high = int(positions[np.argmax([n_ood(ranking.rank <= ranks[at]) for at in positions])])
    return float(ranks[high])


def _drawn(ranking: Ranking, low: Bools) -> tuple[str, ...]:
    """Return new terms, in the order in which they were drawn; none for a shift of location alone."""
    return ranking.candidates[: int(ranking.rank[low].max(initial=-1.0)) + 1] if ranking.candidates else ()


def parts_known(ranking: Ranking, new: Sequence[str], rest: Bools) -> Bools:
    """Return queries with a new composition whose words are both in compositions of other splits, (Q,)."""
    terms = ranking.terms or ()
    word_pairs = [term.split() for q in np.flatnonzero(rest).tolist() for term in terms[q]]
    verbs, nouns = ({parts[at] for parts in word_pairs} for at in (0, 1))
    complete_terms = {term for term in new if term.split()[0] in verbs and term.split()[1] in nouns}
    return np.array([not complete_terms.isdisjoint(query_terms) for query_terms in terms], dtype=bool)


def _why_none(plan: Plan) -> str:
    if plan.location is not None and plan.longest_norm is not None:
        limit = f"a moment of at least {plan.longest_norm:g} of the video"
        return f"; videos with {limit} are kept out, expected a larger share"
    return "; no video has half of its queries marked, expected a larger share"


def _assign(video: Ints, rest: Bools, shares: Sequence[float], rng: np.random.Generator) -> list[Bools]:
    """Assign videos at random, one split after the other, until each has its share of all queries; (Q,) each."""
    size = np.bincount(video[rest], minlength=int(video.max()) + 1)
    videos = rng.permutation(np.flatnonzero(size))
    assigned = np.concatenate([[0], np.cumsum(size[videos])])
    splits, start = [], 0
    for share in shares:
        target = assigned[start] + share * len(video) - TIE
        stop = min(int(np.searchsorted(assigned, target)), len(videos))
        selected = np.zeros(len(size), dtype=bool)
        selected[videos[start:stop]] = True
        splits.append(selected[video] & rest)
        start = stop
    return splits
