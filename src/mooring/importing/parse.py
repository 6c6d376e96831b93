"""From the lines of the published code to what they say."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from mooring.cells import printable
from mooring.errors import StoreError
from mooring.importing.logged import Logged, Said

NUMBER = r"([-+\w.]+)"
STAMP = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) \[")
CONFIG = "config: "
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
ACCURACY = "The test accuracy"
LARGEST_COUNT = 10**6  # of rounds and clients
LONGEST_COUNT = 15  # digits
LARGEST, SMALLEST = 1e100, 1e-100  # beyond these, squares and ratios are no numbers any more


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
    try:
        found = [finish(draft) for draft in sections(text) if draft.fused or draft.learned]
    except StoreError as error:
        raise StoreError(f"{path}: {error.problem}", error.remedy) from None
    if not found:
        raise StoreError(f"{path}: holds no round of the published code", "name a log with 'Round 0 starts' in it")
    return found


def sections(text: str) -> Iterator[Draft]:
    """Some files are several logs one after another: a new configuration begins a new one."""
    draft = Draft()
    for line in text.splitlines():
        config = config_in(line)
        if config is not None:
            yield draft
            draft = Draft(config=literal(config))
        else:
            take(line, draft)
        draft.lines.append(line)
    yield draft


def take(line: str, draft: Draft) -> None:
    """Add what one line says."""
    if found := ROUND.search(line):
        draft.round, draft.factor = counted(found[1]), parsed(found[2])
        draft.annealed |= found[2] is not None
    elif found := CLIENT.search(line):
        draft.client = counted(found[1])
    elif (found := EPOCH.search(line)) and draft.client is not None:
        draft.add(draft.client, train_accuracy=parsed(found[3]), accuracy=parsed(found[4]) or 0.0)
    elif found := SIGMAS.search(line):
        draft.learned = True
        local, align, raw = (parsed(found[i]) for i in (2, 3, 4))
        a = 1.0 if draft.factor is None else draft.factor
        felt = None if raw is None else a * raw
        draft.add(
            counted(found[1]),
            sigma_local=local,
            sigma_align=align,
            lambda_raw=raw,
            lambda_felt=felt,
            schedule_factor=a,
        )
    elif found := STATE.search(line):
        draft.learned = draft.decayed = True
        raw, s, felt = (parsed(found[i]) for i in (2, 3, 4))
        draft.add(counted(found[1]), lambda_raw=raw, lambda_felt=felt, schedule_factor=s)
    elif found := SAMPLES.search(line):
        draft.samples = int(found[1]) if len(found[1]) <= LONGEST_COUNT else None
    elif ENTROPY.search(line):
        draft.entropies += 1
    elif found := LABEL.search(line):
        draft.label = draft.label or found[1]
    elif fused := accuracy_in(line):
        draft.fused[fused[0]].setdefault(draft.round, fused[1])


def config_in(line: str) -> str | None:
    """The dictionary at the end of a line, as Python printed it."""
    _, said, rest = line.partition(CONFIG)
    return rest.rstrip() if said and rest.startswith("{") and rest.rstrip().endswith("}") else None


def accuracy_in(line: str) -> tuple[str, float] | None:
    """`The test accuracy of Ensemble: 0.4` -> ("of Ensemble", 0.4)"""
    _, said, rest = line.partition(ACCURACY)
    name, colon, number = rest.rpartition(": ")
    if not said or not colon or not re.fullmatch(NUMBER, number.rstrip()):
        return None
    return printable(name.strip(" ()")), parsed(number.strip()) or 0.0


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
    """A number; None for what is none, and for what no loss, weight or share can be: nan, inf, below 0."""
    try:
        value = float(text or "nan")
    except ValueError:
        return None
    if not 0 <= value <= LARGEST:
        return None
    return 0.0 if value < SMALLEST else value


def counted(text: str) -> int:
    """The number of a round or a client."""
    if len(text) > LONGEST_COUNT or int(text) > LARGEST_COUNT:
        raise StoreError(
            f"a log that counts rounds or clients to {text[:20]}", f"at most {LARGEST_COUNT:,} of each are read"
        )
    return int(text)
