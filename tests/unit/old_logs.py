"""Lines as the published code prints them, in all its versions; every number here is made up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import cos, pi

LINES = """2025-01-01 00:00:00 [INFO]  config: {config}
2025-01-01 00:00:00 [INFO]  {label}: something
{body}"""
CONFIG = str(
    {
        "dataset": {"train_batch_size": 512, "num_classes": 10},
        "server": {"lr": 0.05, "momentum": 0.9, "model_name": "resnet18"},
    }
)


def log_of(label, rounds):
    return LINES.format(
        config=CONFIG, label=label, body="\n".join(f"2025-01-01 00:00:01 [INFO]  {line}" for line in rounds)
    )


def v11_rounds():
    for r, (a, lam) in enumerate([(1.0, 11.9), (0.7, 17.0), (0.4, 29.8), (0.1, 119.0)]):
        yield f"Round {r} starts---| Annealing Factor for this round: {a}"
        yield "Client 0 Starts Local Trainning--------|"
        yield f"Epoch {r} loss: 915.8; train accuracy: 0.893; test accuracy: 0.{30 + r}"
        yield f"Client 0 Learned Sigmas -> L_local: 3.4238, L_align: {3.4238 / lam**0.5:.4f}. Effective Lambda: {lam}"
        yield f"The test accuracy of OursV11+SimpleFeatureServer: 0.3{r}"


def v10_rounds():
    for r, lam in enumerate([16.7670, 8.2207, 8.7494]):
        yield f"Round {r} starts--------|"
        yield "Client 0 Starts Local Trainning--------|"
        yield f"Epoch {r} loss: 915.8; train accuracy: 0.893; test accuracy: 0.30"
        yield f"Client 0 Learned Sigmas -> L_local: 3.0, L_align: {3.0 / lam**0.5:.4f}. Effective Lambda: {lam}"
        yield f"The test accuracy (with prototype) of OneShotOurs+Ensemble: 0.4{r}"


@dataclass(frozen=True)
class Style:
    """A kind of log: the method that it is of, its header, and which lines it has."""

    method: str
    header: str
    labels: tuple[str, ...]  # of its accuracies
    month: str = "2025-11"
    before: tuple[str, ...] = ()  # lines before round 0
    heated: bool = False  # does every client's lambda start by its entropy?
    settled: tuple[str, ...] = ()  # lines after that
    starting: tuple[str, ...] = ()  # lines of a client before its epoch
    learned: str = ""  # sigmas, states, bare: how lambda is printed after a client's epoch
    course: Callable[[int], float] = lambda r: 9.0  # lambda by round
    factor: Callable[[float], float] | None = None  # in the line of a round
    after: tuple[str, ...] = ()  # lines at the end of a round
    known: str = "read"
    config: Mapping[str, object] = field(default_factory=dict)  # beside what all have

    def messages(self, rounds=4, clients=2):
        yield f"config: {old_config(rounds, clients) | dict(self.config)}"
        yield "Total assigned samples: 50000"
        yield self.header
        yield from self.before
        for c in range(clients if self.heated else 0):
            yield from (ENTROPY, f"Client {c}: Calculated initial lambda = 10.3302")
        yield from self.settled
        for r in range(rounds):
            factor = "" if self.factor is None else f" Annealing Factor for this round: {self.factor(r / rounds):.4f}"
            yield f"Round {r} starts---|{factor}" if factor else f"Round {r} starts--------|"
            for c in range(clients):
                yield f"Client {c} Starts Local Trainning--------|"
                yield from self.starting
                yield f"Epoch {r} loss: {915.8 - r}; train accuracy: 0.893; test accuracy: 0.{30 + r + c}"
                yield from LEARNED[self.learned](c, self.course(r), 1 - (r + 1) / rounds)
            yield f"Round {r} Finish--------|"
            yield from self.after
            for i, label in enumerate(self.labels):
                yield f"The test accuracy {label}: 0.{40 + r}{i}"

    def text(self, prefix="{month}-05 19:31:58 [INFO]  ", messages=None):
        begin = prefix.format(month=self.month)
        return "\n".join(begin + said for said in (messages or self.messages())) + "\n"


def old_config(rounds, clients):
    return {
        "dataset": {"data_name": "CIFAR10", "train_batch_size": 512, "num_classes": 10},
        "distribution": {"type": "dirichlet", "label_num_per_client": 2, "alpha": 0.05},
        "client": {"num_clients": clients},
        "server": {"num_rounds": rounds, "lr": 0.05, "local_epochs": 1, "momentum": 0.9, "model_name": "resnet18"},
        "seed": 7,
        "lambda_align_initial": 5.0,
        "v9_config": {"use_adaptive_lambda": True, "lambda_min": 0.1, "lambda_max": 20.0},
        "v10_config": {"use_uncertainty_weighting": True, "sigma_lr": 0.005},
    }


def sigmas(client, lam, s):
    align = f"L_align: {3.2 / lam**0.5:.4f}."
    yield f"Client {client} Learned Sigmas -> L_local: 3.2000, {align} Effective Lambda: {lam:.4f}"


def states(client, lam, s):
    effective = f"Truly Effective λ (for W): {lam * s:9.4f}"
    yield f"Client {client} Post-Training State -> Raw λ: {lam:9.4f} | s(p): {s:.3f} | {effective}"


def bare(client, lam, s):
    yield f"Client {client} Post-Training State -> Raw λ: {lam:9.4f}"


LEARNED = {"": lambda *_: (), "sigmas": sigmas, "states": states, "bare": bare}
ENTROPY = "Data entropy: 1.7077, Normalized: 0.5141 -> Adaptive Lambda: 10.3302"
LINEAR, COSINE = (lambda p: 1 - p), (lambda p: 0.5 * (1 + cos(pi * p)))
RATE = ("V10 mode: Optimizer created with base_lr=0.05 and sigma_lr=0.005",)
GAMMA = "Gamma for stability anchor regularization: 1e-05"
SERVER = "of Ours{}+SimpleFeatureServer"


def heated(version, *settled):
    begin = f"--- Pre-heating {version} models with V9's adaptive lambda strategy ---"
    end = f"--- {version} model pre-heating complete. ---"
    return {"before": (begin,), "heated": True, "settled": (end, *settled)}


def v11(schedule, factor, course, method="", said=True):
    after = (f"Current annealing strategy: {schedule}. Next round's annealing factor set to: 0.5",) if said else ()
    return Style(
        method or (f"v11-{schedule}" if schedule == "none" else f"v11-as-run-{schedule}"),
        "OneshotOursV11: Consensus-Driven Dynamic Annealing with Uncertainty Weighting",
        (SERVER.format("V11"),),
        **heated("V11"),
        starting=RATE,
        learned="sigmas",
        course=course,
        factor=factor,
        after=after,
        known="read" if schedule == "none" else "inferred",
    )


def guarded(method, version, month, course, title, *labels, known="read"):
    return Style(
        method,
        f"OneshotOurs{version}: {title}",
        labels or (SERVER.format(version),),
        month,
        **heated(version, GAMMA),
        starting=RATE,
        learned="states",
        course=course,
        known=known,
    )


def runs_away(r):
    return 10.0 * 30.0**r


V4 = (SERVER.format("V4"),)
V13, V14 = "V12 with stability_anchor", "V13 with lambda_max_threshold "
V12 = "OneshotOursV12: Uncertainty Weighting with INTERNAL Dynamic Task Attenuation"
STYLES = {
    "V4": Style("v4", "OneshotOurs", V4),
    "V4, older": Style("v4", "OneshotOurs", ("(with prototype) of OneShotOurs+Ensemble",), "2025-08"),
    "V4 of September": Style("v4", "OneshotOurs", ("(with prototype) of OneShotOursV7+Ensemble",), "2025-09"),
    "V4, latest": Style(
        "v4",
        "OneshotOurs",
        (SERVER.format("V7"),),
        "2026-01",
        starting=("Using provided lambda_align_initial: 5.0",),
    ),
    "V4, no bank": Style("v4", "OneshotOurs", V4, before=("Public feature bank strategy is DISABLED.",)),
    "V5 of note 1": Style(
        "v5-bank", "OneshotOurs", V4, "2025-09", before=("Public feature bank strategy is ENABLED.",)
    ),
    "V6 of note 1": Style(
        "v6",
        "OneshotOurs",
        ("(with prototype) of OneShotOurs+Ensemble",),
        "2025-09",
        before=("Public feature bank strategy is ENABLED.",),
        starting=("Epoch 0: Running in Stage 1 - Global Alignment Only.",),
    ),
    "V5": Style(
        "v5-drcl",
        "OneshotOursV5 with Decoupled Representation and Classifier Learning (DRCL)",
        ("(with prototype) of OneShotOursV5+SimpleServer",),
    ),
    "V5 of September": Style(
        "v5-drcl",
        "OneshotOursV5 with Decoupled Representation and Classifier Learning (DRCL)",
        ("(with prototype) of OneShotOursV7+SimpleServer",),
        "2025-09",
    ),
    "V6": Style(
        "v6-drcl", "OneshotOursV6 with DRCL and Lambda Annealing", ("(with prototype) of OneShotOursV7+SimpleServer",)
    ),
    "V7": Style(
        "v7",
        "OneshotOursV7 with DRCL (ETF Anchors) and Lambda Annealing",
        (SERVER.format("V7"),),
        before=("Initialized ETF fixed anchors with shape: torch.Size([10, 512])",),
        starting=("Using provided lambda_align_initial: 10.0",),
    ),
    "V9": Style(
        "v9",
        "OneshotOursV9 with a lot of things combined",
        (SERVER.format("V9"),),
        before=("{'use_adaptive_lambda': True, 'lambda_min': 0.1, 'lambda_max': 20.0}",),
        starting=(ENTROPY,),
    ),
    "V9 without entropy": Style(
        "v9-fixed",
        "OneshotOursV9 with a lot of things combined",
        (SERVER.format("V9"),),
        config={"v9_config": {"use_adaptive_lambda": False}},
    ),
    "V10": Style("v10", "OneshotOursV10 with uncertainty weighting", (SERVER.format("V10"),), learned="sigmas"),
    "V10 that prints V9": Style(
        "v10", "OneshotOursV10 with uncertainty weighting", (SERVER.format("V9"),), learned="sigmas"
    ),
    "V10, pre-heated": Style(
        "v10-preheated",
        "OneshotOursV10 with uncertainty weighting, Pre-heated with V9 Adaptive Lambda",
        (SERVER.format("V10"),),
        **heated("V10"),
        starting=RATE,
        learned="sigmas",
    ),
    "V11 linear": v11("linear", LINEAR, lambda r: 9 / LINEAR(r / 4)),
    "V11 cosine": v11("cosine", COSINE, lambda r: 9 / COSINE(r / 4)),
    "V11 cosine, by its factors": v11("cosine", COSINE, lambda r: 9 / COSINE(r / 4), said=False),
    "V11 none": v11("none", lambda p: 1.0, lambda r: 9.0),
    "V11 detached": v11("linear", LINEAR, lambda r: 9.0, "v11-detached-linear"),
    "V12": Style("v12-as-run", V12, (SERVER.format("V12"),), **heated("V12"), learned="states", course=runs_away),
    "V12 with sigmas": Style("v12-as-run", V12, (SERVER.format("V12"),), **heated("V12"), learned="sigmas"),
    "V12 of another month": Style(
        "unknown variant of V12", V12, (SERVER.format("V12"),), "2026-01", learned="states", known="unknown"
    ),
    "V13 of November": guarded("v13-gamma", "V13", "2025-11", runs_away, V13, known="inferred"),
    "V13 of December": guarded("v13", "V13", "2025-12", lambda r: 40.0 - 9 * r, V13),
    "V13, diverged": guarded("v13-gamma", "V13", "2025-11", lambda r: float("nan"), V13, known="inferred"),
    "V14 of November": guarded("v14-november", "V14", "2025-11", lambda r: min(runs_away(r), 50.0), V14),
    "V14 of December": guarded("v14-december", "V14", "2025-12", lambda r: 45.0 - 10 * r, V14),
    "V14 of January": guarded("v14", "V14", "2026-01", lambda r: 30.0 - 9 * r, V14),
    "V14 that fits no month": guarded("unknown variant of V14", "V14", "2025-11", runs_away, V14, known="unknown"),
    "V15": guarded(
        "v15",
        "V15",
        "2026-01",
        lambda r: 30.0,
        "AURORA (V14) with Projector Head (Addressing d >= C-1)",
        "of OursV15+SimpleFeatureServer",
        "of OursV15FedAvg",
    ),
    "V18": Style(
        "v18",
        "OneshotOursV18: AURORA with Reclassified Losses + No Annealing",
        ("of OursV18+WarmupNoAnneal",),
        "2026-02",
        learned="bare",
    ),
    "FAFI + FedAvg": Style(
        "fafi-fedavg", "OneshotFAFIFedAvg: OursV4 + FedAvg (Parameter Averaging)", ("of FAFIFedAvg",)
    ),
    "AURORA + FedAvg": Style(
        "aurora-fedavg",
        "OneshotAURORAFedAvg: OursV14 + FedAvg (Parameter Averaging)",
        ("of AURORAFedAvg",),
        "2026-01",
        **heated("AURORA", GAMMA),
        starting=RATE,
        learned="states",
    ),
    "FedAvg": Style("fedavg-1", "OneshotFedAvg", ("of OneShotFedAvg",)),
    "FedETF": Style("fedetf", "OneshotFedETF", ("of OneShotFedETF", "of OneshotFedETF+Ensemble")),
    "FedProto": Style(
        "fedproto", "OneshotFedProto", ("of OneShotFedProto", "(with prototype) of OneShotFedProto", "of Ensemble")
    ),
    "Ensemble": Style("ensemble", "OneshotEnsemble", ("of Ensemble", "of Ensemble_Feature")),
    "OTFusion": Style("otfusion", "OTFusion", ("of OTFusion",)),
}
