"""The package needs nothing that only Linux and macOS have."""

import subprocess
import sys

LIKE_WINDOWS = """
import importlib, pkgutil, signal, sys
sys.modules["fcntl"] = None
del signal.pthread_sigmask
import mooring
found = pkgutil.walk_packages(mooring.__path__, "mooring.")
flower = ("engines.flower._clients", "engines.flower._simulation", "engines.flower.messages")
flower += tuple(f"flower_app.{name}" for name in ("asking", "client", "received", "server"))  # they import an extra
names = [module.name for module in found if module.name.removeprefix("mooring.") not in flower]
for name in names:
    importlib.import_module(name)
print(len(names))
"""


def test_every_module_can_be_imported_without_what_windows_lacks():
    done = subprocess.run([sys.executable, "-c", LIKE_WINDOWS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 200
