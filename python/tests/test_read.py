"""What a run found is read as tables and figures; names that do not exist are told with what there is."""

import math
import sys

import pyarrow
import pyarrow.parquet
import pytest

import cairn_lab as cairn


def test_tables_have_types_and_become_data_frames(swept):
    table = swept.table()
    names = ("case", "repeat", "valid", "rate (Mbit/s)", "mean")
    kinds = {name: table.schema.field(name).type for name in names}
    assert kinds == {
        "case": pyarrow.string(),
        "repeat": pyarrow.int64(),
        "valid": pyarrow.bool_(),
        "rate (Mbit/s)": pyarrow.float64(),
        "mean": pyarrow.float64(),
    }
    frame = table.to_pandas()
    assert sorted(frame["rate (Mbit/s)"].unique()) == [5, 10, 20]
    assert sorted(frame["repeat"].unique()) == [1, 2, 3]


def test_an_estimate_is_the_mean_over_repeats_of_the_table_of_results(swept):
    results = swept.table().to_pandas()
    of = results[(results["measure"] == "files.duration") & results["valid"]]
    # Where nothing is random the first repeat takes an order of what happens at one instant that nobody has
    # drawn: it is in no mean.
    drawn = of[(of["loss (%)"] != 0) | (of["repeat"] > 1)]
    means = drawn.groupby("case", sort=False)["mean"].agg(["mean", "std"])
    estimates = swept.estimates("files.duration").to_pandas().set_index("case")
    assert list(estimates.index) == swept.cases
    for case, row in estimates.iterrows():
        assert math.isclose(row["mean"], means["mean"][case])
        if row["loss (%)"] == 0:
            # Two drawn orders have no interval.
            assert row["drawn orders"] == 2
            assert math.isnan(row["low"]) and math.isnan(row["high"])
            continue
        # Student's t for two degrees of freedom and 95 %.
        half = 4.303 * means["std"][case] / math.sqrt(3)
        assert math.isclose(row["high"] - row["mean"], half, rel_tol=1e-3, abs_tol=1e-12)
        assert math.isclose(row["mean"] - row["low"], half, rel_tol=1e-3, abs_tol=1e-12)
    most = swept.estimates("files.duration.max").to_pandas()
    assert (most["mean"] >= estimates["mean"].to_numpy()).all()


def test_numbers_of_controls_are_a_table_of_their_own_and_the_file_of_the_run(done, swept):
    controls = done.table("controls")
    assert set(controls.column_names) == {"control", *done.table().column_names}
    assert controls.equals(pyarrow.parquet.read_table(done.folder / "controls.parquet"))
    frame = controls.to_pandas()
    assert set(frame["control"]) == {"a slow link"} and sorted(frame["repeat"].unique()) == [1, 2, 3]
    # What the statement fails by: at 1 Mbit/s a file of 100 kB takes most of a second.
    of = frame[(frame["measure"] == "files.duration") & frame["valid"]]
    assert len(of) == 3 and (of["mean"] > 0.8).all()
    assert done.table().to_pandas().query("measure == 'files.duration'")["mean"].max() < 0.5
    # Where none were run there are no rows, and the same columns.
    assert swept.table("controls").num_rows == 0
    assert "control" in swept.table("controls").column_names


def test_tables_of_a_repeat_are_of_that_repeat_and_case(swept):
    log = swept.repeat("log", "a")
    assert {"time", "pending"} <= set(log.column_names) and log.num_rows > 5
    transfers = swept.repeat("transfers", "files", case=swept.cases[1], repeat=2).to_pandas()
    assert list(transfers["name"]) == [f"/f/{number}" for number in range(5)]
    assert set(transfers["state"]) == {"complete"}
    duration = (transfers["stop"] - transfers["start"]).mean()
    results = swept.table().to_pandas().query("case == @swept.cases[1] and repeat == 2")
    measured = results.set_index("measure")["mean"]["files.duration"]
    assert math.isclose(duration, measured, rel_tol=1e-6)
    assert swept.repeat("pings", "probe").num_rows == 5


