"""Files as the authors of Moment-DETR and QD-DETR publish them, with weights by a rule.

Names and shapes are those of jayleicn/moment_detr at b7e553a and wjun0830/QD-DETR at 56c63b2. The numbers of a name are
those of :mod:`tests.models.detr_authors`, which are the same in every version of NumPy; the authors' programs were
run on these weights once, and the expected outputs in the tests are theirs.
"""

import argparse
import itertools

import torch
from tests.models.detr_authors import numbers

SMALL = {"d": 16, "heads": 2, "feedforward": 24, "encoders": 1, "decoders": 2, "slots": 4, "clip": 6, "word": 5}
MIDDLE = {
    **{"d": 32, "heads": 4, "feedforward": 48, "encoders": 2, "decoders": 3},
    **{"slots": 5, "clip": 10, "word": 8},
}
FULL = {
    **{"d": 256, "heads": 8, "feedforward": 1024, "encoders": 2, "decoders": 2},
    **{"slots": 10, "clip": 2816, "word": 512},
}


def weight(name, shape):
    """Return the weights of a name: matrices scaled by their width, norms and slopes near 1, biases near 0."""
    drawn = numbers(name, shape)
    if len(shape) > 1:
        return drawn * (3.0 / shape[-1]) ** 0.5
    return 1.0 + 0.1 * drawn if name.endswith("weight") else 0.1 * drawn


def linear(name, *shape):
    """Return the shapes of a linear map (out, in), or of a norm (width,)."""
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


def shapes(model, *, d, heads, feedforward, encoders, decoders, slots, clip, word):
    """Return the shape of every tensor of a model by the authors' name."""
    del heads  # no shape depends on it
    wide, is_qd = feedforward, model == "qd-detr"
    made = {}
    for part, width in (("input_vid_proj", clip + 2), ("input_txt_proj", word)):
        made |= linear(f"{part}.0.LayerNorm", width) | linear(f"{part}.0.net.1", d, width)
        made |= linear(f"{part}.1.LayerNorm", d) | linear(f"{part}.1.net.1", d, d)
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
    made |= {"txt_position_embed.position_embeddings.weight": (32, d)} | linear("txt_position_embed.LayerNorm", d)
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
    parameters = [torch.nn.Parameter(tensors["class_embed.bias"].clone())]
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
