"""Files as the authors of Moment-DETR, QD-DETR and FlashVTG publish them, with weights by a rule.

Names and shapes are those of jayleicn/moment_detr at b7e553a, wjun0830/QD-DETR at 56c63b2 and Zhuo-Cao/FlashVTG at
25b9591. The numbers of a name are
those of :mod:`tests.models.authors`, which are the same in every version of NumPy; the authors' programs were
run on these weights once, and the expected outputs in the tests are theirs.
"""

import argparse
import itertools

import numpy as np
import torch
from tests.models.authors import numbers

SMALL = {"d": 16, "heads": 2, "feedforward": 24, "encoders": 1, "decoders": 2, "slots": 4, "clip": 6, "word": 5}
MIDDLE = {
    **{"d": 32, "heads": 4, "feedforward": 48, "encoders": 2, "decoders": 3},
    **{"slots": 5, "clip": 10, "word": 8},
}
FULL = {
    **{"d": 256, "heads": 8, "feedforward": 1024, "encoders": 2, "decoders": 2},
    **{"slots": 10, "clip": 2816, "word": 512},
}
FLASH_SMALL = {
    **{"d": 16, "heads": 2, "feedforward": 24, "dummies": 3, "dummy_layers": 2, "word_layers": 3, "encoders": 1},
    **{"kernel": 3, "score_layers": 4, "clip": 6, "word": 5},
}
FLASH_FULL = {
    **{"d": 256, "heads": 8, "feedforward": 1024, "dummies": 40, "dummy_layers": 2, "word_layers": 6, "encoders": 3},
    **{"kernel": 5, "score_layers": 5, "clip": 2816, "word": 512},
}


def weight(name, shape):
    """Return the weights of a name: matrices scaled by their width, norms and slopes near 1, biases near 0."""
    if name == "x":
        return np.array(0.5)
    drawn = numbers(name, shape)
    if len(shape) > 1:
        return drawn * (3.0 / np.prod(shape[1:])) ** 0.5
    if name == "coef":
        return 1.0 + 0.1 * drawn
    return 1.0 + 0.1 * drawn if name.endswith("weight") else 0.1 * drawn


def linear(name, *shape):
    """Return the shapes of a map (out, in, ...), or of a norm (width,)."""
    return {f"{name}.weight": shape, f"{name}.bias": shape[:1]}


def attention(name, d):
    return {f"{name}.in_proj_weight": (3 * d, d), f"{name}.in_proj_bias": (3 * d,), **linear(f"{name}.out_proj", d, d)}


def encoder(name, count, d, wide, *, slope):
    layers = {}
    for layer in (f"{name}.layers.{number}" for number in range(count)):
        layers |= attention(f"{layer}.self_attn", d)
        layers |= linear(f"{layer}.linear1", wide, d) | linear(f"{layer}.linear2", d, wide)
        layers |= {f"{layer}.activation.weight": (1,)} if slope else {}
        layers |= linear(f"{layer}.norm1", d) | linear(f"{layer}.norm2", d)
    return layers


def perceptron(name, *widths):
    pairs = enumerate(itertools.pairwise(widths))
    return {key: shape for at, (n, m) in pairs for key, shape in linear(f"{name}.layers.{at}", m, n).items()}


def inputs(d, clip, word, most_words):
    """Return the shapes of the input maps, and of places of words, which no output depends on."""
    made = {"txt_position_embed.position_embeddings.weight": (most_words, d)} | linear(
        "txt_position_embed.LayerNorm", d
    )
    for part, width in (("input_vid_proj", clip + 2), ("input_txt_proj", word)):
        made |= linear(f"{part}.0.LayerNorm", width) | linear(f"{part}.0.net.1", d, width)
        made |= linear(f"{part}.1.LayerNorm", d) | linear(f"{part}.1.net.1", d, d)
    return made


