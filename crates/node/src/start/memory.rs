//! One budget of memory, and what of it each table gets.

use super::control_groups::ControlGroups;
use crate::config::Config;

/// What the node needs before it holds anything for anybody: half of it pages of the program, which count as
/// resident, and half buffers for batches of packets.
const OWN_BYTES: u64 = 22 << 20;
/// One part of so many is what the allocator keeps beside what it was asked for.
const ALLOCATOR_PART: u64 = 8;
/// With less than this it could not forward.
const MIN_BYTES: u64 = 32 << 20;
/// More than this is not taken unasked.
const MAX_BYTES: u64 = 2 << 30;
/// What is taken for the machine's memory where the system does not say it.
const UNKNOWN_BYTES: u64 = 1 << 30;
/// What an idle face takes, about.
const FACE_BYTES: u64 = 8 << 10;
/// The receive buffer of a socket for one neighbour: more than two trains of the largest size.
const OWN_SOCKET_BYTES: usize = 2 << 20;
/// What a remembered nonce takes, about.
const NONCE_BYTES: u64 = 24;

/// The limits of all tables that peers can fill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shares {
    /// All of it.
    pub(crate) budget_bytes: u64,
    pub(crate) store_bytes: u64,
    pub(crate) pending_bytes: u64,
    pub(crate) all_send_queues_bytes: usize,
    pub(crate) send_queue_bytes: usize,
    pub(crate) reassembly_bytes: usize,
    /// What may wait until neighbours over UDP and Ethernet can take it.
    pub(crate) all_waiting_bytes: usize,
    pub(crate) on_demand_faces: usize,
    pub(crate) dead_nonces: u32,
    /// Of each UDP socket, in the system's memory, which counts for a control group.
    pub(crate) receive_buffer_bytes: usize,
    /// Sockets for single UDP neighbours, and the receive buffer of each.
    pub(crate) own_udp_sockets: usize,
    pub(crate) own_udp_receive_bytes: usize,
}

impl Shares {
    /// What a configuration says, and for the rest shares of its budget.
    pub(crate) fn of(config: &Config) -> Self {
        let budget = match config.node.memory_bytes {
            0 => default_budget(),
            given => given,
        };
        let shares = Shares::divide(budget);
        let (node, tables) = (&config.node, &config.tables);
        Shares {
            budget_bytes: shares.budget_bytes,
            store_bytes: config.content_store.max_bytes.unwrap_or(shares.store_bytes),
            pending_bytes: tables.max_pending_bytes.unwrap_or(shares.pending_bytes),
            all_send_queues_bytes: node.all_send_queues_bytes.unwrap_or(shares.all_send_queues_bytes),
            send_queue_bytes: node.send_queue_bytes.unwrap_or(shares.send_queue_bytes),
            reassembly_bytes: node.reassembly_bytes.unwrap_or(shares.reassembly_bytes),
            all_waiting_bytes: shares.all_waiting_bytes,
            on_demand_faces: node.max_on_demand_faces.min(shares.on_demand_faces),
            dead_nonces: tables.max_dead_nonces.min(shares.dead_nonces),
            receive_buffer_bytes: config.udp.receive_buffer_bytes.min(shares.receive_buffer_bytes),
            own_udp_sockets: config.udp.own_sockets.min(shares.own_udp_sockets),
            own_udp_receive_bytes: config.udp.receive_buffer_bytes.min(shares.own_udp_receive_bytes),
        }
    }

    fn divide(budget: u64) -> Self {
        let budget = budget.max(MIN_BYTES);
        let rest = budget - OWN_BYTES - budget / ALLOCATOR_PART;
        let part = |of: u64| usize::try_from(rest / of).unwrap_or(usize::MAX);
        let queues = part(8);
        Shares {
            budget_bytes: budget,
            store_bytes: rest / 2,
            pending_bytes: rest / 8,
            all_send_queues_bytes: queues,
            send_queue_bytes: (queues / 8).clamp(256 << 10, 16 << 20),
            reassembly_bytes: part(32),
            all_waiting_bytes: part(32),
            on_demand_faces: part(16 * FACE_BYTES).max(64),
            dead_nonces: u32::try_from(rest / (32 * NONCE_BYTES)).unwrap_or(u32::MAX),
            receive_buffer_bytes: part(32).max(208 << 10),
            own_udp_sockets: (part(32) / OWN_SOCKET_BYTES).max(1),
            own_udp_receive_bytes: OWN_SOCKET_BYTES.min(part(32).max(208 << 10)),
        }
    }
}

