"""Measures: from a run to one number."""

from dataclasses import dataclass, replace
from math import log, log10
from statistics import fmean
from typing import ClassVar, Literal

from mooring.notes._evidence import trace
from mooring.notes._over_rounds import AT, LEVELS, OVER, WORDS, At, Over
from mooring.record import RunRecord
from mooring.wording import round_number


class Measure:
    """One number of a run, None where the run does not hold it; and by round and by client where that makes sense.

    Without a rule of its own, the number is the mean over clients.
    """

    kind: ClassVar[str]

    def value(self, run: RunRecord) -> float | None:
        numbers = list(self.by_client(run).values())
        return fmean(numbers) if numbers else None

    def series(self, run: RunRecord) -> dict[int, float]:
        return {}

    def by_client(self, run: RunRecord) -> dict[int, float]:
        return {}


@dataclass(frozen=True)
class Fused(Measure):
    """Accuracy of the fused predictor on the test images, over the rounds that were fused; or in one of them."""

    kind: ClassVar[str] = "fused"
    at: At = "last"
    round: int | None = None

    def value(self, run: RunRecord) -> float | None:
        series = self.series(run)
        if self.round is not None:
            return series.get(self.round)
        return AT[self.at](list(series.values())) if series else None

    def series(self, run: RunRecord) -> dict[int, float]:
        return dict(sorted(run.fused.items()))

    def __str__(self) -> str:
        if self.round is not None:
            return f"fused accuracy after round {round_number(self.round)}"
        return {"last": "fused accuracy", "fall": "share of the peak fused accuracy lost afterwards"}.get(
            self.at, f"fused accuracy ({self.at})"
        )


def accuracy_behind(measure: Measure) -> Measure | None:
    """The accuracy that must be above the majority-class baseline before this measure decides a comparison.

    A ratio of accuracies, such as a fall from a peak, needs a peak above it. None: no accuracy is involved.
    """
    match measure:
        case FromPeak(of) | Log10(of):
            return accuracy_behind(of)
        case Fused(at=at, round=round_):
            return measure if round_ is not None or at in LEVELS else Fused("peak")
        case Client("accuracy", at=at) | Extreme("accuracy", at=at):
            return measure if at in LEVELS else replace(measure, at="peak")
    return None


@dataclass(frozen=True)
class Client(Measure):
    """A value that clients record in every round: over_k at_r field[k, r]; for one client if `client` is given."""

    kind: ClassVar[str] = "client"
    field: str
    at: At = "last"
    over: Over = "mean"
    client: int | None = None

    def value(self, run: RunRecord) -> float | None:
        numbers = list(self.by_client(run).values())
        return OVER[self.over](numbers) if numbers else None

    def by_client(self, run: RunRecord) -> dict[int, float]:
        return {client: AT[self.at](list(rounds.values())) for client, rounds in self.trace(run).items()}

    def series(self, run: RunRecord) -> dict[int, float]:
        by_round: dict[int, list[float]] = {}
        for rounds in self.trace(run).values():
            for round_, number in rounds.items():
                by_round.setdefault(round_, []).append(number)
        return {round_: OVER[self.over](by_round[round_]) for round_ in sorted(by_round)}

    def trace(self, run: RunRecord) -> dict[int, dict[int, float]]:
        return {k: dict(sorted(v.items())) for k, v in trace(run, self.field).items() if self.client in (None, k)}

    def __str__(self) -> str:
        who = f"{self.over} over clients" if self.client is None else f"client {self.client}"
        return f"{self.field} ({WORDS[self.at]}, {who})"


@dataclass(frozen=True)
class Extreme(Measure):
    """`field` of the client whose `by` is lowest or highest of all."""

    kind: ClassVar[str] = "extreme"
    field: str
    by: str = "normalised_entropy"
    which: Literal["lowest", "highest"] = "lowest"
    at: At = "last"

    def value(self, run: RunRecord) -> float | None:
        by, fields = Client(self.by, "first").by_client(run), self.by_client(run)
        common = by.keys() & fields.keys()
        if not common:
            return None
        sign = 1 if self.which == "lowest" else -1
        return fields[min(common, key=lambda client: (sign * by[client], client))]

    def by_client(self, run: RunRecord) -> dict[int, float]:
        return Client(self.field, self.at).by_client(run)

    def __str__(self) -> str:
        return f"{self.field} ({self.at}) of the client with the {self.which} {self.by}"


