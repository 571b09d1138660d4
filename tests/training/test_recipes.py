import pickle
import re
import subprocess
import sys
from itertools import pairwise

import pytest

from truemoment.base.boundary.yaml_files import read_yaml
from truemoment.base.errors import InputError, MissingFileError, UsageError
from truemoment.data.datasets import load_annotations
from truemoment.learning.training.query_rows import reads_rows
from truemoment.learning.training.recipes import names, read_recipe, resolve
from truemoment.learning.training.vocabulary import UNKNOWN, make_vocabulary, word_numbers


def test_every_family_has_a_small_and_a_full_recipe():
    families = {"tan2d", "blind-tan", "tcn-dcm", "mdd", "ctrl", "acrn", "ablr", "scdm", "drn", "vlg-net"}
    families |= {"tsp-prl", "wssl", "moment-detr", "qd-detr", "flash-vtg", "mean-pool", "frame-sequence"}
    others = {"tan2d-windows", "tan2d-mixtures", "blind-tan-256", "vlg-net-mad", "vlg-net-mad-full"}
    others |= {"moment-detr-charades-full", "qd-detr-charades-full"}
    assert set(names()) == families | {f"{name}-full" for name in families} | others


def test_every_setting_of_the_family_is_filled_in():
    settings = read_recipe("tan2d").settings
    assert (settings["hidden"], settings["kernel"], settings["layers"], settings["iou_low"]) == (128, 3, 4, 0.5)


def test_the_full_recipe_of_mdd_is_the_papers():
    """mdd.md, section 5: Charades-CD column, and the final row of Table 4."""
    recipe = read_recipe("mdd-full")
    assert recipe.settings["branches"] == ["L", "U", "U"]
    assert (recipe.train.batch, recipe.train.learning_rate, recipe.decode.nms) == (64, 1e-4, 0.45)
    assert (recipe.settings["hidden"], recipe.settings["heads"], recipe.settings["n_clips"]) == (512, 4, 16)


@pytest.mark.parametrize(("name", "words"), [("moment-detr-full", 32), ("qd-detr-full", 32), ("flash-vtg-full", 40)])
def test_full_recipes_on_qvhighlights_read_what_is_published(name, words):
    """detr.md, sections 2, 6 and 13: rows of 2 s, each source normalised, rows of words; the first two round to 2 s."""
    recipe = read_recipe(name)
    assert (recipe.rows, recipe.normalise, recipe.text.vectors, recipe.text.most) == (75, "each", "queries", words)
    assert (recipe.select.measure, recipe.select.split) == ("mAP", "val")
    if name != "flash-vtg-full":
        assert (recipe.select.every, recipe.decode.grid_s, recipe.decode.nms) == (5, 2.0, 1.0)


def test_the_full_recipe_of_vlg_net_on_mad_is_the_codes():
    """vlg_net.md, sections 5 and 6: MAD column."""
    recipe = read_recipe("vlg-net-mad-full")
    assert (recipe.train.batch, recipe.train.learning_rate, recipe.train.epochs) == (128, 1e-4, 50)
    assert [round(recipe.train.rate_of(recipe.train.every_stage[0], epoch), 6) for epoch in (25, 26)] == [1e-4, 5e-5]
    expected = {"n_clips": 64, "diagonals": [5, 8, 8, 8], "hidden": 512, "video_blocks": 7, "video_neighbours": 7}
    expected |= {
        "matching_neighbours": 5,
        "lstm_layers": 1,
        "syntactic_blocks": 0,
        "score_layers": 5,
        "pooling": "first",
    }
    assert {name: recipe.settings[name] for name in expected} == expected
    assert (recipe.rows, recipe.normalise, recipe.text.most, recipe.windows.tail) == (128, False, 50, "dropped")


def test_the_full_recipe_of_vlg_net_is_the_codes():
    """vlg_net.md, section 5: ActivityNet Captions column; the rate is halved every 10 epochs."""
    recipe = read_recipe("vlg-net-full")
    rates = [recipe.train.rate_of(recipe.train.every_stage[0], epoch) for epoch in (1, 10, 11, 21, 41, 50)]
    assert rates == [2e-4, 2e-4, 1e-4, 5e-5, 1.25e-5, 1.25e-5]
    assert (recipe.train.batch, recipe.train.epochs, recipe.decode.nms) == (32, 50, 0.5)
    settings = [
        recipe.settings[of] for of in ("video_neighbours", "matching_neighbours", "syntactic_blocks", "lstm_layers")
    ]
    assert settings == [9, 7, 4, 4]


WITHOUT_WORDS = {"vlg-net-mad-full", *(name for name in names() if reads_rows(read_recipe(name).text))}
"""Recipes whose vectors are those of an encoder, or rows of each query."""


@pytest.mark.parametrize("name", sorted(set(names()) - WITHOUT_WORDS))
def test_a_sentence_is_read_out_at_a_known_word_though_it_ends_with_a_full_stop(name, tmp_path):
    """Point 12: "door." had no vector in the full recipes, and was the last word that the LSTM read."""
    (tmp_path / "glove").mkdir()
    (tmp_path / "glove" / "vectors.txt").write_text("a 1 0\nperson 0 1\nopens 1 1\ndoor 2 1\n")
    text = read_recipe(name).text
    sentences = ["A person opens a door.", "a person opens the door."]
    vocabulary = make_vocabulary(text, sentences, sentences, tmp_path)
    numbers, n_words = word_numbers(sentences, vocabulary, text.tokens)
    assert n_words.tolist() == [5, 5]
    assert numbers[:, -1].tolist() == vocabulary.numbers(["door", "door"])
    assert UNKNOWN not in numbers[:, -1]


