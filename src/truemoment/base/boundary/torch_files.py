"""Files of ``torch.save`` that other people made: their tensors and plain values are read, and nothing of them runs.

Such a file is a pickle, which can name any function. PyTorch's restricted reader makes only tensors, containers and
allowed classes of what a file names; a file that names anything else is refused, and the message has the name.
"""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from collections import OrderedDict
from collections.abc import Sequence

from truemoment.base.boundary.arrays import refusing_damage
from truemoment.base.boundary.files import DATA_BYTES, read_bytes
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.boundary.text import as_text
from truemoment.base.boundary.unpacking import FREE_BYTES, refuse_swollen
from truemoment.base.errors import InputError, MissingPackageError

DAMAGED = "found no file of torch.save, expected a checkpoint of PyTorch"
"""The message about a file that PyTorch does not read."""
_NAMED = re.compile(r"GLOBAL ([\w.]+)")
"""What PyTorch's message calls by its name."""


def read_torch(path: AnyPath, *allowed: type, as_dict: Sequence[str] = ()) -> object:
    """Return the value of a file of ``torch.save``, on the processor.

    Parameters
    ----------
    path
        The file, in the form of any version of PyTorch.
    allowed
        Classes that the file may name beside tensors and containers. They must do nothing when they are made.
    as_dict
        Names of foreign dictionaries that the file may name: each is read as a plain one.

    Raises
    ------
    InputError
        If the file names anything else, or is damaged.
    """
    try:
        import torch  # noqa: PLC0415 - importing it takes seconds
    except ModuleNotFoundError:
        raise MissingPackageError("torch", "models", "reading a checkpoint of PyTorch") from None
    data = read_bytes(path, most=DATA_BYTES)
    named_as_dict = [(OrderedDict, name) for name in as_dict]
    with torch.serialization.safe_globals([*allowed, *named_as_dict]), refusing_damage(path, DAMAGED):
        stream = io.BytesIO(data)
        if zipfile.is_zipfile(stream):
            with zipfile.ZipFile(stream) as archive:
                refuse_swollen(path, sum(entry.file_size for entry in archive.infolist()), len(data), free=FREE_BYTES)
            stream.seek(0)
            if foreign := sorted(torch.serialization.get_unsafe_globals_in_checkpoint(stream)):
                raise _foreign(foreign[0], allowed)
        stream.seek(0)
        try:
            value: object = torch.load(stream, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            if named := _NAMED.search(str(error)):
                raise _foreign(named[1], allowed) from None
            raise InputError(DAMAGED, path=path) from None
    return value


def _foreign(name: str, allowed: Sequence[type]) -> InputError:
    """Return the error of a file that names what is not allowed."""
    known = ", ".join(["tensors", *(f"{kind.__module__}.{kind.__qualname__}" for kind in allowed)])
    return InputError(f"names {as_text(name)}, expected {known} and plain values only: opening it could run code")
