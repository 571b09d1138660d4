r"""ToyGrounder: a small learned method that sees the video, and can exploit location biases.

It knows no word's meaning; it learns only from the annotations it is fitted on.

1. **Words.** Ridge regression from the words of a sentence to the mean feature inside the reference minus the mean
   outside, whitened by the covariance of all frames (Fisher's discriminant). It predicts a direction for a new
   sentence, along which each frame gets a *relevance*.
2. **Evidence.** For each of 528 candidate moments (starts and ends on a grid of 1/32 of the video) the profile
   likelihood that relevance is higher inside than outside: with n frames and the correlation :math:`\rho` of
   relevance and candidate, :math:`g = -\frac{n}{2} \log(1 - \rho^2)` if :math:`\rho > 0`, else 0.
3. **Prior.** A smoothed histogram of the references over the candidates, shifted by ridge regression on the words:
   :math:`\pi(c \mid \mathrm{words})`.
4. **Prediction.** The posterior :math:`p(c) \propto \pi(c)\, e^{w g(c)}` gives each candidate its expected score
   :math:`\sum_{c'} p(c')\, h(c, c')`, with h the share of the IoU thresholds 0.3, 0.5, 0.7 and 0.9 that c exceeds
   against c'. The best candidate is first, then the best whose IoU with all above is at most 0.45, and so on.

The weight of the words in 3 and the weight w of the evidence are chosen on the validation split: the smallest values
within one standard error of the best. If features carry no information, w is about 0 and the method guesses.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from truemoment.base.errors import InputError, UsageError
from truemoment.base.intervals import Bools, Floats, Ints, temporal_iou
from truemoment.base.records import Annotations, Predictions, Queries, Strings
from truemoment.worlds.features import Features, coverage

N_STEPS = 32
"""Candidates start and end on a grid of one part in so many of the video."""

EVIDENCE_WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)
"""Weights of the evidence of the video to choose from."""

WORD_WEIGHTS = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
"""Weights of what words say of the location to choose from."""

NMS_THRESHOLD = 0.45
"""An answer whose IoU with a better one is more than this is left out (Hidden Challenges, section 4)."""

UTILITY_THRESHOLDS = (0.3, 0.5, 0.7, 0.9)
"""IoUs that an answer is valued by."""

SMOOTHING_NORM = 0.04
"""Standard deviation of the histogram's smoothing in start and in end, as a fraction of the video."""

RIDGE = 5.0
"""Penalty of both regressions, in sentences: a word heard less often than that counts little."""

LEAST_COUNT = 2
"""Words heard less often in training are not learned."""

LEAST_PRIOR = 0.1
"""A candidate is at least so likely, against one of an even prior, whatever the words say."""

BLOCK_QUERIES = 1024


@dataclass(frozen=True, eq=False)
class ToyCandidates:
    """The candidate moments, as fractions of the video.

    Parameters
    ----------
    first, last : (C,)
        Grid steps of start and end, first < last.
    iou : (C, C)
        IoU of each pair.
    utility : (C, C)
        Score of answer c for the moment c': the share of the thresholds that their IoU exceeds.
    smoothing : (C, C)
        Row c is a smoothed histogram of a single moment at c; sums to 1.
    """

    first: Ints
    last: Ints
    iou: Floats
    utility: Floats
    smoothing: Floats

    def __len__(self) -> int:
        return len(self.first)

    def nearest(self, start_norm: Floats, end_norm: Floats) -> Ints:
        """Return the number of the candidate nearest to each moment (N,); boundaries are rounded separately."""
        first = np.clip(np.rint(start_norm * N_STEPS), 0, N_STEPS - 1).astype(np.int64)
        last = np.clip(np.rint(end_norm * N_STEPS), first + 1, N_STEPS).astype(np.int64)
        return first * (2 * N_STEPS - first + 1) // 2 + last - first - 1


