"""Requests of the page of a folder: cards, the page of one result, audits and comparisons."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated
from urllib.parse import quote

import msgspec
from starlette.responses import HTMLResponse, Response

from truemoment.base.boundary.files import read_bytes
from truemoment.base.boundary.own_path import OwnPath
from truemoment.base.errors import TrueMomentError
from truemoment.report.render import html
from truemoment.web.browsing.looking import MOST_SYSTEMS
from truemoment.web.browsing.video_routes import OWNER
from truemoment.web.opening.catalogue import Card, Catalogue, as_json
from truemoment.web.opening.choices import DataChoices
from truemoment.web.opening.documents import report_of
from truemoment.web.opening.entries import key_of
from truemoment.web.opening.joining import predictions_of
from truemoment.web.opening.kinds import HEAD_BYTES, TITLES, picture_type, read_document
from truemoment.web.opening.study_sites import StudySites
from truemoment.web.opening.work import StartedStudies, StartedStudy
from truemoment.web.pages.app import RouteOf, Visit, page_route, route
from truemoment.web.pages.errors import PageError

OWNERS = (OWNER,)

MOST_CARDS = 200
"""Cards that one request returns."""

MOST_PAGE_BYTES = 64 << 20
"""Size of the largest page or picture that is shown."""

REPORTS = ("audit", "comparison", "leaderboard", "report")
"""Kinds that are JSON documents."""

CONFIDENT = "view=confident-and-wrong"
"""The view of a page of predictions that an audit leads to first."""

Key = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}\Z")]


class SentStudy(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /api/audit`` and ``POST /api/compare``: keys of prediction files, and of annotations."""

    predictions: Annotated[list[Key], msgspec.Meta(min_length=1, max_length=64)]
    data: Annotated[str, msgspec.Meta(max_length=16)] = ""


