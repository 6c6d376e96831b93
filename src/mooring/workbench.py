"""Train once, fuse many: other fusions over the uploads of a finished run, without training again."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from mooring.client import ClientJob
from mooring.config import Experiment, load
from mooring.config.tree import to_tree
from mooring.data.clients import Federation
from mooring.engines.memory import keep_freed_memory
from mooring.errors import ConfigError, FusionError, StoreError
from mooring.evaluate import Examiner
from mooring.fusion import Fusion
from mooring.fusion.base import rebuild
from mooring.judge import examined
from mooring.methods import track_of
from mooring.prepare import equipped, prepare, server_of
from mooring.store import encode, read_result, read_upload, strict_json, write_atomically
from mooring.types import Emit, Upload
from mooring.uploads import Encoder, Part, Parts, Prototypes, extract


def fuse(
    folder: Path | str,
    fusions: Iterable[Fusion],
    clients: Sequence[int] | None = None,
    round_: int | None = None,
    emit: Emit = lambda _: None,
) -> Iterator[dict[str, Any]]:
    """Fuse the uploads of the run in `folder` by each rule; all clients and the last round unless told otherwise.

    What a rule needs and the run did not upload is computed once more by the client that trained (this is a
    simulation: its network and its images are at hand); bytes are those of an upload made for this rule alone.
    """
    bench = Workbench.open(Path(folder), emit)
    payloads = bench.uploads(bench.chosen_round(round_), clients)
    for fusion in fusions:
        yield bench.fuse(fusion, payloads)


@dataclass(frozen=True)
class Workbench:
    """A finished run, opened again."""

    folder: Path
    experiment: Experiment
    result: dict[str, Any]
    federation: Federation
    job: ClientJob
    examiner: Examiner
    emit: Emit

    @classmethod
    def open(cls, folder: Path, emit: Emit = lambda _: None) -> "Workbench":
        """Refused if the data is no longer what the clients trained on."""
        keep_freed_memory()
        result = read_result(folder)
        if result.get("imported"):
            raise StoreError(
                f"{folder}: was imported from {result['log']}, which holds no uploads", "fuse a run made here"
            )
        (experiment,) = load(folder / "experiment.yaml")
        federation, job = prepare(experiment)
        if (federation.digest(), federation.summary()["sha256"]) != (
            result["data_sha256"],
            result["partition"]["sha256"],
        ):
            raise StoreError(
                f"{folder}: its data or partition has changed since the run", "restore the data or run again"
            )
        examiner = Examiner(experiment.data, federation.train.classes)
        return cls(folder, experiment, result, federation, job, examiner, emit)

    def records(self, round_: int) -> dict[int, dict[str, Any]]:
        """What `result.json` says of each client's upload."""
        return {int(upload["client"]): upload for upload in self.result["uploads"] if upload["round"] == round_}

    def delivered(self, round_: int) -> list[int]:
        return sorted(self.records(round_))

    def chosen_round(self, round_: int | None) -> int:
        rounds = sorted({int(upload["round"]) for upload in self.result["uploads"]})
        if round_ is None:
            return rounds[-1]
        if round_ not in rounds:
            raise ConfigError([f"round={round_}: was not kept by this run; valid: {', '.join(map(str, rounds))}"])
        return round_

    def uploads(self, round_: int, clients: Sequence[int] | None = None) -> list[Upload]:
        """What these clients uploaded after this round."""
        records = self.records(round_)
        wanted = sorted(records) if clients is None else sorted(set(clients))
        for client in wanted:
            if client not in records:
                valid = ", ".join(map(str, sorted(records)))
                raise ConfigError([f"client {client}: uploaded nothing in this run; valid: {valid}"])
        return [read_upload(self.folder, records[client]) for client in wanted]

    def fuse(self, fusion: Fusion, payloads: Sequence[Upload]) -> dict[str, Any]:
        """One rule: what `fusions/` keeps of it."""
        equipped(fusion, self.federation)
        server = server_of(self.experiment, self.federation, self.job, self.emit)
        complete = [self.completed(payload, fusion.needs) for payload in payloads]
        judged = examined(fusion, complete, server, self.examiner)
        row = {
            "fusion": fusion.kind,
            "track": track_of(fusion),
            "method": self.experiment.name,
            "fingerprint": self.result["fingerprint"],
            "seeds": self.result["seeds"],
            "round": payloads[0].round if payloads else None,
            "clients": [payload.client for payload in payloads],
            **asdict(judged.metrics),
            "validation_accuracy": judged.validation,
            "upload_bytes": sum(len(encode(payload)) for payload in complete),
            "server_seconds": judged.server_seconds,
            "passes": judged.passes,
            "settings": to_tree(fusion),
        }
        self.keep(row)
        return row

    def completed(self, payload: Upload, needs: Parts) -> Upload:
        """Exactly what `needs` names: what was uploaded, and what its client would have uploaded for another rule."""
        blueprint = self.job.blueprint
        names = {name for part in needs for name in part.expected(blueprint)}
        tensors = {name: tensor for name, tensor in payload.tensors.items() if name in names}
        missing = frozenset(part for part in needs if not self.holds(payload, part))
        if missing:
            with_model = all(self.holds(payload, part) for part in (Encoder(), Prototypes()))
            if not with_model and any(part.trained for part in missing):
                raise FusionError(
                    f"client {payload.client}: uploaded no whole model in this run of {self.experiment.name}",
                    "choose a fusion over statistics, or a method whose clients train",
                )
            network = rebuild(payload, blueprint) if with_model else blueprint.build(torch.Generator())
            tensors |= extract(missing, network, self.federation.shard(payload.client))
        return replace(payload, tensors=tensors)

    def holds(self, payload: Upload, part: Part) -> bool:
        return all(name in payload.tensors for name in part.expected(self.job.blueprint))

    def keep(self, row: dict[str, Any]) -> None:
        """One file per rule, settings, round and clients; fusing the same again writes the same name."""
        identity = strict_json([row["settings"], row["round"], row["clients"]])
        name = f"{row['fusion']}-{sha256(identity.encode()).hexdigest()[:8]}.json"
        write_atomically(self.folder / "fusions" / name, (strict_json(row, indent=1) + "\n").encode())