@functools.cache
def candidates() -> ToyCandidates:
    """Return every moment of the grid: 528 with 32 steps.

    Examples
    --------
    >>> import numpy as np
    >>> grid = candidates()
    >>> at = int(grid.nearest(np.array([0.25]), np.array([0.5]))[0])
    >>> len(grid), int(grid.first[at]), int(grid.last[at])
    (528, 8, 16)
    """
    first, last = np.triu_indices(N_STEPS)
    last = last + 1
    start, end = first / N_STEPS, last / N_STEPS
    iou = temporal_iou(start[:, None], end[:, None], start, end)
    utility = np.mean([iou > threshold for threshold in UTILITY_THRESHOLDS], axis=0)
    squared = (start[:, None] - start) ** 2 + (end[:, None] - end) ** 2
    smoothing = np.exp(-squared / (2 * SMOOTHING_NORM**2))
    return ToyCandidates(first, last, iou, utility, smoothing / smoothing.sum(axis=1, keepdims=True))


@dataclass(frozen=True, eq=False)
class ToyModel:
    """The fitted parameters of :class:`ToyGrounder`.

    Parameters
    ----------
    column
        Column of each word (its stem) among W.
    concepts : (W, D)
        Contribution of a word to the direction of relevance.
    prior, prior_of_word : (C,), (W, C)
        Prior of each candidate, which sums to 1, and the contribution of a word to it.
    mean_words : (W,)
        Fraction of the training sentences with each word.
    word_weight, evidence_weight
        Weight of the words in the prior, and weight w of the evidence.
    """

    column: Mapping[str, int]
    concepts: Floats
    prior: Floats
    prior_of_word: Floats
    mean_words: Floats
    word_weight: float = 1.0
    evidence_weight: float = 1.0


@dataclass(frozen=True, eq=False)
class ToyGrounder:
    """A Grounder that learns words and locations from annotations, and sees frame features.

    Parameters
    ----------
    model
        Fitted parameters; None before :meth:`fit`.

    Examples
    --------
    >>> from truemoment.evaluation.evaluate import evaluate
    >>> from truemoment.worlds import make_world
    >>> world = make_world(200, perception=1.0)
    >>> toy = ToyGrounder(world.features).fit(world.splits["train"], world.splits["val"])
    >>> test = world.splits["test-iid"]
    >>> evaluate(test, toy.ground(test.queries), "R@1,IoU=0.5").value("R@1,IoU=0.5") > 0.7
    True
    """

    features: Features
    name: str = "toy"
    model: ToyModel | None = None

    def fit(self, train: Annotations, val: Annotations | None = None) -> ToyGrounder:
        """Return a copy fitted on `train`, with both weights chosen on `val`.

        Parameters
        ----------
        train
            Training annotations. Moments are clipped to the video; moments of length 0 are ignored.
        val
            Validation annotations. Without any moment, every fifth video of `train` is used; below five videos both
            weights are 1.
        """
        learned = _DrawnSentences.of(train, self.features)
        validation = None if val is None else _DrawnSentences.of(val, self.features)
        if len(learned) == 0:
            raise InputError("has no moments of positive length, expected at least one", field="train")
        if validation is None or len(validation) == 0:
            number = {video_id: at for at, video_id in enumerate(dict.fromkeys(learned.sentences.video_id))}
            validates = np.array([number[video_id] % 5 == 4 for video_id in learned.sentences.video_id])
            learned, validation = learned.select(~validates), learned.select(validates)
        model = _learn(learned, self.features)
        if len(validation):
            model = _choose(model, self.features, validation)
        return dataclasses.replace(self, model=model)

    def with_features(self, features: Features) -> ToyGrounder:
        """Return the same fitted method with other features, e.g. shuffled ones."""
        return dataclasses.replace(self, features=features)

    def ground(self, queries: Queries, top: int = 10) -> Predictions:
        """Predict up to `top` moments for each query; an unknown duration is taken from the frames."""
        if self.model is None:
            raise UsageError("the toy method is not fitted; use what its fit(train, val) returns")
        if top < 1:
            raise UsageError(f"got top={top}, expected 1 or more")
        grid = candidates()
        columns: list[tuple[Ints, Floats, Floats, Floats]] = []
        for low in range(0, len(queries), BLOCK_QUERIES):
            block = slice(low, low + BLOCK_QUERIES)
            sentences = _QuerySentences.of(
                queries.video_id[block], queries.sentence[block], queries.duration_s[block], self.features
            )
            worth = _worth(*_evidence(self.model, self.features, sentences), self.model.evidence_weight)
            answer = ranked(worth, top)
            query, rank = np.nonzero(answer >= 0)
            validation = answer[query, rank]
            step_s = sentences.duration_s[query] / N_STEPS
            moments = (grid.first[validation] * step_s, grid.last[validation] * step_s, worth[query, validation])
            columns.append(((answer >= 0).sum(axis=1), *moments))
        if not columns:
            return Predictions.from_lists({}, name=self.name)
        lengths, start_s, end_s, score = (np.concatenate(parts) for parts in zip(*columns, strict=True))
        return Predictions(
            queries.query_id, np.concatenate([[0], np.cumsum(lengths)]), start_s, end_s, score, self.name
        )


