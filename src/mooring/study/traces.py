"""What can be read of a client in a round: recorded values by name, and a few made of them."""

from collections.abc import Callable, Mapping
from statistics import fmean
from typing import Any

Record = Mapping[str, Any]  # an event


def ratio(above: str, below: str) -> Callable[[Record], float | None]:
    """One recorded value over another; None where the lower one is zero."""
    return lambda record: record[above] / record[below] if record.get(below) else None


DERIVED: dict[str, Callable[[Record], float | None]] = {
    "prototype_norm": lambda record: fmean(record["prototype_norms"]),
    "largest_prototype": lambda record: max(record["prototype_norms"]),
    "loss_ratio": ratio("base_loss", "align_loss"),
    "felt_over_loss_ratio": lambda record: record["lambda"] * record["align_loss"] / record["base_loss"],
    "raw_over_loss_ratio": lambda record: record["lambda_raw"] * record["align_loss"] / record["base_loss"],
    "felt_over_rest": ratio("lambda", "lambda_star"),
    "sigma_local_over_loss": ratio("sigma_sq_local", "base_loss"),
    "factor": ratio("lambda", "lambda_raw"),  # what annealing leaves of lambda
}


def value_of(record: Record, field: str) -> float | None:
    """None where the record does not hold the field, or held no finite number."""
    if field not in DERIVED:
        value: float | None = record.get(field, record.get("terms", {}).get(field))
        return value
    try:
        return DERIVED[field](record)
    except (KeyError, TypeError):
        return None
