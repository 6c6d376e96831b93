"""The server's part of a run: take uploads, fuse snapshots, keep the record."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from statistics import fmean
from time import monotonic
from typing import Any

import torch

from mooring.client import ClientJob, Device, build_bank, next_round, step_of_state
from mooring.config import Experiment
from mooring.data import Site
from mooring.errors import FusionError, MooringError, TrainingError
from mooring.evaluate import Examiner, evaluate
from mooring.events import (
    ClientFailed,
    ClientRecord,
    ClientResumed,
    ClientStarved,
    Emit,
    Event,
    FusionBegan,
    PartitionDrawn,
    Remark,
    RunInterrupted,
    RunResumed,
    SnapshotFused,
)
from mooring.execution._clock import Clock
from mooring.execution._prepare import point_to_encoder, train_once, untrained_encoder
from mooring.federation import Outcome, judge
from mooring.fusion import FeatureEnsemble, Predictor, Server, typical_of
from mooring.processes import return_freed_memory, threads
from mooring.record import (
    ENCODER_FILE,
    Absence,
    Metrics,
    Result,
    RoundRecord,
    RunWriter,
    Seeds,
    SiteRecord,
    StateFacts,
    StateFolder,
    StoredUploads,
    UploadRecord,
)
from mooring.types import PartitionSummary

MOST_JUDGED = 100  # clients: with more, the comparison takes longer than the fusion
CONSEQUENCES = {
    Outcome.NEEDS_REVIEW: "would stop and ask about it",
    Outcome.REJECTED: "would reject it",
}


@dataclass
class Running:
    """The server's part of a run: it takes uploads as they arrive, fuses a snapshot when all clients have delivered it,
    and keeps the record. Of a site it knows its name and what it sends."""

    experiment: Experiment
    job: ClientJob
    sites: tuple[Site, ...]
    server: Server
    examiner: Examiner
    writer: RunWriter
    emit: Emit
    threads: int = 1
    absent: dict[int, str] = field(default_factory=dict)  # clients that deliver nothing (more), and why
    failures: list[ClientFailed] = field(default_factory=list)
    records: dict[tuple[int, int], ClientRecord] = field(default_factory=dict)  # (round, client)
    uploads: dict[tuple[int, int], UploadRecord] = field(default_factory=dict)
    fused: dict[int, RoundRecord] = field(default_factory=dict)
    model: Predictor | None = None  # of the last round, where something is fused
    clock: Clock = field(default_factory=Clock)
    label_counts: tuple[tuple[int, ...], ...] = ()  # n_kc, once the partition is drawn

    def __post_init__(self) -> None:
        self.states = StateFolder(self.writer.path, self.experiment.fingerprint(), unsynced=self.writer.unsynced)
        self.server = replace(self.server, emit=self.note)
        self.fusion = self.experiment.method.fusion
        self.encoder_file = self.writer.path / ENCODER_FILE

    def complete_job(self) -> None:
        """Build the feature bank or the encoder that is sent with the job; then the job's hash is known."""
        bank, public = self.experiment.method.bank, self.server.public
        features = untrained_encoder(self.fusion)
        if self.fusion is not None and features is not None and public is not None:
            train_once(features, self.server, self.job, self.encoder_file)
            self.fusion = point_to_encoder(self.fusion, self.encoder_file)
            self.job = replace(self.job, needs=self.fusion.needs)
        if bank is not None and public is not None:
            built = build_bank(bank, public, self.job, self.note, Device(self.server.device))
            self.job = replace(self.job, bank=built)
        self.states.job = self.job.sha256

    def recall(self) -> RunResumed:
        """Restore the uploads and the evaluated rounds of an interrupted run from its states.

        Lines of events.jsonl that a loss of power took are written again.
        """
        for upload in self.writer.folder.uploads_on_disk():
            self.states.delivered(upload)
        known, kept = self.saved()
        self.states.uploads.clear()
        for client in sorted(client for client, facts in known.items() if facts is None and self.states.exists(client)):
            self.note(Remark(f"client {client}: its state or its uploads are not what was saved; it trains again"))
        for path in sorted(self.states.damaged):
            self.note(Remark(f"{path} is damaged; an earlier state is used"))
        events = (timed.event for timed in self.writer.folder.events)
        reported = {(event.round, event.client) for event in events if isinstance(event, ClientRecord)}
        lost = 0
        for facts in filter(None, known.values()):
            for upload in facts.uploads:
                self.uploads[upload.round, upload.client] = upload
                self.states.delivered(upload)
            for record in facts.records:
                self.keep_record(record)
                if (record.round, record.client) not in reported:
                    self.writer.record(record)
                    lost += 1
        if lost:
            self.note(Remark(f"events.jsonl had lost {lost} rounds of clients; they were written again"))
        return kept

    def saved(self) -> tuple[dict[int, StateFacts | None], RunResumed]:
        """What the newest state of every client says of itself, and how far all of them are."""
        known: dict[int, StateFacts | None] = {}
        places: list[ClientResumed] = []
        for client in (site.number for site in self.sites):
            facts, tensors = self.states.newest(client) or (None, None)
            known[client] = facts
            if tensors is not None:
                places.append(ClientResumed(client, next_round(tensors), step_of_state(tensors)))
        on_the_way = tuple(place for place in places if place.round < self.job.training.rounds)
        with_images = sum(site.size != 0 for site in self.sites)
        return known, RunResumed(with_images, len(places) - len(on_the_way), on_the_way)

    def collect(self) -> None:
        """Take all uploads; Ctrl-C says what is kept of the run."""
        try:
            self.take_uploads()
        except KeyboardInterrupt as interrupt:
            raise RunInterrupted(self.saved()[1], tuple(site.name for site in self.sites)) from interrupt

    def take_uploads(self) -> None:
        with self.clock.during("train"):
            for upload in self.experiment.engine.collect(self.job, self.sites, self.note, self.states):
                with self.clock.during("write"):
                    record = self.writer.save_upload(upload)
                self.uploads[upload.round, upload.client] = record
                self.states.delivered(record)
                if self.job.recipe.terms:  # else workers would keep their encoders in memory beside the fusion
                    self.fuse_ready()
            self.fuse_ready()

    def note(self, event: Event) -> None:
        """Every event goes to the listener; those that are kept go to the record."""
        match event:
            case ClientRecord() as record:
                self.keep_record(record)
            case PartitionDrawn(summary=summary):
                self.label_counts = summary.label_counts
            case ClientStarved(client=client):
                self.absent[client] = "starved"
            case ClientFailed(client=client) as failed:
                self.absent[client] = "failed"
                self.failures.append(failed)
        if event.kept:
            with self.clock.during("write"):
                self.writer.record(event)
        self.emit(event)

    def keep_record(self, record: ClientRecord) -> None:
        self.records[record.round, record.client] = record
        self.states.measured(record)

    def fuse_ready(self) -> None:
        """Fuse every snapshot that all clients still taking part have delivered."""
        if len(self.uploads) < len(self.sites) - len(self.absent):
            return  # spares a look at every upload after every upload
        present = {site.number for site in self.sites} - self.absent.keys()
        for round_ in self.job.kept():
            delivered = {client for at, client in self.uploads if at == round_}
            if round_ not in self.fused and delivered and delivered >= present:
                self.fuse(round_, sorted(delivered))

    def fuse(self, round_: int, clients: list[int]) -> None:
        """Evaluate a snapshot on the test images: the fused predictor, and every client alone if that is configured."""
        began = monotonic()
        self.emit(FusionBegan(round_))
        uploads = StoredUploads(self.writer.folder, tuple(self.uploads[round_, client] for client in clients))
        fusion = self.fusion
        own = [self.label_counts[client] for client in clients] if self.label_counts else []
        most = self.experiment.evaluate.images_at(round_, self.job.kept()[-1], len(clients))
        with self.clock.during("evaluate"), threads(self.examiner.threads(self.threads)):
            found = evaluate(
                fusion or FeatureEnsemble(), uploads, self.server, self.examiner, self.job.sha256, most, own
            )
        self.clock.move("evaluate", "fuse", found.server_seconds)
        self.fused[round_] = RoundRecord(
            round_,
            found.metrics if fusion else mean_of(list(found.alone.values())),
            tuple(self.row(round_, client, found.alone.get(client)) for client in clients),
            found.validation_accuracy,
            found.server_seconds,
            found.predictor.passes,
            found.alone_images,
            found.own_labels if fusion else None,
            found.training_gain if fusion else None,
        )
        if fusion is not None and round_ == max(self.fused):
            with self.clock.during("fuse"), threads(1):
                found.predictor.typical = typical_of(fusion.needs, uploads)
            self.model = found.predictor
        self.note(SnapshotFused(round_, self.fused[round_].accuracy, monotonic() - began, self.examiner.images))
        if fusion is not None and round_ == self.job.kept()[-1]:
            self.report_unusual(uploads)

    def report_unusual(self, uploads: StoredUploads) -> None:
        """Report what a federation of these clients would ask about, by the checks of `mooring fuse-files`.

        A simulation uses every upload, because there is no one to decide.
        """
        if len(uploads) > MOST_JUDGED:
            self.note(Remark(f"{len(uploads)} clients are not compared with each other as a federation by file would"))
            return
        names = {site.number: site.name for site in self.sites}
        return_freed_memory()  # of the fusion and of the evaluation
        with self.clock.during("evaluate"), threads(1):
            judged = judge(uploads, self.fusion.needs if self.fusion else frozenset(), self.job.blueprint)
        for row in (row for row in judged if row.outcome is not Outcome.USED):
            self.note(Remark(f"site {names[row.client]}: {row.text}; a federation by file {CONSEQUENCES[row.outcome]}"))

    def row(self, round_: int, client: int, alone: Metrics | None) -> ClientRecord:
        """A client's record of a round, with its own accuracy."""
        record = self.records.get((round_, client), ClientRecord(client, round_))
        return replace(record, accuracy=None if alone is None else alone.accuracy)

    def result(self) -> Result:
        """The result, without the facts that only the whole run knows."""
        if not self.fused:
            raise self.nothing_delivered()
        experiment = self.experiment
        rounds = tuple(self.fused[round_] for round_ in sorted(self.fused))
        sent = [upload.bytes for (round_, _), upload in self.uploads.items() if round_ == rounds[-1].round]
        return Result(
            method=experiment.label,
            accuracy=rounds[-1].accuracy,
            rounds=rounds,
            partition=PartitionSummary(None, len(self.sites)),
            seeds=Seeds(experiment.seed, experiment.split_seed),
            complete=not self.failures,
            dataset=experiment.data.source,
            test_images=self.examiner.images,
            image_shape=self.job.blueprint.shape,
            classes=self.job.blueprint.classes,
            sites=tuple(SiteRecord(site.number, site.name, site.size) for site in self.sites),
            fingerprint=experiment.fingerprint(),
            job_sha256=self.job.sha256,
            validation_accuracy=rounds[-1].validation_accuracy,
            absent=tuple(Absence(client, why) for client, why in sorted(self.absent.items())),
            upload_bytes=sum(sent),
            download_bytes=self.download_bytes(),
            uploads=tuple(self.uploads[key] for key in sorted(self.uploads)),
        )

    def download_bytes(self) -> int:
        """The bytes that every client receives in addition to its client job."""
        encoder = self.encoder_file.stat().st_size if self.encoder_file.exists() else 0
        return encoder + (0 if self.job.bank is None else self.job.bank.nbytes)

    def nothing_delivered(self) -> MooringError:
        """The error for a run without uploads: the first failure of a client."""
        if self.failures:
            first = self.failures[0]
            return TrainingError(first.problem, first.remedy)
        return FusionError("no client delivered anything", "give the clients images, or look into events.jsonl")


def mean_of(clients: list[Metrics]) -> Metrics:
    """The control `local-only`: every metric is the mean over the clients; confusion counts are added up."""

    def mean(values: Sequence[Any]) -> Any:
        if isinstance(values[0], tuple):  # one value per class
            return tuple(map(mean, zip(*values, strict=True)))
        return None if None in values else fmean(values)

    means = {f.name: mean([getattr(metrics, f.name) for metrics in clients]) for f in fields(Metrics)}
    confusion = torch.tensor([metrics.confusion for metrics in clients]).sum(0).tolist()
    return Metrics(**means | {"confusion": tuple(map(tuple, confusion))})
