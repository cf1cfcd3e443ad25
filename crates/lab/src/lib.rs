//! Experiments: topology, workload, backends, measurement, figures, report.
