"""Accuracies in the terminal cannot be misread: on what, how many, how sure, against what, and who has won."""

from math import hypot

import pytest
from report_folders import scored
from small_results import small_result

from mooring import load
from mooring.cli.progress import fused
from mooring.cli.run import show_outcomes
from mooring.cli.sweep import show_outcome
from mooring.config import load_plan
from mooring.config._label import MethodLabel
from mooring.errors import ConfigError
from mooring.events import SnapshotFused
from mooring.record import Metrics, TimeSpent
from mooring.reports._accuracies import accuracy_interval, describe_test_images, majority_baseline
from mooring.reports._outcomes import combination, short_names, sweep_notes
from mooring.reports._sections.comparison import verdict
from mooring.reports._table import cell_text
from mooring.sweeps._best import best_combinations
from mooring.sweeps._summary import summarised
from mooring.sweeps._tables import SweepTables, tables_of, write_tables
from mooring.wording import number


def runs(**accuracies):
    """v4=(0.5, 0.6): one run for each seed."""
    return [
        scored({"method": method, "seed": seed}, value)
        for method, values in accuracies.items()
        for seed, value in enumerate(values, 1)
    ]


def test_an_interval_of_one_run_is_over_its_test_images():
    """Wilson's for 5 of 10, worked out by hand: (0.5 + z^2/20 +- z sqrt(0.025 + z^2/400)) / (1 + z^2/10)"""
    assert cell_text(accuracy_interval([0.5], 10)) == "0.237-0.763"
    assert accuracy_interval([0.5], None) is None


def test_progress_says_on_how_many_images_and_how_sure():
    told = fused(SnapshotFused(299, 0.872, 1.0, 26_032), 300)
    assert told == "round 300 of 300: accuracy 87.2 % (95 % CI 86.8-87.6 %, 26,032 images)"
    assert len(told) <= 80
    assert fused(SnapshotFused(0, 0.5), 1) == "fused: accuracy 50.0 %"


def test_only_a_source_with_an_official_test_set_is_said_to_have_one():
    def shown(source, images):
        return describe_test_images(small_result(dataset=source, test_images=images))

    assert shown("svhn", 26_032) == "the official test set of svhn (26,032 images)"
    assert shown("svhn", 5_000) == "5,000 test images of svhn; its official test set has 26,032"
    assert "there is no official test set" in shown("digits", 360)
    assert "official" not in shown("image_folder", 40)


def test_chance_is_always_saying_the_most_frequent_class():
    metrics = Metrics(0.5, confusion=((1, 2), (0, 1)))
    named = majority_baseline(metrics, ("cat", "dog")).sentence(number)
    assert named == "The majority-class baseline (always 'cat') reaches 0.750."
    assert "(always one class) reaches 75.0 %" in majority_baseline(metrics, ()).sentence()


def test_one_class_of_two_has_sensitivity_specificity_and_auc(capsys):
    metrics = Metrics(0.8, confusion=((50, 10), (10, 30)), per_class_auc=(0.9, 0.9))
    result = small_result(metrics=metrics, test_images=100, classes=("well", "ill"))
    show_outcomes(load(overrides=["method=v7"]), [("runs/v7", result)])
    shown = capsys.readouterr().out
    assert "sensitivity  95 % interval  specificity  95 % interval    AUC" in shown
    assert "0.750    0.598-0.858        0.833    0.720-0.907  0.900" in shown
    assert "of 'ill': 40 images of it and 60 of others" in shown
    with pytest.raises(ConfigError, match="--positive il: is not a class of the model; did you mean 'ill'"):
        show_outcomes(load(overrides=["method=v7"]), [("runs/v7", result)], "il")


def test_what_was_changed_of_a_method_does_not_burst_its_column():
    changes = (
        {},
        {"fusion": "iffi"},
        {"weight.base.value": "3", "training.rounds": "2"},
        {"weight.base.value": "4", "seed": "2"},
    )
    assert short_names([MethodLabel("v7", own) for own in changes]) == [
        "v7",
        "v7 + fusion=iffi",
        "v7 + 2 changes (1)",
        "v7 + 2 changes (2)",
    ]


@pytest.mark.parametrize(("evaluate", "images", "told"), [(3.0, 10_000, True), (1.0, 10_000, False), (3.0, 500, False)])
def test_who_spends_much_time_on_evaluation_is_told_how_to_spend_less(capsys, evaluate, images, told):
    spent = TimeSpent(prepare=0.5, train=6.0, fuse=0.3, evaluate=evaluate, write=0.2)
    show_outcomes(load(overrides=["method=v7"]), [("runs/v7", small_result(test_images=images, spent=spent))])
    line = "evaluation took 30 % of the time; data.test_limit=2000 tests on fewer images"
    assert (line in capsys.readouterr().out) is told


