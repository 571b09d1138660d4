"""What every command has: headings, suggestions, a folder that is remembered, completion, threads."""

import os
import shutil
import subprocess
import sys

import click
import pytest
from tests.hostile.every import verbs

from truemoment.cli.completing import SHELLS, script
from truemoment.cli.group import CommandGroup, cli
from truemoment.cli.threads import limited_threads
from truemoment.evaluation.measures import parse_measure
from truemoment.evaluation.measures.spellings import in_our_grammar


@pytest.fixture
def settings(tmp_path, monkeypatch):
    """A settings file of the test, and no folder in the environment."""
    monkeypatch.setenv("TRUEMOMENT_CONFIG", str(tmp_path / "below" / "config.json"))
    monkeypatch.delenv("TRUEMOMENT_DATA", raising=False)
    return tmp_path / "below" / "config.json"


def test_options_stand_under_headings(call):
    status, out, _ = call("audit", "--help-all")
    lines = [line.rstrip(":") for line in out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert status == 0
    assert [lines[0], lines[1], *lines[-2:]] == ["Options", "Data", "Page and figures", "Output"]
    assert {"Floors", "Measures", "Reading predictions", "Intervals and tests", "Workers"} <= set(lines)


@pytest.mark.parametrize(
    ("words", "end"),
    [
        (["evaluat"], "Did you mean 'evaluate'? (see truemoment --help)"),
        (["datasets", "chek"], "Did you mean 'check'? (see truemoment datasets --help)"),
        (["meta", "agrement"], "Did you mean 'agreement'? (see truemoment meta --help)"),
        (["evaluate", "x", "--annotatins", "y"], "'--annotations', '--durations'?) (see truemoment evaluate --help)"),
        (["evaluate", "x", "--dataset", "charade-sta"], "did you mean charades-sta?"),
        (["evaluate", "x", "y"], "before them: --annotations FILE (see truemoment evaluate --help)"),
        (["evaluate", "--predictions", "x"], "PREDICTIONS has no option before it (see truemoment evaluate --help)"),
        (["datasets", "info", "QVhighlight"], "did you mean qvhighlights?"),
        (["evaluate", "x", "--dataset", "charades-cd"], "charades-cd has train, val, test-iid, test-ood"),
        (["evaluate", "x", "--dataset", "charades-cd", "--split", "tst-ood"], "did you mean test-ood?"),
        (["protocols", "show", "moment_detr"], "did you mean moment-detr?"),
        (["train", "tan2", "--dataset", "charades-cd"], "did you mean tan2d?"),
        (["evaluate", "x", "--measures", "R1@0.7"], "did you mean R@1,IoU=0.7?"),
        (["evaluate", "x", "--measures", "AxIoU@10; mIOU"], "did you mean mIoU?"),
    ],
)
def test_what_was_probably_meant(call, words, end):
    status, out, err = call(*words)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.rstrip().endswith(end)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        # As they stand in tables and logs of 2D-TAN, Moment-DETR, lighthouse, TimeLens and papers.
        ("R1@0.5", "R@1,IoU=0.5"),
        ("R1@.7", "R@1,IoU=0.7"),
        ("R@1 IoU=0.5", "R@1,IoU=0.5"),
        ("Rank1@0.3", "R@1,IoU=0.3"),
        ("R5@IoU0.5", "R@5,IoU=0.5"),
        ("r1_05", "R@1,IoU=0.5"),
        ("Recall@1", "R@1,IoU=0.5"),
        ("R@0.7", "R@1,IoU=0.7"),
        ("IoU@0.5", "R@1,IoU=0.5"),
        ("dR1@0.5", "dR@1,IoU=0.5"),
        ("mean IoU", "mIoU"),
        ("mAP@0.5", "mAP,IoU=0.5"),
        ("mAP avg", "mAP"),
    ],
)
def test_spellings_of_the_field(text, meant):
    assert in_our_grammar(text) == meant
    assert str(parse_measure(meant)) == meant


def test_a_folder_is_remembered(call, settings, tmp_path, monkeypatch):
    data = tmp_path / "data"
    (data / "tacos").mkdir(parents=True)
    assert call("config")[:2] == (0, f"data-dir: not set\nfile: {settings}\n")
    assert call("config", "set", "data-dir", data)[0] == 0
    assert call("config")[1].startswith(f"data-dir: {data}\n")
    words = ["evaluate", "x.jsonl", "--dataset", "tacos", "--split", "test"]
    assert str(data / "tacos") in call(*words)[2]
    assert str(tmp_path / "other") in call(*words, "--data-dir", tmp_path / "other")[2]  # the option comes first
    monkeypatch.setenv("TRUEMOMENT_DATA", str(tmp_path / "named"))
    assert str(tmp_path / "named") in call(*words)[2]  # and the variable
    monkeypatch.delenv("TRUEMOMENT_DATA")
    assert call("config", "unset", "data-dir")[0] == 0
    assert "truemoment config set data-dir DIR" in call(*words)[2]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "expected JSON"),
        ('{"data-dir": 3}', "field data-dir: got a whole number"),
        ('{"other": 1}', "unknown field"),
    ],
)
def test_a_broken_settings_file_is_named(call, settings, content, problem):
    settings.parent.mkdir()
    settings.write_text(content)
    status, _, err = call("bias", "--dataset", "tacos")
    assert (status, err.count("\n")) == (2, 1)
    assert str(settings) in err
    assert problem in err
    assert settings.read_text() == content


