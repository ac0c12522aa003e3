"""The notebook runs."""

import pathlib

import pytest


def test_the_notebook_runs():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    path = pathlib.Path(__file__).parent.parent / "notebooks" / "why_128_times.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any("image/svg+xml" in output.get("data", {}) for output in outputs), "the picture"
    assert any("508000" in str(output) for output in outputs), "the answer"
