"""What a run found: verdicts, figures and their tables."""

from __future__ import annotations

import os
from difflib import get_close_matches
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow
import pyarrow.parquet
from pyarrow import csv

from . import _native
from ._errors import UnknownNameError


class Verdict(NamedTuple):
    """A statement and what came of it."""

    #: The case it was judged in.
    case: str
    #: What was expected, in a sentence.
    say: str
    #: What the paper says.
    paper: str | None
    #: The number that it is about.
    measure: str
    #: What was measured, with its unit and how well it is known.
    measured: str
    #: What it had to be.
    bound: str
    #: `confirmed`, `contradicted`, `by construction` or `not testable here`; see docs/lab.md.
    verdict: str
    #: Where it hangs on the order of what happens at one instant, of what that is: `of most orders`, or `on
    #: the mean of the orders`.
    of: str | None
    #: How many drawn orders the number is of, where it hangs on them or may do so.
    drawn_orders: int | None
    #: Its controls and what they came to, or why it has none.
    control: str
    #: The reason, where there is one.
    why: str
    #: Is it confirmed, or so by construction?
    good: bool
    #: The mean over valid repeats, in `unit`.
    mean: float | None
    #: The lower end of its 95 % confidence interval.
    low: float | None
    #: The upper end.
    high: float | None
    #: The unit of these numbers.
    unit: str

    def __str__(self) -> str:
        case = f" [{self.case}]" if self.case else ""
        why = f" ({self.why})" if self.why else ""
        of = f" {self.of}" if self.of else ""
        return f"{self.verdict}{of}: {self.say}{case}: {self.measure} = {self.measured}, {self.bound}{why}"


class Verdicts(list):
    """Verdicts; a notebook shows them as a table."""

    def __repr__(self) -> str:
        return "\n".join(str(verdict) for verdict in self) or "nothing was expected"

    def _repr_html_(self) -> str:
        rows = []
        for verdict in self:
            case = f" [{verdict.case}]" if verdict.case else ""
            cells = [verdict.verdict, verdict.say + case, verdict.measured, verdict.bound, verdict.why]
            rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
        titles = ["", "expected", "measured", "must be", "why"]
        head = "".join(f"<th>{title}</th>" for title in titles)
        return f"<table><tr>{head}</tr>{''.join(rows)}</table>"


class Figure:
    """A figure of the report. A notebook shows it."""

    def __init__(self, native: _native.NativeFigure) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """The name of its files in the run's folder."""
        return self._native.name

    @property
    def caption(self) -> str:
        """What is said of it."""
        return self._native.caption

    @property
    def svg(self) -> str:
        """The figure as SVG."""
        return self._native.svg

    def table(self) -> pyarrow.Table | None:
        """The numbers behind it; nothing where there are none, such as behind a map."""
        parquet = self._native.parquet
        return None if parquet is None else read_table(parquet)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes it as SVG or PDF, or its numbers as CSV or Parquet, whichever the path ends with."""
        path = Path(path)
        ending = path.suffix.lower()
        if ending == ".svg":
            path.write_text(self.svg, encoding="utf-8")
        elif ending == ".pdf":
            path.write_bytes(self._native.pdf)
        elif ending in (".csv", ".parquet"):
            table = self.table()
            if table is None:
                raise ValueError(f"there are no numbers behind the figure {self.name}")
            if ending == ".parquet":
                pyarrow.parquet.write_table(table, path)
            else:
                csv.write_csv(table, path)
        else:
            raise ValueError(f"{path.name}: write .svg, .pdf, .csv or .parquet")
        return path

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Figure {self.name!r}: {self.caption}>"


def read_table(parquet: bytes) -> pyarrow.Table:
    """A table from the bytes of a Parquet file."""
    return pyarrow.parquet.read_table(pyarrow.BufferReader(parquet))


def unknown_name(what: str, given: str, known: Any) -> UnknownNameError:
    """The error for a name that does not exist, with the nearest of those that do."""
    near = get_close_matches(given, list(known), n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
    return UnknownNameError(f"there is no {what} called `{given}`; {hint}")
