"""What writes pages of the documentation reads runs as everybody does."""

import sys
from pathlib import Path

import pytest
from studies import bench

from mooring.record import RunFolder

DOCS = Path(__file__).parents[2] / "docs"


def test_the_bench_tells_a_runs_own_fusion_as_mooring_fuse_would(v12_run):
    result = RunFolder(v12_run).result
    [row] = bench.rows_of(v12_run).values()
    assert (row.fusion, row.accuracy, row.passes) == ("feature-ensemble", result.accuracy, result.last.passes)
    assert row.clients == tuple(client.client for client in result.last.clients)
    assert bench.upload_of(row) * len(row.clients) == result.upload_bytes
    assert bench.seconds_of(v12_run) == sum(row.seconds for fused in result.rounds for row in fused.clients)
    assert bench.rows_of(v12_run / "nowhere") == {}


def test_the_picture_of_a_method_card_is_its_run(v12_run, monkeypatch):
    pytest.importorskip("matplotlib", reason="pictures of the method cards: the extra report is not installed")
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    import make_methods

    result = RunFolder(v12_run).result
    felt, accuracy = make_methods.draw("v12", result).axes
    solid = [line for line in felt.lines if line.get_linestyle() == "-"]
    assert [line.get_ydata()[-1] for line in solid] == [client.lambda_felt for client in result.last.clients]
    assert [line.get_ydata()[-1] for line in accuracy.lines][-1] == result.accuracy
    assert make_methods.footer("v12", result).endswith(f"final fused accuracy {result.accuracy:.3f}")
