//! What happens during a run: downloads, pings, traffic, floods, programs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{ArrivalsPlan, ConsumerPlan, FetchPlan, NodeIndex, RegistrationPlan, ReplayPlan};

/// Something that happens during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Its name in the file.
    pub name: String,
    /// The node it runs on.
    pub at: NodeIndex,
    /// When it begins, counted from the start of the run.
    pub start_ns: u64,
    /// When it ends.
    pub stop_ns: u64,
    /// What it does.
    pub does: Activity,
    /// The name under which several nodes' workloads are measured together.
    #[serde(default)]
    pub part_of: Option<String>,
}

impl Workload {
    /// The name under which it is measured.
    #[must_use]
    pub fn measured_as(&self) -> &str {
        self.part_of.as_deref().unwrap_or(&self.name)
    }
}

/// What a workload does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Activity {
    /// Fetches files.
    Download {
        /// Its place in [`Plan::contents`](super::Plan::contents).
        content: usize,
        /// New downloads a second; `None` is one after the other.
        per_second: Option<f64>,
        /// How many downloads.
        count: u32,
        /// How many at once.
        at_once: Option<u32>,
        /// What decides when which file is fetched; `None` is one after the other, by `per_second`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        arrivals: Option<ArrivalsPlan>,
        /// Who decides about the window.
        controller: ControllerChoice,
        /// The first, or the fixed, window.
        window: u32,
        /// Interest lifetime.
        lifetime_ns: u64,
        /// Is every segment verified, and asked for again if it is not the owner's?
        #[serde(default)]
        verify: bool,
    },
    /// Asks a neighbour for a route to itself.
    Register(RegistrationPlan),
    /// Asks for what does not exist.
    Flood {
        /// The prefix of the names.
        prefix: String,
        /// Interests in a burst.
        burst: u32,
        /// Between bursts.
        every_ns: u64,
        /// How many in all.
        until: u32,
        /// Interest lifetime.
        lifetime_ns: u64,
        /// Sent again after.
        refresh_ns: Option<u64>,
    },
    /// Times round trips.
    Ping {
        /// The node that answers.
        to: NodeIndex,
        /// The prefix of the names.
        prefix: String,
        /// Between pings.
        every_ns: u64,
        /// How many.
        count: u64,
        /// How long is waited.
        lifetime_ns: u64,
    },
    /// Asks for chunks.
    Traffic {
        /// Its place in [`Plan::contents`](super::Plan::contents).
        content: usize,
        /// Which, and when: a workload by its name and parameters, as in `zipf/rate~100/spacing~poisson`;
        /// empty where a trace says it.
        workload: String,
        /// A trace that is replayed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<ReplayPlan>,
        /// Interest lifetime.
        lifetime_ns: u64,
    },
    /// Asks as an application of the simulator does.
    Consume(ConsumerPlan),
    /// Whatever a program of one's own does.
    Program(ProgramPlan),
    /// Takes processor time away.
    Load {
        /// The part taken while busy.
        cpu: f64,
        /// Busy for.
        busy_ns: u64,
        /// Then idle for.
        idle_ns: u64,
    },
}

impl Activity {
    /// The table of the file that it stands in.
    pub(crate) fn table(&self) -> &'static str {
        match self {
            Activity::Download { .. } => "download",
            Activity::Register(_) => "registration",
            Activity::Flood { .. } => "flood",
            Activity::Ping { .. } => "ping",
            Activity::Traffic { .. } => "traffic",
            Activity::Consume(_) => "consumer",
            Activity::Program(program) if program.fetch.is_some() => "download",
            Activity::Program(_) => "program",
            Activity::Load { .. } => "load",
        }
    }
}

/// How a fetcher decides what to ask for: a controller that `flow` knows by name. The three that were
/// there before the others stand by themselves: their window is the download's `window`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ControllerChoice {
    /// Always so many in flight.
    Fixed,
    /// Additive increase, multiplicative decrease.
    Aimd,
    /// CUBIC.
    Cubic,
    /// One that is known by its name, with its parameters as in `pcon/beta~0.8`; of its window it decides
    /// itself.
    Named(String),
}

impl ControllerChoice {
    /// By its name, with parameters as in `pcon/beta~0.8`.
    pub(in crate::experiment) fn of(spec: &str) -> Self {
        match spec {
            "fixed" => ControllerChoice::Fixed,
            "aimd" => ControllerChoice::Aimd,
            "cubic" => ControllerChoice::Cubic,
            _ => ControllerChoice::Named(spec.to_owned()),
        }
    }
}

/// A program of one's own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ProgramPlan {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables of its environment.
    pub environment: BTreeMap<String, String>,
    /// Does it run until the end?
    pub serves: bool,
    /// How often it runs.
    pub count: u32,
    /// The exit status that means success.
    pub exit: i32,
    /// The file whose length is the content of a transfer.
    pub output: Option<String>,
    /// What it fetches, when it is a client that the lab knows: then the command is made for it.
    #[serde(default)]
    pub fetch: Option<FetchPlan>,
}