def test_one_class_of_a_sweep_is_told_over_its_seeds(capsys, tmp_path):
    """Areas of 0.8, 0.9 and 1.0: mean 0.9, deviation 0.1, and t(2) 0.1 / sqrt 3 = 0.248 to either side."""
    plan = load_plan(None, ["method=v4,v7", "seed=1..3"])
    rows = [
        medical_run({"method": method, "seed": seed}, 0.7 + 0.1 * seed) for method in ("v4", "v7") for seed in (1, 2, 3)
    ]
    tables = tables_of(plan, rows)
    show_outcome(plan, tables, tmp_path)
    shown = capsys.readouterr().out
    assert "0.750 ± 0.000    0.598-0.858  0.833 ± 0.000    0.720-0.907" in shown
    assert "0.900 ± 0.100  0.652-1.000  3" in shown
    assert "of 'ill': 40 images of it and 60 of others" in shown
    assert "AUC: the chance that an image of it gets a higher share than another, 0.5 by chance" in " ".join(
        shown.split()
    )
    assert "0.800 ± 0.000  3    0.711-0.867" in shown, "seeds that change nothing leave the images"
    assert "(always 'well') reaches 0.600" in shown
    told = {"positive_class": "ill", "sensitivity": 0.75, "specificity": 50 / 60, "auc": pytest.approx(0.9)}
    assert [told.items() <= line.items() for line in tables.summary_cells()] == [True, True]
    assert [line["auc"] for line in tables.result_cells("well")][:3] == pytest.approx([0.8, 0.9, 1.0])
    write_tables(tables, tmp_path)
    assert ",positive_class,sensitivity,specificity,auc," in (tmp_path / "results.csv").read_text().splitlines()[0]
    with pytest.raises(ConfigError, match="--positive il: is not a class of the model; did you mean 'ill'"):
        show_outcome(plan, tables, tmp_path, "il")


def medical_run(factors, auc):
    metrics = Metrics(0.8, confusion=((50, 10), (10, 30)), per_class_auc=(auc, auc))
    return scored(factors, 0.8, 100, metrics=metrics, classes=("well", "ill"))


def summed(runs, *factors):
    return runs, summarised(runs, ["method", *factors, "seed"], None)


@pytest.mark.parametrize(
    ("accuracies", "told"),
    [
        ({"v4": (0.5, 0.6, 0.7), "v7": (0.6, 0.71, 0.8)}, "v7: settled, +10.3 points over v4 (95 % interval"),
        (
            {"v4": (0.5, 0.6, 0.9), "v7": (0.6, 0.71, 0.8)},
            "no settled winner: v7 leads, +3.7 points over v4 (95 % interval",
        ),
        ({"v4": (0.5,), "v7": (0.6,)}, "no settled winner: v7 leads, +10.0 points over v4, with one seed in common."),
    ],
)
def test_a_winner_is_settled_only_where_the_paired_interval_excludes_zero(accuracies, told):
    [lead] = best_combinations(*summed(runs(**accuracies)))
    assert verdict(lead, combination).startswith(told)


def test_a_lead_of_one_image_that_no_seed_changes_is_not_settled():
    """Newcombe's interval of 90 and 91 of 100, worked out by hand from Wilson's: (.8256, .9448) and (.8377, .9519)"""
    runs_ = [scored({"method": m, "seed": s}, value, 100) for m, value in (("v4", 0.9), ("v7", 0.91)) for s in "123"]
    [lead] = best_combinations(*summed(runs_))
    [(_, gap)] = lead.against
    assert not lead.settled
    assert (gap.low, gap.high) == pytest.approx((0.01 - hypot(0.0723, 0.0448), 0.01 + hypot(0.0419, 0.0744)), abs=2e-4)
    far = [scored(run.factors, 0.6 if run.factors["method"] == "v4" else 0.9, 100) for run in runs_]
    assert best_combinations(*summed(far))[0].settled


def test_only_runs_on_the_same_data_and_partition_compete():
    values = {("v4", 0.1): 0.2, ("v7", 0.1): 0.3, ("v4", 0.5): 0.9, ("v7", 0.5): 0.8}
    runs_ = [
        scored({"method": method, "partition.alpha": alpha, "seed": 1}, value)
        for (method, alpha), value in values.items()
    ]
    found = best_combinations(*summed(runs_, "partition.alpha"))
    assert [lead.best.factors["method"] for lead in found] == ["v7", "v4"]


def test_a_sweep_counts_its_runs_as_the_page_does():
    plan = load_plan(None, ["method=v4,v7", "seed=1..2"])
    [line] = sweep_notes(plan, SweepTables((), ()))
    assert line.endswith("0 of 0 runs finished")
