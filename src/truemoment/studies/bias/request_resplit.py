"""Request of a new split of a dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal

from truemoment.base.boundary.files import read_number
from truemoment.base.errors import UsageError
from truemoment.base.request import AnyFile, In, InDataset, Request, Running, in_python, number, option, seed, several
from truemoment.studies.request import NoCache, ReadingAnnotations, data_dir, dataset, no_cache, own_annotations

if TYPE_CHECKING:
    from truemoment.studies.bias.shifts import Shift
    from truemoment.studies.bias.splitting import Plan
    from truemoment.studies.request import AnyAnnotations

Shifted = Literal["location", "words", "compositions"]


def _share(text: str, default: float | None) -> Any:  # noqa: ANN401 - as dataclasses.field
    return option(text, default, limits=(0, 1), is_open=True, metavar="SHARE")


@dataclass(frozen=True, kw_only=True)
class Whole(Request):
    """The dataset that is split, by name or file: all splits or some."""

    HEADING = "Data"

    dataset: InDataset[str | None] = dataset()
    annotations: In[AnyAnnotations | None] = own_annotations()
    split: tuple[str, ...] | str | Sequence[str] = option(
        "Only this split; can be repeated. [default: all]", (), metavar="NAME"
    )
    data_dir: AnyFile | None = data_dir()

    def check(self) -> None:
        """Refuse a dataset and a file, and splits of a file."""
        if self.dataset is not None and self.annotations is not None:
            raise UsageError("got --dataset and --annotations, expected one of them")
        if self.annotations is not None and self.split:
            raise UsageError("got --split with --annotations; expected no --split, because all of a file is split")


@dataclass(frozen=True, kw_only=True)
class Splitting(Request):
    """Settings of the new split."""

    HEADING = "Splitting"

    shift: tuple[Shifted, ...] | Shifted | Sequence[Shifted] = option(
        "How test-ood differs from train; location can be combined with one of the others. [default: location]", ()
    )
    ood: float = _share("Share of the queries in test-ood.", 0.2)
    val: float = _share("Share of the queries in val.", 0.05)
    iid: float = _share("Share of the queries in test-iid.", 0.05)
    marked: float | None = _share(
        "Share of the queries, the least dense, marked for test-ood. [default: as many as fill it]", None
    )
    longest: str | None = option(
        "Keep videos out of test-ood that have a moment of at least this share of the video. [default: 0.5]",
        metavar="SHARE|none",
    )
    ties: Literal["ood", "rest"] | None = option(
        "Where videos go if exactly half of their queries are marked. [default: rest; ood for --shift words and "
        "--shift compositions]"
    )
    place: Literal["start-end", "start-length", "middle-length", "middle-log-length", "seconds"] = option(
        "Coordinates in which the density of moments is computed.", "start-end"
    )
    width: float | None = option("Standard deviation of the kernels. [default: Scott's rule]", metavar="WIDTH")
    plan: Plan | None = in_python("All of these as one value.", None)

    def planned(self) -> Plan:
        """Return the plan; refuse options of a shift of location without one."""
        from truemoment.studies.bias.shifts import LocationShift, WordShift
        from truemoment.studies.bias.splitting import Plan

        if self.plan is not None:
            return self.plan
        names = dict.fromkeys(several(self.shift) or ("location",))
        shifts: list[Shift] = [
            LocationShift(self.place, self.width) if name == "location" else WordShift(name)  # type: ignore[arg-type]  # one of Shifted
            for name in names
        ]
        of_location = {"--marked": self.marked, "--longest": self.longest, "--width": self.width}
        options = [option for option, value in of_location.items() if value is not None]
        if "location" not in names and (options or self.place != "start-end"):
            raise UsageError(f"{(options or ['--place'])[0]}: is an option of --shift location, which is not given")
        return Plan(self.ood, self.val, self.iid, tuple(shifts), self.marked, _longest(self.longest), self.ties)


def _longest(text: str | None) -> float | None:
    """Read the share of --longest: half of the video by default, None for "none"."""
    if text == "none":
        return None
    value = 0.5 if text is None else read_number(text)
    if not 0 < value < 1:
        raise UsageError(f"--longest: got {text!r}, expected a share of more than 0 and less than 1, or none")
    return value


@dataclass(frozen=True, kw_only=True)
class Checks(NoCache):
    """Settings of the checks of the new split."""

    HEADING = "Checks"

    engine: str = option("Language engine that finds words: lexicon, spacy.", "lexicon", metavar="NAME", rare=True)
    permutations: int = number("Number of permutations of each test between splits.", 1000, 99, 1_000_000)
    seed: int = seed("all draws: new words, the videos of val and test-iid, and floors")
    no_cache: bool = no_cache()


@dataclass(frozen=True)
class ResplitRequest(Whole, ReadingAnnotations, Splitting, Checks, Running):
    """The dataset, the settings and the folder of a new split."""

    out: AnyFile = option("Folder to write; must be new.", name="-o --out", metavar="DIR", required=True)
    _: KW_ONLY
    order: Literal["file", "random"] = option(
        "Order of a video's queries: as in the source, with its ids; or random, with new ids that do not reveal it.",
        "file",
    )
