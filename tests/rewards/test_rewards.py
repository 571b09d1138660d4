"""Measures as reward functions, called as TRL's GRPOTrainer calls them (f2cd577, trl/trainer/grpo_trainer.py:1659)."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import truemoment as tm
from truemoment.base.errors import InputError, MeasureError

from ..thorough import quick_are

ANSWERS = [
    "From 2 to 6 seconds.",
    "[[0, 4], [4, 8]]",
    "3 s - 3.5 s",
    "No idea.",
    "There is no such moment.",
    "0 to 10 s",
]
MOMENTS = [[2.0, 6.0], [[4.0, 9.0]], [[3.0, 4.0], [7.0, 8.0]], [[0.0, 1.0]], [[0.0, 1.0]], [[5.0, 10.0]]]


def as_trainer(function, completions, **columns):
    """Call a reward function with all that the trainer passes."""
    others = {"prompts": ["When?"] * len(completions), "completion_ids": [[1]] * len(completions)}
    return function(
        **others, completions=completions, trainer_state=None, log_extra=print, log_metric=print, task=["x"], **columns
    )


@pytest.mark.parametrize("measure", ["mIoU", "AxIoU@2", "dR@1,IoU=0.3", "R@1,IoU=0.5", "SetIoU", "mIoU[ref=rows]"])
def test_rewards_are_the_values_of_evaluate(measure: str, tmp_path: Path) -> None:
    annotations, answers = tmp_path / "annotations.jsonl", tmp_path / "answers.jsonl"
    rewards = as_trainer(tm.reward(measure), ANSWERS, moments=MOMENTS, duration_s=[10.0] * 6)
    for row, (answer, moments) in enumerate(zip(ANSWERS, MOMENTS, strict=True)):
        nested = moments if isinstance(moments[0], list) else [moments]
        query = {"query_id": "q", "video_id": "v", "sentence": "s", "duration_s": 10, "moments": nested}
        annotations.write_text(json.dumps(query) + "\n")
        answers.write_text(json.dumps({"query_id": "q", "answer": answer}) + "\n")
        result = tm.evaluate(answers, annotations=annotations, measures=measure)
        assert rewards[row] == result.measured()[0].value


def test_hand_computed() -> None:
    columns = {"moments": MOMENTS, "duration_s": [10.0] * 6}
    assert as_trainer(tm.reward(), ANSWERS, **columns) == [1.0, 0.0, 0.5, 0.0, 0.0, 0.5]
    # dR of the third: |3 - 3| and |3.5 - 4| of 10 s, so 1 * 0.95; of the last: |0 - 5| of 10 s, so 0.5 * 1.
    discounted = as_trainer(tm.reward("dR@1,IoU=0.4"), ANSWERS, **columns)
    assert discounted == pytest.approx([1.0, 0.0, 0.95, 0.0, 0.0, 0.5])
    # AxIoU@2 of the second: the best IoU so far is 0, then 4/5.
    assert as_trainer(tm.reward("AxIoU@2"), ANSWERS, **columns)[1] == pytest.approx(0.4)
    assert as_trainer(tm.reward("format"), ANSWERS, **columns) == [1.0, 1.0, 1.0, 0.0, 1.0, 1.0]


def test_chats_other_tasks_and_no_moment() -> None:
    chats = [
        [{"role": "assistant", "content": "Hm."}, {"role": "assistant", "content": "2 to 6 s"}],
        [{"role": "assistant", "content": [{"type": "text", "text": "<think>1 to 9 s</think>2 to 6 s"}]}],
        [{"role": "assistant", "content": "A cat."}],
        [{"role": "assistant", "content": "There is no such moment."}],
    ]
    moments = [[2.0, 6.0], [2.0, 6.0], None, []]
    assert as_trainer(tm.reward(), chats, moments=moments) == [1.0, 1.0, None, None]
    assert as_trainer(tm.reward(protocol="sets"), chats, moments=moments) == [1.0, 1.0, None, 1.0]
    assert as_trainer(tm.reward("format"), chats, moments=moments) == [1.0, 1.0, None, 1.0]
    assert as_trainer(tm.reward(references="span"), chats[:1], span=[[2.0, 6.0]]) == [1.0]


@given(st.lists(st.text(max_size=40), min_size=1, max_size=4), st.floats(0, 50), st.floats(0.1, 50))
def test_any_text_has_a_reward_that_other_rows_do_not_change(texts: list[str], start: float, length: float) -> None:
    columns = {"moments": [[start, start + length]] * len(texts), "duration_s": [100.0] * len(texts)}
    for name in ("dR@1,IoU=0", "format"):
        function = tm.reward(name)
        rewards = as_trainer(function, texts, **columns)
        assert all(reward is not None and 0 <= reward <= 1 for reward in rewards)
        assert as_trainer(function, texts[::-1], **columns) == rewards[::-1]


@pytest.mark.parametrize(
    ("measure", "columns", "says"),
    [
        ("mIoU", {}, "moments"),
        ("mIoU", {"moments": [[0.0, 1.0], [0.0, 1.0]]}, "got 2 rows, expected a list of 1 values"),
        ("dR@1,IoU=0.5", {"moments": [[0.0, 1.0]]}, "duration_s"),
        ("mIoU", {"moments": ["soon"]}, "moments"),
    ],
)
def test_wrong_columns_are_named(measure: str, columns: dict[str, object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        as_trainer(tm.reward(measure), ["0 to 1 s"], **columns)


def test_a_measure_without_moments_is_refused() -> None:
    with pytest.raises(MeasureError, match="needs clip ratings"):
        tm.reward("HIT@1,min=Good")


def trained(reward: object, *, looks: bool) -> float:
    """Return the mean reward that a policy ends with; it chooses one of four places by what it sees of the video.

    GRPO without its clip and its reference model: a group of answers a prompt, advantages in the group.
    """
    generator = torch.Generator().manual_seed(0)
    places = torch.tensor([0, 1, 2, 2]).repeat(2)  # half of the moments lie in the third quarter
    videos = torch.nn.functional.one_hot(places, 4).float() if looks else torch.ones(len(places), 4)
    weights = torch.zeros(4, 4, requires_grad=True)
    optimizer = torch.optim.Adam([weights], lr=0.5)
    moments = [[10.0 * place, 10.0 * place + 10] for place in places.tolist() for _ in range(8)]
    for _ in range(30):
        logits = (videos @ weights).repeat_interleave(8, dim=0)
        chosen = torch.multinomial(logits.softmax(1), 1, generator=generator)[:, 0]
        completions = [f"From {10 * place} to {10 * place + 10} seconds." for place in chosen.tolist()]
        rewards = torch.tensor(as_trainer(reward, completions, moments=moments, duration_s=[40.0] * len(moments)))
        groups = rewards.view(-1, 8)
        advantages = (groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)
        loss = -(advantages.flatten() * logits.log_softmax(1)[torch.arange(len(chosen)), chosen]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(rewards.mean())


@pytest.mark.parametrize("measure", quick_are(["mIoU"], ["mIoU", "dR@1,IoU=0.5"]))
def test_a_policy_learns_and_one_that_never_looks_reaches_the_best_constant(measure: str) -> None:
    assert trained(tm.reward(measure), looks=True) > 0.95
    assert math.isclose(trained(tm.reward(measure), looks=False), 0.5, abs_tol=0.02)  # always the third quarter
