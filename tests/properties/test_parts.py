"""Promises that every part of an upload keeps."""

from dataclasses import dataclass, fields
from typing import ClassVar

import pytest
import torch

from mooring.errors import UploadError
from mooring.federation._explain import UNKNOWN, sentence_of
from mooring.fusion import FUSIONS
from mooring.models._backbones import DigitsNet
from mooring.models._feature_maps import Pixels, RandomEncoder, RandomFilters, WhitenedFilters
from mooring.models._heads import FixedSimplex, Linear, RawPrototypes, UnitPrototypes
from mooring.models._network import PROTOTYPES, Blueprint
from mooring.schema import canonical_json, digest, to_tree
from mooring.seeds import generator
from mooring.uploads import (
    Encoder,
    LabelCounts,
    Prototypes,
    UploadFacts,
    expected_of,
    extract_parts,
    reveals_count,
    sentence_in,
    sentences_of,
    wire_name,
)
from mooring.uploads._fisher import FisherDiagonal
from mooring.uploads._grams import Grams
from mooring.uploads._mixtures import Mixtures
from mooring.uploads._moments import Moments

FILTERS = RandomFilters(filters=4, side=3)
ADDING = [LabelCounts(), Grams(), *(Moments(FILTERS, second) for second in ("shared", "per-class", "diagonal"))]
WITH_SETTINGS = [Mixtures(FILTERS, 2), Mixtures(Pixels(), 2, "spherical"), Moments(RandomEncoder(), "shared")]
OF_RULES = {part.kind: part for rule in FUSIONS.values() for part in rule().needs}
ALL = [*ADDING, *WITH_SETTINGS]
ALL += [OF_RULES[kind] for kind in sorted(OF_RULES.keys() - {part.kind for part in ALL})]
HEADS = [RawPrototypes(), UnitPrototypes(), Linear(), FixedSimplex()]
every_part = pytest.mark.parametrize("part", ALL, ids=lambda part: f"{part.kind}-{ALL.index(part)}")


def blueprint_with(head):
    return Blueprint(DigitsNet(0.5), head, (1, 8, 8), tuple("0123456789"), (0.3,), (0.4,))


@pytest.fixture(scope="module")
def shards(shard_of):
    return [shard_of([0, 1, 2], 24), shard_of([2, 5], 11)]


@pytest.fixture(scope="module")
def network(shards):
    network = blueprint_with(UnitPrototypes()).build(generator(3, "network"))
    with torch.no_grad():
        network(shards[0].images)  # its batch norms have seen something
    return network.eval()


def union(shards):
    first, second = shards
    whole = torch.cat([first.images, second.images]), torch.cat([first.labels, second.labels])
    return type(first)(*whole, first.classes)


@every_part
@pytest.mark.parametrize("head", HEADS, ids=lambda head: head.kind)
def test_a_part_makes_what_it_says_and_accepts_it(part, head, shards):
    network = blueprint_with(head).build(generator(3, "network")).eval()
    for shard in shards:
        tensors, expected = part(network, shard), part.expected(network.blueprint)
        assert [(n, t.shape, t.dtype) for n, t in tensors.items()] == [
            (n, t.shape, t.dtype) for n, t in expected.items()
        ]
        assert part.check(tensors, UploadFacts(len(shard))) == []


def spoilt(part, network, shard, which, change):
    tensors = dict(part(network, shard))
    name = next(name for name in tensors if which in name)
    return name, part.check({**tensors, name: change(tensors[name].clone())}, UploadFacts(len(shard)))


