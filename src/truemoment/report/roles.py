"""The role of everything that figures, pages and players show: one colour, marker, line and word each.

Each colour has a contrast of 3:1 or more to the paper, in the light and in the dark scheme. Roles that meet in one
figure differ for colour-blind readers too, and nothing is shown by colour alone: markers and lines differ.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Literal, NamedTuple

RoleName = Literal["method", "floor", "other", "ceiling", "people", "reference", "iid", "ood", "chance", "published"]

Dashes = tuple[float, ...]
"""Lengths of strokes and gaps, points; () for a solid line."""

MARKERS: MappingProxyType[str, str] = MappingProxyType(
    {
        "o": "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
        "D": "M0-5L5 0 0 5-5 0z",
        "s": "M-3.5-3.5h7v7h-7z",
        "^": "M0-5L5 4h-10z",
        "v": "M0 5L5-4h-10z",
        "|": "M-.7-7h1.4v14h-1.4z",
    }
)
"""Outline of each marker around 0, pixels, by its name in matplotlib."""


class MarkLook(NamedTuple):
    """How a mark or a line is drawn, on light paper."""

    colour: str
    marker: str = "o"
    dashes: Dashes = ()
    hollow: bool = False

    @property
    def face(self) -> str:
        """Colour inside the marker."""
        return PAPER if self.hollow else self.colour

    @property
    def line(self) -> Literal["-"] | tuple[float, Dashes]:
        """Style of the line, as matplotlib names it."""
        return (0, self.dashes) if self.dashes else "-"


class Role(NamedTuple):
    """A role: its word, its look, and its other colours: on dark paper, and of areas on light and on dark paper."""

    word: str
    look: MarkLook
    dark: str
    faint: str
    dark_faint: str


PAPER, INK, SOFT, GRID = "#fffffe", "#26262a", "#5f6068", "#e4e1db"

ROLES: MappingProxyType[RoleName, Role] = MappingProxyType(
    {
        "method": Role("the method", MarkLook("#1f5a8e"), "#7db4e6", "#c5d6e6", "#26425c"),
        "floor": Role(
            "strongest floor", MarkLook("#b8560f", "D", (4, 3), hollow=True), "#f0a05c", "#f1d5bd", "#4e3420"
        ),
        "other": Role(
            "other floors", MarkLook("#85868e", "o", (1.2, 1.5), hollow=True), "#85878f", "#d6d6da", "#3a3c43"
        ),
        "ceiling": Role("ceiling", MarkLook("#2f7d57", "|"), "#7fcfa4", "#dbe6de", "#26372c"),
        "people": Role("people", MarkLook("#b56fb5", "^", hollow=True), "#a874c8", "#eedcee", "#3b2a46"),
        "reference": Role("reference", MarkLook(INK, "s"), "#e9e7e2", "#c9c9cc", "#4a4b50"),
        "iid": Role("test-iid", MarkLook("#0b7f86", "s", (1.2, 1.2)), "#5fd0d2", "#c3e2e3", "#1d4447"),
        "ood": Role("test-ood", MarkLook("#8f1f55", "^", (5, 1.6)), "#e0719f", "#ecccd9", "#4d2237"),
        "chance": Role("chance", MarkLook(SOFT, "v", (1.2, 2.4), hollow=True), "#c4c6cc", "#dcdcdf", "#3a3c43"),
        "published": Role("published", MarkLook(INK, hollow=True), "#e9e7e2", "#c9c9cc", "#4a4b50"),
    }
)

SERIES = (
    ROLES["method"].look,
    MarkLook("#0b7f86", "s", (6, 1.6, 1.2, 1.6)),
    MarkLook("#8f1f55", "^", (5, 1.6), hollow=True),
    MarkLook(INK, "v", (1.2, 1.2)),
    MarkLook("#8a7a1f", "s", (2.5, 2), hollow=True),
    MarkLook("#b56fb5", "^"),
)
"""Looks of several methods, datasets or measures in one figure; none is that of a floor or of a ceiling."""


def nth_look(number: int) -> MarkLook:
    """Return the look of a method by its place; after those of :data:`SERIES` the same with the other marker face."""
    look = SERIES[number % len(SERIES)]
    return look if number < len(SERIES) else look._replace(hollow=not look.hollow)


SCALE = ("#dce8f3", "#b3cde4", "#7fabd1", "#4a83b8", "#1f5a8f", "#0d3156")
"""Classes of density, thin to dense."""


def _light() -> Iterator[tuple[str, str]]:
    yield from {"paper": PAPER, "ink": INK, "soft": SOFT, "grid": GRID}.items()
    for name, role in ROLES.items():
        yield name, role.look.colour
        yield f"{name}-faint", role.faint
    yield "olive", SERIES[4].colour
    yield from ((f"scale-{number}", colour) for number, colour in enumerate(SCALE))
    yield from {"rule": "#d9d5cd", "wash": "#f6f4f0", "accent": "#1f5a8e"}.items()
    yield from {"serious": "#9f2330", "warning": "#8a5200", "note": "#4b5563", "good": "#2c6a46"}.items()


def _dark() -> Iterator[tuple[str, str]]:
    yield from {"paper": "#16171a", "ink": "#e9e7e2", "soft": "#a6a8b0", "grid": "#2f3137"}.items()
    for name, role in ROLES.items():
        yield name, role.dark
        yield f"{name}-faint", role.dark_faint
    yield "olive", "#c9b458"
    dark_scale = ("#1c2f42", "#23486b", "#2f6799", "#4b8cc5", "#86b9e6", "#d6e9fa")
    yield from ((f"scale-{number}", colour) for number, colour in enumerate(dark_scale))
    yield from {"rule": "#34363d", "wash": "#1e2024", "accent": "#7db4e6"}.items()
    yield from {"serious": "#f08a92", "warning": "#e8b063", "note": "#a9b1bd", "good": "#86c79f"}.items()


LIGHT: MappingProxyType[str, str] = MappingProxyType(dict(_light()))
DARK: MappingProxyType[str, str] = MappingProxyType(dict(_dark()))
"""Name of each colour, as style sheets call it."""


_NAMES = {colour: name for name, colour in reversed([*LIGHT.items()])}


def variable(colour: str) -> str:
    """Return the variable of a colour of the light scheme; any other colour as it is."""
    return f"var(--{_NAMES[colour]})" if colour in _NAMES else colour


def stylesheet(selector: str = ":root", names: tuple[str, ...] = tuple(LIGHT)) -> str:
    """Return colours as variables of a style sheet, those of the dark scheme on screens only."""
    light, dark = (" ".join(f"--{name}: {colours[name]};" for name in names) for colours in (LIGHT, DARK))
    return f"{selector} {{ {light} }}\n@media screen and (prefers-color-scheme: dark) {{\n{selector} {{ {dark} }}\n}}\n"


def role_stylesheet() -> str:
    """Return the colours of the roles for a page with colours of its own."""
    return stylesheet(names=tuple(name for role in ROLES for name in (role, f"{role}-faint")))
