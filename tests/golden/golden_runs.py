"""Small runs of eight methods on the digits, and what must stay the same about the files they write.

    python tests/golden/golden_runs.py            # record same_bytes.json again, with the bytes of this machine
    python tests/golden/golden_runs.py --folders  # write the two run folders in folders/ again

Results of trained networks differ in their last bits between CPU types and library versions. What must be equal
everywhere is therefore kept apart from exact bytes, which are recorded for each machine. To record another machine,
run the script at a commit whose tests pass on a machine that is already in the file.
"""

import json
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy
import torch
from capabilities import KINDS
from typer.testing import CliRunner

from mooring import Experiment, MooringError, load, run_experiment
from mooring.cli import app
from mooring.config import as_yaml
from mooring.execution._prepare import prepare

Keys = tuple[str | int, ...]  # keys and positions that lead to a value of a JSON tree

HERE = Path(__file__).parent
EXPECTED = HERE / "same_bytes.json"
FOLDERS = HERE / "folders"
REPOSITORY = HERE.parents[1]

SMALL = ("training.rounds=2", "training.local_epochs=1", "engine.workers=1", "engine.device=cpu")
METHODS: dict[str, tuple[str, ...]] = {  # method -> its own settings
    "v4": (),
    "v7": (),
    "v9": (),
    "v12": (),
    "v12-gamma": (),
    "v6": ("data.public_ratio=0.2", "bank.teacher_epochs=1"),
    "fedsra": (),
    "mooring": ("fusion.map.filters=16",),
}
BANK = ("v6",)  # methods whose job holds features of a trained teacher: its hash depends on the machine
STORED: dict[str, tuple[str, ...]] = {  # the same for the folders that are committed, as small as can be
    "v12-gamma": ("partition.clients=2", "model.width=0.3"),
    "mooring": ("partition.clients=2", "fusion.map.filters=2"),
}
OTHER_FUSION = {"v12-gamma": "iffi", "mooring": "gaussian-head"}  # of a stored folder, as `mooring fuse` keeps it
CHOICES: dict[str, tuple[str, ...]] = {  # kind of part -> settings around {}, the name of a part
    "method": ("method={}",),
    "fusion": ("method=v4", "fusion={}"),
    "weighting": ("method=v7", "weight={}"),
    "guard": ("method=v12", "weight.guard={}"),
    "sigma start": ("method=v12", "sigma.start={}"),
    "anchor": ("method=v7", "align.anchor={}"),
    "loss": ("method=v7", "align.term={}"),
    "head": ("method=v4", "method.client.head={}"),
    "model": ("method=v4", "model={}"),
    "partitioner": ("method=v4", "partition={}"),
    "data source": ("method=v4", "data={}"),
    "feature map": ("method=mooring", "fusion.map={}"),
    "solver": ("method=mooring", "fusion.solver={}"),
    "privacy": ("method=mooring", "fusion.privacy={}", "fusion.privacy.epsilon=2"),
}
OTHER_SETTINGS = (  # words of the notes, short keys and lists
    "method=v7 lambda_align_initial=3 num_rounds=4 local_epochs=2 alpha=0.3",
    "method=v9 lambda_min=1 lambda_max=4",
    "method=v12 sigma_lr=0.01 weight.gradients=joint weight.ratio=constant",
    "method=v12-gamma gamma_reg=1e-5 seed=3",
    "method=v6 alignment_epochs=2 contrastive_temperature=0.2 bank.labelled=true",
    "method=v4 clip=none training.snapshots=[0,3] training.precision=bfloat16 data.validation=0.1",
    "method=mooring encoder=none fusion.map.filters=8 fusion.solver=discriminant",
)


def golden_experiment(method: str) -> Experiment:
    [experiment] = load(
        overrides=[
            f"method={method}",
            f"out={method}",
            "partition.clients=3",
            "data.limit=240",
            *SMALL,
            *METHODS[method],
        ]
    )
    return experiment


