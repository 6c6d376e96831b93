"""THE training loop, the only one: every method is this function with another recipe."""

from collections.abc import Iterator
from time import monotonic

import torch
from torch import Tensor

from mooring.client.batches import batches, steps_per_epoch
from mooring.client.checkpoint import FORGETFUL, Keeper, ended, frozen, thawed
from mooring.client.device import CPU, Device
from mooring.client.job import ClientJob
from mooring.client.ledger import TERM
from mooring.client.position import Position
from mooring.client.recipe import ClientRecipe, named
from mooring.client.spare import lent
from mooring.client.stages import Stage
from mooring.client.state import ClientState
from mooring.data.images import ImageSet
from mooring.errors import TrainingError
from mooring.types import Balanced, ClientFacts, Emit, Event, Losses, Progress, Step, Upload, View
from mooring.uploads import extract

TICK_SECONDS = 0.25
SIGMAS = ("sigma_sq_local", "sigma_sq_align")  # both factors of a learned lambda, as the last step left them


def run_client(
    job: ClientJob, shard: ImageSet, client: int, emit: Emit, keeper: Keeper = FORGETFUL, device: Device = CPU
) -> Iterator[Upload]:
    """Train one client to its end, from its start or from where `keeper` last saw it; yields its upload at every round
    that is kept, and its state to the keeper once the upload is in safe hands.

    A client without images uploads nothing; one whose recipe has no terms trains nothing, and uploads at once.
    """
    facts = facts_of(job, shard.label_counts(), client)
    if not facts.samples:
        emit(Event("starved", {"client": client, "reason": "no images: nothing to train on, nothing uploaded"}))
        return
    with lent(job) as network:
        state = ClientState.start(job, facts, network, device)
        emit(Event("start", _started(job, state, facts)))
        if job.recipe.terms:
            yield from train_rounds(job, state, shard, facts, emit, keeper)
        else:
            yield uploaded(job, state, shard, facts, 0)


def train_rounds(
    job: ClientJob, state: ClientState, shard: ImageSet, facts: ClientFacts, emit: Emit, keeper: Keeper
) -> Iterator[Upload]:
    """All rounds that are left, from where `keeper` last saw the client."""
    client, last = facts.client, keeper.last()
    if last is not None:
        thawed(state, last)
        emit(Event("resumed", {"client": client, "round": state.position.round, "step": state.step}))
    while state.position.round < job.training.rounds:
        round_, began = state.position.round, monotonic()
        record = train_round(job, state, shard, facts, emit, keeper)
        emit(Event("round", {"client": client, "round": round_, **record, "seconds": monotonic() - began}))
        if round_ in job.kept():
            yield uploaded(job, state, shard, facts, round_)
        state.position = Position(round_ + 1)
        keeper.keep(frozen(state) if state.position.round < job.training.rounds else ended(state))


def uploaded(job: ClientJob, state: ClientState, shard: ImageSet, facts: ClientFacts, round_: int) -> Upload:
    """Exactly what the fusion needs of this client as it is now."""
    tensors = extract(job.needs, state.network.eval().cpu(), shard)
    state.network.to(state.device.name)
    return Upload(facts.client, round_, facts.samples, finite(tensors, facts.client, round_), job=job.sha256)


def train_round(
    job: ClientJob, state: ClientState, shard: ImageSet, facts: ClientFacts, emit: Emit, keeper: Keeper = FORGETFUL
) -> dict[str, object]:
    """What is left of a round; the record of its last epoch."""
    training, at, means = job.training, state.position, {}
    while at.epoch < training.local_epochs:
        train_epoch(job, state, shard, facts, emit, keeper)
        means = state.ledger.close(at.round, state.step - at.batch)
        emit(Event("epoch", {"client": facts.client, "round": at.round, "epoch": at.epoch, **_epoch(means)}))
        at.epoch, at.batch = at.epoch + 1, 0
    emit(Event("tick", {"client": facts.client, "round": at.round, "step": state.step, "steps": facts.steps}))
    end = Progress(state.step - 1, facts.steps, at.epoch - 1, training.local_epochs, at.round, training.rounds)
    return _record(job, state, facts, end, means)


def train_epoch(
    job: ClientJob, state: ClientState, shard: ImageSet, facts: ClientFacts, emit: Emit, keeper: Keeper
) -> None:
    """What is left of an epoch: its order is drawn again from where the stream stood when it began."""
    training, at, ticked = job.training, state.position, monotonic()
    state.epoch_start = state.order.get_state()
    for chosen in batches(len(shard), training.batch_size, state.order)[at.batch :]:
        progress = Progress(state.step, facts.steps, at.epoch, training.local_epochs, at.round, training.rounds)
        state.set_rate(job, progress)
        images, labels = map(state.device.take, (shard.images[chosen], shard.labels[chosen]))
        values = train_step(job, state, images, labels, progress)
        state.ledger.add(values)
        state.step += 1
        at.batch += 1
        if monotonic() - ticked > TICK_SECONDS:
            ticked = monotonic()
            emit(Event("tick", _tick(facts, state, at.round, values)))
            if keeper.due():
                keeper.keep(frozen(state))


