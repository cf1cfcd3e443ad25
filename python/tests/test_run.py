"""Running gives what the command gives, and can be watched, interrupted and gone on with."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow.parquet
import pytest

import cairn_lab as cairn

# Who starts tests in the background has told them, and what they start, to mind no Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


def by_command(command: str, file: Path, out: Path, *more: str) -> None:
    words = [command, "lab", "run", str(file), "--on", "sim", "--out", str(out), *more]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode in (0, 3, 4), done.stderr


def test_a_run_has_the_tables_and_figures_of_the_command_with_the_same_seed(repository, command, tmp_path):
    file = repository / "experiments/quickstart.toml"
    by_command(command, file, tmp_path / "command", "--seed", "7", "--repeats", "2")
    ours = cairn.load(file).run(out=tmp_path / "ours", seed=7, repeats=2)
    theirs = cairn.open(tmp_path / "command")
    assert ours.table("results").num_rows > 100
    for table in ("results", "cases", "verdicts"):
        assert ours.table(table).equals(theirs.table(table)), table
    assert ours.table("results").equals(pyarrow.parquet.read_table(tmp_path / "command/results.parquet"))
    assert ours.record["command"] == theirs.record["command"]
    for figure in ours.figures:
        written = (tmp_path / "command/figures" / f"{figure}.svg").read_text()
        assert ours.figure(figure).svg == written, figure


def test_a_sweep_is_the_sweep_of_the_command(small, command, tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(small.text)
    values = "5 Mbit/s,20 Mbit/s"
    words = [command, "lab", "sweep", str(file), "--on", "sim", "--out", str(tmp_path / "command")]
    words += ["--key", "link.*.rate", "--values", values]
    done = subprocess.run(words, capture_output=True, text=True)
    assert (tmp_path / "command/results.parquet").is_file(), done.stderr
    ours = cairn.load(file).sweep({"link.*.rate": values.split(",")}).run(out=tmp_path / "ours")
    assert ours.cases == ["rate 5 Mbit/s", "rate 20 Mbit/s"]
    assert ours.table("results").equals(cairn.open(tmp_path / "command").table("results"))


def test_another_seed_gives_other_numbers_and_the_same_one_the_same(small, done, tmp_path):
    durations = [
        small.run(out=tmp_path / str(number), seed=seed, controls=False).estimates("files.duration")
        for number, seed in enumerate((5, 5, 6))
    ]
    assert durations[0].equals(durations[1])
    assert not durations[0].equals(durations[2])


def test_workers_change_nothing(small, done, tmp_path):
    assert small.run(into=tmp_path, workers=1).table("results").equals(done.table("results"))


def test_statements_are_judged_and_controls_run_unless_they_are_left_out(small, tmp_path):
    run = small.run(into=tmp_path, repeats=6)
    found = [verdict.verdict for verdict in run.verdicts]
    assert found == ["confirmed, no control stated", "confirmed", "contradicted"]
    assert run.conclusion == "contradicted"
    assert [verdict.good for verdict in run.verdicts] == [True, True, False]
    without = small.run(into=tmp_path, controls=False, repeats=6)
    assert without.verdicts[1].verdict == "confirmed, control not run"
    few = small.run(into=tmp_path, controls=False, repeats=3)
    assert few.verdicts[1].verdict == "not testable here"


def test_two_threads_run_beside_each_other_and_disturb_nothing(small, done, tmp_path):
    found = {}

    def run(name):
        found[name] = small.run(out=tmp_path / name)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for run in found.values():
        assert run.table("results").equals(done.table("results"))
    assert len(found) == 2


def test_other_threads_of_python_go_on_while_a_run_does(small, tmp_path):
    heard = threading.Event()
    counted = []

    def count():
        heard.wait()
        counted.append(True)

    thread = threading.Thread(target=count)
    thread.start()
    alive_within = []

    def told(progress):
        heard.set()
        # It can only end while this thread waits for the run, which must not hold the interpreter.
        alive_within.append(thread.is_alive())

    small.sweep({"seed": range(40)}).run(into=tmp_path, workers=1, controls=False, progress=told)
    thread.join()
    assert alive_within and not alive_within[-1]


def test_progress_is_told_with_how_much_there_is(small, tmp_path):
    told = []
    run = small.run(into=tmp_path, controls=False, progress=told.append)
    assert Path(next(one.text for one in told if one.kind == "folder")) == run.folder
    assert [one.done for one in told if one.kind == "count"][-1] == 3
    assert {one.all for one in told if one.kind == "count"} == {3}


def test_what_a_listener_raises_ends_the_run_and_it_can_be_gone_on_with(small, done, tmp_path):
    class Enough(Exception):
        pass

    def told(progress):
        if progress.kind == "repeat" and progress.done == 1:
            raise Enough

    with pytest.raises(Enough):
        small.run(out=tmp_path / "run", workers=1, progress=told)
    assert not cairn.open(tmp_path / "run").record["complete"]
    whole = cairn.resume(tmp_path / "run")
    assert whole.record["complete"]
    assert whole.table("results").equals(done.table("results"))


LONG = """
import os, signal, sys, cairn_lab as cairn
experiment = cairn.load(sys.argv[1]).sweep({"seed": range(100_000, 100_400), "duration": ["2000 s"]})
begun = []
def told(progress):
    if progress.kind == "folder":
        begun.append(progress.text)
    if progress.kind == "count" and len(begun) == 1:
        begun.append("a signal")
        os.kill(os.getpid(), signal.SIGINT)
try:
    experiment.run(into=sys.argv[2], workers=2, controls=False, progress=told)
except KeyboardInterrupt:
    print(begun[0])
    sys.exit(42)
"""


def test_ctrl_c_ends_a_run_and_leaves_what_it_has(small, tmp_path):
    file = tmp_path / "small.toml"
    file.write_text(small.text)
    words = [sys.executable, "-c", LONG, str(file), str(tmp_path / "runs")]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 42, ended.stderr
    run = cairn.open(ended.stdout.strip())
    assert not run.record["complete"] and 1 <= len(run.cases) < 200


def test_ctrl_c_ends_one_long_simulation_in_its_middle(tmp_path, small):
    once = small.text.replace('duration = "20 s"', 'duration = "1000000 s"')
    once = once.replace("repeats = 3", "repeats = 1")

    def told(progress):
        if progress.kind == "sample" and progress.done > 100:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        cairn.parse(once).run(into=tmp_path, controls=False, progress=told)


def test_a_folder_that_holds_something_is_not_written_over(small, tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(cairn.RunError, match="it is there already, and not empty"):
        small.run(out=tmp_path)


def test_what_a_backend_needs_is_told(small, tmp_path, monkeypatch):
    with pytest.raises(cairn.RunError, match="no backend called `moon`; known are netns, hosts, sim"):
        small.run(on="moon", into=tmp_path)
    monkeypatch.delenv("CAIRN")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(cairn.RunError, match="`make build` makes it"):
        small.run(on="netns", into=tmp_path)
    with pytest.raises(cairn.RunError, match="no case is called `x`"):
        small.run(only="x", into=tmp_path)
