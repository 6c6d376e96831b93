"""Jobs, uploads and models of a federation by file: damaged, forged, or made by a site that lies."""

import json
from pathlib import Path

from federated import Federated, write_sites
from fuzz_target import Target

from mooring.errors import FederationError
from mooring.federation._answers import read_files
from mooring.federation._container import decode_container, encode
from mooring.federation._fuse import Terms, fuse_uploads
from mooring.federation._job_file import parse_time, read_job
from mooring.federation._kept_uploads import path_beside, read_kept
from mooring.federation._keys import own_identity
from mooring.federation._log import Log
from mooring.federation._model_file import load_model
from mooring.schema import canonical_json, strict_json

SITES = {"north": (5, 5, 5, 5), "south": (5, 5, 5, 0)}
MADE: dict[str, Federated] = {}  # one federation for all targets of a process


def made(folder: Path) -> Federated:
    if "federation" not in MADE:
        root = folder.parent / "a-federation"
        write_sites(root / "images", SITES, side=16)
        federated = Federated(root, tuple(SITES))
        federated.fuse(*(federated.train(site) for site in SITES))
        MADE["federation"] = federated
    return MADE["federation"]


def file_of(name: str):
    return lambda folder: (made(folder).root / name).read_bytes()


def of_job(folder: Path, content: bytes) -> str:
    path = folder / "job.mooring"
    path.write_bytes(content)
    return strict_json(read_job(path).manifest)


def of_upload(folder: Path, content: bytes) -> str:
    """As a coordinator meets it: what is set aside was refused."""
    federated, path = made(folder), folder / "north.mooring"
    path.write_bytes(content)
    job = federated.job
    files, aside = read_files(job, [path], federated.coordinator.identity.key, parse_time(job.manifest.created))
    for decision in aside:
        raise FederationError(decision.reason)
    fused = fuse_uploads(job, files, Terms())
    return f"{fused.used[0].manifest} {fused.used[0].sha256}"


def of_model(folder: Path, content: bytes) -> str:
    path = folder / "model.mooring"
    path.write_bytes(content)
    held = load_model(path)
    state = held.predictor.state_dict()
    return f"{held.provenance} {[(name, float(state[name].double().sum())) for name in sorted(state)]}"


def of_kept(folder: Path, content: bytes) -> str:
    federated, path = made(folder), folder / "model.mooring"
    path.write_bytes((federated.root / "model.mooring").read_bytes())
    path_beside(path).write_bytes(content)
    kept = read_kept(path, federated.coordinator.identity.public)
    return f"{kept.job.sha256} {[file.sha256 for file in kept.uploads]}"


def of_log(folder: Path, content: bytes) -> str:
    log, home = Log(folder / "home"), made(folder).root / "home"
    log.home.mkdir(exist_ok=True)
    (log.home / "log.head").write_bytes((home / "log.head").read_bytes())
    log.path.write_bytes(content)
    return strict_json(log.entries())


def head_of(name: str):
    """The manifest of a file, without its signature: what a forger writes anew."""

    def seed(folder: Path) -> bytes:
        return canonical_json(decode_container((made(folder).root / name).read_bytes(), None).manifest).encode()

    return seed


def signed_anew(name: str, signer: str, read):
    """The damaged manifest with a signature that holds: of the coordinator, of the site, or of a stranger."""

    def load(folder: Path, content: bytes) -> str:
        federated = made(folder)
        held = decode_container((federated.root / name).read_bytes(), None)
        try:
            manifest = json.loads(content)
            if not isinstance(manifest, dict):
                raise ValueError
            data = encode(held.kind, manifest, held.payload, own_identity(federated.root / signer).key)
        except (ValueError, RecursionError):
            raise FederationError("nobody could write this") from None
        return read(folder, data)

    return load


TARGETS = {
    "job file": Target(file_of("job.mooring"), of_job, checked=True),
    "upload file": Target(file_of("north.mooring"), of_upload, checked=True),
    "model file": Target(file_of("model.mooring"), of_model, checked=True),
    "uploads of a model": Target(file_of("model.uploads.mooring"), of_kept, checked=True),
    "log of a home": Target(file_of("home/log.jsonl"), of_log, checked=True),
    "job of a liar": Target(head_of("job.mooring"), signed_anew("job.mooring", "home", of_job)),
    "upload of a liar": Target(head_of("north.mooring"), signed_anew("north.mooring", "home-north", of_upload)),
    "model of a liar": Target(head_of("model.mooring"), signed_anew("model.mooring", "home", of_model)),
}
