"""What a person sees while a run goes on: a line in a terminal, and one below the cell of a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple


class Progress(NamedTuple):
    """Something that happened in a run."""

    #: `folder`, `repeat`, `count`, `step`, `sample`, `note` or `invalid`.
    kind: str
    #: The folder, the case, the step, the node, or a sentence.
    text: str
    #: Repeats that are done; of a sample, seconds since the start of its repeat.
    done: float
    #: Repeats in all; 0 where that is not what it is about.
    all: float


#: More often a line does not change.
_EVERY = 0.1

_Listener = Callable[[str, str, float, float], object]


class _Line:
    """Shows one line that is replaced, and others that stay."""

    def __init__(self, put: Callable[[str], object], keep: Callable[[str], object]) -> None:
        self._put, self._keep = put, keep
        self._shown = 0.0
        self._count = ""

    def __call__(self, kind: str, text: str, done: float, total: float) -> None:
        if kind in ("note", "invalid"):
            told = text if kind == "note" else f"NOT VALID, and not used in means: {text}"
            # The hash over all packets is for who compares runs: it stands in the folder.
            if not told.startswith("trace hash"):
                self._keep(told)
            return
        if kind in ("repeat", "count"):
            self._count = f"{done:.0f} of {total:.0f} repeats"
            words = f"{self._count}, {text}" if text else self._count
        elif kind == "step":
            words = f"{self._count}: {text}"
        elif kind == "sample":
            words = f"{self._count}: {done:.0f} s"
        else:
            return
        now = time.monotonic()
        if now - self._shown >= _EVERY:
            self._shown = now
            self._put(words)

    def end(self) -> None:
        self._put("")


def _terminal() -> _Line:
    def put(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text[:79]}")
        sys.stderr.flush()

    def keep(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}\n")
        sys.stderr.flush()

    return _Line(put, keep)


def _notebook() -> _Line | None:
    """A line below the cell, where this is a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if shell is None or not getattr(shell, "kernel", None):
        return None
    from IPython.display import display

    handle: list[Any] = []

    def put(text: str) -> None:
        shown = {"text/plain": text}
        if handle:
            handle[0].update(shown, raw=True)
        elif text:
            handle.append(display(shown, raw=True, display_id=True))

    return _Line(put, lambda text: print(text, file=sys.stderr))


def listener(progress: bool | Callable[[Progress], object] | None) -> tuple[_Listener | None, Callable]:
    """Who is told of a run, and what to call at its end.

    Without a wish a notebook and a terminal show a line, and everything else is silent.
    """
    if callable(progress):
        return (lambda kind, text, done, total: progress(Progress(kind, text, done, total))), lambda: None
    line = None
    if progress is not False:
        line = _notebook()
        if line is None and (progress or sys.stderr.isatty()):
            line = _terminal()
    return (line, line.end) if line else (None, lambda: None)
