"""A federation over a real SuperLink: refused without the right key, equal to local training, nothing trained twice."""

import os
import re
import runpy
import shutil
import subprocess

import pytest

pytest.importorskip("flwr", reason="Flower: the extra flower is not installed")

from flower_network import HOME, QUIET, end, free_port
from warm_commands import warm_commands

from mooring.client import run_client
from mooring.events import silent
from mooring.federation.job_file import read_job
from mooring.federation.model_file import load_model
from mooring.federation.train import folder_of
from mooring.federation.upload_file import read_upload
from mooring.flower_app.keys import make_keys
from mooring.uploads.codec import encode

PAGE = HOME / "docs/flower.md"
FENCE = re.compile(r"^```(?P<info>\w+)\n(?P<text>(?:.*\n)*?)^```$", re.MULTILINE)


def blocks(info):
    return [found["text"] for found in FENCE.finditer(PAGE.read_text("utf-8")) if found["info"] == info]


def local(job, site, images):
    """What `run_client` makes of a site's folder, here, in the bytes of the codec."""
    *_, last = run_client(job.work, folder_of(job, site, images), silent)
    return encode(last)


def received(folder, site):
    [path] = folder.glob(f"{site}-*.mooring")
    return encode(read_upload(path).upload)


def used(model):
    return [site.name for site in load_model(model).provenance.used]


def shell(lines, environment, folder):
    """Commands in one shell, as a reader types them."""
    text = "\n".join(["set -e", *lines])
    return subprocess.Popen(
        ["bash", "-c", text], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True
    )


def app_alone(folder):
    """What Flower packs of this repository; it looks at every file of a folder first, those of a .venv too."""
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(HOME / name, folder)
    return folder


def told_in(log, word):
    """A shell waits until a command in the background has said something."""
    return f"until grep -q '{word}' federation/{log}.log; do sleep 0.1; done"


def test_the_ten_commands_of_the_page_make_one_model_of_what_the_sites_would_upload_by_file(
    tmp_path, monkeypatch, forking
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "images.py").write_text(blocks("python")[0])
    runpy.run_path("images.py")
    make_keys(tmp_path / "stranger", ["north"])
    *_, commands = blocks("sh")
    lines = commands.splitlines()
    assert len(lines) == 10
    ports = {port: str(free_port()) for port in ("8000", "8001", "8002", "8003")}
    lines[0] += f" --port {ports['8000']}"
    [planning] = [number for number, line in enumerate(lines) if line.startswith("mooring plan")]
    lines[planning] += " encoder.filters=8"  # what is sent is the same, and less of it
    for old, new in ports.items():
        lines[1:] = [line.replace(old, new) for line in lines[1:]]
    stranger = lines[5].replace("federation/north/key", "stranger/north/key").replace("north.log", "stranger.log")
    stranger = stranger.replace(ports["8001"], str(free_port()))
    keyless = lines[5].replace("--auth-supernode-private-key federation/north/key", "").replace("north.log", "no.log")
    keyless = keyless.replace(ports["8001"], str(free_port()))
    refused = [told_in(log, "Exit Code") for log in ("no", "stranger")]
    with warm_commands() as launchers:
        environment = {**os.environ, **QUIET, "PATH": f"{launchers}{os.pathsep}{os.environ['PATH']}"}
        environment |= {"MOORING": str(app_alone(tmp_path / "app")), "MOORING_HOME": str(tmp_path / "coordinator")}
        listening = told_in("superlink", "Uvicorn running")
        process = shell(
            [*lines[:4], listening, lines[4], stranger, keyless, *lines[5:9], *refused, lines[9]], environment, tmp_path
        )
        try:
            out, _ = process.communicate(timeout=400)
        finally:
            end(process)
    told = "\n".join(path.read_text() for path in sorted((tmp_path / "federation").glob("*.log")))
    assert process.returncode == 0, out + told
    job = read_job(tmp_path / "job.mooring")
    for site in job.site_names:
        assert received(tmp_path / "model.received", site) == local(job, site, tmp_path / "images" / site)
    assert used(tmp_path / "model.mooring") == ["north", "south", "east"]
    for log in ("stranger.log", "no.log"):
        text = (tmp_path / "federation" / log).read_text()
        assert "SuperNode ID" not in text
        assert "Exit Code" in text
