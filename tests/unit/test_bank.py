"""Public images, the teacher and its bank, stages and memory (note 1)."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from mooring.client import Before, FirstEpochs, run_client
from mooring.client._public_training import TEACHERS, Bank, build_bank
from mooring.client._state import Memory
from mooring.data._clients import federate, fitted
from mooring.data._digits import Digits
from mooring.data._images import ImageSet
from mooring.data._partition import PARTITIONERS, Dirichlet
from mooring.data._sites import InMemorySite
from mooring.errors import DataError
from mooring.events import Remark
from mooring.losses import BankAttraction, BankContrast, CrossEntropy, MemoryContrast, SupCon
from mooring.methods import METHODS
from mooring.models._network import PROTOTYPES
from mooring.seeds import generator
from mooring.types import FeatureBank, Progress, Step, View


def quiet(_):
    pass


@pytest.fixture(scope="module")
def public(digits):
    return digits.select(torch.arange(1200, 1437))


@pytest.fixture(scope="module")
def banked(make_job, public):
    """A job that carries a bank of the digits."""

    def make(method, bank=None, **training):
        job = make_job(method, **training)
        spec = bank or replace(METHODS[method].bank, teacher_epochs=3, size=128)
        return replace(job, bank=build_bank(spec, public, job, quiet))

    return make


@pytest.mark.parametrize("kind", sorted(set(PARTITIONERS) - {"file", "sites", "fafi_overlap"}))
@pytest.mark.parametrize("ratio", [0.1, 0.5])
def test_no_public_image_reaches_a_client(kind, ratio, digits):
    federation = federate(replace(Digits(), validation=0.1), PARTITIONERS[kind](clients=5), 3, ratio)
    held = {int(i) for client in federation.partition.indices for i in federation.chosen[client]}
    published = {int(i) for i in federation.published}
    assert not held & published
    assert len(federation.public) == len(published) == round(ratio * (1437 - 144))
    assert len(held) + len(published) + len(federation.validation) == 1437
    assert torch.equal(federation.public.images, digits.images[torch.from_numpy(federation.published)])


def test_what_is_public_is_part_of_the_hash():
    one, other = (federate(Digits(), Dirichlet(), 1, ratio) for ratio in (0.1, 0.0))
    assert one.summary().sha256 != other.summary().sha256
    assert one.summary().sha256 == federate(Digits(), Dirichlet(), 1, 0.1).summary().sha256
    assert one.summary().public == 144


def test_public_images_of_another_source_are_fitted_to_the_clients_network():
    colour = ImageSet(torch.full((3, 3, 28, 28), 100, dtype=torch.uint8), torch.arange(3), ("a", "b", "c"))
    grey = fitted(colour, (1, 8, 8))
    assert grey.images.shape == (3, 1, 8, 8)
    assert (grey.images == 100).all()
    assert fitted(grey, (3, 32, 32)).images.shape == (3, 3, 32, 32)


@pytest.mark.parametrize(("size", "kept"), [(50, 50), (237, 237), (9999, 237)])
def test_a_bank_holds_what_was_asked_or_all_there_is_and_says_so(size, kept, make_job, public):
    events = []
    bank = build_bank(Bank(size=size, teacher_epochs=1), public, make_job("v6"), events.append)
    assert bank.features.shape == (kept, 32)
    torch.testing.assert_close(bank.features.norm(dim=1), torch.ones(kept))
    assert bank.labels is None
    assert bank.nbytes == kept * 32 * 4
    said = [event.text for event in events if isinstance(event, Remark)]
    warned = ["bank.size=9999 is more than the 237 public images: the bank holds all of them"]
    assert said == (warned if kept < size else [])


def test_a_bank_is_the_same_for_one_seed_and_its_teacher_matters(make_job, public):
    def bank(epochs, seed=1):
        return build_bank(Bank(size=64, teacher_epochs=epochs), public, make_job("v6", seed=seed), quiet).features

    assert torch.equal(bank(2), bank(2))
    assert not torch.equal(bank(2), bank(2, seed=2))
    assert not torch.equal(bank(2), bank(0))


def test_a_teacher_of_zero_epochs_is_the_common_starting_network(make_job, public):
    job = make_job("v6")
    bank = build_bank(Bank(size=9999, teacher_epochs=0), public, job, quiet)
    start = job.blueprint.build(generator(job.seed, "network")).eval()
    with torch.no_grad():
        torch.testing.assert_close(bank.features, F.normalize(start.embed(public.images)))


def test_labels_of_other_classes_are_rejected(make_job, public):
    two = ImageSet(public.images, public.labels % 2, ("even", "odd"))
    build_bank(Bank(teacher_epochs=0), two, make_job("v6"), quiet)  # without labels any classes do
    with pytest.raises(DataError, match="2 classes, the clients 10"):
        build_bank(Bank(teacher_epochs=0, labelled=True), two, make_job("v6"), quiet)


def test_a_trained_teacher_puts_classes_together(make_job, public):
    bank = build_bank(Bank(size=9999, teacher_epochs=8, labelled=True), public, make_job("v6"), quiet)
    assert attraction(bank.features, bank.labels, bank) > 0.2


def attraction(features, labels, bank):
    """Mean cosine to bank features of the own class, minus that to the others'."""
    similarity = features @ bank.features.T
    same = labels[:, None] == bank.labels
    return (similarity[same].mean() - similarity[~same].mean()).item()


