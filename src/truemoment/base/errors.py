"""Every error TrueMoment raises on purpose.

::

    TrueMomentError
    ├── InputError            a file or value from outside is not what it must be
    │   ├── MatchError        predictions and annotations do not belong together
    │   └── DownloadError     a file could not be fetched, or its checksum differs
    ├── MissingFileError      a required file is missing
    ├── UsageError            the call itself is wrong: unknown name, impossible combination
    │   ├── OutputError       a file is to be written that is read too
    │   ├── MeasureError      a measure's text cannot be read, or it cannot be computed here
    │   └── ProtocolError     a protocol's text cannot be read, or it refuses these predictions
    └── MissingPackageError   an optional package is needed and not installed

All of them end the command line with exit status 2 and one line on standard error.
"""

from __future__ import annotations


class TrueMomentError(Exception):
    """Root of the tree. Its text is one line for people."""

    def __init__(self, text: str = "") -> None:
        super().__init__(" ".join(text.splitlines()))  # values of a file may have line ends


class InputError(TrueMomentError):
    """A file or value from outside is not what it must be.

    Parameters
    ----------
    problem
        What was found and what was expected, in words.
    path, line, field
        Where it was found, as far as known. Lines count from 1.
    hint
        What to do about it.
    """

    def __init__(
        self,
        problem: str,
        *,
        path: object = None,
        line: int | None = None,
        field: str | None = None,
        hint: str | None = None,
    ) -> None:
        self.problem = problem
        self.path = path
        self.line = line
        self.field = field
        self.hint = hint
        place = "" if path is None else str(path) + ("" if line is None else f":{line}")
        parts = [place, "" if field is None else f"field {field}", problem]
        text = ": ".join(part for part in parts if part)
        text += f"; {hint}" if hint else ""
        super().__init__(text)

    def at(self, path: object, line: int | None) -> InputError:
        """Return the same error at a place."""
        return type(self)(self.problem, path=path, line=line, field=self.field, hint=self.hint)


class MatchError(InputError):
    """Predictions and annotations do not belong together."""


class DownloadError(InputError):
    """A file could not be fetched, or what came has another checksum."""


class MissingFileError(TrueMomentError):
    """A required file is missing."""


class UsageError(TrueMomentError):
    """The call itself is wrong: an unknown name or an impossible combination."""


class OutputError(UsageError):
    """A file is to be written that is read too, or that lies in a folder that is."""


class MeasureError(UsageError):
    """A measure's text cannot be read, or the measure cannot be computed here."""


class ProtocolError(UsageError):
    """A protocol's text cannot be read, or the protocol refuses these predictions."""


class DataWarning(UserWarning):
    """A file is read in part, or values that a study may need are missing."""


class MissingPackageError(TrueMomentError):
    """An optional package is needed; the message names the install line.

    Parameters
    ----------
    package
        The package that could not be imported.
    extra
        The extra of TrueMoment that brings it.
    purpose
        Feature that needs it.
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'truemoment[{extra}]'")
