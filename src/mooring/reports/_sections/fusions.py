"""The same uploads under other fusion rules."""

from collections.abc import Sequence

from mooring.fusion import head_cells
from mooring.methods import TRACKS
from mooring.record import FusionRecord
from mooring.reports._accuracies import metric_cells
from mooring.reports._figure import Dots, Figure
from mooring.reports._report_data import ReportData, ReportedRun, SeedGroup
from mooring.reports._section import Section
from mooring.reports._sections.drawing import side_by_side
from mooring.reports._table import Cell, Table, average
from mooring.schema import to_tree
from mooring.wording import round_number

FusionLabel = tuple[str, str]  # name, which clients


def fusions(data: ReportData) -> Section:
    groups = [group for group in data.groups if any(run.fusions for run in group.runs)]
    if not groups:
        return Section("fusions", "Fusions", "")
    lead = "How the server fuses is a choice of its own; nothing was trained again for these."
    note = "(own) is the rule of the run itself. Passes: encoders that one prediction goes through."
    rows = [row for group in groups for row in fusion_rows(group)]
    tracks = [track for track in TRACKS if any(row["track"] == track for row in rows)]
    tables = tuple(
        Table.from_rows(
            slug(track, tracks), f"Fusions: {track}", [row for row in rows if row["track"] == track], note, folded=True
        )
        for track in tracks
    )
    colours = {group.label: data.colour(group.label) for group in groups}
    figures = tuple(figure(groups, colours, track, slug(track, tracks)) for track in tracks)
    return Section("fusions", "Fusions", lead, figures, tables)


def slug(track: str, tracks: Sequence[str]) -> str:
    return "fusions" if len(tracks) == 1 else f"fusions-{track.replace(' ', '-')}"


def rules(group: SeedGroup) -> dict[FusionLabel, list[FusionRecord]]:
    """Every rule under which uploads of this group were fused, the best first."""
    found: dict[FusionLabel, list[FusionRecord]] = {}
    for run in group.runs:
        own = own_rule(run)
        found.setdefault((f"{own.fusion} (own)", "all"), []).append(own)
        for row in run.fusions:
            if row.settings != own.settings or row.round != own.round or who(run, row) != "all":
                found.setdefault((fusion_name(row, own.round), who(run, row)), []).append(row)
    return dict(sorted(found.items(), key=lambda item: -(average(row.accuracy for row in item[1]) or 0)))


def own_rule(run: ReportedRun) -> FusionRecord:
    """The rule of the run itself, as if it had been fused afterwards."""
    assert run.experiment is not None  # a log has no uploads to fuse
    fusion, last = run.experiment.method.fusion, run.result.last
    return FusionRecord(
        fusion=fusion.kind if fusion else "none",
        track=run.experiment.method.track,
        method=run.result.method,
        fingerprint=run.result.fingerprint,
        seeds=run.result.seeds,
        round=last.round,
        clients=tuple(client.client for client in last.clients),
        metrics=last.metrics,
        settings=to_tree(fusion) or {},
        upload_bytes=run.result.upload_bytes,
        server_seconds=last.server_seconds,
        passes=last.passes,
    )


def fusion_name(row: FusionRecord, last: int) -> str:
    inner = [row.settings.get(key) for key in ("rule", "teacher")]
    changed = ", ".join(str(rule["kind"]) for rule in inner if isinstance(rule, dict))
    at = "" if row.round == last else f"round {round_number(row.round)}"
    head = "" if row.head is None else head_cells(row.head)["head"]
    extra = ", ".join(part for part in (changed, head, at) if part)
    return f"{row.fusion} ({extra})" if extra else row.fusion


def who(run: ReportedRun, row: FusionRecord) -> str:
    delivered = tuple(client.client for client in run.result.last.clients)
    return "all" if row.clients == delivered else ", ".join(map(str, row.clients))


def fusion_rows(group: SeedGroup) -> list[dict[str, Cell]]:
    return [
        {
            "experiment": group.label,
            "fusion": rule,
            "track": rows[0].track,
            "clients": clients,
            **({"expected accuracy": average(row.expected_accuracy for row in rows)} if rows[0].head else {}),
            **metric_cells((row.metrics for row in rows), group.first.result.test_images),
            "upload bytes": round(average(row.upload_bytes for row in rows) or 0),
            "server seconds": average(row.server_seconds for row in rows),
            "passes": round(average(row.passes for row in rows) or 0),
            "n": len(rows),
        }
        for (rule, clients), rows in rules(group).items()
    ]


def figure(groups: list[SeedGroup], colours: dict[str, int], track: str, slug: str) -> Figure:
    """All clients only; drop-out studies are in the table."""
    found = [
        {rule: rows for (rule, clients), rows in rules(group).items() if clients == "all" and rows[0].track == track}
        for group in groups
    ]
    names = tuple(dict.fromkeys(rule for by_rule in found for rule in by_rule))
    caption = "Final accuracy of the same clients under each rule, mean over seeds."
    blank = Dots(slug, f"Accuracy by fusion rule: {track}", caption, "test accuracy", names, ())
    rows = {
        group.label: [[row.accuracy for row in by_rule.get(rule, [])] for rule in names]
        for group, by_rule in zip(groups, found, strict=True)
    }
    return side_by_side(blank, rows, "fusion rule", colours)