def test_stage_one_of_v6_leaves_the_prototypes_alone(banked, shard_of):
    """As published: the contrast with the bank does not know the prototypes, so the classifier stays at its start."""
    method = "v6"
    job = banked(method, rounds=1, local_epochs=1)  # one epoch: stage 1 and nothing else
    (upload,) = run_client(job, InMemorySite(0, shard_of([0, 1, 2], 30)), quiet)
    start = job.blueprint.build(generator(job.seed, "network"))
    assert torch.equal(upload.tensors[PROTOTYPES], start.prototypes)
    assert not torch.equal(upload.tensors["encoder.0.weight"], start.state_dict()["encoder.0.weight"])
    (upload,) = run_client(banked(method, rounds=1, local_epochs=2), InMemorySite(0, shard_of([0, 1, 2], 30)), quiet)
    assert not torch.equal(upload.tensors[PROTOTYPES], start.prototypes)


def test_stage_one_of_the_sound_variant_moves_features_to_their_class_in_the_bank(banked, shard_of):
    """Cosine to the own class minus cosine to the others: it grows by more than 0.1 in stage 1, and V6's does not."""
    shard = shard_of(range(10), 20)
    gained = {}
    for method in ("two-stage-aligned", "v6"):
        spec = Bank(size=9999, teacher_epochs=8, labelled=True)
        job = banked(method, spec, rounds=1, local_epochs=10)
        stage = replace(job.recipe.stages[0], when=Before(1.0))
        job = replace(job, recipe=replace(job.recipe, stages=(stage,)))
        start = job.blueprint.build(generator(job.seed, "network")).eval()
        (upload,) = run_client(job, InMemorySite(0, shard), quiet)
        end = job.blueprint.build(generator(job.seed, "network"))
        end.load_state_dict({name: t for name, t in upload.tensors.items() if name != "label_counts"})
        with torch.no_grad():
            before, after = (
                attraction(net(shard.images).features, shard.labels, job.bank) for net in (start, end.eval())
            )
        gained[method] = after - before
    assert gained["two-stage-aligned"] > 0.1
    assert gained["two-stage-aligned"] > gained["v6"] + 0.1


def step_with(bank=None, memory=None, seed=0, labels=(0, 0, 1, 2)):
    rng = generator(seed, "step")
    views = tuple(View(torch.zeros(4, 3), F.normalize(torch.randn(4, 6, generator=rng))) for _ in range(2))
    return Step(torch.tensor(labels), views, torch.zeros(3, 6), None, Progress(), bank, memory)


def some_bank(labels=None, size=5):
    features = F.normalize(torch.randn(size, 6, generator=generator(9, "bank")))
    return FeatureBank(features, None if labels is None else torch.tensor(labels))


def test_an_empty_bank_is_plain_supcon():
    empty = FeatureBank(torch.zeros(0, 6), torch.zeros(0, dtype=torch.int64))
    for term, step in (
        (BankContrast(0.5), step_with(bank=empty)),
        (BankAttraction(0.5), step_with(bank=empty)),
        (MemoryContrast(0.5), step_with(memory=empty)),
    ):
        torch.testing.assert_close(term(step), SupCon(0.5)(step))


