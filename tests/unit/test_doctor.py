"""The doctor on courses made by hand, and on lines of the published code."""

import pytest
from old_logs import CONFIG, log_of, v10_rounds, v11_rounds

from mooring.doctor import Case, case_of_log, examine
from mooring.doctor.case import Setting
from mooring.errors import StoreError
from mooring.events import ClientRecord, ClientStarted
from mooring.importing import read_imports
from mooring.losses.supcon import smallest_supcon
from mooring.methods import METHODS
from mooring.record import ClientHistory, RunRecord

COUNTS = (40, 40, 20)


def setting(method, **changes):
    rule = METHODS[method].client.align.weight
    facts = {"lr": 0.05, "momentum": 0.9, "batch_size": 32, "classes": 3, "dimension": 8}
    return Setting(rule, **(facts | changes))


def course(method, raws, factors=None, *, start=1.0, steps=100, **changes):
    """One client whose lambda takes this course, with the alignment loss of its equilibrium."""
    rows = []
    for r, (raw, a) in enumerate(zip(raws, factors or [1.0] * len(raws), strict=True)):
        felt, base = raw * a, 9.0
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
                accuracy=0.5,
            )
        )
    client = ClientHistory(0, "client 0", 100, COUNTS, ClientStarted(0, 100, steps, 8, start), tuple(rows))
    return case(method, [client], {}, setting(method, **changes))


def case(method, clients, fused, setting):
    return Case("made", method, RunRecord("made", tuple(clients), fused), setting)


def read_log(path):
    return [case_of_log(one.record, one.settings, path.name) for one in read_imports(path)]


def kinds(history, ill=None):
    return {finding.kind for finding in examine(history).findings if ill is None or finding.ill == ill}


def test_a_lambda_at_its_equilibrium_is_tracking():
    found = examine(course("v10", [9.0, 10.0, 11.0]))
    assert next(f.kind for f in found.findings if f.client == 0) == "tracking"
    assert not found.ill
    assert found.distances[0] == pytest.approx(0.0)


def test_a_relaxation_longer_than_the_training_is_lagging():
    history = course("v10-remedied", [1.0, 1.1, 1.2], steps=20)
    (finding,) = [f for f in examine(history).findings if f.kind == "lagging"]
    assert finding.evidence["relaxation_steps"] == pytest.approx(390, rel=0.03)
    assert finding.remedy.startswith("sigma.lr=")


def test_annealing_that_changes_nothing_is_cancelled():
    factors = [1.0, 0.8, 0.6, 0.4, 0.2]
    history = course("v11-linear", [10 / a for a in factors], factors)
    (finding,) = [f for f in examine(history).findings if f.kind == "cancelled"]
    assert finding.evidence["measured"] is True
    assert not finding.ill
    assert finding.round == 3
    assert "cancelled" not in kinds(course("decoupled", [10.0] * 5, factors))
    assert "cancelled" not in kinds(course("v7", [5.0] * 5, factors))


def test_a_runaway_is_dated_explained_and_ill():
    history = course("v12", [9.0, 11.0, 60.0, 5e3, 4e5], [0.9, 0.8, 0.7, 0.6, 0.5])
    (finding,) = [f for f in examine(history).findings if f.kind == "running-away"]
    assert finding.ill
    assert finding.round == 3
    assert finding.evidence["growth"] == pytest.approx(5e3 / 60)
    assert finding.evidence["align_loss"] < 0.1
    assert finding.remedy == "method=closed-form"


def test_a_lambda_that_comes_back_has_not_run_away():
    assert "running-away" not in kinds(course("v12", [9.0, 500.0, 9.0, 9.0]))


def test_what_is_bounded_by_its_rule_cannot_run_away():
    history = course("closed-form", [9.0, 200.0, 400.0], [1.0, 0.25, 0.125], start=9.0)
    assert kinds(history, ill=True) == set()
    assert "capped" in kinds(history)


def test_a_guard_that_binds_is_named():
    raws = [9.0, 4500.0, 4500.0]  # L_b / (2 gamma)
    found = [f for f in examine(course("v12-gamma", raws, [1.0, 0.6, 0.3])).findings if f.kind == "capped"]
    assert "inverse-variance" in found[0].text
    assert not examine(course("v12-gamma", raws, [1.0, 0.6, 0.3], dimension=512)).ill


def test_above_the_sgd_limit_is_unstable():
    limit = 1.9 * 3 * 8 / 0.05
    (finding,) = [f for f in examine(course("v7-constant", [limit * 1.1] * 2)).findings if f.kind == "unstable"]
    assert finding.ill
    assert finding.evidence["limit"] == pytest.approx(limit)
    assert "unstable" not in kinds(course("v7-constant", [limit * 0.9] * 2))
    assert "unstable" not in kinds(course("v7-constant", [limit * 1.1] * 2, mean_squared=False))


