"""The lambda family: FAFI moored to a simplex, by every weighting of the lab notes and by the ones that hold."""

from mooring.methods._method import OURS, Method
from mooring.methods._notes import KENDALL, V4
from mooring.weighting import (
    Annealed,
    Bound,
    ByEntropy,
    ClosedForm,
    DynamicAverage,
    Fixed,
    FromEntropy,
    Hypergradient,
    InverseVariance,
    LinearHinge,
    LocalLog,
    RandomShares,
    Sigma,
    SoftOptimalUncertainty,
    SquaredHinge,
    Together,
    Uncertainty,
    Values,
)

PUBLIC_CODE = "public code of the notes' authors"
AFTER = f"{PUBLIC_CODE}, 2025; values ours"
FRANCESCHI = "Franceschi et al., ICML 2017; one step"

by_entropy = ByEntropy(0.1, 10.0)
remedies = Sigma(lr_scale=0.01, start=Values(-1.0, 0.0))
as_run = Sigma(lr=0.005, start=FromEntropy(0.1, 10.0))  # of the public runs from V11 on

ALIGNMENT: dict[str, Method] = {
    "v7": V4.aligned(Annealed(Fixed(5.0), "linear"), "lambda = 5, faded out linearly", reference="lab notes 2 and 3"),
    "v7-constant": V4.aligned(Fixed(5.0), "lambda = 5 throughout", reference="lab note 2"),
    "v9": V4.aligned(
        Annealed(by_entropy, "linear"), "lambda from label entropy, faded out linearly", reference="lab notes 2 and 3"
    ),
    "v9-constant": V4.aligned(by_entropy, "lambda from label entropy throughout", reference="lab note 2"),
    "v10": V4.aligned(
        Uncertainty(gradients="joint"),
        "lambda learned: Kendall's loss for weights and sigmas alike",
        reference=f"lab note 2, {KENDALL}",
    ),
    "v10-unclipped": V4.clipped("none").aligned(
        Uncertainty(gradients="joint"),
        "V10 without gradient clipping: none of note 2's remedies",
        reference=f"lab note 2, {KENDALL}",
    ),
    "v10-remedied": V4.aligned(
        Uncertainty(sigma=remedies, gradients="joint"),
        "V10 with the three remedies of note 2: clip, rate, start",
        reference=f"lab note 2, {KENDALL}",
    ),
    "v10-separate": V4.aligned(
        Uncertainty(),
        "V10 as notes 3 and 4 write it: one loss for sigma, one for the weights",
        reference="lab notes 3 and 4",
    ),
    "v11-linear": V4.aligned(
        Uncertainty(ratio="linear-by-round", data="linear-by-round"),
        "learned, annealed from outside: cancels",
        reference="lab note 3",
    ),
    "v11-cosine": V4.aligned(
        Uncertainty(ratio="cosine-by-round", data="cosine-by-round"),
        "learned, annealed by a cosine: cancels",
        reference="lab note 3",
    ),
    "v11-rescaled-linear": V4.aligned(
        Uncertainty(data="linear-by-round", gradients="rescaled"),
        "V11 with V10's joint loss times 2 sigma_local^2; sigma as in V10",
        reference="lab note 3",
    ),
    "v11-rescaled-cosine": V4.aligned(
        Uncertainty(data="cosine-by-round", gradients="rescaled"),
        "v11-rescaled-linear, annealed by a cosine",
        reference="lab note 3",
    ),
    "v11-as-run-linear": V4.aligned(
        Uncertainty(data="linear-by-round", gradients="rescaled", sigma=as_run),
        "V11 in public code: rescaled, sigma rate 0.005, start by entropy",
        reference=f"{PUBLIC_CODE}, November 2025",
    ),
    "v11-as-run-cosine": V4.aligned(
        Uncertainty(data="cosine-by-round", gradients="rescaled", sigma=as_run),
        "v11-as-run-linear, annealed by a cosine",
        reference=f"{PUBLIC_CODE}, November 2025",
    ),
    "v11-detached-linear": V4.aligned(
        Uncertainty(ratio="linear-by-round"),
        "note 3's remedy by round: sigma sees the raw alignment loss",
        reference="lab note 3, its proposal",
    ),
    "v11-detached-cosine": V4.aligned(
        Uncertainty(ratio="cosine-by-round"),
        "note 3's remedy by round, annealed by a cosine",
        reference="lab note 3, its proposal",
    ),
    "decoupled": V4.aligned(
        Uncertainty(ratio="linear"),
        "sigma sees the raw alignment loss, weights the annealed one",
        reference="lab note 3, its proposal",
    ),
    "v12-design": V4.aligned(
        Uncertainty(data="linear"), "note 4: sigma's view of alignment fades; diverges", reference="lab note 4"
    ),
    "v12": V4.aligned(
        Uncertainty(ratio="linear", data="linear"),
        "note 5: lambda learned from the losses; can run away",
        reference="lab note 5",
    ),
    "v12-gamma": V4.aligned(
        Uncertainty(ratio="linear", data="linear", guard=InverseVariance(1e-3)),
        "V12 guarded by gamma / sigma_align^2",
        reference="lab note 5, its proposal",
    ),
    "v12-as-run": V4.aligned(
        Uncertainty(data="cosine-by-epoch", sigma=as_run),
        "V12 in public code: a cosine for sigma, raw lambda felt",
        reference=f"{PUBLIC_CODE}, 2025",
    ),
    "v13-gamma": V4.aligned(
        Uncertainty(data="cosine-by-epoch", guard=InverseVariance(1e-3), sigma=as_run),
        "the first public V13: V12 as run, guarded by gamma / sigma_align^2",
        reference=f"{PUBLIC_CODE}, 2025",
    ),
    "v13-gamma-local": V4.aligned(
        Uncertainty(data="cosine-by-epoch", guard=Together((InverseVariance(1e-3), LocalLog(1e-3))), sigma=as_run),
        "the second public V13: the first, and gamma log(sigma_local^2)^2",
        reference=f"{PUBLIC_CODE}, 2025",
    ),
    "v13": V4.aligned(
        Uncertainty(prior="cosine-by-epoch", guard=SquaredHinge(1e-5, 50.0), sigma=as_run),
        "V13 and V14 of December: log-prior by a cosine, squared hinge at 50",
        reference=f"{PUBLIC_CODE}, December 2025",
    ),
    "v14-november": V4.aligned(
        Uncertainty(
            data="cosine-by-epoch",
            guard=Together((InverseVariance(1e-3), LocalLog(1e-3), LinearHinge(0.01, 50.0))),
            sigma=as_run,
        ),
        "V14 of November: the second V13 and a hinge that pins lambda at 50",
        reference=f"{PUBLIC_CODE}, November 2025",
    ),
    "v14": V4.aligned(
        Uncertainty(prior="cosine-by-epoch", guard=LinearHinge(1e-5, 50.0), sigma=as_run),
        "V14 of January (AURORA): log-prior by a cosine, linear hinge at 50",
        reference=f"{PUBLIC_CODE}, January 2026",
    ),
    "log-prior": V4.aligned(
        Uncertainty(prior="linear"), "the schedule on the log term: lambda* = s L_b / L_a", reference=AFTER
    ),
    "log-prior-hinge": V4.aligned(
        Uncertainty(prior="linear", guard=LinearHinge()), "log-prior, linear hinge", reference=AFTER
    ),
    "log-prior-squared-hinge": V4.aligned(
        Uncertainty(prior="linear", guard=SquaredHinge()), "log-prior, squared hinge", reference=AFTER
    ),
    "log-prior-bound": V4.aligned(
        Uncertainty(prior="linear", guard=Bound()), "log-prior, felt lambda capped", reference=OURS
    ),
    "closed-form": V4.aligned(
        ClosedForm(),
        "lambda = s L_b / L_a from moving averages, clipped to [0, 50]; nothing is learned",
        reference=OURS,
    ),
    "hypergradient": V4.aligned(Hypergradient(), "one-step bilevel descent on lambda, bounded", reference=FRANCESCHI),
    "hypergradient-held-out": V4.holding_out(0.1).aligned(
        Hypergradient(outer="held-out"),
        "one-step bilevel descent on lambda, on images kept out of training",
        reference=FRANCESCHI,
    ),
    "uw-so": V4.aligned(
        SoftOptimalUncertainty(), "shares by soft-max of inverse losses", reference="Kirchdorfer et al. 2024"
    ),
    "dwa": V4.aligned(DynamicAverage(), "shares by how fast each loss falls", reference="Liu et al., CVPR 2019"),
    "random": V4.aligned(
        RandomShares(), "random shares in every step: the sanity baseline", reference="Lin et al. 2022"
    ),
}
