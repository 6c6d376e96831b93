"""One experiment as its log tells it."""

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any


@dataclass(frozen=True)
class Said:
    """What a log says of one client in one round; None where it says nothing."""

    train_accuracy: float | None = None  # of the last epoch
    accuracy: float | None = None  # of the client alone, on the test set
    lambda_raw: float | None = None  # as the rule has it
    lambda_felt: float | None = None  # as the weights felt it, by the log's own account
    schedule_factor: float | None = None  # the annealing factor, s(p)
    sigma_local: float | None = None
    sigma_align: float | None = None


@dataclass(frozen=True)
class Logged:
    """One experiment: its configuration and what was said, by (round, client)."""

    text: str = field(repr=False)  # the lines themselves
    config: dict[str, Any]
    label: str  # what it calls itself, sometimes wrongly
    said: dict[tuple[int, int], Said]
    fused: dict[str, dict[int, float]]  # server -> round -> accuracy
    entropies: int = 0  # how many lambdas were set by entropy
    learned: bool = False  # does it tell of a learned lambda?
    annealed: bool = False
    decayed: bool = False
    samples: int | None = None  # of all clients
    seconds: float | None = None

    @property
    def method(self) -> str:
        """What it is by its content, whatever it says it is; its own word counts where the content does not tell."""
        if self.decayed:
            return "v12"
        if self.learned:
            return "v11" if self.annealed else "v10"
        if self.entropies:
            return "v9"
        return "v4" if re.search(r"V4$", self.label, re.IGNORECASE) else "v7"

    @cached_property
    def by_round(self) -> dict[int, dict[int, Said]]:
        """round -> client -> what was said, both in their order"""
        found: dict[int, dict[int, Said]] = {}
        for (round_, client), said in sorted(self.said.items()):
            found.setdefault(round_, {})[client] = said
        return found

    @cached_property
    def clients(self) -> list[int]:
        return sorted({client for _, client in self.said})

    @property
    def rounds(self) -> list[int]:
        return list(self.by_round)

    @property
    def server(self) -> tuple[str, dict[int, float]]:
        """The first accuracy of every round: its name, and by round."""
        return next(iter(self.fused.items()), ("", {}))

    def section(self, name: str) -> dict[str, Any]:
        """A part of the configuration, empty where it is missing or no mapping."""
        part = self.config.get(name)
        return part if isinstance(part, dict) else {}
