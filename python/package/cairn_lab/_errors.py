"""What can go wrong, by its kind. Whoever catches `Error` catches all of it."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """A mistake in an experiment."""

    #: The line in the file, from 1; 0 when it is about the file as a whole.
    line: int
    #: The key, such as `link.n1-n2.rate`.
    key: str
    #: What is wrong.
    message: str
    #: What to do, where somebody knows it.
    suggestion: str | None

    def __str__(self) -> str:
        place = f"line {self.line}: " if self.line else ""
        key = f"{self.key}: " if self.key else ""
        hint = f"\n    {self.suggestion}" if self.suggestion else ""
        return f"{place}{key}{self.message}{hint}"


class Error(Exception):
    """Something went wrong in the lab."""


class ExperimentError(Error):
    """An experiment has mistakes, or cannot run where it shall. All that were found are in `problems`."""

    def __init__(self, text: str, file: str, problems: list[tuple]) -> None:
        super().__init__(text)
        #: The file, as it was named.
        self.file = file
        #: Every mistake that was found, by line.
        self.problems = [Problem(*problem) for problem in problems]

    def __reduce__(self):
        return (ExperimentError, (str(self), self.file, [tuple(problem) for problem in self.problems]))


class RunError(Error):
    """A run ended before it was done. What it measured so far stays."""


class ReadError(Error):
    """A run's folder cannot be read."""


class UnknownNameError(Error, LookupError):
    """There is no table, figure, measure, case or node of that name."""


class MissingPackageError(Error, ImportError):
    """Something needs a package that is not installed."""


class InternalError(Error):
    """A mistake in Cairn itself."""
