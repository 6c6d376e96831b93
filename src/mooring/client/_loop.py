"""THE training loop, the only one: every method is this function with another recipe."""

from collections.abc import Iterable, Iterator, Mapping
from time import monotonic

import torch
from torch import Tensor

from mooring.client._checkpoint import KEEPS_NOTHING, StateKeeper, final_tensors, restored_state, state_tensors
from mooring.client._device import CPU, Device
from mooring.client._first_network import borrowed
from mooring.client._held_out import held_out, held_out_count
from mooring.client._job import ClientJob, epoch_batches, steps_per_epoch
from mooring.client._measured import TERM, Measured, epoch_record, feature_facts, progress_event, round_record
from mooring.client._recipe import ClientRecipe, Stage, named_terms
from mooring.client._state import ClientState, Position
from mooring.client._statistics import add_up, has_sent, sent_state
from mooring.data import ImageSet, Site
from mooring.errors import TrainingError
from mooring.events import ClientProgress, ClientRecord, ClientResumed, ClientStarted, ClientStarved, Emit
from mooring.losses import looks_at_views, require_scalar
from mooring.types import Balanced, ClientFacts, Losses, Progress, Step, Upload, View
from mooring.uploads import Part, Tensors, extract_parts
from mooring.user_code import explaining, returned
from mooring.wording import round_number

TICK_SECONDS = 0.25


def run_client(
    job: ClientJob, site: Site, emit: Emit, keeper: StateKeeper = KEEPS_NOTHING, device: Device = CPU
) -> Iterator[Upload]:
    """Train the client at one site to its end, from its start or from where `keeper` last saw it; yields its upload at
    every round that is kept, and its state to the keeper once the upload is in safe hands.

    A client without images uploads nothing; one whose recipe has no terms trains nothing: it adds up statistics of
    frozen features and uploads them once. The features are computed on the device, the sums on the CPU.
    """
    if not job.recipe.terms and has_sent(job, keeper.last()):
        return
    shard = site.shard()
    facts = facts_of(job, shard.label_counts(), site.number)
    if not facts.samples:
        emit(ClientStarved(facts.client, "no images: nothing to train on, nothing uploaded"))
        return
    with borrowed(job) as network:
        with explaining(f"client {facts.client}, before round 1"):
            state = ClientState.start(job, facts, network, device)
            state.held_out = held_out(job, shard, facts.client)
            emit(started(job, state, facts))
        if job.recipe.terms:
            yield from train_rounds(job, state, shard, facts, site.name, emit, keeper)
        else:
            with explaining(f"client {facts.client}"):
                sums, seconds = add_up(job, network.eval(), shard, facts.client, emit, keeper)
                began = monotonic()
                upload = uploaded(job, state, shard, facts, site.name, 0, sums)
            emit(ClientRecord(facts.client, 0, seconds=seconds + monotonic() - began))
            yield upload
            keeper.keep(sent_state(job, facts.samples))


def train_rounds(
    job: ClientJob,
    state: ClientState,
    shard: ImageSet,
    facts: ClientFacts,
    site: str,
    emit: Emit,
    keeper: StateKeeper,
) -> Iterator[Upload]:
    """All rounds that are left, from where `keeper` last saw the client."""
    last = keeper.last()
    if last is not None:
        restored_state(state, last)
        emit(ClientResumed(facts.client, state.position.round, state.step))
    while state.position.round < job.training.rounds:
        round_ = state.position.round
        with explaining(f"client {facts.client}, round {round_number(round_)}"):
            emit(train_round(job, state, shard, facts, emit, keeper))
            upload = uploaded(job, state, shard, facts, site, round_) if round_ in job.kept() else None
        if upload is not None:
            yield upload
        state.position = Position(round_ + 1)
        keeper.keep(state_tensors(state) if state.position.round < job.training.rounds else final_tensors(state))


def uploaded(
    job: ClientJob,
    state: ClientState,
    shard: ImageSet,
    facts: ClientFacts,
    site: str,
    round_: int,
    computed: Mapping[Part, Tensors] | None = None,
) -> Upload:
    """Exactly what the fusion needs of this client as it is now."""
    CPU.hold(state.network)
    tensors = extract_parts(job.needs, state.network.eval(), shard, computed)
    state.device.hold(state.network)
    return Upload(facts.client, round_, facts.samples, finite(tensors, facts.client, round_), site, job.sha256)


