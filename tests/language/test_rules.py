"""Every rule of the lexicon engine on its own examples."""

import pytest

from truemoment.data.language import LexiconEngine, lexicon
from truemoment.data.language.lexicon import TOKEN
from truemoment.data.language.rules import RULES

EXAMPLES = [
    pytest.param(key, example, is_verb, id=f"{'-'.join(key)}-{'verb' if is_verb else 'other'}".replace(" ", "-"))
    for key, rule in RULES.items()
    for example, is_verb in ((rule.verb, True), (rule.other, False))
    if example
]


@pytest.mark.parametrize(("key", "example", "is_verb"), EXAMPLES)
def test_example(monkeypatch, key, example, is_verb):
    asked = []

    class Watched(dict):
        def __getitem__(self, key):
            asked.append(key)
            return super().__getitem__(key)

    monkeypatch.setattr(lexicon, "RULES", Watched(RULES))
    before, word, _ = example.split("*")
    token = LexiconEngine().analyse([example.replace("*", "")])[0][len(TOKEN.findall(before))]
    assert token.text == word
    assert (token.tag == "VERB") == is_verb
    assert key in asked  # the example is decided by this rule, not by the word alone


def test_every_rule_has_an_example():
    assert [key for key, rule in RULES.items() if not rule.verb and not rule.other] == []
