"""A YAML file of the published code becomes one of ours that loads, and every line of it is accounted for."""

import json
from pathlib import Path

import pytest
import yaml

from mooring.config import load
from mooring.methods import METHODS
from mooring.notes._config_file import translate

OLD = """\
exp_name: SVHN_alpha0.05
dataset:
  data_name: SVHN
  root_path: ~/datasets/
  train_batch_size: 256  # of all clients
  num_classes: 10
distribution:
  label_num_per_client: 2
  alpha: 0.1
  type: dirichlet
client: {num_clients: 7}
server:
  num_rounds: 50
  lr: 0.03
  local_epochs: 2
  momentum: 0.8
  optimizer: sgd
  weight_decay: 1.0e-4
  model_name: resnet18
  frac_clients: 0.5
seed: 114514
DBCD: {contrastive_temperature: 0.5}
lambda_align_initial: 10.0
v9_config: {use_adaptive_lambda: true, lambda_min: 0.2, lambda_max: 20.0}
v10_config: {sigma_lr: 0.005}
gamma_reg: 1.0e-5
something: [1, 2]
"""


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "SVHN.yaml"
    path.write_text(OLD)
    return path


def leaves(tree, path=""):
    if not isinstance(tree, dict):
        return [path]
    return [leaf for key, value in tree.items() for leaf in leaves(value, f"{path}.{key}".lstrip("."))]


def loaded(translation, tmp_path):
    path = tmp_path / "ours.yaml"
    path.write_text(translation.text)
    (experiment,) = load(path)
    return experiment


def test_what_has_a_place_here_is_mapped(old, tmp_path):
    experiment = loaded(translate(old, "v7"), tmp_path)
    training, partition = experiment.training, experiment.partition
    assert (experiment.data.source, experiment.model.kind, experiment.seed) == ("svhn", "resnet18", 114514)
    assert (training.rounds, training.local_epochs, training.batch_size) == (50, 2, 256)
    assert (training.lr, training.momentum, training.weight_decay) == (0.03, 0.8, 0.0)
    assert (partition.kind, partition.alpha, partition.clients) == ("dirichlet", 0.1, 7)
    assert experiment.method.client.align.weight.base.value == 10.0


def test_every_setting_is_told_with_its_line_and_what_became_of_it(old):
    lines = {line.path: line for line in translate(old, "v7").lines}
    assert lines.keys() == {"method", *leaves(yaml.safe_load(OLD))}
    assert all(line.key or line.why for line in lines.values())
    assert lines["server.lr"].text == "line 14  server.lr: 0.03  -> training.lr: 0.03"
    assert lines["server.weight_decay"].text == (
        "line 18  server.weight_decay: 0.0001  dropped (the published code is configured with it and never uses it)"
    )
    assert lines["distribution.label_num_per_client"].key is None  # of another kind of partition
    assert lines["v9_config.lambda_min"].why == "method v7 has no such setting"
    assert lines["something"].why == "unknown to this translation"
    assert lines["server.frac_clients"].why == "every client takes part here"


def test_settings_of_the_method_go_where_the_method_has_them(old, tmp_path):
    weight = loaded(translate(old, "v9"), tmp_path).method.client.align.weight
    assert (weight.base.minimum, weight.base.maximum) == (0.2, 20.0)
    weight = loaded(translate(old, "v12-gamma"), tmp_path).method.client.align.weight
    assert (weight.sigma.lr, weight.sigma.start.minimum, weight.sigma.start.maximum) == (0.005, 0.2, 20.0)
    assert weight.guard.gamma == 1e-5


@pytest.mark.parametrize("method", sorted(METHODS))
def test_the_result_loads_whatever_the_method(old, tmp_path, method):
    assert loaded(translate(old, method), tmp_path).name == method


@pytest.mark.parametrize(("word", "name"), [("OursV7", "v7"), ("V9", "v9"), ("FedAvg", "fedavg-1"), (None, "v7")])
def test_the_algorithm_may_bear_its_published_name(old, word, name):
    translation = translate(old, word)
    assert translation.tree["method"] == name
    assert translation.lines[0].line is None


def test_an_algorithm_in_the_file_counts(old):
    old.write_text(OLD + "algorithm: OursV9\n")
    translation = translate(old)
    assert translation.tree["method"] == "v9"
    assert [line.line for line in translation.lines if line.path == "algorithm"] == [len(OLD.splitlines()) + 1]


