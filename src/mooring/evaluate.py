"""How good a predictor is on test images: the one place where test data can be reached."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, compress
from math import inf
from time import monotonic
from typing import TypeVar

import numpy as np
import torch
from torch import Generator, Tensor, nn

from mooring.client import CPU, Device
from mooring.data import Images, ImageSet, Source, batch_slices, batches, near_copies, stratified_split
from mooring.errors import DataError
from mooring.fusion import (
    FeatureEnsemble,
    FrozenFeatures,
    Fusion,
    Predictor,
    Server,
    can_be_personal,
    fuse,
    mean_on_own_labels,
)
from mooring.processes import one_thread, return_freed_memory, stopping_if, threads
from mooring.record import Metrics, OwnLabels, TrainingGain
from mooring.seeds import numpy_generator
from mooring.types import Upload

T = TypeVar("T")
BATCH = 128  # what a network makes of them stays near a core: 512 of 32 x 32 pixels are a tenth slower
BINS = 15  # of the calibration error
WORTH_THREADS = 2**19  # values of all test images: some 170 of 32 x 32 pixels in colour


class Examiner:
    """Holds the test images and examines predictors, on a device of its own; nobody else sees them."""

    def __init__(self, source: Source, classes: tuple[str, ...] | None = None, device: Device = CPU) -> None:
        """`classes`, if they are known, are those that the clients train on."""
        self._device = device
        self._test = source.test()
        self._chosen: dict[int, ImageSet] = {}
        if classes is not None and self._test.classes != classes:
            raise DataError(
                f"test classes {list(self._test.classes)} are not the training classes {list(classes)}",
                "give both parts the same classes",
            )
        if not len(self._test):
            raise DataError("the test part holds no images", "add some, or hold out a fraction")
        self.available = len(self._test)  # images in the files, before any choice from them
        if source.test_limit is not None:
            if source.test_limit > self.images:
                raise DataError(
                    f"data.test_limit={source.test_limit} is more than the {self.images} test images there are",
                    "lower data.test_limit or leave it out",
                )
            self._test = self._some(source.test_limit)

    @property
    def images(self) -> int:
        """How many test images every figure is measured on."""
        return len(self._test)

    def threads(self, most: int) -> int:
        """How many threads the server's work on these images is worth: those of small ones wait for each other longer
        than they work (360 digits by five clients: 0.06 s of processor time by one thread, 0.5 to 1.1 s by two)."""
        return most if self._test.images.shape.numel() >= WORTH_THREADS else 1

    @property
    def classes(self) -> tuple[str, ...]:
        return self._test.classes

    @property
    def shape(self) -> tuple[int, int, int]:
        return self._test.shape

    def examine(self, predictor: Callable[[Tensor], Tensor], most: int | None = None) -> Metrics:
        """Scores in large batches, then the metrics; on at most so many images, every class in proportion."""
        test = self._test if most is None else self._some(most)
        scores = torch.cat(batch_by_batch(lambda batch: predictor(batch).cpu(), test.images, self._device))
        return measure(scores, test.labels)

    def copies_of(self, train: ImageSet) -> int:
        """How many test images are near-copies of a training image: on them an accuracy is too good."""
        parts = chain(batches(train.images, BATCH), batches(self._test.images, BATCH))
        copies = near_copies(parts, torch.cat([train.labels, self._test.labels]))
        return len({copy.image for copy in copies if copy.image >= len(train) > copy.of})

    def images_by_site(self) -> Counter[str]:
        """Test images of each site; all of them under an empty name if the sites are not known."""
        return Counter(self._test.sites or ("",) * self.images)

    def right_by_site(self, predictors: Sequence[FrozenFeatures | None]) -> list[Counter[str]]:
        """How many test images of each site every predictor has right; all look through the same encoder, once."""
        known = [predictor for predictor in predictors if predictor is not None]

        def look(batch: Tensor) -> list[Tensor]:
            features = known[0].phi(batch).double()
            return [predictor.from_features(features).argmax(1) for predictor in known]

        passes = batch_by_batch(look, self._test.images)
        guesses = iter([torch.cat(parts) for parts in zip(*passes, strict=True)])
        sites = self._test.sites or ("",) * self.images
        rows = [None if predictor is None else next(guesses) == self._test.labels for predictor in predictors]
        return [Counter() if row is None else Counter(compress(sites, row.tolist())) for row in rows]

    @contextmanager
    def holding(self, module: nn.Module) -> Iterator[None]:
        """While it is examined it lies where the examiner computes; then it is on the CPU again."""
        self._device.hold(module)
        try:
            yield
        finally:
            CPU.hold(module)

    def _some(self, most: int) -> ImageSet:
        """The same choice for everybody who asks: figures on it can be compared."""
        if most >= self.images:
            return self._test
        if most not in self._chosen:
            every, rng = np.arange(self.images), numpy_generator(0, "evaluate")
            indices, _ = stratified_split(self._test.labels.numpy(), every, most, rng)
            self._chosen[most] = self._test.select(torch.from_numpy(indices))
        return self._chosen[most]

    def examine_with_members(
        self, predictor: Predictor, own: Sequence[Sequence[int]] = ()
    ) -> tuple[Metrics, dict[int, Metrics], OwnLabels | None, TrainingGain | None]:
        """A predictor, and each client that takes part in it alone, in one pass over the encoders; and personalised,
        where `own` has the images of each class at each site and the predictor allows it."""
        with self.holding(predictor):
            passes = batch_by_batch(predictor.with_parts, self._test.images, self._device)
        scores, labels = torch.cat([part for part, _, _ in passes]).cpu(), self._test.labels
        members = [torch.cat(logits).cpu() for logits in zip(*(logits for _, logits, _ in passes), strict=True)]
        parts = [torch.cat(logits).cpu() for logits in zip(*(logits for _, _, logits in passes), strict=True)]
        alone = [measure(logits, labels) for logits in members]
        gain = TrainingGain(*(accuracy_of(logits, labels) for logits in parts)) if parts else None
        with threads(1):
            found = mean_on_own_labels(scores, labels, own) if can_be_personal(predictor) else None
        personal = None if found is None else OwnLabels(*found)
        return measure(scores, labels), dict(zip(predictor.clients, alone, strict=True)), personal, gain


@dataclass(frozen=True)
class Evaluation:
    """A fused predictor in numbers."""

    metrics: Metrics
    alone: dict[int, Metrics]  # of each client whose upload holds a whole model
    server_seconds: float  # from uploads to predictor
    predictor: Predictor
    validation_accuracy: float | None = None  # on the server's validation images, if it has any
    alone_images: int | None = None  # that the clients were evaluated on
    own_labels: OwnLabels | None = None
    training_gain: TrainingGain | None = None


def evaluate(
    fusion: Fusion,
    uploads: Sequence[Upload],
    server: Server,
    examiner: Examiner,
    job: str | None = None,
    most: int = 0,
    own: Sequence[Sequence[int]] = (),
) -> Evaluation:
    """One fusion of these uploads, on the test images. Uploads that answer another `job` are rejected.

    Each client alone where that costs nothing, because it takes part in every prediction; else those whose upload holds
    a whole model, on at most so many test images. `own`: images of each class at each site, for the accuracy there.
    """
    began = monotonic()
    with threads(threads_of(fusion)):
        predictor = fuse(fusion, uploads, server, job)
    seconds = monotonic() - began
    if fusion.streams:
        return_freed_memory()  # square matrices of features
    validation = None if server.validation is None else accuracy_on(predictor, server.validation)
    fused, alone, personal, gain = examiner.examine_with_members(predictor, own)
    images = examiner.images if alone else None
    if most and not alone and FeatureEnsemble.needs <= fusion.needs:
        alone, images = clients_alone(uploads, server, examiner, most), min(most, examiner.images)
    return Evaluation(fused, alone, seconds, predictor, validation, images, personal, gain)


def threads_of(fusion: Fusion) -> int:
    """One for sums, so that their solution is the same to the bit on every machine, and for rules that only add up or
    put side by side what they read: with two, beside workers that are busy, to look whether the numbers of a small
    network are finite took 0.3 ms instead of 0.01. Else what is usual here."""
    computes = any(part.trained for part in fusion.needs) and not fusion.streams
    return torch.get_num_threads() if computes else 1


def clients_alone(uploads: Sequence[Upload], server: Server, examiner: Examiner, most: int) -> dict[int, Metrics]:
    """Every client by itself, one after the other in the same network: memory does not grow with their number."""
    network = server.blueprint.build(Generator()).requires_grad_(False).eval()
    names, own = list(network.state_dict()), {}
    with examiner.holding(network):
        for upload in uploads:
            network.load_state_dict({name: upload.tensors[name] for name in names})
            own[upload.client] = examiner.examine(lambda images: network(images).logits, most)
    return dict(sorted(own.items()))


def accuracy_on(predictor: Callable[[Tensor], Tensor], images: ImageSet) -> float:
    """On images that are no test images: what a search may look at."""
    return accuracy_of(torch.cat(batch_by_batch(predictor, images.images)), images.labels)


def accuracy_of(scores: Tensor, labels: Tensor) -> float:
    return float((scores.argmax(1) == labels).double().mean())


def batch_by_batch(look: Callable[[Tensor], T], images: Images, device: Device = CPU) -> list[T]:
    """`look` at every batch, in order; on a CPU as many at a time as torch has threads, each by one thread.

    Threads that share the layers of one batch wait for each other; threads with a batch each do not, and what they
    find does not depend on how many there are.
    """

    given_up = threading.Event()

    def found(own: slice) -> T:
        with torch.inference_mode(), stopping_if(given_up.is_set):
            return look(device.take(images[own]))

    parts = batch_slices(images, BATCH)
    at_once = min(torch.get_num_threads(), len(parts)) if device == CPU else 1
    if at_once == 1:
        return list(map(found, parts))
    with ThreadPoolExecutor(at_once, initializer=one_thread) as pool:
        try:
            return list(pool.map(found, parts))
        except BaseException:  # Ctrl-C does not wait for batches that nobody wants
            given_up.set()
            raise


def measure(scores: Tensor, labels: Tensor) -> Metrics:
    """Accuracy, its mean over classes, macro F1, expected calibration error of the soft-max of the scores, and of each
    class how well it is separated from all others."""
    with threads(1):  # a few numbers per image: two threads would wait for each other
        return metrics_of(scores, labels)


def metrics_of(scores: Tensor, labels: Tensor) -> Metrics:
    classes, odds = scores.shape[1], log_odds(scores.double())
    predicted = scores.argmax(1)
    confusion = torch.bincount(labels * classes + predicted, minlength=classes**2).view(classes, classes)
    right, actual, claimed = confusion.diag().double(), confusion.sum(1), confusion.sum(0)
    recall = right / actual.clamp(min=1)
    f1 = 2 * right / (actual + claimed).clamp(min=1)
    present = actual > 0
    return Metrics(
        accuracy=float(right.sum() / len(labels)),
        balanced_accuracy=float(recall[present].mean()),
        macro_f1=float(f1[present].mean()),
        calibration_error=calibration_error(scores, predicted == labels),
        per_class_accuracy=tuple(r if p else None for r, p in zip(recall.tolist(), present.tolist(), strict=True)),
        confusion=tuple(map(tuple, confusion.tolist())),
        per_class_auc=tuple(auc(odds[:, c], labels == c) for c in range(classes)),
    )


def calibration_error(scores: Tensor, hit: Tensor) -> float:
    """ECE = sum_b n_b/n |accuracy_b - confidence_b| over equal bins of confidence (Guo et al. 2017)."""
    confidence = scores.double().softmax(1).amax(1)
    bins = (confidence * BINS).long().clamp(max=BINS - 1)
    gap = torch.zeros(BINS, dtype=torch.float64).index_add_(0, bins, hit.double() - confidence)
    return float(gap.abs().sum() / len(hit))


def log_odds(scores: Tensor) -> Tensor:
    """log p_c / (1 - p_c) of the soft-max, in the order of p_c and without its rounding to 1; (N, C)

    1 - p_c is the sum of the others: added up for the class of the highest score, where p_c may be nearly 1.
    """
    highest, total = scores.argmax(1, keepdim=True), scores.logsumexp(1, keepdim=True)
    others = total + torch.log1p(-(scores - total).exp())
    return scores - others.scatter(1, highest, scores.scatter(1, highest, -inf).logsumexp(1, keepdim=True))


def auc(values: Tensor, true: Tensor) -> float | None:
    """P(value of a positive > value of a negative) + 1/2 P(equal), from ranks (Mann and Whitney 1947)."""
    positives, negatives = int(true.sum()), int((~true).sum())
    if not positives or not negatives or bool(values.isnan().any()):
        return None
    _, place, count = values.unique(return_inverse=True, return_counts=True)  # in rising order
    last = count.cumsum(0).double()
    ranks = (last - (count.double() - 1) / 2)[place]  # equal values share the mean of their ranks
    return float((ranks[true].sum() - positives * (positives + 1) / 2) / (positives * negatives))
