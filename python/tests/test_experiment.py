"""Experiments are read and checked as the command does it, and mistakes say where and what."""

import pickle

import numpy
import pytest

import cairn_lab as cairn


def test_every_shipped_experiment_is_read(repository):
    files = sorted((repository / "experiments").glob("*.toml"))
    assert len(files) > 20
    for file in files:
        experiment = cairn.load(file)
        assert experiment.name == file.stem and experiment.title in experiment.text


def test_mistakes_have_line_key_and_a_way_out(tmp_path, small):
    file = tmp_path / "wrong.toml"
    file.write_text(small.text.replace('at = "a"\ncontent', 'at = "aa"\ncontent').replace("Mbit/s", "Mpps"))
    with pytest.raises(cairn.ExperimentError) as raised:
        cairn.load(file)
    error = raised.value
    assert error.file == str(file) and isinstance(error, cairn.Error)
    problem = error.problems[0]
    assert problem.line == 11 and "Mbit/s" in str(problem)
    assert str(error).startswith(f"{file}:11: ")
    assert cairn.check(file) == error.problems
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.problems) == (str(error), error.problems)


def test_a_file_that_is_not_there_is_told_as_one(tmp_path):
    with pytest.raises(cairn.ExperimentError, match="cannot be read") as raised:
        cairn.load(tmp_path / "nothing.toml")
    assert raised.value.problems[0].line == 0


def test_the_template_is_sound_and_runs_as_expected(tmp_path):
    assert cairn.parse(cairn.template("Mine")).run(into=tmp_path).conclusion == "as expected"


def test_a_sweep_has_a_case_for_each_value_and_changes_nothing_of_what_it_is_of(small):
    swept = small.sweep({"link.*.rate": ["5 Mbit/s", "10 Mbit/s"], "seed": [1, 2, 3]})
    assert len(swept.cases()) == 6 and small.cases() == [""]
    assert swept.cases()[0] == "rate 5 Mbit/s, seed 1"
    assert len(swept.sweep({"download.files.count": [1, 2]}).cases()) == 12


def test_values_are_what_python_and_numpy_have(small):
    numbers = small.sweep({"download.files.count": numpy.arange(1, 4)})
    assert numbers.cases() == ["count 1", "count 2", "count 3"]
    assert small.sweep({"until_done": [True, False]}).cases() == ["until_done true", "until_done false"]
    with pytest.raises(TypeError, match="a string, a number or a bool, and not list"):
        small.sweep({"seed": [[1]]})
    with pytest.raises(TypeError, match="are a list"):
        small.sweep({"link.*.rate": "10 Mbit/s"})
    with pytest.raises(OverflowError):
        small.sweep({"seed": [2**70]})


def test_a_sweep_of_what_does_not_exist_is_refused_before_anything_runs(small):
    with pytest.raises(cairn.ExperimentError, match="raet"):
        small.sweep({"link.*.raet": ["1 Mbit/s"]})
    with pytest.raises(cairn.ExperimentError, match="small.toml with a sweep"):
        small.sweep({"seed": ["one"]})


def test_a_backend_that_lacks_something_says_what_and_in_which_line(repository):
    study = cairn.load(repository / "experiments/clock-linear.toml")
    assert study.check("sim") == []
    problem = study.check("netns")[0]
    assert problem.key == "study" and problem.line > 0
    with pytest.raises(cairn.RunError, match="cairn sim run clock-linear.toml"):
        study.run()


def test_statements_are_those_of_the_file(small):
    first, second, _ = small.statements
    assert (first.say, first.measure) == ("Files arrive", "files.goodput")
    assert second.name == "fast" and second.by_construction is None and second.on == []
    assert "Files arrive" in small._repr_html_()


def test_numbers_that_make_no_sense_are_refused(small, tmp_path):
    for wrong in ({"repeats": 0}, {"workers": 0}):
        with pytest.raises(ValueError, match="from 1 to"):
            small.run(into=tmp_path, **wrong)
    for seed in (-1, 2**63):
        with pytest.raises(ValueError, match="from 0 to"):
            small.run(into=tmp_path, seed=seed)
    assert not list(tmp_path.iterdir())
