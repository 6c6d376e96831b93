"""The doctor on courses made by hand, and on lines of the published code."""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from old_logs import CONFIG, log_of, v10_rounds, v11_rounds

import mooring.doctor
from mooring import load
from mooring.doctor import Case, case_of_log, examine, read_case
from mooring.doctor._case import TrainingSetup
from mooring.doctor._examine import REMEDIES, FuseAgain, Trial, remedy_for
from mooring.errors import StoreError
from mooring.events import ClientRecord, ClientStarted
from mooring.execution import _forecast, prepare
from mooring.losses._contrast import smallest_supcon
from mooring.methods import METHODS
from mooring.notes._imports import import_log, read_imports
from mooring.record import ClientHistory, RunRecord
from mooring.weighting import Uncertainty
from mooring.weighting._guards import Bound

COUNTS = (40, 40, 20)


def setting(method, **changes):
    rule = METHODS[method].client.align.weight
    facts = {"rule": rule, "lr": 0.05, "momentum": 0.9, "batch_size": 32, "classes": 3, "dimension": 8}
    return TrainingSetup(**(facts | changes))


def course(method, raws, factors=None, *, start=1.0, steps=100, fused=(), sigma=None, **changes):
    """One client whose lambda takes this course, with the alignment loss of its equilibrium."""
    rows = []
    rule = changes.pop("rule", METHODS[method].client.align.weight)
    most = rule.guard.cap if rule.kind == "uncertainty" and rule.guard else float("inf")
    for r, (raw, a) in enumerate(zip(raws, factors or [1.0] * len(raws), strict=True)):
        felt, base = min(raw * a, most), 9.0
        rows.append(
            ClientRecord(
                0,
                r,
                (r + 1) * steps,
                base_loss=base,
                align_loss=base / felt,
                lambda_raw=raw,
                schedule_factor=a,
                lambda_felt=felt,
                lambda_star=felt,
                sigma_sq_local=sigma,
                accuracy=0.5,
            )
        )
    client = ClientHistory(0, "client 0", 100, COUNTS, ClientStarted(0, 100, steps, 8, start), tuple(rows))
    return case(method, [client], dict(enumerate(fused)), setting(method, **{"rule": rule, **changes}))


def case(method, clients, fused, setting, folder=None):
    return Case("made", method, RunRecord("made", tuple(clients), fused), setting, folder)


def client_with(rounds=(), samples=50, counts=COUNTS, **more):
    return ClientHistory(0, "client 0", samples, counts, rounds=tuple(rounds), **more)


def two_clients(norms, fused, alone, plain_mean=True):
    clients = [
        ClientHistory(
            k,
            f"client {k}",
            50,
            COUNTS,
            rounds=tuple(
                ClientRecord(k, r, 100, base_loss=9.0, accuracy=alone[r], prototype_norms=(n,) * 3 if n else ())
                for r, n in enumerate(ns)
            ),
        )
        for k, ns in enumerate(norms)
    ]
    return case("v4", clients, dict(enumerate(fused)), TrainingSetup(plain_mean=plain_mean))


def read_log(path):
    return [case_of_log(one.record, one.settings, path.name) for one in read_imports(path)]


def found(history, kind):
    return examine(history).finding(kind)


def kinds(history, ill=None):
    return {finding.kind for finding in examine(history).findings if ill is None or finding.ill == ill}


LIMIT = 1.9 * 3 * 8 / 0.05
FADING = [1.0, 0.8, 0.6, 0.4, 0.2]
BOUND = Uncertainty(ratio="linear", data="linear", guard=Bound(50.0))
ROW = ClientRecord(0, 0, 300, base_loss=9.0)
EXPLODING = ([9.0, 11.0, 60.0, 5e3, 4e5], [0.9, 0.8, 0.7, 0.6, 0.5])

