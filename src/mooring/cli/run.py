"""`mooring run`: one experiment per method, live progress, a table at the end."""

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from mooring.cli.arguments import (
    FAILED,
    AsJson,
    Events,
    PositiveOption,
    SettingsArgument,
    TrustCode,
    as_object,
    begin_workers,
    command,
    experiments,
    print_json,
    resuming,
    say,
    trusted,
)
from mooring.cli.run_folder import is_folder_of_images, judge, planned
from mooring.errors import ConfigError, Interruption, nearest
from mooring.wording import accuracy_text

EARLIER = "finished earlier, nothing was run; --again repeats it"
ENDED = "had finished, nothing was left to do"
MUCH, FEWER = 0.15, 2000  # a share of the time, and test images that would be enough for a first look

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from mooring.config import Experiment
    from mooring.events import Emit, Event
    from mooring.record import Result


def run(
    settings: SettingsArgument = None,
    again: Annotated[bool, typer.Option("--again", help="Repeat an experiment that is already finished.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the table.")] = False,
    positive: PositiveOption = None,
    json: AsJson = False,
    events: Events = False,
    track: Annotated[
        str | None, typer.Option("--track", help="Update tensorboard or mlflow after every fused round.")
    ] = None,
) -> None:
    """Train the clients, collect their one upload, fuse, and evaluate on held-out images.

    Several methods run one after the other on the same partition: mooring run method=v4,v7
    A folder of images (<site>/<class>/* or <class>/*) is checked first and judged at every site: mooring run FOLDER

    \b
    Ten settings with their defaults; mooring settings lists all of them.
      method=mooring           what clients do; mooring methods lists them
      fusion=(the method's)    how uploads become one; mooring fusions
      data=digits              what is learned from; mooring data
      data.root=null           where the images are
      partition.clients=5      how many clients
      partition.alpha=0.05     skew: the smaller, the fewer labels a client has
      training.rounds=10       points where the server could fuse
      training.local_epochs=5  epochs in a round
      seed=1                   of training, and of the split
      out=null                 the run folder; null is one named by what is run
    """
    if not {"engine.workers=1", "engine=flower"} & set(settings or ()):
        begin_workers("mooring.engines._worker")
    if is_folder_of_images(settings):
        from mooring.execution import run_folder_of

        words, found = planned(settings or [], quiet or json or events)
        chosen = apart(experiments(words))
        run_all(chosen, again, quiet, json, events, positive, EARLIER, track)
        for experiment in chosen:
            judge(experiment, run_folder_of(experiment), found, quiet or json or events)
        return
    chosen = experiments(settings)  # every mistake is reported before anything heavy is imported or written
    run_all(apart(chosen), again, quiet, json, events, positive, EARLIER, track)


def resume(
    run: Annotated[str, typer.Argument(metavar="RUN", help="The folder of an interrupted run.")],
    trust_code: TrustCode = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, only the table.")] = False,
    positive: PositiveOption = None,
    json: AsJson = False,
    events: Events = False,
) -> None:
    """Continue an interrupted run; the result is the same bytes."""
    begin_workers("mooring.engines._worker")
    from dataclasses import replace
    from pathlib import Path

    from mooring.config import load_recorded
    from mooring.record import RunFolder

    folder = RunFolder(Path(run))
    folder.reject_imported()
    experiment = load_recorded(folder.experiment_file, trusted(trust_code))
    run_all([replace(experiment, out=run)], False, quiet, json, events, positive, ENDED)


def run_all(  # noqa: PLR0913, PLR0917
    chosen: "list[Experiment]",
    again: bool,
    quiet: bool,
    json: bool,
    events: bool,
    positive: str | None,
    nothing_to_do: str,
    track: str | None = None,
) -> None:
    from mooring.cli.progress import run_progress
    from mooring.execution import run_experiment, run_folder_of
    from mooring.record import RunFolder

    outcomes: list[tuple[str, Result]] = []
    for experiment in chosen:
        folder = run_folder_of(experiment)
        earlier = None if again else RunFolder(folder).finished(experiment.fingerprint())
        if earlier is not None and not (quiet or json):
            say(f"{experiment.label}: {nothing_to_do}", err=True)
        silent = quiet or json or earlier is not None
        try:
            with (
                run_progress(experiment, "programs" if events else "nobody" if silent else "people") as emit,
                tracking(track, experiment, folder, emit) as listener,
            ):
                outcomes.append((str(folder), run_experiment(experiment, listener, again, command=command())))
        except KeyboardInterrupt as interrupt:
            raise Interruption("interrupted", way_on(experiment, folder, interrupt)) from None
    if json:
        results = [{"folder": folder, **as_object(result)} for folder, result in outcomes]
        print_json(results[0] if len(results) == 1 else results)
    else:
        show_outcomes(chosen, outcomes, positive)
    if not all(result.complete for _, result in outcomes):
        raise typer.Exit(FAILED)


