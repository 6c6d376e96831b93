"""Every check on evidence made by hand: each verdict can be reached."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from study_records import records, run_of

from mooring.errors import ConfigError
from mooring.notes._claims import Correlation, Given, Within
from mooring.notes._evidence import Evidence
from mooring.notes._group_claims import Alike, Below, NoBetter, Order, Trend, Varies
from mooring.notes._measures import Client, Fused
from mooring.record import Metrics

CONFIRMED, REFUTED, UNSEEN, NOT_RUN = "confirmed", "not confirmed", "cannot be seen at this scale", "was not run"


def group(method, *accuracies, **more):
    """One run per seed with these final accuracies."""
    return [
        run_of(f"{method}-{seed}", {"method": method, "seed": seed, **more}, {0: accuracy})
        for seed, accuracy in enumerate(accuracies, 1)
    ]


def evidence(*groups):
    return Evidence({"s": tuple(run for runs in groups for run in runs)})


def traced(seed=1, **fields):
    """A run whose clients recorded these values: field=[[client 0, by round], [client 1, by round]]"""
    return run_of("run", {"seed": seed}, {0: 0.9, 1: 0.5}, records(**fields))


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        ((0.4, 0.5), (0.6, 0.7), CONFIRMED),
        ((0.7, 0.6), (0.4, 0.5), REFUTED),
        ((0.4, 0.7), (0.6, 0.5), UNSEEN),  # the seeds do not agree
        ((0.55, 0.9), (0.6, 0.5), UNSEEN),  # nor here, although the mean says the opposite
        ((0.605, 0.705), (0.6, 0.7), UNSEEN),  # the opposite, inside the noise
        ((0.595, 0.695), (0.6, 0.7), UNSEEN),  # inside the noise
        ((0.5,), (), NOT_RUN),
    ],
)
def test_below(low, high, verdict):
    found = Below("s method=a", "s method=b")(evidence(group("a", *low), group("b", *high)))
    assert found.verdict == verdict
    assert found.reason


def test_below_pairs_by_seed_and_tells_n():
    found = Below("s method=a", "s method=b")(evidence(group("a", 0.1, 0.5), group("b", 0.3, 0.7, 0.9)))
    assert found.verdict == CONFIRMED
    assert "difference -0.200" in found.measured
    assert found.measured.endswith("(n = 2)")
    assert (found.number.name, found.number.value.n) == ("difference", 2)
    assert found.number.value.mean == pytest.approx(-0.2)


@pytest.mark.parametrize(
    ("accuracies", "verdict"),
    [((0.9, 0.7, 0.5), CONFIRMED), ((0.9, 0.5, 0.7), REFUTED), ((0.9, 0.71, 0.7), UNSEEN)],
)
def test_order_is_as_weak_as_its_weakest_pair(accuracies, verdict):
    runs = evidence(*(group(name, value, value) for name, value in zip("abc", accuracies, strict=True)))
    assert Order(("s method=a", "s method=b", "s method=c"))(runs).verdict == verdict


@pytest.mark.parametrize(("values", "verdict"), [((5, 6), CONFIRMED), ((1, 2), REFUTED), ((1, 6), UNSEEN)])
def test_within(values, verdict):
    runs = Evidence({"s": tuple(traced(seed, x=[[1.0, value]]) for seed, value in enumerate(values))})
    assert Within("s", Client("x"), low=4.0)(runs).verdict == verdict


def test_a_quantity_that_nobody_recorded_cannot_be_seen():
    found = Within("s", Client("sigma_sq_local"), low=1.0)(Evidence({"s": (traced(x=[[1.0]]),)}))
    assert found.verdict == UNSEEN
    assert found.reason == "the finished runs of s do not record it"


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [((0.5, 0.6), (0.51, 0.59), CONFIRMED), ((0.5, 0.6), (0.7, 0.8), REFUTED), ((0.5, 0.8), (0.7, 0.6), UNSEEN)],
)
def test_alike(one, other, verdict):
    assert Alike("s method=a", "s method=b")(evidence(group("a", *one), group("b", *other))).verdict == verdict


@pytest.mark.parametrize(
    ("one", "other", "verdict"),
    [
        ((0.5, 0.6), (0.7, 0.6), CONFIRMED),
        ((0.51, 0.61), (0.5, 0.6), CONFIRMED),  # inside the noise nothing was gained
        ((0.7, 0.8), (0.5, 0.6), REFUTED),
        ((0.7, 0.5), (0.5, 0.6), UNSEEN),
        ((0.7,), (), NOT_RUN),
    ],
)
def test_no_better(one, other, verdict):
    assert NoBetter("s method=a", "s method=b")(evidence(group("a", *one), group("b", *other))).verdict == verdict


def with_baseline(*groups):
    """Runs on two balanced classes: the majority-class baseline is 0.5."""
    trained = SimpleNamespace(metrics=Metrics(0.5, confusion=((5, 5), (5, 5))))
    return evidence([replace(run, result=trained) for runs in groups for run in runs])


A, B = "s method=a", "s method=b"


@pytest.mark.parametrize(
    ("check", "a", "b", "verdict"),
    [
        (Alike(A, B), 0.50, 0.51, UNSEEN),
        (Alike(A, B), 0.60, 0.61, CONFIRMED),
        (NoBetter(A, B), 0.50, 0.51, UNSEEN),
        (NoBetter(A, B), 0.60, 0.61, CONFIRMED),
        (Below(A, B), 0.30, 0.45, UNSEEN),
        (Below(A, B), 0.45, 0.30, UNSEEN),
        (Below(A, B), 0.30, 0.70, CONFIRMED),  # a method that collapsed, against one that learned
        (Order((B, A)), 0.30, 0.45, UNSEEN),
        (Order((B, A)), 0.60, 0.70, CONFIRMED),
        (Varies((A, B), 0.1), 0.30, 0.45, UNSEEN),
        (Varies((A, B), 0.1), 0.50, 0.70, CONFIRMED),
    ],
)
def test_accuracies_are_compared_only_above_the_majority_class_baseline(check, a, b, verdict):
    found = check(with_baseline(group("a", a, a), group("b", b, b)))
    assert found.verdict == verdict
    assert ("majority-class baseline (0.5)" in found.reason) is (verdict == UNSEEN)


def test_a_trend_needs_a_method_above_the_baseline_at_every_value():
    widening = [group("b", 0.8, 0.8, alpha=0.5), group("a", 0.7, 0.7, alpha=0.5)]
    at_baseline = [group("b", 0.5, 0.5, alpha=0.1), group("a", 0.2, 0.2, alpha=0.1)]
    found = Trend(A, B, "alpha", (0.5, 0.1))(with_baseline(*widening, *at_baseline))
    assert found.verdict == UNSEEN
    assert found.reason.startswith("at alpha=0.1 no compared method is above the majority-class baseline")


def climbing(first, peak, last):
    return [run_of("run", {"method": "a", "seed": seed}, {0: first, 1: peak, 2: last}) for seed in (1, 2)]


@pytest.mark.parametrize(
    "check", [Within(A, Fused("swell"), low=1.2), Within(A, Fused("fall"), low=0.3), Below(A, A, Fused("fall"))]
)
def test_a_climb_or_a_fall_is_decided_only_if_the_peak_is_above_the_baseline(check):
    assert "majority-class baseline" in check(with_baseline(climbing(0.3, 0.5, 0.2))).reason
    learned = check(with_baseline(climbing(0.5, 0.7, 0.2)))
    assert "majority-class baseline" not in learned.reason
    assert learned.verdict == CONFIRMED or isinstance(check, Below)


def test_accuracy_over_rounds_correlates_only_if_its_peak_is_above_the_baseline():
    def found(*accuracies):
        runs = [
            run_of("run", {"method": "a", "seed": seed}, dict(enumerate(accuracies)), records(x=[[1.0, 2.0, 3.0]]))
            for seed in (1, 2)
        ]
        return Correlation(A, Client("x"), Fused(), "rounds", sign=-1)(with_baseline(runs))

    assert (found(0.5, 0.4, 0.3).verdict, found(0.7, 0.5, 0.3).verdict) == (UNSEEN, CONFIRMED)


def test_clients_own_accuracies_are_compared_only_above_the_majority_class_baseline():
    def runs(method, accuracy):
        return [run_of("run", {"method": method, "seed": 1}, {0: 0.9}, records(accuracy=[[accuracy], [accuracy]]))]

    check = Below(A, B, Client("accuracy"))
    assert check(with_baseline(runs("a", 0.3), runs("b", 0.45))).verdict == UNSEEN
    assert check(with_baseline(runs("a", 0.3), runs("b", 0.75))).verdict == CONFIRMED


def test_a_sweep_that_the_scale_leaves_out_was_not_run():
    found = Below("s method=a", "large")(Evidence({"s": tuple(group("a", 0.5)), "large": ()}, left_out=("large",)))
    assert (found.verdict, found.reason) == (NOT_RUN, "this scale leaves the sweep 'large' out")


def test_a_run_that_has_not_finished_was_not_run():
    found = Below(A, B)(evidence(group("a", 0.5)))
    assert (found.verdict, found.reason) == (NOT_RUN, "no run of s method=b finished")
    other_seed = [replace(run, factors={**run.factors, "seed": 7}) for run in group("b", 0.6)]
    found = Below(A, B)(evidence(group("a", 0.5), other_seed))
    assert (found.verdict, found.reason) == (NOT_RUN, "no seed has finished runs of s method=a and s method=b")


def test_a_finished_run_that_does_not_record_a_measure_cannot_decide():
    found = Within("s", Client("lambda_raw"), low=1.0)(evidence(group("a", 0.5)))
    assert (found.verdict, found.reason) == (UNSEEN, "the finished runs of s do not record it")


def test_a_premise_that_was_not_run_leaves_its_claim_not_run():
    runs = Evidence({"s": tuple(group("a", 0.5)), "t": ()})
    assert Given(Within("t", Fused(), low=0.1), Within("s", Fused(), low=0.1))(runs).verdict == NOT_RUN


@pytest.mark.parametrize(
    ("a", "b", "c", "verdict"),
    [
        ((0.5, 0.6), (0.7, 0.6), (0.6, 0.9), CONFIRMED),
        ((0.5, 0.6), (0.51, 0.6), (0.52, 0.61), REFUTED),
        ((0.5, 0.6), (0.7, 0.6), (0.6, 0.6), UNSEEN),
        ((0.5, 0.6), (0.7, 0.6), (), NOT_RUN),
    ],
)
def test_varies(a, b, c, verdict):
    groups = ("s method=a", "s method=b", "s method=c")
    runs = evidence(group("a", *a), group("b", *b), group("c", *c))
    assert Varies(groups, 0.1)(runs).verdict == verdict


@pytest.mark.parametrize(
    ("gaps", "verdict"), [((-0.1, -0.2, -0.3), CONFIRMED), ((-0.3, -0.2, -0.1), REFUTED), ((-0.1, -0.3, -0.2), UNSEEN)]
)
def test_trend(gaps, verdict):
    values = (0.5, 0.1, 0.05)
    runs = [group("b", 0.8, 0.8, alpha=v) for v in values]
    runs += [group("a", 0.8 + gap, 0.8 + gap, alpha=v) for v, gap in zip(values, gaps, strict=True)]
    found = Trend("s method=a", "s method=b", "alpha", values)(evidence(*runs))
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("y", "verdict"), [((1, 2, 3, 4), CONFIRMED), ((4, 3, 2, 1), REFUTED), ((2, 1, 4, 0.5 + 2), UNSEEN)]
)
def test_correlation_over_clients(y, verdict):
    run = traced(x=[[1.0], [2.0], [3.0], [4.0]], y=[[float(value)] for value in y])
    check = Correlation("s", Client("x"), Client("y"), strength=0.9)
    assert check(Evidence({"s": (run,)})).verdict == verdict


def test_correlation_needs_three_points():
    run = traced(x=[[1.0], [2.0]], y=[[1.0], [2.0]])
    assert Correlation("s", Client("x"), Client("y"))(Evidence({"s": (run,)})).verdict == UNSEEN


def test_what_follows_from_something_that_did_not_happen_cannot_be_seen():
    runs = Evidence({"s": (traced(x=[[1.0, 5.0]]),)})
    falls = Within("s", Fused("fall"), low=0.3)
    assert Given(Within("s", Client("x"), low=4.0), falls)(runs).verdict == CONFIRMED
    found = Given(Within("s", Client("x"), low=40.0), falls)(runs)
    assert found.verdict == UNSEEN
    assert "premise" in found.reason


def test_an_unknown_sweep_is_an_error_that_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'lambda'"):
        Evidence({"lambda": ()}).runs("lamda method=v7")
