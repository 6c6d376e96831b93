"""The evidence on real images: run it, and keep its records with the code (results and events, no images, no weights).

    nice -n 19 python studies/evidence.py run DATA    every step that is not finished, below runs/; packed after each
    python studies/evidence.py pack [RUNS]            finished runs below RUNS (default: runs) -> evidence.tar.xz
    python studies/evidence.py unpack [RUNS]          and back: later commands find these runs finished
    python studies/evidence.py list                   what the archive holds

DATA is the folder of CIFAR-10, CIFAR-100 and SVHN. All of it takes about ten hours of two cores. It can be interrupted
and called again at any time: unpack first where runs/ is empty. With the records every table and page can be written
again; another fusion of the uploads needs the runs themselves. Packing adds to the archive and never removes from it.
"""

import io
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

ARCHIVE = Path(__file__).parent / "evidence.tar.xz"
OF_A_RUN = ("environment.json", "events.jsonl", "experiment.yaml", "result.json")
BELOW = ("studies", "bench", "precision", "explore")  # folders of RUNS that hold evidence
STUDIES = Path(__file__).parent
STEPS: tuple[tuple[str, ...], ...] = (  # most wanted first
    ("study", "5"),
    ("study", "1"),
    ("study", "3"),
    ("study", "2"),
    ("study", "4"),
    ("bench", "trained"),
)


def run(data: Path, runs: Path) -> None:
    """Step by step; a step that fails is named, and the others go on."""
    here = {**os.environ, "MOORING_DATA": str(data.resolve())}
    mooring = str(Path(sys.executable).parent / "mooring")
    runs.mkdir(parents=True, exist_ok=True)
    for kind, name in STEPS:
        command = {
            "study": [mooring, "study", name, "scale=cpu", f"out={runs / 'studies' / f'{name}-cpu'}", "--quiet"],
            "bench": [sys.executable, str(STUDIES / "bench.py"), name],
        }[kind]
        print(f"{kind} {name}", flush=True)
        ended = subprocess.run(command, env=here, check=False)
        if ended.returncode:
            print(f"{kind} {name}: exit code {ended.returncode}", flush=True)
        pack(runs)


def records(runs: Path) -> Iterator[Path]:
    """Records of finished runs, other fusions of them, and the plans of their sweeps."""
    for name in BELOW:
        for result in sorted((runs / name).rglob("result.json")):
            yield from (result.parent / file for file in OF_A_RUN if (result.parent / file).exists())
            yield from sorted((result.parent / "fusions").glob("*.json"))
        yield from sorted((runs / name).rglob("sweep.yaml"))
        yield from sorted((runs / name).rglob("fused/*.json"))
        yield from sorted((runs / name).rglob("study.json"))


def archived() -> dict[str, bytes]:
    if not ARCHIVE.exists():
        return {}
    with tarfile.open(ARCHIVE) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}  # type: ignore[union-attr]


def pack(runs: Path) -> None:
    content = archived() | {str(path.relative_to(runs)): path.read_bytes() for path in records(runs)}
    with tarfile.open(ARCHIVE, "w:xz", preset=9) as archive:
        for name, text in sorted(content.items()):
            member = tarfile.TarInfo(name)
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
    print(f"{ARCHIVE.name}: {count(content)} runs, {ARCHIVE.stat().st_size / 1e6:.1f} MB")


def unpack(runs: Path) -> None:
    content = archived()
    for name, text in content.items():
        path = runs / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text)
    print(f"{count(content)} runs below {runs}")


def count(content: dict[str, bytes]) -> int:
    return sum(Path(name).name == "result.json" for name in content)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["run", data]:
            run(Path(data), Path("runs"))
        case ["pack", *rest]:
            pack(Path(*rest) if rest else Path("runs"))
        case ["unpack", *rest]:
            unpack(Path(*rest) if rest else Path("runs"))
        case ["list"]:
            print("\n".join(str(Path(name).parent) for name in archived() if name.endswith("result.json")))
        case _:
            sys.exit(__doc__)
