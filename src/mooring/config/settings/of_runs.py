"""What every key of a run says, but for those of its method; in Markdown, as docs/configuration.md shows it."""

from mooring.client import Engine, Training
from mooring.config.experiment import ClientEvaluation, Experiment
from mooring.config.settings.section import EVERY, ExtraKey, OfKinds, OfRecord
from mooring.data.images import Source
from mooring.data.partition import Partitioner
from mooring.models.backbones import Backbone

OF_METHOD = "the method's"

TOP = OfRecord(
    "top",
    "",
    Experiment,
    {
        "data": "what is learned from",
        "partition": "who holds what",
        "model": "the encoder; for every source but `digits` the default is `resnet8`",
        "training": "how long and how fast a client trains",
        "engine": "who runs the clients; never changes a result",
        "evaluate": "when clients are evaluated by themselves; never changes what is trained or fused",
        "seed": "of training; also of the split, unless `partition.seed` is given",
        "out": "the run folder; `null` is `runs/<source>-<method>-<fingerprint>`; never changes a result",
        "given": "absolute paths as they were written; `experiment.yaml` has it, you need not",
        "why": "why the method looks at the features it does; `experiment.yaml` has it, you need not",
    },
    (
        ExtraKey(
            "method", "a name, names with commas, or a tree", "mooring", "what clients do, and how the server fuses"
        ),
        ExtraKey(
            "fusion",
            "a fusion, or null",
            OF_METHOD,
            "how the server makes one predictor of the uploads; short for `method.fusion`",
        ),
        ExtraKey(
            "encoder",
            "a feature map",
            OF_METHOD,
            "what images are looked at through; short for `method.fusion.map`: `none`, the name of an encoder, a file, "
            "or its keys ([encoders.md](encoders.md))",
        ),
        ExtraKey(
            "clip", "joint, per-group, none", OF_METHOD, "how gradients are clipped; short for `method.client.clip`"
        ),
        ExtraKey(
            "align",
            "its keys, or null",
            OF_METHOD,
            "the pull of the prototypes to anchors; short for `method.client.align`",
        ),
        ExtraKey(
            "weight", "a weighting", OF_METHOD, "lambda, how hard that pulls; short for `method.client.align.weight`"
        ),
        ExtraKey(
            "sigma",
            "its keys",
            OF_METHOD,
            "the learned scalars behind lambda; short for `method.client.align.weight.sigma`",
        ),
        ExtraKey(
            "bank", "its keys, or null", OF_METHOD, "public features that clients receive; short for `method.bank`"
        ),
    ),
)
DATA = OfKinds(
    "data",
    "data",
    Source,
    {
        EVERY: {
            "root": "where the files are; `null` is `$MOORING_DATA`, else `~/.cache/mooring`",
            "limit": "a seeded, stratified subset of that many training images",
            "test_limit": "a stratified choice of that many test images, the same for every run and seed",
            "validation": "share of the training images set aside before partitioning, for the server",
            "public_ratio": "share made public and taken from the clients; `null` is 0.1 where a bank or a fusion "
            "asks for public images, else 0",
            "public": "another source of public images, with keys of its own, e.g. `data.public.source=fashion_mnist`",
        },
        "image_folder": {
            "layout": "`split` (train/, test/), `tree` (classes), `sites` (sites above classes), or `auto` to look",
            "held_out": "the test share where the folders have no test part; chosen by file name, the same everywhere",
            "size": "side of the square that images are brought to; `null` is what the method's frozen encoder takes, "
            "else 32",
            "fit": "what is not square: `crop` about its centre, `pad` with black, or `stretch`",
            "levels": "the values that become black and white in images deeper than 8 bits, such as `[0, 4095]`; "
            "`null` is all that their bits can say ([deep images](image-folders.md#deep-images))",
            "group": "images that are never parted: `parent-folder`, or a regular expression that finds a patient in "
            "a path ([patients](image-folders.md#patients))",
            "channels": "`3` for colour, `1` for grey",
            "corrupt": "an unreadable file: `skip` it with a warning, or `error`",
            "max_pixels": "largest image as it lies on disk; a larger one is an error "
            "([limits](security.md#what-is-read-and-its-limits)); never changes a result",
            "max_bytes": "most memory for the images of a part, decoded and resized; never changes a result",
        },
        "arrays": {
            "max_bytes": "most memory for all arrays, unpacked; never changes a result",
        },
    },
)
PARTITION = OfKinds(
    "partition",
    "partition",
    Partitioner,
    {
        "dirichlet, dirichlet_equal, fafi_overlap, iid, pathological": {
            "clients": "how many clients",
        },
        "dirichlet, dirichlet_equal, fafi_overlap": {
            "alpha": "skew: the smaller, the fewer labels a client has",
        },
        "dirichlet": {
            "min_size": "fewest images of a client, reached by moving some from the largest",
        },
        "pathological": {
            "classes_per_client": "exactly so many classes at every client",
        },
        "file": {
            "path": "a partition written by `mooring partition --export`",
        },
        EVERY: {
            "seed": "of the split alone; `null` is the experiment's `seed`; idle for `file` and `sites`",
        },
    },
)
MODEL = OfKinds(
    "model",
    "model",
    Backbone,
    {
        EVERY: {
            "width": "scales every channel count, and with it the feature size",
        },
    },
)
TRAINING = OfRecord(
    "training",
    "training",
    Training,
    {
        "rounds": "blocks of local epochs; after each one a snapshot may be taken",
        "local_epochs": "epochs in a round",
        "batch_size": "images in a step; a last small batch is used, not dropped",
        "lr": "learning rate",
        "momentum": "of SGD, kept over all rounds",
        "weight_decay": "on the model, never on a weighting's own parameters",
        "clip": "largest gradient norm; `null` never clips",
        "lr_schedule": "or `linear`, `cosine`, these `-by-round`, these `-by-epoch`",
        "snapshots": "rounds that are uploaded and fused: `all`, `last`, or a list; the last one always is",
        "precision": "`bfloat16`: convolutions and matrix products in it, losses and weights in float32; part of the "
        "fingerprint",
    },
)
EVALUATE = OfRecord(
    "evaluate",
    "evaluate",
    ClientEvaluation,
    {
        "clients": "after which rounds every client is evaluated by itself: `none`, the `last`, or `all` that are kept",
        "images": "on at most so many test images, every class in proportion; the same ones for all clients, runs and "
        "seeds",
        "passes": "images of all clients together: with 50 clients each is shown 200, and never fewer than 100",
    },
)
ENGINE = OfKinds(
    "engine",
    "engine",
    Engine,
    {
        "local": {
            "workers": "processes on this machine; `null` is one per core; same bytes for any number",
            "save_minutes": "between two states of a client within a round; one is saved after every round anyway",
            "device": "`auto`: the GPUs if there are any, several workers to a GPU; `cpu`, `cuda`. Clients train "
            "and fused models are evaluated there; fusion itself is computed on the CPU",
        },
        "flower": {
            "workers": "processes of Ray in Flower's simulation (extra `flower`); `null` is one per core; the bytes "
            "of `local`",
        },
    },
)

RUN_SECTIONS = (TOP, DATA, PARTITION, MODEL, TRAINING, EVALUATE)
LAST_SECTIONS = (ENGINE,)
