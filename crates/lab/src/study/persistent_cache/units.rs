//! Base units, limits of what a file may say, and how numbers are written.

use packet::time::Duration;

use crate::experiment::units::Share;

/// How often something may happen at most: every so long.
pub(super) const MIN_INTERVAL: Duration = Duration::from_millis(1);
pub(super) const MAX_FILES: u32 = 10_000_000;
pub(super) const GIGABYTE: u64 = 1_000_000_000;
pub(super) const TOO_OFTEN: &str = "it must be 1 ms at least";
pub(super) const TOO_MANY: &str = "there may be ten million at most";

pub(super) fn shares(list: &[Share]) -> Vec<f64> {
    list.iter().map(|share| share.0).collect()
}

/// Half and a quarter, as the paper calls them.
pub(super) fn ratio_text(ratio: f64) -> String {
    format!("DR{:.0}", ratio * 100.0)
}
