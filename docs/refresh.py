"""What the pages take from the package: ``python docs/refresh.py [PAGE...]`` writes it into them, e.g. docs/json.md.

Tables
    stand between ``<!-- table: NAME -->`` and ``<!-- end -->``.
Command lines
    stand in ``console`` blocks: a line ``$ truemoment ...`` is a command, the lines below it are its output, ``...``
    stands for lines left out. What goes to standard error stands last, or not at all. A code block with a
    ``:caption:`` is a file of that name for the commands of its page; ``examples`` is there for all. Commands with
    ``--data-dir data`` need the real files, in the folder that TRUEMOMENT_DATA names.

tests/docs checks that all of it is as this file makes it; commands that take a minute are among the thorough tests.
Python examples run as doctests.
"""

from __future__ import annotations

import collections
import contextlib
import csv
import difflib
import io
import json
import os
import re
import shlex
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from truemoment.baselines import BASELINES
from truemoment.cli import run
from truemoment.data.datasets import DATASETS
from truemoment.data.formats import FORMATS
from truemoment.data.references import REFERENCES
from truemoment.evaluation.protocols import PROTOCOLS, Protocol
from truemoment.learning.models import FAMILIES
from truemoment.learning.training.results import read_rows
from truemoment.reproduction import published_figures
from truemoment.reproduction.blind import FIGURES
from truemoment.reproduction.blind_figures import FloorFigure, SplitFigures, by_split
from truemoment.studies.audit import CHECKS

ROOT = Path(__file__).resolve().parent.parent
PAGES = {str(path.relative_to(ROOT)): path for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))}
LEFT_OUT = "..."
NEEDS_DATA = "--data-dir data"

