"""Where does lambda go: what the weights felt, where it would rest, and what bounds it?"""

from math import isfinite
from statistics import median

from mooring.doctor.history import Moment, Patient
from mooring.doctor.lambda_checks import outlook_of
from mooring.reports.book import Book, Run, SeedGroup
from mooring.reports.figure import INK, Curves, Figure, Line, Values, positive, style
from mooring.reports.section import Section
from mooring.reports.sections.drawing import drawn, known, left_out, line
from mooring.reports.table import Table
from mooring.weighting.equilibrium import stability_limit

MARKED = ("running-away", "capped", "unstable")


def lambdas(book: Book) -> Section:
    moored = [run for run in book.shown if any(moment.felt is not None for moment in moments(run))]
    groups = [(i, group) for i, group in enumerate(book.groups) if group.first in moored]
    figures: list[Figure] = [by_group(groups)] if len(groups) > 1 else []
    figures += [traces(run) for run in moored]
    lead = "Lambda is how hard the anchor pulls; a rule that learns it can let it run away."
    return Section("lambda", "Lambda", lead, tuple(figures), (table(moored),) if moored else ())


def moments(run: Run) -> list[Moment]:
    return [moment for patient in run.history.patients for moment in patient.moments]


def by_group(groups: list[tuple[int, SeedGroup]]) -> Curves:
    """The median over clients and seeds, within the range of all of them."""
    lines = []
    for i, group in groups:
        at: dict[int, list[float]] = {}
        for moment in [moment for run in group.runs for moment in moments(run)]:
            if moment.felt:
                at.setdefault(moment.round, []).append(moment.felt)
        rounds = sorted(at)
        middle = tuple(median(at[r]) for r in rounds)
        band = (tuple(min(at[r]) for r in rounds), tuple(max(at[r]) for r in rounds))
        lines.append(Line(group.label, tuple(map(float, rounds)), middle, i, style(i), band))
    caption = (
        "Median felt lambda over clients and seeds; the band spans all of them. "
        "A band that widens upwards is a client running away."
    )
    return Curves("lambda-methods", "Felt lambda by experiment", caption, "round", "lambda", tuple(lines), "log")


def traces(run: Run) -> Curves:
    """Felt lambda solid, lambda* dashed in the same colour, limits dotted, the doctor's dates as marks."""
    lines: list[Line] = []
    for patient in drawn(run):
        felt = line(patient, lambda moment: moment.felt)
        rest = line(patient, lambda moment: moment.rest, "dashed", "lambda*")
        lines += [shown for shown in (logged(felt), logged(rest)) if known(shown.y)]
    lines += [*limits(run), *marks(run)]
    caption = (
        "Solid: the lambda that the weights felt; dashed: lambda*, where the rule would come to rest. "
        "In the colour of the text, dotted: the cap of the guard; dashed: the limit that SGD can follow; a diamond is "
        f"where the doctor dates a finding.{left_out(run)}"
    )
    return Curves("lambda", "Lambda of every client", caption, "round", "lambda", tuple(lines), "log", run.title)


def logged(shown: Line) -> Line:
    return Line(shown.name, shown.x, positive(shown.y), shown.colour, shown.style, family=shown.family)


def limits(run: Run) -> list[Line]:
    """What a guard allows, and what momentum SGD can follow."""
    setting, patients = run.history.setting, drawn(run)
    rounds = tuple(sorted({float(moment.round) for moment in moments(run)}))
    found = []
    caps = [cap for cap in (cap_of(patient, run) for patient in patients) if cap is not None]
    if caps:
        at: dict[float, list[float]] = {}
        for cap in caps:
            for round_, value in cap.items():
                at.setdefault(round_, []).append(value)
        found.append(
            Line("cap of the guard", tuple(sorted(at)), tuple(median(at[r]) for r in sorted(at)), INK, "dotted")
        )
    if setting.mean_squared and setting.lr and setting.momentum is not None and setting.classes and setting.dimension:
        limit = stability_limit(setting.lr, setting.momentum, setting.classes, setting.dimension)
        if max((moment.felt or 0 for moment in moments(run)), default=0) > limit / 100:
            found.append(Line("SGD limit", rounds, (limit,) * len(rounds), INK, "dashed"))
    return found


def cap_of(patient: Patient, run: Run) -> dict[float, float] | None:
    """round -> the felt lambda at which the guard of this client binds"""
    outlook = outlook_of(patient, run.history.setting)
    if outlook is None or outlook.cap is None:
        return None
    caps = {
        float(moment.round): outlook.cap(moment.base_loss or 0.0, 1.0 if moment.factor is None else moment.factor)
        for moment in patient.moments
    }
    return {at: cap for at, cap in caps.items() if isfinite(cap) and cap > 0} or None


def marks(run: Run) -> list[Line]:
    """A diamond on the trace of a client where the doctor dates a finding."""
    felt = {(p.client, moment.round): moment.felt for p in drawn(run) for moment in p.moments}
    found = []
    for kind in MARKED:
        dated = [f for f in run.diagnosis.findings if f.kind == kind and felt.get((f.client or 0, f.round or 0))]
        x = tuple(float(finding.round or 0) for finding in dated)
        y: Values = tuple(felt[finding.client or 0, finding.round or 0] for finding in dated)
        if dated:
            found.append(Line(kind, x, y, INK, "marks"))
    return found


def table(runs: list[Run]) -> Table:
    """Every client of the runs that are drawn."""
    rows = [
        (
            run.title,
            patient.client,
            patient.moments[0].felt,
            patient.moments[-1].felt,
            patient.moments[-1].rest,
            max((moment.raw for moment in patient.moments if moment.raw is not None), default=None),
            run.diagnosis.distances.get(patient.client),
        )
        for run in runs
        for patient in run.history.patients
        if patient.moments
    ]
    columns = (
        "run",
        "client",
        "first felt",
        "last felt",
        "last lambda*",
        "largest raw",
        "median |log(lambda/lambda*)|",
    )
    note = "Felt: what the weights were pulled with; raw: the rule before any fading."
    return Table("lambda", "Lambda by client", columns, tuple(rows), note)
