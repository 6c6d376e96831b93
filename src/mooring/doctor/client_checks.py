"""Does every client have something to learn from, and can its base loss fall at all?"""

from collections.abc import Iterator

from mooring.doctor.case import Case
from mooring.doctor.finding import Finding, number
from mooring.losses.supcon import smallest_supcon
from mooring.record import ClientHistory
from mooring.simulation.forecast import MORE_DATA

FEW_STEPS = 20
DOMINATING = 0.5


def check(case: Case) -> Iterator[Finding]:
    for client in case.record.clients:
        yield from starved(client, case.setting.trains)
        yield from loss_floor(client, case)


def starved(client: ClientHistory, trains: bool) -> Iterator[Finding]:
    """No data, no steps although there is data, or hardly any steps."""
    steps = max((moment.steps or 0 for moment in client.rounds), default=0)
    if client.samples == 0:
        yield Finding(
            "starved",
            "has no images and takes no part",
            client=client.client,
            remedy=MORE_DATA,
        )
    elif client.failure is not None:
        yield Finding("failed", client.failure, ill=True, client=client.client, remedy="training.lr=0.01")
    elif trains and client.samples and not client.rounds:
        yield Finding(
            "starved",
            f"has {client.samples} images and took no step",
            ill=True,
            client=client.client,
            evidence={"samples": client.samples, "steps": 0},
            remedy=f"training.batch_size={max(client.samples // 2, 1)}",
        )
    elif 0 < steps < FEW_STEPS:
        yield Finding(
            "starved",
            f"took only {steps} steps",
            client=client.client,
            evidence={"samples": client.samples, "steps": steps},
            remedy=MORE_DATA,
        )


def loss_floor(client: ClientHistory, case: Case) -> Iterator[Finding]:
    """SupCon cannot fall below the logarithm of its number of positives; lambda* = L_b / L_a inherits that."""
    setting = case.setting
    last = client.rounds[-1] if client.rounds else None
    if last is None or not last.base_loss or not setting.supcon or not setting.batch_size or not client.label_counts:
        return
    floor = smallest_supcon(client.label_counts, setting.batch_size, setting.views)
    share = floor / last.base_loss
    if share >= DOMINATING:
        yield Finding(
            "loss-floor",
            f"SupCon cannot fall below {number(floor)}, {share:.0%} of L_b: so much of a learned lambda is fixed",
            client=client.client,
            round=last.round,
            evidence={"floor": floor, "base_loss": last.base_loss},
            remedy=f"training.batch_size={max(setting.batch_size // 2, 2)}",
        )