@dataclass(frozen=True)
class Quotient(Measure):
    """`field` of a client over its `by`, mean over clients: test accuracy for each class that it holds."""

    kind: ClassVar[str] = "quotient"
    field: str
    by: str
    at: At = "last"

    def by_client(self, run: RunRecord) -> dict[int, float]:
        above, below = (Client(name, self.at).by_client(run) for name in (self.field, self.by))
        return {client: above[client] / below[client] for client in above if below.get(client)}

    def __str__(self) -> str:
        return f"{self.field} / {self.by} ({WORDS[self.at]}, mean over clients)"


@dataclass(frozen=True)
class Share(Measure):
    """How much of the growth of a product is the growth of one factor.

    log(growth of part) / log(growth of whole), mean over clients whose whole more than doubled; `since` says from where
    """

    kind: ClassVar[str] = "share"
    part: str
    whole: str
    since: Literal["growth", "settled"] = "growth"

    def by_client(self, run: RunRecord) -> dict[int, float]:
        part, whole = (Client(name, self.since).by_client(run) for name in (self.part, self.whole))
        return {k: log(part[k]) / log(grown) for k, grown in whole.items() if grown > 2 and part.get(k, 0) > 0}

    def __str__(self) -> str:
        return f"share of {self.part} in the growth of {self.whole} ({WORDS[self.since]})"


@dataclass(frozen=True)
class Since(Measure):
    """The change of clients after an event.

    field[last] - field[r], r the last round in which `trigger` was not yet above `above`; mean over the clients that
    were below it at first and rose above it later
    """

    kind: ClassVar[str] = "since"
    field: str
    trigger: str = "lambda_raw"
    above: float = 1000.0

    def by_client(self, run: RunRecord) -> dict[int, float]:
        fields, triggers = trace(run, self.field), trace(run, self.trigger)
        changes = {}
        for client, rounds in fields.items():
            passed = [r for r, value in triggers.get(client, {}).items() if value > self.above]
            before = [r for r in rounds if passed and r < min(passed)]
            if before:
                changes[client] = rounds[max(rounds)] - rounds[max(before)]
        return changes

    def __str__(self) -> str:
        return f"change of {self.field} since {self.trigger} passed {self.above:g} (mean over those clients)"


@dataclass(frozen=True)
class Switch(Measure):
    """Mean change of the bank loss from the last epoch of stage 1 to the epoch after it, over clients and rounds."""

    kind: ClassVar[str] = "switch"
    stage_epochs: int = 1

    def value(self, run: RunRecord) -> float | None:
        losses = {
            (row.client, row.round, row.epoch): row.terms.get("bank-contrast", row.align_loss) for row in run.epochs
        }
        last = self.stage_epochs - 1
        changes = [
            after - loss
            for (client, round_, epoch), loss in losses.items()
            if epoch == last and loss is not None and (after := losses.get((client, round_, last + 1))) is not None
        ]
        return fmean(changes) if changes else None

    def __str__(self) -> str:
        return "change of the bank loss at the switch from stage 1 to stage 2"


@dataclass(frozen=True)
class FromPeak(Measure):
    """Another measure, from the round with the highest fused accuracy on."""

    kind: ClassVar[str] = "from-peak"
    of: Measure

    def value(self, run: RunRecord) -> float | None:
        return self.of.value(run)

    def series(self, run: RunRecord) -> dict[int, float]:
        peak = max(run.fused, key=lambda round_: run.fused[round_], default=0)
        return {round_: number for round_, number in self.of.series(run).items() if round_ >= peak}

    def by_client(self, run: RunRecord) -> dict[int, float]:
        return self.of.by_client(run)

    def __str__(self) -> str:
        return f"{self.of} from the peak on"


@dataclass(frozen=True)
class Log10(Measure):
    """log10 of another measure where it is positive; a difference of 0.3 is a factor of two."""

    kind: ClassVar[str] = "log10"
    of: Measure

    def value(self, run: RunRecord) -> float | None:
        number = self.of.value(run)
        return log10(number) if number is not None and number > 0 else None

    def series(self, run: RunRecord) -> dict[int, float]:
        return {round_: log10(number) for round_, number in self.of.series(run).items() if number > 0}

    def by_client(self, run: RunRecord) -> dict[int, float]:
        return {client: log10(number) for client, number in self.of.by_client(run).items() if number > 0}

    def __str__(self) -> str:
        return f"log10 of {self.of}"
