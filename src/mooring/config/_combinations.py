"""Combinations of parts that cannot work together."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import inf
from typing import Any

from mooring.client import ClientRecipe, Training
from mooring.losses import extra_input
from mooring.methods import Method
from mooring.schema import shorten
from mooring.weighting import WEIGHTINGS, ByConfidence, Hypergradient, Uncertainty


def impossible_combinations(method: Method) -> Iterator[str]:
    """Reports parts that are valid alone but cannot be combined."""
    recipe, bank = method.client, method.bank
    offers = {
        "bank": (bank is not None, "bank.size=4096"),
        "bank labels": (bank is not None and bank.labelled, "bank.labelled=true"),
        "memory": (recipe.memory > 0, "method.client.memory=4096"),
        "anchors": (recipe.align is not None and recipe.align.anchor is not None, "align.anchor=simplex-etf"),
    }
    for term in recipe.every_term():
        there, remedy = offers.get(extra_input(term), (True, ""))
        if not there:
            yield f"method.client: the term {term.kind} needs {extra_input(term)} and there is none; set {remedy}"
    trained = method.fusion is None or any(part.trained for part in method.fusion.needs)
    if not recipe.terms and trained:
        yield (
            "method.client.terms=[]: a client must minimise something for this fusion; "
            "name at least one loss, or a fusion over statistics such as fusion=analytic"
        )
    for stage in recipe.stages:
        if not stage.terms or (stage.weights is not None and len(stage.weights) != len(stage.terms)):
            yield f"method.client.stages: {len(stage.terms)} terms, weights {stage.weights}; give each term one weight"
    yield from unwatched(recipe)
    for path, weight in parts_within(recipe.align.weight, "weight") if recipe.align else ():
        if isinstance(weight, Uncertainty) and weight.coupled:
            remedy = f"in a {weight.gradients} loss; use {path}.gradients=separate"
            if weight.ratio != "constant":
                yield f"{path}.ratio={weight.ratio}: has no place {remedy}"
            if weight.guard is not None and weight.guard.cap < inf:
                yield f"{path}.guard.kind={type(weight.guard).kind}: cannot act {remedy}"


def unwatched(recipe: ClientRecipe) -> Iterator[str]:
    """Losses that a weighting watches and that there are not; held-out images that none of ours watches."""
    parts = [part for _, part in parts_within(recipe.align.weight, "weight")] if recipe.align else []
    terms = [term.kind for term in recipe.terms]
    watched = [part.watches for part in parts if isinstance(part, ByConfidence)]
    for name in watched:
        if name not in ("base", *terms):
            yield f"weight.watches={name}: is not a term of this method's base loss; use weight.watches=base"
    asked = any(isinstance(part, Hypergradient) and part.outer == "held-out" for part in parts)
    if asked and not recipe.held_out:
        yield "weight.outer=held-out: no images are kept out of training; set method.client.held_out=0.1"
    ours = recipe.align is None or type(recipe.align.weight) in WEIGHTINGS.values()
    if recipe.held_out and not asked and ours:
        yield f"method.client.held_out={recipe.held_out}: no part of this method looks at these images; set it to 0"


def parts_within(part: Any, path: str) -> Iterator[tuple[str, Any]]:
    """A part and every part inside it, by the path of each: a weighting may stand around another."""
    if not is_dataclass(part):
        return
    yield path, part
    for f in fields(part):
        yield from parts_within(getattr(part, f.name), f"{path}.{f.name}")


def missing_rounds(training: Training) -> Iterator[str]:
    """Snapshots of rounds that there are not."""
    if isinstance(training.snapshots, str):
        return
    for round_ in training.snapshots:
        if round_ >= training.rounds:
            yield (
                f"training.snapshots={shorten(training.snapshots)}: round {round_} does not exist; "
                f"snapshots number rounds from 0 to {training.rounds - 1}, or raise training.rounds"
            )