@contextmanager
def tracking(name: str | None, experiment: "Experiment", folder: "Path", emit: "Emit") -> "Iterator[Emit]":
    """`emit`, and the dashboard of this name; the run is shown there while it goes on, and with its result."""
    if name is None:
        yield emit
        return
    from pathlib import Path

    from mooring.record import RunFolder
    from mooring.track import TRACKERS, Live, listener

    if name not in TRACKERS:
        raise ConfigError([f"--track {name}: unknown; {nearest(name, TRACKERS)}"])
    live = Live(TRACKERS[name](Path(TRACKERS[name].usual)))
    live.on_start(experiment, folder)
    forward = listener([live])

    def both(event: "Event") -> None:
        emit(event)
        forward(event)

    yield both
    live.on_end(RunFolder(folder).record)


def way_on(experiment: "Experiment", folder: "Path", interrupt: KeyboardInterrupt) -> str:
    """What is kept of an interrupted run, and the command that goes on with it."""
    from mooring.cli.progress import kept, unit_of
    from mooring.events import RunInterrupted
    from mooring.record import RunFolder

    if RunFolder(folder).ended:
        return f"but the run had finished; show it with: {resuming(folder, experiment)}"
    if not (folder / "state").is_dir():
        return "nothing was saved yet"
    how = f"go on with: {resuming(folder, experiment)}"
    if not isinstance(interrupt, RunInterrupted):
        return how
    return f"{kept(interrupt.kept, interrupt.sites, unit_of(experiment))}; {how}"


def show_outcomes(
    chosen: "list[Experiment]", outcomes: "list[tuple[str, Result]]", positive: str | None = None
) -> None:
    """The tables of results by track, then for each run its verdict, its folder, its time and the next command."""
    from mooring.cli.screen import Screen
    from mooring.reports import run_tables, show_tables, verdict_on

    console = Screen()
    tracks = [experiment.method.track for experiment in chosen]
    labels = [experiment.called for experiment in chosen]
    show_tables(run_tables(labels, [result for _, result in outcomes], tracks, positive), console)
    console.print()
    for experiment, (folder, result) in zip(chosen, outcomes, strict=True):
        verdict = verdict_on(result, fused=experiment.method.fusion is not None)
        accuracy = accuracy_text(result.accuracy, result.test_images)
        mark, style = ("✓", "green") if verdict.sound else ("!", "yellow")
        console.print(f"{mark} {result.method}: {accuracy}, {verdict.text}", style=style)
        if (own := result.last.own_labels) is not None:
            console.print(f"{result.method}: {own.words}", style="dim", soft_wrap=True)
        if (gain := result.last.training_gain) is not None:
            console.print(f"{result.method}: {gain.words(result.accuracy)}", style="dim", soft_wrap=True)
        spent = result.spent or f"{result.seconds or 0:.1f} s"
        console.print(f"{result.method}: {spent}", style="dim", soft_wrap=True)
        if result.spent and result.spent.evaluated > MUCH and (result.test_images or 0) > FEWER:
            share = f"evaluation took {100 * result.spent.evaluated:.0f} % of the time"
            console.print(f"{share}; data.test_limit={FEWER} tests on fewer images", style="dim", soft_wrap=True)
        absent = "".join(f"  {result.site(row.client)}: {row.reason}" for row in result.absent)
        console.print(f"run folder: {folder}{absent}", soft_wrap=True)
        console.print(f"next: {verdict.next_command(folder)}", soft_wrap=True)


def apart(chosen: "list[Experiment]") -> "list[Experiment]":
    """Several methods with one `out` get a folder each inside it."""
    from dataclasses import replace
    from pathlib import Path

    if len(chosen) == 1:
        return chosen
    from mooring.config import folder_name

    names = [folder_name(e.label) for e in chosen]
    places = [f"{n}-{names[:i].count(n) + 1}" if names[:i].count(n) else n for i, n in enumerate(names)]
    return [replace(e, out=str(Path(e.out) / place)) if e.out else e for e, place in zip(chosen, places, strict=True)]
