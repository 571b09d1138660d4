"""Names of the tensors of published checkpoints beside ours, so that either program reads the weights of the other.

In a name, ``#`` is the number of a layer and ``*`` is ``weight`` or ``bias``. Sources: jayleicn/moment_detr at b7e553a,
wjun0830/QD-DETR at 56c63b2, Zhuo-Cao/FlashVTG at 25b9591.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from truemoment.learning.models.layers.clip_pyramid import STRIDES

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
    sizes
        Where the settings are seen: our name of a tensor and an axis, or the beginning of the names of layers and None.
    scalars
        Our names of tensors that are single numbers.
    """

    table: Mapping[str, str]
    sizes: Mapping[str, tuple[str, int | None]]
    scalars: frozenset[str] = frozenset()

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

_INPUTS = {
    "input_vid_proj.#.LayerNorm.*": "clips_in.#.norm.*",
    "input_vid_proj.#.net.1.*": "clips_in.#.linear.*",
    "input_txt_proj.#.LayerNorm.*": "words_in.#.norm.*",
    "input_txt_proj.#.net.1.*": "words_in.#.linear.*",
}

_GLOBAL = {"saliency_proj1.*": "saliency_clip.*", "saliency_proj2.*": "saliency_global.*"}

_SET = {
    **_INPUTS,
    "transformer.decoder.norm.*": "decoder_norm.*",
    "span_embed.layers.#.*": "span.#.*",
    "class_embed.*": "moment_or_none.*",
}

_MOMENT_DETR = {
    **_SET,
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
    **_SET,
    "query_embed.weight": "anchors",
    "global_rep_token": "global_row",
    "global_rep_pos": "global_place",
    **_GLOBAL,
    **_below("transformer.t2v_encoder.layers.#", "words_into_clips.#", _ENCODER | _SLOPE),
    **_below("transformer.encoder.layers.#", "encoder.#", _ENCODER | _SLOPE),
    **_below("transformer.decoder.layers.#", "decoder.#", _QD_DECODER),
    "transformer.decoder.query_scale.layers.#.*": "code_scale.#.*",
    "transformer.decoder.ref_point_head.layers.#.*": "slot_place.#.*",
    "transformer.decoder.bbox_embed.layers.#.*": "refine.#.*",
    "transformer.decoder.ref_anchor_head.layers.#.*": "width_gate.#.*",
}

_SCORE = {"convs.0.*": "convolve.*", "fc.layers.#.*": "score.#.*"}

_INTO_CLIPS = {name: ours for name, ours in (_ENCODER | _SLOPE).items() if not name.startswith("self_attn")}

_HALVINGS = {
    f"pyramid.blocks.{level}.{5 * halving + module}.*": f"pyramid.{level - 1}.{halving}.{part}.*"
    for level in range(1, len(STRIDES))
    for halving in range(level)
    for module, part in ((1, "convolve"), (3, "norm"))  # of five modules, which also turn rows and cut them off at 0
}

_FLASH_VTG = {
    **_INPUTS,
    **_GLOBAL,
    "token_type_embeddings.weight": "kinds",
    "dummy_rep_token": "dummies",
    "dummy_rep_pos": "dummy_place",
    **_below("txtproj_encoder.layers.#", "dummy_encoder.#", _ENCODER | _SLOPE),
    **_below("transformer.t2v_encoder.layers.#", "words_into_clips.#", _INTO_CLIPS),
    "transformer.t2v_encoder.layers.#.self_attn.out_proj.*": "words_into_clips.#.out.*",
    **_below("transformer.encoder.layers.#", "encoder.#", _ENCODER | _SLOPE),
    **_HALVINGS,
    "pooling.att.weight": "sentence.weight",
    **_below("class_head", "level_score", _SCORE),
    **_below("conf_head", "row_score", _SCORE),
    "coord_head.module.1.*": "ends.0.*",
    "coord_head.module.3.*": "ends.1.*",
    "coef": "level_factor",
    "x": "level_share",
}

_SIZES: dict[str, tuple[str, int | None]] = {
    "hidden": ("clips_in.1.linear.weight", 0),
    "feedforward": ("encoder.0.widen.weight", 0),
    "encoder_layers": ("encoder.", None),
}

_SET_SIZES = _SIZES | {"decoder_layers": ("decoder.", None)}

_FLASH_VTG_SIZES = _SIZES | {
    "dummies": ("dummies", 0),
    "dummy_layers": ("dummy_encoder.", None),
    "word_layers": ("words_into_clips.", None),
    "kernel": ("level_score.convolve.weight", 2),
    "score_layers": ("level_score.score.", None),
}

PUBLISHED: Mapping[str, PublishedNames] = MappingProxyType(
    {
        "moment-detr": PublishedNames(_MOMENT_DETR, _SET_SIZES | {"slots": ("slots", 0)}),
        "qd-detr": PublishedNames(_QD_DETR, _SET_SIZES | {"slots": ("anchors", 0)}),
        "flash-vtg": PublishedNames(_FLASH_VTG, _FLASH_VTG_SIZES, frozenset({"level_share"})),
    }
)
"""The families whose published checkpoints can be read."""
