"""Compare three methods over three seeds, and write the tables for a paper."""

import mooring

swept = mooring.sweep(
    ["v4", "v12", "afl"],
    seeds=range(3),
    baseline="v4",
    data="digits",
    clients=5,
    alpha=0.5,
    rounds=2,
    local_epochs=2,
    limit=300,
    out="sweeps/compare",
)
print(swept)
print(swept.summary().to_string(index=False))
print("tables:", swept.report("latex"))
print("page:", swept.report("html"))