@pytest.mark.parametrize(
    ("tokens", "n_unknown"),
    [("blanks", 12_408), ("blanks-no-stop", 23), ("words", 5)],
)
def test_last_words_of_charades_sta_without_a_vector(tokens, n_unknown, data_dir):
    """Of 12,408 training sentences, with the GloVe vectors at hand; all of them end with a full stop.

    Counted apart from the package: the last of ``sentence.lower().split()``, and of ``sentence.removesuffix(".")...``,
    looked up among the first words of the lines of the file of vectors.
    """
    text = read_recipe("tan2d-full", [f"text.tokens={tokens}"]).text
    sentences = load_annotations("charades-sta", "train", data_dir=data_dir).queries.sentence.tolist()
    numbers, n_words = word_numbers(sentences, make_vocabulary(text, [], sentences, data_dir), text.tokens)
    assert (numbers[range(len(sentences)), n_words - 1] == UNKNOWN).sum() == n_unknown


def test_a_run_of_a_full_recipe_made_before_its_tokens_changed_has_its_hash():
    """Hashes of the commit before: such runs are resumed with --set text.tokens=blanks."""
    before = {
        "blind-tan-full": "954279954646",
        "mdd-full": "0aa22c934d84",
        "tan2d-full": "b5eeed3809e1",
        "tcn-dcm-full": "1d88767796df",
    }
    assert {name: read_recipe(name, ["text.tokens=blanks"]).hash for name in before} == before


@pytest.mark.parametrize(
    ("name", "change", "field"),
    [
        ("ablr", "settings.location_bias=.inf", "settings.location_bias"),
        ("blind-tan", "settings.iou_low=nan", "settings.iou_low"),
        ("blind-tan", "train.weight_decay=1e308", "train.weight_decay"),
        ("tan2d-mixtures", "windows.seconds=1e20", "windows.seconds"),
        ("blind-tan", "text.size=1000000", "text.size"),
        ("blind-tan", "settings.n_clips=1" + 400 * "0", "settings.n_clips"),
        ("blind-tan", "settings.iou_low=-1" + 400 * "0", "settings.iou_low"),
        ("tan2d", "select.patience=1" + 400 * "0", "select.patience"),
    ],
)
def test_numbers_that_no_network_can_use_are_refused(name, change, field):
    # Each was "a bug of ours" or the end of the process, found by setting every value of every recipe.
    with pytest.raises(InputError, match=rf"field {re.escape(field)}: (got [\w .+-]+, )?expected a "):
        read_recipe(name, [change])


def test_a_recipe_that_a_worker_was_sent_has_the_same_hash():
    values = {"model": "blind-tan", "data": [{"annotations": "a.jsonl", "share": 1.0}], "train": {"stages": [{}]}}
    recipe = resolve(values)
    sent = pickle.loads(pickle.dumps(recipe))  # noqa: S301 - made here, as a pool of processes does
    assert (sent, sent.hash) == (recipe, recipe.hash)


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
        (
            "train.epoch=3",
            "field train: object contains unknown field epoch, expected one of epochs, batch, learning_rate",
        ),
        ("settings.hiden=3", "field settings: object contains unknown field hiden, expected one of n_clips, hidden"),
        ("train.epochs=0", "train.epochs"),
        ("train.epochs=many", "train.epochs"),
        ("train.learning_rate=-1", "train.learning_rate"),
        ("decode.nms=1.5", "decode.nms"),
        ("text.tokens=letters", "text.tokens"),
        ("text.tokens=wow", "text.tokens: invalid enum value 'wow', expected one of words, blanks, blanks-no-stop"),
        ("colour=red", "object contains unknown field colour, expected one of model, about, settings"),
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


READ = """
import sys
from truemoment.base.errors import InputError
from truemoment.learning.training.recipes import read_recipe
for path in sys.argv[1:]:
    try:
        read_recipe(path)
    except InputError as error:
        print(error)
"""


def test_a_recipe_that_is_nested_too_deeply_is_refused(tmp_path):
    # In a process of its own: it ended the interpreter (signal 11), which no test survives.
    paths = [tmp_path / f"{number}.yaml" for number in range(len(DEEP))]
    for path, text in zip(paths, DEEP.values(), strict=True):
        path.write_text(text)
    done = subprocess.run([sys.executable, "-c", READ, *paths], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    ours = r":\d+: is nested too deeply, expected 16 levels at most"
    of_libyaml = r": is not YAML \(.*exceeded maximum nesting depth"  # since 0.2.6, where it reads ahead past 1,000
    for kind, path in zip(DEEP, paths, strict=True):
        assert re.search(f"^{re.escape(str(path))}({ours}|{of_libyaml})", done.stdout, re.MULTILINE), kind


def test_a_recipe_of_aliases_is_refused(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(f"model: tan2d\n{LAUGHS}settings: {{x: *z}}\n")
    with pytest.raises(InputError, match=r"mine\.yaml:3: got the alias \*a, expected the value itself"):
        read_recipe(path)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("model: tan2d\nmodel: ctrl\n", ":2: field model: 'model'"),
        ("model: tan2d\nmodel: tan2d\n", ":2: field model: 'model'"),
        ("model: tan2d\nsettings: {hidden: 8, layers: [1, 1],\n  'hidden': 16}\n", ":3: field hidden: 'hidden'"),
    ],
)
def test_a_key_that_appears_twice_is_refused(tmp_path, text, place):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=rf"mine\.yaml{place} appears twice, expected each key once"):
        read_recipe(path)


def test_a_key_may_appear_in_several_mappings(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("{a: {b: b, c: [a, a, {b: 1}]}, b: {a: 1}, c: a}")
    assert read_yaml(path) == {"a": {"b": "b", "c": ["a", "a", {"b": 1}]}, "b": {"a": 1}, "c": "a"}


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
