"""The course of one client's lambda, and what was known of it before it trained."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import log
from statistics import median

from mooring.doctor._case import Case, TrainingSetup
from mooring.doctor._finding import FindingEvidence
from mooring.events import ClientRecord
from mooring.record import ClientHistory
from mooring.types import ClientFacts, Progress
from mooring.weighting import LambdaBounds


@dataclass(frozen=True)
class Course:
    """The rounds in which a client's lambda is known."""

    client: ClientHistory
    seen: list[ClientRecord]
    outlook: LambdaBounds | None


def courses_of(case: Case) -> Iterator[Course]:
    for client in case.record.clients:
        seen = [moment for moment in client.rounds if moment.lambda_felt is not None and moment.lambda_raw is not None]
        if seen:
            yield Course(client, seen, outlook_of(client, case.setting))


def gathered(
    case: Case, courses: Iterable[Course], look: Callable[[Case, Course], FindingEvidence | None]
) -> list[FindingEvidence]:
    return [shown for course in courses if (shown := look(case, course)) is not None]


def outlook_of(client: ClientHistory, setting: TrainingSetup) -> LambdaBounds | None:
    """What was known of this client's lambda before it trained."""
    if setting.rule is None or setting.lr is None or setting.momentum is None:
        return None
    steps = max((moment.steps or 0 for moment in client.rounds), default=0)
    facts = ClientFacts(client.client, client.label_counts, steps)
    largest = max((moment.base_loss for moment in client.rounds if moment.base_loss), default=10.0)
    return setting.rule.outlook(facts, setting.lr, setting.momentum, largest)


def progress_of(client: ClientHistory, row: ClientRecord, setting: TrainingSetup) -> Progress:
    """Where the client stood at the last step of this round."""
    steps = max(client.rounds[-1].steps or 0, client.started.steps if client.started else 0, 1)
    rounds = max(setting.rounds, row.round + 1)
    return Progress(max((row.steps or 0) - 1, 0), steps, round=row.round, rounds=rounds)


def reference(client: ClientHistory, case: Case) -> float | None:
    """L_b / L_a at the start: the lambda of an equilibrium before anything has moved.

    A log holds no losses; there the median felt lambda of all clients after the first round stands for it.
    """
    first = client.rounds[0]
    if first.base_loss is not None and client.started is not None and client.started.align_loss:
        return first.base_loss / client.started.align_loss
    begun = [felt for other in case.record.clients if other.rounds and (felt := other.rounds[0].lambda_felt)]
    return median(begun) if begun else None


def distance(seen: list[ClientRecord]) -> float | None:
    """Median over rounds of |log(lambda / lambda*)|."""
    apart = [
        abs(log(moment.lambda_felt / moment.lambda_star))
        for moment in seen
        if moment.lambda_felt and moment.lambda_star
    ]
    return median(apart) if apart else None
