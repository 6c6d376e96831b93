"""One experiment as its log prints it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from math import inf, isfinite, isnan
from typing import Any, TypeVar

from mooring.errors import StoreError
from mooring.notes._log_lines import ROUND, STAMP
from mooring.record import LoggedClient, NotFinite
from mooring.wording import printable


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


LARGEST_COUNT = 10**6  # of rounds and clients
LONGEST_COUNT = 15  # digits
LARGEST, SMALLEST = 1e100, 1e-100  # beyond these, squares and ratios are no numbers any more


@dataclass
class LogState:
    """Lines are added one by one; `finished` returns the result."""

    config: dict[str, Any] = field(default_factory=dict)
    configured: str = "missing"
    lines: list[str] = field(default_factory=list)
    marks: Markers = field(default_factory=Markers)
    late: list[Header] = field(default_factory=list)  # the same once more, after rounds: of the next experiment?
    round: int = 0
    round_seen: bool = False
    factor: float | None = None
    client: int | None = None
    seen: set[int] = field(default_factory=set)  # clients that began to train
    samples: int | None = None
    failure: str = ""
    said: dict[tuple[int, int], LogEntry] = field(default_factory=dict)  # (round, client)
    fused: dict[str, dict[int, float]] = field(default_factory=dict)
    client_facts: dict[int, LoggedClient] = field(default_factory=dict)
    waiting: LoggedClient | None = None  # an entropy whose client is named in the next line
    not_finite: list[NotFinite] = field(default_factory=list)

    @property
    def began(self) -> bool:
        """Is there any line of the published code?"""
        return bool(self.configured != "missing" or self.marks.headers or self.round_seen or self.said or self.fused)

    @property
    def missing(self) -> str:
        """What a run folder cannot do without, in one line; nothing if all of it is there."""
        ending = f", and ends with: {self.failure}" if self.failure else ""
        name = self.marks.headers[0].text[:60] if self.marks.headers else "an unnamed method"
        if self.fused or self.marks.sigmas or self.marks.states or self.marks.bare_states:
            return ""
        if self.round_seen and not self.said:
            return f"begins round {self.round} of {name}, and no client trains in it{ending}"
        if self.round_seen:
            last = f"client {self.client}" if self.client is not None else "a client"
            return (
                f"is cut off in round {self.round} of {name}, while {last} trains: no accuracy of the server "
                f"('The test accuracy of ...') and no learned lambda is in it{ending}"
            )
        if self.said:
            return f"contains epochs but no round ('Round 0 starts') and no accuracy of the server{ending}"
        if self.marks.headers:
            return f"names {name}, but no round ('Round 0 starts') follows{ending}"
        return f"contains a configuration, but neither a method ('Oneshot...') nor a round{ending}"

    def configure(self, config: dict[str, Any], configured: str) -> None:
        self.config, self.configured = config, configured

    def add_settings(self, found: Mapping[str, Any]) -> None:
        """V9 prints its own part of the configuration once more."""
        if "use_adaptive_lambda" in found and "v9_config" not in self.config:
            self.config = {**self.config, "v9_config": dict(found)}

    def head(self, found: re.Match[str]) -> None:
        (self.late if self.round_seen else self.marks.headers).append(header_of(found))

    def ends_before(self, said: str, header: re.Match[str] | None) -> bool:
        """Does a line begin another experiment, although no configuration stands before it?"""
        if not self.round_seen:
            return False
        if header is not None:
            return header_of(header).name_and_version not in [own.name_and_version for own in self.marks.headers]
        again = ROUND.search(said)
        return again is not None and parse_count(again[1]) == 0

    def following(self, of_this: bool) -> "LogState":
        """What the next experiment begins with: the header that stood at the end of this one."""
        return LogState(marks=Markers(list(self.late))) if of_this else LogState()

    def begin_round(self, number: int, factor: str | None) -> None:
        self.round, self.round_seen, self.client = number, True, None
        self.factor = None if factor is None else self.number(None, "annealing factor", factor)
        self.marks.factors |= factor is not None

    def add(self, client: int, **said: float | None) -> None:
        at = self.round, client
        self.said[at] = replace(self.said.get(at, LogEntry()), **said)

    def entropy(self, found: re.Match[str]) -> None:
        """Of the client that trains; before training, of the client that the next line names, or of the next one."""
        own = [None if text is None else self.number(self.client, "entropy", text) for text in found.groups()]
        if self.client is None:
            self.settle()
            self.waiting = LoggedClient(-1, *own)
            return
        self.marks.entropies_in_rounds = True
        self.client_facts.setdefault(self.client, LoggedClient(self.client, *own))
        self.add(self.client, lambda_set=own[2])

    def settle(self) -> None:
        """No client was named: clients are logged in their order."""
        if self.waiting is not None:
            client = max(self.client_facts, default=-1) + 1
            self.client_facts[client] = replace(self.waiting, client=client)
        self.waiting = None

    def start(self, client: int, text: str) -> None:
        logged = self.waiting or self.client_facts.get(client) or LoggedClient(client)
        self.client_facts[client] = replace(
            logged, client=client, lambda_start=self.number(client, "lambda_start", text)
        )
        self.waiting = None

    def set_lambda(self, text: str) -> None:
        if self.client is not None:
            value = self.number(self.client, "lambda_set", text)
            self.add(self.client, lambda_set=value)
            self.client_facts.setdefault(self.client, LoggedClient(self.client, lambda_start=value))

    def setting(self, text: str) -> float | None:
        return self.number(None, "setting", text)

    def number(self, client: int | None, quantity: str, text: str) -> float | None:
        """None for values that no loss, weight or share can have; values that are not finite are recorded."""
        value = float(text)
        if isnan(value) or abs(value) == inf:
            self.not_finite.append(NotFinite(self.round, client, quantity, str(value)))
        if not isfinite(value) or not 0 <= value <= LARGEST:
            return None
        return 0.0 if value < SMALLEST else value

    def finished(self) -> Logged:
        self.settle()
        month, seconds = dated(self.lines)
        return Logged(
            "\n".join(self.lines) + "\n",
            self.config,
            self.configured,
            self.marks,
            self.said,
            self.fused,
            dict(sorted(self.client_facts.items())),
            tuple(self.not_finite),
            self.samples,
            month,
            seconds,
            frozenset(self.seen),
        )


T = TypeVar("T")


def remember(kept: list[T], value: T | None) -> None:
    if value is not None and value not in kept:
        kept.append(value)


def header_of(found: re.Match[str]) -> Header:
    version = int(re.sub(r"\D", "", found[2])[:6]) if found[2] else None
    return Header("OTFusion" if found[3] else found[1], version, printable(found[0]).strip()[:200])


def dated(rows: list[str]) -> tuple[tuple[int, int] | None, float | None]:
    """Year and month of the first time stamp, and the seconds from there to the last."""
    stamps = [found for row in rows if (found := STAMP.search(row[:300]))]
    try:
        first, last = (
            datetime.fromisoformat(f"{stamp[1]}-{stamp[2]}-{stamp[3]} {stamp[4]}") for stamp in (stamps[0], stamps[-1])
        )
    except (IndexError, ValueError):
        return None, None
    return (first.year, first.month), (last - first).total_seconds()


def parse_count(text: str) -> int:
    """The number of a round or a client."""
    if len(text) > LONGEST_COUNT or int(text) > LARGEST_COUNT:
        raise StoreError(
            f"a log that counts rounds or clients to {text[:20]}", f"at most {LARGEST_COUNT:,} of each are read"
        )
    return int(text)
