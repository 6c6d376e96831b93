"""One experiment as its log prints it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mooring.record import LoggedClient, NotFinite


@dataclass(frozen=True)
class LogEntry:
    """What a log prints about one client in one round; None if it prints nothing."""

    train_accuracy: float | None = None  # of the last epoch
    accuracy: float | None = None  # of the client alone, on the test set
    lambda_set: float | None = None  # by the configuration or by the entropy rule, before this round's training
    lambda_raw: float | None = None  # as it was learned
    lambda_printed: float | None = None  # "truly effective"
    schedule_factor: float | None = None  # the annealing factor, s(p)
    sigma_local: float | None = None
    sigma_align: float | None = None


@dataclass(frozen=True)
class Header:
    """The line in which a method names itself."""

    name: str  # Ours, FedAvg, OTFusion, ...
    version: int | None  # of Ours
    text: str  # the whole line

    @property
    def name_and_version(self) -> tuple[str, int | None]:
        return self.name.lower(), self.version


@dataclass
class Markers:
    """Everything in a log that distinguishes methods; a value that is repeated is listed once."""

    headers: list[Header] = field(default_factory=list)
    bracketed: list[int] = field(default_factory=list)  # versions in `[OneshotOursV14] Loading ...`
    preheated: list[str] = field(default_factory=list)  # V12 in `Pre-heating V12 models`
    strategies: list[str] = field(default_factory=list)  # of V11's annealing
    gammas: list[float] = field(default_factory=list)
    ceilings: list[float] = field(default_factory=list)  # lambda_max
    sigma_rates: list[float] = field(default_factory=list)
    bank: list[str] = field(default_factory=list)  # enabled, disabled, created
    stages: list[int] = field(default_factory=list)
    sigmas: bool = False  # `Learned Sigmas`
    states: bool = False  # `Post-Training State` with s(p)
    bare_states: bool = False  # the same without s(p)
    factors: bool = False  # `Annealing Factor for this round`
    entropies_in_rounds: bool = False


@dataclass(frozen=True)
class Logged:
    """One experiment: its configuration, and its entries by (round, client)."""

    text: str = field(repr=False)  # the lines themselves
    config: Mapping[str, Any]
    configured: str  # "read", "missing", or why it cannot be read
    marks: Markers
    said: Mapping[tuple[int, int], LogEntry]
    fused: Mapping[str, Mapping[int, float]]  # server -> round -> accuracy
    client_facts: Mapping[int, LoggedClient] = field(default_factory=dict)  # before training
    not_finite: tuple[NotFinite, ...] = ()
    samples: int | None = None  # of all clients
    month: tuple[int, int] | None = None  # year and month of the first line
    seconds: float | None = None
    seen: frozenset[int] = frozenset()  # clients that began to train
    left_out: tuple[str, ...] = ()  # other experiments of the same file

    @cached_property
    def by_round(self) -> dict[int, dict[int, LogEntry]]:
        """round -> client -> entry, both sorted"""
        found: dict[int, dict[int, LogEntry]] = {}
        for (round_, client), said in sorted(self.said.items()):
            found.setdefault(round_, {})[client] = said
        return found

    @cached_property
    def clients(self) -> list[int]:
        return sorted({client for _, client in self.said} | set(self.client_facts) | self.seen)

    @property
    def rounds(self) -> list[int]:
        return list(self.by_round)

    @property
    def server(self) -> tuple[str, Mapping[int, float]]:
        """The first accuracy of every round: its name, and by round."""
        return next(iter(self.fused.items()), ("", {}))

    def section(self, name: str) -> Mapping[str, Any]:
        """A section of the configuration; empty if it is missing or not a mapping."""
        part = self.config.get(name)
        return part if isinstance(part, dict) else {}

    def course(self, client: int) -> list[float]:
        """The learned lambda of a client in every round that prints a finite number."""
        return [
            said.lambda_raw
            for (_, who), said in sorted(self.said.items())
            if who == client and said.lambda_raw is not None
        ]
