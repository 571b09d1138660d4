"""truemoment annotate people: add, list, replace or revoke people."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click

from truemoment.base.errors import UsageError
from truemoment.cli.annotate.shared import address_option, check_address, folder_of, show_links, study_argument
from truemoment.cli.command import Command
from truemoment.cli.delivery import show_list

if TYPE_CHECKING:
    from truemoment.web.annotating.study import StudyFolder


@click.command("people", cls=Command)
@study_argument
@click.argument("action", type=click.Choice(["add", "list", "replace", "revoke", "link"]))
@click.argument("who", required=False, metavar="[N|NAME]")
@address_option
def command(study: Path, action: str, who: str | None, address: str) -> None:
    """Change the people of STUDY, which must not be served meanwhile (the owner's page has the same actions).

    \b
    add N         adds N people and deals them what is missing
    list          shows everybody
    replace NAME  revokes a person; a new one gets what was not done
    revoke NAME   ends a person's link; answers stay
    link NAME     makes a new link; the old one ends
    """  # noqa: D301 - click reads the backspace as "do not wrap this paragraph"
    from truemoment.web.annotating import people
    from truemoment.web.annotating.store import Store, opened, undamaged

    check_address(address)
    folder = folder_of(study)
    settings = folder.settings()
    if action == "list":
        _show(folder)
        return
    if who is None:
        raise UsageError(f"{action}: expected {'a number' if action == 'add' else 'the name of a person, e.g. w07'}")
    if action == "add" and not (who.isascii() and who.isdecimal() and 1 <= int(who) <= 200):
        raise UsageError(f"add: got {who!r}, expected a number from 1 to 200")
    with opened(folder.database):
        pass  # a study that cannot be read is refused before it is locked
    with folder.locked(), undamaged(folder.database), contextlib.closing(Store(folder.database)) as store:
        match action:
            case "add":
                links = store.write(lambda connection: people.add_people(connection, int(who), settings))
            case "replace":
                links = [store.write(lambda connection: people.replace(connection, who, settings))]
            case "link":
                links = [store.write(lambda connection: people.new_link(connection, who))]
            case _:
                store.write(lambda connection: people.revoke(connection, who))
                links = []
    show_links(links, address)
    if action == "revoke":
        click.echo(f"{who}: the link is no longer valid; the answers stay")


def _show(study: StudyFolder) -> None:
    from truemoment.web.annotating.progress import read_people
    from truemoment.web.annotating.store import opened

    with opened(study.database) as connection:
        found = read_people(connection, study.settings())
    cells = [(of.name, of.state, f"{of.done}", f"{of.tasks}") for of in found]
    show_list(("person", "state", "done", "tasks"), cells, numbers=(2, 3))
