"""Layers of graphs: GCNeXt and which neighbours it reads, dependencies, matching, and attention to clips."""

import pytest
import torch

from truemoment.baselines.proposals import DiagonalMap
from truemoment.learning.models.layers.gcnext import GCNeXt
from truemoment.learning.models.layers.graph_matching import GraphMatching
from truemoment.learning.models.layers.nearest_nodes import FAR, nearest_nodes, node_rows
from truemoment.learning.models.layers.syntactic_graph import SyntacticGraph
from truemoment.learning.models.vlg_net import MomentAttention

H, N = 6, 8


def gcnext(reading, seed=0):
    torch.manual_seed(seed)
    return GCNeXt(H, neighbours=3, groups=2, width=3, reading=reading).double()


@pytest.fixture
def clips():
    return torch.randn(2, H, N, generator=torch.Generator().manual_seed(1)).double()


def test_neighbours_do_not_depend_on_the_order_of_channels(clips):
    """Specification, section 11.2: permute channels and weights; with the published reading the output changes."""
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    for reading, same in (("nearest", True), ("published", False)):
        block, other = gcnext(reading), gcnext(reading)
        with torch.no_grad():
            for part in ("temporal", "semantic"):
                ours, theirs = getattr(block, part), getattr(other, part)
                both = torch.cat([order, order + H]) if part == "semantic" else order
                theirs.first.weight.copy_(ours.first.weight[:, both])
                theirs.last.weight.copy_(ours.last.weight[order])
                theirs.last.bias.copy_(ours.last.bias[order])
        assert torch.allclose(other(clips[:, order]), block(clips)[:, order], atol=1e-10) == same


def test_the_published_reading_is_of_the_memory(clips):
    """Specification, section 2.1.5: clip j is the numbers jD to (j + 1) D - 1 of the array; the same if N = D = 1."""
    rows = node_rows(clips, "published")
    flat = [number for channel in clips[1].tolist() for number in channel]
    for j in range(N):
        assert rows[1, j].tolist() == flat[j * H : (j + 1) * H]
    assert torch.equal(node_rows(clips, "nearest")[1, 2], clips[1, :, 2])
    one = torch.randn(2, 1, 1)
    assert torch.equal(node_rows(one, "published"), node_rows(one, "nearest"))


def test_a_node_is_its_own_nearest_neighbour(clips):
    """Distances are those of Pythagoras; nodes that do not count are far."""
    counts = torch.tensor([[True] * N, [True] * 3 + [False] * (N - 3)])
    position, distance = nearest_nodes(clips, 4, counts)
    assert position[0, :, 0].tolist() == list(range(N))
    for i in range(N):
        for j, found in zip(position[0, i].tolist(), distance[0, i].tolist(), strict=True):
            assert found == pytest.approx(sum((clips[0, :, i] - clips[0, :, j]) ** 2).item() ** 0.5, abs=1e-9)
    assert sorted(position[1, 0, :3].tolist()) == [0, 1, 2]
    assert distance[1, 0, 3] == FAR
    assert nearest_nodes(clips, 99).position.shape == (2, N, N)


def test_clips_hear_of_those_beside_and_those_nearest(clips):
    """A change of a clip reaches its two neighbours in time, and clips that have it among the 3 nearest; no other."""
    block = gcnext("nearest")
    moved = clips.clone()
    moved[0, :, 4] += 1e-4  # too little to change who is nearest
    difference = (block(moved) - block(clips))[0].abs().amax(dim=0)
    near = nearest_nodes(clips, 3).position
    assert torch.equal(near, nearest_nodes(moved, 3).position)
    touched = {3, 4, 5} | {i for i in range(N) if 4 in near[0, i].tolist()}
    assert len(touched) < N
    assert difference[[i for i in range(N) if i not in touched]].max() == 0
    assert difference[4] > 0


def test_words_hear_of_both_ends_of_a_dependency():
    """Weights sum to 1 over heads and dependents, to 0 without any; words that depend on each other have one edge."""
    torch.manual_seed(0)
    layer = SyntacticGraph(H)
    words = torch.randn(2, 5, H)
    weights = layer.edge_weights(words, torch.tensor([[1, -1, 1, -1, -1], [1, 0, 3, 2, -1]]))
    linked = (weights > 1e-12).nonzero().tolist()
    assert linked == [[0, 0, 1], [0, 1, 0], [0, 1, 2], [0, 2, 1], [1, 0, 1], [1, 1, 0], [1, 2, 3], [1, 3, 2]]
    torch.testing.assert_close(weights.sum(dim=2), torch.tensor([[1.0, 1, 1, 0, 0], [1, 1, 1, 1, 0]]))
    without = layer(words, torch.full((2, 5), -1))
    torch.testing.assert_close(without, words.relu() + words)


def test_padding_behind_a_sentence_reaches_no_node(clips):
    """Other numbers behind a sentence change no clip and no word; with the published padding, the last word."""
    words = torch.randn(2, H, 6).double()
    counts = torch.arange(6) < torch.tensor([[4], [6]])
    other = words.masked_fill(~counts[:, None], 5.0)
    for padding, leaks in (("masked", False), ("published", True)):
        torch.manual_seed(0)
        layer = GraphMatching(H, neighbours=3, groups=2, width=3, padding=padding).double()
        one, two = layer(clips, words, counts), layer(clips, other, counts)
        assert torch.equal(one[0], two[0])
        assert torch.equal(one[1][0, :, :3], two[1][0, :, :3])
        assert torch.equal(one[1][0, :, 3], two[1][0, :, 3]) != leaks


def test_weights_of_clips_sum_to_1_within_the_moment(clips):
    """Specification, section 9: and are 0 outside, also where a clip outside has a far larger logit."""
    proposals = DiagonalMap(N, (3, 2))
    layer = MomentAttention(proposals, H).double()
    clips[0, :, 5] *= 1000
    weights = layer.weights(clips, torch.randn(2, H).double())
    torch.testing.assert_close(weights.sum(dim=2), torch.ones(2, len(proposals.cells[0])).double())
    for cell, (first, last) in enumerate(zip(*proposals.cells, strict=True)):
        outside = [t for t in range(N) if not first <= t <= last]
        assert (weights[:, cell, outside] == 0).all()