def flash_shapes(
    *, d, heads, feedforward, dummies, dummy_layers, word_layers, encoders, kernel, score_layers, clip, word
):
    """Return the shape of every tensor of FlashVTG."""
    del heads
    made = inputs(d, clip, word, 40) | {"token_type_embeddings.weight": (2, d), "x": (), "coef": (4,)}
    made |= {"dummy_rep_token": (dummies, d), "dummy_rep_pos": (dummies, d), "pooling.att.weight": (1, d)}
    made |= encoder("txtproj_encoder", dummy_layers, d, feedforward, slope=True)
    made |= encoder("transformer.encoder", encoders, d, feedforward, slope=True)
    into = encoder("transformer.t2v_encoder", word_layers, d, feedforward, slope=True)
    made |= {name: shape for name, shape in into.items() if ".in_proj" not in name}
    for level in (1, 2, 3):
        for halving in range(level):
            made |= linear(f"pyramid.blocks.{level}.{5 * halving + 1}", d, d, 2)
            made |= linear(f"pyramid.blocks.{level}.{5 * halving + 3}", d)
    for head in ("class_head", "conf_head"):
        made |= linear(f"{head}.convs.0", d, d, 1, kernel)
        made |= perceptron(f"{head}.fc", d, *[d // 2] * (score_layers - 1), 1)
    made |= linear("coord_head.module.1", d, d, 3) | linear("coord_head.module.3", 2, d, 3)
    return made | linear("saliency_proj1", d, d) | linear("saliency_proj2", d, d)


def shapes(model, **size):
    """Return the shape of every tensor of a model by the authors' name."""
    return flash_shapes(**size) if model == "flash-vtg" else set_shapes(model, **size)


def set_shapes(model, *, d, heads, feedforward, encoders, decoders, slots, clip, word):
    """Return the shape of every tensor of Moment-DETR or QD-DETR."""
    del heads  # no shape depends on it
    wide, is_qd = feedforward, model == "qd-detr"
    made = inputs(d, clip, word, 32)
    made |= encoder("transformer.encoder", encoders, d, wide, slope=is_qd)
    for at, layer in enumerate(f"transformer.decoder.layers.{number}" for number in range(decoders)):
        if is_qd:
            parts = ["sa_qcontent", "sa_qpos", "sa_kcontent", "sa_kpos", "sa_v", "ca_qcontent", "ca_kcontent"]
            parts += ["ca_kpos", "ca_v", "ca_qpos_sine", *(["ca_qpos"] if at == 0 else [])]
            outs = ["self_attn.out_proj", "cross_attn.out_proj"]
            for part in (*(f"{part}_proj" for part in parts), *outs):
                made |= linear(f"{layer}.{part}", d, d)
            made |= {f"{layer}.activation.weight": (1,)}
        else:
            made |= attention(f"{layer}.self_attn", d) | attention(f"{layer}.multihead_attn", d)
        made |= linear(f"{layer}.linear1", wide, d) | linear(f"{layer}.linear2", d, wide)
        for norm in ("norm1", "norm2", "norm3"):
            made |= linear(f"{layer}.{norm}", d)
    made |= linear("transformer.decoder.norm", d) | perceptron("span_embed", d, d, d, 2) | linear("class_embed", 2, d)
    if not is_qd:
        return made | {"query_embed.weight": (slots, d)} | linear("saliency_proj", 1, d)
    made |= encoder("transformer.t2v_encoder", encoders, d, wide, slope=True)
    made |= perceptron("transformer.decoder.query_scale", d, d, d)
    made |= perceptron("transformer.decoder.ref_point_head", d, d, d)
    made |= perceptron("transformer.decoder.bbox_embed", d, d, d, 2)
    made |= perceptron("transformer.decoder.ref_anchor_head", d, d, 1)
    made |= {"query_embed.weight": (slots, 2), "global_rep_token": (d,), "global_rep_pos": (d,)}
    return made | linear("saliency_proj1", d, d) | linear("saliency_proj2", d, d)


def options(size=SMALL, **others):
    """Return the options that the authors' program saves, some of them."""
    return argparse.Namespace(
        **{
            "dset_name": "hl",
            "seed": 2018,
            "device": torch.device("cpu"),
            "max_q_l": 32,
            "max_v_l": 75,
            "clip_length": 2,
            "v_feat_dirs": ["../features/slowfast_features", "../features/clip_features"],
            "v_feat_dim": size["clip"] + 2,
            "t_feat_dim": size["word"],
            "ctx_mode": "video_tef",
            "dropout": 0.1,
            "input_dropout": 0.5,
            "nheads": size["heads"],
            "span_loss_type": "l1",
        }
        | others
    )


def content(model, size=SMALL, **others):
    """Return what a published checkpoint contains; `others` are in place of its options."""
    tensors = {name: torch.from_numpy(weight(name, shape)).float() for name, shape in shapes(model, **size).items()}
    parameters = [torch.nn.Parameter(tensors["input_vid_proj.1.net.1.bias"].clone())]
    optimizer = torch.optim.AdamW(parameters)
    parameters[0].sum().backward()
    optimizer.step()
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 400)
    return {
        "model": tensors,
        "optimizer": optimizer.state_dict(),
        "lr_scheduler": schedule.state_dict(),
        "epoch": 169,
        "opt": options(size, **others),
    }