def train_round(
    job: ClientJob, state: ClientState, shard: ImageSet, facts: ClientFacts, emit: Emit, keeper: StateKeeper
) -> ClientRecord:
    """What is left of a round; the record of its last epoch."""
    training, at, means = job.training, state.position, Measured()
    if not at.epoch and not at.batch:
        state.began = monotonic()
        if training.optimizer == "per-round":
            state.optimizer.forget()
    while at.epoch < training.local_epochs:
        train_epoch(job, state, shard, facts, emit, keeper)
        means = state.measurements.close(at.round, state.step - at.batch)
        emit(epoch_record(facts.client, at.round, at.epoch, means))
        at.epoch, at.batch = at.epoch + 1, 0
    emit(ClientProgress(facts.client, at.round, state.step, facts.steps))
    end = Progress(state.step - 1, facts.steps, at.epoch - 1, training.local_epochs, at.round, training.rounds)
    features = feature_facts(state.network, shard, state.anchors_at(end))
    return round_record(job, facts, end, means, state.network.prototypes, features, monotonic() - state.began)


def train_epoch(
    job: ClientJob, state: ClientState, shard: ImageSet, facts: ClientFacts, emit: Emit, keeper: StateKeeper
) -> None:
    """What is left of an epoch: its order is drawn again from where the stream stood when it began."""
    training, at = job.training, state.position
    state.epoch_start = state.order.get_state()
    trained = torch.arange(len(shard)) if state.held_out is None else state.held_out.trained
    for positions in epoch_batches(len(trained), training.batch_size, state.order)[at.batch :]:
        chosen = trained[positions]
        progress = Progress(state.step, facts.steps, at.epoch, training.local_epochs, at.round, training.rounds)
        state.set_rate(job, progress)
        images, labels = map(state.device.take, (shard.images[chosen], shard.labels[chosen]))
        values = train_step(job, state, images, labels, progress)
        state.measurements.add(values)
        state.step += 1
        at.batch += 1
        if monotonic() - state.last_tick > TICK_SECONDS:
            state.last_tick = monotonic()
            emit(progress_event(facts, at.round, state.step, values))
            if keeper.due(state.step):
                keeper.keep(state_tensors(state))


def train_step(
    job: ClientJob, state: ClientState, images: Tensor, labels: Tensor, progress: Progress
) -> dict[str, Tensor]:
    """One step of encoder, prototypes and weighting together; returns what was measured on the way."""
    recipe, stage = job.recipe, job.recipe.stage(progress)
    judged = held_out_loss(job, state, progress) if stage is None else None
    step, seen = forward_views(
        job, state, images, labels, progress, training=len(images) > 1
    )  # batch norm never sees one image
    if stage is None:
        loss, measured = whole_loss(recipe, state, step, seen.features, judged)
    else:
        loss, measured = stage_loss(stage, step)
    state.optimizer.zero_grad()
    state.loss_scale.backward(loss, state.optimizer.parameters)
    measured["gradient_norm"] = state.clip(recipe.clip, job.training.clip)
    state.optimizer.step()
    if state.memory is not None:
        state.memory.remember(seen.features, labels.repeat(recipe.views.count))
    measured["train_accuracy"] = (seen.logits.argmax(1) == labels.repeat(recipe.views.count)).float().mean()
    return measured


def forward_views(
    job: ClientJob, state: ClientState, images: Tensor, labels: Tensor, progress: Progress, training: bool
) -> tuple[Step, View]:
    """The views of a batch through the network: all that loss terms may look at, and all views as one."""
    recipe, network = job.recipe, state.network
    if network.training != training:
        network.train(training)
    with state.device.autocast(job.training.precision):
        rounded: View = network(recipe.views(images, job.mirror, state.augment))
    seen = View(rounded.logits.float(), rounded.features.float())
    count = recipe.views.count
    views = tuple(map(View, seen.logits.chunk(count), seen.features.chunk(count)))
    anchors = state.anchors_at(progress)
    memory = state.memory.bank() if state.memory else None
    step = Step(labels, views, network.prototypes, anchors, progress, state.bank, memory, state.label_counts)
    return step, seen


