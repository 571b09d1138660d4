"""A tiny language model trained by TRL's GRPOTrainer on rewards of TrueMoment: python benchmarks/rewards.py.

Needs ``pip install trl`` beside the extra ``models``. Each prompt names the place of its moment, so it can be learned.
The mean of each reward in the first and in the last tenth of the steps is printed.
"""

from __future__ import annotations

import tempfile

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

import truemoment as tm
from datasets import Dataset

PLACES = ("early", "middle", "late")
MARKS = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
WORDS = [*MARKS.values(), "From", "to", "seconds", *PLACES, "0", "10", "20", "30"]
STEPS = 400


def trained(names: tuple[str, ...]) -> list[dict[str, float]]:
    """Return the mean rewards by step of a model of one layer that is trained on the named measures."""
    torch.manual_seed(0)
    words = Tokenizer(models.WordLevel({word: place for place, word in enumerate(WORDS)}, unk_token=MARKS["unk_token"]))
    words.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]  # transformers does not type it
        tokenizer_object=words, padding_side="left", **MARKS
    )
    config = GPT2Config(vocab_size=len(WORDS), n_positions=16, n_embd=32, n_layer=1, n_head=2)
    config.bos_token_id = config.eos_token_id = 1
    config.pad_token_id = 0
    rows = [{"prompt": f"{PLACES[n % 3]} From", "moments": [10.0 * (n % 3), 10.0 * (n % 3) + 10]} for n in range(96)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = GRPOConfig(
            output_dir=folder, use_cpu=True, bf16=False, report_to=[], save_strategy="no", disable_tqdm=True, seed=0,
            per_device_train_batch_size=48, num_generations=16, max_completion_length=4, max_steps=STEPS,
            learning_rate=3e-3, lr_scheduler_type="constant", logging_steps=STEPS // 10, log_completions=False,
        )  # fmt: skip
        trainer = GRPOTrainer(
            model=GPT2LMHeadModel(config),
            reward_funcs=[tm.reward(name) for name in names],
            args=arguments,
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
        )
        trainer.train()
    return [
        {name: float(logged[f"rewards/{name}/mean"]) for name in names}
        for logged in trainer.state.log_history
        if f"rewards/{names[0]}/mean" in logged
    ]


if __name__ == "__main__":
    for names in (("mIoU",), ("format",), ("mIoU", "format")):
        first, *_, last = trained(names)
        for name in names:
            print(f"rewards {' and '.join(names)}: {name} {first[name]:.3f} -> {last[name]:.3f}")