def train_step(
    job: ClientJob, state: ClientState, images: Tensor, labels: Tensor, progress: Progress
) -> dict[str, Tensor]:
    """One step of encoder, prototypes and weighting together; returns what was measured on the way."""
    recipe, network = job.recipe, state.network
    if network.training != (len(images) > 1):
        network.train(len(images) > 1)  # batch norm never sees a batch of one
    with state.device.autocast():
        half: View = network(recipe.views(images, job.mirror, state.augment))
    seen = View(half.logits.float(), half.features.float())
    count = recipe.views.count
    views = tuple(map(View, seen.logits.chunk(count), seen.features.chunk(count)))
    anchors = state.anchors_at(progress)
    memory = state.memory.bank() if state.memory else None
    step = Step(labels, views, network.prototypes, anchors, progress, state.bank, memory, state.label_counts)

    stage = recipe.stage(progress)
    loss, measured = whole_loss(recipe, state, step, seen.features) if stage is None else stage_loss(stage, step)
    state.optimizer.zero_grad()
    loss.backward()
    measured["gradient_norm"] = state.clip(recipe.clip, job.training.clip)
    state.optimizer.step()
    if state.memory is not None:
        state.memory.remember(seen.features, labels.repeat(count))
    measured["train_accuracy"] = (seen.logits.argmax(1) == labels.repeat(count)).float().mean()
    return measured


def whole_loss(
    recipe: ClientRecipe, state: ClientState, step: Step, embedding: Tensor
) -> tuple[Tensor, dict[str, Tensor]]:
    """L_b, and L_a balanced against it."""
    terms = {name: term(step) for name, term in named(recipe.terms)}
    local = torch.stack(list(terms.values())).sum()
    measured = {**{TERM + name: value for name, value in terms.items()}, "base_loss": local}
    if recipe.align is None or state.balancer is None:
        return local, measured
    align = recipe.align.term(step)
    balanced: Balanced = state.balancer(Losses(local, align, terms, embedding, step.prototypes), step.progress)
    loss = balanced.model_loss if balanced.own_loss is None else balanced.model_loss + balanced.own_loss
    measured |= {"align_loss": align, "lambda_raw": balanced.raw, "lambda": balanced.lam, **balanced.measured}
    return loss, measured


def stage_loss(stage: Stage, step: Step) -> tuple[Tensor, dict[str, Tensor]]:
    """The weighted terms of a stage and nothing else."""
    terms = {name: term(step) for name, term in named(stage.terms)}
    weights = stage.weights or (1.0,) * len(terms)
    loss = torch.stack([weight * term for weight, term in zip(weights, terms.values(), strict=True)]).sum()
    return loss, {**{TERM + name: value for name, value in terms.items()}, "base_loss": loss}


def finite(tensors: dict[str, Tensor], client: int, round_: int) -> dict[str, Tensor]:
    """An upload never holds values that are not finite: the last step of a round may have made some."""
    for name, tensor in tensors.items():
        if not torch.isfinite(tensor).all():
            raise TrainingError(
                f"client {client}: {name} is not finite after round {round_}",
                "lower training.lr or the alignment weight, or set training.clip",
            )
    return tensors


def facts_of(job: ClientJob, label_counts: tuple[int, ...], client: int) -> ClientFacts:
    """What is known of a client before it trains."""
    if not job.recipe.terms:
        return ClientFacts(client, label_counts)
    training = job.training
    per_epoch = steps_per_epoch(sum(label_counts), training.batch_size)
    return ClientFacts(client, label_counts, per_epoch * training.local_epochs * training.rounds)


def _epoch(means: dict[str, float]) -> dict[str, object]:
    """What is kept of every epoch: the loss terms, and the alignment loss if it acted."""
    return {name.removeprefix(TERM): v for name, v in means.items() if name.startswith(TERM) or name == "align_loss"}


def _started(job: ClientJob, state: ClientState, facts: ClientFacts) -> dict[str, object]:
    """Where a client begins: its L_a before the first step is the measure of a lambda that has not moved."""
    started: dict[str, object] = {
        "client": facts.client,
        "samples": facts.samples,
        "steps": facts.steps,
        "dimension": state.network.prototypes.shape[1],
    }
    if job.recipe.align is not None and state.anchors is not None:  # a pull to anchors can be measured without data
        prototypes = state.network.prototypes.detach()
        first = Step(torch.empty(0), (), prototypes, state.anchors_at(Progress()), Progress())
        started["align_loss"] = job.recipe.align.term(first).item()
    return started


def _tick(facts: ClientFacts, state: ClientState, round_: int, values: dict[str, Tensor]) -> dict[str, object]:
    """What a progress bar shows."""
    shown: dict[str, object] = {name: values[name].item() for name in ("base_loss", "lambda") if name in values}
    return {"client": facts.client, "round": round_, "step": state.step, "steps": facts.steps, **shown}


def _record(
    job: ClientJob, state: ClientState, facts: ClientFacts, progress: Progress, measured: dict[str, float]
) -> dict[str, object]:
    """Means over the last epoch, lambda as the last step left it, and where lambda would come to rest."""
    record: dict[str, object] = {
        "steps": state.step,
        "terms": {name.removeprefix(TERM): value for name, value in measured.items() if name.startswith(TERM)},
        "base_loss": measured["base_loss"],
        "gradient_norm": measured["gradient_norm"],
        "train_accuracy": measured["train_accuracy"],
        "prototype_norms": state.network.prototypes.detach().norm(dim=1).tolist(),
    }
    if job.recipe.align is not None and "align_loss" in measured:
        local, align = measured["base_loss"], measured["align_loss"]
        rest = job.recipe.align.weight.stationary(local, align, progress, facts)
        record |= {
            "align_loss": align,
            "lambda_raw": measured["last_lambda_raw"],
            "lambda": measured["last_lambda"],
            "lambda_star": rest and rest.felt,
            "lambda_star_raw": rest and rest.raw,
        }
    if "gradient_cosine" in measured:
        record["gradient_cosine"] = measured["gradient_cosine"]
    return record | {name: measured[f"last_{name}"] for name in SIGMAS if name in measured}
