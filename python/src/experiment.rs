//! Experiments: read, checked, and with one more sweep.

use std::path::{Path, PathBuf};

use lab::experiment::model::Expect;
use lab::experiment::{Experiment, SweepValue, with_sweep};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::errors::{ProblemTuple, apart, experiment_error, raise, tuples};

/// An experiment that has passed every check.
#[pyclass(frozen, module = "cairn_lab._native")]
pub(crate) struct NativeExperiment {
    pub(crate) experiment: Experiment,
    /// Where the files are that it names.
    folder: Option<PathBuf>,
}

fn made(
    py: Python<'_>,
    folder: Option<PathBuf>,
    read: impl FnOnce() -> Result<Experiment, lab::experiment::Problems> + Send,
) -> PyResult<NativeExperiment> {
    let experiment = apart(py, read)?.map_err(|problems| experiment_error(py, &problems))?;
    Ok(NativeExperiment { experiment, folder })
}

/// Reads a file.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, path: PathBuf) -> PyResult<NativeExperiment> {
    made(py, path.parent().map(Path::to_owned), || Experiment::read(&path))
}

/// Reads a text.
#[pyfunction]
pub(crate) fn parse(
    py: Python<'_>,
    text: &str,
    name: &str,
    folder: Option<PathBuf>,
) -> PyResult<NativeExperiment> {
    let shown = format!("{name}.toml");
    made(py, folder.clone(), || Experiment::parse_in(folder.as_deref(), name, &shown, text))
}

/// A small experiment to begin with.
#[pyfunction]
pub(crate) fn template(title: &str) -> String {
    lab::experiment::template(title)
}

/// The reference of the experiment file, as Markdown.
#[pyfunction]
pub(crate) fn reference() -> String {
    lab::experiment::reference()
}

/// A value as a file would have it.
fn value_of(value: &Bound<'_, PyAny>) -> PyResult<SweepValue> {
    // A truth value of Python is an integer, too.
    if value.is_instance_of::<PyBool>() {
        return Ok(value.extract::<bool>()?.into());
    }
    if value.is_instance_of::<PyInt>() {
        return Ok(value.extract::<i64>()?.into());
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(value.extract::<f64>()?.into());
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(text.to_cow()?.as_ref().into());
    }
    // Numbers of NumPy.
    if let Ok(number) = value.call_method0("item")
        && !number.is(value)
    {
        return value_of(&number);
    }
    let kind = value.get_type().name()?;
    Err(PyTypeError::new_err(format!("a value of a sweep is a string, a number or a bool, and not {kind}")))
}

fn statement<'py>(py: Python<'py>, expect: &Expect) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", expect.name.as_deref())?;
    dict.set_item("say", &expect.say)?;
    dict.set_item("measure", &expect.value)?;
    dict.set_item("paper", expect.paper.as_deref())?;
    dict.set_item("by_construction", expect.by_construction.as_deref())?;
    dict.set_item("on", expect.on.clone())?;
    Ok(dict)
}

#[pymethods]
impl NativeExperiment {
    #[getter]
    fn name(&self) -> &str {
        &self.experiment.name
    }

    #[getter]
    fn title(&self) -> &str {
        &self.experiment.file.title
    }

    #[getter]
    fn about(&self) -> Option<&str> {
        self.experiment.file.about.as_deref().map(str::trim)
    }

    #[getter]
    fn text(&self) -> &str {
        &self.experiment.text
    }

    #[getter]
    fn repeats(&self) -> u32 {
        self.experiment.file.repeats.unwrap_or(1)
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.experiment.file.seed.unwrap_or(1)
    }

    #[getter]
    fn is_study(&self) -> bool {
        self.experiment.file.study.is_some()
    }

    #[getter]
    fn statements<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        self.experiment.file.expect.iter().map(|expect| statement(py, expect)).collect()
    }

    /// The names of its cases on a backend, without controls.
    fn cases(&self, py: Python<'_>, on: &str) -> PyResult<Vec<String>> {
        let plans = apart(py, || self.experiment.plans(on))?;
        let plans = plans.map_err(|findings| {
            let words: Vec<String> = findings.into_iter().map(|finding| finding.message).collect();
            raise(py, "RunError", (words.join("; "),))
        })?;
        let cases = plans.into_iter().filter(|plan| plan.control.is_none()).map(|plan| plan.case);
        Ok(cases.collect())
    }

    /// What a backend lacks to carry it out.
    fn lacks(&self, py: Python<'_>, on: &str) -> PyResult<Vec<ProblemTuple>> {
        let checked = apart(py, || self.experiment.can_run_on(on))?;
        Ok(checked.map_or_else(|problems| tuples(&problems), |()| Vec::new()))
    }

    /// The same, run over values of keys.
    fn swept(&self, py: Python<'_>, sweeps: &Bound<'_, PyDict>) -> PyResult<NativeExperiment> {
        let mut text = self.experiment.text.clone();
        for (key, values) in sweeps.iter() {
            let values: Vec<SweepValue> =
                values.try_iter()?.map(|value| value_of(&value?)).collect::<PyResult<_>>()?;
            text = with_sweep(&text, key.cast::<PyString>()?.to_cow()?.as_ref(), &values);
        }
        let folder = self.folder.clone();
        let (name, shown) = (&self.experiment.name, self.experiment.shown());
        // Lines behind the file's last are those of the sweep.
        let shown = if shown.ends_with(SWEPT) { shown.to_owned() } else { format!("{shown}{SWEPT}") };
        made(py, folder.clone(), || Experiment::parse_in(folder.as_deref(), name, &shown, &text))
    }
}

/// How an experiment is shown that has a sweep beside its file.
const SWEPT: &str = " with a sweep";
