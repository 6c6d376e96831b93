"""A part made in Python refuses what a part from YAML refuses: over everything that an experiment can be made of."""

from dataclasses import fields, is_dataclass
from math import inf, nan
from typing import Annotated, Literal, get_args, get_origin, get_type_hints

import pytest
from annotated_types import Ge, Gt, Le, Lt
from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.client import ClientRecipe, FirstEpochs, Stage, Training
from mooring.client._public_training import Bank
from mooring.config import Experiment
from mooring.config._parse import PART_KINDS
from mooring.data._digits import Digits
from mooring.data._images import Source
from mooring.data._partition import Dirichlet, FromFile
from mooring.errors import ConfigError
from mooring.fusion import FUSIONS, Analytic
from mooring.losses import CrossEntropy
from mooring.methods import Method
from mooring.models._feature_maps import EncoderFile, OnnxFile, Pixels, ResNetFile
from mooring.schema import NO_VALUE, Builder, Checked, shape_of
from mooring.uploads._mixtures import Mixtures
from mooring.uploads._moments import Moments
from mooring.uploads._privacy import Privacy
from mooring.weighting import Annealed, ByEntropy, Fixed, Uncertainty
from mooring.weighting._uncertainty import Sigma, Values

REQUIRED = {  # what has no default
    EncoderFile: {"path": "encoder.safetensors"},
    Privacy: {"epsilon": 3.0},
    OnnxFile: {"path": "encoder.onnx"},
    ResNetFile: {"path": "resnet.safetensors"},
    FromFile: {"path": "split.json"},
    Method: {"client": ClientRecipe(()), "fusion": None},
    ClientRecipe: {"terms": ()},
    Stage: {"when": FirstEpochs(), "terms": ()},
    Mixtures: {"map": Pixels()},
    Moments: {"map": Pixels(), "second": "shared"},
}


OUTSIDE = {Gt: ("gt", (0, -1)), Ge: ("ge", (-1, -1000)), Lt: ("lt", (0, 1)), Le: ("le", (1, 1000))}


def members(annotation):
    """All types inside an annotation, itself included."""
    inside = [get_args(annotation)[0]] if get_origin(annotation) is Annotated else get_args(annotation)
    nested = [] if get_origin(annotation) is Literal else [found for part in inside for found in members(part)]
    return [annotation, *nested]


def reached(cls, found):
    """All dataclasses that a value of `cls` can be made of."""
    if cls not in found:
        found.append(cls)
        for annotation in hints(cls).values():
            for member in members(annotation):
                for part in PART_KINDS[member].kinds.values() if member in PART_KINDS else [member]:
                    if is_dataclass(part):
                        reached(part, found)
    return found


def hints(cls):
    every = get_type_hints(cls, include_extras=True)
    return {field.name: every[field.name] for field in fields(cls)}


PARTS = {type(part) for rule in FUSIONS.values() for part in rule().needs}
EVERY = {cls for start in (Experiment, *PARTS) for cls in reached(start, []) if fields(cls)}
CLASSES = sorted(EVERY - {Source}, key=lambda cls: (cls.__module__, cls.__name__))
FIELDS = [pytest.param(cls, name, id=f"{cls.__name__}.{name}") for cls in CLASSES for name in hints(cls)]


def wrong(annotation):
    """Values that the annotation does not allow."""
    for member in members(annotation):
        if get_origin(member) is Annotated:
            for bound in (bound for bound in get_args(member)[1:] if type(bound) in OUTSIDE):
                side, outside = OUTSIDE[type(bound)]
                yield from (getattr(bound, side) + distance for distance in outside)
        elif get_origin(member) is Literal:
            yield "lineer"
        elif get_origin(member) is tuple and get_args(member)[1] is Ellipsis:
            yield from ((value,) for value in wrong(get_args(member)[0]))
        elif get_origin(member) is dict:
            yield from ({3: None}, {"key": 3})
        elif member in (int, float):
            yield from ("1", True, nan, inf)
        elif member is bool:
            yield from (1, "true")
        elif member is str:
            yield 3
        elif is_dataclass(member):
            yield "digits"


