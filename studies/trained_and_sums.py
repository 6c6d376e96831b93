"""Do trained networks add to the sums? And is `familiarity` above the published average on every partition?

    python studies/trained_and_sums.py RUN...

Every RUN is a finished run folder of a method whose clients train, made with data.limit: training images that the limit
left out are the validation images. The sums are computed as the clients would have sent them, over the features without
an encoder, and kept below runs/trained_and_sums: they are the same for every partition of the same images.

First one line per run: accuracies on 2,000 validation images for weights v of score = log p_sums + v log p_trained.
Then a table of test accuracies, runs that differ only in their seeds in one row: the published average of the networks,
`familiarity`, the sums alone, both with the default weight, and with factors fitted on 1,000 of the validation images.
Differences are paired by seed, with a 95 % interval.
"""

import sys
from collections import defaultdict
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from mooring import load
from mooring.data import ImageSet, batches
from mooring.execution import FinishedRun
from mooring.fusion import Familiarity, FeatureEnsemble, LinearHeadFusion, Predictor, Server, TrainedAndSums
from mooring.fusion._trained_and_sums import USUAL_WEIGHT, factors_of
from mooring.record import Metrics
from mooring.sweeps import half_width

VALIDATION = 2000
FITTED = 1000  # of them, for the factors
WEIGHTS = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
KEPT = Path("runs/trained_and_sums")
COLUMNS = ("published", "familiarity", "sums", "both", "both, fitted")
Row = dict[str, Metrics]


class Pair:
    """Log-probabilities of validation and test images."""

    def __init__(self, validation: Tensor, test: Tensor) -> None:
        self.validation, self.test = validation, test

    @classmethod
    def of(cls, predictor: Predictor, validation: ImageSet, run: FinishedRun) -> "Pair":
        parts: list[Tensor] = []

        def kept(batch: Tensor) -> Tensor:
            parts.append(predictor(batch))
            return parts[-1]

        run.examiner.examine(kept)
        with torch.no_grad():
            scores = torch.cat([predictor(batch) for batch in batches(validation.images, 500)])
        return cls(scores.log_softmax(1), torch.cat(parts).log_softmax(1))


def measure(folder: Path) -> tuple[str, Row]:
    """What the run is but for its seeds, and its test metrics."""
    run = FinishedRun.open(folder)
    federation = run.federation("the sums are computed from them")
    everything = run.experiment.data.train()
    assert federation.chosen is not None
    left = np.setdiff1d(np.arange(len(everything)), federation.chosen)
    validation = everything.select(torch.from_numpy(left[:: len(left) // VALIDATION][:VALIDATION]))
    server = Server(run.job.blueprint)
    uploads = run.uploads(run.chosen_round(None))
    trained, published = (
        rule([run.completed(upload, rule.needs) for upload in uploads], server)
        for rule in (Familiarity(), FeatureEnsemble())
    )
    familiarity, sums = Pair.of(trained, validation, run), kept_sums(run, federation.chosen, validation)
    right = [
        float(((sums.validation + v * familiarity.validation).argmax(1) == validation.labels).double().mean())
        for v in WEIGHTS
    ]
    said = ", ".join(f"{v}: {accuracy:.4f}" for v, accuracy in zip(WEIGHTS, right, strict=True))
    print(f"{folder}: {said}", flush=True)
    u, v = factors_of(sums.validation[:FITTED], familiarity.validation[:FITTED], validation.labels[:FITTED])
    row = {
        "published": run.examiner.examine(published),
        "familiarity": run.examiner.examine(replay(familiarity.test)),
        "sums": run.examiner.examine(replay(sums.test)),
        "both": run.examiner.examine(replay(sums.test + USUAL_WEIGHT * familiarity.test)),
        "both, fitted": run.examiner.examine(replay(u * sums.test + v * familiarity.test)),
    }
    alpha = getattr(run.experiment.partition, "alpha", None)
    division = "iid" if alpha is None else f"alpha {alpha}"
    return f"{run.experiment.data.source}, {run.result.method}, K = {run.result.clients}, {division}", row


def replay(scores: Tensor) -> Callable[[Tensor], Tensor]:
    """Scores that are known, for the images in the order of the examiner."""
    rest = iter(scores)
    return lambda batch: torch.stack([next(rest) for _ in range(len(batch))])


def kept_sums(run: FinishedRun, chosen: np.ndarray, validation: ImageSet) -> Pair:
    """Of the linear head over the sums of these images, from disk where another partition of them has been measured."""
    source = run.experiment.data.source
    (usual,) = load(overrides=["method=trained-and-sums", f"data.source={source}"])
    assert isinstance(usual.method.fusion, TrainedAndSums)
    rule = LinearHeadFusion(usual.method.fusion.map, usual.method.fusion.solver)
    images = sha256(np.sort(chosen).tobytes()).hexdigest()[:12]
    file = KEPT / f"{source}-{images}-{run.examiner.images}.safetensors"
    if not file.exists():
        uploads = [run.completed(upload, rule.needs) for upload in run.uploads(run.chosen_round(None))]
        found = Pair.of(rule(uploads, Server(run.job.blueprint)), validation, run)
        file.parent.mkdir(parents=True, exist_ok=True)
        save_file(vars(found), file)
    return Pair(**load_file(file))


def cell(values: list[float], signed: bool = False) -> str:
    mean = f"{fmean(values):{'+' if signed else ''}.3f}"
    if len(values) == 1:
        return f"{mean} (n = 1)"
    if not signed:
        return f"{mean} ± {stdev(values):.3f}"
    half = half_width(stdev(values), len(values))
    return f"{mean} [{fmean(values) - half:+.3f}, {fmean(values) + half:+.3f}]"


def show(rows: dict[str, list[Row]]) -> None:
    heads = ["runs", *COLUMNS, "familiarity minus published", "both minus sums", "calibration error: sums, both", "n"]
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for label, own in rows.items():
        accuracies = {name: [row[name].accuracy for row in own] for name in COLUMNS}
        errors = [fmean(row[name].calibration_error or 0.0 for row in own) for name in ("sums", "both")]
        cells = [cell(accuracies[name]) for name in COLUMNS]
        for one, other in (("familiarity", "published"), ("both", "sums")):
            pairs = zip(accuracies[one], accuracies[other], strict=True)
            cells.append(cell([a - b for a, b in pairs], signed=True))
        print(f"| {label} | {' | '.join(cells)} | {errors[0]:.3f}, {errors[1]:.3f} | {len(own)} |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    torch.set_num_threads(1)  # batches are examined in order
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for name in sys.argv[1:]:
        label, row = measure(Path(name))
        found[label].append(row)
    show(found)
