"""Methods whose clients send sums: every division of the images among clients, after one pass over them."""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from statistics import fmean

import torch

from bench_tables.runs import RUNS, SEEDS, size, spread
from bench_tables.stored_features import Numbered, Stored, computed, folder_of, gathered, numbered
from mooring import Experiment, MooringError, load, run_experiment
from mooring.config import job_of, same_features
from mooring.data import Dirichlet, Iid, ImageSet, Partitioner, federate
from mooring.evaluate import BATCH, measure
from mooring.fusion import Fusion, Server, fuse
from mooring.models import FeatureMap
from mooring.schema import digest, to_tree
from mooring.types import Upload
from mooring.uploads import encode, extract_parts

SETS = {  # the set, and how many of its training images are used
    "digits": None,
    "svhn": 20_000,
    "cifar10": None,
    "cifar100": 20_000,
    "fashion_mnist": None,
}
WAYS = {
    "mooring": ["method=mooring"],
    "mooring encoder=efficientnet-lite2": ["method=mooring", "encoder=efficientnet-lite2", "encoder.views=mirrored"],
    "mooring encoder=none": ["method=mooring", "encoder=none"],
    "afl": ["method=afl"],
    "fedcgs": ["method=fedcgs"],
}
IN_IMAGENET = {  # test classes that are classes of ImageNet too, or contain one; counted by hand
    "svhn": "none",
    "cifar10": "9 of 10, not deer",
    "cifar100": "about 2 of 3",
    "fashion_mnist": "most, as photographs",
}
BELOW = 28  # pixels a side: nothing for an encoder of photographs to see
IID = "iid"
ALPHAS = ("0.05", "0.1", "0.5", IID)
CLIENTS = (5, 20, 100)
CORNERS = [("0.05", 5), (IID, 5), ("0.05", 100), (IID, 100)]  # first, because most is expected between them
DIVISIONS = CORNERS + [pair for pair in product(ALPHAS, CLIENTS) if pair not in CORNERS]


@dataclass(frozen=True)
class Cell:
    """One division of the images, and what came of it."""

    alpha: str
    clients: int
    seed: int
    accuracy: float
    calibration_error: float
    upload_bytes: int  # of one client
    features: int
    images: int


@dataclass(frozen=True)
class Way:
    """A method on a set, its features stored; `experiment` is what a real run would be."""

    name: str
    experiment: Experiment

    @cached_property
    def train(self) -> ImageSet:
        return self.experiment.data.train()

    @cached_property
    def test(self) -> ImageSet:
        return self.experiment.data.test()  # features alone; they are looked at below, as `evaluate` does

    @cached_property
    def fusion(self) -> Fusion:
        assert self.experiment.method.fusion is not None
        return self.experiment.method.fusion

    @property
    def map(self) -> FeatureMap:
        return self.fusion.map  # type: ignore[attr-defined]  # every rule over statistics has one

    @property
    def file(self) -> Path:
        """Its finished cells, one a line; another method or map, another file."""
        key = digest([to_tree(self.fusion), self.experiment.data.limit])[:8]
        return RUNS / "statistics" / f"{self.experiment.data.source}-{self.name.replace(' ', '-')}-{key}.jsonl"

    def cells(self) -> list[Cell]:
        return [Cell(**json.loads(line)) for line in self.file.read_text().splitlines()] if self.file.exists() else []

    @cached_property
    def stored(self) -> Stored:
        job = job_of(self.experiment, self.train.shape, self.train.classes)
        folder = folder_of(self.experiment.data, self.map, job.blueprint)
        parts = {"train": self.train.images, "test": self.test.images}
        files = [path for part in parts for path in computed(folder, part, parts[part], self.map, job.blueprint)]
        return Stored(folder.name, gathered(files))

    def measured(self, alpha: str, clients: int, seed: int) -> Cell:
        """Partition, moments, their precision on the wire, admission and fusion as in a real run."""
        partitioner: Partitioner = Iid(clients) if alpha == IID else Dirichlet(clients, float(alpha))
        job = job_of(self.experiment, self.train.shape, self.train.classes)
        rule = replace(self.fusion, map=self.stored)  # type: ignore[call-arg]
        source = Numbered(limit=self.experiment.data.limit, labelled=numbered(self.train.labels, self.train.classes))
        federation = federate(source, partitioner, seed)
        network = job.blueprint.build(torch.Generator())
        uploads = []
        for site in federation.sites():
            if site.size:
                shard = site.shard()
                uploads.append(Upload(site.number, 0, len(shard), extract_parts(rule.needs, network, shard)))
        predictor = fuse(rule, uploads, Server(job.blueprint, seed))
        tests = numbered(self.test.labels, self.test.classes, len(self.train))
        with torch.inference_mode():
            scores = torch.cat([predictor(batch) for batch in tests.images.split(BATCH)])
        metrics = measure(scores, tests.labels)
        return Cell(
            alpha,
            clients,
            seed,
            metrics.accuracy,
            metrics.calibration_error or 0.0,
            len(encode(uploads[0])),
            self.stored.features.shape[1],
            len(federation.train),
        )


