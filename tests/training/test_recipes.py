import re
import subprocess
import sys
from itertools import pairwise

import pytest

from truemoment.exceptions import InputError, MissingFileError, UsageError
from truemoment.training.recipes import names, read_recipe


def test_every_family_has_a_small_and_a_full_recipe():
    families = {"tan2d", "blind-tan", "tcn-dcm", "mdd"}
    assert set(names()) == families | {f"{name}-full" for name in families} | {"tan2d-windows"}


def test_every_setting_of_the_family_is_filled_in():
    settings = read_recipe("tan2d").settings
    assert (settings["hidden"], settings["kernel"], settings["layers"], settings["iou_low"]) == (128, 3, 4, 0.5)


def test_the_full_recipe_of_mdd_is_the_papers():
    """mdd.md, section 5: Charades-CD column, and the final row of Table 4."""
    recipe = read_recipe("mdd-full")
    assert recipe.settings["branches"] == ["L", "U", "U"]
    assert (recipe.train.batch, recipe.train.learning_rate, recipe.decode.nms) == (64, 1e-4, 0.45)
    assert (recipe.settings["hidden"], recipe.settings["heads"], recipe.settings["n_clips"]) == (512, 4, 16)


def test_the_hash_stands_for_every_value_but_the_words():
    recipe = read_recipe("tan2d")
    assert read_recipe("tan2d").hash == recipe.hash
    assert read_recipe("tan2d", ["about=another"]).hash == recipe.hash
    assert read_recipe("tan2d", ["settings.hidden=128"]).hash == recipe.hash  # what it is anyway
    changed = [
        "train.epochs=9",
        "settings.hidden=64",
        "text.size=50",
        "select.patience=4",
        "decode.nms=0.5",
        "rows=128",
    ]
    assert len({recipe.hash, *(read_recipe("tan2d", [change]).hash for change in changed)}) == 1 + len(changed)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("train.epoch=3", "train"),
        ("settings.hiden=3", "settings"),
        ("train.epochs=0", "train.epochs"),
        ("train.epochs=many", "train.epochs"),
        ("train.learning_rate=-1", "train.learning_rate"),
        ("decode.nms=1.5", "decode.nms"),
        ("text.tokens=letters", "text.tokens"),
        ("colour=red", "colour"),
    ],
)
def test_an_unknown_key_or_a_wrong_value_is_refused_by_name(change, told):
    with pytest.raises(InputError, match=told):
        read_recipe("tan2d", [change])


@pytest.mark.parametrize("change", ["train.epochs", "=3", "train..epochs=3", "rows.a=1"])
def test_a_change_that_is_none_is_refused(change):
    with pytest.raises((UsageError, InputError)):
        read_recipe("tan2d", [change])


def test_rows_are_a_multiple_of_the_clips():
    with pytest.raises(InputError, match="multiple of the 16 clips"):
        read_recipe("tan2d", ["rows=100"])


def test_an_unknown_measure_is_refused():
    with pytest.raises(InputError, match=r"tan2d\.yaml: field select.measure: 'AxIuo@10'"):
        read_recipe("tan2d", ["select.measure=AxIuo@10"])


@pytest.mark.parametrize(
    "text", ["", "- a\n- b\n", "model: [", "a: &a [*a]\n", "!!python/object/apply:os.system ['true']", "\x00"]
)
def test_a_file_that_is_no_recipe_is_refused(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"mine\.yaml"):
        read_recipe(path)


LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{of}: &{of} [*{by}, *{by}, *{by}]\n" for by, of in pairwise("abcdefghijklmnopqrstuvwxyz")
)
DEEP = {
    "brackets": "model: " + "[" * 60_000,
    "braces": "model: " + "{a: " * 15_000,
    "dashes": "model: tan2d\nabout:\n  " + "- " * 30_000,
    "questions": "? " * 30_000,
    "one level too many": "model: tan2d\nabout: " + "[" * 16 + "]" * 16,
}


@pytest.mark.parametrize("kind", DEEP)
def test_a_recipe_that_is_nested_too_deeply_is_refused(tmp_path, kind):
    # In a process of its own: it ended the interpreter (signal 11), which no test survives.
    path = tmp_path / "mine.yaml"
    path.write_text(DEEP[kind])
    read = f"from truemoment.training.recipes import read_recipe; read_recipe({str(path)!r})"
    done = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(rf"InputError: {path}:\d+: is nested too deeply, expected 16 levels at most", done.stderr)


def test_a_recipe_of_aliases_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(f"model: tan2d\n{LAUGHS}settings: {{x: *z}}\n")
    with pytest.raises(InputError, match=r"mine\.yaml:3: got the alias \*a, expected the value itself"):
        read_recipe(path)


@pytest.mark.parametrize("text", ["about: " + "x" * 70_000, "rows: 1" + ":59" * 5000, "rows: " + "9" * 5000])
def test_a_recipe_that_is_too_large_is_refused(tmp_path, text):
    path = tmp_path / "mine.yaml"
    path.write_text(f"model: tan2d\n{text}\n")
    with pytest.raises(InputError, match=r"mine\.yaml: "):
        read_recipe(path)


def test_a_file_without_a_model_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("rows: 64\n")
    with pytest.raises(InputError, match="model"):
        read_recipe(path)


def test_what_is_not_there_is_told():
    with pytest.raises(UsageError, match="tan2d-full"):
        read_recipe("tan3d")
    with pytest.raises(MissingFileError):
        read_recipe("absent.yaml")
