//! Runs that are there: their numbers as Parquet, their figures as SVG.

use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use lab::analysis::RepeatData;
use lab::figure::Data;
use lab::report::{
    Conclusion, ReportError, ReportFigure, RunData, Verdict, cases_table, conclusion, estimates_table,
    measures, report_figures, unit_of, verdicts, verdicts_table, write_controls, write_results,
};
use lab::run::RunFolder;
use lab::stats::Claim;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{apart, raise};

/// A run, read.
#[pyclass(frozen, module = "cairn_lab._native")]
pub(crate) struct NativeRun {
    run: RunData,
    verdicts: Vec<Verdict>,
    /// Drawn when somebody asks for one.
    figures: OnceLock<Vec<ReportFigure>>,
}

/// Reads the folder of a run.
#[pyfunction]
pub(crate) fn open(py: Python<'_>, folder: PathBuf) -> PyResult<NativeRun> {
    let read = || RunData::read(&RunFolder::open(&folder)?);
    let read = apart(py, || read().map_err(|error: ReportError| error.to_string()))?;
    let run = read.map_err(|error| raise(py, "ReadError", (format!("{}: {error}", folder.display()),)))?;
    NativeRun::of(py, run)
}

fn parquet<'py>(py: Python<'py>, data: &Data) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = apart(py, || data.to_parquet())?;
    Ok(PyBytes::new(py, &bytes))
}

impl NativeRun {
    /// A run with its verdicts, which may take as long as the run is large.
    pub(crate) fn of(py: Python<'_>, run: RunData) -> PyResult<Self> {
        apart(py, || {
            let verdicts = verdicts(&run);
            NativeRun { run, verdicts, figures: OnceLock::new() }
        })
    }

    fn drawn(&self) -> &[ReportFigure] {
        self.figures.get_or_init(|| report_figures(&self.run))
    }
}

#[pymethods]
impl NativeRun {
    #[getter]
    fn folder(&self) -> PathBuf {
        self.run.folder.path().to_owned()
    }

    #[getter]
    fn report(&self) -> PathBuf {
        self.run.folder.report()
    }

    #[getter]
    fn experiment_file(&self) -> PathBuf {
        self.run.folder.experiment()
    }

    /// What `run.json` says, of what people ask for.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let record = &self.run.record;
        let dict = PyDict::new(py);
        dict.set_item("experiment", &record.experiment)?;
        dict.set_item("title", &record.title)?;
        dict.set_item("backend", &record.backend)?;
        dict.set_item("command", &record.command)?;
        dict.set_item("began", &record.began)?;
        dict.set_item("seed", record.seed)?;
        dict.set_item("repeats", record.repeats)?;
        dict.set_item("complete", record.complete)?;
        dict.set_item("program", record.program.words())?;
        Ok(dict)
    }

    #[getter]
    fn cases(&self) -> Vec<&str> {
        self.run.cases.iter().map(|case| case.plan.case.as_str()).collect()
    }

    #[getter]
    fn nodes(&self) -> Vec<&str> {
        let first = self.run.cases.first();
        first.map_or_else(Vec::new, |case| case.plan.nodes.iter().map(|node| node.name.as_str()).collect())
    }

    #[getter]
    fn measures(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        apart(py, || measures(&self.run))
    }

    /// In the words of `cairn lab run --json`.
    #[getter]
    fn conclusion(&self) -> &'static str {
        match conclusion(&self.run, &self.verdicts) {
            Conclusion::AsExpected => "as expected",
            Conclusion::Contradicted => "contradicted",
            Conclusion::NotTestable => "not testable here",
            Conclusion::NoValidRun => "no valid run",
            Conclusion::Incomplete => "not complete",
        }
    }

    #[getter]
    fn verdicts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let verdict = |verdict: &Verdict| {
            let dict = PyDict::new(py);
            let (found, spread) = verdict.found();
            let measured = spread.map_or_else(|| found.clone(), |spread| format!("{found} {spread}"));
            dict.set_item("case", &verdict.case)?;
            dict.set_item("say", &verdict.say)?;
            dict.set_item("paper", verdict.paper.as_deref())?;
            dict.set_item("measure", &verdict.measure)?;
            dict.set_item("measured", measured)?;
            dict.set_item("bound", &verdict.bound)?;
            dict.set_item("verdict", verdict.words())?;
            dict.set_item("of", verdict.of.map(Claim::words))?;
            let orders = verdict.measured.and_then(|estimate| estimate.orders);
            dict.set_item("drawn_orders", orders.map(|orders| orders.drawn))?;
            dict.set_item("control", verdict.control_words())?;
            dict.set_item("why", &verdict.why)?;
            dict.set_item("good", verdict.is_good())?;
            dict.set_item("mean", verdict.measured.map(|estimate| estimate.mean))?;
            dict.set_item("low", verdict.interval.map(|interval| interval.low))?;
            dict.set_item("high", verdict.interval.map(|interval| interval.high))?;
            dict.set_item("unit", verdict.unit)?;
            Ok(dict)
        };
        self.verdicts.iter().map(verdict).collect()
    }

    /// The table of that name as Parquet; nothing if there is none.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let bytes = apart(py, || match name {
            "results" => self.results().map(Some),
            "controls" => self.controls().map(Some),
            "cases" => Ok(Some(cases_table(&self.run).to_parquet())),
            "verdicts" => Ok(Some(verdicts_table(&self.verdicts).to_parquet())),
            _ => Ok(None),
        })?;
        let bytes = bytes.map_err(|error| raise(py, "ReadError", (error.to_string(),)))?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// The unit of a measure of this run; empty where it is a bare number.
    fn unit(&self, measure: &str) -> &'static str {
        unit_of(&self.run, measure)
    }

    /// A row for each case with what a measure came to, as Parquet.
    fn estimates<'py>(&self, py: Python<'py>, measure: &str) -> PyResult<Bound<'py, PyBytes>> {
        let data = apart(py, || estimates_table(&self.run, measure))?;
        parquet(py, &data.map_err(|error| raise(py, "UnknownNameError", (error.to_string(),)))?)
    }

    /// A table of one repeat, whose number counts from 1, as Parquet.
    fn repeat_table<'py>(
        &self,
        py: Python<'py>,
        case: usize,
        repeat: u32,
        kind: &str,
        of: &str,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let Some(place) = repeat.checked_sub(1) else { return Ok(None) };
        let read = apart(py, || {
            let data = self.run.repeat(case, place)?;
            Ok(self.repeat_data(&data, case, kind, of))
        })?;
        let data = read.map_err(|error: ReportError| raise(py, "ReadError", (error.to_string(),)))?;
        data.map(|data| parquet(py, &data)).transpose()
    }

    /// The names of the report's figures, in their order.
    fn figures(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        apart(py, || self.drawn().iter().map(|figure| figure.name.clone()).collect())
    }

    /// The figure of that name; nothing if there is none.
    fn figure(&self, py: Python<'_>, name: &str) -> PyResult<Option<NativeFigure>> {
        apart(py, || {
            let figure = self.drawn().iter().find(|figure| figure.name == name);
            figure.cloned().map(|figure| NativeFigure { figure })
        })
    }
}

