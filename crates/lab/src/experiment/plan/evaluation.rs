//! What counts of a case, what makes a run invalid, and what the result is held against.

use serde::{Deserialize, Serialize};

use crate::experiment::model::Expect;

/// What counts of a case, and what it is held against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationPlan {
    /// Which part of a run counts.
    #[serde(default)]
    pub window: WindowPlan,
    /// Prefixes by which Interests are counted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefixes: Vec<String>,
    /// What makes a run invalid.
    pub gates: GatePlan,
    /// What the result is held against.
    pub expectations: Vec<Expect>,
    /// What is stated for other backends only.
    #[serde(default)]
    pub elsewhere: Vec<Expect>,
}

/// The part of a run that counts, as far as the experiment says it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowPlan {
    /// Its begin; `None` is the first activity of the workloads.
    pub from_ns: Option<u64>,
    /// Its end; `None` is their last.
    pub until_ns: Option<u64>,
}

/// Thresholds of validity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GatePlan {
    /// Part of frames a capture may miss.
    pub capture_drops: f64,
    /// Part of samples a forwarder may not answer.
    pub invalid_samples: f64,
    /// Part of transfers that may be unfinished.
    pub unfinished: f64,
    /// Part of processor time that may be stolen.
    pub steal: f64,
    /// Part of the time that a forwarder may wait for a processor.
    pub waited: f64,
    /// How long a forwarder may give no answer.
    #[serde(default = "GatePlan::any_standstill", alias = "silence_ns")]
    pub forwarder_standstill_ns: u64,
    /// How long a client may stand still.
    #[serde(default = "GatePlan::any_standstill")]
    pub client_standstill_ns: u64,
    /// How far clocks may be apart.
    pub clock_error_ns: u64,
    /// How often an invalid run is repeated.
    pub retries: u32,
}

impl GatePlan {
    /// Orders of earlier versions did not judge it.
    fn any_standstill() -> u64 {
        u64::MAX
    }

    /// Lets everything be valid: two that have forgotten are the same.
    pub(crate) fn forget(&mut self) {
        *self = GatePlan {
            capture_drops: 1.0,
            invalid_samples: 1.0,
            unfinished: 1.0,
            steal: 1.0,
            waited: 1.0,
            forwarder_standstill_ns: u64::MAX,
            client_standstill_ns: u64::MAX,
            clock_error_ns: u64::MAX,
            retries: 0,
        };
    }
}

/// A run without the cause of what is expected of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlPlan {
    /// The control's name.
    pub name: String,
    /// What was taken away.
    pub removes: String,
    /// The case it is a control of.
    pub case: String,
    /// Names of the expectations that must fail.
    pub fails: Vec<String>,
}
