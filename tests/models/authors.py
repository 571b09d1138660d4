"""Numbers of the authors' code of methods, the weights that names stand for, and a sum to compare tensors by."""

import json
import zlib
from pathlib import Path

import numpy as np
import torch


def recorded(method):
    """What the authors' code gave for a method: a source, and cases."""
    return json.loads(Path(__file__).with_name(f"{method}_golden.json").read_text(encoding="utf-8"))


def numbers(name, shape):
    """Numbers in [-1, 1) that a name stands for: words of PCG64 seeded with its CRC-32."""
    raw = np.random.PCG64(zlib.crc32(name.encode())).random_raw(int(np.prod(shape)))
    return ((raw >> np.uint64(11)) * 2.0**-52 - 1.0).reshape(shape)


def drawn(name, *shape):
    return torch.from_numpy(numbers(name, shape))


def filled(model, gains=()):
    """The model in double precision, with each parameter of the numbers of its name.

    Factors lie around 1, biases around 0. `gains` are pairs of the beginning of a name and what its weights are
    multiplied by.
    """
    model = model.double()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            values = drawn(name, *parameter.shape)
            if parameter.ndim > 1:
                gain = next((gain for start, gain in gains if name.startswith(start)), 1.0)
                values *= gain * (3.0 / np.prod(parameter.shape[1:])) ** 0.5
            else:
                values = 0.3 * values + name.endswith(("weight", "scales"))
            parameter.copy_(values)
    return model


def mark(tensor):
    """A sum that depends on each value and its place."""
    values = tensor.detach().flatten().double()
    return float((values * torch.cos(torch.arange(len(values), dtype=torch.float64))).sum())
