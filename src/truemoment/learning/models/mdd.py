"""MDD: 2D-TAN with phrases, position reconstruction, and adjustment for several confounders.

Lan, Yuan et al., "A Closer Look at Debiased Temporal Sentence Grounding in Videos: Dataset, Metric, and
Approach", ACM TOMM 2023, section 4. Two independent parts extend the base, 2D-TAN with few convolutions:

* enhanced modalities: verbs and nouns gate the query (eqs. 3 to 7,
  :class:`PhraseAttention`), and the location of each cell is reconstructed from the
  map M (eq. 8);
* the multi-branch deconfounder (eqs. 11 and 12): each branch is a dictionary of possible confounders (locations,
  actions, or unobserved ones); each cell attends to it, and the product of the branches is added to the cell::

      cells M (B, C, H) ─┬──────────────────────────────── + ── times query ── convolutions ── logits (B, C)
                         └─ attention to L ┐               │
                            attention to U ├─ product ─────┘
                            attention to U ┘

The paper's final model has the branches L, U, U, not the L, A, U of its eq. 11; any list of branches is possible.
Cells that are no candidates are left out, which changes nothing: each cell attends separately.

Choices that the paper leaves open: the base keeps the linear maps of sentence and cells and the normalisation of
2D-TAN's code (`project`, `normalise`); cells query the dictionaries with the gated query (`asks`); each branch has its
own linear maps; word vectors of actions are trained and mapped linearly to width H; the reconstruction loss is the mean
distance of a cell.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec
import torch
from torch import Tensor, nn

from truemoment.base.errors import UsageError
from truemoment.baselines.proposals import SparseMap
from truemoment.learning.models.base import Batch, Count, EncodedQuery, Inputs, MapModel, ModelOutput, Need, Weight
from truemoment.learning.models.layers.attention import CellAttention
from truemoment.learning.models.layers.cell_convolution import CellConvolutions
from truemoment.learning.models.layers.fusion import fuse
from truemoment.learning.models.layers.positions import cell_codes, map_codes, position_loss
from truemoment.learning.models.layers.query import QueryEncoder
from truemoment.learning.models.layers.sparse_convolution import convolutions_to_answer
from truemoment.learning.models.layers.temporal_map import FrameEncoder, MaxMoments
from truemoment.learning.models.losses import candidate_loss, scaled_iou


def _softmax_where(logits: Tensor, counts: Tensor) -> Tensor:
    """Return the softmax over the last axis among the entries that count; 0 elsewhere."""
    least = torch.finfo(logits.dtype).min
    return logits.masked_fill(~counts, least).softmax(dim=-1) * counts


def _take(rows: Tensor, position: Tensor) -> Tensor:
    """Return rows (B, L, ...) at positions (B, ...), (B, ..., rest); at position -1 anything."""
    pair = torch.arange(len(rows), device=rows.device).view(-1, *[1] * (position.ndim - 1))
    return rows[pair, position.clamp(min=0)]


class PhraseAttention(nn.Module):
    r"""Gate each sentence vector by its verbs and nouns.

    MDD's gated query: the verbs of a sentence and their nouns, added to the sentence as a whole.

    The tree of a sentence has its verbs, and under each verb its nouns. With :math:`q` the sentence and :math:`h` the
    query encoder's output at a token (Lan et al. 2023, eqs. 3 to 7; W without biases):

    .. math::
        a^v_i &= W_a \tanh[W_p q \,\Vert\, W_c h^v_i], \quad
        \bar h^v = \sum_i \text{softmax}(a^v)_i \, h^v_i \\
        a^n_j &= W_a \tanh[W_p \bar h^v \,\Vert\, W_c h^n_j] \\
        g_k &= \beta_0 h^v_k + \sum_l \beta_l h^n_{c_{k,l}}, \quad
        \beta = \text{softmax}(a^v_k, a^n_{c_{k,1}}, \ldots) \\
        \bar g &= \text{mean}_k \, g_k, \quad q^f = q + q \bar g.

    The paper leaves two cases open. A sentence without verbs has :math:`\bar g = 0`; a verb without nouns :math:`g_k =
    h^v_k`. A noun may belong to several verbs.
    """

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.parent = nn.Linear(hidden, hidden, bias=False)
        self.child = nn.Linear(hidden, hidden, bias=False)
        self.score = nn.Linear(2 * hidden, 1, bias=False)

    def forward(self, sentence: Tensor, tokens: Tensor, verbs: Tensor, nouns: Tensor) -> Tensor:
        """Return the gated query :math:`q^f`, (B, H), of `sentence` (B, H) and `tokens` (B, L, H).

        `verbs` (B, V) and `nouns` (B, V, K) are positions among the tokens, padded with -1.
        """
        of_parent, of_child = self.score.weight[0].chunk(2)  # W_a on the two halves: a sum of two scores
        children = self.child(tokens).tanh() @ of_child  # (B, L)
        is_verb = verbs >= 0
        is_noun = (nouns >= 0) & is_verb[:, :, None]
        verb, noun = _take(tokens, verbs), _take(tokens, nouns)  # (B, V, H), (B, V, K, H)

        verb_score = (self.parent(sentence).tanh() @ of_parent)[:, None] + _take(children, verbs)  # (B, V)
        all_verbs = torch.einsum("bv,bvh->bh", _softmax_where(verb_score, is_verb), verb)
        noun_score = (self.parent(all_verbs).tanh() @ of_parent)[:, None, None] + _take(children, nouns)  # (B, V, K)

        share = _softmax_where(
            torch.cat([verb_score[:, :, None], noun_score], dim=2), torch.cat([is_verb[:, :, None], is_noun], dim=2)
        )
        phrases = torch.einsum("bvk,bvkh->bh", share, torch.cat([verb[:, :, None], noun], dim=2))
        gate = phrases / is_verb.sum(dim=1, keepdim=True).clamp(min=1)
        return sentence + sentence * gate


class MDDSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings; the defaults are the paper's configuration.

    Rows of its Table 3: "base" is ``phrases=False, reconstruct=False, branches=()``, "base + EM" is ``branches=()``.
    Rows of Table 4 are lists of branches.

    Parameters
    ----------
    n_clips
        N, clips per video.
    hidden
        H, a multiple of `heads` and of 4.
    lstm_layers
        Layers of the LSTM.
    kernel, layers
        Width and number of the convolutions.
    phrases
        Gate the query by verbs and nouns.
    reconstruct
        Reconstruct the location of each cell.
    branches
        Confounders: "L" locations (fixed codes of all N * N cells), "A" actions, "U" unobserved (learnt).
    heads
        Heads of the attention to a dictionary.
    n_actions, n_unobserved
        Entries of each dictionary "A", and of each "U".
    dictionary_spread
        Standard deviation of their random initial values. The product of three branches is small at the start and may
        stay so (see :meth:`MDD.forward`); a larger spread helps.
    asks
        Query of the dictionaries: "gated", or the "sentence" as encoded.
    project, normalise
        Whether sentence and cells pass a linear map before they are multiplied, and whether the product is normalised.
    reconstruction_weight
        Weight of the reconstruction (lambda).
    start
        Initial weights of the convolutions: "pytorch", or "level"
        (:meth:`~truemoment.learning.models.layers.cell_convolution.CellConvolutions.start_level`).
    iou_low, iou_high
        IoU at which a cell's target is 0, and 1.
    """

    n_clips: Count = 16
    hidden: Count = 512
    lstm_layers: Count = 3
    kernel: Count = 5
    layers: Count = 4
    phrases: bool = True
    reconstruct: bool = True
    branches: tuple[Literal["L", "A", "U"], ...] = ("L", "U", "U")
    heads: Count = 4
    n_actions: Count = 80
    n_unobserved: Count = 80
    dictionary_spread: Weight = 0.02
    asks: Literal["gated", "sentence"] = "gated"
    project: bool = True
    normalise: bool = True
    reconstruction_weight: Weight = 1.0
    start: Literal["pytorch", "level"] = "pytorch"
    iou_low: float = 0.5
    iou_high: float = 1.0


