"""Files of a run folder, and logs: what others may have damaged or made up."""

import shutil
from pathlib import Path

from fuzz_target import Target

from mooring import load, run_experiment
from mooring.config import parse
from mooring.config._tree import read_file
from mooring.doctor import case_of_log, examine
from mooring.errors import ConfigError, StoreError
from mooring.execution import fuse
from mooring.notes._imports import read_imports
from mooring.record import RunFolder, StateFolder
from mooring.schema import record_tree, strict_json

SMALL = ["data.limit=60", "partition.clients=2", "training.rounds=1", "training.local_epochs=1", "engine.workers=1"]
MADE: dict[str, Path] = {}  # one run for all targets of a process


def made(folder: Path) -> Path:
    """A copy of a small finished run, in this folder."""
    if "run" not in MADE:
        source = folder.parent / "a-run"
        (experiment,) = load(overrides=["method=v12", *SMALL, f"out={source}"])
        run_experiment(experiment)
        list(fuse(source, [experiment.method.fusion]))
        MADE["run"] = source
    shutil.copytree(MADE["run"], folder / "run")
    return folder / "run"


def inside(name: str, read, checked: bool = True) -> Target:
    """A file of the run folder, found by a pattern, read by `read(run folder)`."""

    def seed(folder: Path) -> bytes:
        return next(made(folder).glob(name)).read_bytes()

    def reading(folder: Path, content: bytes) -> str:
        next((folder / "run").glob(name)).write_bytes(content)
        return read(folder / "run")

    return Target(seed, reading, checked)


def upload_of(folder: Path) -> str:
    opened = RunFolder(folder)
    tensors = opened.upload(opened.result.uploads[0]).tensors
    return " ".join(f"{name} {tensor.double().sum()}" for name, tensor in sorted(tensors.items()))


def unrecorded_upload(folder: Path) -> str:
    """As a receiver meets it, without a record that knows its hash."""
    from mooring.uploads._codec import decode

    upload = decode((folder / "uploads/round-000/client-0000.safetensors").read_bytes())
    told = " ".join(f"{name} {tensor.double().sum()}" for name, tensor in sorted(upload.tensors.items()))
    return f"{upload.client} {upload.round} {upload.samples} {upload.site} {upload.job} {told}"


def state_of(folder: Path) -> str:
    """A damaged state is passed over, and its client begins again: counted as refused."""
    opened = RunFolder(folder)
    states = StateFolder(folder, str(opened.result.fingerprint), str(opened.result.job_sha256))
    for upload in opened.uploads_on_disk():
        states.delivered(upload)
    facts, tensors = states.facts(0), states.last(0)
    if facts is None or tensors is None:
        raise StoreError("the state is damaged", "its client begins again")
    return f"{facts} {sorted(tensors)}"


def log_of(folder: Path, content: bytes) -> str:
    path = folder / "old.log"
    path.write_bytes(content)
    told = []
    for imported in read_imports(path):
        diagnosis = examine(case_of_log(imported.record, imported.settings, path.name))
        told.append(strict_json([record_tree(imported.result), [finding.words for finding in diagnosis.findings]]))
    return "\n".join(told)


def log_seed(folder: Path) -> bytes:
    from old_logs import log_of as lines_of
    from old_logs import v11_rounds

    return lines_of("OneshotOursV11", v11_rounds()).encode()


def configuration(folder: Path, content: bytes) -> str:
    """Every problem has a line of its own: the first stands for all."""
    (folder / "own.yaml").write_bytes(content)
    try:
        (experiment,) = parse(read_file(folder / "own.yaml"))
    except ConfigError as error:
        raise ConfigError(error.problems[:1]) from None
    return strict_json(experiment.tree())


TARGETS = {
    "upload": inside("uploads/round-000/client-0000.safetensors", upload_of),
    "upload without record": inside("uploads/round-000/client-0000.safetensors", unrecorded_upload),
    "state": inside("state/client-0000.state", state_of),
    "result.json": inside("result.json", lambda folder: strict_json(RunFolder(folder).result)),
    "events.jsonl": inside(
        "events.jsonl", lambda folder: strict_json(list(map(str, RunFolder(folder).record.clients)))
    ),
    "experiment.yaml": inside("experiment.yaml", lambda folder: RunFolder(folder).experiment_file.read_text()),
    "fusions/*.json": inside("fusions/*.json", lambda folder: strict_json(list(RunFolder(folder).fusions))),
    "configuration": Target(lambda folder: (made(folder) / "experiment.yaml").read_bytes(), configuration),
    "log": Target(log_seed, log_of),
}
