"""The authors' code of Moment-DETR, QD-DETR and FlashVTG: numbers, weights, inputs and names."""

import msgspec
import numpy as np
import torch
from tests.models.authors import numbers, recorded

from truemoment.learning.models import get_family
from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.clip_ratings import ComparedClips
from truemoment.learning.models.published_names import PUBLISHED

RECORDED = recorded("detr")
CLIP_S = 2.0

FLASH_LOGITS = {0: 0.02604055, 1: 0.01107683, 75: -0.03407186, 138: -0.01412142}
"""Logits of points of query 0 of the full size by FlashVTG, of Zhuo-Cao/FlashVTG at 25b9591."""


def authors_name(method, name):
    """The authors' name of a tensor of ours."""
    return PUBLISHED[method].published(name)


START = {"coef": 1.0, "x": 0.5}
"""Around what the numbers of a vector lie, beside 1 for other weights and 0 for the rest."""


def fill(model):
    """Give every tensor of a model the numbers of its authors' name."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            theirs, shape = authors_name(model.name, name), tuple(parameter.shape)
            values = numbers(theirs, shape)
            if len(shape) > 1:
                values = values * (3.0 / np.prod(shape[1:])) ** 0.5
            else:
                values = START.get(theirs, 1.0 if theirs.endswith("weight") else 0.0) + 0.1 * values
            parameter.copy_(torch.from_numpy(np.asarray(values)))
    return model


def built(method, size, kind=torch.float64, **changes):
    """The model of a recorded size with the recorded weights, without dropout, as in training."""
    of = RECORDED["settings"][size]
    family = get_family(method)
    settings = {
        "hidden": of["hidden"],
        "heads": of["heads"],
        "feedforward": of["ff"],
        "encoder_layers": of["enc"],
        "decoder_layers": of["dec"],
        "slots": of["q"],
        "dropout": 0,
        "input_dropout": 0,
    } | changes
    model = family.build(msgspec.convert(settings, family.settings), Inputs(of["dv"], of["dt"]))
    return fill(model.double()).to(kind)


def unit_rows(name, n_rows, width):
    rows = numbers(name, (n_rows, width))
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-5)


def batch_of(size, kind=torch.float64, queries=None, lengths=None):
    """The recorded queries as a batch, padded to the longest of them."""
    of = RECORDED["settings"][size]
    queries = range(len(of["lengths"])) if queries is None else queries
    lengths = [of["lengths"][q] for q in queries] if lengths is None else lengths
    n_words = [of["words"][q] for q in queries]
    video = np.full((len(lengths), max(lengths), of["dv"]), np.nan)
    words = np.zeros((len(lengths), max(n_words), of["dt"]))
    ratings = np.full(video.shape[:2], np.nan)
    moments = np.full((len(lengths), max(len(of["windows"][q]) for q in queries), 2), np.nan)
    for row, q in enumerate(queries):
        video[row, : lengths[row]] = unit_rows(f"video{q}", lengths[row], of["dv"])
        words[row, : n_words[row]] = unit_rows(f"text{q}", n_words[row], of["dt"])
        windows = np.array(of["windows"][q], dtype=float)
        moments[row, : len(windows)] = windows / (CLIP_S * lengths[row])
        for clip in range(lengths[row]):
            inside = any(start <= CLIP_S * clip < end for start, end in windows)
            full = (3 + (7 * clip + q) % 10) if inside else 0
            rating = full if of["allsal"] is None else of["allsal"][q][clip]
            ratings[row, clip] = rating or np.nan
    return Batch(
        words=torch.from_numpy(words).to(kind),
        n_words=torch.tensor(n_words),
        video=torch.from_numpy(video).to(kind),
        moments=torch.from_numpy(moments).to(kind),
        ratings=torch.from_numpy(ratings).to(kind),
    )


def recorded_pairs(size):
    """The clips that the recorded losses compare."""
    of = RECORDED["settings"][size]
    higher, lower = torch.tensor(of["pos"]), torch.tensor(of["neg"])
    return ComparedClips(higher, lower, torch.ones(len(higher), dtype=torch.bool))
