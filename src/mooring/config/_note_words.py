"""The words of the lab notes and of the published files as keys: what each of them is called here.

`gamma_reg=1e-5` is `weight.guard.gamma=1e-5` for a method with a guard; a word that this method has no place for says
to which methods it belongs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import reduce
from typing import Any, Literal

from mooring.methods import METHODS, Method
from mooring.schema import kind_of

WEIGHT = "method.client.align.weight"
STAGE = "method.client.stages.0"


@dataclass(frozen=True)
class Word:
    """A word, the keys it may stand for, written in full, and what it means.

    A method has some of these keys: `every` one of them is set, or there may be but `one`.
    """

    keys: tuple[str, ...]
    about: str
    meant: Literal["every", "one"] = "every"
    pull: Literal["anchor", "bank"] | None = None  # the kind of alignment that has it; None is any
    scales: Mapping[str, float] = field(default_factory=dict)  # full keys that would multiply the value -> 1

    def keys_of(self, method: Method) -> list[str]:
        """Those keys that this method has."""
        align = method.client.align
        if self.pull is not None and (align is None or (align.anchor is None) != (self.pull == "bank")):
            return []
        return [key for key in self.keys if has(method, key.split(".")[1:])]

    def scales_of(self, method: Method) -> dict[str, float]:
        """Keys of this method that would multiply the value, with the values that undo that."""
        return {key: one for key, one in self.scales.items() if value_at(method, key.split(".")[1:]) not in (None, one)}


NOTE_WORDS: dict[str, Word] = {
    "num_rounds": Word(("training.rounds",), "rounds"),
    "local_epochs": Word(("training.local_epochs",), "epochs in a round"),
    "alpha": Word(("partition.alpha",), "skew of the Dirichlet split"),
    "alignment_epochs": Word((f"{STAGE}.when.epochs",), "epochs of stage 1 per round (note 1)"),
    "contrastive_temperature": Word(
        (
            "method.client.align.term.temperature",
            f"{STAGE}.terms.bank-contrast.temperature",
            f"{STAGE}.terms.bank-attraction.temperature",
        ),
        "temperature of the contrast (note 1)",
        pull="bank",
    ),
    "contrastive_loss_weight_initial": Word((f"{WEIGHT}.initial",), "first weight of the contrast (note 1, plan 1)"),
    "contrastive_loss_weight_final": Word((f"{WEIGHT}.final",), "last weight of the contrast (note 1, plan 1)"),
    "lambda_align_initial": Word((f"{WEIGHT}.value", f"{WEIGHT}.base.value"), "lambda of V7", pull="anchor"),
    "lambda_min": Word(
        (f"{WEIGHT}.minimum", f"{WEIGHT}.base.minimum", f"{WEIGHT}.sigma.start.minimum"),
        "smallest lambda of V9's rule",
        "one",
        "anchor",
    ),
    "lambda_max": Word(
        (
            f"{WEIGHT}.maximum",
            f"{WEIGHT}.base.maximum",
            f"{WEIGHT}.sigma.start.maximum",
            f"{WEIGHT}.guard.maximum",
            f"{WEIGHT}.guard.guards.linear-hinge.maximum",
        ),
        "largest lambda of V9's rule, or where a hinge begins",
        "one",
        "anchor",
    ),
    "sigma_lr": Word(
        (f"{WEIGHT}.sigma.lr", f"{WEIGHT}.base.sigma.lr"),
        "learning rate of the sigmas (note 2)",
        scales={f"{WEIGHT}.sigma.lr_scale": 1.0, f"{WEIGHT}.base.sigma.lr_scale": 1.0},
    ),
    "gamma_reg": Word(
        (
            f"{WEIGHT}.guard.gamma",
            f"{WEIGHT}.guard.guards.inverse-variance.gamma",
            f"{WEIGHT}.guard.guards.local-log.gamma",
        ),
        "strength of a guard (note 5)",
    ),
}
METHOD_NOTE_WORDS = [word for word, said in NOTE_WORDS.items() if said.keys[0].startswith("method.")]


def has(value: Any, path: list[str]) -> bool:
    """Is there such a key in this value? Parts in a row are found by kind or by position."""
    if not path:
        return True
    first, *rest = path
    if isinstance(value, tuple):
        return any(
            has(part, rest) for i, part in enumerate(value) if first in (str(i), kind_of(type(part)).get("kind"))
        )
    known = is_dataclass(value) and first in [f.name for f in fields(value)]
    return known and has(getattr(value, first), rest)


def value_at(value: Any, path: list[str]) -> Any:
    """The value of a key; None if there is no such key."""
    return reduce(lambda part, name: getattr(part, name, None), path, value)


def belongs(word: str) -> Iterator[str]:
    """The methods that have a key for this word."""
    return (name for name, method in METHODS.items() if NOTE_WORDS[word].keys_of(method))
