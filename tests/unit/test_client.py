from dataclasses import replace

import pytest
import torch

from mooring.client import run_client
from mooring.client._loop import facts_of
from mooring.client._public_training import Bank
from mooring.client._state import ClientState
from mooring.data._sites import InMemorySite
from mooring.errors import TrainingError
from mooring.events import ClientRecord, ClientStarved
from mooring.losses import LOSSES, CrossEntropy
from mooring.methods import METHODS, Method
from mooring.uploads import Prototypes
from mooring.weighting import Annealed, Fixed, Uncertainty


def train(job, shard, client=0):
    events = []
    uploads = list(run_client(job, InMemorySite(client, shard), events.append))
    return uploads, events


def rounds_of(events):
    return [event for event in events if isinstance(event, ClientRecord)]


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.client.terms])
@pytest.mark.parametrize(("labels", "each"), [([3], 1), ([3], 7), ([0, 1, 2], 11), ([5], 40)])
def test_tiny_and_one_class_clients_train_and_upload(method, labels, each, make_job, shard_of):
    uploads, events = train(make_job(method, rounds=2), shard_of(labels, each))
    assert [upload.round for upload in uploads] == [0, 1]
    assert all(torch.isfinite(tensor.float()).all() for tensor in uploads[-1].tensors.values())
    assert uploads[-1].samples == len(labels) * each
    assert len(rounds_of(events)) == 2


def test_a_client_without_images_uploads_nothing_and_says_so(make_job, shard_of):
    uploads, events = train(make_job(), shard_of([], 0))
    assert uploads == []
    assert [type(event) for event in events] == [ClientStarved]


def test_a_single_image_never_moves_the_batch_norm_statistics(make_job, shard_of):
    (upload,), _ = train(make_job(rounds=1, local_epochs=3), shard_of([4], 1))
    assert upload.tensors["encoder.1.num_batches_tracked"].item() == 0
    assert torch.equal(upload.tensors["encoder.1.running_mean"], torch.zeros(16))


def test_uploads_hold_exactly_what_the_fusion_needs(make_job, shard_of):
    (upload,), _ = train(make_job(needs=frozenset({Prototypes()})), shard_of([1, 2], 5))
    assert set(upload.tensors) == {"head.prototypes"}
    assert upload.nbytes == 10 * 32 * 4


def test_same_seed_same_bytes_other_seed_other_bytes(make_job, shard_of):
    shard = shard_of([0, 1, 2], 20)
    (first,), _ = train(make_job(seed=1), shard)
    (again,), _ = train(make_job(seed=1), shard)
    (other,), _ = train(make_job(seed=2), shard)
    assert all(torch.equal(first.tensors[name], again.tensors[name]) for name in first.tensors)
    assert not torch.equal(first.tensors["head.prototypes"], other.tensors["head.prototypes"])


def test_clients_differ_only_in_their_own_streams(make_job, shard_of):
    job, shard = make_job(), shard_of([0, 1], 20)
    facts = facts_of(job, shard.label_counts(), 0)
    a, b = ClientState.start(job, facts), ClientState.start(job, replace(facts, client=1))
    assert torch.equal(a.network.prototypes, b.network.prototypes)
    assert a.order.initial_seed() != b.order.initial_seed()


def test_snapshots_are_what_was_asked_for_and_always_the_last(make_job, shard_of):
    uploads, _ = train(make_job(rounds=4, snapshots=(1,)), shard_of([0, 1], 5))
    assert [upload.round for upload in uploads] == [1, 3]


def test_rounds_are_only_snapshots_of_one_training(make_job, shard_of):
    """Ten rounds of one epoch and one round of ten: the optimizer persists, so the end is the same."""
    recipe = METHODS["v7"]
    shard = shard_of([0, 1, 2], 20)
    many, _ = train(make_job(recipe, rounds=4, local_epochs=1), shard)
    one, _ = train(make_job(recipe, rounds=1, local_epochs=4), shard)
    assert torch.equal(many[-1].tensors["head.prototypes"], one[-1].tensors["head.prototypes"])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("rounds", 3),
        ("local_epochs", 2),
        ("batch_size", 16),
        ("lr", 0.01),
        ("momentum", 0.5),
        ("weight_decay", 0.1),
        ("clip", None),
        ("lr_schedule", "cosine"),
    ],
)
def test_every_training_key_really_acts(key, value, make_job, shard_of):
    shard = shard_of([0, 1, 2], 20)
    usual, _ = train(make_job(rounds=2), shard)
    changed, _ = train(make_job(**{"rounds": 2, key: value}), shard)
    assert not torch.equal(usual[-1].tensors["head.prototypes"], changed[-1].tensors["head.prototypes"])


def test_lambda_is_annealed_over_the_whole_training_and_logged_as_felt(make_job, shard_of):
    _, events = train(make_job("v7", rounds=4), shard_of([0, 1, 2], 32))
    rounds = rounds_of(events)
    assert [r.lambda_raw for r in rounds] == [5.0] * 4
    steps = rounds[-1].steps
    for r in rounds:
        assert r.lambda_felt == pytest.approx(5.0 * (1 - (r.steps - 1) / steps), rel=1e-5)
        assert r.lambda_star == pytest.approx(r.lambda_felt, rel=1e-5)


def weighed_by(weight, term=None):
    """The client of v7 with this weighting, and all that any loss may look at."""
    align = replace(METHODS["v7"].client.align, weight=weight, term=term or METHODS["v7"].client.align.term)
    return Method(replace(METHODS["v7"].client, align=align, memory=64), METHODS["v7"].fusion, bank=Bank(32, 0, True))


