"""Records of format 1 (mooring 0.1), as format 2 says them. What they do not tell stays empty."""

from collections.abc import Callable
from typing import Any

METRICS = ("accuracy", "balanced_accuracy", "macro_f1", "calibration_error", "per_class_accuracy", "confusion")
EMPTY = (*METRICS[-2:], "sizes", "label_counts", "classes_per_client", "entropy", "normalised_entropy")
Tree = dict[str, Any]  # JSON of another version, on its way into a type


def result(old: Tree) -> Tree:
    """`result.json`: metrics move together, lambda gets its one name, sites and classes go by number."""
    rounds = [_round(row) for row in old.get("rounds", [])]
    partition = _filled(old.get("partition", {}))
    sizes = partition.get("sizes") or []
    last = rounds[-1]["round"] if rounds else None
    uploads = old.get("uploads", [])
    sent = [upload["bytes"] for upload in uploads if upload["round"] == last]
    new = {name: value for name, value in old.items() if name not in (*METRICS[1:], "imported", "log", "clients")}
    if old.get("imported"):
        new["origin"] = {"log": old.get("log"), "sha256": old.get("log_sha256"), "server": old.get("server")}
    return new | {
        "format": 1,
        "rounds": rounds,
        "partition": partition,
        "sites": [{"number": k, "name": f"client {k}", "images": n} for k, n in enumerate(sizes)],
        "classes": [str(c) for c in range(len((partition.get("label_counts") or [[]])[0]))],
        "upload_bytes": sum(sent) if sent else None,
    }


def fusion(old: Tree) -> Tree:
    """One file of `fusions/`; it tells its numbers one by one."""
    if "metrics" in old:
        raise ValueError
    return {name: value for name, value in old.items() if name not in METRICS} | {"format": 2, "metrics": _metrics(old)}


def event(old: Tree) -> Tree:
    """One line of `events.jsonl`."""
    upgrade = EVENTS.get(old.get("event", ""))
    return old if upgrade is None else upgrade(old)


def _round(row: Tree) -> Tree:
    own = [_client(client) | {"round": row["round"]} for client in row.get("clients", [])]
    rest = {name: value for name, value in row.items() if name not in METRICS}
    return rest | {"metrics": _metrics(row), "clients": own}


def _client(row: Tree) -> Tree:
    """The felt lambda was called lambda, and an imported row had sigma where a run has its square."""
    new = {name: value for name, value in row.items() if name not in ("lambda", "sigma_local", "sigma_align")}
    new["lambda_felt"] = row.get("lambda")
    for name in ("local", "align"):
        if row.get(f"sigma_{name}") is not None:
            new[f"sigma_sq_{name}"] = row[f"sigma_{name}"] ** 2
    if new.get("lambda_raw") and new["lambda_felt"] is not None:
        new.setdefault("schedule_factor", new["lambda_felt"] / new["lambda_raw"])
    return new


def _metrics(row: Tree) -> Tree:
    return _filled({name: row.get(name) for name in METRICS})


def _filled(tree: Tree) -> Tree:
    """Lists that were null are empty."""
    return {name: [] if value is None and name in EMPTY else value for name, value in tree.items()}


def _epoch(old: Tree) -> Tree:
    rest = ("time", "event", "client", "round", "epoch", "align_loss")
    terms = {name: value for name, value in old.items() if name not in rest}
    return {name: value for name, value in old.items() if name in rest} | {"terms": terms}


def _partition(old: Tree) -> Tree:
    summary = _filled({name: value for name, value in old.items() if name not in ("time", "event")})
    names = [f"client {k}" for k, _ in enumerate(summary.get("sizes") or ())]
    return {"time": old.get("time"), "event": "partition", "sites": names, "summary": summary}


def _forecast(old: Tree) -> Tree:
    return {name: value for name, value in old.items() if name != "evidence"}  # numbers, where format 2 has words


def _remark(old: Tree) -> Tree:
    return {"time": old.get("time"), "event": "remark", "text": old.get("text", "")}


EVENTS: dict[str, Callable[[Tree], Tree]] = {
    "round": _client,
    "epoch": _epoch,
    "forecast": _forecast,
    "partition": _partition,
    "bank": _remark,
    "damaged": _remark,
}
