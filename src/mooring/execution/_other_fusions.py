"""Train once, fuse many: other fusions over the uploads of a finished run, without training again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path

import torch

from mooring.client import ClientJob
from mooring.config import HOUSE_CODE, Experiment, Trust, job_of, load_experiment_of_run
from mooring.data import Federation, reading_progress
from mooring.engines import device_of_server
from mooring.errors import ConfigError, DataError, FusionError, PartitionError, StoreError
from mooring.evaluate import Examiner, evaluate
from mooring.events import Emit, Remark, silent
from mooring.execution._model import model_of
from mooring.execution._prepare import point_to_encoder, prepare, require_server_images, server_of
from mooring.federation import EncoderKept
from mooring.fusion import Fusion, Server, typical_of
from mooring.methods import track_of
from mooring.processes import keep_freed_memory, threads
from mooring.record import (
    ENCODER_FILE,
    FusionRecord,
    Result,
    RunFolder,
    user_errors_kept,
    write_atomically,
    write_record,
)
from mooring.schema import strict_json, to_tree
from mooring.types import Upload
from mooring.uploads import Encoder, Part, Parts, Prototypes, encode, extract_parts, network_of_upload
from mooring.user_code import as_raised, listening
from mooring.wording import round_number


def fuse(
    folder: Path | str,
    fusions: Iterable[Fusion],
    clients: Sequence[int] | None = None,
    round_: int | None = None,
    emit: Emit = silent,
    overrides: Sequence[str] = (),
    trust: Trust = HOUSE_CODE,
) -> Iterator[FusionRecord]:
    """Fuse the uploads of the run in `folder` by each rule; by default all clients and the last round.

    Uploads and test images are read, nothing else. A part that the run did not upload is computed again by the client
    that trained: in a simulation its network and its images are available. Bytes count an upload for this rule alone.
    `overrides` say where the data is now: data.root=...

    >>> from mooring import fuse, load_fusions
    >>> [row.fusion for row in fuse("runs/v12", load_fusions("class-expert,iffi"))]
    ['class-expert', 'iffi']
    """
    finished = FinishedRun.open(Path(folder), emit, overrides, trust)
    uploads = finished.uploads(finished.chosen_round(round_), clients)
    for fusion in fusions:
        yield finished.fuse(fusion, uploads)


def fusion_of(folder: Path, overrides: Sequence[str] = (), trust: Trust = HOUSE_CODE) -> Fusion | None:
    """The rule of a run with all its settings; None if it fuses nothing. Reads no image."""
    return recorded_experiment(RunFolder(folder), overrides, trust).method.fusion


def recorded_experiment(folder: RunFolder, overrides: Sequence[str], trust: Trust) -> Experiment:
    """The experiment of a finished run; an error if the run was imported or its clients trained by another."""
    folder.own_result, folder.experiment_file  # noqa: B018  # both raise an error
    return load_experiment_of_run(folder.path, overrides, trust)


@dataclass
class FinishedRun:
    """A finished run, opened again. Its training images are read only if a rule needs them."""

    folder: RunFolder
    experiment: Experiment
    job: ClientJob
    examiner: Examiner
    emit: Emit = silent
    _federation: Federation | None = field(default=None, repr=False)

    @classmethod
    def open(
        cls, path: Path, emit: Emit = silent, overrides: Sequence[str] = (), trust: Trust = HOUSE_CODE
    ) -> "FinishedRun":
        """Open a run; an error if it has no uploads, or if the test images have changed."""
        keep_freed_memory()
        folder = RunFolder(path)
        experiment, result = recorded_experiment(folder, overrides, trust), folder.own_result
        with reading_progress(emit):
            examiner = Examiner(experiment.data, result.classes, device_of_server(experiment.engine))
        if result.test_images not in (None, examiner.images):
            raise StoreError(
                f"{path}: was evaluated on {result.test_images} test images, and there are {examiner.images} now",
                "restore them, or say where they lie with data.root=...",
            )
        job = job_of(experiment, examiner.shape, examiner.classes)
        return cls(folder, experiment, job, examiner, listening(emit))

    @property
    def result(self) -> Result:
        return self.folder.own_result

    def federation(self, reason: str) -> Federation:
        """The images of all clients, with the reason shown; an error if they have changed since the run."""
        if self._federation is None:
            self.emit(Remark(f"the training images are opened: {reason}"))
            try:
                with reading_progress(self.emit):
                    federation, _ = prepare(self.experiment)
            except (DataError, PartitionError) as error:
                raise FusionError(
                    f"{reason}, and the training images are gone: {error.problem}", error.remedy
                ) from None
            known = self.result.data_sha256, self.result.partition.sha256
            if (federation.digest(), federation.summary().sha256) != known:
                raise FusionError(
                    f"{self.folder.path}: its data or partition has changed since the run, and {reason}",
                    "restore the data or run again",
                )
            self._federation = federation
        return self._federation

    def server(self, fusion: Fusion) -> Server:
        """The server, with public or validation images if the rule or the run needs them."""
        if fusion.asks or self.experiment.data.validation:
            wanted = " and ".join(sorted(fusion.asks)) or "validation"
            federation = self.federation(f"the server's {wanted} images were taken from them")
            require_server_images(fusion, federation)
            return replace(server_of(self.experiment, federation, self.job), emit=self.emit)
        device = device_of_server(self.experiment.engine).name
        return Server(self.job.blueprint, self.experiment.seed, emit=self.emit, device=device)

    def chosen_round(self, round_: int | None) -> int:
        rounds = sorted({upload.round for upload in self.result.uploads})
        if round_ is None:
            return rounds[-1]
        if round_ not in rounds:
            kept = ", ".join(str(round_number(index)) for index in rounds)
            raise ConfigError([f"round {round_number(round_)}: was not kept by this run; kept rounds: {kept}"])
        return round_

    def uploads(self, round_: int, clients: Sequence[int] | None = None) -> list[Upload]:
        """What these clients uploaded after this round."""
        records = self.result.delivered(round_)
        wanted = sorted(records) if clients is None else sorted(set(clients))
        for client in wanted:
            if client not in records:
                valid = ", ".join(map(str, sorted(records)))
                raise ConfigError([f"client {client}: uploaded nothing in this run; valid: {valid}"])
        return [self.folder.upload(records[client]) for client in wanted]

    def fuse(
        self, fusion: Fusion, uploads: Sequence[Upload], out: Path | None = None, in_model: EncoderKept = "named"
    ) -> FusionRecord:
        """Fuse by one rule, keep the record in `fusions/`, and write the predictor to `out` if it is given.
        Exceptions of `emit` are raised unchanged."""
        return as_raised(lambda: self._fuse(fusion, uploads, out, in_model))

    def _fuse(self, fusion: Fusion, uploads: Sequence[Upload], out: Path | None, in_model: EncoderKept) -> FusionRecord:
        with user_errors_kept(self.folder.path), threads(self.examiner.threads(torch.get_num_threads())):
            ready = point_to_encoder(fusion, self.folder.path / ENCODER_FILE)
            server = self.server(ready)
            complete = [self.completed(upload, ready.needs) for upload in uploads]
            found = evaluate(ready, complete, server, self.examiner)
        made = found.predictor.made
        row = FusionRecord(
            fusion=fusion.kind,
            track=track_of(fusion),
            method=self.experiment.label,
            fingerprint=self.result.fingerprint,
            seeds=self.result.seeds,
            round=uploads[0].round,
            clients=tuple(upload.client for upload in uploads),
            metrics=found.metrics,
            settings=to_tree(fusion),
            validation_accuracy=found.validation_accuracy,
            upload_bytes=sum(len(encode(upload)) for upload in complete),
            server_seconds=found.server_seconds,
            passes=found.predictor.passes,
            test_images=self.examiner.images,
            head=None if made is None else made.solver,
            expected_accuracy=None if made is None else made.expected_accuracy,
        )
        self.keep(row)
        if out is not None:
            facts = (fusion, self.experiment, self.result, row.round, row.clients)
            with threads(1):
                found.predictor.typical = typical_of(ready.needs, complete)
            write_atomically(out, model_of(found.predictor, *facts, in_model))
        return row

    def completed(self, upload: Upload, needs: Parts) -> Upload:
        """The upload with exactly the parts that `needs` names; missing ones are computed as the client would do."""
        blueprint = self.job.blueprint
        names = {name for part in needs for name in part.expected(blueprint)}
        tensors = {name: tensor for name, tensor in upload.tensors.items() if name in names}
        missing = frozenset(part for part in needs if not self.holds(upload, part))
        if missing:
            with_model = all(self.holds(upload, part) for part in (Encoder(), Prototypes()))
            if not with_model and any(part.trained for part in missing):
                raise FusionError(
                    f"client {upload.client}: uploaded no whole model in this run of {self.experiment.name}",
                    "choose a fusion over statistics, or a method whose clients train",
                )
            network = network_of_upload(upload, blueprint) if with_model else blueprint.build(torch.Generator())
            lacking = ", ".join(sorted(part.kind for part in missing))
            federation = self.federation(f"client {upload.client} did not upload {lacking}")
            tensors |= extract_parts(missing, network, federation.sites()[upload.client].shard())
        return replace(upload, tensors=tensors)

    def holds(self, upload: Upload, part: Part) -> bool:
        return all(name in upload.tensors for name in part.expected(self.job.blueprint))

    def keep(self, row: FusionRecord) -> None:
        """Write one file per rule, settings, round and clients; the same fusion gets the same file name."""
        identity = strict_json([row.settings, row.round, row.clients])
        name = f"{row.fusion}-{sha256(identity.encode()).hexdigest()[:8]}.json"
        write_record(self.folder.path / "fusions" / name, row, self.folder.path)