def test_a_sigma_that_learns_with_the_model_goes_on_learning_when_it_is_annealed(make_job, shard_of):
    """A schedule that stays at 1 changes no byte, around joint gradients too; and sigma is still in the log."""
    joint, shard = Uncertainty(gradients="joint"), shard_of([0, 1, 2], 20)
    (alone,), events = train(make_job(weighed_by(joint)), shard)
    (wrapped,), wrapped_events = train(make_job(weighed_by(Annealed(joint, "constant"))), shard)
    assert all(torch.equal(alone.tensors[name], wrapped.tensors[name]) for name in alone.tensors)
    record, wrapped_record = rounds_of(events)[0], rounds_of(wrapped_events)[0]
    for name in ("lambda_raw", "sigma_sq_local", "sigma_sq_align"):
        assert getattr(record, name) != 1.0
        assert getattr(wrapped_record, name) == getattr(record, name)


@pytest.mark.parametrize("kind", LOSSES)
def test_every_loss_can_be_the_alignment(kind, make_job, shard_of):
    """With all it may look at at hand: anchors, a labelled bank, a memory. And it pulls: the weights are other ones."""
    shard = shard_of([0, 1, 2], 12)
    idle, pulling = (weighed_by(Fixed(value), LOSSES[kind]()) for value in (0.0, 5.0))
    (free,), _ = train(make_job(idle), shard)
    (pulled,), events = train(make_job(pulling), shard)
    assert rounds_of(events)[0].align_loss > 0
    assert not torch.equal(free.tensors["head.prototypes"], pulled.tensors["head.prototypes"])


def test_a_pull_that_needs_no_images_is_measured_before_training(make_job, shard_of):
    """L_a of the first step, known before it; a loss of images has no such number."""
    shard = shard_of([0, 1, 2], 12)
    starts = {}
    for kind, term in LOSSES.items():
        _, events = train(make_job(weighed_by(Fixed(0.0), term()), lr=1e-9, momentum=0.0), shard)
        starts[kind] = events[0].align_loss
        if starts[kind] is not None:
            assert starts[kind] == pytest.approx(rounds_of(events)[0].align_loss, rel=1e-4)
    assert {kind for kind in starts if starts[kind] is not None} == {
        "mean-squared",
        "cosine-distance",
        "prototype-spread",
    }


def test_a_client_without_anchor_has_no_lambda(make_job, shard_of):
    _, events = train(make_job("v4"), shard_of([0, 1], 10))
    assert rounds_of(events)[0].lambda_felt is None


def test_the_anchor_moves_prototypes_and_nothing_else_at_once(make_job, shard_of):
    """L_a reaches the prototypes only: after one step v4 and v7 have the same encoder, and other prototypes."""
    shard = shard_of([0], 2)
    (free,), _ = train(make_job("v4", clip=None), shard)
    (moored,), _ = train(make_job("v7", clip=None), shard)
    assert torch.equal(free.tensors["encoder.0.weight"], moored.tensors["encoder.0.weight"])
    assert not torch.equal(free.tensors["head.prototypes"], moored.tensors["head.prototypes"])


class Exploding(CrossEntropy):
    """A loss that is not a number from the third step on."""

    kind = "exploding"

    def __call__(self, step):
        return super().__call__(step) * (float("nan") if step.progress.step >= 2 else 1.0)


def test_a_loss_that_is_not_finite_names_client_round_step_and_term(make_job, shard_of):
    method = replace(METHODS["v4"], client=replace(METHODS["v4"].client, terms=(CrossEntropy(), Exploding())))
    with pytest.raises(TrainingError, match=r"client 7: exploding is nan in round 3, step 2; lower training.lr"):
        train(make_job(method, rounds=3), shard_of([0, 1], 10), client=7)


def test_sound_clipping_takes_each_group_by_itself(make_job, shard_of):
    shard = shard_of([0, 1], 10)
    job = make_job("v7")
    state = ClientState.start(job, facts_of(job, shard.label_counts(), 0))
    for parameter in state.network.encoder.parameters():
        parameter.grad = torch.full_like(parameter, 1e-4)
    state.network.head.prototypes.grad = torch.full((10, 32), 100.0)
    before = state.network.encoder[0].weight.grad.clone()
    state.clip("per-group", 1.0)
    assert torch.equal(state.network.encoder[0].weight.grad, before)
    assert state.network.head.prototypes.grad.norm().item() == pytest.approx(1.0, rel=1e-4)
    state.network.head.prototypes.grad = torch.full((10, 32), 100.0)
    state.clip("joint", 1.0)
    assert state.network.encoder[0].weight.grad.norm() < 1e-2 * before.norm()


def test_without_clipping_a_gradient_stays_as_it_is(make_job, shard_of):
    job = make_job("v10-unclipped")
    state = ClientState.start(job, facts_of(job, shard_of([0, 1], 10).label_counts(), 0))
    state.network.head.prototypes.grad = torch.full((10, 32), 100.0)
    norm = state.clip(job.recipe.clip, 1.0)
    assert torch.equal(state.network.head.prototypes.grad, torch.full((10, 32), 100.0))
    assert norm.item() == pytest.approx(100 * 320**0.5)


def test_training_beats_chance_on_the_clients_own_data(make_job, shard_of):
    _, events = train(make_job("v7", rounds=1, local_epochs=10, lr=0.05), shard_of([0, 1, 2, 3], 40))
    assert rounds_of(events)[-1].train_accuracy > 0.6
