"""The summary: what was run, its accuracy, problems, the next step, and when and how it was made."""

from collections.abc import Iterator
from shlex import quote

from mooring.record import PositiveClass
from mooring.reports._accuracies import baseline_of, baseline_sentence, describe_test_images, positive_class_of
from mooring.reports._labels import method_labels, shared_changes
from mooring.reports._report_data import ReportData, ReportedRun, SeedGroup
from mooring.reports._section import SummaryAnswer, Tone
from mooring.reports._sections.comparison import contests, track_words, verdict
from mooring.reports._sections.findings import healthy
from mooring.sweeps import Best
from mooring.wording import duration, join_some, percent, percent_range, plural

MOST_SENTENCES = 4  # on winners; of more problems, how many are settled


def summary_answers(data: ReportData) -> tuple[SummaryAnswer, ...]:
    if not data.members:
        return made(data)
    if len(data.members) == 1:
        run = data.members[0]
        return (what(run), how_good(run, data.positive), healthy(data), next_of_run(data, run), *made(data))
    if not data.one_problem:
        return (what_of_many(data), *next_of_many(data), *made(data))
    answers = (*best_of_many(data), *warned(data), healthy(data))
    return (what_of_many(data), *answers, *next_of_many(data), *made(data))


def what(run: ReportedRun) -> SummaryAnswer:
    partition = run.result.partition
    images_ = f"{partition.samples:,} training images" if partition.samples else "training images"
    sites = f"{partition.clients} clients" if partition.clients != 1 else "1 client"
    return SummaryAnswer(
        "What was run", f"{method(run)} {sites} hold {images_} of {run.dataset}{named_sites(run)}{divided(run)}."
    )


def method(run: ReportedRun) -> str:
    about = run.experiment.method.about if run.experiment else ""
    return f"{run.label}: {about.rstrip('.')}." if about else f"{run.label}."


def named_sites(run: ReportedRun) -> str:
    """Names of sites, unless they are only numbers."""
    names = [site.name for site in run.result.sites if site.name != f"client {site.number}"]
    return f" ({join_some(names)})" if names else ""


def divided(run: ReportedRun) -> str:
    partition = run.tree.get("partition") or {}
    own = [f"{key} {value}" for key, value in partition.items() if key not in ("kind", "clients", "seed") and value]
    how = " ".join([str(partition.get("kind", "")), *own]).strip()
    training = run.experiment.training if run.experiment and run.experiment.method.client.terms else None
    rounds = f"; {plural(training.rounds, 'round')} of {plural(training.local_epochs, 'epoch')}" if training else ""
    return f", partition: {how}{rounds}" if how else rounds


def how_good(run: ReportedRun, positive: str | None) -> SummaryAnswer:
    sure, baseline = SeedGroup(run.label, (run,)).interval, baseline_of(run.result)
    text = f"{percent(run.result.accuracy)} right on {describe_test_images(run.result)}."
    if sure:
        text += f" The 95 % interval is {percent_range((sure.low, sure.high))} ({sure.over}, Wilson)."
    if baseline:
        text += f" {baseline.sentence()}"
    if one := positive_class_of(run.result, positive):
        text += f" {one_class_words(one)}"
    if run.alone is not None:
        fewer = f" (on {run.result.local_test_images})" if run.result.local_test_images else ""
        text += f" Local-only, the mean of the clients' own models, reaches {percent(run.alone)}{fewer}."
    if (own := run.result.last.own_labels) is not None:
        text += f" {own.words}."
    if (gain := run.result.last.training_gain) is not None:
        text += f" {gain.words(run.result.accuracy)}."
    verdict = run.verdict
    text += f" {verdict.text[0].upper()}{verdict.text[1:]}." if verdict.warnings else ""
    return SummaryAnswer("How good it is", text, "bad" if verdict.warnings else "good" if verdict.sound else "open")


