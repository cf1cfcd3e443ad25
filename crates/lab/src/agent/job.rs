//! What one agent is told to do.

use std::path::{Path, PathBuf};

use packet::Dialect;
use serde::{Deserialize, Serialize};

use crate::experiment::plan::{self, Change, ContentPlan, NodeIndex, Plan, Workload};

/// The work of the agent at one node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The node's name.
    pub node: String,
    /// The node.
    pub at: NodeIndex,
    /// The forwarder's socket.
    pub socket: PathBuf,
    /// Where files are written.
    pub folder: PathBuf,
    /// The seed of this repeat.
    pub seed: u64,
    /// What is spoken at the socket.
    #[serde(default = "plan::ndn", with = "plan::DialectInFiles")]
    pub dialect: Dialect,
    /// When everything ends, counted from the start of the run.
    pub duration_ns: u64,
    /// All contents of the experiment, by their place in the plan.
    pub contents: Vec<ContentPlan>,
    /// What this agent does.
    pub workloads: Vec<Workload>,
    /// Prefixes this agent answers pings under.
    pub answers: Vec<String>,
    /// Prefixes by which it counts, by their place in the plan.
    #[serde(default)]
    pub prefixes: Vec<String>,
    /// Does the node's forwarder start anew in between? Then the agent connects and registers again.
    #[serde(default)]
    pub reconnects: bool,
}

impl Job {
    /// The work at a node, or nothing when there is none.
    #[must_use]
    pub fn of(plan: &Plan, at: NodeIndex, seed: u64, socket: &Path, folder: PathBuf) -> Option<Self> {
        use crate::experiment::plan::Activity;
        // Consumers are applications of the simulator, and programs are processes of their own.
        let is_client = |workload: &&Workload| {
            !matches!(workload.does, Activity::Load { .. } | Activity::Consume(_) | Activity::Program(_))
        };
        let workloads: Vec<Workload> =
            plan.workloads.iter().filter(is_client).filter(|workload| workload.at == at).cloned().collect();
        let answers: Vec<String> = plan
            .workloads
            .iter()
            .filter_map(|workload| match &workload.does {
                Activity::Ping { to, prefix, .. } if *to == at => Some(prefix.clone()),
                _ => None,
            })
            .collect();
        let serves = !plan.is_served_by_a_program(at) && plan.contents.iter().any(|content| content.at == at);
        if workloads.is_empty() && answers.is_empty() && !serves {
            return None;
        }
        Some(Job {
            node: plan.node_name(at).to_owned(),
            at,
            socket: plan::application_socket(plan.dialect, socket),
            folder,
            seed,
            dialect: plan.dialect,
            duration_ns: plan.schedule.duration_ns,
            contents: plan.contents.iter().map(|content| told(plan, content)).collect(),
            workloads,
            answers,
            prefixes: plan.evaluation.prefixes.clone(),
            reconnects: plan.events.iter().any(|event| event.change == Change::Restart(at)),
        })
    }
}

/// A content as an agent is told of it: what a program serves, no agent does.
fn told(plan: &Plan, content: &ContentPlan) -> ContentPlan {
    let at = if plan.is_served_by_a_program(content.at) { NodeIndex(usize::MAX) } else { content.at };
    ContentPlan { at, ..content.clone() }
}