/// Bytes of memory that the machine has, or that the control groups of this process allow, whichever is
/// less; `None` if the system says neither.
pub fn memory_at_hand_bytes() -> Option<u64> {
    let group = ControlGroups::seen().and_then(|groups| groups.memory_limit());
    machine_bytes().into_iter().chain(group).min()
}

fn machine_bytes() -> Option<u64> {
    system::meminfo::total_bytes(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

/// A quarter of the machine's memory, or half of what a control group has, whichever is less.
pub(crate) fn default_budget() -> u64 {
    let machine = machine_bytes();
    match ControlGroups::seen() {
        Some(groups) => budget_of(machine, groups.memory_limit()),
        None => {
            tracing::warn!(
                "the limits of control groups cannot be read here: the memory budget follows the machine. Where \
                 a control group limits this process, give node.memory_bytes"
            );
            budget_of(machine, None)
        }
    }
}

fn budget_of(machine: Option<u64>, group: Option<u64>) -> u64 {
    let machine = machine.unwrap_or(UNKNOWN_BYTES);
    let budget = group.map_or(machine / 4, |group| (group / 2).min(machine / 4));
    budget.clamp(MIN_BYTES, MAX_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_follows_the_machine_and_the_group_and_has_a_floor_and_a_ceiling() {
        const GIB: u64 = 1 << 30;
        assert_eq!(budget_of(Some(4 * GIB), None), GIB);
        assert_eq!(budget_of(Some(4 * GIB), Some(100 << 20)), 50 << 20);
        // The limit of version 1 that means none.
        assert_eq!(budget_of(Some(4 * GIB), Some(9_223_372_036_854_771_712)), GIB);
        assert_eq!(budget_of(Some(400 * GIB), None), MAX_BYTES);
        assert_eq!(budget_of(None, Some(1)), MIN_BYTES);
    }

    #[test]
    fn by_default_the_content_store_of_a_large_machine_keeps_as_many_packets_of_8_kb_as_that_of_nfd() {
        // With name and signature, and what the store needs beside each.
        let packet_bytes = 8_000 + 300 + engine::ContentStoreConfig::OVERHEAD_BYTES;
        let kept =
            |machine, group| Shares::divide(budget_of(Some(machine), group)).store_bytes / packet_bytes;
        assert!(kept(8 << 30, None) >= 65_536, "{}", kept(8 << 30, None));
        assert!(Config::default().content_store.max_entries >= 65_536);
        assert!(kept(8 << 30, Some(100 << 20)) >= 1_000, "in a control group of 100 MiB");
    }

    #[test]
    fn the_shares_of_a_budget_are_no_more_than_it() {
        for budget in [0, MIN_BYTES, 32 << 20, 64 << 20, 1 << 30, 2 << 30, 1 << 40] {
            let shares = Shares::divide(budget);
            let faces = shares.on_demand_faces as u64 * FACE_BYTES;
            let others =
                (shares.all_send_queues_bytes + shares.reassembly_bytes + shares.all_waiting_bytes) as u64;
            let nonces = u64::from(shares.dead_nonces) * NONCE_BYTES;
            let all = OWN_BYTES + shares.store_bytes + shares.pending_bytes + others + faces + nonces;
            assert!(all <= budget.max(MIN_BYTES), "{budget}: {shares:?}");
            assert!(shares.send_queue_bytes <= shares.all_send_queues_bytes);
        }
    }

    #[test]
    fn what_is_said_of_one_table_holds_whatever_the_budget() {
        let mut config = Config::default();
        config.node.memory_bytes = 40 << 20;
        config.content_store.max_bytes = Some(1 << 30);
        let shares = Shares::of(&config);
        assert_eq!(shares.store_bytes, 1 << 30);
        assert_eq!(shares.pending_bytes, Shares::divide(40 << 20).pending_bytes);
    }
}
