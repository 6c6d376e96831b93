"""Measures on records made by hand."""

from math import e
from types import SimpleNamespace

import pytest
from small_results import small_result
from study_records import records, run_of

from mooring.errors import StoreError
from mooring.events import EpochRecord
from mooring.notes._evidence import Evidence, study_runs
from mooring.notes._measures import Client, Extreme, FromPeak, Fused, Log10, Quotient, Share, Since, Switch
from mooring.notes._over_rounds import AT
from mooring.notes._statistics import spearman
from mooring.notes._tables import ByClient, ByGroup, ByRound, ChartColumns, Column, DocumentedRow, EveryRound
from mooring.record import Metrics, RoundRecord, RunResult, Seeds
from mooring.reports._table import PlottedLine, Quoted, Spread
from mooring.types import PartitionSummary


def run(fused=None, trained=None, seed=1, epochs=(), **fields):
    fused = fused or {0: 0.5}
    rounds = records(**fields) if fields else ()
    return run_of("r", {"seed": seed}, fused, rounds, epochs, trained)


def trained_on(**summary):
    """The result of a training whose partition is known."""
    partition = PartitionSummary(None, 3, **summary)
    return small_result("v7", Metrics(0.5), partition)


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("first", 2),
        ("last", 4),
        ("peak", 8),
        ("lowest", 2),
        ("midway", 4),
        ("spread", 4),
        ("mean", 14 / 3),
        ("middle", 4),
        ("settled", 0.5),
        ("growth", 2),
        ("swell", 4),
        ("fall", 0.5),
    ],
)
def test_reductions_over_rounds(at, expected):
    assert AT[at]([2.0, 8.0, 4.0]) == pytest.approx(expected)


def test_a_quotient_of_clients():
    found = run(accuracy=[[0.1, 0.4], [0.9, 0.3], [0.5, 0.5]], steps=[[1, 2], [1, 3], [0, 0]])
    assert Quotient("accuracy", "steps").by_client(found) == pytest.approx({0: 0.2, 1: 0.1})
    assert Quotient("accuracy", "steps").value(found) == pytest.approx(0.15)


def test_what_is_settled_is_measured_from_a_tenth_of_the_rounds_on():
    assert AT["settled"]([1.0, 5.0, *[7.0] * 7, 10.0]) == 2
    assert AT["settled"]([1.0, 3.0, 5.0, *[7.0] * 16, 10.0]) == 2
    assert AT["settled"]([3.0]) == 1


def test_wobble_is_the_relative_change_of_the_second_half():
    assert AT["wobble"]([100.0, 1.0, 1.0, 1.1]) == pytest.approx(0.05)
    assert AT["wobble"]([8.0, 8.0, 8.0, 8.0]) == 0


def test_a_swing_is_what_is_taken_back():
    assert AT["swing"]([9.0, 1.0, 2.0, 4.0]) == 0
    assert AT["swing"]([9.0, 2.0, 4.0, 2.0]) == pytest.approx(4 / (2 * 8 / 3))
    assert AT["swing"]([3.0]) == 0


def test_decades_and_rounds_from_the_peak_on():
    made = run({0: 0.2, 1: 0.9, 2: 0.5}, x=[[10.0, 100.0, 1000.0]])
    assert Log10(Client("x")).value(made) == pytest.approx(3)
    assert Log10(Client("y")).value(made) is None
    assert FromPeak(Client("x")).series(made) == {1: 100, 2: 1000}


def test_a_value_is_reduced_over_rounds_then_over_clients():
    made = run(x=[[1.0, 4.0], [1.0, 2.0]])
    assert Client("x", "growth", "mean").value(made) == 3
    assert Client("x", "last", "max").value(made) == 4
    assert Client("x", client=1).value(made) == 2
    assert Client("x").series(made) == {0: 1.0, 1: 3.0}
    assert Client("y").value(made) is None


def test_derived_fields_follow_the_record():
    made = run(base_loss=[[8.0]], align_loss=[[2.0]], lambda_raw=[[4.0]], prototype_norms=[[(1.0, 3.0)]])
    assert Client("loss_ratio").value(made) == 4
    assert Client("raw_over_loss_ratio").value(made) == 1
    assert Client("prototype_norm").value(made) == 2
    assert Client("felt_over_rest").value(made) is None


def test_constants_come_from_the_partition_and_own_accuracies_from_the_records():
    made = run(trained=trained_on(normalised_entropy=(0.2, 0.9, 0.0)), accuracy=[[0.3], [0.5]])
    assert Client("accuracy").by_client(made) == {0: 0.3, 1: 0.5}
    assert Client("normalised_entropy", "first").by_client(made) == {0: 0.2, 1: 0.9}  # client 2 was starved
    assert Extreme("accuracy").value(made) == 0.3
    assert Extreme("accuracy", which="highest").value(made) == 0.5


def test_since_looks_only_at_clients_to_whom_it_happened():
    made = run(lambda_raw=[[1.0, 1e4, 1e5], [1.0, 1.0, 1.0]], train_accuracy=[[0.5, 0.4, 0.2], [0.1, 0.1, 0.9]])
    assert Since("train_accuracy").by_client(made) == {0: pytest.approx(-0.3)}


