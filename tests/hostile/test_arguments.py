"""What is typed and what old logs say: a path is that path, numbers are bounded, a lack of memory is told."""

import sys
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args

import pytest
from apart import answers, installed
from old_logs import CONFIG, log_of, v10_rounds, v11_rounds

from mooring.client import Training
from mooring.config import Experiment, load, load_experiment_of_run
from mooring.config._experiment import is_path
from mooring.config._keys import PATH, full_key, override_value
from mooring.config._parse import PART_KINDS
from mooring.config._plan import MOST_RUNS, Plan, load_plan, parse_values
from mooring.errors import ConfigError
from mooring.methods import Method
from mooring.record import RunFolder
from mooring.schema import type_hints

linux = pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are set on Linux")
PATHS = [
    "a #b",
    "a: b",
    "{x",
    "[draft]",
    "*x",
    "&x",
    "!x",
    "'it",
    '"x',
    "- x",
    "123",
    "1e3",
    "true",
    "~",
    " x ",
    "x,y",
    "ä",
]


@pytest.mark.parametrize("path", PATHS)
def test_a_path_means_that_path(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (experiment,) = load(None, [f"out={path}", f"data.root={path}"])
    assert experiment.out == path
    assert experiment.data.root == str(Path(path).expanduser().absolute())
    assert experiment.written().data.root == path


def test_a_path_can_be_left_out_again(tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text("data: {root: somewhere}\nout: there\n")
    for nothing in ("", "null"):
        (experiment,) = load(file, [f"out={nothing}", f"data.root={nothing}"])
        assert (experiment.out, experiment.data.root) == (None, None)


def test_a_run_with_a_path_that_looks_like_yaml_can_be_gone_on_with(tmp_path, monkeypatch, cli):
    words = ["training.rounds=1", "training.local_epochs=1", "data.limit=60", "engine.workers=1", "partition.clients=2"]
    code, _, err = cli("run", *words, "partition.kind=iid", "out=1e3 #b", "-q")
    assert code == 0, err
    code, _, err = cli("resume", "1e3 #b", "--json")
    assert code == 0, err
    moved = load_experiment_of_run(Path("1e3 #b"), ["data.root=[a] #b"])
    assert moved.data.root == str(tmp_path / "[a] #b")


def test_a_folder_that_is_no_text_is_rejected():
    with pytest.raises(ConfigError, match="is not UTF-8 text"):
        override_value("out", "a\udcff")


def test_several_paths_are_a_factor_as_they_stand():
    assert parse_values("a #b,{c", "data.root") == ("a #b", "{c")


def named_types(annotation):
    """The annotation and everything inside its unions, tuples and `Annotated`."""
    yield annotation
    for inner in get_args(annotation):
        yield from named_types(inner)


def path_keys(annotation, key, above=()):
    """Every key of the configuration that holds a path, through all parts of the house; one within itself once."""
    for family in named_types(annotation):
        if above.count(family) > 1:
            continue
        for cls in PART_KINDS[family].kinds.values() if family in PART_KINDS else [family]:
            for f in fields(cls) if isinstance(cls, type) and is_dataclass(cls) else ():
                hint = type_hints(cls)[f.name]
                inner = path_keys(hint, f"{key}.{f.name}", (*above, family))
                yield from [f"{key}.{f.name}"] if is_path(hint) else inner


def test_every_key_that_holds_a_path_is_known_as_one():
    parts = {f.name: type_hints(Experiment)[f.name] for f in fields(Experiment)} | {"method": Method}
    found = {key for name, hint in parts.items() for key in path_keys(hint, name)}
    assert {"data.root", "data.public.root", "partition.path", "method.fusion.map.path"} <= found
    assert [key for key in found if not PATH.fullmatch(full_key(key))] == []
    assert not any(PATH.fullmatch(f"training.{f.name}") for f in fields(Training))


@linux
def test_ranges_that_nobody_can_mean_take_no_memory(tmp_path):
    code = """
from mooring.cli.fuse import taking_part
from mooring.errors import ConfigError
limit(200)
for clients, without in (("0-9999999999", None), (None, "1-9999999999"), ("0-" + "9" * 5000, None), ("0,²", None)):
    try:
        print(taking_part([0, 1, 2], clients, without))
    except ConfigError as error:
        print(str(error)[:90])
print(taking_part([0, 1, 2, 5], "0-2, 5", "1"))
"""
    assert answers(code, tmp_path) == [
        "--clients 0-9999999999: client 3: uploaded nothing in this run; valid: 0, 1, 2",
        "--without 1-9999999999: client 3: uploaded nothing in this run; valid: 0, 1, 2",
        "--clients 0-" + "9" * 78,
        "--clients 0,²: must be client numbers such as 0,2-4",
        "[0, 2, 5]",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ["seed=1..9999999999"],
        ["seed=1..5000", "partition.alpha=1,2"],
        ["seed=1..4000", "partition.alpha=1,2", "training.lr=1,2", "training.momentum=0.1,0.2"],
    ],
)
def test_a_sweep_that_nobody_can_mean_is_one_line(words):
    with pytest.raises(ConfigError, match=f"at most {MOST_RUNS:,} are one sweep") as caught:
        load_plan(None, words)
    assert "\n" not in str(caught.value)


def test_a_plan_that_says_more_runs_than_there_are_atoms_is_rejected():
    factors = {f"training.k{i}": tuple(range(100)) for i in range(40)}
    with pytest.raises(ConfigError, match="are billions of runs"):
        Plan((), factors).points()


def test_a_search_that_nobody_can_mean_is_one_line(tmp_path):
    (tmp_path / "s.yaml").write_text("search: {trials: 1000000000, space: {training.lr: {low: 0.1, high: 1}}}")
    with pytest.raises(ConfigError, match="trials=1000000000: are too many; at most 5,000"):
        load_plan(tmp_path / "s.yaml")


VALUES = ["inf", "nan", "-inf", "1e308", "-1", "0", "1e-320", "1e200", "9" * 400, "abc"]
SETTINGS = [
    *VALUES[3:9],
    "1e999",
    "'abc'",
    "None",
    "True",
    "[1]",
    "9" * 5000,
    "'../../../up'",
    r"'\x00\x1b[2J'",
    "'evil:X'",
]


def everything(cli, log):
    """Import, examine and report; what each answers: one line, or what it should."""
    seen = [cli("doctor", "--log", log), cli("import", log, "out=run")]
    if Path("run/result.json").exists():
        seen += [
            cli("doctor", "run"),
            cli("watch", "run", "--once"),
            cli("track", "run", "--to", "tensorboard"),
            *(cli("report", "run", "-f", kind) for kind in ("csv", "markdown", "latex", "excel")),
        ]
    for code, out, err in seen:
        assert code in (0, 1, 2)
        assert "Traceback" not in err
        assert len(err) < 2000
        assert not (code == 2 and out)
        assert "\x1b" not in out + err
    return seen


@pytest.mark.parametrize("value", VALUES)
def test_numbers_of_a_log_may_be_anything(value, cli, tmp_path):
    text = log_of("OneshotOursV11", v11_rounds())
    for said in ("11.9", "0.7", "915.8", "0.893", "0.31", "3.4238"):
        text = text.replace(f" {said}", f" {value}", 2)
    (tmp_path / "x.log").write_text(text)
    codes = [code for code, _, _ in everything(cli, "x.log")]
    assert 2 not in codes


@pytest.mark.parametrize("value", SETTINGS)
def test_settings_of_a_log_may_be_anything(value, cli, tmp_path):
    config = (
        CONFIG.replace("0.05", value).replace("512", value).replace("'resnet18'", value).replace("10}", f"{value}}}")
    )
    config = config.replace("'dataset': {", f"'seed': {value}, 'dataset': {{'data_name': {value}, ")
    (tmp_path / "x.log").write_text(log_of("OneshotOursV10", v10_rounds()).replace(CONFIG, config))
    everything(cli, "x.log")


@pytest.mark.parametrize("count", ["9" * 400, "9" * 5000, "99999999999"])
@pytest.mark.parametrize("line", ["Round 1 ", "Client 0 Starts", "Client 0 Learned"])
def test_a_log_that_counts_too_far_is_rejected(line, count, cli, tmp_path):
    wrong = line.replace("1", count).replace("0", count)
    (tmp_path / "x.log").write_text(log_of("OneshotOursV10", v10_rounds()).replace(line, wrong))
    for code, _, err in everything(cli, "x.log"):
        assert code == 2
        assert "x.log: a log that counts rounds or clients to 9999" in err


def test_a_log_decides_no_folder_outside(cli, tmp_path):
    config = CONFIG.replace("'dataset': {", "'dataset': {'data_name': '../../../up', ")
    (tmp_path / "x.log").write_text(log_of("OneshotOursV10", v10_rounds()).replace(CONFIG, config))
    code, _, err = cli("import", "x.log")
    assert code == 0, err
    [folder] = list((tmp_path / "runs").iterdir())
    assert RunFolder(folder).result.dataset == "../../../up"
    assert folder.name.startswith("up-v10-imported-")


def test_a_line_of_a_log_is_read_once_however_it_repeats(cli, tmp_path):
    """No expression looks again and again at what it has seen."""
    for part in ("config: {", "The test accuracy", "Epoch 1 loss: ", "Round 1 starts-"):
        (tmp_path / "x.log").write_text(log_of("OneshotOursV10", v10_rounds()) + f"\n{part * 20_000}}} x: y z\n")
        code, _, err = cli("import", "x.log", f"out={part[:3]}")
        assert code == 0, err


@linux
@pytest.mark.parametrize("megabytes", [300, 2500], ids=["libraries", "a file"])
def test_too_little_memory_is_one_line(tmp_path, megabytes):
    """Neither libraries that do not fit nor a file that does not end in a traceback."""
    with (tmp_path / "large.log").open("wb") as file:
        file.truncate(3 * 2**30)  # it takes nothing on disk
    done = installed(tmp_path, megabytes)(tmp_path, "import large.log out=run")
    assert done.stderr == (
        "error: not enough memory; close other programs, or take fewer workers, a smaller batch or less data\n"
        "import large.log out=run ended with 2\n"
    )
