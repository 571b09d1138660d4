"""XML files of others: elements with their lines, without entities and without a document type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from truemoment.base.boundary.files import DATA_BYTES, read_bytes
from truemoment.base.boundary.own_path import AnyPath
from truemoment.base.errors import InputError

DEEPEST = 64
"""Nesting beyond which a file is not read; annotation tools write six levels."""


@dataclass(eq=False)
class XmlElement:
    """An element.

    Parameters
    ----------
    tag, attributes
        Name without its namespace, and attributes.
    line
        Line on which it begins.
    text
        All text directly inside it.
    children
        Elements directly inside it.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list[XmlElement] = field(default_factory=list)

    def all(self, *path: str) -> Iterator[XmlElement]:
        """Yield the elements at a path of tags below this one."""
        for child in self.children:
            if child.tag == path[0]:
                if len(path) == 1:
                    yield child
                else:
                    yield from child.all(*path[1:])

    def text_at(self, *path: str) -> str:
        """Return the text of the first element at a path; "" if there is none."""
        return next((element.text.strip() for element in self.all(*path)), "")


def read_xml(path: AnyPath) -> XmlElement:
    """Read an XML file; a document type, which can define entities that grow without limit, is refused."""
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    opened: list[XmlElement] = [XmlElement("", {}, 1)]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = XmlElement(tag.rpartition(" ")[2], attributes, parser.CurrentLineNumber)
        if len(opened) > DEEPEST:
            raise InputError(f"is nested deeper than {DEEPEST} elements", path=path, line=element.line)
        opened[-1].children.append(element)
        opened.append(element)

    def end(_tag: str) -> None:
        element = opened.pop()
        if element.children and (stray := element.text.strip()):
            raise InputError(f"got {stray[:60]!r} beside elements, expected elements", path=path, line=element.line)

    def text(data: str) -> None:
        opened[-1].text += data

    def doctype(*_: object) -> None:
        problem = "got a document type (<!DOCTYPE), expected XML without one"
        hint = "remove it; annotation tools write none"
        raise InputError(problem, path=path, line=parser.CurrentLineNumber, hint=hint)

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = text, doctype
    try:
        parser.Parse(read_bytes(path, most=DATA_BYTES), True)
    except expat.ExpatError as error:
        raise InputError(f"got {expat.ErrorString(error.code)}, expected XML", path=path, line=error.lineno) from None
    except (LookupError, ValueError) as error:  # an encoding that Python does not know, or that is no text
        raise InputError(f"cannot be read as XML ({error})", path=path, line=1) from None
    return opened[0].children[0]
