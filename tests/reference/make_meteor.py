"""Write meteor.json: METEOR of made-up sentence pairs by NLTK with an empty WordNet.

Run in an environment of its own: pip install nltk; python tests/reference/make_meteor.py > tests/reference/meteor.json
"""

import json
import random
import sys

WHO = ("a man", "the woman", "two people", "she", "a young boy in red", "the players", "an old lady")
DID = ("opens", "opened", "is cutting", "cuts", "walks slowly to", "runs towards", "washes", "is washing", "throws")
WHAT = ("the door", "a carrot", "the carrots", "a bag of groceries", "the kitchen table", "his shoes", "dishes")
MORE = (
    "",
    "and then opens the door again",
    "while the dogs are running happily",
    "before cutting the carrots into generously sized pieces",
    "then the man dries the knives",
    "as she was dying her hair",
)
OTHER = ("a", "the", "door", "doors", "opens", "opened", "carrot", "and", "quickly", "again")
BY_HAND = (
    ("", "a door"),
    ("a door", ""),
    ("a b c d", "d c b a"),
    ("a a b a", "a b a a"),
    ("opens opening open", "open opened opens"),
    # Here the stems differ: NLTK's of dying and flies are those of die and fly, Porter's are not.
    ("the man is dying", "the men die"),
    ("a bird flies away", "the bird can fly away"),
)


def sentence(rng):
    return " ".join(filter(None, (rng.choice(WHO), rng.choice(DID), rng.choice(WHAT), rng.choice(MORE)))).split()


def varied(words, rng):
    words = list(words)
    for _ in range(rng.randint(0, 3)):
        at, other = rng.randrange(len(words)), rng.randrange(len(words))
        kind = rng.randrange(4)
        if kind == 0:
            words[at] = rng.choice(OTHER)
        elif kind == 1 and len(words) > 1:
            words.pop(at)
        elif kind == 2:
            words.insert(at, rng.choice(OTHER))
        else:
            words[at], words[other] = words[other], words[at]
    return words


def made_up_pairs():
    rng = random.Random(2022)  # noqa: S311 - sentences are no secret
    for _ in range(150):
        of = sentence(rng)
        yield of, varied(of, rng)
    for _ in range(100):
        yield sentence(rng), sentence(rng)
    for n in range(1, 8):
        of = sentence(rng)[:n]
        yield of, of
    for hypothesis, reference in BY_HAND:
        yield hypothesis.split(), reference.split()


class NoWordNet:
    def synsets(self, _word):
        return []


def main():
    import nltk
    from nltk.translate.meteor_score import meteor_score

    rows = [[" ".join(h), " ".join(r), meteor_score([r], h, wordnet=NoWordNet())] for h, r in made_up_pairs()]
    about = "METEOR by NLTK with an empty WordNet: hypothesis, reference, score; sentences made up by the script"
    command = "python tests/reference/make_meteor.py > tests/reference/meteor.json"
    head = {
        "about": about,
        "command": command,
        "environment": f"Python {sys.version.split()[0]}, NLTK {nltk.__version__}",
    }
    lines = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in head.items()]
    table = ",\n".join(json.dumps(row) for row in rows)
    sys.stdout.write("{\n" + ",\n".join(lines) + f',\n"pairs": [\n{table}\n]\n}}\n')


if __name__ == "__main__":
    main()
