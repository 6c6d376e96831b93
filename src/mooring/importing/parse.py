"""From the lines of the published code to what they say."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import isnan
from pathlib import Path
from typing import Any

from mooring.errors import StoreError
from mooring.importing.logged import Logged, Said

NUMBER = r"([-+\w.]+)"
STAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \[")
CONFIG = re.compile(r"config: (\{.*\})\s*$")
LABEL = re.compile(r"\[INFO\]\s+(Oneshot\w+|OneShot\w+):")
SAMPLES = re.compile(r"Total assigned samples: (\d+)\s*$")
ROUND = re.compile(rf"Round (\d+) starts-+\|(?: Annealing Factor for this round: {NUMBER})?")
CLIENT = re.compile(r"Client (\d+) Starts Local Trainn?ing")
EPOCH = re.compile(rf"Epoch (\d+) loss: {NUMBER}; train accuracy: {NUMBER}; test accuracy: {NUMBER}")
SIGMAS = re.compile(
    rf"Client (\d+) Learned Sigmas -> L_local: {NUMBER}, L_align: (\d+\.\d+)\.? Effective Lambda: {NUMBER}"
)
STATE = re.compile(
    rf"Client (\d+) Post-Training State -> Raw λ:\s*{NUMBER} \| s\(p\): {NUMBER} "
    rf"\| Truly Effective λ \(for W\):\s*{NUMBER}"
)
ENTROPY = re.compile(rf"Adaptive Lambda: {NUMBER}")
ACCURACY = re.compile(rf"The test accuracy ?(.*): {NUMBER}\s*$")


@dataclass
class Draft:
    """What has been read of one experiment so far."""

    config: dict[str, Any] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    label: str = ""
    round: int = 0
    factor: float | None = None
    client: int | None = None
    entropies: int = 0
    learned: bool = False  # does it tell of a learned lambda?
    annealed: bool = False
    decayed: bool = False
    samples: int | None = None
    said: dict[tuple[int, int], Said] = field(default_factory=lambda: defaultdict(Said))  # (round, client)
    fused: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, client: int, **said: float | None) -> None:
        self.said[self.round, client] = replace(self.said[self.round, client], **said)


def read_logs(path: Path) -> list[Logged]:
    """Every experiment of the file that says anything about a round."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", "name a log of the published code") from None
    found = [finish(draft) for draft in sections(text) if draft.fused or draft.learned]
    if not found:
        raise StoreError(f"{path}: holds no round of the published code", "name a log with 'Round 0 starts' in it")
    return found


def sections(text: str) -> Iterator[Draft]:
    """Some files are several logs one after another: a new configuration begins a new one."""
    draft = Draft()
    for line in text.splitlines():
        found = CONFIG.search(line)
        if found:
            yield draft
            draft = Draft(config=literal(found[1]))
        else:
            take(line, draft)
        draft.lines.append(line)
    yield draft


def take(line: str, draft: Draft) -> None:
    """Add what one line says."""
    if found := ROUND.search(line):
        draft.round, draft.factor = int(found[1]), parsed(found[2])
        draft.annealed |= found[2] is not None
    elif found := CLIENT.search(line):
        draft.client = int(found[1])
    elif (found := EPOCH.search(line)) and draft.client is not None:
        draft.add(draft.client, train_accuracy=parsed(found[3]), accuracy=parsed(found[4]) or 0.0)
    elif found := SIGMAS.search(line):
        draft.learned = True
        local, align, raw = (parsed(found[i]) for i in (2, 3, 4))
        a = 1.0 if draft.factor is None else draft.factor
        felt = None if raw is None else a * raw
        draft.add(
            int(found[1]),
            sigma_local=local,
            sigma_align=align,
            lambda_raw=raw,
            lambda_felt=felt,
            schedule_factor=a,
        )
    elif found := STATE.search(line):
        draft.learned = draft.decayed = True
        raw, s, felt = (parsed(found[i]) for i in (2, 3, 4))
        draft.add(int(found[1]), lambda_raw=raw, lambda_felt=felt, schedule_factor=s)
    elif found := SAMPLES.search(line):
        draft.samples = int(found[1])
    elif ENTROPY.search(line):
        draft.entropies += 1
    elif found := LABEL.search(line):
        draft.label = draft.label or found[1]
    elif found := ACCURACY.search(line):
        draft.fused[found[1].strip(" ()")].setdefault(draft.round, parsed(found[2]) or 0.0)


def finish(draft: Draft) -> Logged:
    return Logged(
        "\n".join(draft.lines) + "\n",
        draft.config,
        draft.label,
        dict(draft.said),
        {name: dict(by_round) for name, by_round in draft.fused.items()},
        draft.entropies,
        draft.learned,
        draft.annealed,
        draft.decayed,
        draft.samples,
        duration(draft.lines),
    )


def duration(lines: list[str]) -> float | None:
    """Seconds from the first time stamp to the last."""
    stamps = [found[1] for line in lines if (found := STAMP.match(line))]
    try:
        first, last = (datetime.fromisoformat(stamp) for stamp in (stamps[0], stamps[-1]))
    except (IndexError, ValueError):
        return None
    return (last - first).total_seconds()


def literal(text: str) -> dict[str, Any]:
    """A dict as Python printed it; never evaluated."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {}
    return value if isinstance(value, dict) else {}


def parsed(text: str | None) -> float | None:
    """A number, inf included; None for nan and for what is none."""
    try:
        value = float(text or "nan")
    except ValueError:
        return None
    return None if isnan(value) else value
