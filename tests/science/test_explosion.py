"""The phenomena of the notes on the digits, over several seeds: minutes, so `make science` runs them."""

from pathlib import Path
from statistics import median

import pytest

from mooring import load, run_experiment
from mooring.doctor import examine, read_case

pytestmark = pytest.mark.slow
SEEDS = (1, 2, 3)


def result_of(folder: Path, method: str, seed: int):
    (experiment,) = load(overrides=[f"method={method}", f"seed={seed}", f"out={folder}"])
    return run_experiment(experiment)


@pytest.fixture(scope="module")
def v12(tmp_path_factory):
    root = tmp_path_factory.mktemp("v12")
    return {seed: (root / str(seed), result_of(root / str(seed), "v12", seed)) for seed in SEEDS}


def test_v12_explodes_in_every_seed(v12):
    for seed, (_, result) in v12.items():
        by_two_thirds = [row for row in result.rounds if row.round + 1 <= 2 / 3 * 10]
        largest = max(client.lambda_raw for row in by_two_thirds for client in row.clients)
        print(f"seed {seed}: largest raw lambda by two thirds {largest:.3g}")
        assert largest > 1e4


def test_and_the_published_fusion_collapses(v12):
    falls = []
    for seed, (_, result) in v12.items():
        accuracies = [row.accuracy for row in result.rounds]
        peak = max(accuracies)
        worst_later = min(accuracies[accuracies.index(peak) :])
        print(f"seed {seed}: peak {peak:.3f}, later {worst_later:.3f}")
        falls.append(1 - worst_later / peak)
    assert median(falls) >= 1 / 3


def test_the_doctor_dates_the_explosion(v12):
    for folder, result in v12.values():
        away = examine(read_case(folder)).finding("running-away")
        found = {shown.client: shown.round for shown in away.evidence}
        assert found
        for client, onset in found.items():
            raws = {row.round: row.clients[client].lambda_raw for row in result.rounds}
            assert abs(onset - min(r for r, raw in raws.items() if raw > 100)) <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_gamma_holds_exploded_clients_at_its_equilibrium(seed, tmp_path):
    result = result_of(tmp_path, "v12-gamma", seed)
    last = result.last.clients
    exploded = [c for c in last if max(row.clients[c.client].lambda_raw for row in result.rounds) > 1e3]
    assert exploded
    for client in exploded:
        print(f"seed {seed} client {client.client}: {client.lambda_felt:.4g} against {client.lambda_star:.4g}")
        assert client.lambda_felt == pytest.approx(client.lambda_star, rel=0.1)


@pytest.mark.parametrize("seed", range(1, 21))
@pytest.mark.parametrize(("method", "low", "high"), [("closed-form", 0, 50), ("hypergradient", 0.01, 50)])
def test_bounded_rules_stay_within_their_bounds(method, low, high, seed, tmp_path):
    result = result_of(tmp_path, method, seed)
    felt = [client.lambda_felt for row in result.rounds for client in row.clients]
    assert low * 0.999 <= min(felt) <= max(felt) <= high * 1.001
    assert not any(f.kind in ("running-away", "unstable") for f in examine(read_case(tmp_path)).findings)


@pytest.mark.parametrize("method", ["v11-linear", "v11-cosine"])
def test_the_doctor_finds_cancellation(method, tmp_path):
    result_of(tmp_path, method, 1)
    assert "cancelled" in {finding.kind for finding in examine(read_case(tmp_path)).findings}
