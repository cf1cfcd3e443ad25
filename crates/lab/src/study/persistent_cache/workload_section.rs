//! The requests of a study, and what the paper says came of them.

use repo::evaluation::Workload;

use super::units::{GIGABYTE, MIN_INTERVAL, TOO_OFTEN};
use crate::experiment::model::study::{CacheCell, CacheWorkload};
use crate::experiment::units::{Size, Span};
use crate::study::Findings;

/// A column of the paper's Table I.
#[derive(Clone, Debug)]
pub(super) struct WorkloadSection {
    pub(super) name: String,
    pub(super) workload: Workload,
    pub(super) thresholds_gb: Vec<u64>,
    /// Numbers that the paper gives.
    paper: Vec<PaperCell>,
}

/// A number that the paper gives.
#[derive(Clone, Copy, Debug)]
struct PaperCell {
    gb: u64,
    ratio: f64,
    /// Of all requests, in per cent.
    hits: f64,
}

impl WorkloadSection {
    pub(super) fn of(key: &str, workload: &CacheWorkload, f: &mut Findings) -> Self {
        let mut check = |is_good: bool, end: &str, message: &str| {
            if !is_good {
                f.add(format!("{key}.{end}"), message, None);
            }
        };
        let [request_interval, file_interval] =
            [workload.request_every, workload.file_every].map(Span::duration);
        check(request_interval >= MIN_INTERVAL, "request_every", TOO_OFTEN);
        check(file_interval >= MIN_INTERVAL, "file_every", TOO_OFTEN);
        check(workload.size_shape >= 1.0, "size_shape", "it must be 1 at least");
        let (min_bytes, max_bytes) = (workload.min_size.0, workload.max_size.0);
        check(
            min_bytes >= 1 && min_bytes <= max_bytes,
            "min_size",
            "it must be 1 B at least, and `max_size` at most",
        );
        check(max_bytes <= u64::from(u32::MAX), "max_size", "it must be 4 GB at most");
        let is_whole =
            |size: &Size| size.0.is_multiple_of(GIGABYTE) && (1..=100_000).contains(&(size.0 / GIGABYTE));
        check(
            workload.thresholds.iter().all(is_whole),
            "thresholds",
            "they must be whole GB, from 1 to 100,000",
        );
        let workload_of = Workload {
            popularity_alpha: workload.popularity_alpha,
            files_alpha: workload.files_alpha,
            size_shape: workload.size_shape,
            size_scale_bytes: workload.size_scale.0 as f64,
            min_bytes,
            max_bytes,
            request_interval,
            file_interval,
        };
        WorkloadSection {
            name: workload.name.clone(),
            workload: workload_of,
            thresholds_gb: workload.thresholds.iter().map(|size| size.0 / GIGABYTE).collect(),
            paper: workload.paper.iter().map(PaperCell::of).collect(),
        }
    }

    pub(super) fn paper(&self, gb: u64, ratio: f64) -> Option<f64> {
        self.paper.iter().find(|cell| cell.gb == gb && cell.ratio == ratio).map(|cell| cell.hits)
    }
}

impl PaperCell {
    fn of(cell: &CacheCell) -> Self {
        // Of what is written in percent no digit may change.
        let percent = (cell.hits.0 * 1e6).round() / 1e4;
        PaperCell { gb: cell.threshold.0 / GIGABYTE, ratio: cell.ratio.0, hits: percent }
    }
}

/// The place of the workload with this name.
pub(super) fn place_of(key: &str, name: &str, workloads: &[WorkloadSection], f: &mut Findings) -> usize {
    workloads.iter().position(|workload| workload.name == name).unwrap_or_else(|| {
        f.add(format!("{key}.workload"), format!("there is no workload {name}"), None);
        0
    })
}
