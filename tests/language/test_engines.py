"""What every engine must do, and how engines are asked for. spaCy and its models are not installed here: a module that
behaves as spaCy does stands in, so its part is tested as far as the calls go, not on real output."""

import sys
from types import SimpleNamespace

import pytest

from truemoment.base.errors import MissingPackageError, UsageError
from truemoment.data.language import Engine, Token, get_engine, verbs_of

# (text, lemma, Penn tag, universal tag, blank) as spaCy's documentation describes tokens.
STAND_IN = {
    "They": ("they", "PRP", "PRON"),
    "have": ("have", "VBP", "AUX"),
    "must": ("must", "MD", "AUX"),
    "opened": ("open", "VBN", "VERB"),
    "red": ("red", "JJ", "ADJ"),
    "doors": ("door", "NNS", "NOUN"),
}


class StandIn:
    """A pipeline that knows six words."""

    def __init__(self, *parts):
        self.parts = parts
        self.meta = {"version": "9.9"}

    def has_pipe(self, name):
        return name in self.parts

    def pipe(self, sentences):
        for sentence in sentences:
            yield [
                SimpleNamespace(text=w, lemma_=STAND_IN[w][0], tag_=STAND_IN[w][1], pos_=STAND_IN[w][2], is_space=False)
                for w in sentence.split()
            ] + [SimpleNamespace(text=" ", lemma_=" ", tag_="_SP", pos_="SPACE", is_space=True)] * sentence.endswith(
                " "
            )


@pytest.fixture
def spacy(monkeypatch):
    """Put a stand-in for the module in place; it has the models named here."""
    models = {
        "en_core_web_sm": StandIn("tagger", "lemmatizer"),
        "other": StandIn("tagger", "lemmatizer"),
        "blank": StandIn(),
    }
    loaded = []

    def load(name, exclude):
        assert exclude == ["ner"]  # tags and lemmas need the rest
        loaded.append(name)
        if name not in models:
            raise OSError(f"[E050] Can't find model '{name}'.")
        return models[name]

    monkeypatch.setitem(sys.modules, "spacy", SimpleNamespace(load=load, __version__="3.8.18"))
    return loaded


@pytest.fixture(params=["lexicon", "spacy"])
def engine(request):
    request.getfixturevalue("spacy")
    return get_engine(request.param)


def test_contract(engine):
    assert isinstance(engine, Engine)
    assert engine.name
    sentences = ["They must have opened red doors", "", "red doors "]
    read = engine.analyse(sentences)
    assert [[token.text for token in tokens] for tokens in read] == [sentence.split() for sentence in sentences]
    assert all(isinstance(token, Token) for tokens in read for token in tokens)
    assert [token.tag for token in read[0]] == ["OTHER", "AUX", "AUX", "VERB", "ADJ", "NOUN"]
    assert [token.lemma for token in read[0]] == ["they", "must", "have", "open", "red", "door"]
    assert verbs_of(sentences, engine) == [("open",), (), ()]


def test_no_sentences(engine):
    assert engine.analyse([]) == []


def test_spacy_is_named_with_its_versions(spacy):
    assert get_engine("spacy").name == "spacy 3.8.18, en_core_web_sm 9.9"
    assert get_engine("spacy:other").name == "spacy 3.8.18, other 9.9"
    assert spacy == ["en_core_web_sm", "other"]


def test_the_default_does_not_touch_spacy(spacy):
    assert get_engine().name == "lexicon"
    get_engine().analyse(["They opened doors"])
    assert spacy == []


@pytest.mark.parametrize("name", ["", "nltk", "lexicon:x", "spacy:", "Spacy"])
def test_unknown_engine(name):
    with pytest.raises(UsageError, match="expected one of lexicon, spacy, spacy:MODEL"):
        get_engine(name)


def test_no_spacy(monkeypatch):
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingPackageError, match=r"pip install 'truemoment\[spacy\]'"):
        get_engine("spacy")


@pytest.mark.usefixtures("spacy")
def test_no_model():
    with pytest.raises(UsageError, match="python -m spacy download en_core_web_lg"):
        get_engine("spacy:en_core_web_lg")


@pytest.mark.usefixtures("spacy")
def test_a_model_without_tagger():
    with pytest.raises(UsageError, match="'blank' has no tagger and no lemmatizer"):
        get_engine("spacy:blank")
