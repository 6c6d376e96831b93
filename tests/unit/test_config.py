from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest
import yaml

from mooring.client import ClientRecipe
from mooring.config import Experiment, as_yaml, load, parse
from mooring.config._tree import read_file
from mooring.data._digits import Digits
from mooring.data._partition import Iid
from mooring.errors import ConfigError
from mooring.fusion import CountWeighted
from mooring.losses import CrossEntropy
from mooring.methods import METHODS, Method
from mooring.models._backbones import ResNet8
from mooring.weighting import Equilibrium, LambdaBounds
from mooring.weighting._fixed import ConstantBalancer

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.yaml"))


def one(*overrides, file=None):
    (experiment,) = load(file, overrides)
    return experiment


def problems(*overrides):
    with pytest.raises(ConfigError) as caught:
        load(None, overrides)
    return caught.value.problems


def test_nothing_said_is_the_digits_with_good_defaults():
    experiment = one()
    training = experiment.training
    assert experiment == Experiment()
    assert (experiment.data, experiment.partition.clients, experiment.partition.alpha) == (Digits(), 5, 0.05)
    assert (training.rounds, training.local_epochs, training.batch_size, training.lr) == (10, 5, 32, 0.05)
    assert (training.momentum, training.clip, training.weight_decay) == (0.9, 1.0, 0.0)


def test_the_digits_file_says_the_defaults_of_v7():
    (path,) = [path for path in CONFIGS if path.name == "digits.yaml"]
    assert one(file=path).fingerprint() == one("method=v7").fingerprint()


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.name)
def test_every_file_in_configs_is_valid(path):
    (experiment,) = load(path)
    assert parse(yaml.safe_load(as_yaml(experiment.tree()))) == [experiment]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_survives_being_written_and_read(name):
    experiment = one(f"method={name}", "out=somewhere", "engine.workers=2")
    (again,) = parse(yaml.safe_load(as_yaml(experiment.tree())))
    assert again == experiment
    assert (again.name, again.out, again.engine) == (name, "somewhere", experiment.engine)
    assert again.fingerprint() == experiment.fingerprint()


def test_overrides_lie_on_top_of_the_file(tmp_path):
    path = tmp_path / "e.yaml"
    path.write_text("method: v7\npartition: {alpha: 0.3, clients: 7}\nseed: 4\n")
    experiment = one("partition.alpha=0.1", "seed=5", file=path)
    assert (experiment.partition.alpha, experiment.partition.clients, experiment.seed) == (0.1, 7, 5)


def test_another_kind_keeps_what_still_fits(tmp_path):
    path = tmp_path / "e.yaml"
    path.write_text("partition: {kind: dirichlet, alpha: 0.3, clients: 7}\n")
    assert one("partition.kind=iid", file=path).partition == Iid(clients=7)
    assert one("partition=iid", file=path).partition == Iid(clients=7)


def test_any_part_of_a_method_can_be_overridden():
    weight, term = "method.client.align.weight.base.value=3", "method.client.terms.supcon.temperature=0.5"
    method = one("method=v7", weight, term).method
    assert method.client.align.weight.base.value == 3
    assert [getattr(term, "temperature", None) for term in method.client.terms] == [None, 0.5, 1.0, 1.0]
    assert one("method=v7", "method.client.terms.1.temperature=0.2").method.client.terms[1].temperature == 0.2
    assert one("method=v7", "method.client.align.anchor=random-unit").method.client.align.anchor.kind == "random-unit"
    assert one("method=v7", "method.client.align=null").method.client == METHODS["v4"].client


def test_fusion_is_a_short_name_for_the_methods_fusion():
    assert one("method=v4", "fusion=count-weighted").method.fusion == CountWeighted()
    assert one("method=v4", "fusion=count-weighted").name == "v4"


def test_a_method_can_be_written_out_as_a_tree():
    tree = {"client": {"terms": ["cross-entropy"]}, "fusion": "feature-ensemble"}
    (experiment,) = parse({"method": tree})
    assert experiment.method.client == ClientRecipe((CrossEntropy(),))
    assert experiment.name == "custom"


