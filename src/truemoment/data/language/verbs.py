"""The verbs of sentences, as Hidden Challenges (Otani et al. 2020, sections 3.1 and 3.2) counts them.

The authors' code (github.com/mayu-ot/hidden-challenges-MR at e0c4546, ``src/toolbox/utils.py``) takes the lemma of each
token that spaCy tags VB*, less tokens on spaCy's list of stop words and the word *person*. Stop words are
matched by their form in the sentence: *put* is one and *puts* is not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from truemoment.base.errors import UsageError
from truemoment.data.language.base import Engine
from truemoment.data.language.words import word_set

STOP_FORMS = word_set(
    "'d 'll 'm 're 's 've am amount are back be became become becomes becoming been being bottom call can could did do "
    "does doing done down empty even except front full further get give go had has have is keep last made make may "
    "might mine move must name over own part please put regarding say see seem seemed seeming seems should show side "
    "still take third top up used using was well were while will would"
)
"""Words on spaCy 3.8.18's English stop list (``spacy.lang.en.stop_words``) that lemminflect knows as forms of verbs."""


def verbs_of(sentences: Iterable[str], engine: Engine, *, keep_stop_words: bool = False) -> list[tuple[str, ...]]:
    """Lemmas of each sentence's verbs, in the order of the sentence; a verb that occurs twice counts twice.

    `keep_stop_words` keeps verbs in a form that is also a stop word (*put*, *take*, *show*, *have*...).

    Examples
    --------
    >>> from truemoment.data.language import get_engine
    >>> verbs_of(["A person is putting the cup down, then they take a book."], get_engine())
    [('put',)]
    >>> verbs_of(["A person is putting the cup down, then they take a book."], get_engine(), keep_stop_words=True)
    [('put', 'take')]
    """
    left_out = {"person"} if keep_stop_words else STOP_FORMS | {"person"}
    return [
        tuple(token.lemma for token in tokens if token.tag == "VERB" and _plain(token.text) not in left_out)
        for tokens in engine.analyse([str(sentence) for sentence in sentences])
    ]


def _plain(text: str) -> str:
    return text.lower().replace("’", "'").replace("‘", "'")


def first_verb(verbs: Sequence[str]) -> str:
    """Return the first of a sentence's verbs, or "" if it has none."""
    return verbs[0] if verbs else ""


def verb_counts(verbs_per_sentence: Iterable[Sequence[str]]) -> Counter[str]:
    """How often each verb occurs; ``most_common(n)`` lists the frequent ones, ties in order of first occurrence.

    Examples
    --------
    >>> verb_counts([("open", "close"), (), ("open",)]).most_common(1)
    [('open', 2)]
    """
    return Counter(verb for verbs in verbs_per_sentence for verb in verbs)


def coverage(counts: Counter[str], n: int = 30) -> float:
    """Share of all occurrences of verbs that the n most frequent verbs cover, 0 to 1; NaN if no verb occurs.

    Examples
    --------
    >>> coverage(verb_counts([("open", "close"), ("open", "sit")]), 1)
    0.5
    """
    if n < 1:
        raise UsageError(f"coverage of the {n} most frequent verbs: expected 1 or more")
    total = counts.total()
    return sum(count for _, count in counts.most_common(n)) / total if total else float("nan")