class LocationDictionary(nn.Module):
    """The dictionary of locations: codes of all N * N cells, those below the diagonal too."""

    codes: Tensor

    def __init__(self, n_clips: int, hidden: int) -> None:
        super().__init__()
        self.register_buffer("codes", map_codes(n_clips, hidden), persistent=False)

    def forward(self) -> Tensor:
        """Return the entries, (S, H)."""
        return self.codes


class ActionDictionary(nn.Module):
    """The dictionary of actions: word vectors (S, E), mapped to width H."""

    def __init__(self, n_actions: int, n_vector: int, hidden: int, spread: float) -> None:
        super().__init__()
        self.vectors = nn.Parameter(spread * torch.randn(n_actions, n_vector))
        self.linear = nn.Linear(n_vector, hidden)

    def forward(self) -> Tensor:
        """Return the entries, (S, H)."""
        entries: Tensor = self.linear(self.vectors)
        return entries


class Unobserved(nn.Module):
    """A dictionary of unobserved confounders: learnt vectors (S, H)."""

    def __init__(self, n_unobserved: int, hidden: int, spread: float) -> None:
        super().__init__()
        self.vectors = nn.Parameter(spread * torch.randn(n_unobserved, hidden))

    def forward(self) -> Tensor:
        """Return the entries, (S, H)."""
        return self.vectors