SHOWN = {  # kind -> a case that has it, and one like it that has not
    "running-away": (course("v12", *EXPLODING), course("v12", [9.0, 500.0, 9.0, 9.0])),
    "capped": (course("v12", *EXPLODING, rule=BOUND), course("v12", [9.0, 9.0], rule=BOUND)),
    "lagging": (course("v10-remedied", [1.0, 1.1, 1.2], steps=20), course("v10-remedied", [1.0, 1.1, 1.2], steps=999)),
    "tracking": (course("v10", [9.0, 10.0, 11.0]), course("v12", *EXPLODING)),
    "cancelled": (course("v11-linear", [10 / a for a in FADING], FADING), course("decoupled", [10.0] * 5, FADING)),
    "unstable": (course("v7-constant", [LIMIT * 1.1] * 2), course("v7-constant", [LIMIT * 0.9] * 2)),
    "collapsed": (two_clients([[5, 5], [5, 5]], [0.6, 0.3], [0.3, 0.4]), two_clients([[5, 5]], [0.6, 0.5], [0.3, 0.4])),
    "norm-domination": (
        two_clients([[5, 1], [5, 5]], [0.6, 0.3], [0.3, 0.4]),
        two_clients([[5, 4], [5, 5]], [0.6, 0.3], [0.3, 0.4]),
    ),
    "at-chance": (course("v7", [5.0] * 2, fused=[0.6, 0.33]), course("v7", [5.0] * 2, fused=[0.6, 0.6])),
    "never-seen": (case("v4", [client_with([ROW], 5, (5, 0, 0))], {}, TrainingSetup()), course("v7", [5.0])),
    "not-a-number": (
        case("v12", [client_with([replace(ROW, lambda_raw=float("nan"), lambda_felt=1.0)])], {}, TrainingSetup()),
        case("v12", [client_with([replace(ROW, lambda_raw=1e90, lambda_felt=1.0)])], {}, TrainingSetup()),
    ),
    "starved": (case("v4", [client_with((), 0, (0, 0, 0))], {}, TrainingSetup()), course("v7", [5.0])),
    "failed": (case("v4", [client_with(failure="supcon is nan")], {}, TrainingSetup()), course("v7", [5.0])),
    "no-step": (
        case("v4", [client_with()], {}, TrainingSetup()),
        case("ridge", [client_with()], {}, TrainingSetup(trains=False)),
    ),
    "few-steps": (case("v4", [client_with([replace(ROW, steps=3)])], {}, TrainingSetup()), course("v7", [5.0])),
    "loss-floor": (course("v10", [9.0] * 2, views=8, batch_size=512), course("v7", [5.0] * 2, views=8, batch_size=512)),
}


@pytest.mark.parametrize("kind", SHOWN)
def test_every_finding_can_appear_and_not_appear(kind):
    ill, well = SHOWN[kind]
    assert kind in kinds(ill)
    assert kind not in kinds(well)


def test_no_finding_is_without_its_two_cases():
    made = re.compile(r'Finding\(\s*"([a-z-]+)"')
    text = "".join(path.read_text("utf-8") for path in Path(mooring.doctor.__file__).parent.glob("*.py"))
    assert set(made.findall(text)) == set(SHOWN)
    assert set(REMEDIES) <= set(SHOWN)


def test_a_lambda_at_its_equilibrium_is_tracking():
    diagnosis = examine(course("v10", [9.0, 10.0, 11.0]))
    assert diagnosis.finding("tracking").words == "Lambda followed its equilibrium at 1 of 1 clients."
    assert not diagnosis.ill
    assert diagnosis.distances[0] == pytest.approx(0.0)


def test_a_relaxation_longer_than_the_training_is_lagging():
    (shown,) = found(course("v10-remedied", [1.0, 1.1, 1.2], steps=20), "lagging").evidence
    assert shown.values["relaxation_steps"] == pytest.approx(390, rel=0.03)


