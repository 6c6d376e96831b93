"""`mooring run FOLDER`: from folders of images to a judged model. It checks, plans, runs and judges."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from mooring.cli.arguments import say
from mooring.errors import ConfigError

if TYPE_CHECKING:
    from mooring.check import DataCheck
    from mooring.config import Experiment

PLAN, REPORT = "plan.yaml", "report.html"


def is_folder_of_images(settings: list[str] | None) -> bool:
    """Is the first word a folder, and not a setting or a file?"""
    return settings is not None and settings != [] and "=" not in settings[0] and Path(settings[0]).is_dir()


def planned(settings: list[str], quiet: bool) -> "tuple[list[str], DataCheck]":
    """The settings that the folder and its check lead to, before those that were given; and the check."""
    from mooring.cli.check import of_folder, show_check
    from mooring.cli.live import working
    from mooring.cli.progress import show_reading

    folder, given = Path(settings[0]), settings[1:]
    reject_more_folders(folder, given)
    own = [word for word in given if word.startswith("data.")]
    with working("checking the images", silent=quiet), show_reading():
        found = of_folder(folder, own)
    if not quiet:
        show_check(found)
    words = ["data.source=image_folder", f"data.root={folder}"]
    if found.split == "grouped" and not any(word.startswith(("data.split=", "data.group=")) for word in given):
        words.append("data.split=grouped")
    return [*words, *given], found


def reject_more_folders(first: Path, given: list[str]) -> None:
    """Before hours of reading: sites lie side by side in one folder."""
    more = [word for word in given if "=" not in word and Path(word).is_dir()]
    if more:
        named = {Path(word).resolve() for word in (str(first), *more)}
        whole = {path.resolve() for path in first.parent.iterdir() if path.is_dir()} == named
        remedy = f"write mooring run {shlex.quote(str(first.parent))}" if whole else "put them into one folder"
        raise ConfigError([f"run: takes one folder with a folder per site, and {len(named)} were named; {remedy}"])


def judge(experiment: "Experiment", folder: Path, found: "DataCheck", quiet: bool) -> None:
    """Write the plan, the check, the judgement of the sites and the report into the run folder."""
    from mooring.cli.check import PAGE, write_check
    from mooring.cli.live import working
    from mooring.execution import judge_sites
    from mooring.record import write_atomically
    from mooring.reports import report

    write_check(found, folder)
    write_atomically(folder / PLAN, plan_text(experiment, found).encode())
    with working("judging every site", silent=quiet):
        judge_sites(folder, alerts(experiment, found))
        report(folder, "html", folder / REPORT)
    if not quiet:
        say(f"report  {folder / REPORT}")
        say(f"check   {folder / PAGE}")
        say(f"plan    {folder / PLAN}; edit it, then: mooring run {folder / PLAN}")
        say(f"limits  mooring calibrate {folder} NEW_IMAGES, then predict marks unusual images")


def alerts(experiment: "Experiment", found: "DataCheck") -> list[str]:
    """What must be decided; a run whose split is grouped has settled the leakage."""
    from mooring.schema import to_tree

    settled = to_tree(experiment.data).get("split") == "grouped"
    return [
        f"{finding.text}; this run keeps copies on one side (data.split=grouped)"
        if settled and finding.kind == "leakage"
        else f"{finding.text}; {finding.remedy}"
        for finding in found.decide
    ]


def plan_text(experiment: "Experiment", found: "DataCheck") -> str:
    """Every decision as a setting, with its reason; a file that `mooring run` takes."""
    from mooring.config import as_yaml
    from mooring.schema import to_tree
    from mooring.wording import percent, plural

    data = to_tree(experiment.located().data)
    split = f"{plural(found.leaked, 'held-out image')} of {found.held_out:,} have a copy in training"
    sites = plural(len(found.sites), "site") if experiment.data.has_sites() else "no sites: clients are simulated"
    reasons = [
        f"{found.images:,} images, {sites}, {len(found.classes)} classes",
        f"features: {experiment.why or 'as the method says'}",
        "head: follows from the sums; fusion.solver=auto lets the sums choose another",
        f"test images: {percent(data['held_out'], 0)} of every class at every site",
        f"split: {split}",
        "minimum: a site is asked before it sends sums over few images of a class (mooring plan --minimum)",
    ]
    lines = [f"# {reason}" for reason in reasons]
    if found.mapping:
        lines.append("# these folders may be one class; to join them, add below data:")
        lines.append(f"#   classes: {dict(found.mapping)}")
    tree = {key: part for key, part in experiment.tree().items() if key not in ("engine", "out", "given", "why")}
    return "\n".join(lines) + "\n" + as_yaml(tree)