def test_the_command_writes_a_file_and_lists_every_line(old, cli):
    code, out, err = cli("import", old, "method=OursV7")
    assert code == 0, err
    assert "line 14  server.lr: 0.03  -> training.lr: 0.03" in out
    assert out.splitlines()[-1].endswith("settings mapped: SVHN.mooring.yaml")
    (experiment,) = load(Path("SVHN.mooring.yaml"))
    assert experiment.name == "v7"
    code, out, _ = cli("import", old, "method=OursV7", "--json")  # the same again
    assert code == 0
    told = json.loads(out)
    assert told["mapped"] == sum(line["key"] is not None for line in told["lines"])
    assert cli("import", old, "method=v9", "out=v9.yaml")[0] == 0


@pytest.mark.parametrize(
    ("line", "instead", "key"),
    [
        ("  type: dirichlet", "  type: noniid", "partition.kind"),
        ("  data_name: SVHN", "  data_name: PathMNIST", "data.source"),
        ("  data_name: SVHN", "  data_name: 7", "data.source"),
        ("  model_name: resnet18", "  model_name: mobilenetv2", "model.kind"),
        ("  alpha: 0.1", "  alpha: -1", "partition.alpha"),
        ("  lr: 0.03", "  lr: fast", "training.lr"),
    ],
)
def test_a_value_that_mooring_does_not_have_is_never_replaced_by_a_default(line, instead, key, old, cli):
    old.write_text(OLD.replace(line, instead))
    number = OLD.splitlines().index(next(row for row in OLD.splitlines() if row.startswith(line))) + 1
    code, out, err = cli("import", old, "method=OursV7")
    assert (code, out) == (2, "")
    assert err.startswith(f"error: SVHN.yaml: line {number}: ")
    assert f"choose with {key}=..." in err
    assert not Path("SVHN.mooring.yaml").exists()


def test_a_value_that_mooring_does_not_have_can_be_replaced_on_the_command_line(old, cli):
    old.write_text(OLD.replace("dirichlet", "noniid").replace("SVHN", "Tiny-ImageNet"))
    code, out, err = cli("import", old, "method=OursV7", "partition.kind=iid", "data.source=cifar100")
    assert code == 0, err
    assert 'distribution.type: "noniid"  dropped (partition.kind=iid instead)' in out
    (experiment,) = load(Path("SVHN.mooring.yaml"))
    assert (experiment.partition.kind, experiment.data.source) == ("iid", "cifar100")


def test_the_keys_of_note_1_reach_the_published_v6(tmp_path):
    path = tmp_path / "v6.yaml"
    path.write_text(
        "dataset: {data_name: CIFAR10}\n"
        "ours_v6_params: {teacher_pretrain_epochs: 7, contrastive_temperature: 0.3, alignment_epochs: 2,"
        " public_data_ratio: 0.2, feature_bank_size: 99, use_public_feature_bank: true}\n"
    )
    translation = translate(path, "OursV6")
    method = loaded(translation, tmp_path).method
    assert (method.bank.size, method.bank.teacher_epochs, method.bank.teacher) == (99, 7, "cross-entropy")
    [stage] = method.client.stages
    assert (method.client.align.term.temperature, stage.terms[0].temperature, stage.when.epochs) == (0.3, 0.3, 2)
    assert [line.path for line in translation.lines if line.key is None] == ["ours_v6_params.use_public_feature_bank"]


def test_sigma_lr_of_an_old_file_is_the_rate(old, tmp_path):
    assert loaded(translate(old, "v10-remedied"), tmp_path).method.client.align.weight.sigma.rate(0.05) == 0.005


def test_mistakes_are_told_in_one_line(old, cli):
    Path("mine.yaml").write_text("mine: 1\n")
    Path("list.yaml").write_text("[1]\n")
    for arguments, told in (
        ((old, "method=OursV99"), "method=OursV99: "),
        ((old, "out=mine.yaml"), "holds something else"),
        (("none.yaml",), "cannot be read"),
        (("list.yaml",), "holds a list"),
        ((old, old), "must be one YAML file, or logs"),
    ):
        code, out, err = cli("import", *arguments)
        assert (code, out) == (2, ""), arguments
        assert told in err
        assert len(err.splitlines()) == 1
    assert Path("mine.yaml").read_text() == "mine: 1\n"
