"""What the lab notes build on and build: FAFI and its controls, note 1's public feature bank, the sound parts together.

The lambda family of notes 2 to 5 is in alignment.py.
"""

from dataclasses import replace

from mooring.client import Alignment, Bank, Before, ClientRecipe, FirstEpochs, Stage
from mooring.fusion import FeatureEnsemble
from mooring.losses import (
    FAFI,
    BankAttraction,
    BankContrast,
    CrossEntropy,
    FeatureToPrototype,
    LossTerm,
    MemoryContrast,
    PrototypeSpread,
)
from mooring.methods._method import OURS, Method
from mooring.weighting import ByConfidence, Fixed, GradientNormalised, Ramp, Uncertainty, Weighting

PLAN = "lab note 1, plan 2"
KENDALL = "after Kendall et al., CVPR 2018"

V4 = Method(
    ClientRecipe(FAFI),
    FeatureEnsemble(),
    about="FAFI: contrast and prototypes, no anchor",
    reference="FAFI: Zeng et al., ICML 2025",
)

PLAIN: dict[str, Method] = {
    "v4": V4,
    "local-only": replace(
        V4, fusion=None, about="control: no fusion; mean accuracy of the clients' models", reference="control"
    ),
    "centralised": replace(
        V4, shards="pooled", about="control: all data in one place, same budget of epochs", reference="control"
    ),
}


TASK = (CrossEntropy(), FeatureToPrototype(1.0), PrototypeSpread(1.0))  # of note 1


def contrasting(
    term: LossTerm,
    weight: Weighting,
    about: str,
    bank: Bank | None = Bank(),  # noqa: B008
    reference: str = "",
) -> Method:
    """The local task, and a contrast weighted against it."""
    recipe = ClientRecipe(TASK, Alignment(None, weight, term))
    return Method(recipe, FeatureEnsemble(), bank=bank, about=about, reference=reference)


def staged(method: Method, *stages: Stage) -> Method:
    return replace(method, client=replace(method.client, stages=stages))


always = contrasting(
    BankContrast(0.5),
    Fixed(1.0),
    "two stages: contrast with the bank only, then everything",
    reference="lab note 1",
)
aligned = contrasting(
    BankAttraction(0.5),
    Fixed(1.0),
    "V6 made sound: one stage by progress, a bank that knows its classes",
    Bank(labelled=True),
    reference=OURS,
)
remembering = contrasting(MemoryContrast(0.5), Fixed(1.0), "contrast with the client's own past features", bank=None)

v6_as_run = contrasting(
    BankContrast(0.07),
    Fixed(1.0),
    "V6 in public code: temperature 0.07, a teacher trained by cross-entropy",
    Bank(teacher="cross-entropy"),
    reference="public code of the notes' authors, 2025",
)

PUBLIC_BANK: dict[str, Method] = {
    "v6": staged(always, Stage(FirstEpochs(1), (BankContrast(0.5),))),
    "v6-as-run": staged(v6_as_run, Stage(FirstEpochs(1), (BankContrast(0.07),))),
    "two-stage-aligned": staged(aligned, Stage(Before(0.1), (BankAttraction(0.5),))),
    "curriculum": contrasting(
        BankContrast(0.5),
        Ramp(0.1, 1.0),
        "bank contrast weighed 0.1 to 1 over the training",
        reference="lab note 1, plan 1",
    ),
    "curriculum-by-round": contrasting(
        BankContrast(0.5),
        Ramp(0.1, 1.0, "round"),
        "bank contrast weighed 0.1 to 1 within each round, as the note prints it",
        reference="lab note 1, plan 1",
    ),
    "adaptive-classification": contrasting(
        BankContrast(0.5),
        ByConfidence(watches="cross-entropy"),
        "bank contrast grows as the classification loss falls",
        reference=PLAN,
    ),
    "adaptive-confidence": contrasting(
        BankContrast(0.5), ByConfidence(), "bank contrast grows as the whole task is learned", reference=PLAN
    ),
    "adaptive-gradient": contrasting(
        BankContrast(0.5),
        GradientNormalised(),
        "bank contrast pulls at the embedding as hard as the task",
        reference=f"{PLAN}; after GradNorm: Chen et al., ICML 2018",
    ),
    "adaptive-uncertainty": contrasting(
        BankContrast(0.5), Uncertainty(), "bank contrast weighed by uncertainty", reference=f"{PLAN}; {KENDALL}"
    ),
    "memory-bank": replace(remembering, client=replace(remembering.client, memory=4096), reference=OURS),
}
