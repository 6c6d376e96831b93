"""Do trained networks add to the sums? The weight on validation images, then the test images once.

    python studies/trained_and_sums.py RUN...

Every RUN is a finished run folder of a method whose clients train, made with data.limit: training images that the limit
left out are the validation images. The sums are computed as the clients would have sent them. On 2,000 validation
images: the accuracy for each weight v of score = log p_sums + v log p_trained. On test images: the sums alone, the
networks alone, the default weight, and the factors fitted on 1,000 of the validation images.
"""

import sys
from pathlib import Path

import numpy as np
import torch

from mooring.data import batches
from mooring.execution import FinishedRun
from mooring.fusion import Server, TrainedAndSums
from mooring.fusion._trained_and_sums import TrainedAndSumsPredictor, best_factors

VALIDATION = 2000
FITTED = 1000  # of them, for the factors
WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0)


def measure(folder: str) -> None:
    run = FinishedRun.open(Path(folder))
    federation = run.federation("the sums are computed from them")
    everything = run.experiment.data.train()
    assert federation.chosen is not None
    left = np.setdiff1d(np.arange(len(everything)), federation.chosen)
    validation = everything.select(torch.from_numpy(left[:: len(left) // VALIDATION][:VALIDATION]))
    rule = TrainedAndSums()
    uploads = [run.completed(upload, rule.needs) for upload in run.uploads(run.chosen_round(None))]
    predictor = rule(uploads, Server(run.job.blueprint))
    with torch.no_grad():
        found = [(predictor.sums(part), predictor.trained(part)) for part in batches(validation.images, 500)]
    sums, trained = (torch.cat(own).log_softmax(1) for own in zip(*found, strict=True))
    for weight in WEIGHTS:
        right = ((sums + weight * trained).argmax(1) == validation.labels).double().mean()
        print(f"{folder}: validation, v = {weight}: {right:.4f}", flush=True)
    factors = best_factors(predictor.sums, predictor.trained, validation.select(torch.arange(FITTED)))
    fitted = TrainedAndSumsPredictor(predictor.sums, predictor.trained, factors)
    ways = {
        "sums alone": predictor.sums,
        "networks alone": predictor.trained,
        f"v = {rule.weight}": predictor,
        f"fitted factors {factors[0]:.2f}, {factors[1]:.2f}": fitted,
    }
    for name, way in ways.items():
        metrics = run.examiner.examine(way)
        print(f"{folder}: test, {name}: {metrics.accuracy:.4f}, calibration error {metrics.calibration_error:.3f}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        measure(name)
