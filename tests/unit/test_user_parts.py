"""Parts that users write: whatever is wrong with one is one line with their file and line, before anything runs."""

from itertools import count

import pytest

from mooring.config import as_yaml, load, parse
from mooring.config._parse import PART_KINDS
from mooring.config._user_parts import members, shape_problem
from mooring.errors import ConfigError
from mooring.weighting import Weighting

NUMBERS = count()
START = """
from dataclasses import dataclass
from typing import ClassVar
import torch
from mooring.fusion import Fusion
from mooring.weighting import LambdaBounds, Equilibrium, Weighting
from mooring.weighting._fixed import ConstantBalancer
"""
SINE = """
@dataclass(frozen=True)
class Sine:
    kind: ClassVar[str] = "sine"
    value: float = 2.0

    def start(self, facts, rng):
        return ConstantBalancer(self.value)

    def stationary(self, local, align, progress, facts):
        return Equilibrium(self.value, self.value)

    def outlook(self, facts, lr, momentum, largest_local):
        return LambdaBounds(largest=self.value)
"""
RULE = """
@dataclass(frozen=True)
class Rule(Fusion):
    kind: ClassVar[str] = "rule"

    @property
    def needs(self):
        return frozenset()

    def __call__(self, uploads, server):
        return torch.nn.Identity()
"""
METHOD = """
from dataclasses import replace
from mooring.methods import METHODS
MINE = METHODS["v4"].aligned(Sine(3.0), about="mine")
"""


