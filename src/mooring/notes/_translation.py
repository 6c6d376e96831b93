"""The keys of the published code as keys of Mooring: what each becomes, or why it is dropped."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mooring.config import METHOD_NOTE_WORDS, NOTE_WORDS, short_spellings
from mooring.methods import Method
from mooring.wording import printable

LONGEST, LARGEST = 200, 1e18  # letters of a word, and numbers, that are taken over
DEEPEST, MOST = 8, 2_000  # levels and values of a configuration that are looked at


@dataclass(frozen=True)
class KeyMapping:
    """What becomes of one setting: our key and its value, or no key and the reason."""

    path: str  # server.lr
    value: Any
    key: str | None = None  # training.lr
    setting: Any = None
    why: str = ""


MappingRule = Callable[[str, Any], KeyMapping]


def to(key: str, why: str = "") -> MappingRule:
    return lambda path, value: KeyMapping(path, value, key, value, why)


def drop(why: str) -> MappingRule:
    return lambda path, value: KeyMapping(path, value, why=why)


def name_rule(key: str, names: Mapping[str, str], why: str = "") -> MappingRule:
    """A name in our spelling, by default in lower case."""

    def rule(path: str, value: Any) -> KeyMapping:
        if not isinstance(value, str):
            return KeyMapping(path, value, key, value, why)
        return KeyMapping(path, value, key, names.get(value.lower(), value.lower()), why)

    return rule


def expected(usual: object, why: str, otherwise: str) -> MappingRule:
    """A setting that is always `usual` here."""
    return lambda path, value: KeyMapping(
        path, value, why=why if str(value).lower() == str(usual).lower() else otherwise
    )


SOURCES = {
    "fashionmnist": "fashion_mnist",
    "fmnist": "fashion_mnist",
    "fashion-mnist": "fashion_mnist",
    "cifar-10": "cifar10",
    "cifar-100": "cifar100",
    "tiny-imagenet": "tiny_imagenet",
    "tinyimagenet": "tiny_imagenet",
}
PARTITIONS = {"label": "pathological", "pathological": "pathological", "shards": "pathological"}
NEVER_USED = "the published code is configured with it and never uses it"
OF_THE_IMAGES = "read from the images"
OTHER_METHOD = "of a method that none of the notes uses"
BY_METHOD = "the method decides it here"
NO_FILES = "where that code keeps its files; a run has one folder here, out=..."
TEACHER = "clients start from fresh weights here"

RULES: dict[str, MappingRule] = {
    "exp_name": drop("the name of a folder; choose one with out=..."),
    "dataset.data_name": name_rule("data.source", SOURCES),
    "dataset.root_path": drop("where the images lie; say data.root=... or set MOORING_DATA"),
    "dataset.train_batch_size": to("training.batch_size"),
    "dataset.test_batch_size": drop("accuracy does not depend on it here"),
    "dataset.channels": drop(OF_THE_IMAGES),
    "dataset.num_classes": drop(OF_THE_IMAGES),
    "dataset.image_size": drop(OF_THE_IMAGES),
    "distribution.type": name_rule(
        "partition.kind",
        PARTITIONS,
        "every image at one client; the first release drew overlaps: fafi_overlap",
    ),
    "distribution.alpha": to("partition.alpha"),
    "distribution.label_num_per_client": to("partition.classes_per_client"),
    "client.num_clients": to("partition.clients"),
    "server.num_rounds": to("training.rounds"),
    "server.local_epochs": to("training.local_epochs"),
    "server.lr": to("training.lr"),
    "server.momentum": to("training.momentum"),
    "server.model_name": name_rule("model.kind", {}),
    "server.frac_clients": expected(1.0, "every client takes part, always", "every client takes part here"),
    "server.optimizer": expected("sgd", "clients train by SGD, always", "clients train by SGD here, no other"),
    "server.loss_name": expected("ce", "the losses belong to the method", "the losses belong to the method"),
    "server.aggregated_by_datasize": expected(
        True, "clients count by their images, always", "clients count by their images in the published fusion here"
    ),
    "server.weight_decay": drop(NEVER_USED),
    "server.lr_decay_per_round": drop(NEVER_USED),
    "seed": to("seed"),
    "device": drop("the engine takes a GPU if there is one; choose with engine.device=..."),
    "resume": drop("a run that was interrupted goes on with `mooring resume`"),
    "resume_best": drop("no round is selected by its test accuracy here"),
    "v9_config.use_server_optimization": expected(
        False, "the server trains nothing", "the server trains no prototypes here"
    ),
    "v9_config.use_adaptive_lambda": drop("it is method=v9 here, and v7 without it"),
    "v10_config.use_uncertainty_weighting": drop(BY_METHOD),
    "ours_v5_params.use_public_feature_bank": drop(BY_METHOD),
    "ours_v6_params.use_public_feature_bank": drop(BY_METHOD),
}
GROUPS: dict[str, MappingRule] = {
    "dataset.aux": drop(OTHER_METHOD),
    "checkpoint": drop(NO_FILES),
    "visualization": drop("`mooring report` draws everything"),
    "pretrain": drop(TEACHER),
    "DBCD": drop(OTHER_METHOD),
    "etf": drop("the losses belong to the method"),
    "v9_config": drop("of the server's own training, which there is not here"),
}
OTHER_KEYS = {  # settings of the method that the notes have no word for -> their key here
    "lambda_max_threshold": "weight.guard.maximum",
    "feature_bank_size": "bank.size",
    "teacher_pretrain_epochs": "bank.teacher_epochs",
    "public_data_ratio": "data.public_ratio",
    "public_ratio": "data.public_ratio",
}
SAME = {"lambda_align": "lambda_align_initial"}  # in older files


def key_mappings(config: Mapping[Any, Any]) -> Iterator[KeyMapping]:
    """Every setting of a configuration except the method's, in order."""
    for path, value in leaves(config):
        if method_word(path) is None:
            group = next((rule for name, rule in GROUPS.items() if path.startswith(name)), UNKNOWN)
            yield RULES.get(path, group)(path, value)


