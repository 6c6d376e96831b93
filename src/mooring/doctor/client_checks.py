"""Does every client have something to learn from, and can its base loss fall at all?"""

from collections.abc import Iterator

from mooring.doctor.finding import Finding, number
from mooring.doctor.history import History, Patient
from mooring.losses.supcon import smallest_supcon

MORE_DATA = "partition.kind=dirichlet partition.min_size=10"
FEW_STEPS = 20
DOMINATING = 0.5


def check(history: History) -> Iterator[Finding]:
    for patient in history.patients:
        yield from starved(patient, history.setting.trains)
        yield from loss_floor(patient, history)


def starved(patient: Patient, trains: bool) -> Iterator[Finding]:
    """No data, no steps although there is data, or hardly any steps."""
    steps = max((moment.steps or 0 for moment in patient.moments), default=0)
    if patient.samples == 0:
        yield Finding(
            "starved",
            "has no images and takes no part",
            client=patient.client,
            remedy=MORE_DATA,
        )
    elif patient.failure is not None:
        yield Finding("failed", patient.failure, ill=True, client=patient.client, remedy="training.lr=0.01")
    elif trains and patient.samples and not patient.moments:
        yield Finding(
            "starved",
            f"has {patient.samples} images and took no step",
            ill=True,
            client=patient.client,
            evidence={"samples": patient.samples, "steps": 0},
            remedy=f"training.batch_size={max(patient.samples // 2, 1)}",
        )
    elif 0 < steps < FEW_STEPS:
        yield Finding(
            "starved",
            f"took only {steps} steps",
            client=patient.client,
            evidence={"samples": patient.samples, "steps": steps},
            remedy=MORE_DATA,
        )


def loss_floor(patient: Patient, history: History) -> Iterator[Finding]:
    """SupCon cannot fall below the logarithm of its number of positives; lambda* = L_b / L_a inherits that."""
    setting = history.setting
    last = patient.moments[-1] if patient.moments else None
    if last is None or not last.base_loss or not setting.supcon or not setting.batch_size or not patient.label_counts:
        return
    floor = smallest_supcon(patient.label_counts, setting.batch_size, setting.views)
    share = floor / last.base_loss
    if share >= DOMINATING:
        yield Finding(
            "loss-floor",
            f"SupCon cannot fall below {number(floor)}, {share:.0%} of L_b: so much of a learned lambda is fixed",
            client=patient.client,
            round=last.round,
            evidence={"floor": floor, "base_loss": last.base_loss},
            remedy=f"training.batch_size={max(setting.batch_size // 2, 2)}",
        )
