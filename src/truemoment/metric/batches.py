"""What a batch of a training loop contains, as lists: tensors of any device, arrays or lists."""

from __future__ import annotations

import numbers
import warnings
from typing import Any

import numpy as np

from truemoment.exceptions import InputError
from truemoment.intervals import Floats

Moments = list[list[float]]
"""Moments of one query, each (start_s, end_s) or (start_s, end_s, score)."""


def moments_of_batch(batch: Any, name: str, widths: tuple[int, ...]) -> list[Moments]:  # noqa: ANN401 - see `batch`
    """Return the moments of each query of a batch; rows of NaN are padding and left out.

    Parameters
    ----------
    batch
        A tensor or array (B, n, w) or (B, w), or B tensors, arrays or lists (n, w) or (w,).
    name
        The argument's name in errors.
    widths
        Allowed numbers of columns w.

    Examples
    --------
    >>> moments_of_batch([[2.0, 5.0], [], [[0.0, 9.0], [1.0, 4.0]]], "references", (2,))
    [[[2.0, 5.0]], [], [[0.0, 9.0], [1.0, 4.0]]]
    """
    whole = _as_array(batch, name) if _has_shape(batch) else None
    if whole is None:
        tables = [_as_table(_as_array(item, name), name, widths) for item in _on_processor(list(batch))]
    elif whole.ndim in {2, 3}:
        tables = [_as_table(item, name, widths) for item in whole]
    else:
        raise InputError(f"got shape {whole.shape}, expected (B, n, {_or(widths)}) or (B, {_or(widths)})", field=name)
    return [table.tolist() for table in tables]


def ids_of_batch(batch: Any, name: str) -> list[str]:  # noqa: ANN401 - a tensor, or ids
    """Return ids as text: text, or whole numbers as the rows of a dataset, also of a tensor.

    Examples
    --------
    >>> ids_of_batch(range(2), "query_ids")
    ['0', '1']
    """
    items = batch.tolist() if _has_shape(batch) else [of.tolist() if _has_shape(of) else of for of in batch]
    wrong = next((of for of in items if not isinstance(of, str | numbers.Integral)), None)
    if wrong is not None:
        raise InputError(f"got {wrong!r}, expected text or whole numbers", field=name)
    return [str(item) for item in items]


def _has_shape(batch: Any) -> Any:  # noqa: ANN401 - a tensor is known by what it has, so that PyTorch is not imported
    return hasattr(batch, "shape") and hasattr(batch, "tolist")


def _as_array(values: Any, name: str) -> Floats:  # noqa: ANN401 - anything that may be a table
    """Return float64 values; a float16 or bfloat16 table is warned of, since its seconds are coarse."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        _warn_if_coarse(values.dtype, values.dtype.itemsize, 8 if "bfloat16" in str(values.dtype) else 11)
        values = values.double().numpy()
    elif isinstance(values, np.ndarray):
        _warn_if_coarse(values.dtype, values.dtype.itemsize, 11)
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            "got something that is no table of numbers, expected moments in seconds", field=name
        ) from error


def _warn_if_coarse(dtype: object, itemsize: int, bits: int) -> None:
    if itemsize < 4 and "float" in str(dtype):
        warnings.warn(
            f"times in {dtype} are rounded by up to {2.0 ** (6 - bits):g} s at 100 s; "
            "convert the model's output to float32 before it is multiplied by the duration",
            stacklevel=5,
        )


def _as_table(values: Floats, name: str, widths: tuple[int, ...]) -> Floats:
    """Return the moments of one query as a table (n, w), without padding."""
    if values.shape == (0,):
        return values.reshape(0, 2)
    table = values[None] if values.ndim == 1 else values
    if table.ndim != 2 or table.shape[1] not in widths:
        raise InputError(f"got shape {values.shape} for a query, expected (n, {_or(widths)})", field=name)
    padding = np.isnan(table).all(axis=1)
    return table[~padding] if padding.any() else table


def _on_processor(items: list[Any]) -> list[Any]:
    """Return tensors on the processor, which a GPU sends together; other items as they are."""
    if not items or not all(hasattr(item, "detach") and item.ndim == 2 for item in items):
        return items
    if len({item.shape[1] for item in items}) > 1 or items[0].device.type == "cpu":
        return items
    import torch  # noqa: PLC0415 - the items are its tensors

    return list(torch.split(torch.cat([item.detach() for item in items]).cpu(), [len(item) for item in items]))


def _or(widths: tuple[int, ...]) -> str:
    return " or ".join(map(str, widths))
