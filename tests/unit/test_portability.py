"""The package needs nothing that only Linux and macOS have."""

import subprocess
import sys

LIKE_WINDOWS = """
import importlib, pkgutil, signal, sys
sys.modules["fcntl"] = None
del signal.pthread_sigmask
import mooring
names = [found.name for found in pkgutil.walk_packages(mooring.__path__, "mooring.")]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


def test_every_module_can_be_imported_without_what_windows_lacks():
    done = subprocess.run([sys.executable, "-c", LIKE_WINDOWS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 200
