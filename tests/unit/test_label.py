"""Changed methods say so, in tables, titles and folder names; what an experiment is stays what it was."""

import re
from pathlib import Path

import pytest
import yaml
from report_folders import relabelled, write_members

from mooring.cli.run import apart
from mooring.config import as_yaml, load, parse
from mooring.methods import METHODS
from mooring.reports._reading import collect_report_data
from mooring.reports._summary import summary_answers

DIGITS = Path(__file__).parents[2] / "configs/digits.yaml"
TABLE = {  # method and fusion -> the fingerprints of seeds 1, 2, 3 in docs/compare.md
    ("centralised",): ("75dff19f", "2ed938a6", "708cbf12"),
    ("mooring",): ("28d33615", "4d1d2439", "8bd68c45"),
    ("v7", "fusion=class-expert"): ("51ef464d", "51c910f4", "3c07ebd2"),
    ("v4",): ("4dfcdc8e", "a83a0871", "f9c44858"),
    ("v7",): ("ed813e5f", "adf3d4cc", "959245e6"),
    ("local-only",): ("8c2cbe0b", "4dbead6a", "6a2925e4"),
}
CHANGED = [
    (["method=v7", "fusion=class-expert"], "v7 + fusion=class-expert", "digits-v7-fusion-class-expert"),
    (["method=v7", "weight.base.value=3"], "v7 + weight.base.value=3", "digits-v7-weight.base.value-3"),
    (
        ["method=v7", "weight=fixed", "weight.value=0.5"],
        "v7 + weight=fixed, weight.value=0.5",
        "digits-v7-weight-fixed-weight.value-0.5",
    ),
    (["method=v7", "method.client.align=null"], "v7 + align=null", "digits-v7-align-null"),
    (["method=v6", "alignment_epochs=3"], "v6 + alignment_epochs=3", "digits-v6-alignment_epochs-3"),
    (
        ["method=v12", "clip=per-group", "sigma.lr=0.1", "fusion.kind=iffi"],
        "v12 + sigma.lr=0.1, clip=per-group, fusion=iffi",
        "digits-v12-sigma.lr-0.1-clip-per-group-fusion-iffi",
    ),
    (
        ["method=v7", "method.client.terms.supcon.temperature=0.1"],
        "v7 + method.client.terms.supcon.temperature=0.1",
        "digits-v7-method.client.terms.supcon.temperature-0.1",
    ),
    (
        ["method=v4", "method.client.terms=[cross-entropy, {kind: supcon, temperature: 0.1}]"],
        "v4 + method.client.terms=[cross-entropy, {kind: supcon, temperature: 0.1}]",
        "digits-v4-method.client.terms-cross-entropy-kind-supcon-temperature-0.1",
    ),
    (["method=afl", "fusion.map=pixels"], "afl + fusion.map=pixels", "digits-afl-fusion.map-pixels"),
    (
        ["method=afl", "fusion.map.kind=encoder-file", "fusion.map.path=a/b.safetensors"],
        "afl + fusion.map=encoder-file, fusion.map.path=a/b.safetensors",
        "digits-afl-fusion.map-encoder-file-fusion.map.path-a-b.safetensors",
    ),
]


def one(*overrides):
    (experiment,) = load(None, overrides)
    return experiment


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("words", TABLE)
def test_the_fingerprints_of_the_table_stand(words, seed):
    (experiment,) = load(DIGITS, [f"method={words[0]}", *words[1:], f"seed={seed}"])
    assert experiment.fingerprint()[:8] == TABLE[words][seed - 1]


def test_the_table_shows_these_fingerprints():
    page = (DIGITS.parents[1] / "docs/compare.md").read_text("utf-8")
    assert all(f"| `{' '.join(words)}`" in page and ", ".join(TABLE[words]) in page for words in TABLE)


