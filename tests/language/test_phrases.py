"""Phrase trees: verbs with their nouns, at positions of our tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truemoment import load_annotations
from truemoment.data.language import Token, get_engine
from truemoment.data.language.phrases import PhraseTree, phrase_trees
from truemoment.data.language.tokens import tokenise

from ..thorough import quick_are

ENGINE = get_engine()


def told(sentence, how="words", engine=ENGINE):
    tokens = tokenise(sentence, how)
    (tree,) = phrase_trees([sentence], engine, how)
    return {tokens[verb]: [tokens[noun] for noun in nouns] for verb, nouns in zip(tree.verbs, tree.nouns, strict=True)}


@pytest.mark.parametrize(
    ("sentence", "tree"),
    [
        # Lan et al. (2023), Fig. 9.
        (
            "A person closes the cabinet and eats the food",
            {"closes": ["person", "cabinet"], "eats": ["person", "food"]},
        ),
        # Subjects before the verb and objects after it.
        ("A person opens the door.", {"opens": ["person", "door"]}),
        # A verb without a subject of its own shares the one before.
        ("The man takes a cup and drinks water.", {"takes": ["man", "cup"], "drinks": ["man", "water"]}),
        # A noun between a boundary and a verb is that verb's subject.
        ("A person sits on a chair while the dog eats food.", {"sits": ["person", "chair"], "eats": ["dog", "food"]}),
        ("A person cooks, the cook pours.", {"cooks": ["person"], "pours": ["cook"]}),
        # A boundary with no noun behind it begins no clause.
        ("A person takes a cup and a plate, then leaves.", {"takes": ["person", "cup", "plate"], "leaves": ["person"]}),
        # put and take count, auxiliaries do not.
        ("The person is putting shoes on the floor.", {"putting": ["person", "shoes", "floor"]}),
        ("They sneeze.", {"sneeze": []}),
        ("A red door.", {}),
        ("", {}),
        ("?!", {}),
    ],
)
def test_the_rule(sentence, tree):
    assert told(sentence) == tree


def test_positions_are_those_of_the_tokens_asked_for():
    sentence = "  The person's dog, it doesn't run; the cat (a Persian) sleeps."
    assert told(sentence, "words") == {"run": ["person", "dog"], "sleeps": ["cat", "persian"]}
    assert told(sentence, "blanks") == {"run;": ["person's", "dog,"], "sleeps.": ["cat", "persian)"]}


class Fixed:
    """An engine that gives the tokens it is told."""

    name = "fixed"

    def __init__(self, *tokens):
        self.tokens = [Token(text, text.lower(), tag) for text, tag in tokens]

    def analyse(self, sentences):
        return [list(self.tokens) for _ in sentences]


def test_engines_may_split_otherwise():
    engine = Fixed(("T", "NOUN"), ("-", "OTHER"), ("shirt", "NOUN"), ("is", "AUX"), ("put on", "VERB"), ("him", "NOUN"))
    assert told("T-shirt is put on him", engine=engine) == {"put": ["t-shirt", "him"]}
    # A token that is not in the sentence as it stands has no place.
    assert told("cats run", engine=Fixed(("cat", "NOUN"), ("RUNS", "VERB"))) == {}
    assert told("dogs run", engine=Fixed(("cat", "NOUN"), ("run", "VERB"))) == {"run": []}


def test_one_token_is_one_verb():
    engine = Fixed(("cup", "NOUN"), ("/", "OTHER"), ("opens", "VERB"), ("/", "OTHER"), ("shuts", "VERB"))
    (tree,) = phrase_trees(["cup/opens/shuts"], engine, "blanks")
    assert tree == PhraseTree((0,), ((),), "fixed")  # a verb is not its own noun


def test_the_engine_is_stated():
    assert phrase_trees(["a", "b"], ENGINE)[1].engine == "lexicon"
    assert phrase_trees([], ENGINE) == []


def holds(sentence, tree, how):
    n = len(tokenise(sentence, how))
    assert list(tree.verbs) == sorted(set(tree.verbs))
    assert len(tree.nouns) == len(tree.verbs)
    for verb, nouns in zip(tree.verbs, tree.nouns, strict=True):
        assert 0 <= verb < n
        assert list(nouns) == sorted(set(nouns))
        assert all(0 <= noun < n and noun != verb for noun in nouns)


PIECES = (
    "a",
    "person",
    "dog",
    "opens",
    "door",
    "and",
    "runs",
    "while",
    "'s",
    "n't",
    ".",
    ",",
    "’s",
    "İ",
    "T-shirt",
    "-",
    "\u00a0",
)
WORDS = st.sampled_from(PIECES)


@given(
    st.one_of(
        st.text(max_size=40), st.lists(WORDS, max_size=12).map(" ".join), st.lists(WORDS, max_size=12).map("".join)
    )
)
def test_positions_are_valid_whatever_the_sentence(sentence):
    for how in ("words", "blanks", "blanks-no-stop"):
        (tree,) = phrase_trees([sentence], ENGINE, how)
        holds(sentence, tree, how)


@pytest.mark.data
@pytest.mark.parametrize("every", quick_are([5], [5, 1]))
def test_charades(data_dir, every):
    splits = [load_annotations("charades-sta", split, data_dir=data_dir) for split in ("train", "test")]
    sentences = list(dict.fromkeys(str(s) for split in splits for s in split.sentence))[::every]
    with_verb = with_noun = 0
    for how in ("words", "blanks", "blanks-no-stop"):
        trees = phrase_trees(sentences, ENGINE, how)
        for sentence, tree in zip(sentences, trees, strict=True):
            holds(sentence, tree, how)
        with_verb = sum(bool(tree.verbs) for tree in trees)
        with_noun = sum(any(tree.nouns) for tree in trees)
    assert with_verb > 0.95 * len(sentences)
    assert with_noun > 0.95 * len(sentences)
