"""The lambda family: FAFI moored to a simplex, by every weighting of the lab notes and by the ones that hold."""

from mooring.methods.method import Method
from mooring.methods.notes import V4
from mooring.weighting import (
    Annealed,
    ByEntropy,
    ClosedForm,
    DynamicAverage,
    Fixed,
    Hypergradient,
    RandomShares,
    SoftOptimalUncertainty,
    Uncertainty,
)
from mooring.weighting.guards import Bound, InverseVariance, LinearHinge, SquaredHinge
from mooring.weighting.sigma import Sigma, Values

by_entropy = ByEntropy(0.1, 10.0)
remedies = Sigma(lr_scale=0.01, start=Values(-1.0, 0.0))

ALIGNMENT: dict[str, Method] = {
    "v7": V4.aligned(Annealed(Fixed(5.0), "linear"), "lambda = 5, faded out linearly"),
    "v7-constant": V4.aligned(Fixed(5.0), "lambda = 5 throughout"),
    "v9": V4.aligned(Annealed(by_entropy, "linear"), "lambda from label entropy, faded out linearly"),
    "v9-constant": V4.aligned(by_entropy, "lambda from label entropy throughout"),
    "v10": V4.aligned(Uncertainty(gradients="joint"), "lambda learned: Kendall's loss for weights and sigmas alike"),
    "v10-remedied": V4.clipped("per-group").aligned(
        Uncertainty(sigma=remedies, gradients="joint"), "V10 with the three remedies of note 2"
    ),
    "v11-linear": V4.aligned(
        Uncertainty(ratio="linear-by-round", data="linear-by-round"), "learned, annealed from outside: cancels"
    ),
    "v11-cosine": V4.aligned(
        Uncertainty(ratio="cosine-by-round", data="cosine-by-round"), "learned, annealed by a cosine: cancels"
    ),
    "decoupled": V4.aligned(Uncertainty(ratio="linear"), "sigma sees the raw alignment loss, weights the annealed one"),
    "v12-design": V4.aligned(Uncertainty(data="linear"), "note 4: sigma's view of alignment fades; diverges"),
    "v12": V4.aligned(Uncertainty(ratio="linear", data="linear"), "note 5: truly effective = raw * s; runs away"),
    "v12-gamma": V4.aligned(
        Uncertainty(ratio="linear", data="linear", guard=InverseVariance(1e-3)), "V12 guarded by gamma / sigma_align^2"
    ),
    "log-prior": V4.aligned(Uncertainty(prior="linear"), "the schedule on the log term: lambda* = s L_b / L_a"),
    "log-prior-hinge": V4.aligned(Uncertainty(prior="linear", guard=LinearHinge()), "log-prior, linear hinge"),
    "log-prior-squared-hinge": V4.aligned(
        Uncertainty(prior="linear", guard=SquaredHinge()), "log-prior, squared hinge"
    ),
    "log-prior-bound": V4.aligned(Uncertainty(prior="linear", guard=Bound()), "log-prior, felt lambda capped"),
    "closed-form": V4.aligned(ClosedForm(), "the equilibrium itself, clipped to [0, 50]: no scalars to run away"),
    "hypergradient": V4.aligned(Hypergradient(), "one-step bilevel descent on lambda, bounded"),
    "uw-so": V4.aligned(SoftOptimalUncertainty(), "shares by soft-max of inverse losses"),
    "dwa": V4.aligned(DynamicAverage(), "shares by how fast each loss falls"),
    "random": V4.aligned(RandomShares(), "random shares in every step: the sanity baseline"),
}