@pytest.mark.parametrize(("words", "label", "folder"), CHANGED)
def test_a_changed_method_says_so(words, label, folder):
    experiment = one(*words)
    assert experiment.label == label
    assert experiment.title == f"{folder}-{experiment.fingerprint()[:8]}"
    assert parse(yaml.safe_load(as_yaml(experiment.tree())))[0].label == label


@pytest.mark.parametrize(("words", "label", "_"), CHANGED)
def test_what_a_label_tells_makes_the_method_again(words, label, _):
    name, _, told = label.partition(" + ")
    settings = re.split(r", (?=[\w.]+=)", told)
    assert one(f"method={name}", *settings).fingerprint() == one(*words).fingerprint()


@pytest.mark.parametrize("name", METHODS)
def test_a_method_as_it_is_needs_no_more_than_its_name(name):
    assert one(f"method={name}", "seed=4", "training.lr=0.01", "partition.alpha=1").label == name
    assert one(f"method={name}").title == f"digits-{name}-{one(f'method={name}').fingerprint()[:8]}"


def test_the_value_that_a_method_has_already_changes_nothing():
    assert one("method=v7", "weight.base.value=5", "fusion=feature-ensemble", "align.term=mean-squared").label == "v7"


@pytest.mark.parametrize(
    "words",
    [
        ["method.client.stages=[{when: {kind: before, progress: 0.2}, terms: [cross-entropy, supcon]}]"],
        ["method=afl", "fusion.map.kind=encoder-file", f"fusion.map.path=/{'a:b c+d=' * 30}"],
        ["method=afl", "fusion.map.kind=encoder-file", "fusion.map.path=図/é.safetensors"],
    ],
)
def test_a_folder_name_is_plain_and_short(words):
    title = one(*words).title
    assert re.fullmatch(r"[a-z0-9._-]{1,80}", title)
    assert title.endswith(f"-{one(*words).fingerprint()[:8]}")


def test_several_methods_in_one_folder_are_told_apart():
    both = [{"name": "v7", "fusion": "iffi"}, {"name": "v7", "fusion": "class-expert"}, "v4"]
    places = [experiment.out for experiment in apart(parse({"method": both, "out": "here"}))]
    assert places == ["here/v7-fusion-iffi", "here/v7-fusion-class-expert", "here/v4"]


def test_a_report_says_what_was_changed_once(v12_run, tmp_path):
    for clip in ("joint", "per-group"):
        words = ["method=v12", "weight.guard.kind=bound", f"clip={clip}"]
        relabelled(v12_run, tmp_path / "runs" / f"clip_{clip}", words, 0.5)
    (tmp_path / "sweep.yaml").write_text("settings: [weight.guard.kind=bound]\nfactors: {clip: [joint, per-group]}")
    write_members(tmp_path, {f"clip_{clip}": {"clip": clip} for clip in ("joint", "per-group")})
    labels = [group.label for group in collect_report_data(tmp_path).groups]
    assert labels == ["v12 + weight.guard=bound · clip=joint", "v12 + weight.guard=bound · clip=per-group"]
    assert (
        collect_report_data(tmp_path / "runs/clip_per-group").title
        == "v12 + weight.guard=bound, clip=per-group on digits"
    )


def test_a_report_says_once_what_was_changed_of_all_methods(v12_run, tmp_path):
    for method in ("v10", "v12"):
        relabelled(v12_run, tmp_path / "runs" / method, [f"method={method}", "sigma.lr=0.005"], 0.5)
    (tmp_path / "sweep.yaml").write_text("settings: [sigma.lr=0.005]\nfactors: {method: [v10, v12]}")
    write_members(tmp_path, {method: {"method": method} for method in ("v10", "v12")})
    data = collect_report_data(tmp_path)
    assert [group.label for group in data.groups] == ["v10", "v12"]
    [told] = [answer.text for answer in summary_answers(data) if answer.question == "What was run"]
    assert "v10, v12; 2 runs. 300 training images at 5 clients.\nChanged in all methods: sigma.lr=0.005." in told
