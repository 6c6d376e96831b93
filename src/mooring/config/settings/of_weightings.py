"""What every key of a weighting says; in Markdown, as docs/configuration.md shows it."""

from mooring.config.settings.section import OfKinds, OfRecord
from mooring.weighting import Weighting
from mooring.weighting.guards import Guard
from mooring.weighting.sigma import Sigma, Start

WEIGHTINGS = OfKinds(
    "weightings",
    "weight",
    Weighting,
    {
        "fixed": {
            "value": "lambda, the weight of the alignment loss",
        },
        "annealed": {
            "base": "the weighting that is faded out",
            "schedule": "how it is faded out; `-by-round` and `-by-epoch` stay constant within one",
        },
        "by-entropy": {
            "minimum": "lambda of a client with one label",
            "maximum": "lambda of a client with all labels alike",
        },
        "ramp": {
            "initial": "first lambda",
            "final": "last lambda",
            "over": "of what it is a ramp; `round`: it starts again in every round",
        },
        "by-confidence": {
            "minimum": "lambda while the loss it watches is where it began",
            "maximum": "lambda when that loss is gone",
            "memory": "of the moving average of that loss",
            "watches": "all of the base loss, or its `cross-entropy` alone, as note 1 says",
        },
        "gradient-normalised": {
            "share": "pull of the alignment at the embedding, relative to the task's",
            "maximum": "greatest lambda",
            "memory": "of the moving averages of both gradient norms",
        },
        "probed": {
            "base": "the weighting that is watched: the log gets the cosine of both gradients and the ratio of their "
            "norms",
        },
        "uncertainty": {
            "ratio": "schedule of what the weights feel",
            "data": "schedule of the alignment loss that sigma sees",
            "prior": "schedule of the log term of sigma",
            "guard": "what keeps lambda from running away, see below",
            "sigma": "where the two learned scalars start, and how fast they move",
            "gradients": "or `joint`: one loss for weights and scalars alike; `rescaled`: that loss times 2 "
            "sigma_local^2",
        },
        "closed-form": {
            "schedule": "of lambda",
            "minimum": "least lambda",
            "maximum": "greatest lambda",
            "eps": "least alignment loss in the denominator",
            "memory": "of the moving averages of both losses",
        },
        "hypergradient": {
            "start_at": "first lambda",
            "rate": "how fast log lambda moves",
            "minimum": "least lambda",
            "maximum": "greatest lambda",
            "outer": "whose base loss is descended on; or `held-out`, with `method.client.held_out`",
        },
        "uw-so": {
            "temperature": "of the soft-max of inverse losses",
            "floor": "least alignment loss; without one lambda has no bound",
        },
        "dwa": {
            "temperature": "of the soft-max of rates",
        },
    },
)
SIGMA = OfRecord(
    "sigma",
    "sigma",
    Sigma,
    {
        "lr": "learning rate of the two scalars; `null` is the model's",
        "lr_scale": "multiplies the learning rate of the two scalars",
        "start": "where they start, see below",
    },
)
STARTS = OfKinds(
    "starts",
    "sigma.start",
    Start,
    {
        "entropy": {
            "minimum": "as `by-entropy`, for the first lambda",
            "maximum": "as `by-entropy`, for the first lambda",
        },
        "values": {
            "u": "log sigma_local^2",
            "v": "log sigma_align^2",
        },
    },
)
GUARDS = OfKinds(
    "guards",
    "weight.guard",
    Guard,
    {
        "inverse-variance": {
            "gamma": "a guard: gamma / sigma_align^2 is added to the loss of the scalars",
        },
        "linear-hinge": {
            "gamma": "a guard: how hard it pushes",
            "maximum": "the lambda above which it pushes",
        },
        "squared-hinge": {
            "gamma": "a guard: how hard it pushes",
            "maximum": "the lambda above which it pushes",
        },
        "bound": {
            "maximum": "a guard: the greatest lambda that the weights feel",
        },
        "local-log": {
            "gamma": "a guard: gamma (log sigma_local^2)^2 is added to the loss of the scalars",
        },
        "together": {
            "guards": "a list of guards, all of which act",
        },
    },
)

WEIGHTING_SECTIONS = (WEIGHTINGS, SIGMA, STARTS, GUARDS)