def ways(source: str) -> Iterator[Way]:
    """Every way that these images allow, each once; nothing, and a line that says why, without the images."""
    seen: list[Experiment] = []
    limit = [] if SETS[source] is None else [f"data.limit={SETS[source]}"]
    for name, words in WAYS.items():
        try:
            (experiment,) = load(overrides=[*words, f"data.source={source}", *limit])
            tiny = (experiment.data.image_shape() or (1, BELOW, BELOW))[1] < BELOW
            frozen = experiment.method.track == "frozen encoder"
            if (tiny and frozen) or any(same_features(experiment.method, other.method) for other in seen):
                continue
            seen.append(experiment)
            yield Way(name, experiment)
        except MooringError as error:
            print(f"{name} on {source}: {error}", flush=True)


def every_cell(sources: list[str]) -> None:
    """All sets, the corners under every seed before the rest; what is finished is not repeated."""
    for source in sources or SETS:
        for way in ways(source):
            try:
                finished = {(cell.alpha, cell.clients, cell.seed) for cell in way.cells()}
                for (alpha, clients), seed in product(DIVISIONS, SEEDS):
                    if (alpha, clients, seed) not in finished:
                        keep(way, way.measured(alpha, clients, seed))
            except MooringError as error:
                print(f"{way.name} on {source}: {error}", flush=True)


def keep(way: Way, cell: Cell) -> None:
    way.file.parent.mkdir(parents=True, exist_ok=True)
    with way.file.open("a") as file:
        file.write(json.dumps(asdict(cell)) + "\n")
    told = f"alpha {cell.alpha}, {cell.clients} clients, seed {cell.seed}: {cell.accuracy:.4f}"
    print(f"{way.name} on {way.experiment.data.source}, {told}", flush=True)


def check() -> None:
    """One cell of the digits again by `mooring run`: the same accuracy, to the last digit."""
    way = next(ways("digits"))
    (cell,) = [cell for cell in way.cells() if (cell.alpha, cell.clients, cell.seed) == ("0.05", 5, 1)]
    (experiment,) = load(overrides=[*WAYS[way.name], "partition.alpha=0.05", f"out={RUNS}/statistics/digits-run"])
    print(f"digits, alpha 0.05, 5 clients: {cell.accuracy} here, {run_experiment(experiment).accuracy} by mooring run")


def table(track: str) -> Iterator[str]:
    """One row per set: the first method, then the accuracies of the others; and the largest gap between divisions.

    Nothing, so that the page keeps what it has, unless every method was measured here on every set.
    """
    lines, gaps, frozen = [], [], track == "frozen encoder"
    by_set = {source: [*ways(source)] for source in SETS}
    if not all(by_set.values()):
        return
    others: list[str] = []
    for source, those in by_set.items():
        measured = [(way, way.cells()) for way in those if way.experiment.method.track == track]
        if not all(cells for _, cells in measured):
            return
        if not measured:
            continue
        places = [by_place(cells) for _, cells in measured]
        means = [[fmean(values) for values in found if values] for found in places]
        gaps += [max(found) - min(found) for found in means]
        way, cells = measured[0]
        others = [f"`{other.name}`" for other, _ in measured[1:]]
        row = [f"{source}, {cells[0].images:,}", *([IN_IMAGENET[source]] if frozen else []), f"`{way.name}`"]
        row += [f"{cells[0].features:,}", size(max(cell.upload_bytes for cell in cells))]
        lines.append("| " + " | ".join([*row, *(spread(found[0]) for found in places)]) + " |")
    if not lines:
        return
    known = ["classes in pre-training"] if frozen else []
    heads = ["images", *known, "method", "features", "upload per client", "accuracy", *others]
    yield "| " + " | ".join(heads) + " |"
    yield "|---" * len(heads) + "|"
    yield from lines
    yield f"\nLargest difference between partitions in a row: {max(gaps):.4f}."


def by_place(cells: list[Cell]) -> list[list[float]]:
    """The accuracies of every division, over the seeds."""
    return [[cell.accuracy for cell in cells if (cell.alpha, cell.clients) == place] for place in DIVISIONS]
