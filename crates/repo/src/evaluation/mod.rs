//! The evaluation of Gadow and Anastasiades et al., "Persistent Caching in Information-Centric Networking"
//! (2015), without packets or a disk: files in classes of popularity, requests and new files at fixed
//! intervals, and what a policy makes of them.
//!
//! Its requests are no `flow::workload`. One of those chooses among items that are all there from the
//! beginning, tells the owner of a consumer when to ask, and is told what came of it. Here files come into
//! being as time goes by, each with a size and a class, and a request is the input of a policy: nobody sends
//! it, and nothing comes of it.
//!
//! [`Reading::LITERAL`] is what the paper's text and Table I say. A file belongs to one of 20 classes; there
//! are most files in the last class. Every five seconds a class is drawn by Zipf's law, and in it one of all
//! files ever created, each as likely. Every ten seconds a file is created, requested and included. A file
//! that is asked for and not here is fetched and included. It begins with nothing, and is evaluated for a day
//! from the first deletion on; the requests that create files are not counted.
//!
//! ```
//! use cairn_repo::eviction::{DeleteQueue, DeletionRule};
//! use cairn_repo::evaluation::{Reading, Run, Workload};
//! use packet::{random::Random, time::Duration};
//!
//! let rule = DeletionRule { threshold_bytes: 2_000_000_000, ratio: 0.25 };
//! let day = Duration::from_secs(86_400);
//! let (queue, random) = (DeleteQueue::default(), Random::from_seed(1));
//! let outcome = Run::new(Workload::WEB_SERVER, Reading::LITERAL, rule, queue, random)?.run(day);
//! assert!(outcome.hit_rate() > 0.5 && outcome.deletions > 10);
//! # Ok::<(), packet::random::ZipfError>(())
//! ```

mod download;
mod hierarchy;
mod ranges;
mod requests;
mod run;
mod several;

use packet::time::Duration;

pub use download::DownloadPath;
pub use hierarchy::{Hierarchy, HierarchyOutcome, HierarchyRun, Level, Outage};
pub use ranges::{Granularity, RangesOutcome, RangesRun};
pub use requests::{Request, RequestTrace, Requests, trace};
pub use run::{Outcome, Run};
pub use several::{Home, SeveralOutcome, SeveralRepositories, SeveralRun};

/// Classes of popularity.
pub const CLASSES: usize = 20;

/// What is requested, and how large it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Workload {
    /// Zipf's exponent of the popularity of classes.
    pub popularity_alpha: f64,
    /// Zipf's exponent of the numbers of files of classes.
    pub files_alpha: f64,
    /// Shape of the gamma distribution of sizes, a bare number.
    pub size_shape: f64,
    /// Scale of the gamma distribution of sizes, in bytes.
    pub size_scale_bytes: f64,
    /// Smaller files are made so large, in bytes.
    pub min_bytes: u64,
    /// Larger files are made so small, in bytes.
    pub max_bytes: u64,
    /// Time between requests.
    pub request_interval: Duration,
    /// Time between new files.
    pub file_interval: Duration,
}

impl Workload {
    /// The paper's files of a web server.
    pub const WEB_SERVER: Workload = Workload {
        popularity_alpha: 1.0,
        files_alpha: 1.0,
        size_shape: 1.8,
        size_scale_bytes: 1_200_000.0,
        min_bytes: 50_000,
        max_bytes: 50_000_000,
        request_interval: Duration::from_secs(5),
        file_interval: Duration::from_secs(10),
    };

    /// The paper's videos.
    pub const YOUTUBE: Workload = Workload {
        popularity_alpha: 2.0,
        size_scale_bytes: 5_500_000.0,
        min_bytes: 500_000,
        max_bytes: 100_000_000,
        ..Workload::WEB_SERVER
    };
}

/// How the paper is read where its text could mean something else, or where something else would explain its
/// numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Files that exist upstream before the first request; none of them is stored.
    pub first_files: u32,
    /// Only so many of the newest files are asked for.
    pub newest_only: Option<u32>,
    /// Whether the last class has most files, as the paper says, and not the first.
    pub last_has_most: bool,
    /// Whether the request for a file that has just been created counts, as a hit.
    pub new_are_hits: bool,
    /// Whether a file that is fetched because it was not here is included.
    pub keeps_missed: bool,
}

impl Reading {
    /// What the paper says.
    pub const LITERAL: Reading = Reading {
        first_files: 0,
        newest_only: None,
        last_has_most: true,
        new_are_hits: false,
        keeps_missed: true,
    };
}

#[cfg(test)]
mod tests;
