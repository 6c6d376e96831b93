"""The words of the notes are keys: each finds its place in the method that has one, and says where it belongs."""

from pathlib import Path

import pytest

from mooring import METHODS, load
from mooring.config import as_yaml, parse
from mooring.config._note_words import NOTE_WORDS, belongs
from mooring.config._plan import load_plan
from mooring.errors import ConfigError

PAGE = (Path(__file__).parents[2] / "docs/configuration.md").read_text("utf-8")


def one(*words, file=None):
    (experiment,) = load(file, words)
    return experiment


def weight(*words, file=None):
    return one(*words, file=file).method.client.align.weight


def problems(*words, file=None):
    with pytest.raises(ConfigError) as caught:
        load(file, words)
    return list(caught.value.problems)


@pytest.mark.parametrize(
    ("method", "word", "ours"),
    [
        ("v4", "num_rounds=3", ["training.rounds=3"]),
        ("v4", "local_epochs=2", ["training.local_epochs=2"]),
        ("v4", "alpha=0.3", ["partition.alpha=0.3"]),
        ("v6", "alignment_epochs=2", ["method.client.stages.0.when.epochs=2"]),
        ("curriculum", "contrastive_loss_weight_initial=0.2", ["weight.initial=0.2"]),
        ("curriculum", "contrastive_loss_weight_final=2", ["weight.final=2"]),
        ("curriculum", "contrastive_temperature=0.2", ["align.term.temperature=0.2"]),
        (
            "v6",
            "contrastive_temperature=0.2",
            ["align.term.temperature=0.2", "method.client.stages.0.terms.bank-contrast.temperature=0.2"],
        ),
        ("v7", "lambda_align_initial=20", ["weight.base.value=20"]),
        ("v7-constant", "lambda_align_initial=20", ["weight.value=20"]),
        ("v9", "lambda_min=1", ["weight.base.minimum=1"]),
        ("v9-constant", "lambda_max=20", ["weight.maximum=20"]),
        ("v12-as-run", "lambda_max=20", ["sigma.start.maximum=20"]),
        ("log-prior-hinge", "lambda_max=20", ["weight.guard.maximum=20"]),
        ("v10", "sigma_lr=0.005", ["sigma.lr=0.005"]),
        ("v12-gamma", "gamma_reg=1e-5", ["weight.guard.gamma=1e-5"]),
        (
            "v14-november",
            "gamma_reg=1e-5",
            ["weight.guard.guards.inverse-variance.gamma=1e-5", "weight.guard.guards.local-log.gamma=1e-5"],
        ),
    ],
)
def test_a_word_of_the_notes_is_our_key(method, word, ours, tmp_path):
    said = one(f"method={method}", word)
    assert said.fingerprint() == one(f"method={method}", *ours).fingerprint()
    assert said.fingerprint() != one(f"method={method}").fingerprint()
    (tmp_path / "e.yaml").write_text(f"method: {method}\n{word.replace('=', ': ')}\n")
    assert one(file=tmp_path / "e.yaml") == said


def test_sigma_lr_is_the_rate_of_the_sigmas_in_every_method(tmp_path):
    for method in belongs("sigma_lr"):
        rule = weight(f"method={method}", "sigma_lr=0.0005")
        assert getattr(rule, "base", rule).sigma.rate(0.05) == 0.0005, method
    run = tmp_path / "run.yaml"
    run.write_text(as_yaml(one("method=v10-remedied").tree()))  # says lr_scale: 0.01
    assert weight("sigma_lr=0.0005", file=run).sigma.rate(0.05) == 0.0005
    run.write_text("method: v10-remedied\nsigma_lr: 0.0005\n")
    assert problems("sigma.lr_scale=0.5", file=run) == [
        "sigma_lr and sigma.lr_scale: give the same key twice; keep one of them"
    ]


@pytest.mark.parametrize("word", NOTE_WORDS)
def test_every_word_belongs_to_some_method_and_stands_in_the_documentation(word):
    assert word in ("num_rounds", "local_epochs", "alpha") or list(belongs(word))
    [row] = [line for line in PAGE.splitlines() if line.startswith(f"| `{word}` |")]
    assert row.endswith(f"| {NOTE_WORDS[word].about} |")


