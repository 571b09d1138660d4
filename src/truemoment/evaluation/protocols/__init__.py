"""Evaluation conventions by name: ours, each paper's, each peer evaluator's.

``get_protocol("moment-detr")`` returns one, ``get_protocol("default,comparison=>=,tolerance=none")`` one with changed
fields. To add one, write a small file with its fields and the source of each, and name it here.
"""

from __future__ import annotations

from truemoment.base.errors import ProtocolError
from truemoment.base.known_names import one_of_known
from truemoment.base.registry import Registry
from truemoment.evaluation.protocols import (
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
from truemoment.evaluation.protocols.base import CONVENTION_FIELDS, Protocol, read_fields

__all__ = ["CONVENTION_FIELDS", "PROTOCOLS", "Protocol", "get_protocol", "protocol_for_dataset"]

PROTOCOLS = Registry[Protocol](
    "protocols",
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
    },
    Protocol,
)
"""Every named protocol."""

_OF_DATASET = {"qvhighlights": "moment-detr"}


def get_protocol(text: str) -> Protocol:
    """Return a protocol by name, with changed fields.

    Parameters
    ----------
    text
        ``NAME`` or ``NAME,field=value,...``; ``none`` for no value, ``yes`` and ``no`` for switches.

    Raises
    ------
    ProtocolError
        If a name or value is unknown; the message lists the possible ones.

    Examples
    --------
    >>> get_protocol("default,comparison=>=").hit.comparison
    '>='
    """
    name, *changes = (part.strip() for part in text.split(","))
    if name not in PROTOCOLS:
        raise ProtocolError(f"unknown protocol {name!r}, expected {one_of_known(name, PROTOCOLS)}")
    return PROTOCOLS[name].changed(**read_fields(changes, text)) if changes else PROTOCOLS[name]


def protocol_for_dataset(dataset: str) -> Protocol:
    """Return the default convention of a dataset."""
    return PROTOCOLS[_OF_DATASET.get(dataset, "default")]
