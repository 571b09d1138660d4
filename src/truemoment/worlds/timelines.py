"""Time lines: the events of a video, and which of them have a query.

A video has 4 to 9 events; 2 to 4 of them have a query. The others are distractors:

* 35 % have the action of a query event with another object;
* 30 % have another action with the same object;
* 15 % repeat an earlier distractor;
* the rest are drawn freely.

Each event is located independently (:mod:`truemoment.worlds.locations`), so events may overlap. The pair (action,
object) of a query occurs once in its video, so that its sentence describes one event. (A sentence with "again" or
"first" would reveal the location without the video.) Actions of query events are drawn independently with the shares of
:data:`~truemoment.worlds.grammar.FREQUENCY`: only the verb's own cell links sentence and location.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from truemoment.base.intervals import Bools, Floats, Ints
from truemoment.worlds.grammar import ACTIONS, FREQUENCY, OBJECTS

MOST_EVENTS = 9
MOST_QUERIES = 4
SAME_ACTION, SAME_OBJECT, REPEATED = 0.35, 0.30, 0.15
"""Shares of the kinds of event that are not queries; the rest are drawn as they come."""

_OBJECTS_OF = tuple(tuple(OBJECTS.index(name) for name in action.objects) for action in ACTIONS)
_ACTIONS_OF = tuple(
    tuple(number for number, objects in enumerate(_OBJECTS_OF) if thing in objects) for thing in range(len(OBJECTS))
)
_UP_TO = np.cumsum(FREQUENCY).tolist()

# (action, object), as positions in ACTIONS and OBJECTS
_Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Events:
    """All events of a world: a row per event, grouped by video, query events first.

    Parameters
    ----------
    video : (E,)
        Number of the video, from 0.
    action, thing : (E,)
        Positions in :data:`~truemoment.worlds.grammar.ACTIONS` and :data:`~truemoment.worlds.grammar.OBJECTS`.
    queried : (E,)
        Whether a query describes the event.
    start_s, end_s : (E,) seconds
        Times within the video; the end is after the start.
    """

    video: Ints
    action: Ints
    thing: Ints
    queried: Bools
    start_s: Floats
    end_s: Floats

    def __len__(self) -> int:
        return len(self.video)


def compose(numbers: Floats) -> tuple[Ints, Ints, Ints, Bools]:
    """Return (video, action, thing, is_queried) of the time lines of V videos, as in :class:`Events`.

    `numbers`, (V, 1 + MOST_EVENTS, 4), are independent uniform random numbers in [0, 1).
    """
    rows: list[tuple[int, int, int, bool]] = []
    for video, table in enumerate(numbers.tolist()):
        n_events = 4 + int(table[0][0] * (MOST_EVENTS - 3))
        n_queried = 2 + int(table[0][1] * (MOST_QUERIES - 1))
        queried: list[_Pair] = []
        for of_action, of_object, _, _ in table[1 : 1 + n_queried]:
            queried.append(_fresh(of_action, of_object, queried))
        distractors: list[_Pair] = []
        for draw in table[1 + n_queried : 1 + n_events]:
            distractors.append(_other(draw, queried, distractors))
        rows.extend((video, *pair, True) for pair in queried)
        rows.extend((video, *pair, False) for pair in distractors)
    table_of_events = np.array(rows, dtype=np.int64).reshape(-1, 4)
    video_of, action, thing, is_queried = table_of_events.T
    return video_of, action, thing, is_queried.astype(bool)


def _fresh(of_action: float, of_object: float, used: list[_Pair]) -> _Pair:
    """Draw an action by its share, and one of its objects that makes a new pair."""
    action = next((number for number, up_to in enumerate(_UP_TO) if of_action < up_to), len(_UP_TO) - 1)
    return _with_object(action, of_object, used)


def _with_object(action: int, of_object: float, used: list[_Pair]) -> _Pair:
    things = [thing for thing in _OBJECTS_OF[action] if (action, thing) not in used]
    return action, things[int(of_object * len(things))]


def _other(draw: list[float], queried: list[_Pair], distractors: list[_Pair]) -> _Pair:
    """Draw an event that is not a query; four random numbers decide."""
    of_action, of_object, of_kind, of_model = draw
    action, thing = queried[int(of_model * len(queried))]
    if of_kind < SAME_ACTION:
        return _with_object(action, of_object, queried)
    if of_kind < SAME_ACTION + SAME_OBJECT:
        actions = [(other, thing) for other in _ACTIONS_OF[thing] if (other, thing) not in queried]
        if actions:
            return actions[int(of_action * len(actions))]
    elif of_kind < SAME_ACTION + SAME_OBJECT + REPEATED and distractors:
        return distractors[int(of_model * len(distractors))]
    return _fresh(of_action, of_object, queried)
