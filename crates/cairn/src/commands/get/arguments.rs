//! Options of `cairn get` that belong together.

use std::path::PathBuf;

use clap::Args;
use flow::ControllerSpec;
use packet::Name;
use packet::time::Duration;

use crate::tool::units::{duration, size};

/// Where the object goes.
#[derive(Debug, Args)]
pub(super) struct TargetArguments {
    /// Write to this file instead of standard output; it appears when it is complete.
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Go on with a fetch into --output that was broken off.
    #[arg(long, requires = "output")]
    pub(super) resume: bool,
    /// Print what is in a folder of a file server, one name a line, written as in a name: `cairn get` takes
    /// it as it is.
    #[arg(long, conflicts_with_all = ["output", "resume"])]
    pub(super) list: bool,
    /// The most bytes to write, as in `500M`; without it, as much as the disk has free, less 256 MiB (or a
    /// twentieth of it).
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub(super) max_size: Option<u64>,
}

/// How segments are asked for.
#[derive(Debug, Args)]
pub(super) struct RequestArguments {
    /// Caches must not answer with segments that are no longer fresh.
    #[arg(short, long)]
    pub(super) fresh: bool,
    /// InterestLifetime.
    #[arg(short, long, value_name = "TIME", value_parser = duration, default_value = "4s")]
    pub(super) lifetime: Duration,
    /// How often a segment is asked for in vain; -1 for as often as it takes.
    #[arg(short, long, default_value = "15", allow_negative_numbers = true, value_parser = clap::value_parser!(i32).range(-1..=1024))]
    pub(super) retries: i32,
    /// How fast to ask: fixed, aimd, cubic, bbr …, with parameters as in `cubic/beta~0.8` or
    /// `fixed/window~10`.
    #[arg(short = 'p', long, alias = "pipeline", value_name = "CONTROLLER", default_value = "cubic")]
    pub(super) controller: ControllerSpec,
    /// A name under which the network may look (ForwardingHint); may be given several times.
    #[arg(short = 'F', long, value_name = "NAME")]
    pub(super) hint: Vec<Name>,
}

impl RequestArguments {
    pub(super) fn max_attempts(&self) -> u32 {
        u32::try_from(self.retries).map_or(u32::MAX, |retries| retries + 1)
    }

    /// The forwarder may be away for as long as a segment would be asked for in vain.
    pub(super) fn max_outage(&self) -> Duration {
        match self.retries {
            ..0 => Duration::MAX,
            _ => self.lifetime * u64::from(self.max_attempts()),
        }
    }
}
