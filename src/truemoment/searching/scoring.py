r"""How well spans of frames match sentences: the cosine of the mean frame with the sentence, no span pooled.

With frame vectors :math:`f_u` and a sentence vector :math:`s`, the published score of the frames a to b - 1 pools them
and takes the cosine (MAD, Soldan et al. 2022, section 4.1, "CLIP"; Soldelli/MAD, baselines/0ShotCLIP):

.. math:: \mathrm{score}(a, b) = \frac{\langle m, s \rangle}{\max(|m|\,|s|,\ 10^{-6})},
          \qquad m = \frac{1}{b - a} \sum_{u=a}^{b-1} f_u

The product is linear in the frames, so that :math:`(b - a) \langle m, s \rangle = C_b - C_a` with prefix sums
:math:`C_b = \sum_{u<b} \langle f_u, s \rangle`: one matrix product of frames and sentences serves all spans.
:math:`|m|` is the same for every sentence, so it is computed once a video.

Sums are of float64. A difference of prefix sums is off by up to :math:`(b - a)\, 2^{-53} \max |C|`; a span that is very
small beside that (frames of magnitude 10 in a video with one of 10^12, say) is summed by itself.

The functions take arrays of NumPy or of PyTorch, on whatever device the frames are (the array API standard), and give
the same kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from truemoment.base.errors import MissingPackageError
from truemoment.base.intervals import Ints

EPSILON = 1e-6
"""Least denominator of the cosine (Soldelli/MAD)."""

BLOCK_NUMBERS = 1 << 17
"""Approximate size of an intermediate table of rows or spans (1 MiB, which fits into the cache of a processor)."""

BLOCK_COLUMNS = 64
"""Dimensions whose prefix sums are in memory at a time: 17 MB for a video of 110 minutes at 5 fps."""

SMALL = 2.0**-24
"""A sum that is so small beside the largest prefix sum is not taken from a difference of them."""

Array = Any
"""An array of NumPy, PyTorch or another library of the array API standard."""


def join_frames(frames: Array, first: Ints, end: Ints) -> tuple[Array, Ints, Ints]:
    """Merge frames that are in the same spans into their mean.

    Scores and lengths of the spans stay what they are. Proposals of MAD begin and end with even frames, so that half
    the work is left.

    Parameters
    ----------
    frames : (F, D)
        Frame vectors.
    first, end : (P,)
        Whole numbers, 0 <= first < end <= F.

    Returns
    -------
    frames : (G, D)
        Means of float64, or the frames themselves where nothing can be joined.
    first, end : (P,)
        The spans, counted in what is left.

    Examples
    --------
    >>> import numpy as np
    >>> join_frames(np.array([[1.0], [3.0], [5.0], [5.0], [9.0]]), np.array([0, 2]), np.array([4, 4]))
    (array([[2.],
           [5.]]), array([0, 1]), array([2, 2]))
    """
    together = int(np.gcd.reduce(np.concatenate([first, end]))) if len(first) else 1
    if together == 1:
        return frames, first, end
    xp, _, _ = _on_one_device(frames, first, end)
    stop = int(end.max())
    means = sum(xp.astype(frames[k:stop:together, :], xp.float64) for k in range(together)) / together
    return means, first // together, end // together


def span_norms(frames: Array, first: Array, end: Array) -> Array:
    r"""Return the length :math:`|m|` of the mean frame of each span.

    Parameters
    ----------
    frames : (F, D)
        Frame vectors, floating-point and finite.
    first, end : (P,)
        Whole numbers, 0 <= first < end <= F.

    Returns
    -------
    array of float64, shape (P,)
        0 for spans of zero vectors.

    Examples
    --------
    >>> import numpy as np
    >>> span_norms(np.array([[3.0, 0.0], [0.0, 4.0]]), np.array([0, 1, 0]), np.array([1, 2, 2]))
    array([3. , 4. , 2.5])
    """
    xp, first, end = _on_one_device(frames, first, end)
    square = xp.zeros(first.shape[0], dtype=xp.float64, device=first.device)
    largest = 0.0
    for some in _blocks(frames.shape[1], BLOCK_COLUMNS):
        before = _prefix_sums(xp, xp.astype(frames[:, some], xp.float64), axis=0)
        largest = max(largest, float(xp.max(xp.abs(before))))
        for block in _blocks(first.shape[0], BLOCK_NUMBERS // BLOCK_COLUMNS):
            total = xp.take(before, end[block], axis=0)
            total -= xp.take(before, first[block], axis=0)
            square[block] += xp.vecdot(total, total, axis=-1)
    length = xp.sqrt(square)
    for p in _small_spans(xp, length, largest, frames, first, end):
        length[p] = xp.linalg.vector_norm(_sum_frames(xp, frames, first, end, p))
    return length / xp.astype(end - first, xp.float64)


def span_scores(frames: Array, sentences: Array, first: Array, end: Array, norms: Array) -> Array:
    """Return the cosine of the mean frame of each span with each sentence.

    The result has a number a sentence and span: where both are many, hand over some sentences at a time.

    Parameters
    ----------
    frames : (F, D)
        Frame vectors, floating-point and finite.
    sentences : (S, D)
        Sentence vectors, likewise.
    first, end : (P,)
        Whole numbers, 0 <= first < end <= F.
    norms : (P,)
        What :func:`span_norms` gives for the same frames and spans.

    Returns
    -------
    array of float64, shape (S, P)
        From -1 to 1, but for rounding; 0 where the mean frame or the sentence is 0.

    Examples
    --------
    >>> import numpy as np
    >>> frames, first, end = np.eye(2), np.array([0, 1, 0]), np.array([1, 2, 2])
    >>> span_scores(frames, np.array([[1.0, 0.0]]), first, end, span_norms(frames, first, end)).round(4)
    array([[1.    , 0.    , 0.7071]])
    """
    xp, first, end = _on_one_device(frames, first, end)
    sentences = xp.astype(xp.asarray(sentences, device=frames.device), xp.float64)
    lengths = xp.linalg.vector_norm(sentences, axis=1, keepdims=True)  # (S, 1)
    lengths = xp.where(lengths > 0, lengths, 1.0)
    directions = sentences / lengths
    before = _prefix_sums(xp, _products(xp, frames, directions), axis=1)  # (S, F + 1)
    n_frames = xp.astype(end - first, xp.float64)
    sizes = n_frames * xp.asarray(norms, device=frames.device)
    scores = xp.empty((sentences.shape[0], first.shape[0]), dtype=xp.float64, device=frames.device)
    for row in range(sentences.shape[0]):
        scores[row, :] = xp.take(before[row, :], end)
        scores[row, :] -= xp.take(before[row, :], first)
    largest = float(xp.max(xp.abs(before))) if sentences.shape[0] else 0.0
    for p in _small_spans(xp, sizes, largest, frames, first, end):
        scores[:, p] = directions @ _sum_frames(xp, frames, first, end, p)
    for row in range(sentences.shape[0]):
        scores[row, :] /= xp.maximum(sizes, n_frames * (EPSILON / lengths[row, 0]))
    return scores


def _on_one_device(frames: Array, first: Array, end: Array) -> tuple[Any, Array, Array]:
    """Return the namespace of the arrays' library, and the ends of the spans on the device of the frames."""
    try:
        import array_api_compat  # noqa: PLC0415 - only scoring needs it
    except ModuleNotFoundError:
        raise MissingPackageError("array-api-compat", "search", "scoring of long videos") from None
    xp = array_api_compat.array_namespace(frames)
    return xp, xp.asarray(first, device=frames.device), xp.asarray(end, device=frames.device)


