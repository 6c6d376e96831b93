"""The configuration behind a log, in the keys of this house, as far as it is told."""

from collections.abc import Mapping
from typing import Any

from mooring.cells import printable
from mooring.config.tree import Tree
from mooring.importing.logged import Logged

SOURCES = {"FashionMNIST": "fashion_mnist", "FMNIST": "fashion_mnist"}  # every other name only in small letters
LONGEST, LARGEST = 80, 1e18  # letters of a word, and numbers, that are taken over
V11 = {"linear": "v11-linear", "cosine": "v11-cosine"}


def experiment_of(logged: Logged) -> Tree:
    """Weight and learning-rate decay are left out: the published code is configured with them and never uses them.

    A data set that this house does not know keeps its name, so that running the file is refused and not guessed.
    """
    server, data, split = (logged.section(name) for name in ("server", "dataset", "distribution"))
    name = data.get("data_name")
    parts = {
        "data": {"source": SOURCES.get(name, name.lower()) if isinstance(name, str) else None},
        "partition": {
            "kind": split.get("type"),
            "clients": logged.section("client").get("num_clients"),
            "alpha": split.get("alpha") if split.get("type") == "dirichlet" else None,
        },
        "model": {"kind": server.get("model_name")},
        "training": {
            "rounds": server.get("num_rounds"),
            "local_epochs": server.get("local_epochs"),
            "batch_size": data.get("train_batch_size"),
            "lr": server.get("lr"),
            "momentum": server.get("momentum"),
        },
    }
    tree = {key: known(part) for key, part in parts.items() if known(part)}
    return tree | {"method": method_of(logged)} | known({"seed": logged.config.get("seed")}, (int,))


def method_of(logged: Logged) -> str:
    """The method's name here; v11 goes by its schedule, which the factors tell."""
    return V11[schedule(logged)] if logged.method == "v11" else logged.method


def schedule(logged: Logged) -> str:
    """A linear factor falls by equal steps, a cosine slowly at first: compare the first step with the mean one."""
    by_round = {
        round_: said.schedule_factor
        for (round_, _), said in sorted(logged.said.items())
        if said.schedule_factor is not None
    }
    factors = list(by_round.values())
    if len(factors) < 3 or factors[0] == factors[-1]:
        return "linear"
    mean = (factors[0] - factors[-1]) / (len(factors) - 1)
    return "cosine" if (factors[0] - factors[1]) / mean < 0.75 else "linear"


def known(part: Mapping[str, Any], kinds: tuple[type, ...] = (int, float, str)) -> Tree:
    """Numbers and words, as far as a file can say them; a log may hold anything."""
    return {
        key: printable(value)[:LONGEST] if isinstance(value, str) else value
        for key, value in part.items()
        if type(value) in kinds and (isinstance(value, str) or abs(value) < LARGEST)
    }
