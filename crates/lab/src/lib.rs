//! Experiments: topology, workload, backends, measurement, figures, report.

pub mod experiment;
