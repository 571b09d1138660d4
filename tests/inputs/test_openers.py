"""Whatever opens a file says so to the register of inputs (base/boundary/inputs.py); a new reader cannot forget it.

The readers of base/boundary do; nothing else opens a file by its name (tests/test_house.py). These calls do it by hand.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src" / "truemoment"

OPENERS = re.compile(r"open_regular|(av|h5py|sqlite3)\.(open|File|connect)|.*\.from_pretrained")
HINTS = re.compile(r"open_regular|av\.|h5py\.|sqlite3\.|from_pretrained")
"""What stands in every module that has one: only these are parsed."""

REGISTERS = {"reading", "updating", "writing", "atomic_write", "atomic_folder"}

NO_INPUT = {
    "data/datasets/fetch.py:__call__": "a file that is being fetched",
    "data/datasets/fetch.py:_download": "as before",
    "media/audio/reading.py:stated_end_s": "a file whose sound is open",
    "media/video/clips.py:_write_clip": "a stream that is open",
    "media/video/containers.py:_open": "a file that opened_container has named",
    "media/video/encoders.py:_config_of": "the folder that TwoTowers.load has named",
    "media/video/encoders.py:_model_of": "as before",
    "media/video/encoders.py:_tokenizer_of": "as before",
    "media/video/playable.py:write_playable": "a temporary file, to be renamed",
    "searching/layout.py:is_index": "looks what a folder is, which may be the one to write",
    "web/annotating/store.py:_own_schema": "a database in memory",
    "web/annotating/store.py:connect": "the database of a study, which the command updates",
    "web/annotating/store.py:copy_database": "a temporary file, to be renamed",
    "web/annotating/store.py:create_database": "as before",
    "web/annotating/video_seal.py:_make_key": "the user's own key",
    "web/browsing/notes.py:opened": "a lock",
    "web/pages/media.py:open_media": "a video that a page shows: the study or index names it",
}
"""Functions that open what is no input, and why it need not be named."""


def test_every_opener_is_registered():
    silent, seen = set(), 0
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        text = path.read_text(encoding="utf-8")
        if place.startswith("base/boundary/") or not HINTS.search(text):
            continue
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef):
                names = {ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)}
                opens = any(map(OPENERS.fullmatch, names))
                seen += opens
                silent |= {f"{place}:{function.name}"} if opens and REGISTERS.isdisjoint(names) else set()
    assert silent == set(NO_INPUT), "name inputs by truemoment.base.boundary.inputs.reading"
    assert seen > 20