def test_annealing_that_changes_nothing_is_cancelled():
    finding = found(course("v11-linear", [10 / a for a in FADING], FADING), "cancelled")
    assert finding.evidence[0].values["measured"] is True
    assert not finding.ill
    assert finding.round == 3
    assert "cancelled" not in kinds(course("v7", [5.0] * 5, FADING))


def test_a_runaway_is_told_in_words_dated_and_explained():
    finding = found(course("v12", *EXPLODING, fused=[0.4, 0.48, 0.4, 0.3, 0.23]), "running-away")
    assert finding.ill
    assert finding.words == ("Lambda ran away at 1 of 1 clients from round 4; fused accuracy fell from 48 % to 23 %.")
    (shown,) = finding.evidence
    assert shown.values["growth"] == pytest.approx(5e3 / 60)
    assert shown.values["align_loss"] < 0.1
    held = found(course("v12", *EXPLODING, fused=[0.4, 0.48, 0.47, 0.47, 0.47]), "running-away")
    assert held.words.endswith("; fused accuracy held (47 %).")


def test_what_is_bounded_by_its_rule_cannot_run_away_and_its_cap_is_told():
    history = course("closed-form", [9.0, 200.0, 400.0], [1.0, 0.25, 0.125], start=1.0)
    assert kinds(history, ill=True) == set()
    assert "capped" in kinds(history, ill=False)


@pytest.mark.parametrize("rule", [METHODS["v12-gamma"].client.align.weight, BOUND, replace(BOUND, guard=Bound(8103.0))])
def test_a_guard_that_binds_does_not_silence_the_lambda_that_runs_against_it(rule):
    raws = [9.0, 4500.0, 4500.0]  # L_b / (2 gamma)
    if rule.guard.kind == "bound":
        raws = [9.0, 1e6, 1e8]
    diagnosis = examine(course("v12", raws, [1.0, 0.6, 0.3], rule=rule, dimension=512))
    assert {"running-away", "capped"} <= {finding.kind for finding in diagnosis.findings}
    assert diagnosis.finding("running-away").ill
    assert rule.guard.kind in diagnosis.finding("capped").evidence[0].text


def test_a_cap_ten_times_where_lambda_began_is_ill_and_a_lower_one_is_a_note():
    assert found(course("v12", *EXPLODING, rule=replace(BOUND, guard=Bound(91.0))), "capped").ill
    assert not found(course("v12", *EXPLODING, rule=replace(BOUND, guard=Bound(89.0))), "capped").ill


def test_above_the_sgd_limit_is_unstable():
    finding = found(course("v7-constant", [LIMIT * 1.1] * 2), "unstable")
    assert finding.ill
    assert finding.evidence[0].values["limit"] == pytest.approx(LIMIT)
    assert "unstable" not in kinds(course("v7-constant", [LIMIT * 1.1] * 2, mean_squared=False))


def test_joint_gradients_raise_the_sgd_limit_by_twice_sigma_squared():
    assert "unstable" not in kinds(course("v10", [LIMIT * 19.9] * 2, sigma=10.0))
    finding = found(course("v10", [LIMIT * 20.1] * 2, sigma=10.0), "unstable")
    assert finding.evidence[0].values["limit"] == pytest.approx(20 * LIMIT)
    assert "unstable" in kinds(course("decoupled", [LIMIT * 1.1] * 2, sigma=10.0))
    assert "unstable" not in kinds(course("uw-so", [LIMIT * 100] * 2)), "the two shares add up to one"