@pytest.mark.parametrize(
    ("part", "which", "change", "message"),
    [
        (Encoder(), "running_var", lambda v: -v, "holds a negative variance"),
        (LabelCounts(), "label_counts", lambda n: n + 1, "does not add up to its 72 samples"),
        (LabelCounts(), "label_counts", lambda n: n - n.roll(1), "does not add up to its 72 samples"),
        (FisherDiagonal(), PROTOTYPES, lambda f: f - 1, "holds negative information"),
        (Grams(), "encoder.0", lambda g: -g, "is not a sum of squares"),
        (Grams(), PROTOTYPES, lambda g: g.flip(0), "is not a sum of squares"),
        *[
            case
            for second in ("shared", "per-class", "diagonal")
            for case in (
                (Moments(FILTERS, second), ".counts", lambda n: n * 2, "does not add up to its 72 samples"),
                (Moments(FILTERS, second), ".sums", lambda s: s + 1e-3, "has sums for a class without images"),
                (Moments(FILTERS, second), ".second", lambda s: -s, "holds a negative variance"),
                (Moments(FILTERS, second), ".second", lambda s: s / 1000, "holds a negative variance"),
            )
        ],
        (Mixtures(FILTERS, 2), ".counts", lambda n: n * 0, "does not add up to its 72 samples"),
        (Mixtures(FILTERS, 2), ".weights", lambda w: w * 2, "does not hold shares of the classes with images"),
        (Mixtures(FILTERS, 2), ".weights", lambda w: w + 0.5, "does not hold shares of the classes with images"),
        (Mixtures(FILTERS, 2), ".variances", lambda v: -v, "holds a negative variance"),
    ],
)
def test_a_part_rejects_what_no_images_can_give_by_name(part, which, change, message, network, shards):
    name, problems = spoilt(part, network, shards[0], which, change)
    assert f"tensor {name!r} {message}" in problems


@pytest.mark.parametrize("part", ADDING, ids=lambda part: f"{part.kind}-{ADDING.index(part)}")
def test_parts_of_two_sets_add_up_to_the_part_of_both(part, network, shards):
    a, b = (part(network, shard) for shard in shards)
    whole, both = part(network, union(shards)), part.add(a, b)
    assert both.keys() == whole.keys()
    for name, tensor in whole.items():
        torch.testing.assert_close(both[name], tensor, rtol=1e-4, atol=1e-4 * float(tensor.abs().max()))
    assert part.check(both, UploadFacts(sum(map(len, shards)))) == []


def test_all_parts_together_claim_every_name_once(network, shards):
    tensors = extract_parts(frozenset(ALL), network, shards[0])
    expected = expected_of(frozenset(ALL), network.blueprint)
    assert list(tensors) == list(expected) == sorted(tensors)
    assert len(tensors) == sum(len(part.expected(network.blueprint)) for part in ALL)


@dataclass(frozen=True)
class Thief(Prototypes):
    kind: ClassVar[str] = "thief"


def test_two_parts_cannot_claim_one_tensor(network, shards):
    parts = frozenset({Thief(), Prototypes()})
    message = r"parts prototypes and thief both claim the tensor 'head.prototypes'"
    with pytest.raises(UploadError, match=message):
        expected_of(parts, network.blueprint)
    with pytest.raises(UploadError, match=message):
        extract_parts(parts, network, shards[0])


GOLDEN = {
    "moments-0cedd14c": Moments(RandomFilters(), "shared"),
    "moments-363009b6": Moments(RandomFilters(filters=16), "per-class"),
    "moments-393f4962": Moments(Pixels(), "diagonal"),
    "moments-bbd06e8c": Moments(RandomEncoder(seed=7), "shared"),
    "moments-4fd663a8": Moments(WhitenedFilters(), "shared", "float32"),
    "mixtures-ba258fcf": Mixtures(RandomFilters()),
    "mixtures-a73ecd0b": Mixtures(Pixels(), components=3, covariance="spherical", floor=1e-3),
}


@pytest.mark.parametrize(("name", "part"), GOLDEN.items(), ids=GOLDEN)
def test_a_name_on_the_wire_is_for_ever(name, part):
    """A name that changes orphans every upload there is. A part that computes something else is another kind."""
    assert wire_name(part) == name
    assert all(tensor.partition(".")[0] == name for tensor in part.expected(blueprint_with(RawPrototypes())))