def test_several_methods_are_several_experiments_and_a_key_is_idle_only_if_none_reads_it():
    v4, v7 = load(None, ["method=v4,v7", "method.client.align.weight.base.value=3"])
    assert (v4.name, v7.name) == ("v4", "v7")
    assert v4.method == METHODS["v4"]
    assert v7.method.client.align.weight.base.value == 3
    (problem,) = problems("method=v4,local-only", "method.client.align.weight.base.value=3")
    assert problem.startswith("method.client.align.weight.base.value=3: this method has no such part")


def test_split_seed_follows_the_seed_until_it_is_given():
    assert one("seed=3").split_seed == 3
    assert one("seed=3", "partition.seed=8").split_seed == 8


def test_the_fingerprint_knows_what_matters():
    base = one().fingerprint()
    assert one("engine.workers=2", "out=elsewhere").fingerprint() == base
    assert one("seed=2").fingerprint() != base
    assert one("method=v4").fingerprint() != base
    assert one("training.lr=5e-2").fingerprint() == base


def test_the_model_follows_the_source_until_it_is_given():
    assert one("data.source=cifar10").model == ResNet8()
    assert one("data.source=cifar10", "model.width=2").model == ResNet8(2.0)


def test_all_problems_are_told_at_once_with_field_value_and_remedy():
    told = problems("partition.alhpa=0.1", "training.lr=abc", "method=v77", "sede=3", "partition.clients=0")
    assert sorted(told) == [
        "method=v77: unknown; did you mean 'v7'?",
        "partition.alhpa=0.1: unknown key; did you mean 'alpha'?",
        "partition.clients=0: must be 1 or more",
        "sede=3: unknown key; did you mean 'seed'?",
        "training.lr=abc: must be a number",
    ]


@pytest.mark.parametrize(
    ("override", "problem"),
    [
        ("partition.kind=iidd", "partition.kind=iidd: unknown; did you mean 'iid'?"),
        ("partition.clients=2.5", "partition.clients=2.5: must be a whole number"),
        ("partition.clients=true", "partition.clients=true: must be a whole number"),
        ("training.momentum=1", "training.momentum=1: must be 0 or more, below 1"),
        ("training.snapshots=[3, 10]", "round 10 does not exist; snapshots number rounds from 0 to 9"),
        ("training.lr_schedule=linera", "training.lr_schedule=linera: must be constant, linear"),
        ("training=3", "training=3: must be a mapping of rounds"),
        ("method=[]", "method=[]: must be a name"),
        ("method=3", "method=3: must be a name"),
        ("data.source=fashion", "data.source=fashion: unknown; did you mean 'fashion_mnist'?"),
        ("method={name: v7, client: {terms: {supcn: {temperature: 1}}}}", "did you mean 'supcon'?"),
        ("method={name: v7, client: {align: {weight: {kind: fixd}}}}", "did you mean 'fixed'?"),
        ("method=no.such.module:METHOD", "cannot be imported"),
        ("method=math:pi", "math:pi: is a float; it must be a mooring.Method"),
        ("nonsense", "'nonsense': is neither a file nor an override; write key=value"),
        ("=3", "write key=value"),
        ("seed=[1", "seed: not valid YAML"),
        ("seed=null", "seed=null: must be a whole number"),
        ("data.limit=0", "data.limit=0: must be 1 or more, or null"),
        ("data.validation=1", "data.validation=1: must be 0 or more, below 1"),
        ("engine=cloud", "engine.kind=cloud: unknown; valid: flower, local"),
        ("seed=-1", "seed=-1: must be 0 to 4294967295"),
        ("seed=1e30", "seed=1e+30: must be a whole number"),
        ("seed=99999999999999999999", "seed=99999999999999999999: must be 0 to 4294967295"),
        ("partition.seed=-1", "partition.seed=-1: must be 0 to 4294967295"),
        ("method=v7,v7", "method=v7: is given twice; write every method once"),
        ("method=[v4, {name: v4}]", "method=v4: is given twice; write every method once"),
    ],
)
def test_one_mistake_is_one_clear_line(override, problem):
    (told,) = problems(override)
    assert problem in told
    assert "\n" not in told


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "not valid YAML in line"),
        ("- 1\n- 2", "holds a list; an experiment is a mapping"),
        ("seed: 1\nseed: 2", "the key 'seed' is given twice"),
        ("", "bad.yaml: is empty; write at least one key, for example method: v7"),
        ("# seed: 3\n", "bad.yaml: is empty"),
        ("!!python/object/apply:os.system [echo hi]", "has the tag tag:yaml.org,2002:python/object/apply:os.system"),
    ],
)
def test_a_bad_file_is_one_clear_line(text, problem, tmp_path):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=problem):
        read_file(path)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("method=v7", "method=v4"),
        ("seed=1", "seed=1"),
        ("fusion=class-expert", "method.fusion=iffi"),
        ("weight.sigma.lr=0.1", "sigma.lr=0.2"),
        ("contrastive_loss_weight_initial=1", "weight.initial=2"),
    ],
)
def test_a_key_given_twice_is_told_with_both_words(first, second):
    (told,) = problems(first, "training.rounds=3", second)
    assert told == f"{first} and {second}: give the same key twice; keep one of them"


