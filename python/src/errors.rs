//! Errors of the lab as exceptions of the package, and panics as errors.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lab::experiment::{Problem, Problems};
use lab::run::RunError;
use pyo3::prelude::*;

/// A mistake: line, key, what is wrong, what to do.
pub(crate) type ProblemTuple = (usize, String, String, Option<String>);

/// An exception of the package, by its name.
pub(crate) fn raise<A>(py: Python<'_>, name: &str, arguments: A) -> PyErr
where
    A: for<'py> pyo3::call::PyCallArgs<'py>,
{
    let made = py.import("cairn_lab._errors").and_then(|module| module.getattr(name)?.call1(arguments));
    match made {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Mistakes in an experiment, as `ExperimentError`.
pub(crate) fn experiment_error(py: Python<'_>, problems: &Problems) -> PyErr {
    raise(py, "ExperimentError", (problems.to_string(), problems.file.clone(), tuples(problems)))
}

pub(crate) fn tuples(problems: &Problems) -> Vec<ProblemTuple> {
    let tuple = |problem: &Problem| {
        (problem.line, problem.key.clone(), problem.message.clone(), problem.suggestion.clone())
    };
    problems.list.iter().map(tuple).collect()
}

/// Why a run ended early, as `RunError`, or as `ExperimentError` where its file is to blame.
pub(crate) fn run_error(py: Python<'_>, error: &RunError) -> PyErr {
    match error {
        RunError::Experiment(problems) => experiment_error(py, problems),
        other => raise(py, "RunError", (other.to_string(),)),
    }
}

/// What a panic said, as `InternalError`. There is none that we know of.
pub(crate) fn internal_error(py: Python<'_>, panic: &(dyn Any + Send)) -> PyErr {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it did not say why");
    raise(py, "InternalError", (format!("this is a mistake in Cairn, please report it: {words}"),))
}

/// Does something that takes a while and needs nothing of Python, while others may use the interpreter.
pub(crate) fn apart<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(work)));
    done.map_err(|panic| internal_error(py, &*panic))
}
