"""Better than the baseline? Paired by everything else, the seed included."""

from mooring.reports.book import SEEDS, Book, Run
from mooring.reports.table import Table, spread


def comparison(book: Book) -> tuple[Table, ...]:
    """Accuracy minus that of the baseline run with the same other factors; nothing where there is no baseline."""
    differences: dict[str, list[float]] = {}
    for sweep, baseline in book.baselines.items():
        key, _, value = baseline.partition("=")
        runs = [run for run in book.runs if run.sweep == sweep]
        bases = {partner(run, key): run for run in runs if run.factors.get(key) == value}
        for run in runs:
            base = bases.get(partner(run, key))
            if base is not None and base is not run:
                differences.setdefault(run.label, []).append(run.result["accuracy"] - base.result["accuracy"])
    if not differences:
        return ()
    rows = [
        (label, spread(values), sum(value > 0 for value in values), len(values))
        for label, values in differences.items()
    ]
    told = ", ".join(dict.fromkeys(book.baselines.values()))
    note = f"Accuracy minus that of {told} with the same other factors and the same seed."
    columns = ("experiment", "difference", "pairs won", "pairs")
    return (Table("baseline", f"Against {told}", columns, tuple(rows), note),)


def partner(run: Run, key: str) -> tuple[tuple[str, str], ...]:
    """Everything but the factor that is compared."""
    seeds = {"seed": str(run.seed)}
    rest = {name: value for name, value in run.factors.items() if name != key and name not in SEEDS}
    return tuple(sorted((rest | seeds).items()))