impl NativeRun {
    /// Every number of every repeat, as Parquet.
    fn results(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        write_results(&self.run, &mut bytes)?;
        Ok(bytes)
    }

    /// The same of controls.
    fn controls(&self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        write_controls(&self.run, &mut bytes)?;
        Ok(bytes)
    }

    fn repeat_data(&self, data: &RepeatData, case: usize, kind: &str, of: &str) -> Option<Data> {
        let plan = &self.run.cases.get(case)?.plan;
        let node = || data.nodes.get(plan.node(of)?);
        let table = match kind {
            "log" => node()?.log.clone(),
            "traffic" => node()?.traffic.clone(),
            "transfers" => {
                let transfers = data.transfers.get(of)?;
                let list = &transfers.transfers;
                let names = list.iter().map(|transfer| transfer.name.clone()).collect();
                let states = list.iter().map(|transfer| transfer.state.clone()).collect();
                let data = Data::default().words("name", names).words("state", states);
                return Some(numbers(data, &transfers.table()));
            }
            "pings" => {
                let pings = &data.pings.get(of)?.pings;
                let trips = pings.iter().map(|(_, trip)| trip.unwrap_or(f64::NAN)).collect();
                let begun = pings.iter().map(|(at, _)| *at).collect();
                return Some(Data::default().numbers("time", begun).numbers("round trip (ms)", trips));
            }
            _ => return None,
        };
        Some(numbers(Data::default(), &table))
    }
}

/// The columns of a table behind those that are there.
fn numbers(data: Data, table: &lab::analysis::Table) -> Data {
    table.columns.iter().fold(data, |data, name| data.numbers(name, table.column(name)))
}

/// A figure of a report.
#[pyclass(frozen, module = "cairn_lab._native")]
pub(crate) struct NativeFigure {
    figure: ReportFigure,
}

#[pymethods]
impl NativeFigure {
    #[getter]
    fn name(&self) -> &str {
        &self.figure.name
    }

    #[getter]
    fn caption(&self) -> &str {
        &self.figure.caption
    }

    #[getter]
    fn svg(&self, py: Python<'_>) -> PyResult<String> {
        apart(py, || self.figure.drawing.to_svg())
    }

    #[getter]
    fn pdf<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = apart(py, || self.figure.to_pdf())?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[getter]
    fn parquet<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        self.figure.data.as_ref().map(|data| parquet(py, data)).transpose()
    }
}
