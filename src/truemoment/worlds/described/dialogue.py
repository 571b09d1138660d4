"""The grammar of the dialogue of simulated films; it shares only function words with the descriptions."""

from __future__ import annotations

import numpy as np


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


OPENINGS = _words("listen please honestly wait well perhaps maybe look sorry so but and because")
PRONOUNS = _words("I you we they he she")
OWNERS = _words("my your our his her their")
PEOPLE = _words(
    "brother sister mother father lawyer doctor captain neighbour teacher cousin partner driver banker uncle"
)
NAMES = _words("Marta Viktor Oskar Lena")
VERBS = _words(
    "forgot sold borrowed stole lost remembered bought found hid trusted missed broke fixed refused promised"
)
DETERMINERS = _words("the this that my your our his her their another every")
ADJECTIVES = _words("old last next first second cheap strange terrible wonderful whole own")
THINGS = _words(
    "money ticket secret letter contract key suitcase train phone story apology answer document photograph passport "
    "recipe piano garden medicine engine map chance question house bicycle wallet guitar newspaper"
)
PLACES = _words("kitchen office church hospital station airport wedding funeral harbour")
TIMES = _words("tomorrow yesterday tonight later soon today already again")
ENDS = (
    "for nothing",
    "before midnight",
    "until summer",
    "after dinner",
    "without breakfast",
    "for Marta",
    "with Oskar",
)


def draw_sentence(rng: np.random.Generator) -> str:
    """Return a sentence of 4 to 13 words, with a large first letter and a full stop.

    Examples
    --------
    >>> draw_sentence(np.random.default_rng(1))
    'My mother fixed every whole answer.'
    """

    def one_of(words: tuple[str, ...]) -> str:
        return words[int(rng.integers(len(words)))]

    words = [one_of(OPENINGS)] if rng.random() < 0.35 else []
    kind = rng.random()
    words += [one_of(PRONOUNS)] if kind < 0.5 else [one_of(NAMES)] if kind < 0.6 else [one_of(OWNERS), one_of(PEOPLE)]
    words += [one_of(VERBS), one_of(DETERMINERS)]
    words += [one_of(ADJECTIVES)] if rng.random() < 0.4 else []
    words += [one_of(THINGS)]
    words += ["from the", one_of(PLACES)] if rng.random() < 0.3 else []
    words += [one_of(TIMES)] if rng.random() < 0.35 else [one_of(ENDS)] if rng.random() < 0.3 else []
    sentence = " ".join(words)
    return f"{sentence[0].upper()}{sentence[1:]}."
