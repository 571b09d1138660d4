"""VLMEvalKit with the dataset of this folder: python run.py FOLDER_OF_VLMEVALKIT --data TrueMoment --model MODEL."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

if __name__ == "__main__":
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "vlmeval").is_dir():
        sys.exit("usage: python run.py FOLDER_OF_VLMEVALKIT --data TrueMoment --model MODEL")
    folder = Path(sys.argv.pop(1)).resolve()
    sys.path[:0] = [str(folder), str(Path(__file__).parent)]
    from truemoment_grounding import register

    register()
    runpy.run_path(str(folder / "run.py"), run_name="__main__")
