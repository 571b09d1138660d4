"""The commands whose behaviour is recorded: a case is one or more commands that run in a folder of their own.

The folder holds what `inputs.py` writes, `examples/` of the repository and `old/`, files that an earlier version wrote.
`{seed}` becomes 0 in the test; the recording runs it from 0 to 19 to learn which figures are drawn. A command that is
to be held by its JSON writes it to `found.json`.
"""

from dataclasses import dataclass

SEED = "{seed}"


@dataclass(frozen=True)
class Case:
    """Commands with a name.

    Attributes
    ----------
    name
        Of the golden file.
    commands
        Words of each, run one after another in one folder.
    exact_files
        Whether what they write is the same on every machine; else only names and numbers of lines are held.
    needs
        Packages without which the case is skipped.
    is_thorough
        Whether it takes long, and runs weekly.
    """

    name: str
    commands: tuple[str, ...]
    exact_files: bool = True
    needs: tuple[str, ...] = ()
    is_thorough: bool = False

    @property
    def is_seeded(self) -> bool:
        """Whether anything is drawn by a seed that is given."""
        return any(SEED in words for words in self.commands)


FOUND = "--json found.json --quiet"
STUDY = "--json found.json"
EXAMPLE = "examples/predictions.jsonl --annotations examples/annotations.jsonl"
OOD = "--annotations world.jsonl --split test-ood"
TWO = "--measures 'R@1,IoU=0.5; mIoU'"
FEW = "--resamples 200 --permutations 20 --seed 0"
DRAWS = "--resamples 200 --permutations 100 --seed {seed}"
SYSTEMS = "ours=ours-1.jsonl base.jsonl poor.jsonl"
MODEL = (
    "--set settings.n_clips=8 --set settings.hidden=8 --set settings.layers=1 --set rows=8 --set text.size=8"
    " --set train.epochs=1 --set train.batch=16"
)
TRAINED = "--annotations world.jsonl --features features"

VERBS = (
    *("", "demo", "audit", "evaluate", "compare", "bias", "resplit", "meta", "humans", "train", "sweep"),
    *("predict", "predict run", "predict endpoint", "predict prompts"),
    *(
        "variants",
        "features",
        "features extract",
        "features change",
        "index",
        "index calibrate",
        "search",
        "search split",
        "search sweep",
        "search page",
        "convert",
        "convert-checkpoint",
        "baseline",
        "reproduce",
        "datasets",
        "datasets list",
    ),
    *("datasets info", "datasets check", "datasets fetch", "protocols", "protocols list", "protocols show", "measures"),
    *("measures list", "meta report", "meta axioms", "meta agreement", "meta stability", "meta ambiguity", "meta ties"),
    *("meta theory", "meta selection", "meta power", "meta population", "collect", "collect run", "collect align"),
    *("collect clips", "collect splits", "collect statistics", "collect card", "collect export"),
    *("collect review", "collect estimate", "bench", "retrieve"),
    *("annotate", "annotate start", "annotate new", "annotate prepare", "annotate serve", "annotate people"),
    *("contamination", "annotate status", "annotate export", "annotate demo", "browse", "leaderboard", "meta items"),
    *("open", "mixtures", "cite", "config", "config set", "config unset", "completion"),
)

GROUPS = ("", "meta", "predict", "datasets", "protocols", "measures", "collect", "annotate", "config")
"""Verbs that only have others below them."""

MAIN = ("audit", "evaluate", "compare", "train", "predict run", "index", "search")

