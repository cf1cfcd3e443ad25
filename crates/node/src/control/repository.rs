//! What a node tells of a repository of its own.

use std::path::PathBuf;

use repo::ccnr::CcnrCounters;
use repo::cold::TieredCounters;
use repo::service::ServiceStatus;

/// What a repository holds and has done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryStatus {
    /// Its folder.
    pub path: PathBuf,
    /// Bytes that its packets may take.
    pub max_bytes: u64,
    /// What it holds and has done.
    pub service: ServiceStatus,
    /// What its cold tier has done, if it has one.
    pub cold: Option<TieredCounters>,
    /// What clients of CCNx have asked for, if it takes their objects.
    pub ccnr: Option<CcnrCounters>,
}

impl RepositoryStatus {
    /// All numbers, each under the word that metrics and status have for it; refusals under their reasons.
    pub fn numbers(&self) -> Vec<(&'static str, u64)> {
        let ServiceStatus { stats, counters, rejections, busy } = &self.service;
        let cold = self.cold.unwrap_or_default();
        let mut numbers = vec![
            ("objects", stats.objects),
            ("segments", stats.segments),
            ("bytes", stats.bytes),
            ("max-bytes", self.max_bytes),
            ("disk-bytes", stats.disk_bytes),
            ("memory-bytes", stats.memory_bytes),
            ("hits", counters.hits),
            ("untold-hits", counters.untold_hits),
            ("misses", counters.misses),
            ("insertions", counters.insertions),
            ("duplicates", counters.duplicates),
            ("deletions", counters.deletions),
            ("evictions", counters.evictions),
            ("busy", *busy),
            ("cold-volumes", stats.cold_volumes),
            ("cold-bytes", stats.cold_bytes),
            ("cold-migrations", cold.migrations),
            ("cold-failed-migrations", cold.failed_migrations),
            ("cold-reads", cold.reads),
            ("cold-failed-reads", cold.failed_reads),
            ("cold-orphans", cold.orphans),
        ];
        numbers.extend(self.ccnr.iter().flat_map(CcnrCounters::numbers));
        numbers.extend(rejections.iter().map(|(reason, count)| (reason.as_str(), count)));
        numbers
    }
}
