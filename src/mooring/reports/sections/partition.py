"""Who holds what: "alpha" names different problems, the realised numbers do not."""

from dataclasses import replace

from mooring.reports.book import ReportData, Run, seeds_of
from mooring.reports.figure import Heat
from mooring.reports.section import Section
from mooring.reports.table import Table


def partition(book: ReportData) -> Section:
    book = replace(book, members=tuple(run for run in book.runs if run.result.partition.label_counts))
    runs = list({run.result.partition.sha256: run for run in reversed(book.shown)}.values())[::-1]
    every = {run.result.partition.sha256 for run in book.runs}
    more = f" Drawn: {len(runs)} of {len(every)} partitions; the first table has all." if len(runs) < len(every) else ""
    lead = f"How the training images lie at the clients, as it really came out.{more}"
    tables = (overview(book), clients(runs)) if runs else ()
    return Section("partition", "Partition", lead, tuple(heat(run) for run in runs), tables)


def heat(run: Run) -> Heat:
    told = run.result.partition
    entropy = sum(told.entropy) / max(len(told.entropy), 1)
    caption = (
        f"Images of each class at each client: {told.samples:,} in all, "
        f"size variation {told.size_variation:.2f}, mean entropy {entropy:.2f} bits, "
        f"every image at {told.overlap:.2f} clients on average. "
        "An empty cell is a class that this client never sees."
    )
    return Heat(
        "partition",
        "Images by client and class",
        caption,
        "class",
        "client",
        run.classes,
        tuple(map(run.result.site, range(len(told.label_counts)))),
        tuple(tuple(row) for row in told.label_counts),
        run.title,
    )


def overview(book: ReportData) -> Table:
    """One line per partition; runs that share it are counted."""
    found: dict[str | None, list[Run]] = {}
    for run in book.runs:
        found.setdefault(run.result.partition.sha256, []).append(run)
    rows = []
    for digest, runs in found.items():
        told = runs[0].result.partition
        rows.append(
            (
                str(digest)[:8],
                kind(runs[0]),
                runs[0].result.seeds.split,
                told.clients,
                told.samples,
                sum(told.normalised_entropy) / max(len(told.normalised_entropy), 1),
                told.size_variation,
                told.overlap,
                told.coverage,
                len(runs),
            )
        )
    columns = (
        "partition",
        "kind",
        "split seed",
        "clients",
        "images",
        "mean entropy / log2 C",
        "size variation",
        "overlap",
        "coverage",
        "runs",
    )
    return Table("partitions", "Partitions", columns, tuple(rows), folded=True)


def kind(run: Run) -> str:
    """The partitioner and its own settings."""
    tree = run.tree["partition"]
    own = [f"{key}={value}" for key, value in tree.items() if key not in ("kind", "clients", "seed") and value]
    return " ".join([tree["kind"], *own])


def clients(runs: list[Run]) -> Table:
    rows = []
    for run in runs:
        told = run.result.partition
        columns = zip(told.sizes, told.classes_per_client, told.entropy, told.normalised_entropy, strict=True)
        rows += [(str(told.sha256)[:8], run.result.site(client), *values) for client, values in enumerate(columns)]
    names = ("partition", "client", "images", "classes", "entropy (bits)", "entropy / log2 C")
    return Table("partition-clients", "Clients", names, tuple(rows), seeds=seeds_of(runs), folded=True)
