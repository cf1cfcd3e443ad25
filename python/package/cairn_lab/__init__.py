"""The laboratory of Cairn: experiments with named data networks.

    import cairn_lab as cairn

    experiment = cairn.load("experiments/quickstart.toml")
    run = experiment.run()
    run.verdicts
    run.table("results").to_pandas()
    run.figure("figure-1")

`docs/python.md` of the repository explains all of it.
"""

from ._errors import (
    Error,
    ExperimentError,
    InternalError,
    MissingPackageError,
    Problem,
    ReadError,
    RunError,
    UnknownNameError,
)
from ._experiment import (
    Experiment,
    Run,
    Statement,
    check,
    load,
    open,
    parse,
    reference,
    resume,
    template,
)
from ._native import VERSION as __version__
from ._progress import Progress
from ._results import Figure, Verdict, Verdicts

__all__ = [
    "Error",
    "Experiment",
    "ExperimentError",
    "Figure",
    "InternalError",
    "MissingPackageError",
    "Problem",
    "Progress",
    "ReadError",
    "Run",
    "RunError",
    "Statement",
    "UnknownNameError",
    "Verdict",
    "Verdicts",
    "__version__",
    "check",
    "load",
    "open",
    "parse",
    "reference",
    "resume",
    "template",
]
