"""What a study opens with: the lambda of every client above the accuracies of the same run."""

from math import log10

from mooring.reports.figure import Curves, Figure
from mooring.reports.report_data import ReportData, Run
from mooring.reports.sections.accuracy import at_the_end, of_clients
from mooring.reports.sections.drawing import client_lines, has_values, in_place
from mooring.reports.sections.lambdas import logged

MOVES = 1.0  # decades that lambda must move to be the story


def picture(data: ReportData) -> tuple[Figure, ...]:
    """Of the run whose lambda moves most; where none does, what every experiment reaches."""
    if data.kind != "study" or not data.runs:
        return ()
    run = max(data.shown, key=decades)
    if decades(run) < MOVES:
        return (at_the_end(data),) if len(data.lines) > 1 else ()
    below = of_clients(run)
    return (lambdas(run), *([] if below is None else [below]))


def decades(run: Run) -> float:
    """How far lambda gets from where it is smallest, by the client that gets furthest."""
    found = [[row.lambda_felt for row in client.rounds if row.lambda_felt] for client in run.clients]
    return max((log10(max(course) / min(course)) for course in found if course), default=0.0)


def lambdas(run: Run) -> Curves:
    lines = []
    for line in (
        *client_lines(run, lambda _, row: row.lambda_felt),
        *client_lines(run, lambda _, row: row.lambda_raw, "dashed", "raw"),
    ):
        lines += [shown for shown in (logged(line),) if has_values(shown.y)]
    caption = (
        "The experiment in which lambda moves most. Solid: the lambda that the weights felt; dashed: the raw one, "
        f"before it is faded. Below: the accuracies of the same run.{in_place(run)}"
    )
    title = f"{run.title}: lambda of every client, on a logarithmic axis"
    return Curves("picture-lambda", title, caption, "round", "lambda", tuple(lines), "log", seeds=(run.seed,))