def two_clients(norms, fused, alone, plain_mean=True):
    clients = [
        ClientHistory(
            k,
            f"client {k}",
            50,
            COUNTS,
            rounds=tuple(
                ClientRecord(k, r, 100, base_loss=9.0, accuracy=alone[r], prototype_norms=(n,) * 3)
                for r, n in enumerate(ns)
            ),
        )
        for k, ns in enumerate(norms)
    ]
    return case("v4", clients, dict(enumerate(fused)), Setting(plain_mean=plain_mean))


@pytest.mark.parametrize(
    ("norms", "fused", "alone", "kind", "ill"),
    [
        ([[5, 1], [5, 5]], [0.6, 0.3], [0.3, 0.4], "norm-domination", True),
        ([[5, 1], [5, 5]], [0.6, 0.5], [0.3, 0.4], "norm-domination", False),  # no collapse
        ([[5, 1], [5, 5]], [0.6, 0.3], [0.4, 0.2], "norm-domination", False),  # the clients fell too
        ([[5, 4], [5, 5]], [0.6, 0.3], [0.3, 0.4], None, False),  # norms alike
    ],
)
def test_norm_domination_is_ill_only_when_the_fusion_falls_and_the_clients_do_not(norms, fused, alone, kind, ill):
    found = [f for f in examine(two_clients(norms, fused, alone)).findings if f.kind == "norm-domination"]
    assert [f.kind for f in found] == ([kind] if kind else [])
    assert all(f.ill == ill for f in found)
    if found:
        assert found[0].evidence["shares"][0] == pytest.approx(1 / 6)
        assert found[0].remedy == "fusion=class-expert"


def test_a_norm_safe_fusion_cannot_be_dominated():
    history = two_clients([[5, 1], [5, 5]], [0.6, 0.3], [0.3, 0.4], plain_mean=False)
    assert "norm-domination" not in kinds(history)


@pytest.mark.parametrize(
    ("samples", "rounds", "ill"),
    [(0, (), False), (5, (), True), (5, (ClientRecord(0, 0, 3, base_loss=9.0),), False)],
)
def test_starved_clients_are_found(samples, rounds, ill):
    client = ClientHistory(0, "client 0", samples, (samples, 0, 0), rounds=rounds)
    history = case("v4", [client], {}, Setting())
    (finding,) = [f for f in examine(history).findings if f.kind == "starved"]
    assert finding.ill is ill


def test_classes_that_were_never_seen_are_a_note():
    client = ClientHistory(0, "client 0", 5, (5, 0, 0), rounds=(ClientRecord(0, 0, 300, base_loss=9.0),))
    history = case("v4", [client], {}, Setting())
    (finding,) = [f for f in examine(history).findings if f.kind == "never-seen"]
    assert finding.evidence == {"untrained": 2, "prototypes": 3}
    assert not finding.ill


def test_the_floor_of_supcon_by_hand():
    """One class, a batch of 32, two views: 63 positives for every sample."""
    assert smallest_supcon((100,), 32, 2) == pytest.approx(4.1431, abs=1e-4)
    assert smallest_supcon((50, 50), 32, 2) == pytest.approx(3.4340, abs=1e-4)


def test_methods_in_logs_are_told_apart_by_content_and_not_by_label(tmp_path):
    path = tmp_path / "several.log"
    path.write_text(log_of("OneshotOursV12", v11_rounds()) + "\n" + log_of("OneshotOursV10", v10_rounds()))
    v11, v10 = read_log(path)
    assert (v11.method, v10.method) == ("v11-linear", "v10")
    assert any("calls itself OneshotOursV12" in remark for remark in v11.record.remarks)
    assert not any("calls itself" in remark for remark in v10.record.remarks)
    assert v11.record.fused == {0: 0.30, 1: 0.31, 2: 0.32, 3: 0.33}
    assert "cancelled" in kinds(v11)
    assert v10.record.clients[0].rounds[0].base_loss == pytest.approx(9.0)


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
    examine(history)


def test_a_file_that_is_no_log_is_refused(tmp_path):
    (tmp_path / "x.log").write_text("hello\n")
    with pytest.raises(StoreError, match="holds no round of the published code"):
        read_log(tmp_path / "x.log")
    with pytest.raises(StoreError, match="cannot be read"):
        read_log(tmp_path / "none.log")


def test_a_failed_client_is_told_as_such():
    client = ClientHistory(2, "client 2", 50, COUNTS, failure="client 2: supcon is nan in round 0, step 3")
    (finding,) = [f for f in examine(case("v4", [client], {}, Setting())).findings if f.ill]
    assert finding.kind == "failed"
    assert "supcon is nan" in finding.text


def test_the_remedy_for_lagging_makes_sigma_quick_enough():
    from mooring.weighting.equilibrium import relaxation_steps

    history = course("v10-remedied", [1.0, 1.1, 1.2], steps=100)
    (finding,) = [f for f in examine(history).findings if f.kind == "lagging"]
    rate = float(finding.remedy.split()[0].removeprefix("sigma.lr="))
    assert finding.remedy.endswith("sigma.lr_scale=1")
    assert relaxation_steps(rate, 0.9) < 300 / 5


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
