"""Commands that begin with everything imported: each a process of its own, forked from one that runs no thread.

A federation over Flower on one machine is some twenty processes, and importing is nearly all that most of them do. The
launchers in `bin` are called as the commands that they stand for, by a shell or by Flower itself; each hands its
arguments, environment, folder and open files to the process that forks, hands on what it is told by `kill`, and ends
with the exit code of the command.
"""

import atexit
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from contextlib import contextmanager
from importlib import import_module
from importlib.metadata import entry_points
from multiprocessing import get_context
from pathlib import Path

from flower_network import end_family

from mooring.processes._starting import without_main

FLOWER = ("flower-superlink", "flower-supernode", "flower-superexec", "flwr", "flwr-clientapp", "flwr-serverapp")
MODULES = (  # imported by the commands on their way
    *("mooring.flower_app.client", "mooring.flower_app.server", "mooring.flower_app._keys", "mooring.cli.coordinator"),
    *("flwr.cli.run", "flwr.cli.supernode", "flwr.superlink.main", "flwr.supernode.main"),
)
LARGEST = 1_000_000  # bytes of arguments and environment
LAUNCHER = """#!{python} -SE
import json, os, signal, socket, sys
with socket.socket(socket.AF_UNIX) as asked:
    asked.connect({address!r})
    order = json.dumps([os.path.basename(sys.argv[0]), sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(asked, [len(order).to_bytes(4, "big")], [0, 1, 2])
    asked.sendall(order)
    process = int.from_bytes(asked.recv(4), "big")
    signal.signal(signal.SIGTERM, lambda number, frame: os.kill(process, number))
    answer = asked.recv(1)
sys.exit(answer[0] if answer else 1)
"""


@contextmanager
def warm_commands():
    """A folder of launchers for `mooring` and the commands of Flower, to be put first into PATH; all of them end."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))  # short: the name of a socket has 100 letters at most
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket"))
        listener.listen(64)
        process = get_context("forkserver").Process(target=serve, args=(listener,))
        with without_main():
            process.start()
    (folder / "bin").mkdir()
    for name in ("mooring", *FLOWER):
        launcher = folder / "bin" / name
        launcher.write_text(LAUNCHER.format(python=sys.executable, address=str(folder / "socket")))
        launcher.chmod(0o755)
    try:
        yield folder / "bin"
    finally:
        end_family(process.pid)
        process.join()
        shutil.rmtree(folder)


def serve(listener):
    """Import once, then fork for everybody who asks."""
    import torch

    torch.set_num_threads(1)
    commands = {entry.name: entry.load() for entry in entry_points(group="console_scripts") if entry.name in FLOWER}
    commands["mooring"] = import_module("mooring.cli").main
    for name in MODULES:
        import_module(name)
    assert threading.active_count() == 1, "a process with threads cannot be forked"
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits here: they are attended by another
    while True:
        asked, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            attend(asked, commands)
        asked.close()


def attend(asked, commands):
    """Start one command, wait for it, and tell its exit code."""
    size, files, _, _ = socket.recv_fds(asked, 4, 3)
    order = bytearray()
    while len(order) < int.from_bytes(size, "big") <= LARGEST:
        order += asked.recv(65_536)
    if process := os.fork():
        asked.sendall(process.to_bytes(4, "big"))
        code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        asked.sendall(bytes([code % 256]))
        os._exit(0)
    asked.close()
    os._exit(carried_out(commands, files, *json.loads(order)))


def carried_out(commands, files, name, arguments, folder, environment):
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = [name, *arguments]
    code = 0
    try:
        code = commands[name]()
    except SystemExit as stop:
        code = stop.code
    except BaseException:
        sys.excepthook(*sys.exc_info())
        code = 1
    finally:
        threading._shutdown()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    return code if isinstance(code, int) else int(code is not None)
