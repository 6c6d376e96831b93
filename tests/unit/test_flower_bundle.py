"""What `flwr run` packs of this repository and sends to every node: settings, and nothing that was trained."""

import io
import shutil
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("flwr", reason="Flower: the extra flower is not installed")

from flwr.cli.build import build_fab_from_disk

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Flower's own
HOME = Path(__file__).parents[2]
SENT = {"pyproject.toml", "README.md", ".info/CONTENT"}
LARGEST = 10_000_000  # bytes that a SuperLink takes


def names_in(bundle):
    return set(zipfile.ZipFile(io.BytesIO(bundle)).namelist())


def test_the_bundle_holds_settings_alone_and_is_small():
    bundle = build_fab_from_disk(HOME)
    assert names_in(bundle) == SENT
    assert len(bundle) < LARGEST


def test_weights_and_uploads_that_lie_in_the_repository_are_not_sent(tmp_path):
    for name in ("pyproject.toml", "README.md"):
        shutil.copy(HOME / name, tmp_path)
    large = ("encoder.onnx", "model.mooring", "model.uploads.mooring", "runs/a/upload.safetensors", "src/mooring/x.npz")
    for name in (*large, "model.received/north.mooring", "images/north/0/1.png", "runs/README.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(bytes(100))
    assert names_in(build_fab_from_disk(tmp_path)) == SENT
