"""Accuracies compared: which experiment is best and whether that is settled, differences to the baseline of a sweep,
and accuracy by factor, with methods down and values across.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from mooring.reports._accuracies import INTERVAL, difference_interval
from mooring.reports._figure import Dots, Figure
from mooring.reports._report_data import ACROSS, SEEDS, ReportData, ReportedRun, SeedGroup, grouped, varying
from mooring.reports._sections.drawing import SeedValues, side_by_side
from mooring.reports._table import Cell, Table, spread
from mooring.sweeps import AccuracyPair, Best, Entrant, baseline_pairs, best_of_each, difference
from mooring.wording import plural

T = TypeVar("T")


def against_baseline(data: ReportData) -> tuple[Table, ...]:
    """Every experiment but the baseline itself; nothing where there is no baseline, or nobody to compare."""
    rows = tuple(row for sweep, baseline in data.baselines.items() for row in baseline_rows(data, sweep, baseline))
    if not rows:
        return ()
    baselines = ", ".join(dict.fromkeys(data.baselines.values()))
    note = (
        f"Accuracy minus that of {baselines} {'across tracks, ' if data.across_tracks else 'in the same track, '}"
        "with the same other factors and the same seed: mean ± standard deviation "
        "over pairs, and the 95 % confidence interval of the mean (Student's t; where seeds change nothing, Newcombe's "
        "over the test images; a single pair has none)."
    )
    return (Table.from_rows("baseline", f"Against {baselines}", rows, note),)


def baseline_rows(data: ReportData, sweep: str, baseline: str) -> Iterator[dict[str, Cell]]:
    members = tuple(member for member in data.members if member.sweep == sweep)
    key, _, value = baseline.partition("=")
    if not any(key in member.factors for member in members):
        return
    for group in grouped(tuple(member for member in members if member.factors.get(key) != value)):
        comparable = [member.record for member in members if data.across_tracks or member.track == group.track]
        pairs = baseline_pairs([member.record for member in group.runs], comparable, baseline)
        if pairs:
            yield comparison_row(group, pairs)


def comparison_row(group: SeedGroup, pairs: list[AccuracyPair]) -> dict[str, Cell]:
    gap = difference(pairs, group.first.result.test_images)
    differences = [a - b for a, b in pairs]
    return {
        "experiment": group.label,
        "difference": spread(differences),
        INTERVAL: difference_interval(gap),
        "pairs won": sum(value > 0 for value in differences),
        "pairs": gap.pairs,
    }


def pivots(data: ReportData) -> list[tuple[Figure, Table]]:
    """Final accuracy by every factor but the first, for each sweep that varies several."""
    found = []
    sweeps = dict.fromkeys(run.sweep for run in data.members)
    for sweep in sweeps:
        for track, lines in data.contests.items():
            runs = [run for line in lines for run in line.runs if run.sweep == sweep]
            keys = [key for key in runs[0].factors if key in varying(runs)] if runs else []
            parts = [*([sweep] if len(sweeps) > 1 else []), *([track] if len(data.contests) > 1 else [])]
            where = f": {', '.join(parts)}" if parts else ""
            crossed = [key for key in keys[1:] if meets(runs, key, keys)]
            found += [pivot(data, runs, key, [other for other in keys if other != key], where) for key in crossed]
    return found


def meets(runs: list[ReportedRun], key: str, keys: list[str]) -> bool:
    """True if some combination of the other factors has several values of this one; not so in a search."""
    others = [other for other in keys if other != key]
    return len(dict.fromkeys(rest(run, others) for run in runs)) < len(dict.fromkeys(rest(run, keys) for run in runs))


def pivot(data: ReportData, runs: list[ReportedRun], key: str, others: list[str], where: str) -> tuple[Figure, Table]:
    values = tuple(dict.fromkeys(run.factors[key] for run in runs if key in run.factors))
    rows: dict[str, SeedValues] = {}
    colours: dict[str, int] = {}
    for label in dict.fromkeys(rest(run, others) for run in runs):
        same = [run for run in runs if rest(run, others) == label]
        rows[label] = [[run.result.accuracy for run in same if run.factors.get(key) == v] for v in values]
        colours[label] = data.colour(same[0].label)
    name = key.rpartition(".")[2]
    slug = slug_of("-".join(part for part in (runs[0].sweep, key.replace(".", "-")) if part), data, runs[0].track)
    caption = f"Final accuracy for every value of {key}."
    blank = Dots(f"by-{slug}", f"Accuracy by {name}{where}", caption, "test accuracy", values, ())
    cells = tuple((label, *map(spread, row)) for label, row in rows.items())
    columns = ("experiment", *(f"{name}={value}" for value in values))
    table = Table(
        f"by-{slug}", blank.title, columns, cells, "Test images, last round; mean ± standard deviation.", folded=True
    )
    return side_by_side(blank, rows, name, colours), table


def rest(run: ReportedRun, keys: list[str]) -> str:
    """What sets a row apart from the others."""
    others = {key: value for key, value in run.factors.items() if key in keys and key not in SEEDS}
    return " · ".join(v if key == "method" else f"{key.rpartition('.')[2]}={v}" for key, v in others.items())


RULE = (
    "Bold only where it is settled: the 95 % interval of the difference to every other experiment on the same data, "
    "paired by seed, excludes 0 (Student's t; where seeds change nothing, Newcombe's over the test images)"
)


TRACKS_APART = "Tracks use different resources; experiments are compared within their track."
ACROSS_WARNING = "Across tracks, which use different resources: trained networks beside fixed features or public data."


def slug_of(name: str, data: ReportData, track: str) -> str:
    """With the track where the report has several."""
    return name if len(data.contests) == 1 else f"{name}-{track.replace(' ', '-')}"


def titled(name: str, data: ReportData, track: str) -> str:
    return f"{name}: {track}" if data.contests else name


def track_words(data: ReportData, group: SeedGroup) -> str:
    """`Trained from scratch: `, before a sentence on the best."""
    track = ACROSS if data.across_tracks else group.track
    return f"{track[0].upper()}{track[1:]}: "


def contests(data: ReportData) -> tuple[Best[SeedGroup], ...]:
    """The best experiment of every problem with several experiments, of each track or across tracks."""
    return best_of_each(
        Entrant(
            group,
            problem(group.first) if data.across_tracks else f"{group.track} {problem(group.first)}",
            {seed_pair(run): run.result.accuracy for run in group.runs},
            group.first.result.test_images,
        )
        for group in data.lines
    )


def seed_pair(run: ReportedRun) -> tuple[int | None, int | None]:
    return run.result.seeds.training, run.result.seeds.split


def problem(run: ReportedRun) -> str:
    """What experiments must share to be compared: the sweep of a study, the data, how they are divided."""
    partition = {key: value for key, value in (run.tree.get("partition") or {}).items() if key != "seed"}
    return json.dumps([run.sweep, run.dataset, run.tree.get("data"), partition], sort_keys=True, default=str)


def verdict(found: Best[T], label: Callable[[T], str], leader: Callable[[T], str] | None = None) -> str:
    """Which is best, and whether that is settled: the 95 % interval of the difference to every other one excludes 0."""
    other, gap = found.nearest
    best, other_label = (leader or label)(found.best), label(other)
    if gap.mean is None:
        return f"no settled winner: {best} leads, and has no seed in common with {other_label}."
    points = f"{100 * gap.mean:+.1f} points over {other_label}"
    if gap.low is None or gap.high is None:
        return f"no settled winner: {best} leads, {points}, with one seed in common."
    interval = f"{INTERVAL} {100 * gap.low:+.1f} to {100 * gap.high:+.1f}, {plural(gap.pairs, 'pair')} of seeds"
    return (
        f"{best}: settled, {points} ({interval})."
        if found.settled
        else (f"no settled winner: {best} leads, {points} ({interval}).")
    )


def settled_labels(found: Iterable[Best[SeedGroup]]) -> set[str]:
    """The labels of those that have won."""
    return {one.best.label for one in found if one.settled}
