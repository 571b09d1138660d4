"""A VLMEvalKit dataset: its models answer, TrueMoment reads and measures the answers. See docs/integrations.md.

Variables: ``TRUEMOMENT_ANNOTATIONS`` is a file of annotations in TrueMoment's form, ``TRUEMOMENT_VIDEOS`` the folder of
the videos (``VIDEO_ID.mp4``), ``TRUEMOMENT_PROTOCOL`` the protocol (by default the papers' definition).
"""

from __future__ import annotations

import csv
import json
import os
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import vlmeval.dataset
from vlmeval.dataset.video_base import VideoBaseDataset
from vlmeval.dataset.video_dataset_config import supported_video_datasets
from vlmeval.smp import LMUDataRoot, dump, load

import truemoment as tm

MEASURES = "R@1,IoU=0.3; R@1,IoU=0.5; R@1,IoU=0.7; mIoU"
QUESTION = (
    "When does this happen in the video: {sentence} "
    "Answer with the start and the end in seconds, as 'START - END seconds'."
)


class TrueMomentGrounding(VideoBaseDataset):
    """Queries of a file of annotations, one question each."""

    TYPE = "Video-Temporal-Grounding"
    NAMES: ClassVar[dict[str, dict[str, float]]] = {
        "TrueMoment": {},  # the video file, for models that read videos
        "TrueMoment_8frame": {"nframe": 8},
        "TrueMoment_64frame": {"nframe": 64},
        "TrueMoment_1fps": {"fps": 1.0},
    }

    @classmethod
    def supported_datasets(cls) -> list[str]:
        """Return the names for ``--data``."""
        return list(cls.NAMES)

    def prepare_dataset(self, dataset: str) -> dict[str, str]:
        """Write the questions as VLMEvalKit reads them, and return their file and the folder of the videos."""
        self.annotations = tm.read_annotations(os.environ["TRUEMOMENT_ANNOTATIONS"])
        queries = self.annotations.queries
        table = Path(LMUDataRoot()) / f"{dataset}_{self.annotations.sha256[:8]}.tsv"
        with table.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, delimiter="\t")
            writer.writerow(["index", "video", "question"])
            for row, (video, sentence) in enumerate(zip(queries.video_id, queries.sentence, strict=True)):
                writer.writerow([row, video, QUESTION.replace("{sentence}", sentence)])
        return {"root": os.environ.get("TRUEMOMENT_VIDEOS", "videos"), "data_file": str(table)}

    def build_prompt(self, line: Any, video_llm: bool) -> list[dict[str, str]]:  # noqa: ANN401 - theirs
        """Return the video, or frames with the length that they cover, and the question."""
        row = int(line if isinstance(line, int) else line["index"])
        queries = self.annotations.queries
        question = {"type": "text", "value": str(self.data["question"].iloc[row])}
        if video_llm:
            return [{"type": "video", "value": str(Path(self.data_root) / f"{queries.video_id[row]}.mp4")}, question]
        frames = [{"type": "image", "value": path} for path in self.save_video_frames(queries.video_id[row])]
        spread = f"The {len(frames)} frames are spread evenly over {queries.duration_s[row]:g} seconds. "
        return [*frames, {"type": "text", "value": spread + question["value"]}]

    def evaluate(self, eval_file: str, **_: object) -> dict[str, float]:
        """Return the measures as fractions, and write them and the answers beside the file of a model's answers."""
        answers = load(eval_file)
        ids = self.annotations.queries.query_id
        texts = {ids[int(row)]: str(text) for row, text in zip(answers["index"], answers["prediction"], strict=True)}
        path = Path(eval_file).with_suffix("")
        written = path.with_name(f"{path.name}_answers.jsonl")
        lines = (json.dumps({"query_id": name, "answer": text}) for name, text in texts.items())
        written.write_text("\n".join(lines), encoding="utf-8")
        predictions, _report = tm.read_predictions(written, self.annotations, format="answers")
        scores = tm.evaluate(
            predictions, annotations=self.annotations, measures=MEASURES, protocol=os.environ.get("TRUEMOMENT_PROTOCOL")
        )
        figures = {str(measure): scores.value(measure) for measure in scores.measures}
        figures["unreadable"] = float(predictions.unreadable.mean())
        dump(figures, str(path.with_name(f"{path.name}_score.json")))
        return figures


def register() -> None:
    """Add the dataset to those of VLMEvalKit, under each of its names."""
    for name, frames in TrueMomentGrounding.NAMES.items():
        supported_video_datasets[name] = partial(TrueMomentGrounding, dataset=name, **frames)
    vlmeval.dataset.DATASET_CLASSES.append(TrueMomentGrounding)
    vlmeval.dataset.SUPPORTED_DATASETS.extend(TrueMomentGrounding.NAMES)
