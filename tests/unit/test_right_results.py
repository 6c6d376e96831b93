"""What people read about a result is right: each test here failed before its mistake was corrected."""

from dataclasses import replace

import pytest
from small_results import small_result

from mooring import load
from mooring.record import Metrics, RoundRecord, RunFolder
from mooring.reports._verdict import verdict_on
from mooring.wording import bound_text, percent

EVEN = tuple(tuple(36 if i == j else 0 for j in range(10)) for i in range(10))  # 36 test images of each class


def course(*accuracies, alone=None):
    """A result with this accuracy after each round, on ten equally frequent classes."""
    first = small_result(metrics=Metrics(accuracies[-1], confusion=EVEN))
    rounds = tuple(RoundRecord(i, Metrics(value, confusion=EVEN)) for i, value in enumerate(accuracies))
    if alone is not None:
        from mooring.events import ClientRecord

        own = ClientRecord(0, len(rounds) - 1, accuracy=alone)
        rounds = (*rounds[:-1], replace(rounds[-1], clients=(own,)))
    return replace(first, accuracy=accuracies[-1], rounds=rounds, classes=tuple("0123456789"))


def test_a_run_that_fell_from_its_peak_gets_a_warning_and_the_next_command():
    verdict = verdict_on(course(0.56, 0.283, alone=0.267))
    assert not verdict.sound
    assert verdict.text == "warning: 49 % below its peak (56.0 % after round 1)"
    assert verdict.next_command("runs/a b") == "mooring doctor 'runs/a b'"


def test_a_run_whose_interval_holds_the_majority_class_baseline_gets_a_warning():
    verdict = verdict_on(course(0.11, alone=0.1))
    assert verdict.text.startswith("warning: its 95 % interval ")
    assert verdict.text.endswith("is not above the majority-class baseline (10.0 %)")


def test_a_run_that_is_no_better_than_local_only_is_sent_to_other_fusions():
    verdict = verdict_on(course(0.5, alone=0.6))
    assert verdict.text == "warning: not above local-only (60.0 %): fusing gained nothing"
    assert verdict.next_command("run") == "mooring fuse run"
    assert verdict_on(course(0.5, alone=0.5), fused=False).sound  # a control that fuses nothing


def test_a_run_that_keeps_nine_tenths_of_its_peak_is_sound():
    verdict = verdict_on(course(0.6, 0.55, alone=0.4))
    assert verdict.sound
    assert verdict.text == "above the majority-class baseline (10.0 %); above local-only (40.0 %)"


def test_the_card_of_a_run_says_the_accuracy_that_its_result_has(cli, v12_run):
    code, out, err = cli("model-card", v12_run)
    assert code == 0, err
    assert "not tested" not in out
    assert f"{percent(RunFolder(v12_run).result.accuracy)} right on" in out


def test_the_card_of_another_file_beside_a_result_claims_no_accuracy(cli, v12_run, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model.mooring").write_bytes((v12_run / "model.mooring").read_bytes())
    assert "not tested" in cli("model-card", tmp_path / "run")[1]


def test_the_words_of_the_data_sources_are_not_broken_at_80_columns(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = cli("data")[1]
    assert all(len(line) <= 80 or " " not in line for line in out.splitlines())
    assert "(and, if you like, train_sites, classes)" in " ".join(out.split())


@pytest.mark.parametrize(
    ("word", "key"),
    [
        ("rounds=3", "training.rounds=3"),
        ("lr=0.5", "training.lr=0.5"),
        ("clients=3", "partition.clients=3"),
        ("alpha=0.5", "partition.alpha=0.5"),
        ("batch_size=7", "training.batch_size=7"),
    ],
)
def test_a_short_name_is_the_same_experiment_as_its_key(word, key):
    [short], [full] = load(overrides=[word]), load(overrides=[key])
    assert short.fingerprint() == full.fingerprint() != load()[0].fingerprint()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["run", "epochs=3"], "did you mean training.local_epochs?"),
        (["run", "seed=1-3"], "several are a sweep: mooring sweep seed=1..3"),
        (["sweep", "seed=1-3"], "mooring sweep seed=1..3"),
        (["run", "seed=1,2"], "mooring sweep seed=1,2"),
        (["run", "rounds=2", "training.rounds=3"], "give the same key twice"),
        (["settings", "lamda"], "did you mean 'lambda'?"),
    ],
)
def test_a_near_miss_is_answered_with_what_was_meant(cli, words, answer):
    code, _, err = cli(*words)
    assert code == 2
    assert answer in err


def test_a_bound_that_no_training_reaches_is_called_unbounded():
    assert (bound_text(2.33e93), bound_text(12500.0), bound_text(None)) == ("unbounded", "1.25e+04", "-")
