"""Keep the records of the evidence runs with the code: results and events, no images and no weights.

    python studies/evidence.py pack [RUNS]      finished runs below RUNS (default: runs) -> studies/evidence.tar.xz
    python studies/evidence.py unpack [RUNS]    and back: `mooring study` and studies/bench.py find them finished
    python studies/evidence.py list             what the archive holds

The runs take hours of two cores. With their records every table and page can be written again; another fusion of
their uploads needs the runs themselves. Packing adds to what the archive has, and never removes from it.
"""

import io
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

ARCHIVE = Path(__file__).parent / "evidence.tar.xz"
OF_A_RUN = ("environment.json", "events.jsonl", "experiment.yaml", "result.json")
BELOW = ("studies", "bench", "precision")  # folders of RUNS that hold evidence


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
        case ["pack", *rest]:
            pack(Path(*rest) if rest else Path("runs"))
        case ["unpack", *rest]:
            unpack(Path(*rest) if rest else Path("runs"))
        case ["list"]:
            print("\n".join(str(Path(name).parent) for name in archived() if name.endswith("result.json")))
        case _:
            sys.exit(__doc__)
