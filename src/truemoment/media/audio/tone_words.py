"""Words as sequences of tones: the code of the simulated voices and of the recogniser that hears them.

A word is a start tone and :data:`N_DIGITS` digits of base :data:`N_DIGIT_TONES`, each a tone of :data:`TONE_S` with
:data:`REST_S` of silence behind it. The number that the digits write is 2 x position in :data:`VOCABULARY`, + 1 where a
full stop follows. A voice has frequencies of its own, which separate its words from those of other voices.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from truemoment.base.intervals import Floats

TONE_S = 0.05
REST_S = 0.03
N_DIGITS = 4
N_DIGIT_TONES = 8
WORD_S = (1 + N_DIGITS) * (TONE_S + REST_S)
"""Seconds from the start of a word to the end of the silence behind its last tone."""

N_VOICES = 5
"""Number of voices whose frequencies are all different; voice 0 is the narrator's."""

LOWEST_HZ, VOICE_STEP_HZ, TONE_STEP_HZ = 600.0, 48.0, 240.0

_WORDS = """
    a above an at below black blue brick circle cross diamond drifts floats front glides grass green heart in is large
    left moves night of on orange purple red rests right ring rolls sand slides small snow square stands star stays the
    triangle wall water white yellow
    I you we they he she it not never always do did have has had will would could should must can are was were be been
    to for from with without about before after until and or but if because so that this what why where when who how
    my your our his her their me us them him
    listen please honestly wait well perhaps maybe look sorry again tomorrow yesterday tonight later soon today already
    brother sister mother father lawyer doctor captain neighbour teacher cousin partner driver banker uncle judge
    need needs forgot promised sold borrowed stole lost remember remembers bought found wrote signed hid believe
    believes trusted told paid owe owes missed broke fixed opened closed answered called visited warned hired fired
    refused remembered
    money ticket secret letter contract key keys suitcase train phone story apology answer document photograph passport
    recipe piano garden medicine engine map chance question house kitchen office bicycle wallet guitar newspaper
    midnight summer winter dinner breakfast church hospital station airport wedding funeral harbour nothing everything
    anyone someone nobody another every old last next first second cheap strange terrible wonderful whole own
    Marta Viktor Oskar Lena Paris Lisbon Monday Friday yes no thanks goodbye hello truth
    music applause thunder laughter
"""

VOCABULARY: tuple[str, ...] = tuple(_WORDS.split())
"""Words that can be spoken, in order: new ones go to the end, because a word's tones follow from its position."""

_POSITION = {word.lower(): at for at, word in enumerate(VOCABULARY)}


def frequencies_hz(voice: int) -> Floats:
    """Return the frequencies of a voice in Hz, (1 + N_DIGIT_TONES,): the start tone, then digits 0 to 7."""
    return LOWEST_HZ + VOICE_STEP_HZ * voice + TONE_STEP_HZ * np.arange(1 + N_DIGIT_TONES)


def digits_of(word: str) -> tuple[int, ...]:
    """Return the digits of a word, the most significant first; large and small letters are one.

    Parameters
    ----------
    word
        A word of :data:`VOCABULARY`, perhaps with a full stop.

    Raises
    ------
    KeyError
        If the vocabulary does not contain it.

    Examples
    --------
    >>> digits_of("a"), digits_of("above.")
    ((0, 0, 0, 0), (0, 0, 0, 3))
    """
    number = 2 * _POSITION[word.removesuffix(".").lower()] + word.endswith(".")
    return tuple(number // N_DIGIT_TONES**place % N_DIGIT_TONES for place in reversed(range(N_DIGITS)))


def word_of(digits: Sequence[int]) -> str | None:
    """Return the word that digits write, perhaps with a full stop; None where they write none.

    Examples
    --------
    >>> word_of((0, 0, 0, 3)), word_of((7, 7, 7, 7))
    ('above.', None)
    """
    number = 0
    for digit in digits:
        number = N_DIGIT_TONES * number + digit
    at, stops = divmod(number, 2)
    return None if at >= len(VOCABULARY) else VOCABULARY[at] + "." * stops