def ranked(worth: Floats, top: int) -> Ints:
    """Return the numbers of the best candidates (Q, K), -1 after the last; K is `top` or less.

    A candidate whose IoU with a better one is above 0.45 is skipped; the first of equal `worth` (Q, C) wins.
    """
    remaining = worth.copy()
    clash = candidates().iou > NMS_THRESHOLD
    rows = np.arange(len(worth))
    answer = []
    for _ in range(top):
        best = np.argmax(remaining, axis=1)
        open_ = remaining[rows, best] > -np.inf
        if not open_.any():
            break
        answer.append(np.where(open_, best, -1))
        remaining[clash[best]] = -np.inf
    return np.stack(answer, axis=1) if answer else np.zeros((len(worth), 0), dtype=np.int64)


_WORD = re.compile(r"[a-z]+")


def stem(word: str) -> str:
    """Return an English word without its commonest endings, so that most of its forms are equal.

    Examples
    --------
    >>> [stem(word) for word in ("closes", "closing", "close", "carry", "carries", "carrying", "puts", "putting")]
    ['clos', 'clos', 'clos', 'car', 'car', 'car', 'put', 'put']
    """
    for endings in (("ing", "ies", "es", "s"), ("e", "y")):
        ending = next((suffix for suffix in endings if word.endswith(suffix) and len(word) >= len(suffix) + 3), "")
        word = word.removesuffix(ending)
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word


@functools.lru_cache(maxsize=1 << 16)
def _stems(sentence: str) -> frozenset[str]:
    return frozenset(map(stem, _WORD.findall(sentence.lower())))


@dataclass(frozen=True, eq=False)
class _QuerySentences:
    """Q sentences about videos whose features are there: the words of each, and the duration."""

    video_id: Strings
    words: tuple[frozenset[str], ...]
    duration_s: Floats

    @classmethod
    def of(cls, video_id: Strings, sentence: Strings, duration_s: Floats, features: Features) -> _QuerySentences:
        seen_s = np.array([len(features[name]) / features.fps for name in video_id], dtype=np.float64)
        return cls(video_id, tuple(map(_stems, sentence)), np.where(duration_s > 0, duration_s, seen_s))

    def __len__(self) -> int:
        return len(self.video_id)

    def indicators(self, column: Mapping[str, int]) -> Floats:
        """Which of W words each sentence contains, shape (Q, W)."""
        table = np.zeros((len(self), len(column)))
        pairs = [(row, column[word]) for row, words in enumerate(self.words) for word in words if word in column]
        if pairs:
            table[tuple(np.array(pairs).T)] = 1.0
        return table


