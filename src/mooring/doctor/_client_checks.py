"""Does every client have something to learn from, did it learn, and can its base loss fall at all?"""

from collections.abc import Iterator
from math import isfinite

from mooring.doctor._case import Case
from mooring.doctor._finding import Finding, FindingEvidence, at_clients
from mooring.events import ClientRecord
from mooring.losses import smallest_supcon
from mooring.record import ClientHistory
from mooring.types import ClientFacts, Progress
from mooring.wording import digits, percent

FEW_STEPS = 20
DOMINATING = 0.5


def check(case: Case) -> Iterator[Finding]:
    clients = case.record.clients
    empty = tuple(FindingEvidence("0 images", client.client) for client in clients if client.samples == 0)
    if empty:
        yield Finding("starved", "note", f"No images {at_clients(empty, case.clients)}, which take no part.", empty)
    failed = tuple(FindingEvidence(client.failure, client.client) for client in clients if client.failure is not None)
    if failed:
        yield Finding("failed", "ill", f"Training failed {at_clients(failed, case.clients)}.", failed)
    idle = tuple(FindingEvidence(f"{c.samples} images, 0 steps", c.client) for c in clients if is_idle(c, case))
    if idle:
        yield Finding("no-step", "ill", f"Images, but no training step {at_clients(idle, case.clients)}.", idle)
    short = tuple(
        FindingEvidence(f"{steps} steps, {client.samples} images", client.client, values={"steps": steps})
        for client in clients
        if 0 < (steps := steps_of(client)) < FEW_STEPS
    )
    if short:
        words = f"Very little training {at_clients(short, case.clients)}: fewer than {FEW_STEPS} steps."
        yield Finding("few-steps", "note", words, short)
    yield from loss_floor(case)


def is_idle(client: ClientHistory, case: Case) -> bool:
    return case.setting.trains and bool(client.samples) and not client.rounds and client.failure is None


def steps_of(client: ClientHistory) -> int:
    return max((moment.steps or 0 for moment in client.rounds), default=0)


def not_numbers(case: Case) -> Iterator[Finding]:
    """A lambda or a loss in the record that is not a number: the run cannot recover from it."""
    found = []
    for client in case.record.clients:
        row = next((row for row in client.rounds if broken(row)), None)
        if row is not None:
            found.append(FindingEvidence(f"not finite: {', '.join(broken(row))}", client.client, row.round))
    if found:
        words = f"Lambda or a loss is not a number any more {at_clients(found, case.clients)}."
        yield Finding("not-a-number", "ill", words, tuple(found))


def broken(row: ClientRecord) -> list[str]:
    """What is not finite. A file writes that as null: then a schedule's factor stands there without its lambda."""
    values = {
        "raw lambda": row.lambda_raw,
        "felt lambda": row.lambda_felt,
        "L_b": row.base_loss,
        "L_a": row.align_loss,
    }
    found = [name for name, value in values.items() if value is not None and not isfinite(value)]
    lost = row.schedule_factor is not None and row.lambda_raw is None and row.lambda_felt is None
    return found or (["lambda"] if lost else [])


def loss_floor(case: Case) -> Iterator[Finding]:
    """SupCon cannot fall below the logarithm of its number of positives; a lambda that goes by L_b inherits that."""
    found = tuple(shown for client in case.record.clients if (shown := floor_of(client, case)) is not None)
    if found:
        words = (
            f"Most of the base loss cannot fall {at_clients(found, case.clients)}, and a lambda that goes by it "
            "inherits that."
        )
        yield Finding("loss-floor", "note", words, found)


def floor_of(client: ClientHistory, case: Case) -> FindingEvidence | None:
    setting = case.setting
    last = client.rounds[-1] if client.rounds else None
    if last is None or not last.base_loss or not setting.supcon or not setting.batch_size or not client.label_counts:
        return None
    floor = smallest_supcon(client.label_counts, setting.batch_size, setting.views)
    share = floor / last.base_loss
    if share < DOMINATING or not goes_by_losses(client, last.base_loss, case):
        return None
    text = f"SupCon >= {digits(floor)}, {percent(share, 0)} of L_b"
    return FindingEvidence(text, client.client, values={"floor": floor, "base_loss": last.base_loss})


def goes_by_losses(client: ClientHistory, base_loss: float, case: Case) -> bool:
    """Would lambda be another if L_b were twice as large? A fixed one would not."""
    rule, facts = case.setting.rule, ClientFacts(client.client, client.label_counts, steps_of(client))
    if rule is None:
        return False
    small, large = (rule.stationary(local, 1.0, Progress(), facts) for local in (base_loss, 2 * base_loss))
    return small != large
