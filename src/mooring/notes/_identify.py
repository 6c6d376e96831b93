"""Identify the method of a log by its header, its configuration and its lines, in this order.

The method is unknown if they disagree. A header may be missing or wrong, and accuracy lines were copied from version to
version. A version is accepted if the lines do not rule it out and no two other witnesses agree on another version.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mooring.notes._logged import Header, Logged, Markers
from mooring.notes._variants import Identified, identified

BASELINES = {"fedavg", "fedetf", "fedproto", "ensemble", "otfusion", "fafifedavg", "aurorafedavg"}
OURS = re.compile(r"ours[\s_-]?v[\s_]?(\d{1,3})", re.IGNORECASE)
UNNUMBERED = re.compile(r"\bone-?shot-?ours\b(?!v)", re.IGNORECASE)
ALGORITHM = ("algorithm", "algo", "method", "algorithm_name", "method_name")
LEFTOVERS = {  # version -> others whose names its accuracy lines are known to bear
    "V4": ("V7",),
    "V5": ("V7",),
    "V6": ("V7",),
    "V10": ("V9", "V4"),
}


@dataclass(frozen=True)
class Prints:
    """The lines of a version: one of `must` in every finished round, and none beyond `must` and `may`."""

    must: tuple[str, ...] = ()
    may: tuple[str, ...] = ()


LINES = {  # a mark of a log -> what its line says
    "sigmas": "'Learned Sigmas'",
    "states": "'Post-Training State' with s(p)",
    "bare_states": "'Post-Training State' without s(p)",
    "factors": "'Annealing Factor for this round'",
    "entropies_in_rounds": "'Adaptive Lambda' in every round",
    "preheated": "'Pre-heating'",
    "gammas": "a gamma",
    "stages": "'Running in Stage'",
}
GUARDED = Prints(("states",), ("sigmas", "preheated", "gammas"))
PRINTS: dict[str, Prints] = {
    "V4": Prints(may=("stages",)),
    **{version: Prints() for version in ("V5", "V6", "V7", "V8", *sorted(BASELINES - {"aurorafedavg"}))},
    "V9": Prints(may=("entropies_in_rounds",)),
    "V10": Prints(("sigmas",), ("preheated",)),
    "V11": Prints(("sigmas",), ("preheated", "factors")),
    "V12": Prints(("states", "sigmas"), ("preheated",)),
    **dict.fromkeys(("V13", "V14", "V15", "V16", "V17", "aurorafedavg"), GUARDED),
    **{version: Prints(("bare_states",), ("preheated", "gammas")) for version in ("V18", "V19")},
}
BY_LABEL = {"V4", "V5", "V6", "V8", *BASELINES}  # nobody else was seen to print their names


@dataclass(frozen=True)
class Witnesses:
    """Evidence for the version, apart from the header."""

    configuration: str | None
    preheating: str | None
    label: str | None  # of the accuracy
    lines: str | None  # a line that only one version prints

    def named(self) -> dict[str, str]:
        return {who: version for who, version in vars(self).items() if version is not None}

    def statements(self) -> list[str]:
        words = {
            "configuration": "the configuration names",
            "preheating": "the lines before round 0 name",
            "label": "the accuracy lines name",
            "lines": "only one version prints such lines:",
        }
        return [f"{words[who]} {version}" for who, version in self.named().items()]


def identify(logged: Logged) -> Identified:
    """The method of a log, how it is known, and the evidence in words."""
    marks = logged.marks
    said = dict.fromkeys(version_of(header) for header in marks.headers)
    others = Witnesses(configured(logged), preheated(marks), version_in_names(logged), peculiar(marks))
    if len(said) > 1:
        return unknown([f"it names itself {' and '.join(said)}", *others.statements()])
    if not said:
        return without_header(logged, others)
    header, version = marks.headers[0], next(iter(said))
    evidence = [f"the header is '{header.text}'"]
    against = [*contradictions(version, logged)]
    if against:
        return overruled(version, [*evidence, *against], logged, others)
    foreign = {who: other for who, other in others.named().items() if other != version}
    if foreign.get("label") in LEFTOVERS.get(version, ()) and "preheating" not in foreign:
        evidence.append(f"the accuracy lines still bear the name of {foreign.pop('label')}")
    if foreign:
        return unknown([*evidence, *others.statements()], f"the log disagrees with its header ({version})")
    return identified(version, logged, "read", evidence)


def overruled(version: str, evidence: list[str], logged: Logged, others: Witnesses) -> Identified:
    """The lines rule the header out: accept a version on which two other witnesses agree and that the lines allow."""
    named = list(others.named().values())
    agreed = named[0] if len(named) > 1 and len(set(named)) == 1 else None
    if agreed is None or agreed == version or [*contradictions(agreed, logged)]:
        return unknown([*evidence, *others.statements()], f"its lines do not match {version}")
    return identified(agreed, logged, "inferred", [*evidence, *others.statements()])


def without_header(logged: Logged, others: Witnesses) -> Identified:
    evidence = ["no line names the method", *others.statements()]
    named = others.named()
    versions = set(named.values())
    if not versions:
        there = [text for mark, text in LINES.items() if getattr(logged.marks, mark)]
        return unknown([*evidence, f"lines that are there: {', '.join(there) or 'rounds and accuracies alone'}"])
    version = next(iter(named.values()))
    if len(versions) > 1:
        leftover = named.get("label") in LEFTOVERS.get(version, ()) and versions == {version, named["label"]}
        if not leftover:
            return unknown(evidence, "its lines name different versions")
    against = [*contradictions(version, logged)]
    if against:
        return unknown([*evidence, *against])
    if set(named) == {"label"} and version not in BY_LABEL:
        return unknown([*evidence, "accuracy lines were copied from version to version, so they alone do not decide"])
    return identified(version, logged, "inferred", evidence)


def unknown(evidence: list[str], why: str = "") -> Identified:
    return Identified("unknown", None, "unknown", (*([why] if why else []), *evidence))


def contradictions(version: str, logged: Logged) -> Iterator[str]:
    """Lines that this version does not print, and lines that it prints in every round and that are not there."""
    prints, marks = PRINTS.get(version), logged.marks
    if prints is None:
        return
    for mark, text in LINES.items():
        if getattr(marks, mark) and mark not in (*prints.must, *prints.may):
            yield f"{version} prints no line {text}, and it is there"
    if prints.must and logged.fused and not any(getattr(marks, mark) for mark in prints.must):
        yield f"{version} prints {' or '.join(LINES[mark] for mark in prints.must)} in every round, and it is not there"


def version_of(header: Header) -> str:
    """V12, or the name of a baseline in small letters; the first method of the published code bears no number: V4."""
    name = header.name.lower()
    if name == "ours":
        return "V4" if header.version is None else f"V{header.version}"
    return name


def configured(logged: Logged) -> str | None:
    """An algorithm in the configuration; the published code takes it from the command line."""
    parts: tuple[Mapping[str, Any], ...] = (logged.config, logged.section("server"), logged.section("client"))
    for value in (part.get(key) for part in parts for key in ALGORITHM):
        if isinstance(value, str):
            if found := OURS.search(value):
                return f"V{int(found[1])}"
            if (plain := re.sub(r"[^a-z]", "", value.lower()).removeprefix("oneshot")) in BASELINES:
                return plain
    return None


def preheated(marks: Markers) -> str | None:
    """`Pre-heating V12 models` and `[OneshotOursV12] ...`, if they agree."""
    found = {"aurorafedavg" if who == "AURORA" else who for who in marks.preheated}
    found |= {f"V{number}" for number in marks.bracketed}
    return next(iter(found)) if len(found) == 1 else None


def version_in_names(logged: Logged) -> str | None:
    """The version in the names of the accuracies, if there is one and no second."""
    found = {version for name in logged.fused if (version := label_of(name))}
    if found == {"ensemble"} and not any("feature" in name.lower() for name in logged.fused):
        return None
    found -= {"ensemble"} if len(found) > 1 else set()
    return next(iter(found)) if len(found) == 1 else None


def label_of(name: str) -> str | None:
    if found := OURS.search(name):
        return f"V{int(found[1])}"
    if UNNUMBERED.search(name):
        return "V4"
    plain = re.sub(r"[^a-z]", "", re.sub(r".*\bof\b", "", name.lower())).removeprefix("oneshot")
    return next((own for own in sorted(BASELINES, key=len, reverse=True) if plain.startswith(own)), None)


def peculiar(marks: Markers) -> Literal["V9", "V11"] | None:
    """A line that no other version prints."""
    if marks.factors:
        return "V11"
    learned = marks.sigmas or marks.states or marks.bare_states
    return "V9" if marks.entropies_in_rounds and not learned else None