@dataclass(frozen=True, eq=False)
class _DrawnSentences:
    """Sentences with their moments as fractions of the video, 0 <= start < end <= 1."""

    sentences: _QuerySentences
    start_norm: Floats
    end_norm: Floats

    @classmethod
    def of(cls, annotations: Annotations, features: Features) -> _DrawnSentences:
        sentences = _QuerySentences.of(annotations.video_id, annotations.sentence, annotations.duration_s, features)
        start, end = (np.clip(at / sentences.duration_s, 0, 1) for at in (annotations.start_s, annotations.end_s))
        return cls(sentences, start, end).select(end > start)

    def __len__(self) -> int:
        return len(self.start_norm)

    def select(self, keep: Bools) -> _DrawnSentences:
        rows = np.flatnonzero(keep)
        words = tuple(self.sentences.words[row] for row in rows)
        sentences = _QuerySentences(self.sentences.video_id[rows], words, self.sentences.duration_s[rows])
        return _DrawnSentences(sentences, self.start_norm[rows], self.end_norm[rows])


def _learn(examples: _DrawnSentences, features: Features) -> ToyModel:
    """Fit both regressions; both weights are left at 1."""
    sentences, grid = examples.sentences, candidates()
    count = Counter(word for words in sentences.words for word in words)
    vocabulary = sorted(word for word, times in count.items() if times >= LEAST_COUNT)
    column = {word: at for at, word in enumerate(vocabulary)}
    words = sentences.indicators(column)
    inverse = np.linalg.inv(words.T @ words + RIDGE * np.eye(len(vocabulary)))

    contrast, covariance = _contrasts(examples, features)
    concepts = inverse @ (words.T @ contrast)

    at = grid.nearest(examples.start_norm, examples.end_norm)
    histogram = np.bincount(at, minlength=len(grid)) / len(at)
    prior = histogram @ grid.smoothing
    mean_words = words.mean(axis=0)
    of_word = np.zeros((len(vocabulary), len(grid)))
    np.add.at(of_word.T, at, words)
    prior_of_word = inverse @ (of_word @ grid.smoothing - len(at) * mean_words[:, None] * prior)
    return ToyModel(
        MappingProxyType(column), np.linalg.solve(covariance, concepts.T).T, prior, prior_of_word, mean_words
    )


def _contrasts(examples: _DrawnSentences, features: Features) -> tuple[Floats, Floats]:
    """Mean feature inside each moment less the mean outside (N, D), and the covariance of all frames (D, D)."""
    n_dimensions, fps = features.n_dimensions, features.fps
    contrast = np.zeros((len(examples), n_dimensions))
    scatter, n_frames = np.zeros((n_dimensions, n_dimensions)), 0
    rows_of: dict[str, list[int]] = {}
    for row, video_id in enumerate(examples.sentences.video_id):
        rows_of.setdefault(video_id, []).append(row)
    for video_id, rows in rows_of.items():
        frames = features[video_id].astype(np.float64)
        frames -= frames.mean(axis=0)
        scatter += frames.T @ frames
        n_frames += len(frames)
        duration_s = examples.sentences.duration_s[rows]
        cover = coverage(examples.start_norm[rows] * duration_s, examples.end_norm[rows] * duration_s, len(frames), fps)
        inside = cover.sum(axis=1, keepdims=True)
        outside = len(frames) - inside
        # Centred frames sum to 0, so their sum outside is minus their sum inside.
        both = (inside > 0) & (outside > 0)
        contrast[rows] = np.where(both, cover @ frames, 0) / np.where(both, inside * outside / len(frames), 1)
    covariance = scatter / max(n_frames, 1)
    return contrast, covariance + (0.01 * np.trace(covariance) / n_dimensions + 1e-12) * np.eye(n_dimensions)