TABLE = re.compile(r"(<!-- table: (?P<name>[a-z0-9-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
CONSOLE = re.compile(r"^```console\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(
    r"^\$ (?P<command>(?:.*\\\n)*.*)\n"  # goes on after a backslash
    r"(?P<shown>(?:(?!\$ ).*\n)*)",
    re.MULTILINE,
)
FILE = re.compile(
    r"^```\{code-block\} \w+\n:caption: (?P<name>[\w./-]+)\n\n?(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)


def markdown(headings: Iterable[str], rows: Iterable[Iterable[str]], *, numbers: Iterable[str] = ()) -> str:
    """Lay out a Markdown table; columns of `numbers`, by heading, are aligned to the right."""
    heads = list(headings)
    lines = [heads, ["---:" if head in numbers else "---" for head in heads], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def protocols() -> str:
    """Every protocol with every field that can change a figure."""
    headings = "protocol|hit|ties|IoU|times|clipped|NMS|top|rank|references|missing|no moment|printed"
    return markdown(re.split(r"\|", headings), map(_protocol, PROTOCOLS.values()))


def _protocol(protocol: Protocol) -> list[str]:
    iou = protocol.denominator
    if protocol.ap_denominator is not None:
        iou += f" (mAP: {protocol.ap_denominator})"
    if protocol.epsilon:
        iou += f" + {protocol.epsilon:g}"
    if protocol.precision != "float64":
        iou += f", {protocol.precision}"
    clipped = [what for what, on in (("refs", protocol.clip_references), ("answers", protocol.clip_predictions)) if on]
    return [
        f"`{protocol.name}`",
        {">": "&gt;", ">=": "≥"}[protocol.comparison],
        "plain" if protocol.tolerance is None else f"{protocol.tolerance:g}".replace("e-0", "e-"),
        iou,
        protocol.times,
        " + ".join(clipped) or "–",
        "–" if protocol.nms_threshold is None else f"{protocol.nms_threshold:g} {protocol.nms_denominator}",
        "–" if protocol.top is None else str(protocol.top),
        protocol.ranking,
        protocol.references,
        protocol.missing + (f", unreadable: {protocol.unreadable}" if protocol.unreadable != "worst" else ""),
        protocol.empty,
        str(protocol.decimals) + (", cut" if protocol.rounding == "truncate" else ""),
    ]


def datasets() -> str:
    """Every dataset with its splits."""
    rows = [
        [
            f"`{dataset.name}`",
            dataset.access,
            "<br>".join(split.name for split in dataset.splits),
            "<br>".join(_count(split.n_queries) for split in dataset.splits),
            "<br>".join(_count(split.n_videos) for split in dataset.splits),
        ]
        for dataset in DATASETS.values()
    ]
    return markdown(["dataset", "access", "split", "queries", "videos"], rows, numbers=["queries", "videos"])


def _count(count: int | None) -> str:
    return "–" if count is None else f"{count:,}"


def folders() -> str:
    """The data folder, drawn."""
    lines = ["data/"]
    for dataset in DATASETS.values():
        names = [file.name + ("" if file.needed else " (may be left out)") for file in dataset.files]
        lines += [f"  {dataset.name}/", *(f"    {name}" for name in names)]
    return "```text\n" + "\n".join(lines) + "\n```\n"


def references() -> str:
    """Every form of references."""
    rows = [
        [f"`{form.name}`", form.summary, "read" if form.write is None else "read and written"]
        for form in REFERENCES.values()
    ]
    return markdown(["form", "what it is", ""], rows)


def formats() -> str:
    """Every prediction format."""
    rows = [
        [f"`{format_.name}`", format_.summary, "read" if format_.write is None else "read and written"]
        for format_ in FORMATS.values()
    ]
    return markdown(["format", "what it is", ""], rows)


def baselines() -> str:
    """Every baseline."""
    rows = [
        [f"`{name}`", of.kind, of.meaning, "yes" if of.learns else "no", "yes" if of.random else "no"]
        for name, of in BASELINES.items()
    ]
    return markdown(["baseline", "kind", "what it answers", "fitted", "draws"], rows)


def checks() -> str:
    """Every check of the audit."""
    rows = [[f"`{of.name}`", of.looks_at, of.passes or "–", of.figure or "–"] for of in CHECKS]
    return markdown(["check", "what it looks at", "holds when", "its figure"], rows)


# -------------------------------------------------------------------------------- the study of measures

STUDY = ROOT / "docs" / "study.json"
NAMES = {"charades-sta": "Charades-STA", "activitynet-captions": "ActivityNet Captions", "charades-cd": "Charades-CD"}


COLUMNS = {
    "mean_tau": "mean tau with the others",
    "self_agreement": "self-agreement",
    "all_tied": "all-tied queries",
    "change_places": "pairs that change places under label noise",
    "separated": "pairs separated",
    "mean_regret": "mean regret",
}
"""What the figures of merit are called in the tables of the study."""


def _study() -> dict[str, Any]:
    return json.loads(STUDY.read_text(encoding="utf-8"))


def study_recipe() -> str:
    """The commands of the study."""
    return f"```sh\n{_study()['recipe']}```\n"


def study_answers(of: str) -> str:
    """What a report says in words, and its measures at a glance."""
    kept = _study()[of]
    verdict, size = kept["verdict"], kept["annotations"]
    lines = [
        f"**{verdict['headline']}.** ({kept['n_systems']} systems, {size['n_queries']:,} queries of "
        f"{size['n_videos']:,} videos.)\n"
    ]
    for answer in verdict["answers"]:
        lines += [f"*{answer['question']}*\n", *(f"- {sentence}" for sentence in answer["said"]), ""]
    headings = ["measure", *(COLUMNS[column["column"]] for column in verdict["columns"]), "in the best third"]
    rows = [
        [
            f"`{one['measure']}`",
            *(_of_column(column["column"], one[column["column"]]) for column in verdict["columns"]),
            f"{len(one['in_best_third'])} of {len(verdict['columns'])}",
        ]
        for one in verdict["measures"]
    ]
    return "\n".join(lines) + "\n" + markdown(headings, rows, numbers=headings[1:])


def _of_column(name: str, value: float | None) -> str:
    if value is None:
        return "–"
    if name in ("mean_tau", "self_agreement"):
        return f"{value:.2f}"
    return f"{100 * value:.2f} points" if name == "mean_regret" else f"{100 * value:.1f} %"


def study_claims() -> str:
    """The AxIoU paper's claims, and whether they hold on either dataset."""
    of = [_study()[name]["claims"] for name in ("charades-sta", "activitynet-captions")]
    of[0][-1] = _claim_of_selection(_study()["charades-cd-paper"])
    of[1][-1]["found"] = "the paper shows this for Charades-STA alone (Fig. 8)"
    rows = [
        [one["section"], one["claim"], *(f"**{claim['outcome']}**: {claim['found']}" for claim in (one, other))]
        for one, other in zip(*of, strict=True)
    ]
    counts = [collections.Counter(claim["outcome"] for claim in claims) for claims in of]
    total = " ".join(
        f"{name}: {count['holds']} hold, {count['holds in part']} in part, {count['does not hold']} not."
        for name, count in zip(("Charades-STA", "ActivityNet Captions"), counts, strict=True)
    )
    return f"{total}\n\n" + markdown(["section", "the paper finds", "Charades-STA", "ActivityNet Captions"], rows)


def _claim_of_selection(kept: dict[str, Any]) -> dict[str, str]:
    """The paper's claim on selection (6.6), which the reports do not look at, by a study of its own."""
    safe = [of["measure"] for of in kept["validation"] if of["above"] == kept["n_tests"]]
    cases = "AxIoU@10" in safe, safe == ["AxIoU@10"]
    outcome = "holds" if all(cases) else "holds in part" if any(cases) else "does not hold"
    above = f"above average by all {kept['n_tests']} test measures: {', '.join(safe) or 'no choice'}"
    found = f"{sum(cases)} of 2 cases; {above} ({kept['dataset']}, {kept['n_variants']} variants)"
    claim = "What AxIoU@10 selects is above average by every test measure, and no other choice is."
    return {"section": "6.6", "claim": claim, "outcome": outcome, "found": found}


def study_noise() -> str:
    """IoU of noisy labels with the labels themselves."""
    rows = [
        [NAMES[name], level["model"], level["level"], f"{level['mean_iou']:.3f}", f"{level['mean_of_median_iou']:.3f}"]
        for name in ("charades-sta", "activitynet-captions")
        for level in _study()[name]["noise"]
    ]
    headings = ["dataset", "noise", "level", "mean IoU", "mean of medians"]
    return markdown(headings, rows, numbers=headings[3:])


def study_selection() -> str:
    """What each measure's choice loses on either dataset, the least first on the first."""
    kept = [_study()[f"{name}-selection"] for name in ("charades-cd", "activitynet-captions")]
    by_measure = [{one["measure"]: one for one in of["validation"]} for of in kept]
    rows = [
        [
            f"`{measure}`",
            *(
                text
                for of in by_measure
                for text in (
                    f"{100 * of[measure]['mean_regret']['over_resamples']:.2f}",
                    f"{100 * of[measure]['mean_regret']['worse_than_first']:.0f} %",
                )
            ),
        ]
        for measure in kept[0]["order"]
    ]
    headings = [
        "select by",
        "Charades-CD: loses, points",
        "worse than the first in",
        "ActivityNet: loses, points",
        "worse in",
    ]
    return (
        "".join(f"- {sentence}\n" for of in kept for sentence in of["said"][:2])
        + "\n"
        + markdown(headings, rows, numbers=headings[1:])
    )


# ------------------------------------------------------------------------------------- order of sentences

ORDER = ROOT / "docs" / "order.json"
"""What docs/order.py wrote."""


def order() -> str:
    """The order of sentences in the splits of each dataset, and what a table over it scores, in percent."""
    rows = []
    for dataset, splits in json.loads(ORDER.read_text(encoding="utf-8")).items():
        for of in splits:
            shares = [of["later"]["value"], of["by_chance"]["value"]]
            interval = of["later"].get("ci95")
            scores = [of["order_table"]["value"], of["sorted_by_start"]["value"]]
            rows.append(
                [
                    f"`{dataset}`, {of['split']}",
                    f"{of['n_pairs']:,}",
                    *("–" if share is None else f"{100 * share:.1f}" for share in shares),
                    "–" if interval is None else f"{100 * interval[0]:.1f} to {100 * interval[1]:.1f}",
                    *("–" if score is None else f"{100 * score:.2f}" for score in scores),
                ]
            )
    headings = ["split", "pairs", "start later, %", "by chance, %", "95 % interval", "order table, %"]
    headings += ["sorted by start, %"]
    return markdown(headings, rows, numbers=headings[1:])


# ------------------------------------------------------------------ published figures and the sentence network

BLIND = ROOT / "docs" / "blind.json"
"""Floors that ``truemoment reproduce blind-beside-published --json`` wrote; published figures are in the package."""


BLIND_FLOORS = ("best constant", "sentence neighbours", "sentence network", "order table", "paragraph network")
BLIND_TEST_FLOORS = ("best constant of this split", "order table, sorted by true start")
"""Floors of the page: learned on the training split alone, and with the times of the test split."""


def _blind() -> dict[tuple[str, str, str], SplitFigures]:
    """The published figures and the floors' beside them, in percent, by dataset, split and measure."""
    floors: dict[tuple[str, str, str], dict[str, FloorFigure]] = {}
    for row in json.loads(BLIND.read_text(encoding="utf-8"))["tables"][0]["figures"]:
        if "published" not in row:
            spread = 100 * row["spread"] if "spread" in row else None
            here = floors.setdefault((row["dataset"], row["split"], row["measure"]), {})
            here[row["method"]] = FloorFigure(100 * row["ours"], spread)
    found = by_split(published_figures(FIGURES), floors)
    return {(of.dataset, of.split, of.measure): of for of in found}


def _blind_rows(cells: Callable[[SplitFigures], Iterable[str]]) -> list[list[str]]:
    """A row for each split and recall at IoU 0.5 and 0.7."""
    shown = [of for of in _blind().values() if of.measure.endswith(("IoU=0.5", "IoU=0.7"))]
    return [[f"{of.dataset}, {of.split}", f"`{of.measure}`", *cells(of)] for of in shown]


def _or_dash(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def blind_floors() -> str:
    """The figures of the floors by split and measure, with the spread between trainings."""

    def cells(of: SplitFigures) -> Iterable[str]:
        for name in (*BLIND_FLOORS, *BLIND_TEST_FLOORS):
            floor = of.floors.get(name)
            yield "–" if floor is None else f"{floor.value:.2f}" + (f" ± {floor.spread:.2f}" if floor.spread else "")

    headings = ["split", "measure", *BLIND_FLOORS, *BLIND_TEST_FLOORS]
    return markdown(headings, _blind_rows(cells), numbers=headings[2:])


def blind_counts() -> str:
    """The highest published figures, and how many are at or below each floor, by split and measure."""
    names = ("sentence network", "order table", "paragraph network")

    def cells(of: SplitFigures) -> Iterable[str]:
        yield from (_or_dash(of.highest(several=several)) for several in (False, True))
        yield from (of.count(name) if name in of.floors else "–" for name in names)

    headings = ["split", "measure", "highest, one at a time", "highest, several at once"]
    headings += [f"at or below the {name}" for name in names]
    return markdown(headings, _blind_rows(cells), numbers=headings[2:])


def blind_models(dataset: str, split: str, measure: str) -> str:
    """The published models of a split by figure, the floors among them."""
    of = _blind()[dataset, split, measure]
    rows = [
        (
            model.value,
            model.name,
            str(model.year),
            f"{model.value:.2f}",
            model.reads or "–",
            model.source + (", second-hand" if model.second_hand else ""),
        )
        for model in of.models
    ]
    for name in ("sentence network", "order table", "paragraph network"):
        if name in of.floors:
            value = of.floors[name].value
            rows.append((value, f"**{name}: sees no video**", "", f"**{value:.2f}**", "", ""))
    headings = ["model", "year", f"`{measure}`", "reads", "source"]
    return markdown(headings, [row[1:] for row in sorted(rows, reverse=True)], numbers=[headings[2]])


# ------------------------------------------------------------------------------------- methods of a table

BENCH, LATER, LATER_ACTIVITYNET = (
    ROOT / "docs" / f"{name}.json" for name in ("bench", "bench-later", "bench-later-activitynet")
)
"""What ``truemoment bench closer-look --json`` wrote, of the first twelve methods and of the three later ones."""

HIGHLIGHTS = ROOT / "results" / "highlights-world.csv"
"""What ``benchmarks/highlights.py --results`` wrote."""


def highlights() -> str:
    """Figures of methods that rate clips, Blind-TAN, floors and a constant rating, by what they see; percent."""
    rows = read_rows(HIGHLIGHTS)
    measures = list(dict.fromkeys(row.measure for row in rows))
    by_line: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows:
        name = FAMILIES[row.recipe][0] if row.recipe in FAMILIES else f"`{row.recipe}`"
        seen = row.features.removeprefix("highlights world, ")
        by_line.setdefault((name, seen), {}).setdefault(row.measure, []).append(100 * float(row.value))
    lines = [
        [name, seen, *(_mean_of_seeds(figures.get(measure, [])) for measure in measures)]
        for (name, seen), figures in sorted(by_line.items(), key=lambda line: (line[0][1] == "none", line[0][0]))
    ]
    columns = [f"`{measure}`" for measure in measures]
    return markdown(["test, %", "features", *columns], lines, numbers=columns)


def _mean_of_seeds(values: list[float]) -> str:
    """Return a mean, and the standard deviation of several seeds."""
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{spread}" if values else "–"


def bench_split(split: str, document: Path = BENCH) -> str:
    """Figures of methods, floors and ceilings on a split, in percent."""
    kept = json.loads(document.read_text(encoding="utf-8"))
    measures = [measure for measure in kept["measures"] if measure.startswith(("R@", "dR@"))]
    rows = []
    for of in kept["methods"]:
        figures = {of["measure"]: of for of in of["figures"] if of["split"] == split}
        if not any(figures[measure]["mean"] is not None for measure in measures):
            continue
        published = "".join(f"{100 * of['value']:.2f}" for of in of["published"] if of["split"] == split)
        beside = "".join(
            f"{100 * of['value']:+.2f} ({' to '.join(f'{100 * end:.2f}' for end in of['ci95'])})"
            for of in of["less_sentence_network"]
            if of["split"] == split
        )
        name = of["title"] if of["kind"] == "method" else f"{of['title']} ({of['kind']})"
        seen = "simulated" if of["simulated"] else of["features"]
        by_seed = ([100 * value for value in figures[measure]["by_seed"] if value is not None] for measure in measures)
        scores = map(_mean_of_seeds, by_seed)
        rows.append([name, seen, *scores, published or "–", beside or "–"])
    columns = [f"`{measure}`" for measure in measures]
    headings = [f"{split}, %", "features", *columns, f"published `{kept['headline']}`", "less sentence network"]
    return markdown(headings, rows, numbers=headings[2:])


def bench_said() -> str:
    """What the report says in words."""
    return "".join(f"- {sentence}\n" for sentence in json.loads(BENCH.read_text(encoding="utf-8"))["said"])


def bench_time(document: Path = BENCH) -> str:
    """Minutes of training of each method, and what is left."""
    kept = json.loads(document.read_text(encoding="utf-8"))
    methods = [of for of in kept["methods"] if of["kind"] == "method"]
    rows = [[of["title"], f"{sum(of['seconds'].values()) / 60:.1f}"] for of in methods if of["seconds"]]
    total = sum(sum(of["seconds"].values()) for of in methods)
    left = "".join(f"- `{of['recipe']}`, seed {of['seed']}: {of['why']}\n" for of in kept["left"])
    table = markdown(["method", "minutes"], [*rows, ["all", f"{total / 60:.1f}"]], numbers=["minutes"])
    return table + (f"\nNot finished when the time was over:\n\n{left}" if left else "")


AUDITED, PUBLIC = ROOT / "results" / "audited.csv", ROOT / "benchmarks" / "public_predictions.csv"
"""What ``benchmarks/audited.py --results`` wrote, and the list of files that it read."""

MOMENTS = ("qvhighlights-val", "qvhighlights-test", "charades-cd-test-ood", "activitynet-cd-test-ood")
BOARDS = {**dict.fromkeys(MOMENTS, "R@1,IoU=0.5"), **dict.fromkeys(("vue-tr", "vue-tr-v2"), "Area,of=IoU")}
"""Splits of which docs/audited.md has a table, and the measure of the verdict."""

N_FLOORS, ENDS = 3, ("", "_low", "_high")
"""Floors in each of these tables, the strongest; endings of the columns of a skill and its interval."""


def audited(board: str, measure: str) -> str:
    """Figures of public prediction files beside the strongest floors; percent, with 95 % intervals."""
    with AUDITED.open(newline="") as audits, PUBLIC.open(newline="") as public:
        rows = [row for row in csv.DictReader(audits) if row["board"] == board and row["measure"] == measure]
        files = {file["system"]: file for file in csv.DictReader(public) if file["board"] == board}
    rows.sort(key=lambda row: -float(row["value"]))
    floors, lines = [row for row in rows if row["kind"] == "floor"][:N_FLOORS], []
    for row in (row for row in rows if row["kind"] == "system"):
        file = files[row["system"]]
        address = f"https://github.com/{file['repository']}/blob/{file['commit']}/{quote(file['path'])}"
        value, low, high = (f"{100 * float(row[column]):.2f}" for column in ("value", "low", "high"))
        skill = "{:.2f} ({:.2f} to {:.2f})".format(*(round(float(row[f"skill{end}"]), 2) + 0.0 for end in ENDS))
        figures = [f"{value} ({low} to {high})", row["stated"], skill]
        lines.append([f"[{row['system']}]({address})", file["paper"], *figures, row["verdict"]])
    bold = (f"**{100 * float(floor['value']):.2f}**" for floor in floors)
    lines += [[f"floor: {floor['system']}", "", figure, "", "", ""] for floor, figure in zip(floors, bold, strict=True)]
    columns = ["file", "method of", f"`{measure}`, %", "its repository says", "skill", "verdict of the audit"]
    return markdown(columns, lines, numbers=columns[2:5])


TABLES: Mapping[str, Callable[[], str]] = {
    **{f"audited-{board}": partial(audited, board, measure) for board, measure in BOARDS.items()},
    "protocols": protocols,
    "datasets": datasets,
    "folders": folders,
    "order": order,
    "formats": formats,
    "references": references,
    "baselines": baselines,
    "checks": checks,
    "study-recipe": study_recipe,
    "study-charades": lambda: study_answers("charades-sta"),
    "study-activitynet": lambda: study_answers("activitynet-captions"),
    "study-claims": study_claims,
    "study-noise": study_noise,
    "study-selection": study_selection,
    "bench-iid": lambda: bench_split("test-iid"),
    "bench-ood": lambda: bench_split("test-ood"),
    "bench-said": bench_said,
    "bench-time": bench_time,
    "later-iid": lambda: bench_split("test-iid", LATER),
    "later-ood": lambda: bench_split("test-ood", LATER),
    "later-time": lambda: bench_time(LATER),
    "activitynet-iid": lambda: bench_split("test-iid", LATER_ACTIVITYNET),
    "activitynet-ood": lambda: bench_split("test-ood", LATER_ACTIVITYNET),
    "highlights": highlights,
    "blind-floors": blind_floors,
    "blind-counts": blind_counts,
    "blind-charades": lambda: blind_models("Charades-STA", "test", "R@1,IoU=0.5"),
    "blind-activitynet": lambda: blind_models("ActivityNet Captions", "val_2", "R@1,IoU=0.5"),
    "blind-tacos": lambda: blind_models("TACoS", "test", "R@1,IoU=0.5"),
    "blind-charades-cd": lambda: blind_models("Charades-CD", "test-ood", "R@1,IoU=0.5"),
    "blind-qvhighlights": lambda: blind_models("QVHighlights", "val", "R@1,IoU=0.5"),
}


def with_tables(text: str) -> str:
    """Return a page with its tables made anew."""
    return TABLE.sub(lambda table: table[1] + "\n" + TABLES[table["name"]]() + "\n" + table[3], text)


@dataclass(frozen=True)
class Shown:
    """A command on a page, and what the page says it prints."""

    command: str
    shown: str


@dataclass(frozen=True)
class Printed:
    """What a command prints, and its exit status."""

    status: int
    output: str
    errors: str = ""


def commands_of(body: str) -> list[Shown]:
    """Commands of a console block, in order."""
    return [Shown(part["command"].replace("\\\n", " "), part["shown"]) for part in COMMAND.finditer(body)]


def printed_by(command: str, before: int) -> Printed:
    """Run a command as a reader would; `before` is the exit status of the one before.

    Known are truemoment, ``echo $?`` and ``head -n N FILE``.
    """
    program, *words = shlex.split(command)
    if (program, words) == ("echo", ["$?"]):
        return Printed(0, f"{before}\n")
    if program == "head" and words[0] == "-n":
        with Path(words[2]).open(encoding="utf-8") as lines:
            return Printed(0, "".join(islice(lines, int(words[1]))))
    if program != "truemoment":
        raise ValueError(f"{command}: expected truemoment, echo $? or head -n N FILE")
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        status = run(words)
    return Printed(status, output.getvalue(), errors.getvalue())


def agrees(shown: str, printed: Printed) -> bool:
    """Whether a command prints what its page shows."""
    return any(_equal(shown, text) for text in (printed.output, printed.output + printed.errors))


def _equal(shown: str, printed: str) -> bool:
    """Whether texts are equal but for blanks at ends of lines and lines left out."""
    lines = [line.rstrip() for line in shown.strip("\n").splitlines()]
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == LEFT_OUT else re.escape(line) + r"\n" for line in lines)
    came = "".join(line.rstrip() + "\n" for line in printed.strip("\n").splitlines())
    return re.fullmatch(pattern, came) is not None


def lay_out_files(text: str, folder: Path) -> None:
    """Put into a folder what the commands of a page need."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    for file in FILE.finditer(text):
        path = folder / file["name"]
        path.parent.mkdir(exist_ok=True)
        path.write_text(file["body"], encoding="utf-8")


def with_output(text: str, page: str) -> str:
    """Return a page whose commands show what they print; say which ones were changed."""
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        data = os.environ.pop("TRUEMOMENT_DATA", None)
        if data is not None:
            Path("data").symlink_to(data)
        lay_out_files(text, Path())
        text = CONSOLE.sub(lambda block: _block_with_output(block["body"], page, has_data=data is not None), text)
        if data is not None:
            os.environ["TRUEMOMENT_DATA"] = data
    return text


def _block_with_output(body: str, page: str, *, has_data: bool) -> str:
    status = 0
    parts = []
    for part in COMMAND.finditer(body):
        (here,) = commands_of(part[0])
        if NEEDS_DATA in here.command and not has_data:
            parts.append(part[0])
            continue
        printed = printed_by(here.command, status)
        status = printed.status
        if agrees(here.shown, printed):
            parts.append(part[0])
            continue
        text = _without_left_out(here.shown, printed.output or printed.errors)
        parts.append(f"$ {part['command']}\n{text}\n")
        sys.stderr.write(f"{page}: $ {here.command}\n")
    return "```console\n" + "".join(parts) + "```"


def _without_left_out(shown: str, printed: str) -> str:
    """Leave out of what is printed what the page left out of it so far."""
    old, new = shown.splitlines(), printed.strip("\n").splitlines()
    lines = []
    for _, i, i_end, j, j_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        gaps = [at for at in range(i, i_end) if old[at].strip() == LEFT_OUT]
        if gaps:
            before, behind = gaps[0] - i, i_end - 1 - gaps[-1]
            lines += [*new[j : j + before], old[gaps[0]], *new[j_end - behind : j_end]]
        else:
            lines += new[j:j_end]
    return "\n".join(lines)


if __name__ == "__main__":
    for name in sys.argv[1:] or PAGES:
        path = PAGES[name]
        old = path.read_text(encoding="utf-8")
        new = with_output(with_tables(old), name)
        if new != old:
            path.write_text(new, encoding="utf-8")
