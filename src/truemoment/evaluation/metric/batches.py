"""A batch of a training loop as records: from tensors of any device, arrays or lists."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from truemoment.base.errors import InputError
from truemoment.base.intervals import Floats, Ints
from truemoment.base.records import Annotations, Predictions, as_strings, positions_in_lists


@dataclass(frozen=True, eq=False)
class BatchMoments:
    """Moments of B queries as columns.

    Parameters
    ----------
    lengths : (B,)
        Number of moments of each query.
    moments : (M, 2) or (M, 3)
        Start and end in seconds, and for predictions the score.
    """

    lengths: Ints
    moments: Floats

    def __len__(self) -> int:
        return len(self.lengths)

    @classmethod
    def of_batch(cls, batch: Any, name: str, widths: tuple[int, ...]) -> BatchMoments:  # noqa: ANN401 - see `batch`
        """Return the moments of a batch.

        Parameters
        ----------
        batch
            A tensor or array (B, n, w) or (B, w), or B tensors, arrays or lists (n, w) or (w,). Rows of NaN are
            padding.
        name
            The argument's name in errors.
        widths
            Allowed numbers of columns w.

        Examples
        --------
        >>> table = BatchMoments.of_batch([[2.0, 5.0], [], [[0.0, 9.0], [1.0, 4.0]]], "references", (2,))
        >>> table.lengths.tolist(), table.moments.shape
        ([1, 0, 2], (3, 2))
        """
        columns = " or ".join(map(str, widths))
        if _has_shape(batch):
            whole = as_array(batch, name)
            if whole.ndim not in {2, 3} or whole.shape[-1] not in widths:
                raise InputError(f"got shape {whole.shape}, expected (B, n, {columns}) or (B, {columns})", field=name)
            lengths = np.full(len(whole), 1 if whole.ndim == 2 else whole.shape[1])
            return cls(lengths, whole.reshape(-1, whole.shape[-1]))._without_padding()
        arrays = (as_array(item, name) for item in _on_processor(list(batch)))
        tables = [array[None] if array.ndim == 1 and array.size else array for array in arrays]  # one moment: no list
        filled = [table for table in tables if table.size]
        wrong = next((table for table in filled if table.ndim != 2 or table.shape[1] not in widths), None)
        if wrong is not None:
            raise InputError(f"got shape {wrong.shape} for a query, expected (n, {columns})", field=name)
        if len({table.shape[1] for table in filled}) > 1:
            raise InputError("got moments with and without a score in one batch, expected one form", field=name)
        lengths = np.array([len(table) if table.size else 0 for table in tables], dtype=np.int64)
        return cls(lengths, np.concatenate(filled) if filled else np.zeros((0, widths[0])))._without_padding()

    def _without_padding(self) -> BatchMoments:
        padding = np.isnan(self.moments).all(axis=1)
        if not padding.any():
            return self
        query = np.repeat(np.arange(len(self)), self.lengths)[~padding]
        return BatchMoments(np.bincount(query, minlength=len(self)), self.moments[~padding])

    def __getitem__(self, rows: Ints) -> BatchMoments:
        """Return the moments of some queries."""
        if len(rows) == len(self):
            return self
        offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        return BatchMoments(self.lengths[rows], self.moments[positions_in_lists(offsets, rows)])

    def as_predictions(self, query_id: list[str]) -> Predictions:
        """Return the moments as predictions; without scores their order is the rank."""
        offsets = np.concatenate([[0], np.cumsum(self.lengths)])
        start_s, end_s, *rest = self.moments.T
        score = rest[0] if rest else np.repeat(offsets[:-1], self.lengths) - np.arange(float(len(start_s)))
        return Predictions(as_strings(query_id, "query_id"), offsets, start_s, end_s, score, scored=bool(rest))

    def as_annotations(self, query_id: list[str], video_id: list[str], duration_s: Floats) -> Annotations:
        """Return the moments as references; a query of length 0 has no moment in its video."""
        rows = np.maximum(self.lengths, 1)
        first = np.cumsum(rows) - rows
        times = np.full((int(rows.sum()), 2), np.nan)
        times[np.delete(np.arange(len(times)), first[self.lengths == 0])] = self.moments
        empty = as_strings([""] * len(times), "sentence")
        return Annotations(
            query_id=np.repeat(as_strings(query_id, "query_id"), rows),
            video_id=np.repeat(as_strings(video_id, "video_id"), rows),
            duration_s=np.repeat(duration_s, rows),
            sentence=empty,
            start_s=times[:, 0],
            end_s=times[:, 1],
            annotator=empty,
        )


def first_rows(ids: list[str]) -> Iterator[Ints]:
    """Yield the rows in which each id comes first, then those in which it comes a second time, and so on.

    Examples
    --------
    >>> [rows.tolist() for rows in first_rows(["a", "b", "a"])]
    [[0, 1], [2]]
    """
    rows = np.arange(len(ids))
    if len(set(ids)) == len(ids):
        yield rows
        return
    while len(rows):
        last_row = {ids[row]: row for row in reversed(rows.tolist())}
        first = np.sort(list(last_row.values()))
        yield first
        rows = np.setdiff1d(rows, first)


def ids_of_batch(batch: Any, name: str) -> list[str]:  # noqa: ANN401 - a tensor, or ids
    """Return ids as text: text, or whole numbers as the rows of a dataset, also of a tensor.

    Examples
    --------
    >>> ids_of_batch(range(2), "query_ids")
    ['0', '1']
    """
    items = batch.tolist() if _has_shape(batch) else [item.tolist() if _has_shape(item) else item for item in batch]
    wrong = next((item for item in items if not isinstance(item, str | numbers.Integral)), None)
    if wrong is not None:
        raise InputError(f"got {wrong!r}, expected text or whole numbers", field=name)
    return [str(item) for item in items]


def _has_shape(batch: Any) -> bool:  # noqa: ANN401 - a tensor is recognised by its attributes, so that PyTorch is not imported
    return hasattr(batch, "shape") and hasattr(batch, "tolist")


def as_array(values: Any, name: str) -> Floats:  # noqa: ANN401 - anything that may be a table
    """Return float64 values, with a warning for float16 and bfloat16 tables, whose seconds are coarse."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        _warn_if_coarse(values, 8 if "bfloat16" in str(values.dtype) else 11)
        values = values.double().numpy()
    elif isinstance(values, np.ndarray):
        _warn_if_coarse(values, 11)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError("got something that is no table of numbers, expected seconds", field=name) from error


def _warn_if_coarse(values: Any, bits: int) -> None:  # noqa: ANN401 - a tensor or an array
    """Warn about floats of two bytes with this many significant bits."""
    if values.dtype.itemsize < 4 and "float" in str(values.dtype):
        warnings.warn(
            f"times in {values.dtype} are rounded by up to {2.0 ** (6 - bits):g} s at 100 s; "
            "convert the model's output to float32 before you multiply it by the duration",
            stacklevel=5,
        )


def _on_processor(items: list[Any]) -> list[Any]:
    """Return tensors on the processor, which a GPU sends together; other items as they are."""
    if not items or not all(hasattr(item, "detach") and item.ndim == 2 for item in items):
        return items
    if len({item.shape[1] for item in items}) > 1:
        return items
    import torch  # noqa: PLC0415 - the items are its tensors

    return list(torch.split(torch.cat([item.detach() for item in items]).cpu(), [len(item) for item in items]))
