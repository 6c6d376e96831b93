"""The summary of a study: what was run, its main claims, and the numbers behind them."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean, stdev

from mooring.config import Experiment
from mooring.notes._evidence import Evidence
from mooring.notes._measures import Measure
from mooring.notes._statistics import Sample, sample
from mooring.notes._study_record import DecidedClaim, Observation
from mooring.record import RunResult
from mooring.wording import matching_digits


@dataclass(frozen=True)
class Number:
    """A measure over a group of runs, and the words that follow it: `0.412 ± 0.031 in the last round`."""

    words: str
    of: str
    measure: Measure


@dataclass(frozen=True)
class Highlight:
    """One of the study's claims (`claim` is its id) in plain words, and the numbers shown with its verdict."""

    says: str
    claim: str
    numbers: tuple[Number, ...]


def observed(
    highlights: Iterable[Highlight], verdicts: Iterable[DecidedClaim], evidence: Evidence
) -> tuple[Observation, ...]:
    """Every highlight with the verdict on its claim."""
    decided = {row.id: row.verdict for row in verdicts}
    return tuple(Observation(h.says, decided[h.claim], measured_text(h.numbers, evidence)) for h in highlights)


def measured_text(numbers: Iterable[Number], evidence: Evidence) -> str:
    """`11.9 ± 0.2 in the first round, 0.4 in the last (n = 3)`; n is given with each number if it differs."""
    found = [(number.words, sample(evidence, number.of, number.measure)) for number in numbers]
    there = [(words, values) for words, values in found if values]
    counts = sorted({len(values) for _, values in there})
    if not counts:
        return "no finished run records it"
    if len(counts) == 1:
        return f"{', '.join(f'{mean_and_std_text(values)} {words}' for words, values in there)} (n = {counts[0]})"
    return ", ".join(f"{mean_and_std_text(values)} {words} (n = {len(values)})" for words, values in there)


def mean_and_std_text(values: Sample) -> str:
    """Mean, and standard deviation over seeds where there are several."""
    numbers = list(values.values())
    mean, std = rounded(fmean(numbers)), stdev(numbers) if len(numbers) > 1 else None
    return mean if std is None else f"{mean} ± {matching_digits(mean, std, rounded(std))}"


def rounded(value: float) -> str:
    """Three decimals below one, three digits above, with commas for thousands."""
    size = abs(value)
    if size >= 1e9 or 0 < size < 0.001:
        return f"{value:.2e}"
    if size >= 1:
        return f"{float(f'{value:.3g}'):,.{0 if size >= 100 else 1 if size >= 10 else 2}f}"
    return f"{value:.3f}"


def ran(experiments: Iterable[Experiment]) -> str:
    """The common settings of these runs, and all values of those that vary, in one line: `digits, 5 clients, ...`"""
    runs = list(experiments)
    partitions = [run.tree()["partition"] for run in runs]
    facts = {
        "{}": [amount(run.data.limit) + run.data.source for run in runs],
        "{} clients": [partition.get("clients") for partition in partitions],
        "label skew alpha {}": [partition.get("alpha") for partition in partitions],
        "{} rounds": [run.training.rounds for run in runs],
        "{} epochs each": [run.training.local_epochs for run in runs],
    }
    choices = {phrase: alternatives(values) for phrase, values in facts.items()}
    return ", ".join(count_phrase(phrase, values) for phrase, values in choices.items() if values)


def images_of(results: Iterable[RunResult | None]) -> str:
    """`360 test images, of which guessing gets 0.103`"""
    known = [result for result in results if result is not None and result.test_images]
    images = alternatives(f"{result.test_images:,}" for result in known)
    guesses = alternatives(f"{guess:.3f}" for result in known if (guess := result.metrics.guess) is not None)
    guessing = f", of which guessing gets {guesses}" if guesses else ""
    return f"{images} test images{guessing}" if images else ""


def count_phrase(phrase: str, values: str) -> str:
    """`5 clients`, `1 epoch each`"""
    one = values == "1" and phrase.startswith("{} ")
    return (phrase.replace("s", "", 1) if one else phrase).format(values)


def amount(limit: int | None) -> str:
    return "" if limit is None else f"{limit:,} images of "


def alternatives(found: Iterable[object]) -> str:
    """`5`, or `0.5, 0.1 or 0.05`; what a run does not have is left out."""
    names = list(dict.fromkeys(str(value) for value in found if value is not None))
    return " or ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
