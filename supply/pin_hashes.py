"""Write supply/requirements-sites.txt: every package of `mooring[encoder]` with its version and SHA-256.

The versions are those of constraints.txt, the hashes those of the package index that pip is configured with. torch is
left out: its builds (CPU, CUDA) have the same version and different hashes, and each site chooses one.
"""

import json
import platform
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

HOME = Path(__file__).parents[1]
OUT = Path(__file__).parent / "requirements-sites.txt"
LEFT_OUT = ("mooring", "torch")
HEAD = """\
# What a site installs beside mooring and torch, for {python} on {system} {machine}. Made by supply/pin_hashes.py.
#   pip install --require-hashes --no-deps -r requirements-sites.txt
# torch {torch} is not here: its builds (CPU, CUDA) differ in their hashes. Choose one, and compare it with `pip hash`.
"""


def resolved() -> list[dict[str, object]]:
    """What pip would install, from wheels alone; nothing is installed."""
    with TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        words = [
            "--dry-run",
            "--ignore-installed",
            "--only-binary",
            ":all:",
            "--no-binary",
            "mooring",
            "--quiet",
            "--report",
            str(report),
        ]
        command = [sys.executable, "-m", "pip", "install", *words, "-c", "constraints.txt", ".[encoder]"]
        subprocess.run(command, cwd=HOME, check=True)
        installs: list[dict[str, object]] = json.loads(report.read_text("utf-8"))["install"]
    return installs


def pinned(install: dict) -> tuple[str, str, str]:
    """Name, version and SHA-256 of a wheel."""
    name = install["metadata"]["name"].lower().replace("_", "-")
    digest = install["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", "")
    return name, install["metadata"]["version"], digest


def text_of(installs: list[dict]) -> str:
    rows = sorted(map(pinned, installs))
    torch = next(version.partition("+")[0] for name, version, _ in rows if name == "torch")
    python = f"CPython {platform.python_version_tuple()[0]}.{platform.python_version_tuple()[1]}"
    head = HEAD.format(python=python, system=platform.system(), machine=platform.machine(), torch=torch)
    lines = []
    for name, version, digest in rows:
        if name in LEFT_OUT:
            continue
        if not digest:
            raise SystemExit(f"{name} {version}: the index gives no SHA-256")
        lines.append(f"{name}=={version} --hash=sha256:{digest}\n")
    return head + "".join(lines)


if __name__ == "__main__":
    OUT.write_text(text_of(resolved()), "utf-8")
    print(OUT)
