"""Words that people type: other programs' names of commands and options, and other spellings of datasets and splits."""

import pytest

from truemoment import load_annotations
from truemoment.base.errors import UsageError
from truemoment.base.known_names import SYNONYMS
from truemoment.cli.group import COMMANDS
from truemoment.data.datasets import get_dataset
from truemoment.data.datasets.source import AnnotationSource


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (("eval", "p.jsonl"), "Did you mean 'evaluate'?"),
        (("metrics",), "Did you mean 'measures'?"),
        (("evaluate", "p.jsonl", "--metrics", "mIoU"), "--measures"),
        (("audit", "p.jsonl", "--gt", "a.jsonl"), "--annotations"),
    ],
)
def test_a_word_of_another_program_is_answered_with_ours(call, words, answer):
    status, _, err = call(*words)
    assert (status, answer in err) == (2, True)


def test_every_synonym_means_something_and_hides_nothing():
    commands = {name: ours for name, ours in SYNONYMS.items() if not name.startswith("-")}
    assert set(commands.values()) <= set(COMMANDS)
    assert not set(commands) & set(COMMANDS)


@pytest.mark.parametrize("name", ["Charades-STA", "charades_sta", "CharadesSTA", "charades sta"])
def test_a_dataset_in_another_spelling(name):
    assert get_dataset(name).name == "charades-sta"


def test_a_split_in_another_spelling():
    source = AnnotationSource("Charades_CD", None, "Test OOD")
    assert (source.dataset, source.split) == ("charades-cd", "test-ood")
    assert get_dataset("charades-cd").split("test_ood").name == "test-ood"


def test_another_word_is_refused():
    with pytest.raises(UsageError, match="did you mean test-ood"):
        load_annotations("charades-cd", "testoood")
