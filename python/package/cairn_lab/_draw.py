"""One line to a drawing, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow

from ._errors import MissingPackageError, UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Columns of estimates that are not varied.
_FOUND = {"case", "valid repeats", "drawn orders", "mean", "deviation", "low", "high"}


def _plot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        words = "drawing needs matplotlib: pip install matplotlib"
        raise MissingPackageError(f"{words}; the report's own figures (`run.figure`) need nothing") from error
    return pyplot


def _column(names: list[str], wanted: str) -> str:
    """The column of that name, with or without its unit."""
    found = [name for name in names if name == wanted or name.rsplit(" (", 1)[0] == wanted]
    if len(found) == 1:
        return found[0]
    known = ", ".join(names) if names else "nothing: this run has one case; see `Experiment.sweep`"
    raise UnknownNameError(f"`{wanted}` was not varied; there is {known}")


def draw(
    rows: pyarrow.Table, y: str, unit: str, x: str | None, ax: Axes | None, style: dict[str, Any]
) -> Axes:
    """What `Run.draw` does with the estimates of the measure `y`, which is in that unit."""
    pyplot = _plot()
    varied = [name for name in rows.column_names if name not in _FOUND]
    over = "case" if x is None else _column(varied, x)
    others = [] if x is None else [name for name in varied if name != over]
    if ax is None:
        _, ax = pyplot.subplots(layout="constrained")
    for values in _groups(rows, others):
        line = _only(rows, others, values)
        label = ", ".join(map(_value, others, values)) or None
        _line(ax, line, over, label, style)
    ax.set_xlabel(over)
    ax.set_ylabel(f"{y} ({unit})" if unit else y)
    if pyarrow.types.is_floating(rows.schema.field("mean").type) and _is_from_zero(rows):
        ax.set_ylim(bottom=0)
    if others:
        ax.legend(frameon=False)
    ax.grid(alpha=0.3)
    if x is None and rows.num_rows > 4:
        ax.tick_params(axis="x", rotation=45)
    return ax


def _value(name: str, value: Any) -> str:
    """What was varied and to what, as a case's name has it: `rate 10 Mbit/s`."""
    name, _, unit = name.removesuffix(")").partition(" (")
    shown = f"{value:g}" if isinstance(value, float) else str(value)
    return " ".join(filter(None, (name, shown, unit)))


def _groups(rows: pyarrow.Table, others: list[str]) -> list[tuple]:
    """Each combination of what else was varied, in its order."""
    lists = [rows.column(name).to_pylist() for name in others]
    return list(dict.fromkeys(zip(*lists))) if lists else [()]


def _only(rows: pyarrow.Table, others: list[str], values: tuple) -> pyarrow.Table:
    lists = [rows.column(name).to_pylist() for name in others]
    if not lists:
        return rows
    return rows.filter(pyarrow.array([found == values for found in zip(*lists)]))


def _line(ax: Axes, rows: pyarrow.Table, over: str, label: str | None, style: dict[str, Any]) -> None:
    is_number = pyarrow.types.is_floating(rows.schema.field(over).type)
    if is_number:
        rows = rows.sort_by(over)
    points = rows.select([over, "mean", "low", "high"]).to_pylist()
    points = [point for point in points if point["mean"] is not None]
    middle = [point["mean"] for point in points]
    below = [0 if point["low"] is None else point["mean"] - point["low"] for point in points]
    above = [0 if point["high"] is None else point["high"] - point["mean"] for point in points]
    # Cases without an order are points without a line between them.
    look = {"marker": "o", "capsize": 3, "linestyle": "-" if is_number else "none"} | style
    ax.errorbar([point[over] for point in points], middle, yerr=[below, above], label=label, **look)


def _is_from_zero(rows: pyarrow.Table) -> bool:
    """Is nothing drawn below zero, and the range not much smaller than the numbers?"""
    found = rows.column("mean").to_pylist() + rows.column("low").to_pylist()
    known = [value for value in found if value is not None]
    return bool(known) and min(known) >= 0 and min(known) < 0.8 * max(known)