def test_a_word_without_a_place_says_to_which_methods_it_belongs():
    told = problems("method=v7", "gamma_reg=1e-3", "alignment_epochs=2")
    assert told == [
        "alignment_epochs=2: this method has no such key; it belongs to v6, v6-as-run",
        f"gamma_reg=0.001: this method has no such key; it belongs to {', '.join(belongs('gamma_reg'))}",
    ]
    assert problems("method=v6", "lambda_align_initial=5")[0].endswith("it belongs to v7, v7-constant")


def test_of_several_methods_one_that_reads_the_word_is_enough():
    v7, gamma = load(None, ["method=v7,v12-gamma", "gamma_reg=0.5"])
    assert v7.method == METHODS["v7"]
    assert gamma.method.client.align.weight.guard.gamma == 0.5


def test_of_several_methods_of_a_sweep_one_that_reads_the_word_is_enough():
    plan = load_plan(None, ["method=v4,v7,v7-constant", "lambda_align_initial=20"])
    free, annealed, constant = [plan.experiment_at(point).method for point in plan.points()]
    assert free == METHODS["v4"]
    assert (annealed.client.align.weight.base.value, constant.client.align.weight.value) == (20, 20)
    with pytest.raises(ConfigError, match="this method has no such key"):
        load_plan(None, ["method=v4,v10", "lambda_align_initial=20"])


def test_a_word_that_may_mean_two_keys_of_a_method_asks_which():
    assert problems("method=v13", "lambda_max=20") == [
        "lambda_max=20: may mean sigma.start.maximum or weight.guard.maximum of this method; write which"
    ]


@pytest.mark.parametrize(
    ("word", "ours"),
    [("gamma_reg", "weight.guard.gamma"), ("sigma_lr", "sigma.lr"), ("num_rounds", "training.rounds")],
)
def test_both_spellings_at_once_are_a_mistake(word, ours, tmp_path):
    (told,) = problems("method=v12-gamma", f"{word}=3", f"{ours}=4")
    assert told == f"{word}=3 and {ours}=4: give the same key twice; keep one of them"
    first, *rest = ours.split(".")
    inner = f"{{{rest[0]}: 4}}" if len(rest) == 1 else f"{{{rest[0]}: {{{rest[1]}: 4}}}}"
    (tmp_path / "e.yaml").write_text(f"method: v12-gamma\n{word}: 3\n{first}: {inner}\n")
    assert problems(file=tmp_path / "e.yaml") == [f"{word} and {ours}: give the same key twice; keep one of them"]


def test_the_command_line_wins_over_the_file_in_whatever_words(tmp_path):
    file = tmp_path / "e.yaml"
    file.write_text("method: v12-gamma\ngamma_reg: 1.0\n")
    assert one("weight.guard.gamma=2", file=file).method.client.align.weight.guard.gamma == 2
    file.write_text("method: {name: v12-gamma, client: {align: {weight: {guard: {gamma: 1.0}}}}}\n")
    assert one("gamma_reg=2", file=file).method.client.align.weight.guard.gamma == 2
    file.write_text("alpha: 0.5\nnum_rounds: 3\n")
    said = one("training.rounds=4", "partition.alpha=0.1", file=file)
    assert (said.training.rounds, said.partition.alpha) == (4, 0.1)


def test_a_run_can_be_repeated_with_a_word_on_top_of_its_own_file():
    tree = one("method=v12-gamma").tree()
    assert parse(tree) == [one("method=v12-gamma")]
    assert weight("method=v12-gamma", "gamma_reg=2").guard.gamma == 2


def test_words_of_the_notes_can_be_the_factors_of_a_sweep():
    plan = load_plan(None, ["method=v12-gamma", "gamma_reg=1e-3,1e-5", "alpha=0.1,0.5"])
    experiments = [plan.experiment_at(point) for point in plan.points()]
    gammas = [experiment.method.client.align.weight.guard.gamma for experiment in experiments]
    assert gammas == [1e-3, 1e-3, 1e-5, 1e-5]
    assert [str(experiment.called.beside(plan.factors)) for experiment in experiments] == ["v12-gamma"] * 4
