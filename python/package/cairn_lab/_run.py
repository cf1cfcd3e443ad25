"""Runs: what they found, as tables and figures."""

from __future__ import annotations

import os
from difflib import get_close_matches
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow
import pyarrow.parquet
from pyarrow import csv

from . import _native
from ._errors import UnknownNameError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._experiment import Experiment

#: The tables of a whole run, with what a row of each is.
TABLES = {
    "results": "a number of a repeat; as `results.parquet`",
    "cases": "a case: what was varied, how many repeats are valid, and why others are not",
    "verdicts": "a statement, and what came of it",
}
#: Tables of a single repeat, with what they are of.
REPEAT_TABLES = {"log": "a node", "traffic": "a node", "transfers": "a download", "pings": "a ping"}


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
        return f"{self.verdict}: {self.say}{case}: {self.measure} = {self.measured}, {self.bound}{why}"


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
        return None if parquet is None else _table(parquet)

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


class Run:
    """A run and what it found."""

    def __init__(self, native: _native.NativeRun) -> None:
        self._native = native

    @property
    def folder(self) -> Path:
        """Where everything of it is; docs/lab.md says what."""
        return Path(self._native.folder)

    @property
    def report(self) -> Path:
        """The report as a page."""
        return Path(self._native.report)

    @property
    def record(self) -> dict[str, Any]:
        """What was noted of it: backend, seed, repeats, command, program, and whether it is complete."""
        return self._native.record

    @property
    def experiment(self) -> Experiment:
        """The experiment, as it was run."""
        from ._experiment import load

        return load(self._native.experiment_file)

    @property
    def cases(self) -> list[str]:
        """The names of its cases, without controls; one empty name where there is only one."""
        return self._native.cases

    @property
    def measures(self) -> list[str]:
        """Everything that was measured, such as `files.goodput`."""
        return self._native.measures

    @property
    def conclusion(self) -> str:
        """`as expected`, `contradicted`, `not testable here`, `no valid run` or `not complete`."""
        return self._native.conclusion

    @property
    def verdicts(self) -> Verdicts:
        """Each statement and what came of it."""
        return Verdicts(Verdict(**verdict) for verdict in self._native.verdicts)

    def table(self, name: str = "results") -> pyarrow.Table:
        """A table of the whole run: `results`, `cases` or `verdicts`.

        `.to_pandas()` makes a data frame of it.
        The columns of what was varied have its unit in their names and are numbers where all values are.
        """
        parquet = self._native.table(name)
        if parquet is None:
            raise _unknown("table", name, TABLES)
        return _table(parquet)

    def estimates(self, measure: str) -> pyarrow.Table:
        """A row for each case: what was varied, and mean, deviation and the 95 % interval of a measure.

        A measure is written as in statements: `files.goodput`, `n2.pending.max`. Only valid repeats count.
        """
        return _table(self._native.estimates(measure))

    def repeat(self, kind: str, of: str, *, case: str | None = None, repeat: int = 1) -> pyarrow.Table:
        """A table of one repeat, which counts from 1, over time.

        `log` and `traffic` are of a node: what its forwarder counted, and its watched link by the second.
        `transfers` is of a download, `pings` of a ping. Without a case it is the first one.
        """
        cases = self.cases
        if case is not None and case not in cases:
            raise _unknown("case", case, cases)
        if kind not in REPEAT_TABLES:
            raise _unknown("table of a repeat", kind, REPEAT_TABLES)
        parquet = self._native.repeat_table(cases.index(case) if case else 0, repeat, kind, of)
        if parquet is None:
            names = self._native.nodes if REPEAT_TABLES[kind] == "a node" else self._subjects()
            raise _unknown(REPEAT_TABLES[kind].removeprefix("a "), of, names)
        return _table(parquet)

    @property
    def figures(self) -> list[str]:
        """The names of the report's figures, in their order."""
        return self._native.figures()

    def figure(self, name: str) -> Figure:
        """A figure of the report, by its name or by words of it where these are of one figure only."""
        names = self.figures
        if name not in names:
            near = [other for other in names if name in other]
            if len(near) != 1:
                raise _unknown("figure", name, near or names)
            (name,) = near
        native = self._native.figure(name)
        assert native is not None, "it was among the names"
        return Figure(native)

    def draw(self, y: str, x: str | None = None, *, ax: Axes | None = None, **style: Any) -> Axes:
        """Draws a measure over what was varied, with its 95 % interval, by matplotlib; gives the axes.

        `run.draw("files.goodput", x="rate")`: `x` is a column of `estimates`, its unit left away or not, or
        the case if nothing is said. Whatever else was varied becomes a line for each of its values. `style`
        goes to `Axes.errorbar`.
        """
        from ._draw import draw

        return draw(self, y, x, ax, style)

    def _subjects(self) -> list[str]:
        nodes = self._native.nodes
        subjects = dict.fromkeys(name.rsplit(".", 1)[0] for name in self.measures)
        return [subject for subject in subjects if subject not in nodes]

    def __repr__(self) -> str:
        record = self.record
        return f"<Run {self.folder.name!r}: {record['title']}; {self.conclusion}>"

    def _repr_html_(self) -> str:
        record = self.record
        facts = f"{record['backend']}, seed {record['seed']}, {len(self.cases)} × {record['repeats']} repeats"
        head = f"<b>{escape(record['title'])}</b>: {escape(self.conclusion)}<br>{escape(facts)}"
        return f"{head}<br><code>{escape(str(self.folder))}</code>{self.verdicts._repr_html_()}"


def _table(parquet: bytes) -> pyarrow.Table:
    return pyarrow.parquet.read_table(pyarrow.BufferReader(parquet))


def _unknown(what: str, given: str, known: Any) -> UnknownNameError:
    near = get_close_matches(given, list(known), n=1)
    hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(known)}"
    return UnknownNameError(f"there is no {what} called `{given}`; {hint}")


def open(folder: str | os.PathLike[str]) -> Run:
    """Reads the folder of a run, wherever and with whatever it was made."""
    return Run(_native.open(Path(folder)))