@pytest.mark.parametrize(
    ("text", "override"),
    [
        ("method: v7\nfusion: iffi", "method.fusion=class-expert"),
        ("method: {name: v4, fusion: iffi}", "fusion=class-expert"),
        ("method: {name: v7, fusion: iffi}", "method.fusion=class-expert"),
    ],
)
def test_an_override_wins_in_whatever_spelling(text, override, tmp_path):
    (tmp_path / "e.yaml").write_text(text)
    assert one(override, file=tmp_path / "e.yaml").method.fusion.kind == "class-expert"


def test_a_narrow_override_wins_over_an_old_name_in_the_file(tmp_path):
    (tmp_path / "e.yaml").write_text("method: curriculum\ncontrastive_loss_weight_initial: 1\n")
    assert one("weight.initial=2", file=tmp_path / "e.yaml").method.client.align.weight.initial == 2


def test_a_list_of_methods_keeps_its_names_under_an_override(tmp_path):
    (tmp_path / "e.yaml").write_text("method: [v4, v7]\n")
    experiments = load(tmp_path / "e.yaml", ["method.client.memory=3"])
    assert [(e.name, e.method.client.memory) for e in experiments] == [("v4", 3), ("v7", 3)]


def test_a_missing_file_and_a_binary_file_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere.yaml: cannot be read \(No such file"):
        read_file(tmp_path / "nowhere.yaml")
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="is not text"):
        read_file(tmp_path / "b.yaml")


@dataclass(frozen=True)
class Halved:
    """A user's own weighting."""

    kind: ClassVar[str] = "halved"
    value: float = 2.0

    def start(self, facts, rng):
        return ConstantBalancer(self.value / 2)

    def stationary(self, local, align, progress, facts):
        return Equilibrium(self.value / 2, self.value / 2)

    def outlook(self, facts, lr, momentum, largest_local):
        return LambdaBounds(largest=self.value / 2, bounded=True)


OWN = Method(METHODS["v4"].aligned(Halved(6.0), about="mine").client, CountWeighted(), about="mine")


def test_a_users_own_parts_and_methods_are_used_by_their_import_path():
    method = one(
        "method=v7", f"method.client.align.weight={__name__}:Halved", "method.client.align.weight.value=8"
    ).method
    assert method.client.align.weight == Halved(8.0)
    experiment = one(f"method={__name__}:OWN")
    assert experiment.method == OWN
    assert parse(yaml.safe_load(as_yaml(experiment.tree()))) == [experiment]


def test_stages_survive_being_written_and_can_be_changed_by_position():
    experiment = one("method=v6", "alignment_epochs=3")
    assert experiment.method.client.stages[0].when.epochs == 3
    assert parse(yaml.safe_load(as_yaml(experiment.tree()))) == [experiment]
