"""What the bytes of a run depend on beyond its configuration."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version

VERSIONED = ("mooring", "torch", "numpy", "scipy", "scikit-learn", "safetensors")


def environment() -> dict[str, object]:
    versions = {}
    for package in VERSIONED:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "unknown"
    return {
        "python": platform.python_version(),
        "packages": versions,
        "system": platform.system(),
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }
