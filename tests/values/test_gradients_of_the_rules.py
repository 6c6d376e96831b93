"""What the loop differentiates is the formula on the card of the method: autograd against derivatives by hand.

b = L_b, a = L_a, u = log sigma_local^2, v = log sigma_align^2. By hand are the weights of both losses in what the
model descends, and the slopes of u and v.
"""

from math import cos, exp, log, pi
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F

from mooring.client._loop import base_terms, facts_of, whole_loss
from mooring.client._state import ClientState
from mooring.methods import METHODS
from mooring.methods._alignment import ALIGNMENT
from mooring.seeds import generator
from mooring.types import Progress, Step, View

AT = Progress(step=37, steps=100, epoch=1, local_epochs=4, round=3, rounds=10)
S = 1 - 0.37  # over steps
R, R_COS = 1 - 0.3, 0.5 * (1 + cos(pi * 0.3))  # over rounds
E_COS = 0.5 * (1 + cos(pi * 13 / 40))  # over epochs
COUNTS = (6, 0, 2, 4, 0, 0, 0, 0, 0, 0)
ENTROPY = -sum(n / 12 * log(n / 12) for n in COUNTS if n) / log(10)
LAMBDA_K = 0.1 + ENTROPY * 9.9
CALM, HIGH = (0.7, -0.4), (2.0, -3.0)  # u, v: lambda is 3 and 148, below and above where a hinge begins


class Slopes(NamedTuple):
    base: float  # weight of L_b
    align: float  # weight of L_a
    u: float = 0.0
    v: float = 0.0


def given(lam):
    return lambda b, a, u, v: Slopes(1, lam)


def joint(b, a, u, v):
    """1/2 e^-u b + 1/2 e^-v a + 1/2 (u + v)"""
    return Slopes(0.5 * exp(-u), 0.5 * exp(-v), 0.5 * (1 - exp(-u) * b), 0.5 * (1 - exp(-v) * a))


def rescaled(s):
    """2 e^u, held still, times [ 1/2 e^-u b + 1/2 s e^-v a + 1/2 (u + v) ]"""
    return lambda b, a, u, v: Slopes(1, s * exp(u - v), exp(u) * (1 - exp(-u) * b), exp(u) * (1 - s * exp(-v) * a))


def separate(ratio=1.0, data=1.0, prior=1.0, guard=lambda u, v: (0.0, 0.0)):
    """b + ratio e^(u-v) a for the model; 1/2 [ e^-u b + data e^-v a + u + prior v ] + guard for u and v."""

    def slopes(b, a, u, v):
        of_u, of_v = guard(u, v)
        return Slopes(
            1,
            ratio * exp(u - v),
            0.5 * (1 - exp(-u) * b) + of_u,
            0.5 * (prior - data * exp(-v) * a) + of_v,
        )

    return slopes


def inverse_variance(g):
    return lambda u, v: (0.0, -g * exp(-v))


def with_local_log(g):
    return lambda u, v: (2 * g * u, -g * exp(-v))


def hinge(g, power):
    """g relu(lambda - 50)^power"""

    def slopes(u, v):
        lam = exp(u - v)
        slope = 0.0 if lam <= 50 else g * lam * power * (lam - 50) ** (power - 1)
        return slope, -slope

    return slopes


def pinned(u, v):
    """1e-3 e^-v + 1e-3 u^2 + .01 relu(lambda - 50)"""
    (u1, v1), (u2, v2) = with_local_log(1e-3)(u, v), hinge(0.01, 1)(u, v)
    return u1 + u2, v1 + v2


def capped(b, a, u, v):
    return separate(prior=S)(b, a, u, v)._replace(align=min(exp(u - v), 50.0))


def by_inverse_losses(b, a, u, v):
    total = exp(1 / b) + exp(1 / a)
    return Slopes(exp(1 / b) / total, exp(1 / a) / total)


RULES = {
    "v7": given(5 * S),
    "v7-constant": given(5.0),
    "v9": given(LAMBDA_K * S),
    "v9-constant": given(LAMBDA_K),
    "v10": joint,
    "v10-unclipped": joint,
    "v10-remedied": joint,
    "v10-separate": separate(),
    "v11-linear": separate(ratio=R, data=R),
    "v11-cosine": separate(ratio=R_COS, data=R_COS),
    "v11-rescaled-linear": rescaled(R),
    "v11-rescaled-cosine": rescaled(R_COS),
    "v11-as-run-linear": rescaled(R),
    "v11-as-run-cosine": rescaled(R_COS),
    "v11-detached-linear": separate(ratio=R),
    "v11-detached-cosine": separate(ratio=R_COS),
    "decoupled": separate(ratio=S),
    "v12-design": separate(data=S),
    "v12": separate(ratio=S, data=S),
    "v12-gamma": separate(ratio=S, data=S, guard=inverse_variance(1e-3)),
    "v12-as-run": separate(data=E_COS),
    "v13-gamma": separate(data=E_COS, guard=inverse_variance(1e-3)),
    "v13-gamma-local": separate(data=E_COS, guard=with_local_log(1e-3)),
    "v13": separate(prior=E_COS, guard=hinge(1e-5, 2)),
    "v14-november": separate(data=E_COS, guard=pinned),
    "v14": separate(prior=E_COS, guard=hinge(1e-5, 1)),
    "log-prior": separate(prior=S),
    "log-prior-hinge": separate(prior=S, guard=hinge(0.1, 1)),
    "log-prior-squared-hinge": separate(prior=S, guard=hinge(1e-3, 2)),
    "log-prior-bound": capped,
    "uw-so": by_inverse_losses,
}
REMEMBERING = {
    "closed-form",
    "hypergradient",
    "hypergradient-held-out",
    "dwa",
    "random",
}  # tested by their course below


@pytest.fixture(scope="module")
def client(make_job):
    """A client whose weighting calculates in 64 bits; and batches for it, from a seed."""

    def make(name):
        job = make_job(name)
        state = ClientState.start(job, facts_of(job, COUNTS, 0))
        state.balancer.double()
        return job, state

    return make


def batch(seed, progress=AT):
    """What the terms look at: four images in two views, eight features. And what the model would move: f and P."""
    rng = generator(seed, "batch")
    f = torch.randn(8, 8, generator=rng, dtype=torch.float64).requires_grad_()
    prototypes = torch.randn(10, 8, generator=rng, dtype=torch.float64).requires_grad_()
    anchors = F.normalize(torch.randn(10, 8, generator=rng, dtype=torch.float64))
    z = F.normalize(f)
    views = tuple(map(View, (z @ prototypes.T).chunk(2), z.chunk(2)))
    return Step(torch.tensor([0, 2, 3, 0]), views, prototypes, anchors, progress), z, (f, prototypes)


def slopes_of(loss, model):
    found = torch.autograd.grad(loss, model, retain_graph=True, allow_unused=True)
    return [torch.zeros_like(w) if g is None else g for w, g in zip(model, found, strict=True)]


def losses_of(recipe, step):
    return torch.stack(list(base_terms(recipe, step).values())).sum(), recipe.align.term(step)


def close(found, expected):
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-12)


def test_every_method_of_the_family_has_its_formula_here():
    assert RULES.keys() | REMEMBERING == ALIGNMENT.keys()


@pytest.mark.parametrize("scalars", [CALM, HIGH], ids=["calm", "high"])
@pytest.mark.parametrize("name", RULES)
def test_the_loop_descends_what_the_card_says(name, scalars, client):
    job, state = client(name)
    step, z, model = batch(1)
    own = list(state.balancer.parameters())
    for parameter, value in zip(own, scalars, strict=False):
        parameter.data.fill_(value)
    loss, _ = whole_loss(job.recipe, state, step, z)
    found = slopes_of(loss, (*model, *own))

    b, a = losses_of(job.recipe, step)
    by_hand = RULES[name](b.item(), a.item(), *scalars)
    parts = zip(slopes_of(b, model), slopes_of(a, model), strict=True)
    expected = [by_hand.base * of_base + by_hand.align * of_align for of_base, of_align in parts]
    close(found[:2], expected)
    if own:
        close(torch.stack(found[2:]), torch.tensor([by_hand.u, by_hand.v], dtype=torch.float64))


class Taken(NamedTuple):
    """One step of the loop, and what a formula may need of it."""

    base: float
    align: float
    found: list  # the slopes of the loop's loss at f and P
    of_base: list
    of_align: list
    of_outer: torch.Tensor  # the slope at P of the loss on held-out images where there are some, else of L_b


def course(name, client, progress=lambda number: Progress(number, 3)):
    """Three steps of a rule that remembers."""
    job, state = client(name)
    for number in range(3):
        step, z, model = batch(number, progress(number))
        judged = None
        if job.recipe.held_out:  # other images, the same prototypes
            other = batch(number + 10)[0]
            views = tuple(View(view.features @ step.prototypes.T, view.features) for view in other.views)
            judged = losses_of(job.recipe, Step(other.labels, views, step.prototypes, step.anchors, AT))[0]
        loss, _ = whole_loss(job.recipe, state, step, z, judged)
        b, a = losses_of(job.recipe, step)
        (outer,) = slopes_of(b if judged is None else judged, model[1:])
        yield Taken(b.item(), a.item(), slopes_of(loss, model), slopes_of(b, model), slopes_of(a, model), outer)


def agrees(taken, base, align):
    close(taken.found, [base * b + align * a for b, a in zip(taken.of_base, taken.of_align, strict=True)])


def test_closed_form_pulls_by_the_ratio_of_moving_averages(client):
    """lambda = s EMA(L_b) / EMA(L_a), within [0, 50]"""
    b = a = None
    for number, taken in enumerate(course("closed-form", client)):
        b = taken.base if b is None else 0.95 * b + 0.05 * taken.base
        a = taken.align if a is None else 0.95 * a + 0.05 * taken.align
        agrees(taken, 1.0, min((1 - number / 3) * b / a, 50.0))


@pytest.mark.parametrize("name", ["hypergradient", "hypergradient-held-out"])
def test_the_hypergradient_moves_lambda_by_the_agreement_of_two_slopes(name, client):
    """log lambda += 0.1 lambda < grad_P L_outer, grad_P L_a of the step before >, within [log .01, log 50]"""
    log_lam, last = 0.0, None
    for taken in course(name, client):
        if last is not None:
            log_lam += 0.1 * exp(log_lam) * (taken.of_outer * last).sum().item()
        log_lam = min(max(log_lam, log(0.01)), log(50))
        agrees(taken, 1.0, exp(log_lam))
        last = taken.of_align[1]
    assert log_lam != 0


def test_dynamic_averages_share_by_the_rates_of_the_last_two_epochs(client):
    """w = 2 softmax(r / 2), r = L(epoch - 1) / L(epoch - 2), and 1 each before"""
    seen = []
    for taken in course("dwa", client, lambda number: Progress(number, 3, epoch=number, local_epochs=3)):
        before, last = seen[-2:] if len(seen) > 1 else ((1, 1), (1, 1))
        preferences = [exp(now / then / 2) for now, then in zip(last, before, strict=True)]
        agrees(taken, *(2 * preference / sum(preferences) for preference in preferences))
        seen.append((taken.base, taken.align))


def test_random_shares_are_a_softmax_of_two_draws(client):
    rng = generator(1, "client", 0, "weighting")
    for taken in course("random", client):
        agrees(taken, *torch.randn(2, generator=rng).softmax(0).tolist())


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("v10", 0.05),
        ("v10-remedied", 0.0005),
        ("v11-rescaled-linear", 0.05),
        ("v11-as-run-linear", 0.005),
        ("v13", 0.005),
    ],
)
def test_the_sigmas_learn_at_the_rate_of_their_card(name, rate):
    assert METHODS[name].client.align.weight.sigma.rate(0.05) == pytest.approx(rate)
