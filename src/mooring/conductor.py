"""From an experiment to its result: one direction, no way back to the clients."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import fmean
from time import monotonic
from typing import Any

import torch

from mooring.bank import build_bank
from mooring.client import ClientJob
from mooring.config import Experiment, as_yaml, load
from mooring.data.clients import Federation
from mooring.doctor.forecast import all_facts, foresee
from mooring.engines.memory import keep_freed_memory
from mooring.errors import FusionError, MooringError, StoreError
from mooring.evaluate import Examiner, Metrics
from mooring.fusion import FeatureEnsemble
from mooring.judge import judge
from mooring.prepare import prepare, server_of
from mooring.store import FORMAT, RunStore, finished, found_uploads, opened, read_events, read_upload
from mooring.store.vault import Vault
from mooring.types import Emit, Event

RUNS = Path("runs")
TRACED = ("base_loss", "align_loss", "lambda_raw", "lambda", "lambda_star", "train_accuracy")
REPORTED = ("balanced_accuracy", "macro_f1", "calibration_error", "per_class_accuracy", "confusion")


def run(
    experiment: Experiment, emit: Emit = lambda _: None, again: bool = False, threads: int | None = None
) -> dict[str, Any]:
    """Run an experiment and return its result; a finished one is returned at once unless `again`.

    `threads` of this process while it fuses and evaluates; without it, one per core.
    """
    folder = folder_of(experiment)
    if not again:
        result = finished(folder, experiment.fingerprint())
        if result is not None:
            return unchanged(result, experiment, folder)
    began = monotonic()
    torch.set_num_threads(1)  # beside the workers, not against them
    keep_freed_memory()  # evaluation is twice as fast
    federation, job = prepare(experiment)
    examiner = Examiner(experiment.data, federation.train.classes)
    going_on = not again and interrupted(folder, experiment)
    with opened(folder, as_yaml(experiment.tree()), going_on) as store:
        vault = Vault(folder, experiment.fingerprint())
        conductor = Conductor(experiment, federation, job, examiner, store, vault, emit, threads or os.cpu_count() or 1)
        conductor.equip()
        if going_on:
            conductor.recall()
        conductor.conduct()
        result = conductor.result(monotonic() - began)
        store.finish(result)
    return result


def unchanged(result: dict[str, Any], experiment: Experiment, folder: Path) -> dict[str, Any]:
    """A finished result, unless the user's own files behind it have changed: a fingerprint knows only their names."""
    if experiment.partition.kind == "file" or experiment.data.source in ("arrays", "image_folder"):
        federation, _ = prepare(experiment)
        if (federation.summary()["sha256"], federation.digest()) != (
            result["partition"]["sha256"],
            result["data_sha256"],
        ):
            raise StoreError(
                f"out={folder}: its data or partition file has changed since this result", "repeat it with --again"
            )
    if experiment.method.track == "frozen encoder":
        _, job = prepare(experiment)
        names = {name for part in job.needs for name in part.expected(job.blueprint)}
        if not names <= read_upload(folder, result["uploads"][0]).tensors.keys():
            raise StoreError(
                f"out={folder}: the frozen encoder's file has changed since this result", "repeat it with --again"
            )
    return result


def interrupted(folder: Path, experiment: Experiment) -> bool:
    """Is this very experiment waiting here to go on? Another one that waits is not thrown away."""
    if not (folder / "state").is_dir():
        return False
    try:
        [waiting] = load(folder / "experiment.yaml")
    except MooringError:
        return True  # damaged, and about to be written again; the states know themselves whose they are
    if waiting.fingerprint() != experiment.fingerprint():
        raise StoreError(
            f"out={folder}: holds an interrupted run of another experiment ({waiting.name}, "
            f"fingerprint {waiting.fingerprint()[:8]})",
            "choose another folder with out=..., or repeat with --again to replace it",
        )
    return True


def folder_of(experiment: Experiment) -> Path:
    return Path(experiment.out) if experiment.out else RUNS / experiment.title