def test_share_of_a_factor_in_the_growth_of_a_product():
    made = run(part=[[1.0, e]], whole=[[1.0, e**4]])
    assert Share("part", "whole").value(made) == pytest.approx(0.25)


def test_switch_compares_the_epoch_of_stage_one_with_the_next():
    epochs = (
        EpochRecord(0, 0, 0, {"bank-contrast": 5.0}),
        EpochRecord(0, 0, 1, align_loss=5.5),
        EpochRecord(0, 0, 2, align_loss=1.0),
    )
    assert Switch().value(run(epochs=epochs)) == 0.5


def test_rank_correlation():
    assert spearman([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 2, 3], [1, 1, 1]) is None


FUSED = RunResult("v12", 0.7, (RoundRecord(9, Metrics(0.7)),), PartitionSummary(None, 5), Seeds(2, 2))


def test_a_fusion_made_afterwards_has_one_accuracy_and_the_records_of_its_training(v12_run):
    fused = SimpleNamespace(name="m", factors={"seed": 2}, folder=v12_run, result=FUSED)
    failed = SimpleNamespace(name="f", factors={"seed": 3}, folder=v12_run, result=None)
    [made] = study_runs([fused, failed])
    assert (made.seed, made.accuracy, made.fused) == (2, 0.7, {9: 0.7})
    assert {record.round for record in made.rounds} == {0, 1}
    assert all(record.accuracy is not None for record in made.rounds)  # as the result has them, not the events
    assert {record.epoch for record in made.epochs} == {0}
    assert made.result == FUSED


def test_a_damaged_run_is_no_run_without_records(tmp_path):
    member = SimpleNamespace(name="m", factors={}, folder=tmp_path, result=FUSED)
    with pytest.raises(StoreError):
        study_runs([member])


def test_tables_set_the_note_beside_the_measured():
    made = run({0: 0.25, 1: 0.5}, trained_on(entropy=(1.5,)), x=[[1.0, 3.0]])
    evidence = Evidence({"s": (made,)})
    group = ByGroup("t", (DocumentedRow("a", "s", (0.6,)),), (Column("accuracy", Fused()),), ("accuracy",))
    assert group(evidence).rows == (("a", Quoted("0.6"), Spread(0.5, None, 1)),)
    rounds = ByRound("t", "s", (Column("x", Client("x")),), ("x",), 50, ((0, 7), (49, 9)))
    assert rounds(evidence).rows == ((0, Quoted("7"), 0, 1.0), (49, Quoted("9"), 1, 3.0))
    clients = ByClient("t", "s", {"H": "entropy"}, ("client", "H"), ((0, 1.9), (1, 1.8)))
    assert clients(evidence).rows == ((Quoted("0"), Quoted("1.9"), 0, 1.5), (Quoted("1"), Quoted("1.8"), None, None))
    for table in (group, rounds, clients):
        printed = table(evidence)
        assert all(len(row) == len(printed.columns) for row in printed.rows)
        assert printed.seeds == (1,)


def test_a_row_can_be_the_difference_of_two_groups_seed_by_seed():
    runs = {
        name: tuple(run({0: value + seed}, seed=seed) for seed in (1, 2)) for name, value in (("a", 0.5), ("b", 0.2))
    }
    table = ByGroup(
        "t", (DocumentedRow("a - b", "a", ("-0.30",), minus="b"),), (Column("accuracy", Fused()),), ("accuracy",)
    )
    [(name, note, measured)] = table(Evidence(runs)).rows
    assert (name, note, measured.n) == ("a - b", Quoted("-0.30"), 2)
    assert (measured.mean, measured.std) == (pytest.approx(0.3), pytest.approx(0, abs=1e-9))
    assert table.groups() == ("a", "b")


def test_a_course_holds_every_round_of_every_client_for_each_seed():
    runs = tuple(run({1: 0.5}, seed=seed, lambda_raw=[[1.0, 2.0], [3.0, 4.0]]) for seed in (2, 1))
    drawn = (ChartColumns("lambda", ("raw",), "log"),)
    course = EveryRound("V12", "s", "V12 rounds", (Column("accuracy", Fused()),), {"raw": "lambda_raw"}, drawn)
    first, second = course.tables(Evidence({"s": runs}))
    assert (first.name, first.seeds, second.seeds) == ("V12 rounds seed 1", (1,), (2,))
    assert first.columns == ("round", "accuracy", "raw, client 0", "raw, client 1")
    assert first.rows == ((0, None, 1.0, 3.0), (1, 0.5, 2.0, 4.0))
    assert [line.y for line in first.plots[0].lines] == ["raw, client 0", "raw, client 1"]


def test_a_chart_sets_the_columns_of_the_note_beside_the_measured():
    drawn = (ChartColumns("lambda", ("x",), "log"),)
    table = ByRound("t", "s", (Column("x", Client("x")), Column("y", Client("y"))), ("x",), 50, ((0, 7),), drawn)
    [plot] = table(Evidence({"s": ()})).plots
    assert plot.lines == (
        PlottedLine("round (note)", "x (note)", "note"),
        PlottedLine("round (measured)", "x (measured)"),
    )
