"""python supply/sbom.py [FILE]: the packages that are installed beside this Python, as a CycloneDX 1.5 document."""

import json
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path


def component(found: Distribution) -> dict[str, object]:
    name, version = found.metadata["Name"].lower().replace("_", "-"), found.version
    about: dict[str, object] = {
        "type": "library",
        "bom-ref": f"pkg:pypi/{name}@{version}",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name}@{version}",
    }
    licence = found.metadata.get("License-Expression")
    if licence:
        about["licenses"] = [{"expression": licence}]
    return about


def document() -> dict[str, object]:
    found = {own["bom-ref"]: own for own in map(component, distributions())}
    parts = [found[name] for name in sorted(found)]
    subject = next(own for own in parts if own["name"] == "mooring")
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {**subject, "type": "application"}},
        "components": [own for own in parts if own is not subject],
    }


if __name__ == "__main__":
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "sbom.json")
    out.write_text(json.dumps(document(), indent=1) + "\n", "utf-8")
    print(out)
