"""truemoment annotate people: add, list, replace or revoke people."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from truemoment.base.errors import UsageError
from truemoment.base.request import Request, argument, option
from truemoment.cli import binder
from truemoment.cli.annotate.shared import check_address, show_links
from truemoment.cli.delivery import show_list
from truemoment.cli.outputs import say
from truemoment.web.annotating.progress import read_people
from truemoment.web.annotating.store import Store, opened, undamaged
from truemoment.web.annotating.study import StudyFolder


@dataclass(frozen=True, kw_only=True)
class PeopleRequest(Request):
    """The study, and what is changed."""

    study: Path = argument(metavar="STUDY")
    action: Literal["add", "list", "replace", "revoke", "link"] = argument()
    who: str | None = argument(metavar="[N|NAME]", required=False)
    address: str = option("Beginning of the links, as browsers reach the page.", "http://127.0.0.1:8790", metavar="URL")


@binder.command("people")
def command(request: PeopleRequest) -> None:
    """Change the people of STUDY, which must not be served meanwhile (the owner's page has the same actions).

    \b
    add N         adds N people and deals them the missing answers
    list          shows all people
    replace NAME  revokes a person; a new one gets the remaining tasks
    revoke NAME   ends a person's link; answers stay
    link NAME     makes a new link; the old one ends
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.web.annotating import people

    check_address(request.address)
    folder = StudyFolder(request.study)
    settings = folder.settings()
    if request.action == "list":
        with opened(folder.database) as connection:
            persons = read_people(connection, settings)
        cells = [(person.name, person.state, f"{person.done}", f"{person.tasks}") for person in persons]
        show_list(("person", "state", "done", "tasks"), cells, numbers=(2, 3))
        return
    who = request.who
    if who is None:
        raise UsageError(
            f"{request.action}: expected {'a number' if request.action == 'add' else 'the name of a person, e.g. w07'}"
        )
    if request.action == "add" and not (who.isascii() and who.isdecimal() and 1 <= int(who) <= 200):
        raise UsageError(f"add: got {who!r}, expected a number from 1 to 200")
    with opened(folder.database):
        pass  # a study that cannot be read is refused before it is locked
    with folder.locked(), undamaged(folder.database), contextlib.closing(Store(folder.database)) as store:
        match request.action:
            case "add":
                links = store.write(lambda connection: people.add_people(connection, int(who), settings))
            case "replace":
                links = [store.write(lambda connection: people.replace(connection, who, settings))]
            case "link":
                links = [store.write(lambda connection: people.new_link(connection, who))]
            case _:
                store.write(lambda connection: people.revoke(connection, who))
                links = []
    show_links(links, request.address)
    if request.action == "revoke":
        say(f"{who}: the link is no longer valid; the answers stay")
