"""Whatever opens a file says so to the register of inputs (base/boundary/inputs.py); a new reader cannot forget it."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src" / "truemoment"

OPENERS = re.compile(
    r"open|(gzip|zipfile|av|os|h5py|np|parquet|Image)\.(open|File|ZipFile|load|memmap|fromfile|loadtxt|read_table)"
    r"|.*\.(open_memmap|from_pretrained|safe_open|load_file|read_bytes|read_text|open)"
)
"""Calls that open a file by its path; those of base/boundary/files.py are called by their bare names."""

REGISTERS = {"reading", "updating", "writing", "atomic_write", "atomic_folder"}

NO_INPUT = {
    "cli/__init__.py:_open_missing_streams": "the null device",
    "cli/running.py:_print_no_more": "the null device",
    "cli/options.py:open_page": "the user's browser",
    "cli/search.py:command": "opens a target, by a method that is checked itself",
    "cli/api/searches.py:search": "as before",
    "searching/session.py:store": "as before",
    "base/boundary/caching.py:code_hash": "the modules of this package",
    "base/boundary/arrays.py:_opened": "a member of an archive that is open",
    "web/annotating/routes.py:video": "a file of the study, or a video that it names",
    "web/browsing/videos.py:path": "looks whether the video is the one that was indexed",
    "web/annotating/store.py:_own_schema": "a file of this package",
    "web/annotating/store.py:connect": "the database of a study, which the command updates",
    "web/annotating/video_seal.py:_key": "the user's own key",
    "base/boundary/own_path.py:sync_files": "what was just written",
    "base/boundary/own_path.py:_opened_folder": "what every opener calls, which has named the input",
    "base/boundary/own_path.py:in_folder": "as before",
    "base/boundary/own_path.py:open_number": "as before",
    "base/boundary/own_path.py:open_regular": "as before",
    "base/boundary/own_path.py:read_bytes": "as before",
    "base/boundary/own_path.py:write_bytes": "as before",
    "base/boundary/folders.py:_new": "a temporary file",
    "data/datasets/fetch.py:__call__": "a file that is being fetched",
    "data/datasets/faults.py:known_faults": "a file of this package",
    "learning/served/prompts/__init__.py:get_prompt": "files of this package",
    "learning/training/recipes.py:read_recipe": "files of this package, not the user's",
    "searching/layout.py:is_index": "looks what a folder is, which may be the one to write",
    "learning/training/examples.py:empty_table": "a temporary file",
    "media/video/clips.py:_write_clip": "a stream that is open",
    "media/video/encoders.py:_config_of": "the folder that TwoTowers.load has named",
    "media/video/encoders.py:_model_of": "as before",
    "media/video/encoders.py:_tokenizer_of": "as before",
    "web/annotating/exporting.py:write_archive": "a temporary file, to be downloaded",
    "web/annotating/reading.py:_read": "a file of the study, which prepare has made",
    "web/annotating/store.py:create_database": "a file of this package",
    "web/annotating/study.py:file_system_of": "the system's list of file systems",
    "web/browsing/kept.py:write_durably": "a temporary file, to be renamed, and the folder around it",
    "web/browsing/notes.py:opened": "a lock",
    "web/browsing/pictures.py:read_picture": "a picture of our cache",
    "web/browsing/playing.py:_frames": "a file that prepare_video has made",
    "base/boundary/distribution/__init__.py:free_memory_mb": "the system's figures of memory",
    "web/pages/launch.py:open_address": "the user's browser",
    "web/pages/media.py:small_file": "a file of ours, sent by a server",
    "web/pages/static_files.py:_files": "files of this package",
    "report/render/html.py:_filled": "as before",
    "media/video/playable.py:write_playable": "a temporary file, to be renamed",
    "media/video/prepared.py:read_prepared": "a file that prepare_video has made",
}
"""Functions that open what is no input, or no file, and why it need not be named."""


def names_called(function):
    """What a function calls, as it is written."""
    return [ast.unparse(node.func) for node in ast.walk(function) if isinstance(node, ast.Call)]


def test_every_opener_is_registered():
    silent, seen, known = [], 0, set()
    for path in sorted(ROOT.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            names = names_called(function)
            opened = [name for name in names if OPENERS.fullmatch(name)]
            place = f"{path.relative_to(ROOT).as_posix()}:{function.name}"
            if opened and REGISTERS.isdisjoint(names):
                known.add(place)
                if place not in NO_INPUT:
                    silent.append(f"{place} ({', '.join(opened)})")
            seen += bool(opened)
    assert not silent, "name inputs by truemoment.base.boundary.inputs.reading: " + "; ".join(silent)
    assert seen > 30
    assert set(NO_INPUT) == known
