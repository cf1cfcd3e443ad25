//! Experiments: topology, workload, backends, measurement, figures, report.

pub mod agent;
pub mod backend;
pub mod capture;
pub mod driver;
pub mod experiment;