@pytest.mark.parametrize(
    ("norms", "fused", "alone", "round_", "ill"),
    [
        ([[5, 1, 1, 1], [5, 5, 5, 5]], [0.6, 0.5, 0.3, 0.3], [0.3, 0.3, 0.4, 0.4], 2, True),  # where accuracy falls
        ([[5, 1, 5, 5], [5, 5, 5, 5]], [0.5, 0.6, 0.3, 0.3], [0.3, 0.3, 0.4, 0.4], 1, False),  # alike when it fell
        ([[5, 1, 1, 1], [5, 5, 5, 5]], [0.6, 0.5, 0.5, 0.5], [0.3, 0.3, 0.4, 0.4], 1, False),  # no collapse
        ([[5, 1, 1, 1], [5, 5, 5, 5]], [0.6, 0.5, 0.3, 0.3], [0.4, 0.4, 0.2, 0.2], 2, False),  # the clients fell too
        ([[5, 4, 4, 4], [5, 5, 5, 5]], [0.6, 0.5, 0.3, 0.3], [0.3, 0.3, 0.4, 0.4], None, False),  # norms alike
        ([[0, 0, 0, 0], [0, 0, 0, 0]], [0.6, 0.5, 0.3, 0.3], [0.3, 0.3, 0.4, 0.4], None, False),  # norms unknown
    ],
)
def test_norm_domination_is_ill_only_where_the_fusion_falls_and_the_clients_do_not(norms, fused, alone, round_, ill):
    finding = found(two_clients(norms, fused, alone), "norm-domination")
    assert (finding.round if finding else None) == round_
    assert bool(finding and finding.ill) == ill
    if finding:
        assert finding.evidence[0].values["shares"][0] == pytest.approx(1 / 6)
    assert ("collapsed" in kinds(two_clients(norms, fused, alone), ill=True)) == (fused[-1] < 0.4)


def test_a_norm_safe_fusion_cannot_be_dominated():
    history = two_clients([[5, 1], [5, 5]], [0.6, 0.3], [0.3, 0.4], plain_mean=False)
    assert "norm-domination" not in kinds(history)


def test_collapse_says_what_the_clients_did_meanwhile():
    words = found(two_clients([[5, 5], [5, 5]], [0.6, 0.3], [0.3, 0.4]), "collapsed").words
    assert words == "Fused accuracy fell from 60 % in round 1 to 30 %, while the clients' own held (30 %, then 40 %)."
    words = found(two_clients([[5, 5], [5, 5]], [0.6, 0.3], [0.4, 0.2]), "collapsed").words
    assert "and the clients' own fell too (40 %, then 20 %)" in words


def test_chance_is_judged_by_balanced_accuracy_and_by_the_number_of_images(v12_run):
    def told(score, images):
        rows = tuple(
            replace(r, metrics=replace(r.metrics, balanced_accuracy=score)) for r in whole.record.result.rounds
        )
        result = replace(whole.record.result, rounds=rows, test_images=images)
        return "at-chance" in kinds(replace(whole, record=replace(whole.record, result=result)), ill=True)

    whole = read_case(v12_run)
    assert told(0.09, 360)
    assert told(0.13, 360)
    assert not told(0.14, 360)
    assert not told(0.11, 100_000)
    assert not told(0.25, 4), "few images prove nothing"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["lambda_raw", "lambda_felt", "base_loss", "align_loss"])
def test_what_is_no_number_is_ill(name, value):
    row = replace(ROW, lambda_raw=1.0, lambda_felt=1.0, align_loss=1.0)
    sick = case("v12", [client_with([row, replace(row, round=1, **{name: value})])], {}, TrainingSetup())
    assert found(sick, "not-a-number").ill
    assert found(sick, "not-a-number").round == 1


def test_real_sites_are_not_told_to_divide_their_images_otherwise():
    empty = case("v4", [client_with((), 0, (0, 0, 0))], {}, TrainingSetup(), Path("run"))
    assert found(empty, "starved").remedy == ""
    assert not any("partition" in remedy.command(empty) for row in REMEDIES.values() for remedy in row)


def test_classes_that_were_never_seen_are_a_note():
    finding = found(case("v4", [client_with([ROW], 5, (5, 0, 0))], {}, TrainingSetup()), "never-seen")
    assert finding.evidence[0].values == {"untrained": 2, "prototypes": 3}
    assert not finding.ill