def _evidence(model: ToyModel, features: Features, sentences: _QuerySentences) -> tuple[Floats, Floats]:
    """The evidence of the video for each candidate, and the logarithm of its prior; both (Q, C)."""
    words = sentences.indicators(model.column)
    direction = words @ model.concepts
    log_prior = _log_prior(model, words)
    steps = np.arange(N_STEPS + 1) / N_STEPS
    sums = np.empty((len(sentences), N_STEPS + 1))
    variance, n_frames = np.empty(len(sentences)), np.empty(len(sentences))
    for row, (video_id, duration_s) in enumerate(zip(sentences.video_id, sentences.duration_s, strict=True)):
        frames = features[video_id]
        relevance = frames @ direction[row]
        relevance -= relevance.mean()
        up_to = np.concatenate([[0.0], np.cumsum(relevance)])
        at = np.minimum(steps * duration_s * features.fps, len(frames))
        sums[row] = np.interp(at, np.arange(len(up_to)), up_to)
        variance[row], n_frames[row] = relevance.var(), len(frames)
    return _gain(sums, variance, n_frames), log_prior


def _log_prior(model: ToyModel, words: Floats) -> Floats:
    """Logarithm of how likely each candidate is before the video is seen (Q, C); `words` are indicators (Q, W)."""
    prior = model.prior + model.word_weight * ((words - model.mean_words) @ model.prior_of_word)
    return np.asarray(np.log(np.maximum(prior, LEAST_PRIOR / len(model.prior))))


def _gain(sums: Floats, variance: Floats, n_frames: Floats) -> Floats:
    r"""Return the profile log-likelihood ratio of each candidate (Q, C): :math:`-\frac{n}{2} \log(1 - \rho^2)`, or 0.

    With the mean of all frames at 0 and a share f of them inside, :math:`\rho^2 = (S / n)^2 / (f (1 - f) \sigma^2)`,
    with S the sum inside, above 0. `sums` (Q, N_STEPS + 1) are sums of the relevance before each step of the grid.
    """
    grid = candidates()
    share = (grid.last - grid.first) / N_STEPS
    inside = np.maximum(sums[:, grid.last] - sums[:, grid.first], 0) / n_frames[:, None]
    whole = (share * np.maximum(1 - share, 1e-9)) * np.maximum(variance, 1e-12)[:, None]
    squared = np.where(share < 1, inside**2 / whole, 0)
    return np.asarray(-n_frames[:, None] / 2 * np.log1p(-np.minimum(squared, 1 - 1e-6)))


def _worth(gain: Floats, log_prior: Floats, weight: float) -> Floats:
    """Expected score of each candidate under the posterior, shape (Q, C)."""
    log_posterior = weight * gain + log_prior
    posterior = np.exp(log_posterior - log_posterior.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    return np.asarray(posterior @ candidates().utility)


def _choose(model: ToyModel, features: Features, examples: _DrawnSentences) -> ToyModel:
    """Choose both weights by the score of first answers: the words' without the video, then the video's."""
    words = examples.sentences.indicators(model.column)
    heard = [dataclasses.replace(model, word_weight=weight) for weight in WORD_WEIGHTS]
    blind = np.zeros((len(examples), len(candidates())))
    reached = [_reached(_worth(blind, _log_prior(word_weights, words), 0.0), examples) for word_weights in heard]
    model = heard[_least_good(np.array(reached))]
    gain, log_prior = _evidence(model, features, examples.sentences)
    reached = [_reached(_worth(gain, log_prior, weight), examples) for weight in EVIDENCE_WEIGHTS]
    return dataclasses.replace(model, evidence_weight=EVIDENCE_WEIGHTS[_least_good(np.array(reached))])


def _reached(worth: Floats, examples: _DrawnSentences) -> Floats:
    """Share of the thresholds that each example's first answer exceeds, shape (N,)."""
    grid = candidates()
    best = np.argmax(worth, axis=1)
    start, end = grid.first[best] / N_STEPS, grid.last[best] / N_STEPS
    iou = temporal_iou(start, end, examples.start_norm, examples.end_norm)
    return np.asarray(np.mean([iou > threshold for threshold in UTILITY_THRESHOLDS], axis=0))


def _least_good(reached: Floats) -> int:
    """First of W weights whose mean over N examples is within a standard error of the best; `reached` is (W, N)."""
    behind = reached[np.argmax(reached.mean(axis=1))] - reached
    error = behind.std(axis=1) / np.sqrt(reached.shape[1])
    return int(np.argmax(behind.mean(axis=1) <= error))
