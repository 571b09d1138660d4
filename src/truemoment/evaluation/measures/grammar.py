"""The grammar of measures, NAME@RANK,option=value,...[ref=RULE], independent of the measures."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from truemoment.base.errors import MeasureError
from truemoment.evaluation.references import REFERENCE_RULES, ReferenceRule

T = TypeVar("T")

_TEXT = re.compile(
    r"(?P<name>[A-Za-z0-9-]+)(?:@(?P<rank>[^,\[\]]*))?(?P<options>(?:,[^\[\]]*)?)(?:\[(?P<suffix>.*)\])?"
)
_OPTION = re.compile(r"\s*([A-Za-z]+)\s*=\s*((?:[^,()]|\([^()]*\))+)")


class Written:
    """The parts of a measure's text; each is read once, and the rest is refused. Option names ignore case."""

    def __init__(self, text: str) -> None:
        self.text = text
        parts = _TEXT.fullmatch(text)
        if parts is None:
            raise MeasureError(f"{text!r}: expected a measure such as R@1,IoU=0.5 or AxIoU@10")
        self.name = parts["name"]
        self._rank: str | None = parts["rank"]
        self._suffix: str | None = parts["suffix"]
        self._options: dict[str, tuple[str, str]] = {}
        rest = parts["options"]
        while rest:
            option = _OPTION.match(rest, 1) if rest[0] == "," else None
            if option is None or option[1].lower() in self._options:
                raise MeasureError(f"{text!r}: got {rest.removeprefix(',')!r}, expected NAME=VALUE once each")
            self._options[option[1].lower()] = (option[1], option[2].strip())
            rest = rest[option.end() :]

    @property
    def has_rank(self) -> bool:
        """Whether there is an @."""
        return self._rank is not None

    def rank(self) -> int:
        """Read the whole number after the @."""
        if self._rank is None or not re.fullmatch(r"\d{1,6}", self._rank):
            got = "nothing" if self._rank is None else repr(self._rank)
            raise MeasureError(f"{self.text!r}: got {got} after @, expected a whole number as in {self.name}@5")
        rank, self._rank = int(self._rank), None
        return rank

    def option(self, name: str, read: Callable[[str], T], default: T | None = None) -> T:
        """Read an option with the function `read`; without a default it is required."""
        if name.lower() not in self._options:
            if default is None:
                raise MeasureError(f"{self.text!r}: option {name} is missing, expected {name}=...")
            return default
        _, value = self._options.pop(name.lower())
        try:
            return read(value)
        except ValueError:
            raise MeasureError(f"{self.text!r}: got {name}={value}, expected a number") from None

    def maybe(self, name: str, read: Callable[[str], T]) -> T | None:
        """Read an optional option; None if it is missing."""
        return self.option(name, read) if name.lower() in self._options else None

    def ref(self) -> ReferenceRule | None:
        """Read the reference rule of the suffix; None if there is none."""
        if self._suffix is None:
            return None
        rule = next((rule for rule in REFERENCE_RULES if self._suffix == f"ref={rule}"), None)
        if rule is None:
            raise MeasureError(f"{self.text!r}: got [{self._suffix}], expected [ref={'|'.join(REFERENCE_RULES)}]")
        self._suffix = None
        return rule

    def finish(self) -> None:
        """Refuse remaining parts."""
        if self._options:
            raise MeasureError(
                f"{self.text!r}: {self.name} has no option {', '.join(name for name, _ in self._options.values())}"
            )
        if self._rank is not None:
            raise MeasureError(f"{self.text!r}: {self.name} takes no @{self._rank}")
        if self._suffix is not None:
            raise MeasureError(f"{self.text!r}: {self.name} looks at all references and takes no [{self._suffix}]")