@dataclass
class FolderService:
    """The page of a folder.

    Parameters
    ----------
    catalogue
        The results in it.
    choices
        Annotations for predictions.
    work
        Audits and comparisons.
    sites
        Sites of studies of ``annotate``; None where the page is for other machines too, on which they do not answer.
    """

    catalogue: Catalogue
    choices: DataChoices
    work: StartedStudies
    sites: StudySites | None

    # ------------------------------------------------------------------------------------------ handlers

    def cards(self, visit: Visit) -> Mapping[str, object]:
        """Return some cards, counts by kind, and how many files are not read yet."""
        visit.require_same_site()
        kind = visit.query_text("kind")
        if kind and kind not in TITLES:
            raise PageError(400, f"got {kind[:40]!r}, expected {', '.join(TITLES)}", "kind")
        offset, limit = visit.query_number("offset", 0), visit.query_number("limit", 60, highest=MOST_CARDS)
        return self.catalogue.page(visit.query_text("q"), kind, offset, limit)

    def item(self, visit: Visit) -> Mapping[str, object]:
        """Return what the page of one result shows."""
        card = self._card(visit)
        return {
            "card": as_json(card, self.catalogue.listing()),
            "shown": self._shown(card),
            "pictures": _pictures(card),
            "path": str(card.entry.path),
            "has_site": card.facts.kind == "study" and self.sites is not None,
            **self._browsing(card),
        }

    def _shown(self, card: Card) -> str:
        """Return the address of the page or the report of a result; "" for none."""
        kind, key = card.facts.kind, card.entry.key
        if (page := self.catalogue.listing().pages.get(key)) is not None:
            return f"/page/{page}"
        if kind == "page":
            return f"/page/{key}"
        has_report = kind in REPORTS or (kind == "run" and "result.json" in card.entry.inside)
        return f"/report/{key}" if has_report else ""

    def _browsing(self, card: Card) -> dict[str, str]:
        """Return the addresses of the queries of an audit or a comparison; "" where its predictions are not here."""
        is_study = card.facts.kind in ("audit", "comparison")
        cards = predictions_of(self.catalogue, card)[:MOST_SYSTEMS] if is_study else []
        if not cards:
            return {"browse": "", "confident": ""}
        keys = "-".join(predictions.entry.key for predictions in cards)
        address = f"/browse/{keys}{self._same_data(card, cards[0])}/queries"
        return {"browse": address, "confident": f"{address}?{CONFIDENT}"}

    def _same_data(self, study: Card, predictions: Card) -> str:
        """Return the part of an address that names the annotations of a study; "" for the most probable ones."""
        data = (study.facts.hints.get("dataset"), study.facts.hints.get("split"))
        for choice in self.choices.for_predictions(predictions):
            source = choice.source
            name = source.dataset or ("" if source.annotations is None else source.annotations.name)
            if (name, source.split or "all") == data:
                return f".{choice.key}"
        return ""

    def report(self, visit: Visit) -> Response:
        """Return the report of a JSON document, or of the result of a run."""
        card = self._card(visit, *REPORTS, "run")
        if card.facts.kind == "run":
            document = msgspec.json.decode(self._content(card.entry.path / "result.json"), type=dict)
            return framed(html.page(report_of(card.title, document)))
        return framed(html.page(report_of(f"{card.facts.kind.capitalize()}: {card.title}", read_document(card.entry))))

    def page(self, visit: Visit) -> Response:
        """Return a report page as it is."""
        return framed(self._content(self._card(visit, "page").entry.path))

    def picture(self, visit: Visit) -> Response:
        """Return a picture."""
        return self._picture(self._card(visit, "picture").entry.path)

    def picture_of_run(self, visit: Visit) -> Response:
        """Return a picture in the folder of a run."""
        card, name = self._card(visit, "run"), str(visit.request.path_params["name"])
        if name not in card.entry.inside:
            raise PageError(404, "there is no such picture")
        return self._picture(card.entry.path / name)

    def data_for(self, visit: Visit) -> Mapping[str, object]:
        """Return the annotations that a prediction file may be of, the most probable first."""
        visit.require_same_site()
        choices = self.choices.for_predictions(self._card(visit, "predictions"))
        return {"choices": [{"key": choice.key, "title": choice.title} for choice in choices]}

    def audit(self, visit: Visit) -> Mapping[str, object]:
        """Start an audit."""
        cards = self._predictions(visit.body.predictions)
        if len(cards) != 1:
            raise PageError(400, f"got {len(cards)} prediction files, expected one", "predictions")
        source = self.choices.of(cards[0], visit.body.data).source
        return self._job(self.work.start("audit", self._named(cards), source))

    def compare(self, visit: Visit) -> Mapping[str, object]:
        """Start a comparison."""
        cards = self._predictions(visit.body.predictions)
        if len(cards) < 2:
            raise PageError(400, f"got {len(cards)} prediction file, expected two or more", "predictions")
        source = self.choices.of(cards[0], visit.body.data).source
        return self._job(self.work.start("compare", self._named(cards), source))

    def site(self, visit: Visit) -> Mapping[str, object]:
        """Start the site of a study of ``annotate``, and return the link of its owner."""
        card = self._card(visit, "study")
        if self.sites is None:
            raise PageError(400, "this page is for other machines too: start the site with its command")
        try:
            return {"link": self.sites.link(card.entry.path.checked())}
        except TrueMomentError as error:
            raise PageError(400, str(error)) from None

    def jobs(self, visit: Visit) -> Mapping[str, object]:
        """Return what was started, the newest first."""
        del visit
        return {"jobs": [self._job(study) for study in reversed(self.work.started)]}

    def cancel(self, visit: Visit) -> None:
        """Cancel what was started."""
        self.work.jobs.find(str(visit.request.path_params["job"])).cancel()

    def resume(self, visit: Visit) -> Mapping[str, object]:
        """Start again what was cancelled or failed."""
        return self._job(self.work.resume(str(visit.request.path_params["job"])))

    def routes(self) -> list[RouteOf]:
        """Return the routes of the page."""
        return [
            page_route("/", "folder.html.j2", roles=OWNERS, values=lambda _: {"most": MOST_SYSTEMS}),
            page_route("/item/{key}", "item.html.j2", roles=OWNERS, values=self.item),
            route("GET", "/report/{key}", self.report, roles=OWNERS),
            route("GET", "/page/{key}", self.page, roles=OWNERS),
            route("GET", "/picture/{key}", self.picture, roles=OWNERS),
            route("GET", "/run/{key}/{name}", self.picture_of_run, roles=OWNERS),
            route("GET", "/api/cards", self.cards, roles=OWNERS),
            route("GET", "/api/data/{key}", self.data_for, roles=OWNERS),
            route("POST", "/api/audit", self.audit, roles=OWNERS, body=SentStudy),
            route("POST", "/api/compare", self.compare, roles=OWNERS, body=SentStudy),
            route("POST", "/api/site/{key}", self.site, roles=OWNERS),
            route("GET", "/api/jobs", self.jobs, roles=OWNERS),
            route("POST", "/api/jobs/{job}/cancel", self.cancel, roles=OWNERS),
            route("POST", "/api/jobs/{job}/resume", self.resume, roles=OWNERS),
        ]

    # ------------------------------------------------------------------------------------------- private

    def _card(self, visit: Visit, *kinds: str) -> Card:
        return self.catalogue.find(str(visit.request.path_params["key"]), *kinds)

    def _predictions(self, keys: Sequence[str]) -> list[Card]:
        return [self.catalogue.find(key, "predictions") for key in dict.fromkeys(keys)]

    @staticmethod
    def _named(cards: Sequence[Card]) -> list[tuple[str, OwnPath]]:
        """Return name and path of prediction files; files of one name get that of their folder too."""
        stems = [card.entry.path.stem for card in cards]
        return [
            (stem if stems.count(stem) == 1 else "/".join(card.entry.path.parts), card.entry.path)
            for stem, card in zip(stems, cards, strict=True)
        ]

    @staticmethod
    def _content(path: OwnPath) -> bytes:
        return read_bytes(path, most=MOST_PAGE_BYTES)

    def _picture(self, path: OwnPath) -> Response:
        data = self._content(path)
        kind = picture_type(data[:HEAD_BYTES])
        if kind is None:
            raise PageError(404, "there is no such picture")
        return Response(
            data,
            media_type=kind,
            headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"},
        )

    def _job(self, started: StartedStudy) -> dict[str, object]:
        job = started.job
        root = self.catalogue.root
        result = None
        if job.result is not None:
            result = key_of(OwnPath(root.root, job.result.relative_to(root.root).parts))
        return job.as_json() | {
            "title": started.title,
            "doing": job.doing,
            "started_s": started.started_s,
            "address": f"/item/{result}" if result else "",
        }


def _pictures(card: Card) -> list[str]:
    """Return the addresses of the pictures of a result; each drawing of a run once."""
    if card.facts.kind == "run":
        names = sorted(name for name in card.entry.inside if re.search(r"\.(png|svg)\Z", name))
        drawings = {name.rpartition(".")[0]: name for name in names}
        return [f"/run/{card.entry.key}/{quote(name)}" for name in drawings.values()]
    return [f"/picture/{card.entry.key}"] if card.facts.kind == "picture" else []


@lru_cache(maxsize=1)
def report_policy() -> str:
    """Return the policy of report pages: the script of our pages alone, no network, an origin of their own."""
    digest = html.script_hash(html.page_script())
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        "frame-ancestors 'self'; base-uri 'none'; form-action 'none'; "
        "sandbox allow-scripts allow-downloads allow-modals allow-popups"
    )


def framed(page: str | bytes) -> Response:
    """Return a page that can read and send nothing of this site, whoever made it."""
    return HTMLResponse(page, headers={"Content-Security-Policy": report_policy()})
