//! Experiments: topology, workload, backends, measurement, figures, report.

pub mod agent;
pub mod analysis;
pub mod backend;
pub mod capture;
pub mod driver;
pub mod experiment;
pub mod report;
pub mod run;
pub mod stats;