HELPED = ((0.3, 0.3, 0.3), (0.6, 0.7, 0.5))
FAMILIARITY = FuseAgain("familiarity", (Trial("SVHN", "v12", *HELPED), Trial("CIFAR-10", "v4", *HELPED)))


def test_remedies_act_on_the_examined_run_and_can_be_pasted():
    sick = replace(course("v12", *EXPLODING, fused=[0.6, 0.6, 0.5, 0.4, 0.4]), folder=Path("my runs/v12"))
    assert FAMILIARITY.applies(sick)
    assert FAMILIARITY.command(sick) == "mooring fuse 'my runs/v12' --fusion familiarity"
    assert "--trust-code" in FAMILIARITY.command(replace(sick, own_code=True))
    assert not FAMILIARITY.applies(replace(sick, folder=None)), "a log cannot be fused"


def test_another_fusion_applies_only_to_the_published_average_of_trained_clients():
    sick = replace(course("v12", *EXPLODING, fused=[0.6, 0.3]), folder=Path("my runs/v12"))
    for other in (replace(sick.setting, plain_mean=False), replace(sick.setting, trains=False)):
        assert not FAMILIARITY.applies(replace(sick, setting=other))


def test_a_remedy_says_on_which_runs_it_helped():
    assert FAMILIARITY.support == (
        "It helped on SVHN (v12: 0.30 -> 0.60, better in 3 of 3 runs) and CIFAR-10 (v4: 0.30 -> 0.60, better in 3 of 3 "
        "runs)."
    )


def test_nothing_is_proposed_until_trials_show_that_it_helps():
    sick = replace(course("v12", *EXPLODING, fused=[0.6, 0.3]), folder=Path("my runs/v12"))
    for kind, remedies in REMEDIES.items():
        assert (remedy_for(kind, sick) is not None) == any(remedy.helps for remedy in remedies), kind
    proposed = found(sick, "running-away")
    assert proposed.remedy == "mooring fuse 'my runs/v12' --fusion familiarity"
    assert "SVHN (v12: 0.23 -> 0.57, better in 3 of 3 runs)" in proposed.support
    assert "CIFAR-10 (v4: 0.30 -> 0.49, better in 3 of 3 runs)" in proposed.support


@pytest.mark.parametrize(
    "after, helps",
    [((0.5, 0.6, 0.4), True), ((0.5, 0.6, 0.2), False), ((0.3, 0.3, 0.3), False)],
    ids=["better in every run", "worse in one run", "no better"],
)
def test_a_remedy_that_failed_on_one_of_two_data_sets_is_not_proposed(after, helps):
    trials = (Trial("SVHN", "v12", *HELPED), Trial("CIFAR-10", "v4", HELPED[0], after))
    assert FuseAgain("familiarity", trials).helps is helps


def test_one_data_set_or_fewer_than_three_runs_are_not_enough_for_a_remedy():
    assert not FuseAgain("familiarity", (Trial("SVHN", "v12", *HELPED), Trial("SVHN", "v4", *HELPED))).helps
    two = Trial("CIFAR-10", "v4", (0.3, 0.3), (0.6, 0.6))
    assert not FuseAgain("familiarity", (Trial("SVHN", "v12", *HELPED), two)).helps


def test_the_floor_of_supcon_by_hand():
    """One class, a batch of 32, two views: 63 positives for every sample."""
    assert smallest_supcon((100,), 32, 2) == pytest.approx(4.1431, abs=1e-4)
    assert smallest_supcon((50, 50), 32, 2) == pytest.approx(3.4340, abs=1e-4)