CASES = (
    # What is measured.
    Case("evaluate-example", (f"evaluate {EXAMPLE} {FOUND}",)),
    Case("evaluate-intervals", (f"evaluate ours-1.jsonl {OOD} {TWO} --resamples 100 --seed {SEED} {FOUND}",)),
    Case("evaluate-calibration", (f"evaluate {EXAMPLE} {TWO} --calibration --seed {SEED} {FOUND}",)),
    Case(
        "evaluate-protocol",
        (f"evaluate ours-1.jsonl {OOD} --protocol closer-look --measures 'dR@1,IoU=0.5; AxIoU@5; SetIoU' {FOUND}",),
    ),
    Case("evaluate-save-scores", (f"evaluate base.jsonl {OOD} {TWO} --save-scores base.npz {FOUND}",)),
    Case("evaluate-unknown-split", ("evaluate base.jsonl --annotations world.jsonl --split evening",)),
    Case("evaluate-missing-queries", (f"evaluate select-val/a.jsonl {OOD}",)),
    # What it is held against.
    Case("audit-example", (f"audit {EXAMPLE} {TWO} {DRAWS} {FOUND}",)),
    Case("audit-plain", (f"audit ours-1.jsonl {OOD} {TWO} {DRAWS} {FOUND}",)),
    Case(
        "audit-page",
        (f"audit ours-1.jsonl {OOD} {TWO} {FEW} --html page.html --figures figures --quiet",),
        is_thorough=True,
    ),
    Case("audit-gate-holds", (f"audit ours-1.jsonl {OOD} {TWO} {DRAWS} --gate 'R@1,IoU=0.5>=0.1' {FOUND}",)),
    Case("audit-gate-fails", (f"audit poor.jsonl {OOD} {TWO} {DRAWS} --gate better-than-guessing {FOUND}",)),
    Case("audit-iid", (f"audit ours-1.jsonl {OOD} {TWO} {DRAWS} --iid iid.jsonl {FOUND}",)),
    Case("audit-shuffled", (f"audit ours-1.jsonl {OOD} {TWO} {DRAWS} --shuffled shuffled.jsonl {FOUND}",)),
    Case("audit-text-only", (f"audit ours-1.jsonl {OOD} {TWO} {DRAWS} --text-only blind.jsonl {FOUND}",)),
    Case("compare-pairs", (f"compare {SYSTEMS} {OOD} {TWO} {DRAWS} --fit-split none {FOUND}",)),
    Case(
        "compare-seeds",
        (
            f"compare ours=ours-1.jsonl ours=ours-2.jsonl base=base.jsonl --against base {OOD} {TWO} {DRAWS}"
            f" --fit-split none {FOUND}",
        ),
    ),
    Case("compare-network", (f"compare ours-1.jsonl base.jsonl {OOD} {TWO} {DRAWS} {FOUND}",)),
    Case(
        "compare-published",
        (f"compare {SYSTEMS} {OOD} {TWO} {DRAWS} --fit-split none --published published.csv {FOUND}",),
    ),
    Case("contamination", (f"contamination {EXAMPLE} {DRAWS} {FOUND}",)),
    Case("humans", (f"humans --annotations annotators.jsonl --draws 20 {TWO} {DRAWS} {FOUND}",)),
    Case(
        "humans-official",
        (
            "humans ours-1.jsonl base.jsonl --annotations annotators.jsonl --official-annotations test-ood.jsonl"
            f" --draws 20 {TWO} {DRAWS} {FOUND}",
        ),
    ),
    # Baselines, surveys and splits.
    *(
        Case(f"baseline-{name}", (f"baseline {name} {OOD} {TWO} -o blind-answers.jsonl {FOUND}",))
        for name in (
            "predict-all",
            "best-constant",
            "bias-based",
            "mean-map",
            "prior-only",
            "action-aware",
            "sentence-neighbours",
            "split-constant",
            "oracle",
        )
    ),
    Case(
        "baseline-sentence-network",
        (f"baseline sentence-network {OOD} {TWO} --seed {SEED} -o blind-answers.jsonl {FOUND}",),
        exact_files=False,
    ),
    *(
        Case(
            f"baseline-{name}",
            (f"baseline {name} {OOD} {TWO} --repeats 5 --seed {SEED} -o blind-answers.jsonl {FOUND}",),
            exact_files=False,  # a generator of random numbers may change its stream
        )
        for name in ("uniform", "random-chance")
    ),
    Case("bias", (f"bias --annotations world.jsonl --permutations 99 --draws 20 --seed {SEED} {FOUND}",)),
    Case(
        "bias-page",
        (
            "bias --annotations world.jsonl --split train --split test-ood --permutations 20 --draws 5 --top-verbs 2"
            " --html page.html --figures figures --quiet",
        ),
        is_thorough=True,
    ),
    Case(
        "resplit-location",
        (f"resplit --annotations examples/annotations.jsonl -o anew --permutations 99 --seed {SEED} {FOUND}",),
        exact_files=False,  # floors beside the split are drawn
    ),
    Case(
        "resplit-words",
        (f"resplit --annotations world.jsonl --shift words -o anew --permutations 99 --seed {SEED} {FOUND}",),
        exact_files=False,
        is_thorough=True,
    ),
    # Studies of measures.
    Case("meta-axioms", (f"meta axioms {TWO} --pairs 100 --seed {SEED} {STUDY}",)),
    Case("meta-agreement", (f"meta agreement {SYSTEMS} {OOD} {TWO} --resamples 50 --seed {SEED} {STUDY}",)),
    Case(
        "meta-stability",
        (f"meta stability {SYSTEMS} {OOD} {TWO} --sizes 8,16 --trials 50 --workers 1 --seed {SEED} {STUDY}",),
    ),
    Case("meta-ambiguity", (f"meta ambiguity {SYSTEMS} {OOD} {TWO} --sets 10 --workers 1 --seed {SEED} {STUDY}",)),
    Case(
        "meta-ambiguity-annotators",
        (
            f"meta ambiguity {SYSTEMS} {OOD} {TWO} --noise annotators --annotators annotators.jsonl --sets 10"
            f" --workers 1 --seed {SEED} {STUDY}",
        ),
    ),
    Case(
        "meta-ties",
        (f"meta ties {SYSTEMS} {OOD} {TWO} --resamples 50 --seed {SEED} {STUDY}",),
    ),
    Case("meta-ties-page", (f"meta ties {SYSTEMS} {OOD} {TWO} --resamples 5 --figures figures --html page.html",)),
    Case(
        "meta-selection",
        (
            "meta selection --validation select-val --test select-test --annotations test-ood.jsonl"
            f" --validation-annotations val.jsonl {TWO} --resamples 50 --seed {SEED} {STUDY}",
        ),
    ),
    Case(
        "meta-power",
        (f"meta power {SYSTEMS} {OOD} {TWO} --by query --sizes 30 --repetitions 5 --seed {SEED} {STUDY}",),
    ),
    Case("meta-theory", (f"meta theory --draws 100 --ranks 3 --noise '0.1' --seed {SEED} {STUDY}",)),
    Case("meta-population", (f"meta population {OOD} --variants 4 {TWO} --seed {SEED} -o systems {STUDY}",), False),
    Case(
        "meta-report",
        (
            f"meta report {SYSTEMS} {OOD} {TWO} --trials 20 --sets 5 --repetitions 5 --resamples 20 --workers 1"
            f" --seed {SEED} {STUDY}",
        ),
    ),
    # Files.
    *(
        Case(f"convert-{to}", (f"convert ours-1.jsonl --to {to} {OOD} -o converted.{end} --quiet",))
        for to, end in (("csv", "csv"), ("moment-detr", "jsonl"), ("native", "jsonl"))
    ),
    Case("features", (f"features features {OOD} {FOUND}",)),
    # Models.
    Case(
        "train",
        (f"train tan2d {MODEL} {TRAINED} --seed {SEED} -o run --results figures.csv {FOUND}",),
        exact_files=False,
        needs=("torch",),
    ),
    Case(
        "sweep",
        (
            "sweep tan2d blind-tan --world videos=40,location_prior=0.9 --dial perception=1,0 --threads 1"
            f" --seeds {SEED} --measures 'mIoU' --set train.epochs=1 --set settings.hidden=8 --set settings.n_clips=8"
            f" --set rows=8 -o swept {FOUND}",
        ),
        exact_files=False,
        needs=("torch",),
    ),
    Case(
        "demo",
        (
            "demo --videos 40 --out world --no-open --quiet",
            f"evaluate world/seeing-test-iid.jsonl --annotations world/annotations.jsonl --split test-iid {FOUND}",
        ),
        exact_files=False,
        is_thorough=True,
    ),
    Case(
        "demo-search",
        (
            "demo --search --minutes 1 --out film --no-open --quiet",
            f"index film/film.mp4 {FOUND}",
            f"evaluate film/found.jsonl --annotations film/film.jsonl {TWO} {FOUND}",
        ),
        exact_files=False,
        needs=("torch", "transformers", "av"),
        is_thorough=True,  # tests/cli/test_demo_search.py looks at the same demo
    ),
    # Products: their pages' answers are held by schemas (tests/schemas.py).
    Case(
        "annotate",
        (
            "annotate new study --annotations test-ood.jsonl --videos videos --people 3 --per-query 2 --controls none",
            "annotate people study list",
            "annotate export study -o marked --quiet",
            f"annotate status study {FOUND}",
        ),
        exact_files=False,  # links are drawn by the system
        needs=("starlette", "av"),
    ),
    Case(
        "collect",
        (
            "demo --collect --minutes 2 --out film --no-open --quiet",
            "collect export film/collection -o passed-on --without sentences --quiet",
            "collect card film/collection --quiet",
            "collect review film/collection --html review.html --json reviewed.json --quiet",
            f"collect statistics film/collection {FOUND}",
        ),
        exact_files=False,
        needs=("torch", "av", "rapidfuzz"),
        is_thorough=True,  # tests/contract runs the same commands on the collection of a film of one minute
    ),
    # What an earlier version wrote.
    Case(
        "old-scores",
        (f"meta agreement old/ours.npz old/base.npz old/poor.npz --resamples 50 --seed {SEED} {STUDY}",),
    ),
    Case("old-predictions", (f"evaluate old/blind.jsonl {OOD} {TWO} {FOUND}",)),
    Case("old-predictions-csv", (f"evaluate old/ours.csv {OOD} {TWO} {FOUND}",)),
    Case("old-predictions-moment-detr", (f"evaluate old/ours-moment-detr.jsonl {OOD} {TWO} {FOUND}",)),
    Case(
        "old-run-predict",
        (
            f"predict run old/run {OOD} --features features -o answers.jsonl --json predicted.json --quiet",
            f"evaluate answers.jsonl {OOD} {TWO} {FOUND}",
        ),
        exact_files=False,
        needs=("torch",),
    ),
    Case(
        "old-run-resumed",
        (f"train tan2d {MODEL} {TRAINED} --seed 0 -o old/run {FOUND}",),
        exact_files=False,
        needs=("torch",),
    ),
    Case(
        "old-run-audit",
        (f"audit old/run/test-ood.jsonl {OOD} {TWO} {DRAWS} --model old/run --features features {FOUND}",),
        needs=("torch",),
    ),
    Case(
        "old-index",
        (
            f"search 'a white ring' old/film.index --csv found.csv {FOUND}",
            "search split old/film.index --annotations old/film.jsonl -o answers.jsonl --top 5 --quiet",
            f"evaluate answers.jsonl --annotations old/film.jsonl {TWO} {FOUND}",
        ),
        exact_files=False,
        needs=("torch", "transformers"),
    ),
    # Lists.
    Case("options", tuple(f"{verb} {'--help' if verb in GROUPS else '--help-all'}" for verb in VERBS)),
    Case("options-most-used", tuple(f"{verb} --help" for verb in MAIN)),
    Case("measures-list", ("measures list",)),
    Case("protocols-list", ("protocols list",)),
    Case("protocols-show", ("protocols show closer-look",)),
    Case("datasets-list", ("datasets list",)),
    Case("datasets-info", ("datasets info charades-cd",)),
    Case("datasets-check", ("datasets check world.jsonl",)),
    Case("reproduce-list", ("reproduce --list",)),
    Case("usage-error", ("evaluate base.jsonl --no-such-option",)),
)
