"""Experiments and their runs: each leads to the other."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow

from . import _native
from ._draw import draw
from ._errors import ExperimentError, Problem, RunError
from ._progress import Progress, listener
from ._results import Figure, Verdict, Verdicts, read_table, unknown_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Progress = bool | Callable[[Progress], object] | None

#: The tables of a whole run, with what a row of each is.
TABLES = {
    "results": "a number of a repeat; as `results.parquet`",
    "controls": "a number of a control's repeat; as `controls.parquet`",
    "cases": "a case: what was varied, how many repeats are valid, and why others are not",
    "verdicts": "a statement, and what came of it",
}
#: Tables of a single repeat, with what they are of.
REPEAT_TABLES = {"log": "a node", "traffic": "a node", "transfers": "a download", "pings": "a ping"}


class Statement(NamedTuple):
    """Something that an experiment expects."""

    #: The name that controls call it by.
    name: str | None
    #: In a sentence.
    say: str
    #: The number that it is about, such as `files.goodput`.
    measure: str
    #: What the paper says.
    paper: str | None
    #: Why the setting leaves nothing else, where that is so.
    by_construction: str | None
    #: The backends that it is stated for; none means all.
    on: list[str]


class Experiment:
    """An experiment that has passed every check. It never changes: `sweep` gives another one."""

    def __init__(self, native: _native.NativeExperiment) -> None:
        self._native = native

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self._native.name

    @property
    def title(self) -> str:
        """Its title."""
        return self._native.title

    @property
    def about(self) -> str | None:
        """What it is about."""
        return self._native.about

    @property
    def text(self) -> str:
        """The whole file."""
        return self._native.text

    @property
    def repeats(self) -> int:
        """How often each case is measured."""
        return self._native.repeats

    @property
    def seed(self) -> int:
        """The seed of the first repeat; each other has the one that follows."""
        return self._native.seed

    @property
    def statements(self) -> list[Statement]:
        """What it expects."""
        return [Statement(**statement) for statement in self._native.statements]

    def cases(self, on: str = "sim") -> list[str]:
        """The names of its cases on a backend; one empty name where there is only one."""
        return self._native.cases(on)

    def check(self, on: str = "sim") -> list[Problem]:
        """What a backend lacks to carry it out; nothing when it can.

        Mistakes in the file were told when it was loaded.
        """
        return [Problem(*problem) for problem in self._native.lacks(on)]

    def sweep(self, values: Mapping[str, Iterable[Any]]) -> Experiment:
        """The same, with a case for each value of a key; several keys multiply.

        `experiment.sweep({"link.*.rate": ["10 Mbit/s", "20 Mbit/s"]})` is what `cairn lab sweep` runs.
        Nothing is run here. A key that does not exist raises `ExperimentError`.
        """
        for key, list_of_key in values.items():
            if isinstance(list_of_key, (str, bytes)):
                raise TypeError(f"the values of `{key}` are a list, such as [{list_of_key!r}]")
        return Experiment(self._native.swept({key: list(of_key) for key, of_key in values.items()}))

    def run(
        self,
        on: str = "sim",
        *,
        into: str | os.PathLike[str] = "runs",
        out: str | os.PathLike[str] | None = None,
        seed: int | None = None,
        repeats: int | None = None,
        only: str | None = None,
        controls: bool = True,
        workers: int | None = None,
        hosts: str | os.PathLike[str] | None = None,
        progress: _Progress = None,
    ) -> Run:
        """Runs it and gives what it found. The folder has all that `cairn lab run` leaves, as its report.

        `on` is `sim` for virtual time, `netns` for real forwarders in network namespaces, `hosts` for
        machines named in the file `hosts`. The run's folder is a new one below `into`, or `out` itself.
        `seed` and `repeats` take the place of the experiment's. `only` leaves cases out whose name does not
        hold it, `controls=False` the runs that must fail. `workers` repeats go on at a time in virtual time;
        what they find does not depend on it.

        Ctrl-C ends a run, and `resume` goes on with it. `progress` is a function that is told of each
        `Progress`, or `False` for silence.
        """
        if self._native.is_study:
            shown = f"cairn sim run {self.name}.toml"
            raise RunError(f"{self.name}: a study has tables of its own, which are not here; use `{shown}`")
        _within("repeats", repeats, 1, 2**32 - 1)
        _within("workers", workers, 1, 2**16)
        # As far as the numbers of an experiment file go.
        _within("seed", seed, 0, 2**63 - 1)
        asked = {
            "on": on,
            "into": Path(into),
            "out": None if out is None else Path(out),
            "seed": seed,
            "repeats": repeats,
            "only": only,
            "controls": controls,
            "workers": workers,
            "hosts": None if hosts is None else Path(hosts),
            "program": _program(on),
        }
        told, end = listener(progress)
        try:
            return Run(_native.run(self._native, asked, told))
        finally:
            end()

    def __repr__(self) -> str:
        return f"<Experiment {self.name!r}: {self.title}>"

    def _repr_html_(self) -> str:
        statements = "".join(f"<li>{escape(statement.say)}</li>" for statement in self.statements)
        about = f"<p>{escape(self.about)}</p>" if self.about else ""
        return f"<b>{escape(self.title)}</b>{about}<ul>{statements}</ul>"


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
            raise unknown_name("table", name, TABLES)
        return read_table(parquet)

    def estimates(self, measure: str) -> pyarrow.Table:
        """A row for each case: what was varied, and mean, deviation and the 95 % interval of a measure.

        A measure is written as in statements: `files.goodput`, `n2.pending.max`. Only valid repeats count.
        """
        return read_table(self._native.estimates(measure))

    def repeat(self, kind: str, of: str, *, case: str | None = None, repeat: int = 1) -> pyarrow.Table:
        """A table of one repeat, which counts from 1, over time.

        `log` and `traffic` are of a node: what its forwarder counted, and its watched link by the second.
        `transfers` is of a download, `pings` of a ping. Without a case it is the first one.
        """
        cases = self.cases
        if case is not None and case not in cases:
            raise unknown_name("case", case, cases)
        if kind not in REPEAT_TABLES:
            raise unknown_name("table of a repeat", kind, REPEAT_TABLES)
        parquet = self._native.repeat_table(cases.index(case) if case else 0, repeat, kind, of)
        if parquet is None:
            names = self._native.nodes if REPEAT_TABLES[kind] == "a node" else self._subjects()
            raise unknown_name(REPEAT_TABLES[kind].removeprefix("a "), of, names)
        return read_table(parquet)

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
                raise unknown_name("figure", name, near or names)
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
        return draw(self.estimates(y), y, self._native.unit(y), x, ax, style)

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


def _within(name: str, number: int | None, low: int, high: int) -> None:
    if number is not None and not low <= number <= high:
        raise ValueError(f"`{name}` is a whole number from {low} to {high}, and not {number}")


def _program(on: str) -> Path:
    """The program that is noted in a run: this extension in virtual time, and else the command `cairn`."""
    if on == "sim":
        return Path(_native.__file__)
    found = os.environ.get("CAIRN") or shutil.which("cairn")
    if found is None:
        raise RunError(
            f"--on {on} starts the command `cairn`, which is not in PATH: `make build` makes it; "
            "the environment variable CAIRN can name it"
        )
    return Path(found)


def load(path: str | os.PathLike[str]) -> Experiment:
    """Reads an experiment file. Mistakes raise `ExperimentError`, with line and what to do."""
    return Experiment(_native.read(Path(path)))


def parse(text: str, name: str = "experiment", folder: str | os.PathLike[str] | None = None) -> Experiment:
    """Reads an experiment from a text. Files that it names are looked for in `folder`."""
    return Experiment(_native.parse(text, name, None if folder is None else Path(folder)))


def check(path: str | os.PathLike[str]) -> list[Problem]:
    """The mistakes in an experiment file; none when it is sound. As `cairn lab check`."""
    try:
        load(path)
    except ExperimentError as error:
        return error.problems
    return []


def template(title: str = "A first experiment") -> str:
    """The text of a small experiment to begin with, as `cairn lab new` writes it."""
    return _native.template(title)


def reference() -> str:
    """Every key of an experiment file, as Markdown."""
    return _native.reference()


def resume(folder: str | os.PathLike[str], *, progress: _Progress = None) -> Run:
    """Goes on with a run that was interrupted, and gives what it found."""
    on = _backend(Path(folder))
    told, end = listener(progress)
    try:
        return Run(_native.resume(Path(folder), _program(on), told))
    finally:
        end()


def open(folder: str | os.PathLike[str]) -> Run:
    """Reads the folder of a run, wherever and with whatever it was made."""
    return Run(_native.open(Path(folder)))


def _backend(folder: Path) -> str:
    """The backend of a run. What is wrong with its folder is told by who goes on with it."""
    try:
        return json.loads((folder / "run.json").read_text(encoding="utf-8"))["backend"]
    except (OSError, ValueError, KeyError):
        return "sim"
