"""Files that somebody means: whole and signed, and no honest coordinator or site wrote them. None may be read.

What is damaged is a number; it chooses the lie and its details. A class may be called `=1+1` or `<b>`: that is no lie,
and whoever shows it escapes it (test_shown_text.py, test_cells.py).
"""

import json
import random
from collections.abc import Callable
from pathlib import Path

import torch
from fuzz_federation import made, of_job, of_model, of_upload
from fuzz_target import Target

from mooring.federation._container import decode_container, encode
from mooring.federation._keys import own_identity
from mooring.schema import canonical_json
from mooring.uploads import decode_tensors, encode_tensors
from mooring.uploads._codec import LENGTH

HONEST = b"0"
Tree = dict
Rng = random.Random
TRICKS = ("../../etc/passwd", "..", "a/b", "C:\\x", "\\\\host\\x", "con", "nul.txt", "=1+1", "@SUM(A1)", "<script>", "")
TRICKS += ("\x1b[2J", "\u202etxt", "a\nb", "$(id)", "`id`", "\\input{x}", "x" * 300, "north ", "-rf", "{{x}}", "%s%n")
HUGE = (2**62, 10**12, -1, 2**31, 1.5, True, None, "4", [4])


def reworded(tree: Tree, *path: str, value: object) -> Tree:
    """The tree with another value at this path."""
    key, *rest = path
    return {**tree, key: reworded(tree[key], *rest, value=value) if rest else value}


def renamed_site(manifest: Tree, rng: Rng) -> Tree:
    name = rng.choice(TRICKS)
    sites = manifest.get("sites")
    return {**manifest, "site": name} if sites is None else {**manifest, "sites": [{**sites[0], "name": name}]}


def more_words(manifest: Tree, rng: Rng) -> Tree:
    return {**manifest, rng.choice(("keY", "command", "__class__", "path")): rng.choice(TRICKS)}


def fewer_words(manifest: Tree, rng: Rng) -> Tree:
    needed = {"classes", "sites", "site", "job", "work", "experiment", "tensors", "created", "samples", "nonce"}
    gone = rng.choice(sorted(needed & manifest.keys()))
    return {key: value for key, value in manifest.items() if key != gone}


def other_type(manifest: Tree, rng: Rng) -> Tree:
    key = rng.choice(sorted(manifest))
    return {
        **manifest,
        key: rng.choice([value for value in (7.5, [[]], {"a": {}}) if type(value) is not type(manifest[key])]),
    }


def other_hash(manifest: Tree, rng: Rng) -> Tree:
    key = rng.choice([key for key in ("job", "work", "job_sha256") if key in manifest])
    return {**manifest, key: rng.choice((f"{rng.getrandbits(256):064x}"[:63] + "g", "0" * 63, "../" * 20))}


def another_job(manifest: Tree, rng: Rng) -> Tree:
    return {**manifest, rng.choice(("job", "work")): f"{rng.getrandbits(256):064x}"}  # a replay


def another_time(manifest: Tree, rng: Rng) -> Tree:
    return {**manifest, "created": rng.choice(("1999-12-31", "9999-01-01T00:00:00+00:00", "never", "2026-13-01"))}


def other_counts(manifest: Tree, rng: Rng) -> Tree:
    return {**manifest, rng.choice(("samples", "minimum")): rng.choice((-1, 0, 10**9, 21, 4))}


def other_classes(manifest: Tree, rng: Rng) -> Tree:
    first, *rest = manifest["classes"]
    return {**manifest, "classes": rng.choice(([first], [first, first], [first, *rest, "more"], ["a\nb", *rest], []))}


def other_experiment(manifest: Tree, rng: Rng) -> Tree:
    """Code, paths, sizes and settings in the tree that every site builds."""
    change = rng.choice(
        (
            (("method", "fusion", "kind"), rng.choice(("os:system", "subprocess:run", "../x", "linear"))),
            (("method", "fusion", "map"), {"kind": "onnx-file", "path": rng.choice(("/etc/passwd", *TRICKS))}),
            (("data", "size"), rng.choice((*HUGE, 17))),
            (("data", "root"), rng.choice(("/", *TRICKS))),
            (("model", "kind"), rng.choice(("resnet34", "os:system"))),
            (("training", "rounds"), rng.choice((*HUGE, 10**6))),
            (("seed",), rng.choice((-1, 2**70, "x", 1.5))),
            (("engine",), {"kind": "local", "workers": 10**6}),
        )
    )
    return {**manifest, "experiment": reworded(manifest["experiment"], *change[0], value=change[1])}


def other_limits(manifest: Tree, rng: Rng) -> Tree:
    return {**manifest, rng.choice(("minimum", "most_bytes")): rng.choice((0, -5, 2**60, None, "5"))}


def other_uploads(manifest: Tree, rng: Rng) -> Tree:
    first, *rest = manifest["uploads"]
    shape = rng.choice(([], [10**12], [-1], [2**62, 2**62]))
    return {**manifest, "uploads": rng.choice((rest, [first, first, *rest], [{**first, "shape": shape}, *rest]))}


