"""A log of the published code as histories: one for each experiment in the file.

A log names its method sometimes wrongly and holds no alignment loss; methods are told apart by what the lines contain,
and what is inferred is said.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import isnan
from pathlib import Path
from typing import Any

from mooring.doctor.history import History, Moment, Patient, Setting
from mooring.errors import StoreError

NUMBER = r"([-+\w.]+)"
CONFIG = re.compile(r"config: (\{.*\})\s*$")
LABEL = re.compile(r"\[INFO\]\s+(Oneshot\w+|OneShot\w+):")
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
    label: str = ""
    round: int = 0
    factor: float | None = None
    client: int | None = None
    entropies: int = 0
    annealed: bool = False
    decayed: bool = False
    accuracy: dict[tuple[int, int], float] = field(default_factory=dict)  # (round, client)
    lambdas: dict[tuple[int, int], Moment] = field(default_factory=dict)
    fused: dict[str, dict[int, float]] = field(default_factory=lambda: defaultdict(dict))


def read_log(path: Path) -> list[History]:
    """Every experiment of the file that says anything about a round."""
    try:
        text = path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise StoreError(f"{path}: cannot be read ({error.strerror})", "name a log of the published code") from None
    drafts = [draft for draft in sections(text) if draft.fused or draft.lambdas]
    if not drafts:
        raise StoreError(f"{path}: holds no round of the published code", "name a log with 'Round 0 starts' in it")
    several = len(drafts) > 1
    return [finish(draft, f"{path.name} #{i}" if several else path.name) for i, draft in enumerate(drafts, 1)]


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
    yield draft


def take(line: str, draft: Draft) -> None:
    """Add what one line says."""
    if found := ROUND.search(line):
        draft.round, draft.factor = int(found[1]), parsed(found[2])
        draft.annealed |= found[2] is not None
    elif found := CLIENT.search(line):
        draft.client = int(found[1])
    elif (found := EPOCH.search(line)) and draft.client is not None:
        draft.accuracy[draft.round, draft.client] = parsed(found[4]) or 0.0
    elif found := SIGMAS.search(line):
        local, align, raw = (parsed(found[i]) for i in (2, 3, 4))
        a = 1.0 if draft.factor is None else draft.factor
        draft.lambdas[draft.round, int(found[1])] = Moment(
            draft.round,
            base_loss=local**2 if local else None,  # at the equilibrium: sigma_local^2 = L_b, sigma_align^2 = a L_a
            align_loss=align**2 / a if align and a else None,
            raw=raw,
            felt=None if raw is None else a * raw,
            factor=a,
        )
    elif found := STATE.search(line):
        draft.decayed = True
        raw, s, felt = (parsed(found[i]) for i in (2, 3, 4))
        draft.lambdas[draft.round, int(found[1])] = Moment(draft.round, raw=raw, felt=felt, factor=s)
    elif ENTROPY.search(line):
        draft.entropies += 1
    elif found := LABEL.search(line):
        draft.label = draft.label or found[1]
    elif found := ACCURACY.search(line):
        draft.fused[found[1].strip(" ()")].setdefault(draft.round, parsed(found[2]) or 0.0)


def finish(draft: Draft, title: str) -> History:
    """The history, and what was inferred."""
    method = by_content(draft)
    remarks = ["a log holds no alignment loss: where L_a is named, it is inferred from lambda and sigma"]
    if draft.label and not draft.label.lower().endswith(method):
        remarks.append(f"the log calls itself {draft.label}; by its content it is {method}")
    clients = sorted({client for _, client in draft.accuracy} | {client for _, client in draft.lambdas})
    rounds = sorted({round_ for round_, _ in draft.accuracy} | {round_ for round_, _ in draft.lambdas})
    patients = []
    for client in clients:
        moments = []
        for round_ in rounds:
            seen = draft.lambdas.get((round_, client), Moment(round_))
            accuracy = draft.accuracy.get((round_, client))
            if accuracy is not None or seen.raw is not None:
                moments.append(replace(seen, accuracy=accuracy))
        patients.append(Patient(client, None, moments=tuple(moments)))
    name, fused = next(iter(draft.fused.items()), ("", {}))
    if len(draft.fused) > 1:
        remarks.append(f"{len(draft.fused)} accuracies a round; this is '{name}'")
    return History(title, method, tuple(patients), dict(fused), setting_of(draft.config), tuple(remarks))


def by_content(draft: Draft) -> str:
    """What a log is, whatever it says it is."""
    if draft.decayed:
        return "v12"
    if draft.lambdas:
        return "v11" if draft.annealed else "v10"
    return "v9" if draft.entropies else "v7"


def setting_of(config: dict[str, Any]) -> Setting:
    server, data = config.get("server", {}), config.get("dataset", {})
    dimension = {"resnet18": 512, "resnet34": 512}.get(str(server.get("model_name")))
    return Setting(
        None,
        server.get("lr"),
        server.get("momentum"),
        data.get("train_batch_size"),
        2,
        data.get("num_classes"),
        dimension,
    )


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
