"""Scores of the branches of a model against those of its forward pass."""

import numpy as np
import pytest
import torch

from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.base import Batch, Inputs
from truemoment.learning.models.layers.cell_convolution import CellConvolutions, TriangleConvolutions
from truemoment.learning.models.layers.sparse_convolution import SparseConvolutions
from truemoment.learning.models.mdd import MDD, MDDSettings
from truemoment.learning.models.tan2d import Tan2D, Tan2DSettings
from truemoment.learning.models.vlg_net import VlgNet, VlgNetSettings

WIDTH, VECTOR = 6, 5
MODELS = {
    "2D-TAN": lambda: Tan2D(Tan2DSettings(n_clips=8, hidden=16, kernel=3, layers=2, start="level"), INPUTS),
    "2D-TAN, sparse map": lambda: Tan2D(Tan2DSettings(n_clips=32, hidden=8, kernel=5, layers=2, start="level"), INPUTS),
    "MDD": lambda: MDD(MDDSettings(n_clips=8, hidden=16, kernel=3, layers=2, start="level"), INPUTS),
    "MDD, plain": lambda: MDD(
        MDDSettings(n_clips=8, hidden=16, phrases=False, branches=(), project=False, normalise=False, start="level"),
        INPUTS,
    ),
    "VLG-Net": lambda: VlgNet(
        VlgNetSettings(hidden=32, video_neighbours=3, video_groups=4, matching_groups=4, matching_neighbours=3), INPUTS
    ),
}
INPUTS = Inputs(WIDTH, VECTOR)


def make_batch(n_sentences, videos):
    """Sentences of 2 to 7 words, each with each video, sentence by sentence."""
    rng = np.random.default_rng(1)
    n_words = torch.from_numpy(rng.integers(2, 8, n_sentences))
    words = torch.from_numpy(rng.standard_normal((n_sentences, 7, VECTOR))).float()
    words *= (torch.arange(7) < n_words[:, None])[:, :, None]
    sentences = Batch(
        words=words,
        n_words=n_words,
        verbs=torch.zeros(n_sentences, 1, dtype=torch.int64),
        nouns=torch.ones(n_sentences, 1, 1, dtype=torch.int64),
        heads=torch.arange(-1, 6).repeat(n_sentences, 1),
    )
    rows = torch.arange(n_sentences).repeat_interleave(len(videos))
    given = {name: getattr(sentences, name)[rows] for name in ("words", "n_words", "verbs", "nouns", "heads")}
    return sentences, Batch(**given, video=videos.repeat(n_sentences, 1, 1))


@pytest.mark.parametrize("name", MODELS)
def test_branches_score_as_the_model(name):
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    videos = torch.randn(4, 64, WIDTH)
    sentences, pairs = make_batch(3, videos)
    with torch.inference_mode():
        expected = model(pairs).logits.view(3, 4, -1)
        branches = model.branches()
        found = branches.fuse(branches.encode_video(videos), branches.encode_query(sentences))
    assert expected.std() > 1e-3
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_what_depends_on_padding_has_no_branches():
    assert VlgNet(VlgNetSettings(hidden=32, padding="published"), INPUTS).branches() is None
    assert VlgNet(VlgNetSettings(hidden=32, neighbours="published"), INPUTS).branches() is None


@pytest.mark.parametrize("kind", [CellConvolutions, TriangleConvolutions])
@pytest.mark.parametrize(("n_clips", "kernel", "layers"), [(16, 3, 4), (32, 5, 2), (64, 3, 1), (8, 9, 3)])
def test_sparse_convolutions_are_the_dense_ones(kind, n_clips, kernel, layers):
    torch.manual_seed(0)
    proposals = SparseMap(n_clips)
    stack = kind(proposals, 6, kernel=kernel, layers=layers).double()
    cells = torch.randn(2, len(proposals.cells[0]), 6, dtype=torch.float64)
    with torch.inference_mode():
        dense, sparse = stack(cells), SparseConvolutions(stack)(cells)
    assert dense.std() > 0
    torch.testing.assert_close(sparse, dense, rtol=0, atol=1e-12)
