"""Things that are done in a process of their own: with little memory, or as the installed command."""

import os
import subprocess
import sys
from pathlib import Path

import mooring

SOURCES = str(Path(mooring.__file__).parents[1])
LIMIT = """
import resource

def limit(megabytes):
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + megabytes * 2**20,) * 2)
"""
COMMAND = """
import sys
from mooring.cli import main

for words in sys.argv[1:]:
    sys.argv = ["mooring", *words.split()]
    try:
        main()
    except SystemExit as end:
        if end.code:
            print(words, "ended with", end.code, file=sys.stderr)
"""


def answers(code, here):
    """What Python code prints, line by line; it may call limit(megabytes) once its libraries are loaded."""
    done = python(["-c", LIMIT + code], here)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def installed(tmp_path, megabytes=None):
    """The command as pip installs it, a script in a folder of its own: Python looks there for modules. It takes
    several commands, each as one argument."""
    script = tmp_path / "bin" / "mooring"
    script.parent.mkdir(exist_ok=True)
    little = "" if megabytes is None else f"{LIMIT}\nlimit({megabytes})\n"
    script.write_text(little + COMMAND)
    return lambda here, *commands: python([str(script), *commands], here)


def python(arguments, here):
    environment = os.environ | {"PYTHONPATH": SOURCES}
    return subprocess.run(
        [sys.executable, *arguments], cwd=here, env=environment, capture_output=True, text=True, check=False
    )
