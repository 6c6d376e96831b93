"""What a sweep is made of, before anything runs."""

import statistics

import pytest
from report_folders import scored
from scipy import stats

from mooring.cli.sweep import sweep_arguments
from mooring.config import Plan, as_yaml, load_plan
from mooring.config._plan import parse_values
from mooring.errors import ConfigError, StoreError
from mooring.sweeps._members import members, members_of
from mooring.sweeps._run import take_folder
from mooring.sweeps._summary import Difference, difference, summarised

SPELLINGS = (".05", "0.050", "5e-2", "0.05")


def test_words_with_several_values_are_factors():
    plan = load_plan(None, ["method=v4,v7", "partition.alpha=0.05,0.5", "seed=1..3", "training.rounds=2"])
    assert plan.factors == {"method": ("v4", "v7"), "partition.alpha": (0.05, 0.5), "seed": (1, 2, 3)}
    assert plan.settings == ("training.rounds=2",)
    assert len(plan.points()) == 12
    experiment = plan.experiment_at({"method": "v7", "partition.alpha": 0.5, "seed": 3})
    assert (experiment.name, experiment.partition.alpha, experiment.seed, experiment.training.rounds) == (
        "v7",
        0.5,
        3,
        2,
    )


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1..3", (1, 2, 3)),
        ("-1..1", (-1, 0, 1)),
        ("v4,v7", ("v4", "v7")),
        ("[1,2],[3]", ([1, 2], [3])),
        ("[1,2]", ([1, 2],)),
        ("0.5", (0.5,)),
        ("", (None,)),
    ],
)
def test_values(text, values):
    assert parse_values(text, "key") == values


def test_a_file_says_the_same_and_is_read_again(tmp_path):
    path = tmp_path / "sweep.yaml"
    path.write_text("settings: [training.rounds=2]\nfactors: {method: [v4, v7], seed: [1, 2]}\nbaseline: method=v4\n")
    plan = load_plan(path)
    assert plan == load_plan(None, ["training.rounds=2", "method=v4,v7", "seed=1,2"], "method=v4")
    assert load_plan(path, ["seed=7"]).factors == {"method": ("v4", "v7")}  # a word on top of the file
    assert load_plan(path, ["training.rounds=3"]).experiment_at({}).training.rounds == 3


def test_a_factor_of_a_file_is_replaced_in_whatever_spelling(tmp_path):
    path = tmp_path / "sweep.yaml"
    path.write_text("experiment: {method: v7}\nfactors: {fusion: [iffi, class-expert], seed: [1, 2]}\n")
    assert load_plan(path, ["method.fusion=iffi,fisher"]).factors == {
        "seed": (1, 2),
        "method.fusion": ("iffi", "fisher"),
    }


def test_where_only_the_fusion_differs_training_is_shared(tmp_path):
    plan = load_plan(None, ["method=v4,v7", "fusion=feature-ensemble,class-expert", "seed=1..2"])
    every = list(members_of(plan, tmp_path))
    assert len(every) == 8
    assert sum(member.trains for member in every) == 4
    assert every[0].name == "v4-feature-ensemble-seed1"
    assert every[2].name == "v4-class-expert-seed1"
    assert every[2].folder == every[0].folder == tmp_path / "runs/v4-feature-ensemble-seed1"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["method=v10", "clip=per-group,joint", "seed=1..2"], "clip_per-group-seed1"),
        (["training.clip=null,1.0", "partition.alpha=0.05,0.5"], "clip_None-alpha0.05"),
        (["training.clip=1.0,null", "partition.alpha=0.05,0.5"], "clip1-alpha0.05"),
    ],
)
def test_names_tell_keys_from_values(words, name, tmp_path):
    assert next(members_of(load_plan(None, words), tmp_path)).name == name