def test_names_that_do_not_exist_are_told_with_what_there_is(done):
    for ask, words in [
        (lambda: done.table("result"), "did you mean `results`?"),
        (lambda: done.estimates("files.goodputt"), "did you mean `files.goodput`?"),
        (lambda: done.estimates("nonsense"), "does not name a measure"),
        (lambda: done.figure("no such"), "there is no figure called `no such`"),
        (lambda: done.repeat("log", "c"), "there is no node called `c`; there are a, b"),
        (lambda: done.repeat("logs", "a"), "did you mean `log`?"),
        (lambda: done.repeat("transfers", "file"), "did you mean `files`?"),
        (lambda: done.repeat("log", "a", case="x"), "there is no case called `x`"),
        (lambda: done.draw("files.duration", x="rate"), "this run has one case"),
    ]:
        with pytest.raises(cairn.UnknownNameError) as raised:
            ask()
        assert words in str(raised.value)
    with pytest.raises(cairn.ReadError, match="it did not run"):
        done.repeat("log", "a", repeat=4)


def test_a_figure_is_shown_and_saved_in_four_forms(done, tmp_path):
    figure = done.figure("transfers")
    assert figure.name == "case-01-transfers-files" and figure.caption.startswith("Figure ")
    assert figure._repr_svg_().startswith("<svg")
    assert figure.save(tmp_path / "a.svg").read_text() == figure.svg
    assert figure.save(tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert figure.save(tmp_path / "a.csv").read_text().splitlines()[0].startswith('"no","start"')
    assert pyarrow.parquet.read_table(figure.save(tmp_path / "a.parquet")).equals(figure.table())
    with pytest.raises(ValueError, match="write .svg, .pdf"):
        figure.save(tmp_path / "a.png")
    assert done.figure("topology").table() is None
    with pytest.raises(ValueError, match="no numbers behind"):
        done.figure("topology").save(tmp_path / "b.csv")


def test_a_run_is_opened_from_its_folder_with_all_that_it_found(done):
    again = cairn.open(done.folder)
    assert again.table().equals(done.table())
    assert again.experiment.text == done.experiment.text
    assert again.verdicts == done.verdicts
    assert done.report.is_file()
    assert "Files arrive" in again._repr_html_() and "Files arrive" in repr(again.verdicts)


def test_a_folder_that_is_no_run_says_so(tmp_path):
    with pytest.raises(cairn.ReadError, match=str(tmp_path)):
        cairn.open(tmp_path)
    with pytest.raises(cairn.ReadError):
        cairn.open(tmp_path / "nowhere")
    with pytest.raises(cairn.RunError, match="it is not the folder of a run"):
        cairn.resume(tmp_path)


def test_a_drawing_has_the_numbers_of_the_estimates(swept):
    axes = swept.draw("files.duration", x="rate")
    assert axes.get_xlabel() == "rate (Mbit/s)" and axes.get_ylabel() == "files.duration (s)"
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["loss 0 %", "loss 2 %"]
    rows = swept.estimates("files.duration").to_pandas().query("`loss (%)` == 2").sort_values("rate (Mbit/s)")
    line = axes.containers[1].lines[0]
    assert list(line.get_xdata()) == [5, 10, 20]
    assert list(line.get_ydata()) == list(rows["mean"])
    low = [float(segment[0][1]) for segment in axes.containers[1].lines[2][0].get_segments()]
    assert all(map(math.isclose, low, rows["low"]))
    assert len(swept.draw("files.duration").get_xticks()) == len(swept.cases)


def test_drawing_without_matplotlib_says_what_to_install(swept, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(cairn.MissingPackageError, match="pip install matplotlib"):
        swept.draw("files.duration", x="rate")
    assert issubclass(cairn.MissingPackageError, ImportError)


def test_every_public_name_is_there_and_explained():
    for name in cairn.__all__:
        value = getattr(cairn, name)
        assert name == "__version__" or value.__doc__, name
