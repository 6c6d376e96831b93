"""What every key of a method says, but for those of its fusion; in Markdown, as docs/configuration.md shows it."""

from mooring.anchors import Anchor
from mooring.client import Alignment, ClientRecipe, Stage, Views
from mooring.client.bank import Bank
from mooring.client.recipe import StageTime
from mooring.config.settings.section import ExtraKey, OfKinds, OfRecord
from mooring.data.augment import Augment
from mooring.losses import LossTerm
from mooring.methods import Method
from mooring.models.heads import Head

METHOD = OfRecord(
    "method",
    "method",
    Method,
    {
        "client": "what a client minimises, see below",
        "fusion": "a fusion, or `null` to fuse nothing and report the mean of the clients",
        "shards": "`pooled` puts everybody's data in one place: a control, not federated learning",
        "bank": "public features that clients receive before they train, see below",
        "about": "one line for people",
        "reference": "where the method comes from: a paper and its year, or a lab note",
    },
    (ExtraKey("name", "a name", "custom", "which method the tree starts from; written out in full, it needs none"),),
)
CLIENT = OfRecord(
    "client",
    "method.client",
    ClientRecipe,
    {
        "terms": "a list of losses; their sum is the base loss; `[]`, no training, for fusions over statistics",
        "align": "the mooring, see below; `null` for none",
        "head": "from features to class scores",
        "views": "augmented views of every image",
        "clip": "one gradient norm over everything, or `per-group`: encoder, prototypes and weighting each; `none` "
        "clips nothing",
        "stages": "times at which a client minimises something else, see below",
        "memory": "how many of its own past features a client keeps",
        "held_out": "share of its images that a client never trains on; for `weight.outer=held-out`",
    },
)
ALIGN = OfRecord(
    "align",
    "align",
    Alignment,
    {
        "anchor": "what the prototypes are moored to; `null` for a pull to a bank",
        "weight": "lambda: how hard the anchor pulls",
        "term": "the alignment loss",
    },
)
VIEWS = OfRecord(
    "views",
    "method.client.views",
    Views,
    {
        "count": "views of each image in a step",
        "augment": "how far a view may be from its image",
    },
)
AUGMENT = OfRecord(
    "augment",
    "method.client.views.augment",
    Augment,
    {
        "crop": "smallest share of the area that a crop keeps",
        "flip": "probability of mirroring, where a mirrored image keeps its class",
        "jitter": "probability of the colour jitter",
        "brightness": "range of the jitter in brightness",
        "contrast": "range of the jitter in contrast",
        "saturation": "range of the jitter in saturation",
        "hue": "range of the jitter in hue, as a share of the colour circle",
        "grey": "probability of a grey view",
    },
)
LOSSES = OfKinds(
    "losses",
    "method.client.terms.KIND",
    LossTerm,
    {
        "supcon": {
            "temperature": "of the contrast between views",
        },
        "bank-contrast, bank-attraction, memory-contrast": {
            "temperature": "of the contrast with other features",
        },
        "feature-to-prototype, prototype-spread": {
            "temperature": "of the soft-max",
        },
        "prototype-spread": {
            "similarity": "or `cosine`, which takes unit prototypes",
        },
        "balanced-cross-entropy": {
            "strength": "power of the client's label counts beside the logits; 0 is plain cross entropy",
        },
    },
)
BANK = OfRecord(
    "bank",
    "bank",
    Bank,
    {
        "size": "features in the bank; all public images if there are fewer",
        "teacher_epochs": "how long the teacher trains; 0 is the common starting network",
        "labelled": "do the features carry their classes?",
        "teacher": "what the teacher minimises: FAFI's loss over two augmented views, or, as published, "
        "`cross-entropy` on the images as they are",
    },
)
STAGES = OfRecord(
    "stages",
    "method.client.stages.0",
    Stage,
    {
        "when": "a time, see below",
        "terms": "a list of losses",
        "weights": "a number for each term; `null` is 1",
    },
)
TIMES = OfKinds(
    "times",
    "method.client.stages.0.when",
    StageTime,
    {
        "first-epochs": {
            "epochs": "the first epochs of every round",
        },
        "before": {
            "progress": "the beginning of the whole training, up to this share",
        },
    },
)
HEADS = OfKinds(
    "heads",
    "method.client.head",
    Head,
    {
        "unit-prototypes": {
            "scale": "of the cosine logits",
        },
        "fixed-simplex": {
            "scale": "of the cosine logits before training; learned",
        },
        "simplex-at-temperature": {
            "temperature": "what the cosines are divided by; never learned",
        },
    },
)
ANCHORS = OfKinds(
    "anchors",
    "align.anchor",
    Anchor,
    {
        "progressive": {
            "schedule": "how fast the anchors go from the first prototypes to the simplex",
        },
    },
)

METHOD_SECTIONS = (METHOD, CLIENT, ALIGN, VIEWS, AUGMENT, LOSSES, BANK, STAGES, TIMES, HEADS, ANCHORS)
