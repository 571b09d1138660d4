"""Evaluation conventions by name: ours, each paper's, each peer evaluator's.

``get_protocol("moment-detr")`` gives one; ``get_protocol("default,comparison=>=,tolerance=none")`` gives
one with fields changed. To add one, write a small file with its fields and where each was read, and
name it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from truemoment.exceptions import ProtocolError
from truemoment.protocols import (
    closer_look,
    cone,
    default,
    hao2022,
    hidden_challenges,
    lmms_eval,
    mad_clip,
    mad_vlgnet,
    mmaction2,
    moment_detr,
    sets,
    tan2d,
    timelens,
    unitime,
    videomind,
    vslnet,
)
from truemoment.protocols.base import CONVENTION_FIELDS, Protocol, read_fields

__all__ = [
    "CONVENTION_FIELDS",
    "PROTOCOLS",
    "Protocol",
    "get_protocol",
    "protocol_for_dataset",
]

PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        module.PROTOCOL.name: module.PROTOCOL
        for module in (
            default,
            closer_look,
            hidden_challenges,
            moment_detr,
            tan2d,
            mad_clip,
            mad_vlgnet,
            vslnet,
            timelens,
            lmms_eval,
            videomind,
            unitime,
            cone,
            mmaction2,
            hao2022,
            sets,
        )
    }
)
"""Every named protocol."""

_OF_DATASET = {"qvhighlights": "moment-detr"}


def get_protocol(text: str) -> Protocol:
    """Return a protocol by name, with fields changed where the text says so.

    Parameters
    ----------
    text
        ``NAME`` or ``NAME,field=value,...``; ``none`` stands for no value, ``yes`` and ``no`` for switches.

    Raises
    ------
    ProtocolError
        Naming what is not known and what is.

    Examples
    --------
    >>> get_protocol("default,comparison=>=").hit.comparison
    '>='
    """
    name, *changes = (part.strip() for part in text.split(","))
    if name not in PROTOCOLS:
        raise ProtocolError(f"unknown protocol {name!r}, expected one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name].changed(**read_fields(changes)) if changes else PROTOCOLS[name]


def protocol_for_dataset(dataset: str) -> Protocol:
    """Return the convention a dataset is evaluated by when nothing else is asked for."""
    return PROTOCOLS[_OF_DATASET.get(dataset, "default")]