@pytest.fixture
def lab(tmp_path, monkeypatch):
    """A module of the user's in the current folder; its name, and the line on which a text stands in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def write(text):
        name = f"lab_{next(NUMBERS)}"
        (tmp_path / f"{name}.py").write_text(START + text)
        lines = (START + text).splitlines()

        def at(words):
            return f"{name}.py:{next(i for i, line in enumerate(lines, 1) if words in line)}: "

        return name, at

    return write


def problem(*words):
    with pytest.raises(ConfigError) as caught:
        load(None, words)
    (told,) = caught.value.problems
    assert "\n" not in told
    return told


def test_a_sound_part_is_used_and_says_so(lab):
    name, _ = lab(SINE)
    (experiment,) = load(None, ["method=v7", f"weight={name}:Sine", "weight.value=3"])
    assert experiment.label == f"v7 + weight={name}:Sine, weight.value=3"
    assert experiment.title == f"digits-v7-weight-sine-weight.value-3-{experiment.fingerprint()[:8]}"
    assert parse(experiment.tree())[0].label == experiment.label
    assert f"kind: {name}:Sine" in as_yaml(experiment.tree())


CALLED = "cannot be called as it will be; write def start(self, facts, rng)"
KIND = 'Sine has no kind; add kind: ClassVar[str] = "sine"'
FROZEN = "Sine is not a frozen dataclass; write @dataclass(frozen=True) above it"
FIELD = "value: float = 2.0"
POST = f"{FIELD}\n\n    def __post_init__(self):\n        raise ValueError('too\\nlarge')\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("@dataclass(frozen=True)", "", "class Sine", FROZEN),
        ("(frozen=True)", "", "@dataclass", FROZEN),
        ('    kind: ClassVar[str] = "sine"', "", "@dataclass", KIND),
        ("kind: ClassVar[str]", "kind: str", "@dataclass", KIND),
        ('kind: ClassVar[str] = "sine"', "kind: ClassVar[int] = 3", "@dataclass", KIND),
        ("(self, facts, rng)", "(self, facts)", "def start", f"Sine.start {CALLED}"),
        ("(self, facts, rng)", "(self, facts, rng, more)", "def start", f"Sine.start {CALLED}"),
        ("def start(self, facts, rng)", "start = 3\n\n    def begin(self)", "@dataclass", f"Sine.start {CALLED}"),
        (
            "def stationary",
            "def rest",
            "@dataclass",
            "Sine is not a valid weighting; add stationary(local, align, progress, facts)",
        ),
        (
            FIELD,
            'value: "Amount" = 2.0',
            "@dataclass",
            "a field of Sine has an unknown type (name 'Amount' is not defined)",
        ),
        (
            FIELD,
            "value: torch.Tensor = None",
            "@dataclass",
            "Sine.value has a type that cannot be configured; use numbers",
        ),
        (FIELD, "value: object = torch", "@dataclass", "Sine.value holds a module; use numbers"),
        (FIELD, POST, "raise", "ValueError: too large; mend it there"),
    ],
)
def test_a_part_of_the_wrong_shape(lab, old, new, line, told):
    name, at = lab(SINE.replace(old, new, 1))
    message = problem("method=v7", f"weight={name}:Sine")
    assert message.startswith("method.client.align.weight")
    assert at(line) + told in message


@pytest.mark.parametrize(
    "sound",
    [
        SINE.replace("def start(self, facts", "@staticmethod\n    def start(facts").replace("(self.value)", "(2.0)"),
        SINE.replace("(self, facts, rng)", "(self, *anything)"),
        SINE.replace("(self, facts, rng)", "(self, facts, rng, more=None)"),
        SINE.replace("class Sine:", "class Sine(Weighting):"),
        SINE.replace(FIELD, "value: float | None = None"),
    ],
)
def test_many_shapes_are_fine(lab, sound):
    name, _ = lab(sound)
    assert load(None, ["method=v7", f"weight={name}:Sine"])


def test_a_protocols_stubs_are_nobodys_methods(lab):
    name, at = lab(SINE.replace("class Sine:", "class Sine(Weighting):").replace("def start", "def begin"))
    assert f"{at('@dataclass')}Sine is not a valid weighting; add start(facts, rng)" in problem(
        "method=v7", f"weight={name}:Sine"
    )


def test_a_field_without_a_type_is_none(lab):
    name, at = lab(SINE.replace(FIELD, "value = 2.0"))
    told = problem("method=v7", f"weight={name}:Sine", "weight.value=3")
    assert f"{at('@dataclass')}value has no type, which would make it a field; write value: float = ..." in told


def test_a_fusion_given_as_a_weighting(lab):
    name, at = lab(RULE)
    told = problem("method=v7", f"weight={name}:Rule")
    assert f"{at('@dataclass')}Rule is not a valid weighting; add start(facts, rng), stationary(" in told
    assert told.endswith("(Rule has the shape of a fusion)")
    assert load(None, ["method=v7", f"fusion={name}:Rule"])


def test_a_property_without_its_decorator(lab):
    name, at = lab(RULE.replace("    @property\n", ""))
    assert f"{at('def needs')}Rule.needs is a method; write @property above it" in problem(
        "method=v7", f"fusion={name}:Rule"
    )


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        ("class Sine(:\n", "class Sine", "SyntaxError: invalid syntax; mend it there"),
        (
            "import no_such_library\n",
            "import no",
            "ModuleNotFoundError: No module named 'no_such_library'; mend it there",
        ),
        ("LARGEST = 1 / 0\n", "LARGEST", "ZeroDivisionError: division by zero; mend it there"),
        ("torch.zeros(2) @ torch.zeros(3)\n", "torch.zeros", "RuntimeError: inconsistent tensor size"),
        ("raise SystemExit(3)\n", "raise", "SystemExit: 3; mend it there"),
        ("@dataclass(frozen=True)\nclass Sine:\n    a: list = []\n", "@dataclass", "ValueError: mutable default"),
        ("Sine = 3.0\n", "Sine = ", "is a float; name a class"),
        ("def Sine(step):\n    return 0\n", "def Sine", "is a function; name a class"),
    ],
)
def test_a_module_that_does_not_hold_what_it_should(lab, text, line, told):
    name, at = lab(text)
    assert at(line) + told in problem("method=v7", f"weight={name}:Sine")


def test_a_module_that_is_not_there_and_a_name_that_is_not_in_it(lab):
    assert "cannot be imported (No module named 'nowhere')" in problem("method=v7", "weight=nowhere:Sine")
    assert "cannot be imported" in problem("method=v7", "weight=:Sine")
    name, _ = lab(SINE)
    assert f"module {name} has no 'Sin'; did you mean 'Sine'?" in problem("method=v7", f"weight={name}:Sin")


def test_a_partitioner_is_looked_at_with_everything_else(lab):
    name, at = lab(SINE)
    with pytest.raises(ConfigError) as caught:
        load(None, [f"partition={name}:Sine", "seed=-1"])
    assert len(caught.value.problems) == 2
    assert any(f"{at('@dataclass')}Sine is not a valid partitioner; add" in told for told in caught.value.problems)


def test_a_source_of_ones_own_is_a_source(lab):
    name, at = lab(SINE.replace("kind:", "source:"))
    assert f"{at('@dataclass')}Sine is not a valid source; write class Sine(Source)" in problem(f"data={name}:Sine")


@pytest.mark.parametrize(
    ("text", "line", "told"),
    [
        (
            SINE.replace("def stationary", "def rest") + METHOD,
            "@dataclass",
            "Sine is not a valid weighting; add stationary",
        ),
        (SINE + METHOD.replace("Sine(3.0)", "Sine(torch)"), "@dataclass", "Sine.value holds a module"),
        (SINE + METHOD + "MINE = MINE.client\n", "MINE = MINE", "is a ClientRecipe; it must be a mooring.Method"),
        (SINE + METHOD + "1 / 0\n", "1 / 0", "ZeroDivisionError: division by zero; mend it there"),
    ],
)
def test_a_method_of_ones_own_is_looked_into(lab, text, line, told):
    name, at = lab(text)
    assert at(line) + told in problem(f"method={name}:MINE")


def test_a_method_of_ones_own_can_be_sound(lab):
    name, _ = lab(SINE + METHOD)
    (experiment,) = load(None, [f"method={name}:MINE", "weight.value=4"])
    assert experiment.label == f"{name}:MINE + weight.value=4"
    assert experiment.title.startswith(f"digits-{name}-mine-weight.value-4-")


@pytest.mark.parametrize("family", PART_KINDS, ids=lambda family: family.__name__)
def test_every_part_of_the_house_has_the_shape_of_its_family(family):
    slot = PART_KINDS[family]
    assert {kind: shape_problem(cls, family, slot.key) for kind, cls in slot.kinds.items()} == dict.fromkeys(slot.kinds)


def test_what_a_weighting_is_asked_for():
    assert set(members(Weighting)) == {"start", "stationary", "outlook"}