def test_what_is_no_folder_is_not_remembered(call, settings, tmp_path):
    status, _, err = call("config", "set", "data-dir", tmp_path / "nothing")
    assert (status, settings.exists()) == (2, False)
    assert "is not a folder" in err


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("truemoment evaluate --pro", {"--protocol"}),
        ("truemoment tr", {"train"}),
        ("truemoment evaluate --dataset charades-cd --split te", {"test-iid", "test-ood"}),
        ("truemoment evaluate --dataset charades-c", {"charades-cd", "charades-cg"}),
        ("truemoment train tan2d-w", {"tan2d-windows"}),
        ("truemoment baseline best", {"best-constant"}),
        ("truemoment datasets ch", {"check"}),
        ("truemoment evaluate --measures mI", {"mIoU"}),
    ],
)
def test_completion(call, monkeypatch, line, expected):
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    monkeypatch.setenv("_TRUEMOMENT_COMPLETE", "bash_complete")
    status, out, err = call()
    assert (status, err) == (0, "")
    assert {found.partition(",")[2] for found in out.split()} == expected


@pytest.mark.parametrize(
    ("shell", "line", "place"),
    [
        *((shell, None, "1") for shell in SHELLS),
        *((shell, "truemoment ev", None) for shell in SHELLS),
        ("bash", "truemoment ev", "x"),
        ("zsh", "truemoment ev", "x"),
    ],
)
def test_variables_of_completion_that_are_none(fails, monkeypatch, shell, line, place):
    # They were bugs: KeyError and ValueError.
    for name, value in (("COMP_WORDS", line), ("COMP_CWORD", place)):
        monkeypatch.delenv(name, raising=False)
        if value is not None:
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("_TRUEMOMENT_COMPLETE", f"{shell}_complete")
    told = fails(2, "measures", "list")
    assert told.startswith(f"_TRUEMOMENT_COMPLETE={shell}_complete: expected the words in COMP_WORDS")


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_completion_in_bash(tmp_path):
    (tmp_path / "truemoment").write_text(f'#!/bin/sh\nexec {sys.executable} -m truemoment "$@"\n')
    (tmp_path / "truemoment").chmod(0o755)
    (tmp_path / "complete").write_text(script("bash"))
    asked = "source complete; COMP_WORDS=(truemoment measures l); COMP_CWORD=2; _truemoment_completion truemoment"
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    words = ["bash", "-c", f'{asked}; echo "${{COMPREPLY[@]}}"']
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "list\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts_of_shells(call, shell):
    status, out, _ = call("completion", shell)
    assert status == 0
    assert "_TRUEMOMENT_COMPLETE" in out


def test_threads_inside_and_after(monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = torch.get_num_threads()
    with limited_threads(3):
        assert (torch.get_num_threads(), os.environ["OMP_NUM_THREADS"]) == (3, "3")
    assert (torch.get_num_threads(), os.environ.get("OMP_NUM_THREADS")) == (before, None)


def test_no_word_shows_the_help(call):
    status, out, err = call()
    assert (status, err) == (0, "")
    assert out.startswith("Usage: truemoment")


@pytest.mark.parametrize("number", ["nan", "NaN", "inf", "-inf", "1e400"])
@pytest.mark.parametrize(
    "words",
    [
        ("train", "tan2d", "--fps"),
        ("evaluate", "a.jsonl", "--frame-rate"),
        ("bench", "closer-look", "-o", "bench", "--budget-hours"),
        ("resplit", "-o", "new", "--ood"),
    ],
)
def test_a_number_within_limits_is_finite(fails, words, number):
    # NaN is not below a smallest number, and not above a largest one.
    assert f"Invalid value for {words[-1]!r}" in fails(2, *words, number)


@pytest.mark.parametrize("number", ["x", "", "1.5", "nan"])
def test_an_option_of_whole_numbers_says_what_it_expects(fails, number):
    assert f"{number!r} is not a valid whole number" in fails(2, "train", "tan2d", "--seed", number)


@pytest.mark.parametrize("number", [2**63, -(2**63), 10**400])
@pytest.mark.parametrize(
    "words",
    [
        ("collect", "review", "new", "--html", "new.html", "--most-per-film"),
        ("predict", "endpoint", "x", "-o", "x.jsonl", "--frames"),
    ],
)
def test_a_whole_number_has_64_bits(fails, words, number):
    # 400 digits were "a bug of ours" in the sample of a review.
    told = fails(2, *words, str(number))
    assert f"Invalid value for {words[-1]!r}: " in told
    assert "expected 9,223,372,036,854,775,807 at most" in told or "is not in the range" in told


@pytest.mark.parametrize(
    "words",
    [
        ("train", "tan2d", "--select-split"),
        ("train", "tan2d", "--features"),
        ("predict", "run", "run", "-o", "new.jsonl", "--features"),
        ("evaluate", "a.jsonl", "--split"),
        ("evaluate", "a.jsonl", "--dataset"),
    ],
)
def test_a_name_is_not_empty(fails, words):
    # An empty split of `train` was the recipe's; empty features of a run "were made of published weights".
    assert f"Invalid value for {words[-1]!r}: is empty, expected a name" in fails(2, *words, "")


def test_every_default_is_a_value_that_its_option_takes():
    refused = []
    for verb in verbs():
        command = cli
        for word in verb.split():
            command = command.get_command(click.Context(command), word)
        command = command.own if isinstance(command, CommandGroup) else command
        context = click.Context(command)
        for parameter in command.params:
            if isinstance(parameter.default, str | int | float):
                try:
                    parameter.type_cast_value(context, parameter.default)
                except click.UsageError as error:
                    refused.append(f"{verb} {error.format_message()}")
    assert refused == []
