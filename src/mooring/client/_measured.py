"""What is measured while a client trains: kept as tensors, because reading numbers waits for the device."""

from collections.abc import Mapping
from itertools import groupby

import torch
import torch.nn.functional as F
from torch import Tensor

from mooring.client._job import ClientJob
from mooring.data import ImageSet
from mooring.errors import TrainingError
from mooring.events import ClientProgress, ClientRecord, EpochRecord
from mooring.models import Network
from mooring.types import ClientFacts, Progress
from mooring.wording import round_number

IMAGES = 256  # at most, evenly over the shard: a round is not to wait for them
BATCH = 64

FeatureFacts = dict[str, float | None]
TERM = "term "  # before the name of a loss term among the measurements
LAST = "last "  # before the name of a measurement of the final step
OF_LAST_STEP = ("lambda_raw", "schedule_factor", "lambda_felt", "sigma_sq_local", "sigma_sq_align")
MEANS = ("base_loss", "align_loss", "gradient_norm", "gradient_cosine", "gradient_ratio", "train_accuracy")
MeasuredRow = tuple[tuple[str, ...], Tensor]  # names, values
Measured = dict[str, float]


def feature_facts(network: Network, shard: ImageSet, anchors: Tensor | None) -> FeatureFacts:
    """Of the unit features z of the client's own images, in eval mode and without augmentation:

    scatter = sum |z - mean of its class|^2 / sum |z - mean|^2, 0 where every class has become one vector (None for a
    single class); anchor cosine = mean cos(z, anchor of its class).
    """
    chosen = torch.arange(0, len(shard), max(1, -(-len(shard) // IMAGES)))
    device = network.prototypes.device
    images, labels = shard.images[chosen].to(device), shard.labels[chosen].to(device)
    with torch.no_grad():
        network.eval()
        z = F.normalize(torch.cat([network.embed(batch).float() for batch in images.split(BATCH)]))  # (N, d)
        return {"feature_scatter": scatter(z, labels), "anchor_cosine": nearness(z, labels, anchors)}


def scatter(z: Tensor, labels: Tensor) -> float | None:
    _, members = labels.unique(return_inverse=True)
    one_hot = F.one_hot(members).to(z.dtype)  # (N, classes held)
    means = one_hot.T @ z / one_hot.sum(0)[:, None]
    total = (z - z.mean(0)).square().sum().item()
    if one_hot.shape[1] < 2 or total == 0:
        return None
    return (z - means[members]).square().sum().item() / total


def nearness(z: Tensor, labels: Tensor, anchors: Tensor | None) -> float | None:
    if anchors is None:
        return None
    return F.cosine_similarity(z, anchors[labels]).mean().item()


class EpochMeasurements:
    """One row of scalars per step; rows of different stages have different columns."""

    def __init__(self, client: int) -> None:
        self.client = client
        self.rows: list[MeasuredRow] = []

    def add(self, values: Mapping[str, Tensor]) -> None:
        device = next(iter(values.values())).device  # a lambda that follows a schedule lives on the CPU
        scalars = [value.detach().to(device) for value in values.values()]
        self.rows.append((tuple(values), torch.stack(scalars)))

    def close(self, round_: int, first_step: int) -> Measured:
        """Means over the last stage of the epoch, and every value at the final step; empties the rows."""
        means: Measured = {}
        step = first_step
        for names, rows in groupby(self.rows, key=lambda row: row[0]):
            table = torch.stack([values for _, values in rows])  # (steps, values)
            self._check(names, table, round_, step)
            step += len(table)
            last = {LAST + name: value for name, value in zip(names, table[-1].tolist(), strict=True)}
            means = dict(zip(names, table.mean(0).tolist(), strict=True)) | last
        self.rows.clear()
        return means

    def _check(self, names: tuple[str, ...], table: Tensor, round_: int, first_step: int) -> None:
        """A value that is not finite stops the client, by name."""
        bad = (~torch.isfinite(table)).nonzero()
        if len(bad):
            step, column = bad[0].tolist()
            raise TrainingError(
                f"client {self.client}: {names[column].removeprefix(TERM)} is {table[step, column].item()} "
                f"in round {round_number(round_)}, step {first_step + step}",
                "lower training.lr or the alignment weight, or set training.clip",
            )


def epoch_record(client: int, round_: int, epoch: int, means: Measured) -> EpochRecord:
    return EpochRecord(client, round_, epoch, terms_of(means), means.get("align_loss"))


def round_record(
    job: ClientJob,
    facts: ClientFacts,
    progress: Progress,
    means: Measured,
    prototypes: Tensor,
    features: FeatureFacts,
    seconds: float,
) -> ClientRecord:
    """Means over the last epoch, lambda as the last step left it, and where lambda would come to rest."""
    rest = None
    if job.recipe.align is not None and "align_loss" in means:
        weight = job.recipe.align.weight
        rest = weight.stationary(means["base_loss"], means["align_loss"], progress, facts)
    return ClientRecord(
        client=facts.client,
        round=progress.round,
        steps=progress.step + 1,
        seconds=seconds,
        terms=terms_of(means),
        lambda_star=None if rest is None else rest.felt,
        lambda_star_raw=None if rest is None else rest.raw,
        prototype_norms=tuple(prototypes.detach().norm(dim=1).tolist()),
        **features,
        **{name: means.get(name) for name in MEANS},
        **{name: means.get(LAST + name) for name in OF_LAST_STEP},
    )


def progress_event(facts: ClientFacts, round_: int, step: int, values: Mapping[str, Tensor]) -> ClientProgress:
    """What a progress bar shows."""
    base, felt = (values[name].item() if name in values else None for name in ("base_loss", "lambda_felt"))
    return ClientProgress(facts.client, round_, step, facts.steps, base, felt)


def terms_of(means: Measured) -> dict[str, float]:
    return {name.removeprefix(TERM): value for name, value in means.items() if name.startswith(TERM)}
