"""The site of a study that ``open`` starts: a process of its own, with the link of its owner."""

import time

import httpx

from truemoment.web.opening.study_sites import StudySites

from .conftest import annotations_of


def answers(address):
    """Whether a server answers."""
    try:
        return httpx.get(address).status_code == 200
    except httpx.HTTPError:
        return False


def test_a_site_answers_its_owner_until_the_page_of_the_folder_ends(make_study):
    folder, _ = make_study(annotations_of(1, 1), people=1, per_query=1)
    sites = StudySites(port=0)
    link = sites.link(folder)
    base, _, token = link.partition("/in#")
    assert sites.link(folder) == link
    signed_in = httpx.post(f"{base}/in", json={"token": token}, headers={"Origin": base})
    assert signed_in.status_code == 303
    sites.close()
    until = time.monotonic() + 20
    while answers(f"{base}/in"):
        assert time.monotonic() < until
        time.sleep(0.05)