UNKNOWN = drop("unknown to this translation")


def method_word(path: str) -> str | None:
    """The word for a setting of the method, as the notes say it; None for every other setting."""
    group, _, last = path.rpartition(".")
    word = SAME.get(last, last)
    if path in RULES or group in ("DBCD", "pretrain"):
        return None
    return word if word in METHOD_NOTE_WORDS or word in OTHER_KEYS else None


def method_settings(word: str, value: Any, method: Method) -> list[dict[str, Any]]:
    """What a word may set for this method; each choice is one key, or several that are set together."""
    if word in OTHER_KEYS:
        return [{OTHER_KEYS[word]: value}]
    said = NOTE_WORDS[word]
    keys = [in_short(key) for key in said.keys_of(method)]
    choices = [keys] if keys and said.meant == "every" else [[key] for key in keys]
    scales = {in_short(key): one for key, one in said.scales_of(method).items()}
    return [dict.fromkeys(choice, value) | scales for choice in choices]


def in_short(key: str) -> str:
    """`method.client.align.weight.sigma.lr` -> `sigma.lr`, and never a word of the notes"""
    return min([key, *short_spellings(key).values()], key=len)


def leaves(tree: Mapping[Any, Any], path: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """{server: {lr: 1}} -> server.lr, 1"""
    for key, value in tree.items():
        name = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping) and value and depth < DEEPEST:
            yield from leaves(value, name, depth + 1)
        else:
            yield name, value


def plain_value(value: object) -> Any:
    """A number or a word; None for anything else."""
    if isinstance(value, str):
        return printable(value)[:LONGEST]
    if type(value) in (int, float, bool) and abs(value) < LARGEST:  # type: ignore[arg-type]
        return value
    return None


def json_value(value: object, depth: int = 0) -> object:
    """A configuration as JSON; values that JSON cannot represent become text."""
    if isinstance(value, Mapping) and depth < DEEPEST:
        kept = list(value.items())[:MOST]
        return {printable(str(key))[:LONGEST]: json_value(part, depth + 1) for key, part in kept}
    if isinstance(value, list | tuple) and depth < DEEPEST:
        return [json_value(part, depth + 1) for part in value[:MOST]]
    if value is None or plain_value(value) is not None:
        return plain_value(value)
    return printable(str(value)[:LONGEST])
