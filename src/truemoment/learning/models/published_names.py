"""Names of the tensors of published checkpoints beside ours, so that either program reads the weights of the other.

In a name, ``#`` is the number of a layer and ``*`` is ``weight`` or ``bias``. Sources: jayleicn/moment_detr at b7e553a,
wjun0830/QD-DETR at 56c63b2.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

WILD = {"#": r"(\d{1,3})", "*": "(weight|bias)"}

UNUSED = ("txt_position_embed.", "contrastive_align_projection_")
"""Beginnings of the names of tensors that a published file may have and that no answer depends on."""


@dataclass(frozen=True)
class PublishedNames:
    """The names of one family.

    Parameters
    ----------
    table
        Our name of each published one.
    """

    table: Mapping[str, str]

    def ours(self, name: str) -> str | None:
        """Return our name of a published tensor; None for an unknown one."""
        return _translated(name, self.table.items())

    def published(self, name: str) -> str | None:
        """Return the published name of one of our tensors; None for an unknown one."""
        return _translated(name, ((ours, published) for published, ours in self.table.items()))


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile("".join(WILD.get(sign, re.escape(sign)) for sign in name))


def _translated(name: str, pairs: Iterable[tuple[str, str]]) -> str | None:
    for before, after in pairs:
        if match := _pattern(before).fullmatch(name):
            parts = iter(match.groups())
            return "".join(next(parts) if sign in WILD else sign for sign in after)
    return None


def _below(published: str, ours: str, names: Mapping[str, str]) -> dict[str, str]:
    """Return names with those of a part before them."""
    return {f"{published}.{name}": f"{ours}.{ours_of_it}" for name, ours_of_it in names.items()}


_WHOLE_ATTENTION = {name: name for name in ("in_proj_weight", "in_proj_bias", "out_proj.*")}

_FEEDFORWARD = {"linear1.*": "widen.*", "linear2.*": "narrow.*"}

_ENCODER = {
    **_below("self_attn", "attention", _WHOLE_ATTENTION),
    **_FEEDFORWARD,
    "norm1.*": "norm_attention.*",
    "norm2.*": "norm_feedforward.*",
}

_DECODER = {**_FEEDFORWARD, "norm1.*": "norm_self.*", "norm2.*": "norm_cross.*", "norm3.*": "norm_feedforward.*"}

_SLOPE = {"activation.weight": "slope"}

_SHARED = {
    "input_vid_proj.#.LayerNorm.*": "clips_in.#.norm.*",
    "input_vid_proj.#.net.1.*": "clips_in.#.linear.*",
    "input_txt_proj.#.LayerNorm.*": "words_in.#.norm.*",
    "input_txt_proj.#.net.1.*": "words_in.#.linear.*",
    "transformer.decoder.norm.*": "decoder_norm.*",
    "span_embed.layers.#.*": "span.#.*",
    "class_embed.*": "moment_or_none.*",
}

_MOMENT_DETR = {
    **_SHARED,
    "query_embed.weight": "slots",
    "saliency_proj.*": "saliency.*",
    **_below("transformer.encoder.layers.#", "encoder.#", _ENCODER),
    **_below("transformer.decoder.layers.#", "decoder.#", _DECODER),
    **_below("transformer.decoder.layers.#.self_attn", "decoder.#.self_attention", _WHOLE_ATTENTION),
    **_below("transformer.decoder.layers.#.multihead_attn", "decoder.#.cross_attention", _WHOLE_ATTENTION),
}

_QD_DECODER = {
    **_DECODER,
    **_SLOPE,
    "sa_qcontent_proj.*": "self_query.*",
    "sa_qpos_proj.*": "self_query_place.*",
    "sa_kcontent_proj.*": "self_key.*",
    "sa_kpos_proj.*": "self_key_place.*",
    "sa_v_proj.*": "self_value.*",
    "self_attn.out_proj.*": "self_out.*",
    "ca_qcontent_proj.*": "cross_query.*",
    "ca_qpos_proj.*": "cross_query_place.*",
    "ca_kcontent_proj.*": "cross_key.*",
    "ca_kpos_proj.*": "cross_key_place.*",
    "ca_v_proj.*": "cross_value.*",
    "ca_qpos_sine_proj.*": "cross_query_code.*",
    "cross_attn.out_proj.*": "cross_out.*",
}

_QD_DETR = {
    **_SHARED,
    "query_embed.weight": "anchors",
    "global_rep_token": "global_row",
    "global_rep_pos": "global_place",
    "saliency_proj1.*": "saliency_clip.*",
    "saliency_proj2.*": "saliency_global.*",
    **_below("transformer.t2v_encoder.layers.#", "words_into_clips.#", _ENCODER | _SLOPE),
    **_below("transformer.encoder.layers.#", "encoder.#", _ENCODER | _SLOPE),
    **_below("transformer.decoder.layers.#", "decoder.#", _QD_DECODER),
    "transformer.decoder.query_scale.layers.#.*": "code_scale.#.*",
    "transformer.decoder.ref_point_head.layers.#.*": "slot_place.#.*",
    "transformer.decoder.bbox_embed.layers.#.*": "refine.#.*",
    "transformer.decoder.ref_anchor_head.layers.#.*": "width_gate.#.*",
}

PUBLISHED: Mapping[str, PublishedNames] = MappingProxyType(
    {"moment-detr": PublishedNames(_MOMENT_DETR), "qd-detr": PublishedNames(_QD_DETR)}
)
"""The families whose published checkpoints can be read."""