def golden_run(method: str, parent: Path) -> Path:
    """Run it in this folder; the folder of the run, whose name in experiment.yaml is the same for everybody."""
    with chdir(parent):
        run_experiment(golden_experiment(method), threads_of_server=1)
    return parent / method


def machine() -> str:
    """What decides the last bits of a sum, as far as it is known."""
    versions = f"torch {torch.__version__}, numpy {np.__version__}, scipy {scipy.__version__}"
    return f"{versions}, {torch.backends.cpu.get_cpu_capability()}, {processor()}"


def processor() -> str:
    """Vendor and model; on systems without /proc/cpuinfo, what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return f"{platform.system()} {platform.machine()} {platform.processor()}"
    facts = dict(reversed([[word.strip() for word in line.split(":", 1)] for line in lines if ":" in line]))
    return " ".join(facts.get(name, "unknown") for name in ("vendor_id", "cpu family", "model", "model name"))


def equal_everywhere(method: str, folder: Path) -> dict[str, Any]:
    """What a run must write on every machine: settings and hashes of settings, keys and types, tensors by shape."""
    experiment = golden_experiment(method)
    result = json.loads((folder / "result.json").read_text("utf-8"))
    job = prepare(experiment)[1].canonical()
    return {
        "experiment.yaml": (folder / "experiment.yaml").read_bytes().decode("utf-8"),
        "fingerprint": experiment.fingerprint(),
        "job": job,  # a bank is added when the run begins
        "job_sha256": sha256(job.encode()).hexdigest(),
        "result.json": mapped(result, lambda path, value: of_any_machine(path, value, result["job_sha256"])),
        "events.jsonl": keys_of_events(folder),
        "uploads": contents(folder, result["job_sha256"]),
    }


def equal_on_one_machine(folder: Path) -> dict[str, Any]:
    """What a run writes whenever it is repeated on the same machine: exact bytes and numbers."""
    result = json.loads((folder / "result.json").read_text("utf-8"))
    return {
        "uploads": {name: sha256(data).hexdigest() for name, data in uploads(folder)},
        "result.json": mapped(result, lambda path, value: type(value).__name__ if varies(path) else value),
    }


def varies(path: Keys) -> bool:
    """Does this value of result.json differ from run to run: clocks, versions, and hashes of files with clocks?"""
    clock = path[-1] in ("seconds", "server_seconds", "date")
    hash_ = path == ("sha256",) or (path[0] == "files" and path[1] != "experiment.yaml")
    return clock or hash_ or path[0] in ("spent", "environment")


def of_any_machine(path: Keys, value: Any, job: str) -> Any:
    """A value of result.json; its type where it was computed from trained networks."""
    trained = isinstance(value, float) or "confusion" in path or (path[0] == "uploads" and path[-1] == "sha256")
    if value == job:
        return "job_sha256"
    return type(value).__name__ if trained or varies(path) else value


def mapped(tree: Any, change: Callable[[Keys, Any], Any], path: Keys = ()) -> Any:
    """A JSON tree with every value changed; keys and their order stay."""
    if isinstance(tree, dict):
        return {key: mapped(part, change, (*path, key)) for key, part in tree.items()}
    if isinstance(tree, list):
        return [mapped(part, change, (*path, i)) for i, part in enumerate(tree)]
    return change(path, tree)


def flat(tree: Any) -> dict[str, Any]:
    """Path -> value, in order: what differs is shown by its path."""
    found: dict[str, Any] = {}
    mapped(tree, lambda path, value: found.setdefault(".".join(map(str, path)), value))
    return found


def uploads(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of every upload."""
    for file in sorted((folder / "uploads").rglob("*.safetensors")):
        yield file.relative_to(folder).as_posix(), file.read_bytes()


