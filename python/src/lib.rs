//! The lab for Python, as far as it is Rust: `cairn_lab._native`.
//!
//! Everything here is the lab's own: experiments are read, run and judged by the crate `lab`, and tables come
//! from it as Parquet. What makes it pleasant in Python, such as progress in notebooks and drawing, is in the
//! package beside, in Python. Nobody but that package uses this module.

mod errors;
mod experiment;
mod follow;
mod read;
mod run;

use pyo3::prelude::*;

/// The lab, as far as it is Rust. Use the package `cairn_lab`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::experiment::{NativeExperiment, parse, read, reference, template};
    #[pymodule_export]
    use super::read::{NativeFigure, NativeRun, open};
    #[pymodule_export]
    use super::run::{resume, run};
    use super::{Bound, PyModule, PyModuleMethods, PyResult};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", env!("CARGO_PKG_VERSION"))
    }
}
