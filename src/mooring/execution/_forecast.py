"""Before a run: what its lambda can do, how long it takes, and what it uploads."""

from dataclasses import dataclass
from time import perf_counter

import torch

from mooring.client import ClientJob, ClientState, facts_of, train_step
from mooring.data import Federation
from mooring.events import Forecast
from mooring.processes import threads
from mooring.types import ClientFacts, Progress
from mooring.weighting import stability_limit
from mooring.wording import bound_text, digits

TIMED_STEPS = 3
LONG_STEP = 0.5  # seconds: what takes longer is not tried on more images
USUAL_LOSS = 12.0  # an L_b that four FAFI terms rarely exceed; it enters the bound by its logarithm


@dataclass(frozen=True)
class ClientForecast:
    """One line of the table."""

    client: int
    samples: int
    steps: int
    relaxation: float | None
    largest: float | None


@dataclass(frozen=True)
class RunForecast:
    """Everything that is known before training."""

    clients: tuple[ClientForecast, ...]
    findings: tuple[Forecast, ...]
    minutes: float  # of one core
    upload_bytes: int  # of one client, once


def forecast(job: ClientJob, federation: Federation) -> RunForecast:
    """Steps, relaxation and growth bound of every client; a few real steps are timed."""
    facts = all_facts(job, federation)
    seconds, upload = trial(job, federation, facts)
    align, training = job.recipe.align, job.training
    outlooks = {
        fact.client: align.weight.outlook(fact, training.lr, training.momentum, USUAL_LOSS)
        for fact in facts
        if align is not None and fact.samples
    }
    lines = tuple(
        ClientForecast(
            fact.client,
            fact.samples,
            fact.steps,
            outlooks[fact.client].relaxation if fact.client in outlooks else None,
            outlooks[fact.client].largest if fact.client in outlooks else None,
        )
        for fact in facts
    )
    minutes = seconds * sum(fact.steps for fact in facts) / 60
    return RunForecast(lines, tuple(foresee(job, facts)), minutes, upload)


def all_facts(job: ClientJob, federation: Federation) -> list[ClientFacts]:
    counts = federation.partition.counts.tolist()
    return [facts_of(job, tuple(labels), client) for client, labels in enumerate(counts)]


def foresee(job: ClientJob, facts: list[ClientFacts]) -> list[Forecast]:
    """What is known without a training step. All findings are notes, because nothing has gone wrong yet."""
    found = [
        Forecast("starved", "has no images and will take no part", client=fact.client, evidence="0 images")
        for fact in facts
        if not fact.samples
    ]
    align, training = job.recipe.align, job.training
    busiest = max(facts, key=lambda fact: fact.steps)
    if align is None or not busiest.steps:
        return found
    outlook = align.weight.outlook(busiest, training.lr, training.momentum, USUAL_LOSS)
    dimension = job.blueprint.build(torch.Generator()).prototypes.shape[1]
    limit = stability_limit(training.lr, training.momentum, job.blueprint.class_count, dimension)
    if outlook.cancels:
        text = "annealing will have no effect: it acts on the weights and on what sigma sees alike"
        found.append(Forecast("cancelled", text, evidence="lambda* = L_b/L_a for any a"))
    if outlook.relaxation is not None and outlook.relaxation > busiest.steps:
        evidence = f"relaxation {digits(outlook.relaxation)} steps, longest training {busiest.steps} steps"
        text = "lambda will lag: no client trains for as long as it takes to settle"
        found.append(Forecast("lagging", text, evidence=evidence))
    if outlook.guard is not None:
        evidence = f"largest effective lambda: {bound_text(outlook.largest)}"
        found.append(Forecast("capped", f"lambda is held by its guard ({outlook.guard})", evidence=evidence))
    if outlook.relaxation is not None and outlook.largest > limit:
        found.append(can_run_away(facts, outlook.largest, limit))
    return found


def can_run_away(facts: list[ClientFacts], largest: float, limit: float) -> Forecast:
    order = [str(fact.client) for fact in sorted(facts, key=lambda fact: -fact.steps) if fact.steps]
    return Forecast(
        "can-run-away",
        f"lambda can run away, first where there are most steps (clients {', '.join(order[:5])})",
        evidence=f"largest effective lambda: {bound_text(largest)}; SGD follows it up to {digits(limit)}",
    )


def trial(job: ClientJob, federation: Federation, facts: list[ClientFacts]) -> tuple[float, int]:
    """Seconds of one step of the largest client on one core, and the bytes of an upload.

    A step is timed on two images, then on twice as many, as long as it is short; a whole batch takes in proportion.
    """
    expected = [tensor for part in job.needs for tensor in part.expected(job.blueprint).values()]
    upload = sum(tensor.numel() * tensor.element_size() for tensor in expected)
    if not job.recipe.terms:
        return 0.0, upload
    largest = max(facts, key=lambda fact: fact.samples)
    batch = min(job.training.batch_size, largest.samples)
    shard = federation.sites()[largest.client].shard()
    state, start = ClientState.start(job, largest), Progress(0, max(largest.steps, 1))

    def timed(images: int, steps: int = 1) -> float:
        began = perf_counter()
        for _ in range(steps):
            train_step(job, state, shard.images[:images], shard.labels[:images], start)
        return (perf_counter() - began) / steps

    with threads(1):
        images = min(2, batch)
        timed(images)  # the first step of a process is slower
        seconds = timed(images)
        while images < batch and seconds < LONG_STEP:
            images = min(2 * images, batch)
            seconds = timed(images)
        if seconds < LONG_STEP:
            seconds = timed(images, TIMED_STEPS)
    return seconds * batch / images, upload