@pytest.mark.parametrize(
    ("value", "defaults"),
    [
        (RandomFilters(), {"kind": "random-filters", "filters": 64, "side": 6, "threshold": 0.5, "seed": 0}),
        (RandomEncoder(), {"kind": "random-encoder", "seed": 0}),
        (
            WhitenedFilters(),
            {
                "kind": "whitened-filters",
                "channels": 544,
                "filters": 1024,
                "side": 6,
                "threshold": 0.5,
                "whitening": 1.0,
                "grid": 2,
                "views": None,
                "seed": 0,
            },
        ),
        (Pixels(), {"kind": "pixels"}),
        (
            Mixtures(Pixels()),
            {"kind": "mixtures", "map": {"kind": "pixels"}, "components": 10, "covariance": "diagonal", "floor": 1e-4},
        ),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_defaults_that_names_leave_out_are_for_ever(value, defaults):
    """New fields may join with a default of their own; a default that changes needs a new kind."""
    assert {name: part for name, part in to_tree(value).items() if name in defaults} == defaults


def test_a_new_setting_with_a_default_changes_no_name():
    @dataclass(frozen=True)
    class Grown(Mixtures):
        rounds: int = 100

    assert [f.name for f in fields(Grown)][-1] == "rounds"
    assert wire_name(Grown(Pixels(), 3)) == wire_name(Mixtures(Pixels(), 3))
    assert wire_name(Grown(Pixels(), 3, rounds=5)) != wire_name(Mixtures(Pixels(), 3))


def test_names_of_parts_without_settings_are_for_ever(network):
    names = {part.kind: list(part.expected(network.blueprint)) for part in ALL}
    assert names["label-counts"] == ["label_counts"]
    assert names["class-means"] == ["class_means"]
    assert names["prototypes"] == ["head.prototypes"]
    assert names["encoder"][0] == "encoder.0.weight"
    assert names["encoder"][-2:] == ["head.embedding.weight", "head.embedding.bias"]
    assert names["fisher-diagonal"][:2] == ["fisher.encoder.0.weight", "fisher.encoder.1.weight"]
    assert names["grams"][0] == "gram.encoder.0.weight"


def test_canonical_text_is_one_text():
    assert canonical_json({"b": 1.0, "a": (True, None, "ä")}) == '{"a":[true,null,"\\u00e4"],"b":1}'
    assert digest({"x": 0.5, "y": 2}) == digest({"y": 2.0, "x": 0.5})
    assert digest({"x": 0.5}) != digest({"x": 0.25})


@every_part
def test_a_part_may_be_sent_without_counts_if_twice_the_images_make_no_other(part, network, shards):
    """Every image twice: means and weights stay, sums and counts do not, and from these n could be told."""
    once, twice = (
        extract_parts(frozenset({part}), network, shard) for shard in (shards[0], union([shards[0], shards[0]]))
    )
    same = all(torch.allclose(once[name].double(), twice[name].double(), atol=1e-6) for name in once)
    assert same != part.counts_images


@every_part
def test_every_tensor_of_a_part_has_a_sentence_of_its_own_part(part, network):
    sentences = sentences_of([part])
    for name in part.expected(network.blueprint):
        assert sentence_in(sentences, name) == sentence_of(name), name


class OfAUser:
    """A user's part need not inherit: what it does not say has a default."""


class OfAnotherUser:
    counts_images = False
    sentences: ClassVar = {"own_accuracy": "the share of its images that the site's network gets right"}


def test_a_part_that_says_nothing_is_taken_for_one_that_counts_images():
    assert reveals_count(OfAUser())
    assert sentence_of("own_accuracy", [OfAUser()]) == UNKNOWN
    assert not reveals_count(OfAnotherUser())
    assert sentence_of("own_accuracy", [OfAnotherUser()]).startswith("the share of its images")


def test_a_part_of_a_user_cannot_change_the_sentence_of_another_part():
    class Liar:
        sentences: ClassVar = {"label_counts": "nothing"}

    assert sentence_of("label_counts", [Liar()]) == sentence_of("label_counts") != "nothing"
