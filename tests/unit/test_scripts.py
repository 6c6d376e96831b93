"""What writes pages of the documentation reads runs as everybody does."""

import ast
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from bench_tables import runs as bench
from bench_tables.page import PAGE, TABLES, TEXT, tables_of
from mooring.notes._study_record import PrintedTable, read_study
from mooring.record import RunFolder

DOCS = Path(__file__).parents[2] / "docs"


SCRIPTS = [file for room in ("studies", "docs", "benchmarks") for file in sorted((DOCS.parent / room).rglob("*.py"))]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_every_name_that_a_script_takes_from_the_package_is_there(script):
    """Scripts run for hours and are not run by the suite: a moved module must not break them unseen."""
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "mooring":
            module = import_module(str(node.module))
            missing = [name.name for name in node.names if not hasattr(module, name.name)]
            assert missing == [], node.module


def test_the_bench_tells_a_runs_own_fusion_as_mooring_fuse_would(v12_run):
    result = RunFolder(v12_run).result
    [row] = bench.rows_of(v12_run).values()
    assert (row.fusion, row.accuracy, row.passes) == ("feature-ensemble", result.accuracy, result.last.passes)
    assert row.clients == tuple(client.client for client in result.last.clients)
    assert bench.upload_of(row) * len(row.clients) == result.upload_bytes
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


def test_the_picture_of_the_explosion_is_every_seed_of_its_study(study_folder, monkeypatch):
    pytest.importorskip("matplotlib", reason="the picture of the explosion: the extra report is not installed")
    monkeypatch.setattr(sys, "path", [str(DOCS), *sys.path])
    import make_explosion

    columns = (
        "round",
        "accuracy",
        "raw lambda, client 0",
        "raw lambda, client 1",
        "accuracy, client 1",
        "prototype norm, client 0",
    )
    rows = ((0, 0.5, 9.0, 12.0, 0.2, 8.0), (1, None, 1e5, 13.0, None, 2.0), (2, 0.25, 1e6, 14.0, 0.3, 1.0))
    courses = tuple(PrintedTable("t", columns, rows, (seed,), name=f"V12 every round seed {seed}") for seed in (1, 2))
    study = replace(read_study(study_folder), courses=courses)
    first, second, norms, _, fused, _ = make_explosion.draw(study).axes
    assert (first.get_title(), second.get_title(), first.get_yscale()) == ("seed 1", "seed 2", "log")
    assert [list(line.get_ydata()) for line in first.lines] == [[9.0, 1e5, 1e6], [12.0, 13.0, 14.0]]
    assert [list(line.get_ydata()) for line in norms.lines] == [[8.0, 2.0, 1.0], []]
    assert [list(line.get_xdata()) for line in fused.lines] == [[], [0, 2], [], [0, 2]]
    assert "n = 2, seeds 1, 2" in make_explosion.footer(study)


def test_the_benchmark_page_is_its_text_with_its_tables():
    """A sentence that stands on the page alone would be lost when the page is written again."""
    tables = tables_of(PAGE.read_text("utf-8"))
    assert tables.keys() == TABLES.keys()
    page = TEXT.read_text("utf-8")
    for name, table in tables.items():
        page = page.replace(f"@{name}@", f"<!-- {name} -->\n\n{table}\n\n<!-- end -->")
    assert page == PAGE.read_text("utf-8"), "change studies/bench.md, then run: python studies/bench.py write"