def test_methods_that_train_differently_do_not_share(tmp_path):
    plan = load_plan(None, ["method=v7,fedavg-1", "seed=1..2"])
    assert all(member.trains for member in members_of(plan, tmp_path))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["methd=v4,v7"], "did you mean 'method'?"),
        (["seed=3..1"], "runs backwards; write 1..3"),
        (["method=v4,v99"], "method=v99: unknown"),
        (["out=a,b", "method=v4"], "out: cannot vary"),
        (["seed=1,2,1"], "^seed=1: is given twice; write every value once$"),
        (["method=v4,v4"], "^method=v4: is given twice; write every value once$"),
        (["partition.alpha=0.05,5e-2"], "^partition.alpha=0.05: is given twice"),
        (["seed=1,2", "seed=3"], "^seed=1,2 and seed=3: give the same key twice; keep one of them$"),
        (["seed=-1..1"], "^seed=-1: must be 0 to 4294967295$"),
    ],
)
def test_mistakes_are_told_before_anything_runs(words, told):
    with pytest.raises(ConfigError, match=told):
        load_plan(None, words)


def test_a_baseline_must_be_a_value_of_a_factor():
    problem = r"baseline=method=v9: is not a value of a factor; valid: method=v4, method=v7"
    with pytest.raises(ConfigError, match=problem):
        load_plan(None, ["method=v4,v7"], "method=v9")


@pytest.mark.parametrize(
    ("word", "baseline", "spelled"),
    [
        *[("partition.alpha=0.05,0.5", f"partition.alpha={text}", "partition.alpha=0.05") for text in SPELLINGS],
        ("method.bank.labelled=true,false", "method.bank.labelled=true", "method.bank.labelled=True"),
        ("training.clip=null,1", "training.clip=null", "training.clip=None"),
        ("training.clip=null,1", "training.clip=1.0", "training.clip=1"),
    ],
)
def test_a_baseline_is_found_however_it_is_written(word, baseline, spelled):
    plan = load_plan(None, ["method=v6", word], baseline)
    assert plan.baseline == spelled
    [key] = plan.factors
    runs = [scored({key: value}, float(a)) for a, value in enumerate(plan.factors[key])]
    assert [row.difference.pairs for row in summarised(runs, [key], plan.baseline)] == [1, 1]


def test_the_plan_that_a_folder_keeps_is_this_plan(tmp_path):
    plan = load_plan(None, ["training.clip=null,1", "seed=1..2"], "training.clip=null")
    (tmp_path / "sweep.yaml").write_text(as_yaml(plan.tree()))
    assert load_plan(tmp_path / "sweep.yaml") == plan


FIRST = ["method=v4,v7", "seed=1..2", "training.rounds=2"]


@pytest.mark.parametrize(
    "words",
    [
        FIRST,
        ["method=v4,v7", "seed=1..5", "training.rounds=2"],
        ["method=v12,v4,v7", "seed=3,2,1", "training.rounds=2"],
    ],
)
def test_a_folder_goes_on_with_a_plan_that_contains_its_own(words, tmp_path):
    take_folder(load_plan(None, FIRST), tmp_path)
    names = {member.name for member in members(tmp_path)}
    plan = load_plan(None, words, "method=v4")
    take_folder(plan, tmp_path)
    assert load_plan(tmp_path / "sweep.yaml") == plan
    assert names <= {member.name for member in members(tmp_path)}


def test_a_study_goes_on_with_more_seeds(tmp_path):
    take_folder(Plan((), {"method": ("v4",), "seed": (1,)}), tmp_path)
    take_folder(Plan((), {"method": ("v4",), "seed": (1, 2, 3)}), tmp_path)
    assert [member.name for member in members(tmp_path)] == ["v4-seed1", "v4-seed2", "v4-seed3"]