def one_class_words(one: PositiveClass) -> str:
    auc = "" if one.auc is None else f", AUC {one.auc:.3f}"
    rates = {"sensitivity": one.sensitivity, "specificity": one.specificity}
    parts = [f"{name} {percent(rate.share)} of {rate.n:,}" for name, rate in rates.items() if rate.share is not None]
    return f"Of {one.label!r} against all others: {', '.join(parts)}{auc}."


def next_of_run(data: ReportData, run: ReportedRun) -> SummaryAnswer:
    """The doctor's first remedy; otherwise more seeds. An imported log can only be examined."""
    helped = next((finding for finding in run.diagnosis.findings if finding.remedy), None)
    if helped is not None:
        support = helped.support.removeprefix("It ").rstrip(".")
        return SummaryAnswer("What to do next", f"This command {support}:", command=helped.remedy)
    folder = quote(data.folder)
    if run.verdict.warnings and run.experiment is not None:
        return SummaryAnswer("What to do next", "Find the reason:", command=run.verdict.next_command(data.folder))
    if run.experiment is None:
        return SummaryAnswer(
            "What to do next", "Every finding, and what was inferred:", command=f"mooring doctor {folder}"
        )
    seeds = f"seed=1..3 out={quote(data.folder + '-seeds')}"
    command = f"mooring sweep {quote(data.folder + '/experiment.yaml')} {seeds}"
    return SummaryAnswer("What to do next", "One seed settles nothing; the same under three:", command=command)


def what_of_many(report_data: ReportData) -> SummaryAnswer:
    data = join_some(list(dict.fromkeys(run.dataset for run in report_data.members)))
    labels = join_some(method_labels(list(report_data.members)))
    text = f"{plural(len(report_data.lines), 'experiment')} on {data}: {labels}; {runs_text(report_data)}."
    return SummaryAnswer(
        "What was run",
        f"{text}{images_text(report_data)}{''.join(changed_alike(report_data))}{test_images_text(report_data)}",
    )


def images_text(data: ReportData) -> str:
    """The number of training images and clients, if all runs share it."""
    shares = {(run.result.partition.samples, run.result.partition.clients) for run in data.members}
    if len(shares) > 1:
        return ""
    [(images_, clients)] = shares
    return f" {images_:,} training images at {plural(clients, 'client')}." if images_ else ""


def test_images_text(data: ReportData) -> str:
    """What the accuracies are measured on, if no answer about the best experiment says it."""
    first, sets = data.members[0], {(run.dataset, run.result.test_images) for run in data.members}
    return (
        f"\nAccuracies on {describe_test_images(first.result)}. {baseline_sentence(first.result)}"
        if not data.one_problem and len(sets) == 1
        else ""
    )


def changed_alike(data: ReportData) -> Iterator[str]:
    """What labels leave out, since it is the same for all methods of a sweep."""
    for sweep, shared in shared_changes(data.members).items():
        if shared:
            changes = ", ".join(f"{key}={value}" for key, value in shared.items())
            yield f"\nChanged in all methods{f' of {sweep}' if sweep else ''}: {changes}."


def runs_text(data: ReportData) -> str:
    details = run_details(data)
    return plural(len(data.members), "run") + (f" ({details})" if details else "")


def run_details(data: ReportData) -> str:
    """How many runs were trained, only fused, and not finished; empty if all were trained."""
    fused, unfinished = len(data.members) - len(data.runs), len(data.unfinished)
    parts = [f"{len(data.runs)} trained, {fused} fused from their uploads"] if fused else []
    return ", ".join([*parts, *([f"{unfinished} not finished"] if unfinished else [])])


