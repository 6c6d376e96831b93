"""Before a run: what its lambda can do, how long it takes, and what it uploads."""

from dataclasses import dataclass
from math import log
from time import perf_counter

import torch

from mooring.client import ClientJob
from mooring.client.loop import facts_of, train_step
from mooring.client.state import ClientState
from mooring.data.clients import Federation
from mooring.doctor.client_checks import MORE_DATA
from mooring.doctor.finding import Finding, number
from mooring.types import ClientFacts, Progress
from mooring.weighting.equilibrium import stability_limit

TIMED_STEPS = 3
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
class Forecast:
    """All that can be said before anybody trains."""

    clients: tuple[ClientForecast, ...]
    findings: tuple[Finding, ...]
    minutes: float  # of one core
    upload_bytes: int  # of one client, once


def forecast(job: ClientJob, federation: Federation) -> Forecast:
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
    return Forecast(lines, tuple(foresee(job, facts)), minutes, upload)


def all_facts(job: ClientJob, federation: Federation) -> list[ClientFacts]:
    counts = federation.partition.counts.tolist()
    return [facts_of(job, tuple(labels), client) for client, labels in enumerate(counts)]


def foresee(job: ClientJob, facts: list[ClientFacts]) -> list[Finding]:
    """What can be said without a single step. Notes only: nothing has happened yet, so nothing is ill."""
    found = [
        Finding(
            "starved",
            "has no images and will take no part",
            client=fact.client,
            remedy=MORE_DATA,
        )
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
        text = "the schedule cancels: it acts on the weights and on sigma's data term, so lambda* = L_b/L_a throughout"
        found.append(Finding("cancelled", text, remedy="weight.data=constant"))
    if outlook.relaxation is not None and outlook.relaxation > busiest.steps:
        text = f"lambda will lag: relaxation {number(outlook.relaxation)} steps, longest training {busiest.steps} steps"
        found.append(
            Finding(
                "lagging", text, remedy=f"sigma.lr={20 * (1 - training.momentum) / busiest.steps:.2g} sigma.lr_scale=1"
            )
        )
    if outlook.guard is not None:
        text = f"guarded by {outlook.guard}: felt lambda stays below {number(outlook.largest)}"
        found.append(Finding("capped", text, evidence={"largest": outlook.largest}))
    if outlook.relaxation is not None and outlook.largest > limit:
        found.append(can_run_away(facts, outlook.largest, limit))
    return found


def can_run_away(facts: list[ClientFacts], largest: float, limit: float) -> Finding:
    order = [str(fact.client) for fact in sorted(facts, key=lambda fact: -fact.steps) if fact.steps]
    return Finding(
        "can-run-away",
        f"lambda can run away: nothing bounds it below {number(largest)}, SGD follows it up to {number(limit)}; "
        f"first where there are most steps (clients {', '.join(order[:5])})",
        evidence={"largest": largest, "limit": limit, "log10": log(largest, 10) if largest < float("inf") else None},
        remedy="method=closed-form",
    )


def trial(job: ClientJob, federation: Federation, facts: list[ClientFacts]) -> tuple[float, int]:
    """Seconds of one step of the largest client on one core, and the bytes of an upload."""
    expected = [tensor for part in job.needs for tensor in part.expected(job.blueprint).values()]
    upload = sum(tensor.numel() * tensor.element_size() for tensor in expected)
    if not job.recipe.terms:
        return 0.0, upload
    largest = max(facts, key=lambda fact: fact.samples)
    shard = federation.shard(largest.client)
    state = ClientState.start(job, largest)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    images, labels = shard.images[: job.training.batch_size], shard.labels[: job.training.batch_size]
    try:
        train_step(job, state, images, labels, Progress(0, max(largest.steps, 1)))
        began = perf_counter()
        for _ in range(TIMED_STEPS):
            train_step(job, state, images, labels, Progress(0, max(largest.steps, 1)))
        seconds = (perf_counter() - began) / TIMED_STEPS
    finally:
        torch.set_num_threads(threads)
    return seconds, upload
