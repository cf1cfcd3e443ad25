//! How long, how much, and what is demanded: the long form, and a short one for continuous integration.

use std::time::Duration;

/// The numbers of a run.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// Honest traffic alone.
    pub(crate) quiet: Duration,
    /// Beside the attack.
    pub(crate) attack: Duration,
    /// From the attacker's leaving until all must be as before.
    pub(crate) leave: Duration,
    /// Honest traffic alone again.
    pub(crate) after: Duration,
    /// Beside the same load into a socket that only drops.
    pub(crate) control: Duration,
    /// Whether each attack has a control of its own; otherwise the first one's holds for all.
    pub(crate) control_each: bool,
    /// Exchanges in a second of each honest pair.
    pub(crate) honest_rate: u64,
    /// How long an honest exchange may take.
    pub(crate) patience: Duration,
    /// How long newcomers try.
    pub(crate) newcomer_patience: Duration,
    /// The attacker's packets in a second, all attacks together.
    pub(crate) packets_per_second: u64,
    /// The attacker's bits in a second.
    pub(crate) bits_per_second: u64,
    /// The attacker's sockets.
    pub(crate) sockets: usize,
    pub(crate) demands: Requirements,
}

/// What must hold.
#[derive(Clone, Debug)]
pub(crate) struct Requirements {
    /// The share of honest exchanges that may be lost, on top of what the control lost.
    pub(crate) loss: f64,
    /// How many times as long as in quiet a round trip may take at 99 %; `None` demands nothing.
    pub(crate) slower: Option<f64>,
    /// No quiet round trip counts as shorter than this one. A unix socket answers within some tens of
    /// microseconds as long as both processors are awake and idle; three times that is less than one turn
    /// of another process takes, which is no harm to anybody.
    pub(crate) floor: Duration,
    /// Until a newcomer has his first answer.
    pub(crate) newcomer: Duration,
    /// Until `cairn status` has answered.
    pub(crate) status: Duration,
    /// Resident memory, where the node does not tell a budget.
    pub(crate) memory_bytes: u64,
    /// Until nothing is left of the attacker; `None` demands nothing.
    pub(crate) gone: Option<Duration>,
}

impl Plan {
    /// What the project promises.
    pub(crate) fn long() -> Plan {
        Plan {
            quiet: Duration::from_secs(5),
            attack: Duration::from_secs(10),
            leave: Duration::from_secs(10),
            after: Duration::from_secs(5),
            control: Duration::from_secs(4),
            control_each: true,
            honest_rate: 500,
            patience: Duration::from_secs(1),
            newcomer_patience: Duration::from_secs(5),
            packets_per_second: 100_000,
            bits_per_second: 1_000_000_000,
            sockets: 11_000,
            demands: Requirements {
                loss: 0.001,
                slower: Some(3.0),
                floor: Duration::from_micros(100),
                newcomer: Duration::from_secs(2),
                status: Duration::from_secs(1),
                memory_bytes: 512 << 20,
                gone: Some(Duration::from_secs(60)),
            },
        }
    }

    /// What holds on a busy machine with two processors, too: nobody is locked out, nothing stops, nothing
    /// grows without end.
    pub(crate) fn short() -> Plan {
        Plan {
            quiet: Duration::from_secs(1),
            attack: Duration::from_millis(2500),
            leave: Duration::from_secs(1),
            after: Duration::from_secs(1),
            control: Duration::from_secs(2),
            control_each: false,
            honest_rate: 200,
            patience: Duration::from_millis(500),
            newcomer_patience: Duration::from_secs(3),
            packets_per_second: 20_000,
            bits_per_second: 200_000_000,
            sockets: 1500,
            demands: Requirements {
                loss: 0.02,
                slower: None,
                floor: Duration::from_micros(100),
                newcomer: Duration::from_secs(2),
                status: Duration::from_secs(1),
                memory_bytes: 512 << 20,
                gone: None,
            },
        }
    }
}