def best_of_many(data: ReportData) -> Iterator[SummaryAnswer]:
    found = contests(data)
    if not found:
        if len(data.lines) > 1:
            text = "Not decided: no two experiments of one track are on the same data, divided alike."
            yield SummaryAnswer("Which is best", text)
        for only in data.lines if len(data.lines) == 1 else ():
            text = f"{only.label}: {percent(only.mean_accuracy)} right{how_sure(only)}"
            yield SummaryAnswer("How good it is", f"{text}, on {tested(only)}")
        return
    sentences = [
        f"{track_words(data, contest.best)}{verdict(contest, lambda group: group.label, with_accuracy)}"
        for contest in found
    ]
    met = {*(contest.best.track for contest in found)}
    sentences += [
        f"{track_words(data, only)}{with_accuracy(only)}, the only experiment."
        for track, (only, *others) in data.contests.items()
        if not others and track not in met
    ]
    text = "\n".join(sentences) if len(found) <= MOST_SENTENCES else summed_up(found)
    tone: Tone = "good" if all(contest.settled for contest in found) else "open"
    yield SummaryAnswer("Which is best", f"{text}\nOn {tested(found[0].best)}", tone)


def warned(data: ReportData) -> Iterator[SummaryAnswer]:
    """Experiments whose outcome speaks against them: how many runs, and the reason of the first."""
    texts = []
    for line in data.lines:
        if bad := [run for run in line.runs if run.verdict.warnings]:
            texts.append(f"{line.label}, {len(bad)} of {plural(len(line.runs), 'run')}: {bad[0].verdict.warnings[0]}")
    if texts:
        yield SummaryAnswer("What to mistrust", "\n".join(f"{text}." for text in texts), "bad")


def tested(group: SeedGroup) -> str:
    result = group.first.result
    return f"{describe_test_images(result)}. {baseline_sentence(result)}".strip()


def with_accuracy(group: SeedGroup) -> str:
    return f"{group.label} with {percent(group.mean_accuracy)}{how_sure(group)}"


def how_sure(group: SeedGroup) -> str:
    sure = group.interval
    if sure is None or len(group.runs) == 1:
        return ""
    return f", 95 % interval {percent_range((sure.low, sure.high))} {sure.over}"


def summed_up(found: tuple[Best[SeedGroup], ...]) -> str:
    won = [contest.best.label for contest in found if contest.settled]
    return f"{len(won)} of {len(found)} problems have a settled winner" + (f": {join_some(won)}." if won else ".")


def next_of_many(data: ReportData) -> Iterator[SummaryAnswer]:
    """First finish what is not finished, then more seeds if nothing is settled, then a table for a paper."""
    folder, question = quote(data.folder), "What to do next"
    if data.additions.next_step is not None:
        yield data.additions.next_step
        return
    if data.kind == "sweep" and data.unfinished and data.command:
        yield SummaryAnswer(question, "Not all is finished; the same command goes on:", command=data.command)
        return
    unsettled = [contest for contest in contests(data) if not contest.settled]
    if data.kind == "sweep" and unsettled:
        most = max(len(group.runs) for group in data.lines)
        out = quote(f"{data.folder}-{2 * most}-seeds")
        command = f"mooring sweep {quote(data.folder + '/sweep.yaml')} seed=1..{2 * most} out={out}"
        yield SummaryAnswer(question, "Twice as many seeds:", command=command)
        return
    if data.kind == "sweep":
        yield SummaryAnswer(question, "The table for a paper:", command=f"mooring report {folder} --format latex")


def computing_seconds(run: ReportedRun) -> float:
    """Of a run, or of the server alone if the clients trained for another one."""
    return (run.result.seconds if run.trained else run.result.last.server_seconds) or 0.0


def made(data: ReportData) -> tuple[SummaryAnswer, ...]:
    dates = sorted(run.result.date for run in data.members if run.result.date)
    command = data.command or next((run.result.command for run in data.members if run.result.command), "") or ""
    when = f"{dates[-1][:16].replace('T', ' ')} UTC" if dates else ""
    seconds = sum(computing_seconds(run) for run in data.members)
    took = f", {duration(seconds)} of computing" if seconds else ""
    text = f"{when}{took}" if when else "When is not recorded"
    if data.kind == "comparison" and when:
        text = f"The last of the runs {when}, all of them {duration(seconds)} of computing; compared"
    return (
        (SummaryAnswer("Made", f"{text}, by" if command else f"{text}.", command=command),) if when or command else ()
    )
