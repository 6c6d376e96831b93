"""The examples run as they are; the notebooks have outputs that a reader sees without running them."""

import runpy
from pathlib import Path

import nbformat
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SCRIPTS = [path for path in sorted(EXAMPLES.glob("*.py")) if path.name != "run_notebooks.py"]
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
PAGE = (EXAMPLES / "README.md").read_text("utf-8")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_every_script_runs_in_an_empty_folder(script, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.filterwarnings("ignore")  # of the kernel, which is not ours
@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_runs_from_top_to_bottom(notebook):
    executed = runpy.run_path(str(EXAMPLES / "run_notebooks.py"))["executed"]
    fresh = [cell for cell in executed(notebook).cells if cell.cell_type == "code"]
    assert fresh[-1].outputs


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_is_committed_with_its_outputs_and_no_error(notebook):
    cells = [cell for cell in nbformat.read(notebook, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert any("text/html" in output.get("data", {}) for cell in cells for output in cell.outputs)
    assert not any(output.output_type in ("error", "stream") and output.get("name") == "stderr"
                   for cell in cells for output in cell.outputs)  # fmt: skip


def test_the_page_names_every_example():
    assert all(path.name in PAGE for path in [*SCRIPTS, *NOTEBOOKS])
