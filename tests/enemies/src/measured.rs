//! What was seen of one attack.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::attack::Attack;
use crate::figures::Figures;
use crate::honest::Protocol;
use crate::pace::Spent;

/// Time between two looks at what is left of an attacker.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// One honest pair in all phases.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phases {
    pub(crate) quiet: Figures,
    pub(crate) attack: Figures,
    pub(crate) after: Figures,
}

/// A newcomer: how he came, and after what time he had an answer, if he had one.
pub(crate) type Newcomer = (Protocol, Option<Duration>);

/// What is left of an attacker who has gone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Left {
    /// When nothing pending, incomplete or waiting was left, since he went; `None` if there was in the end.
    pub(crate) gone_after: Option<Duration>,
    /// Interests pending at the end, on top of those before.
    pub(crate) pending: u64,
    /// Bytes of incomplete packets.
    pub(crate) reassembly_bytes: u64,
    /// Bytes that wait for peers.
    pub(crate) queued_bytes: u64,
    /// Faces on top of those before and of a few that are no harm.
    pub(crate) faces: u64,
}

/// What was sent at the node.
#[derive(Clone, Debug, Default)]
pub(crate) struct AttackSent {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// What the attacker sent, and for how long.
    pub(crate) sent: Spent,
    pub(crate) seconds: f64,
}

impl AttackSent {
    /// Nothing yet.
    pub(crate) fn of(attack: &dyn Attack) -> Self {
        AttackSent { name: attack.name(), about: attack.about(), ..AttackSent::default() }
    }
}

/// All honest pairs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) local: Phases,
    pub(crate) remote: Phases,
    /// An echo beside a socket that only drops.
    pub(crate) control: Phases,
    /// An echo beside the node, which waits for no process.
    pub(crate) beside: Phases,
}

/// Newcomers during the attack and after it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Newcomers {
    pub(crate) during: Vec<Newcomer>,
    pub(crate) after: Vec<Newcomer>,
}

/// Bytes of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryUse {
    pub(crate) resident_before: u64,
    pub(crate) resident_peak: u64,
    /// The budget that the node tells.
    pub(crate) budget_told: Option<u64>,
    /// The memory of the small machine, on which the node may not have more whatever it tells.
    pub(crate) cage_bytes: Option<u64>,
}

/// Time on processors.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessorUse {
    /// Time that the node ran, for each second of the attack.
    pub(crate) cpu_share: f64,
    /// Time that its threads could have run and waited for a processor, likewise. Much of it means that
    /// others were at work on the machine, and that no time measured here says anything.
    pub(crate) waited_share: f64,
}

/// Everything seen of one attack.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) attack: AttackSent,
    pub(crate) pairs: Pairs,
    pub(crate) newcomers: Newcomers,
    /// How long `cairn status` took each time; `None` where it failed.
    pub(crate) status: Vec<Option<Duration>>,
    pub(crate) memory: MemoryUse,
    pub(crate) processor: ProcessorUse,
    /// How the node ended, if it did.
    pub(crate) ended: Option<String>,
    /// Which limits acted: what was dropped between the phases before and after, by layer and reason.
    pub(crate) drops: BTreeMap<String, u64>,
    pub(crate) left: Option<Left>,
    /// What kept the suite from measuring.
    pub(crate) trouble: Vec<String>,
}

impl Measured {
    /// Everything as numbers, for programs.
    pub(crate) fn json(&self) -> Value {
        let AttackSent { name, about, sent, seconds: lasted } = &self.attack;
        let per_second = |count: u64| count as f64 / lasted.max(1e-9);
        json!({
            "attack": name,
            "about": about,
            "packets_per_second": per_second(sent.packets),
            "bits_per_second": per_second(sent.bytes) * 8.0,
            "local": phases(&self.pairs.local),
            "remote": phases(&self.pairs.remote),
            "control": phases(&self.pairs.control),
            "beside": phases(&self.pairs.beside),
            "newcomers": self.newcomers.during.iter().map(newcomer).collect::<Vec<_>>(),
            "newcomers_after": self.newcomers.after.iter().map(newcomer).collect::<Vec<_>>(),
            "status_seconds": self.status.iter().map(|took| seconds(*took)).collect::<Vec<_>>(),
            "resident_before_bytes": self.memory.resident_before,
            "resident_peak_bytes": self.memory.resident_peak,
            "budget_told_bytes": self.memory.budget_told,
            "cpu_share": self.processor.cpu_share,
            "waited_share": self.processor.waited_share,
            "ended": self.ended,
            "drops": self.drops,
            "left": self.left.as_ref().map(|left| json!({
                "gone_after_seconds": seconds(left.gone_after),
                "pending": left.pending,
                "reassembly_bytes": left.reassembly_bytes,
                "queued_bytes": left.queued_bytes,
                "faces": left.faces,
            })),
            "trouble": self.trouble,
        })
    }
}

fn newcomer((way, answered): &Newcomer) -> Value {
    json!({ "way": format!("{way:?}").to_lowercase(), "seconds": seconds(*answered) })
}

fn seconds(time: Option<Duration>) -> Option<f64> {
    time.map(|time| time.as_secs_f64())
}

fn phases(phases: &Phases) -> Value {
    let figures = |figures: &Figures| {
        let micros = |share| figures.quantile(share).map(|time| time.as_secs_f64() * 1e6);
        json!({
            "sent": figures.sent,
            "lost": figures.lost(),
            "nacked": figures.nacked,
            "forged": figures.forged,
            "round_trip_p50_us": micros(0.5),
            "round_trip_p99_us": micros(0.99),
            "round_trip_max_us": micros(1.0),
        })
    };
    let Phases { quiet, attack, after } = phases;
    json!({ "quiet": figures(quiet), "attack": figures(attack), "after": figures(after) })
}
