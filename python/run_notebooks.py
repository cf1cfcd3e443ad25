"""Runs every notebook of a folder from top to bottom, each in a folder of its own, and says how long it took.

A cell that raises ends it with the error. Notebooks are kept without what they print.
"""

import os
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

#: A notebook that takes longer teaches waiting.
SECONDS = 60


def run(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    kept = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.outputs]
    if kept:
        raise SystemExit(f"{path}: {len(kept)} cells have outputs; clear them before it is committed")
    folder = Path.cwd() / path.stem
    folder.mkdir()
    begin = time.monotonic()
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(folder)}}).execute()
    seconds = time.monotonic() - begin
    shown = {kind for cell in notebook.cells for kind in kinds(cell)}
    if not shown & {"image/svg+xml", "image/png"}:
        raise SystemExit(f"{path}: nothing was drawn")
    nbformat.write(notebook, folder / path.name)
    print(f"{path.name}: {len(notebook.cells)} cells in {seconds:.1f} s")
    if seconds > SECONDS:
        raise SystemExit(f"{path}: it may take {SECONDS} s")


def kinds(cell) -> list[str]:
    """What kinds of things a cell has shown."""
    return [kind for output in cell.get("outputs", []) for kind in output.get("data", {})]


def main() -> None:
    # Pictures go into the notebook, whatever else is said of where they go.
    os.environ.pop("MPLBACKEND", None)
    notebooks = sorted(Path(sys.argv[1]).glob("*.ipynb"))
    if not notebooks:
        raise SystemExit(f"no notebook in {sys.argv[1]}")
    for path in notebooks:
        run(path)


if __name__ == "__main__":
    main()
