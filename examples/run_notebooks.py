"""Run the notebooks of this folder and write their outputs: `python examples/run_notebooks.py`.

Each runs in an empty folder. Times and paths that differ between machines are not printed by the cells.
"""

import os
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def executed(path: Path) -> nbformat.NotebookNode:
    """The notebook with fresh outputs; an error in a cell is raised."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": folder}})
        client.execute(env=dict(os.environ))
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # when it ran
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return notebook


if __name__ == "__main__":
    for path in sorted(HERE.glob("*.ipynb")):
        nbformat.write(executed(path), path)
        print(path.name)
