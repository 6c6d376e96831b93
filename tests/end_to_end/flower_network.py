"""A real SuperLink and real SuperNodes on this machine's loopback, with TLS and keys; all of them end with the test."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from mooring.data._digits import Digits
from mooring.flower_app._keys import make_keys

HOME = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1", "OMP_NUM_THREADS": "1"}
QUIET |= {"FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.3"}  # seconds
PATIENCE = 600  # seconds: a loaded machine starts a process of Flower in thirty


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def family(root):
    """A process, all of its session, and all below them, by id; Flower starts some in sessions of their own."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,sess="], capture_output=True, text=True, check=True).stdout
    rows = [tuple(map(int, line.split())) for line in listed.splitlines()]
    found = {root, *(pid for pid, _, session in rows if session == root)}
    while more := {pid for pid, parent, _ in rows if parent in found} - found:
        found |= more
    return found


def end_family(root):
    """All of them at once; whoever lost its parent before is found by its session."""
    for pid in family(root):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def end(process):
    end_family(process.pid)
    process.wait()


def until(what, found, process=None):
    """Wait for something that another process does."""
    last = time.monotonic() + PATIENCE
    while not (answer := found()):
        assert time.monotonic() < last, f"{what}: did not happen"
        assert process is None or process.poll() is None, f"{what}: the process has ended"
        time.sleep(0.2)
    return answer


@dataclass
class Network:
    """One SuperLink; nodes come and go."""

    folder: Path
    sites: tuple[str, ...]
    commands: Path = BIN
    port: int = field(default_factory=free_port)
    running: dict[str, subprocess.Popen] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)  # site -> port of its local interface

    def __post_init__(self):
        self.app = app_alone(self.folder / "app")
        self.keys = make_keys(self.folder / "keys", self.sites, port=self.port)
        self.environment = {
            **os.environ,
            **QUIET,
            "PATH": f"{self.commands}{os.pathsep}{os.environ['PATH']}",
            "FLWR_HOME": str(self.keys.home),
            "MOORING_HOME": str(self.folder / "coordinator"),
        }

    def start(self, name, *command, **environment):
        log = (self.folder / f"{name}.log").open("ab")
        process = subprocess.Popen(
            [str(self.commands / command[0]), *map(str, command[1:])],
            cwd=self.folder,
            env=self.environment | environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()
        self.running[name] = process
        return process

    def stop(self, name):
        end(self.running.pop(name))

    def log(self, name):
        return (self.folder / f"{name}.log").read_text("utf-8", errors="replace")

    def superlink(self, database=True):
        keys = self.keys.folder
        process = self.start(
            "superlink",
            *("flower-superlink", "--host", "127.0.0.1", "--port", self.port),
            *("--ssl-ca-certfile", keys / "ca.crt", "--ssl-certfile", keys / "superlink.crt"),
            *("--ssl-keyfile", keys / "superlink.key", "--enable-supernode-auth"),
            "--disable-runtime-dependency-installation",
            *(["--database", self.folder / "superlink.db"] if database else []),
        )
        until("the SuperLink listens", self._listens, process)

    def _listens(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def flwr(self, *arguments):
        command = [str(self.commands / "flwr"), *map(str, arguments)]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, check=False, cwd=HOME)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def register(self, site):
        self.flwr("supernode", "register", self.keys.folder / site / "key.pub", "mooring")

    def node(self, site, coordinator, key=None, port=None, name=None):
        """A SuperNode that holds this site's images."""
        settings = {"name": site, "data": self.folder / "images" / site, "home": self.folder / f"home-{site}"}
        settings["coordinator"] = coordinator
        given = [] if key == "none" else ["--auth-supernode-private-key", key or self.keys.folder / site / "key"]
        return self.start(
            name or site,
            *("flower-supernode", "--superlink", f"127.0.0.1:{port or self.port}"),
            *("--root-certificates", self.keys.folder / "ca.crt", *given),
            *("--host", "127.0.0.1", "--port", free_port()),
            *(
                "--node-config",
                " ".join(f'{key}="{value}"' for key, value in settings.items()) + " accept_disclosure=true",
            ),
            FLWR_HOME=str(self.folder / f"flower-{site}"),
        )

    def submit(self, **settings):
        """Start a run; its log grows until it has ended."""
        words = (f'{key}="{value}"' if isinstance(value, Path) else f"{key}={value}" for key, value in settings.items())
        name = f"run-{len(list(self.folder.glob('run-*.log')))}"
        self.start(name, "flwr", "run", self.app, "mooring", "--run-config", " ".join(words), "--stream")
        return name

    def ended(self, name):
        """All that a run has said, once it has ended."""
        until(f"{name} ends", lambda: self.running[name].poll() is not None, self.running["superlink"])
        self.running.pop(name)
        return self.log(name)


@contextmanager
def network(folder, *sites, commands=BIN):
    made = Network(folder, sites, commands)
    try:
        yield made
    finally:
        for name in list(made.running):
            made.stop(name)


def app_alone(folder):
    """What Flower packs of this repository; it looks at every file of a folder first, those of a .venv too."""
    folder.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(HOME / name, folder)
    return folder


def write_images(folder, labels, take, size=16):
    """Some of the digits as image files, one folder for each class."""
    digits = Digits().train()
    for label in labels:
        below = folder / digits.classes[label]
        below.mkdir(parents=True)
        for number in np.flatnonzero(digits.labels.numpy() == label)[take]:
            pixels = digits.images[number, 0].numpy()
            Image.fromarray(pixels).resize((size, size), Image.Resampling.NEAREST).save(below / f"{number}.png")