@pytest.mark.parametrize(
    ("old", "words"),
    [
        (FIRST, ["method=v4,v7", "seed=2..3", "training.rounds=2"]),  # seed 1 is missing
        (FIRST, ["method=v4,v7", "seed=1..3"]),  # other settings
        (FIRST, ["seed=1..2", "method=v4,v7", "training.rounds=2"]),  # other names
        (FIRST, [*FIRST, "partition.alpha=0.05,0.5"]),  # other names
        (
            ["method=v7", "fusion=iffi,class-expert"],
            ["method=v7", "fusion=feature-ensemble,iffi,class-expert"],
        ),  # another would train
        (["partition.alpha=0.05,0.050001"], ["partition.alpha=0.050001,0.05,1"]),  # names that were told apart by a +
    ],
)
def test_a_folder_is_not_given_to_another_plan(old, words, tmp_path):
    take_folder(load_plan(None, old), tmp_path)
    with pytest.raises(StoreError, match="holds another sweep; choose another folder"):
        take_folder(load_plan(None, words), tmp_path)
    assert load_plan(tmp_path / "sweep.yaml") == load_plan(None, old)


def test_a_search_keeps_its_factors(tmp_path):
    (tmp_path / "search.yaml").write_text(SEARCH)
    (tmp_path / "s").mkdir()
    take_folder(load_plan(tmp_path / "search.yaml"), tmp_path / "s")
    with pytest.raises(StoreError, match="holds another sweep"):
        take_folder(load_plan(tmp_path / "search.yaml", ["seed=1..3"]), tmp_path / "s")


def test_a_baseline_is_no_part_of_where_a_sweep_lies():
    plain, compared = sweep_arguments(["method=v4,v7"], None), sweep_arguments(["method=v4,v7"], "method=v4")
    assert plain[1] == compared[1]
    assert plain[1] != sweep_arguments(["method=v4,v9"], None)[1]


def test_a_baseline_in_a_file_is_a_word(tmp_path):
    (tmp_path / "sweep.yaml").write_text("factors: {seed: [1, 2]}\nbaseline: 3\n")
    with pytest.raises(ConfigError, match="baseline=3: must be key=value, for example method=v4"):
        load_plan(tmp_path / "sweep.yaml")


def at(method, alpha, seed, accuracy):
    return scored({"method": method, "partition.alpha": alpha, "seed": seed}, accuracy)


def test_means_and_paired_differences_by_hand():
    v4, v7 = [0.50, 0.61, 0.55], [0.58, 0.63, 0.64]
    runs = [at("v4", 0.5, s, a) for s, a in enumerate(v4)] + [at("v7", 0.5, s, a) for s, a in enumerate(v7)]
    base, other = summarised(runs, ["method", "partition.alpha", "seed"], "method=v4")
    assert (base.n, base.difference.mean) == (3, 0)
    assert other.factors == {"method": "v7", "partition.alpha": 0.5}
    assert other.mean == pytest.approx(statistics.mean(v7))
    assert other.std == pytest.approx(statistics.stdev(v7))
    differences = [b - a for a, b in zip(v4, v7, strict=True)]
    low, high = stats.t.interval(0.95, 2, statistics.mean(differences), stats.sem(differences))
    found = other.difference
    assert (found.mean, found.low, found.high) == pytest.approx((statistics.mean(differences), low, high))
    assert found.pairs == 3


def test_a_factor_may_be_a_list():
    runs = [scored({"training.snapshots": kept, "seed": s}, 0.1 * s) for kept in ([0], [0, 1]) for s in (1, 2)]
    one, other = summarised(runs, ["training.snapshots", "seed"], "training.snapshots=[0]")
    assert (one.factors, other.factors) == ({"training.snapshots": [0]}, {"training.snapshots": [0, 1]})
    assert (one.n, other.n, other.difference.pairs, other.difference.mean) == (2, 2, 2, 0)