@dataclass
class Conductor:
    """Takes uploads as they arrive, fuses a snapshot when all clients have delivered it, keeps the books."""

    experiment: Experiment
    federation: Federation
    job: ClientJob
    examiner: Examiner
    store: RunStore
    vault: Vault
    emit: Emit
    threads: int
    absent: dict[int, str] = field(default_factory=dict)  # clients that deliver nothing (more), and why
    failed: bool = False
    records: dict[tuple[int, int], Mapping[str, Any]] = field(default_factory=dict)  # (round, client)
    uploads: dict[tuple[int, int], dict[str, Any]] = field(default_factory=dict)
    fused: dict[int, dict[str, Any]] = field(default_factory=dict)

    def equip(self) -> None:
        """Build the feature bank that travels with the job."""
        bank, public = self.experiment.method.bank, self.federation.public
        if bank is not None and public is not None:
            self.job = replace(self.job, bank=build_bank(bank, public, self.job, self.note))

    def recall(self) -> None:
        """What an interrupted run has already done: uploads that a state relies on, and the rounds before them."""
        records = list(found_uploads(self.store.folder))
        for record in records:
            self.vault.delivered(record["client"], record["round"], record["sha256"])
        vouched = {client: self.vault.vouched(client) for client in range(self.federation.clients)}
        for path in sorted(self.vault.damaged):
            self.note(Event("damaged", {"file": str(path), "text": f"{path} is damaged; an earlier state is used"}))
        for record in records:
            if vouched.get(record["client"], {}).get(record["round"]) == record["sha256"]:
                self.uploads[record["round"], record["client"]] = record
        for event in read_events(self.store.folder):
            if event["event"] == "round":
                self.records[event["round"], event["client"]] = event

    def conduct(self) -> None:
        self.note(Event("partition", self.federation.summary()))
        for finding in foresee(self.job, all_facts(self.job, self.federation)):
            self.note(Event("forecast", asdict(finding)))
        for payload in self.experiment.engine.collect(self.job, self.federation, self.note, self.vault):
            record = self.store.save_upload(payload)
            self.uploads[payload.round, payload.client] = record
            self.vault.delivered(payload.client, payload.round, str(record["sha256"]))
            self.fuse_ready()
        self.fuse_ready()

    def note(self, event: Event) -> None:
        """Every event goes to the listener; all but progress ticks go to the record."""
        if event.name == "round":
            self.records[int(str(event.fields["round"])), int(str(event.fields["client"]))] = event.fields
        if event.name in ("starved", "failed"):
            self.absent[int(str(event.fields["client"]))] = event.name
            self.failed |= event.name == "failed"
        if event.name not in ("tick", "server"):
            self.store.record(event)
        self.emit(event)

    def fuse_ready(self) -> None:
        """Fuse every snapshot that all clients still taking part have delivered."""
        if len(self.uploads) < self.federation.clients - len(self.absent):
            return  # spares a look at every upload after every upload
        present = set(range(self.federation.clients)) - self.absent.keys()
        for round_ in self.job.kept():
            delivered = {client for at, client in self.uploads if at == round_}
            if round_ not in self.fused and delivered and delivered >= present:
                self.fuse(round_, sorted(delivered))

    def fuse(self, round_: int, clients: list[int]) -> None:
        """One snapshot: the fused predictor and every client by itself, on the official test set."""
        began = monotonic()
        self.emit(Event("fusing", {"round": round_}))
        payloads = [self.store.load_upload(self.uploads[round_, client]) for client in clients]
        torch.set_num_threads(self.threads)  # by now at most the last clients are still training
        fusion = self.experiment.method.fusion
        server = server_of(self.experiment, self.federation, self.job, self.note)
        judged = judge(fusion or FeatureEnsemble(), payloads, server, self.examiner)
        torch.set_num_threads(1)
        metrics = asdict(judged.metrics) if fusion else mean_of(list(judged.alone.values()))
        own = {client: alone.accuracy for client, alone in judged.alone.items()}
        rows = [{"client": client, **self.traced(round_, client), "accuracy": own.get(client)} for client in clients]
        cost = {"server_seconds": judged.server_seconds, "passes": judged.passes}
        if judged.validation is not None:
            metrics["validation_accuracy"] = judged.validation
        self.fused[round_] = {"round": round_, **metrics, **cost, "clients": rows}
        self.note(Event("fused", {"round": round_, "accuracy": metrics["accuracy"], "seconds": monotonic() - began}))

    def traced(self, round_: int, client: int) -> dict[str, Any]:
        record = self.records.get((round_, client), {})
        return {name: record.get(name) for name in TRACED}

    def result(self, seconds: float) -> dict[str, Any]:
        """What `result.json` says."""
        if not self.fused:
            raise FusionError("no client delivered anything", "give the clients images, or look into events.jsonl")
        experiment, last = self.experiment, self.fused[max(self.fused)]
        return {
            "format": FORMAT,
            "complete": not self.failed,
            "method": experiment.name,
            "dataset": experiment.data.source,
            "data_sha256": self.federation.digest(),
            "fingerprint": experiment.fingerprint(),
            "seeds": {"training": experiment.seed, "split": experiment.split_seed},
            "accuracy": last["accuracy"],
            "validation_accuracy": last.get("validation_accuracy"),
            **{name: last[name] for name in REPORTED},
            "rounds": [self.fused[round_] for round_ in sorted(self.fused)],
            "clients": self.federation.clients,
            "absent": [{"client": client, "reason": why} for client, why in sorted(self.absent.items())],
            "partition": self.federation.summary(),
            "download_bytes": 0 if self.job.bank is None else self.job.bank.nbytes,  # to each client, once
            "uploads": [self.uploads[key] for key in sorted(self.uploads)],
            "seconds": seconds,
        }


def mean_of(clients: list[Metrics]) -> dict[str, Any]:
    """The control `local-only`: every metric is the mean over the clients; confusion counts are added up."""
    numbers = {
        name: fmean(getattr(metrics, name) for metrics in clients)
        for name in ("accuracy", "balanced_accuracy", "macro_f1", "calibration_error")
    }
    by_class = zip(*(metrics.per_class_accuracy for metrics in clients), strict=True)
    confusion = torch.tensor([metrics.confusion for metrics in clients]).sum(0).tolist()
    return numbers | {
        "per_class_accuracy": [None if None in column else fmean(column) for column in by_class],
        "confusion": confusion,
    }
