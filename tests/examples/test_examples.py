"""The example files are what their script writes."""

import importlib.util
import json
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_examples_are_what_the_script_writes():
    spec = importlib.util.spec_from_file_location("make_examples", EXAMPLES / "make_examples.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    annotations, predictions = script.world(np.random.default_rng(7))
    for name, lines in (("annotations", annotations), ("predictions", predictions)):
        written = [json.loads(line) for line in (EXAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        assert written == lines