def test_methods_in_logs_are_told_apart_by_content_and_not_by_label(tmp_path):
    path = tmp_path / "several.log"
    path.write_text(log_of("OneshotOursV12", v11_rounds()) + "\n" + log_of("OneshotOursV10", v10_rounds()))
    v11, v10 = read_log(path)
    assert (v11.method, v10.method) == ("v11-as-run-linear", "v10")
    assert v11.record.result.origin.identified == "inferred"
    assert v10.record.result.origin.identified == "read"
    assert v11.record.fused == {0: 0.30, 1: 0.31, 2: 0.32, 3: 0.33}
    (shown,) = found(v11, "cancelled").evidence
    assert shown.values["exponent"] == pytest.approx(0, abs=0.01)
    assert v10.record.clients[0].rounds[0].base_loss == pytest.approx(9.0)


def test_losses_that_were_inferred_from_sigma_prove_nothing(tmp_path):
    """At the equilibrium of its own sigmas a log's L_b / L_a is lambda by definition."""
    path = tmp_path / "v11.log"
    path.write_text(log_of("OneshotOursV11", v11_rounds()))
    (v11,) = read_log(path)
    assert v11.setting.inferred
    assert not any("20 %" in shown.text for finding in examine(v11).findings for shown in finding.evidence)
    rows = v11.record.clients[0].rounds
    annealed = [replace(row, lambda_felt=row.schedule_factor * 12, lambda_raw=12.0) for row in rows]
    clients = (replace(v11.record.clients[0], rounds=tuple(annealed)),)
    assert "cancelled" not in kinds(replace(v11, record=replace(v11.record, clients=clients)))


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_a_log_may_hold_values_that_are_no_numbers(tmp_path, value):
    lines = [
        "Round 0 starts--------|",
        f"Client 3 Post-Training State -> Raw λ: {value} | s(p): 0.700 | Truly Effective λ (for W): {value}",
        "The test accuracy of OursV12+SimpleFeatureServer: 0.4955",
    ]
    path = tmp_path / "odd.log"
    path.write_text(log_of("OneshotOursV12", lines))
    (history,) = read_log(path)
    assert history.method == "v12-as-run"
    import_log(path, tmp_path / "run")
    for told in (examine(history), examine(read_case(tmp_path / "run"))):
        assert told.finding("not-a-number").ill


def test_a_file_that_is_no_log_is_rejected(tmp_path):
    (tmp_path / "x.log").write_text("hello\n")
    with pytest.raises(StoreError, match="holds no round of the published code"):
        read_log(tmp_path / "x.log")
    with pytest.raises(StoreError, match="cannot be read"):
        read_log(tmp_path / "none.log")


def test_an_a_priori_bound_knows_its_guard():
    from mooring.types import ClientFacts

    outlook = METHODS["log-prior-bound"].client.align.weight.outlook(ClientFacts(0, COUNTS, 500), 0.05, 0.9, 12.0)
    assert outlook.largest == 50.0


def test_a_foreign_configuration_is_never_evaluated_and_cannot_exhaust_the_reader(tmp_path):
    deep = "[" * 50_000 + "]" * 50_000
    for config in (f"{{'a': {deep}}}", "{'a': __import__('os').getcwd()}", "{'a': 1"):
        path = tmp_path / "foreign.log"
        path.write_text(log_of("OneshotOursV10", v10_rounds()).replace(CONFIG, config))
        (history,) = read_log(path)
        assert history.setting.lr is None


SIZES = []


@dataclass(frozen=True)
class Counted:
    """Nothing, and how many images it was asked for."""

    kind: ClassVar[str] = "counted"

    def __call__(self, step):
        SIZES.append(len(step.labels))
        return 0 * step.views[0].logits.sum()


@pytest.mark.parametrize(("long_step", "largest"), [(0.0, 2), (float("inf"), 32)])
def test_a_plan_with_long_steps_is_timed_on_few_images(long_step, largest, monkeypatch):
    monkeypatch.setattr(_forecast, "LONG_STEP", long_step)
    [experiment] = load(overrides=["method=v7", "data.limit=300"])
    federation, job = prepare(experiment)
    SIZES.clear()
    _forecast.forecast(replace(job, recipe=replace(job.recipe, terms=(*job.recipe.terms, Counted()))), federation)
    assert max(SIZES) == largest
