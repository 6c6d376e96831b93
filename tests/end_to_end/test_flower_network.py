"""A federation over a real SuperLink: refused without the right key, equal to local training, nothing trained twice."""

import json
import os
import re
import runpy
import subprocess

import pytest

pytest.importorskip("flwr", reason="Flower: the extra flower is not installed")

from flower_network import HOME, QUIET, app_alone, end, free_port, network
from warm_commands import warm_commands

from mooring.client import run_client
from mooring.events import silent
from mooring.federation._job_file import read_job
from mooring.federation._model_file import load_model
from mooring.federation._train import folder_of
from mooring.federation._upload_file import read_upload
from mooring.flower_app._keys import make_keys
from mooring.uploads._codec import encode

PAGE = HOME / "docs/flower.md"
ACTIVE = "SuperNode ID"  # what a SuperNode says once it has been let in
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


def typed(text, environment, folder):
    """A shell that reads these lines as it reads what somebody pastes; what it starts ends with the test."""
    process = subprocess.Popen(
        ["bash"],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, _ = process.communicate(text, timeout=400)
    finally:
        end(process)
    return process.returncode, out


def test_the_ten_commands_of_the_page_make_one_model_of_what_the_sites_would_upload_by_file(
    tmp_path, monkeypatch, forking
):
    """As they are printed, pasted at once; but for the ports, which another test on this machine may have taken."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "images.py").write_text(blocks("python")[0])
    runpy.run_path("images.py")
    *_, commands, stop = blocks("sh")
    assert len(commands.splitlines()) == 10
    port = {printed: str(free_port()) for printed in ("8000", "8001", "8002", "8003")}
    commands = commands.replace("--out federation", f"--out federation --port {port['8000']}", 1)
    for printed, other in port.items():
        commands = commands.replace(printed, other)
    after = ["code=$?", stop, "wait", "exit $code\n"]
    with warm_commands() as launchers:
        environment = {**os.environ, **QUIET, "PATH": f"{launchers}{os.pathsep}{os.environ['PATH']}"}
        environment |= {"MOORING": str(app_alone(tmp_path / "app")), "MOORING_HOME": str(tmp_path / "coordinator")}
        code, out = typed(commands + "\n".join(after), environment, tmp_path)
    told = "\n".join(path.read_text() for path in sorted((tmp_path / "federation").glob("*.log")))
    assert code == 0, out + told
    job = read_job(tmp_path / "job.mooring")
    for site in job.site_names:
        assert received(tmp_path / "model.received", site) == local(job, site, tmp_path / "images" / site)
    assert used(tmp_path / "model.mooring") == ["north", "south", "east"]
    for server in ("superlink", *job.site_names):  # and what ends them does
        assert "Application shutdown complete" in (tmp_path / f"federation/{server}.log").read_text()
        assert server == "superlink" or ACTIVE in (tmp_path / f"federation/{server}.log").read_text()


def test_a_node_with_a_wrong_key_or_without_one_is_never_let_in(tmp_path, forking):
    stranger = make_keys(tmp_path / "stranger", ["north"]).folder / "north/key"
    with warm_commands() as launchers, network(tmp_path, "north", commands=launchers) as net:
        net.superlink(database=False)
        net.register("north")
        nodes = [net.node("north", "", stranger, name="stranger"), net.node("north", "", "none", name="keyless")]
        for node in nodes:
            node.wait()
        [registered] = json.loads(net.flwr("supernode", "list", "mooring", "--format", "json"))["nodes"]
        rejections = [net.log("stranger"), net.log("keyless")]
    assert "[code: 2004] Failed to activate SuperNode." in rejections[0]
    assert "[code: 2001] SuperNode authentication is enabled." in rejections[1]
    assert not any(ACTIVE in rejection for rejection in rejections)
    assert registered["status"] == "registered"  # and never online


def test_a_mistake_in_the_settings_of_a_run_is_one_line_and_the_run_has_failed(tmp_path, forking):
    with warm_commands() as launchers, network(tmp_path, "north", commands=launchers) as net:
        net.superlink(database=False)
        name = net.submit(job='"/nowhere.mooring"', deadline='"soon"')
        process = net.running[name]
        said = net.ended(name)
        [run] = json.loads(net.flwr("list", "mooring", "--format", "json"))["runs"]
    assert "mooring: --run-config deadline=soon: must be a number; write " in said
    assert "Traceback" not in said
    assert run["status"] == "finished:failed"
    assert process.returncode == 0  # of `flwr run --stream`, however the run ended: the page says where to look instead