def test_a_failed_run_is_missing_in_its_pair_and_nowhere_else():
    accuracies = {("v4", 1): 0.5, ("v4", 2): None, ("v7", 1): 0.6, ("v7", 2): 0.7}
    runs = [at(method, 0.5, seed, accuracy) for (method, seed), accuracy in accuracies.items()]
    base, other = summarised(runs, ["method", "partition.alpha", "seed"], "method=v4")
    assert (base.n, other.n, other.difference.pairs) == (1, 2, 1)
    assert other.difference.mean == pytest.approx(0.1)
    assert (other.difference.low, other.difference.high) == (None, None)  # one pair has no spread
    assert difference([]) == Difference(None, 0)


SEARCH = """
settings: [data.validation=0.2, training.rounds=1, training.local_epochs=1]
factors: {seed: [1, 2]}
search: {trials: 3, space: {training.lr: {low: 0.01, high: 0.1, log: true}, method: [v4, v7]}}
"""


def test_a_random_search_draws_the_same_trials_again(tmp_path):
    (tmp_path / "search.yaml").write_text(SEARCH)
    plan = load_plan(tmp_path / "search.yaml")
    trials = plan.search.drawn()
    assert len(trials) == 3
    assert trials == load_plan(tmp_path / "search.yaml").search.drawn()
    assert all(0.01 <= trial["training.lr"] <= 0.1 and trial["method"] in ("v4", "v7") for trial in trials)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("data.validation=0.2", "training.momentum=0.9", "needs validation images to judge by"),
        ("trials: 3", "trials: 0", "search.trials=0: must be 1 or more"),
        ("trials: 3", "trials: many", "search.trials=many: must be a whole number"),
        ("trials: 3, ", "", "search.trials: is required and missing"),
        ("trials: 3", "trails: 3", "search.trails=3: unknown key; did you mean 'trials'?"),
        ("low: 0.01", "low: 1", "search.space.training.lr=.*: low must be below high, and above 0 with log"),
        ("low: 0.01", "low: 0", "low must be below high, and above 0 with log"),
        ("low: 0.01", "low: a", "search.space.training.lr.low=a: must be a number"),
        ("high: 0.1", "hihg: 0.1", "search.space.training.lr.hihg=0.1: unknown key; did you mean 'high'?"),
        ("log: true", "log: 1", "search.space.training.lr.log=1: must be true or false"),
        ("method: [v4, v7]", "method: []", "search.space.method.values=[]: .* at least 1"),
        (
            "method: [v4, v7]",
            "method: v4",
            "search.space.method=v4: must be a list of values, or a mapping of low, high",
        ),
        ("trials: 3", "trials: 3, kind: grid", "search.kind=grid: must be random or tpe"),
        ("trials: 3", "trials: 3, seed: -1", "search.seed=-1: must be 0 to 4294967295"),
        ("search: {trials", "search: 3 #", "search=3: must be a mapping of trials, space, kind, seed"),
        ("training.lr", "training.lrr", "did you mean 'lr'?"),
    ],
)
def test_mistakes_in_a_search(old, new, told, tmp_path):
    (tmp_path / "search.yaml").write_text(SEARCH.replace(old, new))
    with pytest.raises(ConfigError, match=told.replace("?", r"\?").replace("[", r"\[")):
        load_plan(tmp_path / "search.yaml")


def test_all_mistakes_of_a_search_are_told_at_once(tmp_path):
    path = tmp_path / "search.yaml"
    path.write_text("search: {trials: 0, kind: grid, space: {training.lr: {low: 2, high: 1}, a: 3, b: []}, sede: 1}")
    with pytest.raises(ConfigError) as caught:
        load_plan(path)
    keys = [problem.removeprefix(f"{path}: search.").partition("=")[0] for problem in caught.value.problems]
    assert sorted(keys) == ["kind", "sede", "space.a", "space.b.values", "space.training.lr", "trials"]


def test_a_search_for_nothing_is_told(tmp_path):
    (tmp_path / "search.yaml").write_text("search: {trials: 3, space: {}}")
    with pytest.raises(ConfigError, match="space must name at least one key"):
        load_plan(tmp_path / "search.yaml")