def contents(folder: Path, job: str) -> dict[str, Any]:
    """What uploads hold, read without our own code: facts, names, types and shapes of tensors, and whole numbers.

    Uploads that list the same tensors name that list by its hash.
    """
    files, lists = {}, {}
    for name, data in uploads(folder):
        start = 8 + int.from_bytes(data[:8], "little")
        tensors = json.loads(data[8:start])
        metadata = tensors.pop("__metadata__")
        listed = sha256(json.dumps(tensors).encode()).hexdigest()  # places in the file too
        lists[listed] = {tensor: f"{entry['dtype']} {entry['shape']}" for tensor, entry in tensors.items()}
        places = [entry["data_offsets"] for entry in tensors.values() if entry["dtype"] == "I64"]
        whole = b"".join(data[start + first : start + last] for first, last in places)
        files[name] = {
            "metadata": list(metadata),
            "facts": metadata["mooring"].replace(job, "job_sha256"),
            "tensors": listed,
            "whole numbers": sha256(whole).hexdigest(),
            "bytes": len(data),
        }
    return {"files": files, "lists of tensors": lists}


def keys_of_events(folder: Path) -> dict[str, list[str]]:
    """Kind of event -> its keys."""
    events = [json.loads(line) for line in (folder / "events.jsonl").read_text("utf-8").splitlines()]
    return {event["event"]: list(event) for event in events}


def fingerprints() -> dict[str, list[str]]:
    """Settings -> fingerprint and SHA-256 of experiment.yaml; a part that needs settings of its own is left out."""
    choices = [" ".join(words).format(name) for kind, words in CHOICES.items() for name in KINDS[kind]]
    found = {}
    for settings in (*choices, *OTHER_SETTINGS):
        try:
            found[settings] = hashes(*load(overrides=settings.split()))
        except MooringError:
            continue
    for file in sorted((REPOSITORY / "configs").glob("*.yaml")):
        found[f"{file.name} method=v12"] = hashes(*load(file, ["method=v12"]))
    return found


def hashes(experiment: Experiment) -> list[str]:
    return [experiment.fingerprint(), sha256(as_yaml(experiment.tree()).encode()).hexdigest()]


def record(path: Path = EXPECTED) -> None:
    """Write what this machine gives; the bytes of other machines stay."""
    known = json.loads(path.read_text("utf-8"))["machines"] if path.exists() else {}
    everywhere, here = {}, {}
    with TemporaryDirectory() as place:
        for method in METHODS:
            folder = golden_run(method, Path(place))
            everywhere[method], here[method] = equal_everywhere(method, folder), equal_on_one_machine(folder)
        with chdir(place):
            settings = fingerprints()
    expected = {"fingerprints": settings, "everywhere": everywhere, "machines": known | {machine(): here}}
    path.write_text(one_line_each(expected, depth=3) + "\n", "utf-8")


def one_line_each(tree: Any, depth: int) -> str:
    """JSON whose values stand on one line each below this depth."""
    if depth == 0 or not isinstance(tree, dict):
        return json.dumps(tree)
    lines = [f"{json.dumps(key)}: {one_line_each(part, depth - 1)}" for key, part in tree.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def write_folders() -> None:
    """Two run folders as this version writes them, without locks and states of clients."""
    shutil.rmtree(FOLDERS, ignore_errors=True)
    FOLDERS.mkdir()
    for method, settings in STORED.items():
        words = [f"method={method}", f"out={method}", "data.limit=120", "data.test_limit=60", *SMALL, *settings]
        [experiment] = load(overrides=words)
        with chdir(FOLDERS):
            run_experiment(experiment, threads_of_server=1)
            CliRunner().invoke(app, ["fuse", method, "--fusion", OTHER_FUSION[method]], catch_exceptions=False)
        (FOLDERS / method / ".lock").unlink()
        shutil.rmtree(FOLDERS / method / "state", ignore_errors=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    if sys.argv[1:] == ["--folders"]:
        write_folders()
    else:
        record()
