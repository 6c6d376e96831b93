"""Bytes as people say them."""


def size(nbytes: float) -> str:
    """46.1 kB, 138 MB"""
    units = ["B", "kB", "MB", "GB"]
    while nbytes >= 1000 and len(units) > 1:
        nbytes /= 1000
        units.pop(0)
    return f"{nbytes:.0f} {units[0]}" if nbytes >= 100 or units[0] == "B" else f"{nbytes:.1f} {units[0]}"
