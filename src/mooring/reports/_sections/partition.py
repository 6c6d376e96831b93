"""The partition as it was realised: "alpha" alone does not determine it."""

from dataclasses import replace

from mooring.reports._figure import Heat
from mooring.reports._report_data import ReportData, ReportedRun, seeds_of
from mooring.reports._section import Section
from mooring.reports._table import Cell, Table


def partition(data: ReportData) -> Section:
    data = replace(data, members=tuple(run for run in data.runs if run.result.partition.label_counts))
    runs = list({run.result.partition.sha256: run for run in reversed(data.shown)}.values())[::-1]
    every = {run.result.partition.sha256 for run in data.runs}
    more = f" Drawn: {len(runs)} of {len(every)} partitions; the first table has all." if len(runs) < len(every) else ""
    lead = f"How the training images lie at the clients, as it really came out.{more}"
    tables = (overview(data), clients(runs)) if runs else ()
    return Section("partition", "Partition", lead, tuple(partition_heat(run) for run in runs), tables)


def partition_heat(run: ReportedRun) -> Heat:
    partition = run.result.partition
    entropy = sum(partition.entropy) / max(len(partition.entropy), 1)
    caption = (
        f"Images of each class at each client: {partition.samples:,} in all, "
        f"size variation {partition.size_variation:.2f}, mean entropy {entropy:.2f} bits, "
        f"every image at {partition.overlap:.2f} clients on average. "
        "An empty cell is a class that this client never sees."
    )
    return Heat(
        "partition",
        "Images by client and class",
        caption,
        "class",
        "client",
        run.result.classes,
        tuple(map(run.result.site, range(len(partition.label_counts)))),
        tuple(tuple(row) for row in partition.label_counts),
        run.title,
    )


def overview(data: ReportData) -> Table:
    """One line per partition; runs that share it are counted."""
    found: dict[str | None, list[ReportedRun]] = {}
    for run in data.runs:
        found.setdefault(run.result.partition.sha256, []).append(run)
    rows: list[dict[str, Cell]] = []
    for digest, runs in found.items():
        partition = runs[0].result.partition
        rows.append(
            {
                "partition": str(digest)[:8],
                "kind": kind(runs[0]),
                "split seed": runs[0].result.seeds.split,
                "clients": partition.clients,
                "images": partition.samples,
                "mean entropy / log2 C": sum(partition.normalised_entropy) / max(len(partition.normalised_entropy), 1),
                "size variation": partition.size_variation,
                "overlap": partition.overlap,
                "coverage": partition.coverage,
                "runs": len(runs),
            }
        )
    return Table.from_rows("partitions", "Partitions", rows, folded=True)


def kind(run: ReportedRun) -> str:
    """The partitioner and its own settings."""
    tree = run.tree["partition"]
    own = [f"{key}={value}" for key, value in tree.items() if key not in ("kind", "clients", "seed") and value]
    return " ".join([tree["kind"], *own])


def clients(runs: list[ReportedRun]) -> Table:
    rows = []
    for run in runs:
        partition = run.result.partition
        columns = zip(
            partition.sizes, partition.classes_per_client, partition.entropy, partition.normalised_entropy, strict=True
        )
        rows += [(str(partition.sha256)[:8], run.result.site(client), *values) for client, values in enumerate(columns)]
    names = ("partition", "client", "images", "classes", "entropy (bits)", "entropy / log2 C")
    return Table("partition-clients", "Clients", names, tuple(rows), seeds=seeds_of(runs), folded=True)
