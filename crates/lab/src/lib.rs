//! Experiments: topology, workload, backends, measurement, figures, report.

pub mod backend;
pub mod experiment;
