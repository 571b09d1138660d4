"""The language of the world: actions, objects, and sentences that describe an event.

An action has one or more verbs of the same meaning and at least six objects, so that a video can have queries of the
same action with different events. No verb belongs to two actions. A sentence is

    subject [adverb] VERB object [circumstance].

with the verb in the third person ("opens", 65 %), after an auxiliary ("is opening", 25 %) or after a verb of beginning
("begins to open", 10 %). The first verb of a sentence, auxiliaries and "begin" aside, names its action. Subject,
adverb, form and circumstance are drawn independently of event and location.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Floats


@dataclass(frozen=True)
class Verb:
    """A verb: "open", "opens", "opening"; `pattern` is the text behind, with ``{}`` for the object and its article."""

    base: str
    third: str
    gerund: str
    pattern: str = "{}"


@dataclass(frozen=True)
class Action:
    """An action: its first verb's base form, one or more verbs of the same meaning, and its objects."""

    name: str
    verbs: tuple[Verb, ...]
    objects: tuple[str, ...]


def _action(verbs: str, objects: str) -> Action:
    """Read "base third gerund [pattern] | ..." and the objects between blanks."""
    read = []
    for text in verbs.split("|"):
        base, third, gerund, *pattern = text.split()
        read.append(Verb(base, third, gerund, " ".join(pattern) or "{}"))
    return Action(read[0].base, tuple(read), tuple(objects.split()))


ACTIONS: tuple[Action, ...] = (
    _action("open opens opening", "door window box bag book laptop bottle umbrella"),
    _action("take takes taking | grab grabs grabbing", "cup bottle phone book bag box towel pillow apple"),
    _action("put puts putting {} on the shelf | place places placing {} on the shelf", "cup book box bag towel bottle"),
    _action("close closes closing | shut shuts shutting", "door window box bag book laptop umbrella"),
    _action("hold holds holding", "cup phone book pillow towel broom umbrella ball"),
    _action("sit sits sitting on {}", "chair table pillow box blanket sofa"),
    _action("eat eats eating", "sandwich apple cake pizza cookie pancake"),
    _action("walk walks walking to {}", "door window table chair mirror sofa"),
    _action("look looks looking at {}", "mirror picture phone book laptop letter window"),
    _action("throw throws throwing | toss tosses tossing", "ball pillow towel shirt coat blanket apple bag"),
    _action("drink drinks drinking from {}", "cup bottle glass mug bowl can"),
    _action("carry carries carrying", "box bag chair laptop blanket pillow broom"),
    _action("read reads reading", "book newspaper letter magazine menu poster"),
    _action("wash washes washing | rinse rinses rinsing", "cup glass towel shirt apple bottle mug bowl"),
    _action("fold folds folding", "blanket towel shirt newspaper letter coat"),
    _action("run runs running toward {}", "door window table ball sofa mirror"),
    _action("wipe wipes wiping | clean cleans cleaning", "table mirror window door laptop chair phone"),
    _action("stand stands standing next to {}", "door window table chair mirror picture"),
    _action("push pushes pushing", "chair table door box ball sofa"),
    _action("lift lifts lifting | raise raises raising", "box chair bag table laptop cup glass"),
    _action("cut cuts cutting | slice slices slicing", "apple cake sandwich pizza cookie pancake"),
    _action("pull pulls pulling | drag drags dragging", "chair table box blanket sofa bag"),
    _action("drop drops dropping", "cup ball phone book glass bag can"),
    _action("fix fixes fixing | repair repairs repairing", "laptop chair phone door umbrella table window"),
    _action("shake shakes shaking", "bottle blanket towel bag box can"),
    _action("catch catches catching", "ball bottle pillow apple bag can"),
    _action("kick kicks kicking", "ball box door chair bag can"),
    _action("hide hides hiding", "book phone letter box ball bag"),
    _action("smell smells smelling | sniff sniffs sniffing", "apple cake pizza cookie sandwich shirt"),
    _action("break breaks breaking | smash smashes smashing", "glass cup bottle window mirror bowl mug"),
    _action("paint paints painting", "chair table door box picture window"),
    _action("wrap wraps wrapping", "box book bottle glass picture mug"),
)
"""All actions, the more frequent ones first (see :data:`FREQUENCY`)."""

OBJECTS: tuple[str, ...] = tuple(sorted({name for action in ACTIONS for name in action.objects}))
"""All objects, in order of the alphabet."""


FREQUENCY: Floats = 1 / (np.arange(len(ACTIONS)) + 8.0)
r"""Share of each action among the queries: proportional to :math:`1 / (\mathrm{rank} + 8)`, ranks from 0."""
FREQUENCY /= FREQUENCY.sum()
FREQUENCY.flags.writeable = False

SUBJECTS = ("a person", "the person", "a man", "the man", "a woman", "the woman", "a boy", "the girl", "someone")
ADVERBS = ("quickly", "slowly", "carefully", "calmly", "suddenly")
CIRCUMSTANCES = (
    "in the kitchen",
    "in the living room",
    "by the stairs",
    "near the wall",
    "with one hand",
    "while smiling",
    "while music plays",
    "before leaving the room",
)

N_CHOICES = 7
"""How many random numbers a sentence takes."""


def describe(action: int, name: str, choices: Floats) -> str:
    """Return a sentence that describes an event: an action, by its position in :data:`ACTIONS`, and one of its objects.

    `choices`, (N_CHOICES,), in [0, 1), select subject, adverb, verb, form, article, circumstance and its kind.

    Examples
    --------
    >>> import numpy as np
    >>> describe(0, "umbrella", np.zeros(N_CHOICES))
    'A person quickly opens an umbrella in the kitchen.'
    >>> describe(3, "door", np.full(N_CHOICES, 0.99))
    'Someone begins to shut the door.'
    """
    of_subject, of_adverb, of_verb, of_form, of_article, of_circumstance, of_kind = choices.tolist()
    verbs = ACTIONS[action].verbs
    verb = verbs[int(of_verb * len(verbs))]
    words = [SUBJECTS[int(of_subject * len(SUBJECTS))]]
    if of_adverb < 0.25:
        words.append(ADVERBS[int(of_adverb / 0.25 * len(ADVERBS))])
    if of_form < 0.65:
        words.append(verb.third)
    elif of_form < 0.9:
        words.append(f"is {verb.gerund}")
        if of_adverb < 0.25:  # "is slowly opening"
            words[1:] = [f"is {words[1]} {verb.gerund}"]
    else:
        words.append(f"begins to {verb.base}")
    article = "the" if of_article >= 0.6 else "an" if name[0] in "aeiou" else "a"
    words.append(verb.pattern.format(f"{article} {name}"))
    if of_circumstance < 0.4:
        words.append(CIRCUMSTANCES[int(of_kind * len(CIRCUMSTANCES))])
    sentence = " ".join(words)
    return f"{sentence[0].upper()}{sentence[1:]}."
