"""The configuration behind a log in the keys of this house, as far as it is logged; null where it is not."""

from typing import Any

from mooring.config.tree import Tree, merge, nested
from mooring.methods import METHODS
from mooring.notes.logged import Logged
from mooring.notes.translation import key_mappings, method_keys, plain_value
from mooring.notes.variants import Identified

NOT_LOGGED: Tree = {
    "data": {"source": None},
    "partition": {"kind": None, "clients": None},
    "model": {"kind": None},
    "training": dict.fromkeys(("rounds", "local_epochs", "batch_size", "lr", "momentum")),
    "seed": None,
}
OF_KIND = {"dirichlet": "alpha", "pathological": "classes_per_client", "iid": None}  # partition -> its own setting
FIXED = ("v9-fixed", "v6-drcl", "v8")
LEARNED = {f"V{version}" for version in range(10, 20)} | {"aurorafedavg"}
STARTS_BY_ENTROPY = {f"V{version}" for version in range(11, 16)} | {"aurorafedavg"}
HINGED = ("v13", "v14")


def settings_of(logged: Logged, identified: Identified) -> Tree:
    """A data set or a method that this house does not know keeps its name: running the file is an error."""
    tree = NOT_LOGGED
    for fate in key_mappings(logged.config):
        if fate.key is not None and plain_value(fate.setting) is not None:
            tree = merge(tree, nested(fate.key.split("."), plain_value(fate.setting)))
    tree = {**tree, "partition": own_keys(tree["partition"]), "method": identified.method}
    return {**tree, **{key: value for key, value in method_part(logged, identified).items() if value}}


def own_keys(partition: Tree) -> Tree:
    """The published files give the settings of every kind of partition, whichever is used."""
    if partition["kind"] not in OF_KIND:
        return partition
    return {key: partition[key] for key in partition if key in ("kind", "clients", OF_KIND[partition["kind"]])}


def method_part(logged: Logged, identified: Identified) -> Tree:
    """What was set for the weight of the alignment; what a line prints counts before what the configuration says."""
    name, marks = identified.method, logged.marks
    own, learning = logged.section("v9_config"), logged.section("v10_config")
    words = {
        "lambda_align_initial": fixed(logged),
        "lambda_min": plain_value(own.get("lambda_min")),
        "lambda_max": plain_value(own.get("lambda_max")),
        "sigma_lr": only(marks.sigma_rates, plain_value(learning.get("sigma_lr"))),
        "gamma_reg": only(marks.gammas, plain_value(logged.config.get("gamma_reg"))),
        "lambda_max_threshold": only(marks.ceilings, None) if name in HINGED else None,
    }
    tree: Tree = {}
    for word, value in words.items():
        for key in keys_of(word, identified) if value is not None else ():
            tree = merge(tree, nested(key.split("."), value))
    if identified.version in STARTS_BY_ENTROPY or name == "v10-preheated":
        limits = without_none(minimum=words["lambda_min"], maximum=words["lambda_max"])
        tree = merge(tree, {"sigma": {"start": {"kind": "entropy", **limits}}})
    return tree


def keys_of(word: str, identified: Identified) -> tuple[str, ...]:
    """Where the method has this setting; where its version would have it, if the method is none of ours."""
    if identified.method in METHODS:
        return next(iter(method_keys(word, METHODS[identified.method])), ())
    learned = identified.version in LEARNED
    key = {"lambda_align_initial": "weight.base.value", "sigma_lr": "sigma.lr", "gamma_reg": "weight.guard.gamma"}
    mine = {"lambda_align_initial": identified.method in FIXED, "sigma_lr": learned, "gamma_reg": learned}
    return (key[word],) if mine.get(word) else ()


def fixed(logged: Logged) -> Any:
    printed = dict.fromkeys(said.lambda_set for said in logged.said.values() if said.lambda_set is not None)
    return only(tuple(printed), plain_value(logged.config.get("lambda_align_initial")))


def only(printed: tuple[float, ...], configured: Any) -> Any:
    """The one number that was printed; else what was configured."""
    return printed[0] if len(printed) == 1 else configured


def without_none(**settings: Any) -> Tree:
    return {key: value for key, value in settings.items() if value is not None}
