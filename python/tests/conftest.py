"""What tests share: experiments that take parts of a second, and folders for their runs."""

import os
from pathlib import Path

import pytest

import cairn_lab as cairn

#: Five files over one lossy link: repeats differ, and each takes some milliseconds.
TEXT = """
title = "One link"
duration = "20 s"
repeats = 3

[node]
a = {}
b = {}

[link]
a-b = { rate = "10 Mbit/s", delay = "5 ms", loss = "1 %" }

[[route]]
prefix = "/f"
path = ["a", "b"]

[content.small]
prefix = "/f"
at = "b"
size = "100 kB"
count = 5

[download.files]
at = "a"
content = "small"
rate = "1/s"

[ping.probe]
at = "a"
to = "b"
prefix = "/f/ping"
count = 5

[[expect]]
say = "Files arrive"
value = "files.goodput"
at_least = 30_000

[[expect]]
name = "fast"
say = "A file takes less than half a second"
value = "files.duration"
at_most = 0.5

[[expect]]
say = "A file takes less than a hundredth of a second"
value = "files.duration"
at_most = 0.01

[[control]]
name = "a slow link"
removes = "the rate"
set = { "link.a-b.rate" = "1 Mbit/s" }
fails = ["fast"]
"""


@pytest.fixture(scope="session")
def repository() -> Path:
    return Path(os.environ["CAIRN_REPOSITORY"])


@pytest.fixture(scope="session")
def command() -> str:
    """The command `cairn`, built from the same sources."""
    return os.environ["CAIRN"]


@pytest.fixture
def small() -> cairn.Experiment:
    return cairn.parse(TEXT, "small")


@pytest.fixture(scope="session")
def done(tmp_path_factory: pytest.TempPathFactory) -> cairn.Run:
    """A run of it, for who only reads."""
    return cairn.parse(TEXT, "small").run(into=tmp_path_factory.mktemp("runs"))


@pytest.fixture(scope="session")
def swept(tmp_path_factory: pytest.TempPathFactory) -> cairn.Run:
    """A sweep of it over two keys."""
    keys = {"link.*.rate": ["5 Mbit/s", "10 Mbit/s", "20 Mbit/s"], "link.*.loss": ["0 %", "2 %"]}
    experiment = cairn.parse(TEXT, "small").sweep(keys)
    return experiment.run(into=tmp_path_factory.mktemp("runs"), controls=False)
