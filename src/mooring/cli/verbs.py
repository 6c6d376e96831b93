"""The verbs in their groups, with the few words that `mooring --help` has room for."""

from mooring.cli.front_page import FrontPage, VerbGroup

CHOOSE = VerbGroup(
    "Choose",
    {
        "methods": "what clients and server do",
        "fusions": "how uploads become one",
        "show": "a method, all its parts",
        "settings": "every key: default, range",
        "config": "a file to begin with",
        "data": "image sources; data fetch",
        "partition": "who would hold which images",
    },
)
RUN = VerbGroup(
    "Run, all sites on this machine",
    {
        "run": "train, upload, fuse, test",
        "resume": "go on after an interruption",
        "watch": "look on from elsewhere",
        "fuse": "fuse a run by other rules",
        "doctor": "what is or may go wrong",
    },
)
COMPARE = VerbGroup(
    "Compare",
    {
        "sweep": "all combinations, one table",
        "compare": "finished runs, one page",
        "study": "the lab notes, run again",
        "import": "logs of the published code",
    },
)
FEDERATE = VerbGroup(
    "Federate, by one file per site",
    {
        "plan": "write the job file for sites",
        "approve": "a site agrees to a job",
        "train": "at a site: make its upload",
        "inspect": "what is in a file, in words",
        "fuse": "files of sites to a model",
        "recover": "when a site never answers",
        "keys": "this account's public key",
        "log": "what was decided here",
        "flower": "the same over a network",
    },
)
MODEL = VerbGroup(
    "Use a model",
    {
        "predict": "classes of images",
        "evaluate": "how often it is right",
        "export": "as ONNX",
        "card": "what to know before use",
    },
)
READ = VerbGroup(
    "Read results",
    {
        "report": "a page, tables, figures",
        "track": "TensorBoard or MLflow",
        "verify": "is a run as it was written?",
        "clean": "free the space of states",
    },
)


class Verbs(FrontPage):
    """All of them on one screen."""

    about = "mooring VERB ...   One-shot federated learning: train once, upload once, fuse."
    left = (CHOOSE, RUN, COMPARE)
    right = (FEDERATE, MODEL, READ)
    footer = "More: mooring VERB --help. First: mooring run. Version: mooring --version"