def _blocks(many: int, size: int) -> Iterator[slice]:
    return (slice(low, low + size) for low in range(0, many, size))


def _prefix_sums(xp: Any, numbers: Array, axis: int) -> Array:  # noqa: ANN401 - a library's namespace
    """Return the sums of all numbers before each place, and of all numbers; one longer along the axis."""
    shape = tuple(many + (number == axis) for number, many in enumerate(numbers.shape))
    sums = xp.zeros(shape, dtype=numbers.dtype, device=numbers.device)
    sums[(slice(None),) * axis + (slice(1, None),)] = xp.cumulative_sum(numbers, axis=axis)
    return sums


def _products(xp: Any, frames: Array, sentences: Array) -> Array:  # noqa: ANN401 - a library's namespace
    """Return the products of sentences (S, D) with frames (F, D), (S, F)."""
    size = max(BLOCK_NUMBERS // max(frames.shape[1], 1), 1)
    blocks = _blocks(frames.shape[0], size)
    return xp.concat([sentences @ xp.astype(frames[block, :], xp.float64).T for block in blocks], axis=1)


def _small_spans(xp: Any, size: Array, largest: float, frames: Array, first: Array, end: Array) -> list[int]:  # noqa: ANN401, PLR0917 - a library's namespace; private
    """Return the spans whose sum is too small for a difference of prefix sums; sums of zero vectors are exact."""
    small = xp.nonzero(size < SMALL * largest)[0]
    if small.shape[0] == 0:
        return []
    filled = _prefix_sums(xp, xp.astype(xp.any(frames != 0, axis=1), xp.int64), axis=0)
    return [int(p) for p in small if filled[first[p]] < filled[end[p]]]


def _sum_frames(xp: Any, frames: Array, first: Array, end: Array, p: int) -> Array:  # noqa: ANN401 - a library's namespace
    """Return the sum of the frames of one span, (D,)."""
    return xp.sum(xp.astype(frames[int(first[p]) : int(end[p]), :], xp.float64), axis=0)