@pytest.mark.parametrize(("cls", "name"), FIELDS)
def test_a_field_rejects_what_it_may_not_hold(cls, name):
    """In one line: class, field, value, what is valid."""
    annotation = hints(cls)[name]
    for value in wrong(annotation):
        if leaf(annotation) and from_yaml(annotation, value) is not NO_VALUE:
            continue  # another member of a union takes it
        with pytest.raises(ConfigError, match=rf"^{cls.__name__}\.{name}=.*: must ") as rejected:
            cls(**REQUIRED.get(cls, {}) | {name: value})
        assert "\n" not in str(rejected.value)


def from_yaml(annotation, value):
    """What a configuration makes of it; NOTHING if it rejects it."""
    return Builder().build(annotation, value)


def leaf(annotation):
    """Is it made of plain values alone?"""
    return not any(member in PART_KINDS or is_dataclass(member) for member in members(annotation))


LEAVES = {repr(hints(cls)[name]): hints(cls)[name] for cls in CLASSES for name in hints(cls) if leaf(hints(cls)[name])}
numbers = st.one_of(st.integers(-(10**6), 10**6), st.floats(allow_nan=True), st.sampled_from([0, 0.0, 1, 1.0, 0.5, -1]))
plain = st.one_of(numbers, st.booleans(), st.none(), st.text(max_size=5), st.sampled_from(["all", "linear", "cpu"]))


@pytest.mark.parametrize("annotation", LEAVES)
@settings(max_examples=80, deadline=None)
@given(value=st.one_of(plain, st.lists(numbers, max_size=3).map(tuple)))
def test_python_and_yaml_agree_on_every_kind_of_field(annotation, value):
    """Python takes whatever YAML makes of a value, and nothing that YAML refuses."""
    shape, read = shape_of(LEAVES[annotation]), from_yaml(LEAVES[annotation], value)
    if read is NO_VALUE:
        assert shape.problem(value) is not None
    else:
        assert shape.problem(read) is None


@pytest.mark.parametrize("cls", CLASSES)
def test_every_part_with_fields_is_checked(cls):
    assert Checked in cls.__mro__


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Fixed(-3.0), "Fixed.value=-3.0: must be 0 or more"),
        (lambda: Training(rounds=0), "Training.rounds=0: must be 1 or more"),
        (lambda: Training(clip=0.0), "Training.clip=0.0: must be above 0, or null"),
        (lambda: Dirichlet(alpha=-1), "Dirichlet.alpha=-1: must be above 0"),
        (lambda: Analytic(ridge=0), "Analytic.ridge=0: must be above 0"),
        (lambda: Bank(size=0), "Bank.size=0: must be 1 or more"),
        (lambda: Bank(size=4.0), "Bank.size=4.0: must be a whole number"),
        (lambda: Digits(limit=True), "Digits.limit=True: must be a whole number, or null"),
        (lambda: Values(u=nan), "Values.u=nan: must be a finite number"),
        (lambda: Uncertainty(sigma=0.1), "Uncertainty.sigma=0.1: must be a Sigma"),
        (lambda: Annealed(Fixed(2.0), "lineer"), "Annealed.schedule='lineer': must be constant, linear, "),
        (lambda: ClientRecipe([CrossEntropy()]), "ClientRecipe.terms=[CrossEntropy()]: must be a tuple"),
        (lambda: ByEntropy(5.0, 1.0), "ByEntropy.minimum=5.0: is above maximum=1.0; swap them"),
        (lambda: Uncertainty("lineer", "x"), "Uncertainty.ratio='lineer': must be constant, linear, "),
    ],
)
def test_a_rejection_names_class_field_value_and_what_is_valid(make, told):
    with pytest.raises(ConfigError) as rejected:
        make()
    assert str(rejected.value).startswith(told)


def test_all_fields_that_are_wrong_are_told_at_once():
    with pytest.raises(ConfigError) as rejected:
        Training(rounds=0, lr=-1.0, lr_schedule="fast")
    assert [problem.partition("=")[0] for problem in rejected.value.problems] == [
        "Training.rounds",
        "Training.lr",
        "Training.lr_schedule",
    ]


def test_what_is_valid_is_kept_as_it_is():
    assert Sigma(lr=1, start=Values(2, -3)).rate(0.5) == 1
    assert Training(snapshots=(0, 3), clip=None).kept() == (0, 3, 9)
    assert type(Fixed(5).value) is int