def held_out_loss(job: ClientJob, state: ClientState, progress: Progress) -> Tensor | None:
    """L_b of the next held-out images, with the network as it would predict now."""
    if state.held_out is None:
        return None
    images, labels = map(state.device.take, state.held_out.batch(state.step, job.training.batch_size))
    step, _ = forward_views(job, state, images, labels, progress, training=False)
    return torch.stack(list(base_terms(job.recipe, step).values())).sum()


def base_terms(recipe: ClientRecipe, step: Step) -> dict[str, Tensor]:
    """The parts of L_b by name."""
    return {name: require_scalar(term, term(step)) for name, term in named_terms(recipe.terms)}


def whole_loss(
    recipe: ClientRecipe, state: ClientState, step: Step, embedding: Tensor, judged: Tensor | None = None
) -> tuple[Tensor, dict[str, Tensor]]:
    """L_b, and L_a balanced against it; `judged` is L_b on held-out images."""
    terms = base_terms(recipe, step)
    local = torch.stack(list(terms.values())).sum()
    measured = {**{TERM + name: value for name, value in terms.items()}, "base_loss": local}
    if recipe.align is None or state.balancer is None:
        return local, measured
    align = require_scalar(recipe.align.term, recipe.align.term(step))
    losses = Losses(local, align, terms, embedding, step.prototypes, judged)
    balanced = returned(state.balancer(losses, step.progress), Balanced, state.balancer, "forward")
    measured |= {
        "align_loss": align,
        "lambda_raw": balanced.lambda_raw,
        "schedule_factor": torch.as_tensor(balanced.schedule_factor),
        "lambda_felt": balanced.lambda_felt,
        **balanced.measured,
    }
    return balanced.loss(local, align), measured


def stage_loss(stage: Stage, step: Step) -> tuple[Tensor, dict[str, Tensor]]:
    """The weighted terms of a stage and nothing else."""
    terms = {name: require_scalar(term, term(step)) for name, term in named_terms(stage.terms)}
    weights = stage.weights or (1.0,) * len(terms)
    loss = torch.stack([weight * term for weight, term in zip(weights, terms.values(), strict=True)]).sum()
    return loss, {**{TERM + name: value for name, value in terms.items()}, "base_loss": loss}


def finite(tensors: dict[str, Tensor], client: int, round_: int) -> dict[str, Tensor]:
    """An upload never holds values that are not finite: the last step of a round may have made some."""
    if all_finite(tensors.values()):
        return tensors
    name = next(name for name, tensor in tensors.items() if not all_finite([tensor]))
    raise TrainingError(
        f"client {client}: {name} is not finite after round {round_number(round_)}",
        "lower training.lr or the alignment weight, or set training.clip",
    )


def all_finite(tensors: Iterable[Tensor]) -> bool:
    """Asked of all values of a type at once: a network has many small tensors."""
    by_type: dict[torch.dtype, list[Tensor]] = {}
    for tensor in tensors:
        if tensor.is_floating_point():
            by_type.setdefault(tensor.dtype, []).append(tensor.reshape(-1))
    return all(bool(torch.isfinite(torch.cat(values)).all()) for values in by_type.values())


def facts_of(job: ClientJob, label_counts: tuple[int, ...], client: int) -> ClientFacts:
    """What is known of a client before it trains."""
    if not job.recipe.terms:
        return ClientFacts(client, label_counts)
    training = job.training
    samples = sum(label_counts)
    trained = samples - held_out_count(samples, job.recipe.held_out)
    per_epoch = steps_per_epoch(trained, training.batch_size)
    return ClientFacts(client, label_counts, per_epoch * training.local_epochs * training.rounds)


def started(job: ClientJob, state: ClientState, facts: ClientFacts) -> ClientStarted:
    """Where a client begins; an L_a that is known before any image measures a lambda that has not moved."""
    prototypes, align, align_loss = state.network.prototypes.detach(), job.recipe.align, None
    if align is not None and state.anchors is not None and not looks_at_views(align.term):
        first = Step(torch.empty(0), (), prototypes, state.anchors_at(Progress()), Progress())
        align_loss = align.term(first).item()
    return ClientStarted(facts.client, facts.samples, facts.steps, prototypes.shape[1], align_loss)