class Confounder(nn.Module):
    r"""A branch: each cell attends to a dictionary D, given the query (eq. 12).

    .. math:: \text{attention}(L_o(L_q(u) + L_m(M_c)), \; D W_1, \; D W_2)

    Keys and values of the dictionary are computed once for the whole batch.
    """

    def __init__(self, dictionary: nn.Module, hidden: int, heads: int) -> None:
        super().__init__()
        self.dictionary = dictionary
        self.of_query = nn.Linear(hidden, hidden)
        self.of_cells = nn.Linear(hidden, hidden)
        self.of_both = nn.Linear(hidden, hidden)
        self.key = nn.Linear(hidden, hidden, bias=False)
        self.value = nn.Linear(hidden, hidden, bias=False)
        self.attend = CellAttention(hidden, heads)

    def forward(self, query: Tensor, cells: Tensor) -> Tensor:
        """Return what each cell attends to, (B, C, H), for queries (B, H) and cells (B, C, H)."""
        queries = self.of_both(self.of_query(query)[:, None] + self.of_cells(cells))
        entries = self.dictionary()
        attended: Tensor = self.attend(queries, self.key(entries), self.value(entries))
        return attended


class MDD(MapModel):
    """MDD, its base, and everything between."""

    name: ClassVar[str] = "mdd"
    needs: ClassVar[frozenset[Need]] = frozenset({"video", "phrases", "cell ious"})

    codes: Tensor

    def __init__(self, settings: MDDSettings, inputs: Inputs) -> None:
        proposals = SparseMap(settings.n_clips)
        super().__init__(proposals)
        self.settings = settings
        hidden = settings.hidden
        self.encode_query = QueryEncoder(inputs.n_vector, hidden, settings.lstm_layers)
        self.encode_frames = FrameEncoder(inputs.n_dimensions, hidden, settings.n_clips)
        self.moments = MaxMoments(proposals)
        if settings.project:
            self.project_sentence = nn.Linear(hidden, hidden)
            self.project_cells = nn.Linear(hidden, hidden)
        self.convolutions = CellConvolutions(proposals, hidden, kernel=settings.kernel, layers=settings.layers)
        if settings.start == "level":
            self.convolutions.start_level()
        self.score = nn.Linear(hidden, 1)
        if settings.phrases:
            self.gate = PhraseAttention(hidden)
        if settings.reconstruct:
            self.locate = nn.Linear(hidden, hidden)
            self.register_buffer("codes", cell_codes(proposals, hidden), persistent=False)
        self.confounders = nn.ModuleList(
            Confounder(_dictionary(kind, settings, inputs), hidden, settings.heads) for kind in settings.branches
        )

    def action_entries(self) -> int:
        """Return the entries of the dictionary of actions; 0 if no branch is one."""
        return self.settings.n_actions if "A" in self.settings.branches else 0

    def start_actions(self, vectors: Tensor) -> None:
        """Start the dictionaries of actions from word vectors (S, E), before training.

        Without it they start at random. The paper uses the 80 most frequent action labels; for a label of several
        words, the mean.
        """
        dictionaries = [
            branch.dictionary for branch in self.confounders if isinstance(branch.dictionary, ActionDictionary)
        ]
        if not dictionaries:
            raise UsageError(f"got vectors of actions for an MDD of branches {self.settings.branches}, expected an 'A'")
        for dictionary in dictionaries:
            if vectors.shape != dictionary.vectors.shape:
                raise UsageError(
                    f"got vectors of actions of shape {tuple(vectors.shape)}, "
                    f"expected {tuple(dictionary.vectors.shape)}: n_actions, and numbers a word vector"
                )
            with torch.no_grad():
                dictionary.vectors.copy_(vectors)

    def forward(self, batch: Batch) -> ModelOutput:
        """Score every candidate.

        The extras are "positions" (B, C, H), if the IoU is known and locations are reconstructed, and
        "confounder_share": the standard deviation of what the deconfounder adds, relative to that of the cells. The
        product of several branches may vanish; below 0.001 they have no effect.
        """
        sentence, query = self.sentences_of(batch)
        cells = self.moments(self.encode_frames(batch.require("video")))
        extras = {}
        if self.settings.reconstruct and batch.iou is not None:
            extras["positions"] = self.locate(cells).tanh()
        if len(self.confounders):
            confounded = self.confounded(query if self.settings.asks == "gated" else sentence, cells)
            extras["confounder_share"] = confounded.detach().std() / cells.detach().std()
            cells = cells + confounded
        return ModelOutput(self.score(self.convolutions(self.fused(query, cells))).squeeze(-1), extras)

    def sentences_of(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return the sentences as encoded and as gated by their phrases, (B, H) each."""
        sentence, tokens = self.encode_query(batch.words, batch.n_words)
        return sentence, self._gated(batch, sentence, tokens)

    def fused(self, query: Tensor, cells: Tensor) -> Tensor:
        """Return gated sentences (B, H) fused with cells (B, C, H)."""
        if self.settings.project:
            query, cells = self.project_sentence(query), self.project_cells(cells)
        return fuse(query, cells) if self.settings.normalise else query[:, None] * cells

    def branches(self) -> MDDBranches:
        """Return the branches of cells and sentences."""
        return MDDBranches(self)

    def _gated(self, batch: Batch, sentence: Tensor, tokens: Tensor) -> Tensor:
        """Return the sentences gated by their phrases, (B, H)."""
        if not self.settings.phrases:
            return sentence
        if batch.verbs is None or batch.nouns is None:
            raise UsageError("got a batch without verbs and nouns, expected them: phrases is set")
        query: Tensor = self.gate(sentence, tokens, batch.verbs, batch.nouns)
        return query

    def confounded(self, query: Tensor, cells: Tensor) -> Tensor:
        """Return the product of what the branches find (eq. 11), (B, C, H)."""
        product: Tensor = self.confounders[0](query, cells)
        for branch in self.confounders[1:]:
            product = product * branch(query, cells)
        return product

    def losses(self, batch: Batch, output: ModelOutput) -> dict[str, Tensor]:
        """Return "cells", and "reconstruction" if set."""
        settings = self.settings
        terms = {
            "cells": candidate_loss(
                output.logits, scaled_iou(batch.require("iou"), settings.iou_low, settings.iou_high)
            )
        }
        if settings.reconstruct:
            away = position_loss(output.extras["positions"], self.codes)
            terms["reconstruction"] = settings.reconstruction_weight * away
        return terms


class MDDBranches:
    """MDD in branches: the cells of a video are kept before the confounders and the sentence."""

    def __init__(self, model: MDD) -> None:
        self.model = model
        self._convolve = convolutions_to_answer(model.convolutions)

    def encode_video(self, video: Tensor) -> Tensor:
        """Return cells (W, C, H)."""
        cells: Tensor = self.model.moments(self.model.encode_frames(video))
        return cells

    def encode_query(self, batch: Batch) -> EncodedQuery:
        """Return sentences as encoded and as gated, (S, H) each."""
        return self.model.sentences_of(batch)

    def fuse(self, video: Tensor, query: EncodedQuery) -> Tensor:
        """Return logits (S, W, C)."""
        n_sentences, n_windows = len(query[0]), len(video)
        sentence, gated = (vectors.repeat_interleave(n_windows, dim=0) for vectors in query)
        cells = video.repeat(n_sentences, 1, 1)
        if len(self.model.confounders):
            query_rows = gated if self.model.settings.asks == "gated" else sentence
            cells = cells + self.model.confounded(query_rows, cells)
        logits: Tensor = self.model.score(self._convolve(self.model.fused(gated, cells)))
        return logits.view(n_sentences, n_windows, -1)


def _dictionary(kind: str, settings: MDDSettings, inputs: Inputs) -> nn.Module:
    """Return the dictionary of a branch."""
    if kind == "L":
        return LocationDictionary(settings.n_clips, settings.hidden)
    if kind == "A":
        return ActionDictionary(settings.n_actions, inputs.n_vector, settings.hidden, settings.dictionary_spread)
    return Unobserved(settings.n_unobserved, settings.hidden, settings.dictionary_spread)