def test_bank_contrast_by_hand():
    """Two views of one sample and one bank feature: -log(e^{z1.z2/t} / (e^{z1.z2/t} + e^{z.b/t})), mean of both."""
    z = F.normalize(torch.tensor([[1.0, 0.0], [0.6, 0.8]]))
    bank = FeatureBank(torch.tensor([[0.0, 1.0]]))
    step = Step(torch.tensor([0]), (View(z[:1], z[:1]), View(z[1:], z[1:])), z, None, Progress(), bank)
    both = np.exp(0.6 / 0.5)
    expected = -0.5 * (np.log(both / (both + np.exp(0.0))) + np.log(both / (both + np.exp(0.8 / 0.5))))
    assert BankContrast(0.5)(step).item() == pytest.approx(expected, rel=1e-5)


def test_a_label_free_bank_repels_and_a_labelled_one_attracts_its_class():
    assert BankContrast(0.5)(step_with(bank=some_bank())) > SupCon(0.5)(step_with())
    bank = FeatureBank(torch.eye(2), torch.tensor([0, 1]))
    between = F.normalize(torch.ones(2, 2)).requires_grad_()
    views = tuple(View(view, view) for view in between.chunk(2))
    step = Step(torch.tensor([0]), views, torch.zeros(2, 2), None, Progress(), bank)
    (gradient,) = torch.autograd.grad(BankAttraction(0.5)(step), between)
    own, other = (F.normalize(between - 0.1 * gradient) @ bank.features.T)[0].tolist()
    assert own > other


def test_own_class_entries_of_a_memory_are_left_out():
    features = some_bank().features
    own = FeatureBank(features, torch.zeros(5, dtype=torch.int64))
    others = FeatureBank(features, torch.full((5,), 7))
    step = step_with(memory=own, labels=(0, 0, 0, 0))
    torch.testing.assert_close(MemoryContrast(0.5)(step), SupCon(0.5)(step))
    assert MemoryContrast(0.5)(step_with(memory=others)) > SupCon(0.5)(step_with())


def test_a_memory_forgets_the_oldest_first():
    memory = Memory(4, 1)
    assert memory.bank().features.shape == (0, 1)
    for value in range(6):
        memory.remember(torch.full((1, 1), float(value)), torch.tensor([value]))
    assert sorted(memory.bank().labels.tolist()) == [2, 3, 4, 5]
    memory.remember(torch.arange(9.0)[:, None], torch.arange(9))
    assert sorted(memory.bank().labels.tolist()) == [5, 6, 7, 8]


def test_a_memory_lasts_over_rounds(make_job, shard_of):
    """With a memory, round boundaries change nothing: the same end for 1 x 4 and 4 x 1 epochs."""
    shard = shard_of([0, 1], 20)
    ends = [
        list(run_client(make_job("memory-bank", rounds=r, local_epochs=e), InMemorySite(0, shard), quiet))[-1].tensors[
            PROTOTYPES
        ]
        for r, e in ((1, 4), (4, 1))
    ]
    assert torch.equal(*ends)


@pytest.mark.parametrize(
    ("when", "progress", "holds"),
    [
        (FirstEpochs(1), Progress(50, 100, epoch=0, local_epochs=5, round=5, rounds=10), True),
        (FirstEpochs(1), Progress(51, 100, epoch=1, local_epochs=5, round=5, rounds=10), False),
        (FirstEpochs(0), Progress(), False),
        (Before(0.1), Progress(9, 100), True),
        (Before(0.1), Progress(10, 100), False),
    ],
)
def test_stages_know_their_time(when, progress, holds):
    assert when(progress) is holds


def test_the_published_teacher_learns_by_cross_entropy_from_images_as_they_are(make_job, public):
    job = make_job("v6")
    ours, published = (
        build_bank(Bank(64, teacher_epochs=1, teacher=teacher), public, job, quiet)
        for teacher in ("fafi", "cross-entropy")
    )
    assert ours.features.shape == published.features.shape
    assert not torch.equal(ours.features, published.features)
    recipe = TEACHERS["cross-entropy"]
    assert (recipe.terms, recipe.views.count) == ((CrossEntropy(),), 1)
    seen = recipe.views(public.images[:8], False, generator(0, "augment"))
    torch.testing.assert_close(seen, public.images[:8].float() / 255, atol=1e-5, rtol=0)