def other_telling(manifest: Tree, rng: Rng) -> Tree:
    """Counts that are withheld where they are computed with."""
    told = {"samples": None} if "samples" in manifest else {"counts": rng.choice(("withheld", "none", "", 1, None))}
    return {**manifest, **told}


def other_method(manifest: Tree, rng: Rng) -> Tree:
    """A name that a site would approve, and something else behind it."""
    return {**manifest, "method": rng.choice(("v7", "mooring", "fedavg-1", *TRICKS))}


def other_encoder(manifest: Tree, rng: Rng) -> Tree:
    """One that whoever uses the model must have, and that it does not look through."""
    name = f"{rng.getrandbits(256):064x}"
    return {**manifest, "encoder": rng.choice((f"sha256:{name}", f"sha256:{name}:9", "/etc/passwd", *TRICKS))}


def other_shares(manifest: Tree, rng: Rng) -> Tree:
    first, *rest = manifest["sites"]
    lie = rng.choice(({"weight": 1.5}, {"weight": -0.1}, {"samples": -1}, {"upload_sha256": "x"}, {"used": "yes"}))
    return {**manifest, "sites": rng.choice(([{**first, **lie}, *rest], [first, first, *rest]))}


def other_images(manifest: Tree, rng: Rng) -> Tree:
    return {**manifest, "images_per_class": rng.choice(([1], [-1, 1, 1, 1], [1] * 5, [0.5] * 4, "1111"))}


Words = Callable[[Tree, Rng], Tree]
WORDS: dict[str, tuple[Words, ...]] = {
    "job": (
        renamed_site,
        more_words,
        fewer_words,
        other_type,
        other_classes,
        other_experiment,
        other_method,
        other_limits,
        other_telling,
        other_uploads,
    ),
    "upload": (
        renamed_site,
        more_words,
        fewer_words,
        other_type,
        other_hash,
        another_job,
        another_time,
        other_counts,
        other_telling,
        other_classes,
    ),
    "model": (more_words, other_type, other_hash, other_shares, other_images, other_encoder),
}


def lying_payload(payload: bytes, rng: Rng) -> bytes:
    """Tensors that are not numbers, have another shape or type, lie elsewhere, are too many, or too few."""
    facts, tensors = decode_tensors(payload)
    format_ = facts.pop("format")
    assert format_ == 2
    floats = [name for name in tensors if tensors[name].is_floating_point() and tensors[name].any()]
    name, other = rng.choice(floats), rng.choice(sorted(tensors))
    lie = rng.randrange(6)
    if lie == 0:
        tensors[name].view(-1)[rng.randrange(tensors[name].numel())] = rng.choice((torch.nan, torch.inf, -torch.inf))
    elif lie == 1:
        tensors[name] = tensors[name].unsqueeze(0)
    elif lie == 2:
        del tensors[other]
    elif lie == 3:
        tensors[rng.choice((*TRICKS, "more"))] = torch.ones(3)
    elif lie == 4:
        tensors[name] = tensors[name].to(torch.float16 if tensors[name].dtype == torch.float64 else torch.float64)
    else:
        return with_header(payload, rng)
    return encode_tensors(tensors, facts)


def with_header(payload: bytes, rng: Rng) -> bytes:
    """The same bytes under a header that says they are huge, or elsewhere."""
    size = int.from_bytes(payload[:LENGTH], "little")
    header = json.loads(payload[LENGTH : LENGTH + size])
    name = rng.choice([name for name in header if name != "__metadata__"])
    key = rng.choice(("shape", "data_offsets"))
    header[name][key] = rng.choice(([2**40, 2**40], [-1], [0, 2**62], [10**18], HUGE))
    told = json.dumps(header).encode()
    return len(told).to_bytes(LENGTH, "little") + told + payload[LENGTH + size :]


def lie_in(folder: Path, name: str, signer: str, rng: Rng) -> bytes:
    """One file with one lie, signed by whoever should, or by a stranger with nothing else wrong."""
    root = made(folder).root
    held = decode_container((root / name).read_bytes(), None)
    manifest, payload, who = json.loads(canonical_json(held.manifest)), bytes(held.payload), signer
    if held.kind == "upload" and rng.random() < 0.1:
        who = rng.choice(("home", "home-south", "home-stranger"))
    elif payload and rng.random() < 0.5:
        payload = lying_payload(payload, rng)
    else:
        manifest = rng.choice(WORDS[held.kind])(manifest, rng)
    return encode(held.kind, manifest, payload, own_identity(root / who).key)


def forged(name: str, signer: str, read: Callable[[Path, bytes], str]) -> Target:
    def load(folder: Path, content: bytes) -> str:
        if content == HONEST:
            return read(folder, (made(folder).root / name).read_bytes())
        return read(folder, lie_in(folder, name, signer, Rng(content)))

    def seed(folder: Path) -> bytes:
        made(folder)
        return HONEST

    return Target(seed, load, checked=True, damage=lambda _, rng: str(rng.getrandbits(64)).encode())


TARGETS = {
    "forged job": forged("job.mooring", "home", of_job),
    "forged upload": forged("north.mooring", "home-north", of_upload),
    "forged model": forged("model.mooring", "home", of_model),
}
