//! Experiments: topology, workload, backends, measurement, figures, report.

pub mod agent;
pub mod backend;
pub mod capture;
pub mod driver;
pub mod analysis;
pub mod experiment;
pub mod run;
pub mod stats;
