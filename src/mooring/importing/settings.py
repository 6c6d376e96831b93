"""The configuration behind a log in the keys of this house, as far as it is told; null where it is not."""

from typing import Any

from mooring.config.tree import Tree, merge, nested
from mooring.importing.logged import Logged
from mooring.importing.translation import fates, known
from mooring.importing.variants import Identified

UNTOLD: Tree = {
    "data": {"source": None},
    "partition": {"kind": None, "clients": None},
    "model": {"kind": None},
    "training": dict.fromkeys(("rounds", "local_epochs", "batch_size", "lr", "momentum")),
    "seed": None,
}
OF_KIND = {"dirichlet": "alpha", "pathological": "classes_per_client", "iid": None}  # partition -> its own setting
BY_ENTROPY = {"v9"}
FIXED = {"v7", "v9-fixed", "v6-drcl"}
LEARNED = {f"V{version}" for version in range(10, 20)} | {"aurorafedavg"}
STARTS_BY_ENTROPY = {f"V{version}" for version in range(11, 16)} | {"aurorafedavg"}
HINGED = {"v13", "v14-december", "v14", "v15"}


def settings_of(logged: Logged, identified: Identified) -> Tree:
    """A data set or a method that this house does not know keeps its name: running the file is refused, not guessed."""
    tree = UNTOLD
    for fate in fates(logged.config):
        if fate.key is not None and known(fate.setting) is not None:
            tree = merge(tree, nested(fate.key.split("."), known(fate.setting)))
    tree = {**tree, "partition": own_keys(tree["partition"]), "method": identified.method}
    return {**tree, **{key: value for key, value in method_part(logged, identified).items() if value}}


def own_keys(partition: Tree) -> Tree:
    """The published files give the settings of every kind of partition, whichever is used."""
    if partition["kind"] not in OF_KIND:
        return partition
    return {key: partition[key] for key in partition if key in ("kind", "clients", OF_KIND[partition["kind"]])}


def method_part(logged: Logged, identified: Identified) -> Tree:
    """What was set for the weight of the alignment; what a line prints counts before what the configuration says."""
    low, high = (known(logged.section("v9_config").get(key)) for key in ("lambda_min", "lambda_max"))
    name, version = identified.method, identified.version
    if name in FIXED:
        return {"weight": {"base": told(value=fixed(logged))}}
    if name in BY_ENTROPY:
        return {"weight": {"base": told(minimum=low, maximum=high)}}
    if version not in LEARNED:
        return {}
    starts = version in STARTS_BY_ENTROPY or name == "v10-preheated"
    start = {"start": {"kind": "entropy", **told(minimum=low, maximum=high)}} if starts else {}
    gamma = only(logged.marks.gammas, known(logged.config.get("gamma_reg")))
    most = only(logged.marks.ceilings, None) if name in HINGED else None
    guard = told(gamma=gamma, maximum=most)
    return {
        "weight": {"guard": guard} if guard else {},
        "sigma": told(lr=only(logged.marks.sigma_rates, known(logged.section("v10_config").get("sigma_lr")))) | start,
    }


def fixed(logged: Logged) -> Any:
    printed = dict.fromkeys(said.lambda_set for said in logged.said.values() if said.lambda_set is not None)
    return only(tuple(printed), known(logged.config.get("lambda_align_initial")))


def only(printed: tuple[float, ...], configured: Any) -> Any:
    """The one number that was printed; else what was configured."""
    return printed[0] if len(printed) == 1 else configured


def told(**settings: Any) -> Tree:
    return {key: value for key, value in settings.items() if value is not None}
