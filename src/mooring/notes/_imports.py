"""Import logs of the published code as run folders, with the settings that they print."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mooring.config import as_yaml, folder_name, merge_trees, nested_tree
from mooring.methods import METHODS
from mooring.notes._identify import identify
from mooring.notes._imported_record import events_of, origin_of, result_of
from mooring.notes._log_reader import read_logs
from mooring.notes._logged import Logged
from mooring.notes._translation import key_mappings, method_settings, plain_value
from mooring.notes._variants import Identified
from mooring.record import Imported, ImportedResult, write_imported
from mooring.schema import Tree

RUNS, UNKNOWN = Path("runs"), "unknown"
HEAD = "# Imported from {log}. Missing values are null, and nothing here is a default.\n"


def import_log(path: Path, out: Path | None = None) -> list[tuple[Path, ImportedResult]]:
    """Write a run folder for every experiment in the log; several experiments get one folder each inside `out`."""
    imported = read_imports(path)
    folders = [import_folder(one, len(imported), out) for one in imported]
    return [(folder, write_imported(folder, one)) for folder, one in zip(folders, imported, strict=True)]


def read_imports(path: Path) -> list[Imported]:
    """Every experiment of the log, not written yet."""
    return [imported_from(logged, path.name) for logged in read_logs(path)]


def imported_from(logged: Logged, log: str) -> Imported:
    """The content of the run folder."""
    identified = identify(logged)
    tree, origin = logged_settings(logged, identified), origin_of(logged, identified, log)
    result = result_of(logged, identified, tree, origin)
    return Imported(logged.text, HEAD.format(log=log) + as_yaml(tree), tree, events_of(logged, identified), result)


def import_folder(imported: Imported, experiments: int, out: Path | None) -> Path:
    result = imported.result
    name = f"{folder_name(f'{result.dataset or UNKNOWN}-{result.method}')}-imported-{result.origin.sha256[:8]}"
    if out is None:
        return RUNS / name
    return out if experiments == 1 else out / name


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


def logged_settings(logged: Logged, identified: Identified) -> Tree:
    """The configuration as far as the log prints it, null elsewhere. Unknown data sets and methods keep their names."""
    tree = NOT_LOGGED
    for mapping in key_mappings(logged.config):
        if mapping.key is not None and plain_value(mapping.setting) is not None:
            tree = merge_trees(tree, nested_tree(mapping.key.split("."), plain_value(mapping.setting)))
    tree = {**tree, "partition": own_keys(tree["partition"]), "method": identified.method}
    return {**tree, **{key: value for key, value in method_part(logged, identified).items() if value}}


def own_keys(partition: Tree) -> Tree:
    """The settings of this kind of partition; the published files list the settings of every kind."""
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
        for key, setting in settings_for(word, value, identified).items() if value is not None else ():
            tree = merge_trees(tree, nested_tree(key.split("."), setting))
    if identified.version in STARTS_BY_ENTROPY or name == "v10-preheated":
        limits = without_none(minimum=words["lambda_min"], maximum=words["lambda_max"])
        tree = merge_trees(tree, {"sigma": {"start": {"kind": "entropy", **limits}}})
    return tree


def settings_for(word: str, value: Any, identified: Identified) -> Tree:
    """Where the method has this setting; where its version would have it, if Mooring does not have the method."""
    if identified.method in METHODS:
        return next(iter(method_settings(word, value, METHODS[identified.method])), {})
    learned = identified.version in LEARNED
    key = {"lambda_align_initial": "weight.base.value", "sigma_lr": "sigma.lr", "gamma_reg": "weight.guard.gamma"}
    mine = {"lambda_align_initial": identified.method in FIXED, "sigma_lr": learned, "gamma_reg": learned}
    return {key[word]: value} if mine.get(word) else {}


def fixed(logged: Logged) -> Any:
    printed = dict.fromkeys(said.lambda_set for said in logged.said.values() if said.lambda_set is not None)
    return only(list(printed), plain_value(logged.config.get("lambda_align_initial")))


def only(printed: Sequence[float], configured: Any) -> Any:
    """The one number that was printed; else what was configured."""
    return printed[0] if len(printed) == 1 else configured


def without_none(**settings: Any) -> Tree:
    return {key: value for key, value in settings.items() if value is not None}
