//! Limits with which a node could not do its work.

use packet::Dialect;
use rustix::thread::CpuSet;

use crate::config::{Config, ConfigError};
use crate::sys::datagrams::MAX_DATAGRAM_BYTES;

/// Prefixes that the node itself needs, for its management and its strategies, and a few for its user.
const MIN_PREFIXES: u64 = 16;
/// Who asks, who answers, and who gives the node commands meanwhile.
const MIN_FACES: u64 = 3;

/// Refuses limits that leave no room for what they are about: with them the node would start and forward
/// nothing.
pub(super) fn check(config: &Config) -> Result<(), ConfigError> {
    let Config { node, tables, management, udp, ccnx, .. } = config;
    let at_least = |key: &str, value: u64, least: u64, why: &str| match value < least {
        true => Err(ConfigError::new(format!(
            "{key} is {value}: {why}. Give it at least {least}, or leave it out for the default"
        ))),
        false => Ok(()),
    };
    let mtu = link::v2::MIN_MTU_BYTES as u64;
    let packet = Dialect::ALL.map(Dialect::max_packet_bytes).into_iter().max().unwrap_or(0) as u64;
    let (frames, packets) = ("no frame could wait for its turn to be sent", "no Interest could be forwarded");
    at_least("udp.mtu_bytes", udp.mtu_bytes as u64, mtu, "smaller datagrams have no room for a fragment")?;
    if udp.mtu_bytes > MAX_DATAGRAM_BYTES {
        return Err(ConfigError::new(format!(
            "udp.mtu_bytes is {}: no datagram has more than {MAX_DATAGRAM_BYTES}. Leave it out for the default",
            udp.mtu_bytes
        )));
    }
    let buffer = udp.receive_buffer_bytes as u64;
    let lost = "the system would drop datagrams before they could be read";
    at_least("udp.receive_buffer_bytes", buffer, link::v2::MIN_STOCK_BUFFER_BYTES, lost)?;
    at_least("tables.max_pending", tables.max_pending.into(), 1, packets)?;
    // What is left out is a share of the memory, which is never too little.
    let given = |key: &str, value: Option<u64>, why: &str| {
        value.map_or(Ok(()), |value| at_least(key, value, packet, why))
    };
    given("tables.max_pending_bytes", tables.max_pending_bytes, packets)?;
    let prefixes = "the node's own prefixes and one's routes would not all have a place";
    at_least("tables.max_prefixes", tables.max_prefixes.into(), MIN_PREFIXES, prefixes)?;
    let loops = "Interests that go in circles would not be noticed";
    at_least("tables.max_dead_nonces", tables.max_dead_nonces.into(), 1, loops)?;
    if tables.max_interests_per_second_per_face > 0 {
        let burst = tables.interest_burst_per_face.into();
        at_least("tables.interest_burst_per_face", burst, 1, packets)?;
    }
    let both_ends = "an Interest comes by one face and leaves by another, and commands come by a third";
    at_least("node.max_faces", node.max_faces as u64, MIN_FACES, both_ends)?;
    let configured = "those of the configuration would not all have a place";
    at_least("node.max_faces", node.max_faces as u64, config.faces.len() as u64, configured)?;
    at_least("node.max_on_demand_faces", node.max_on_demand_faces as u64, MIN_FACES, both_ends)?;
    let per_address = node.max_on_demand_faces_per_address as u64;
    at_least("node.max_on_demand_faces_per_address", per_address, 1, "no neighbour could connect")?;
    if let Some(cpu) = node.pin_to_cpu.filter(|cpu| *cpu >= CpuSet::MAX_CPU) {
        let last = CpuSet::MAX_CPU - 1;
        return Err(ConfigError::new(format!(
            "node.pin_to_cpu is {cpu}: processors have numbers from 0 to {last}. Leave it out to use any"
        )));
    }
    let bytes = |value: Option<usize>| value.map(|value| value as u64);
    given("node.send_queue_bytes", bytes(node.send_queue_bytes), frames)?;
    given("node.all_send_queues_bytes", bytes(node.all_send_queues_bytes), frames)?;
    let fragments = "no packet that came in fragments could be put together";
    given("node.reassembly_bytes", bytes(node.reassembly_bytes), fragments)?;
    let closed = "connections would be closed between two halves of a packet";
    at_least("node.stall_timeout_secs", node.stall_timeout_secs, 1, closed)?;
    at_least(
        "node.idle_timeout_secs",
        node.idle_timeout_secs,
        1,
        "neighbours would lose their face at once",
    )?;
    let crowded = "who fills the places would close every neighbour's face, busy or not";
    at_least("node.crowded_idle_timeout_secs", node.crowded_idle_timeout_secs, 1, crowded)?;
    let clients = "no client of CCNx could be asked for anything";
    at_least("ccnx.max_registrations", ccnx.max_registrations as u64, 1, clients)?;
    let routes = "management could not be reached";
    at_least("management.max_routes", management.max_routes as u64, 2, routes)?;
    at_least("management.max_route_bytes", management.max_route_bytes as u64, 1024, routes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_stops_the_node_is_refused_with_where_why_and_what_to_do() {
        let names = [
            ("tables", &["max_pending", "max_pending_bytes", "max_prefixes", "max_dead_nonces"][..]),
            ("node", &["max_faces", "max_on_demand_faces", "send_queue_bytes", "all_send_queues_bytes"]),
            ("node", &["reassembly_bytes", "stall_timeout_secs", "idle_timeout_secs"]),
            ("node", &["crowded_idle_timeout_secs", "max_on_demand_faces_per_address"]),
            ("management", &["max_routes", "max_route_bytes"]),
            ("udp", &["mtu_bytes", "receive_buffer_bytes"]),
            ("ccnx", &["max_registrations"]),
        ];
        let refused = |section: &str, key: &str, value: u32| {
            let config = Config::read(&format!("[{section}]\n{key} = {value}\n")).unwrap();
            let problem = check(&config).unwrap_err().to_string();
            assert!(problem.starts_with(&format!("{section}.{key} is {value}: ")), "{problem}");
            assert!(problem.contains("at least"), "{problem}");
        };
        for (section, keys) in names {
            keys.iter().for_each(|key| refused(section, key, 0));
        }
        ["max_faces", "max_on_demand_faces"].iter().for_each(|key| refused("node", key, 2));
        let faces = "[[face]]\nremote = 'udp4://192.0.2.1:6363'\n".repeat(4);
        let problem = check(&Config::read(&format!("[node]\nmax_faces = 3\n{faces}")).unwrap()).unwrap_err();
        assert!(problem.to_string().contains("those of the configuration"), "{problem}");
        let text = "[tables]\nmax_interests_per_second_per_face = 5\ninterest_burst_per_face = 0\n";
        assert!(check(&Config::read(text).unwrap()).is_err());
        assert_eq!(check(&Config::default()), Ok(()));
    }

    #[test]
    fn datagrams_larger_than_any_are_refused() {
        let config = |bytes: u32| Config::read(&format!("[udp]\nmtu_bytes = {bytes}\n")).unwrap();
        assert_eq!(check(&config(65_507)), Ok(()));
        let problem = check(&config(65_508)).unwrap_err().to_string();
        assert!(problem.starts_with("udp.mtu_bytes is 65508: no datagram"), "{problem}");
    }

    #[test]
    fn a_processor_that_no_machine_has_is_refused() {
        let problem = check(&Config::read("[node]\npin_to_cpu = 99999\n").unwrap()).unwrap_err().to_string();
        assert!(problem.contains("node.pin_to_cpu is 99999") && problem.contains("0 to 1023"), "{problem}");
        assert_eq!(check(&Config::read("[node]\npin_to_cpu = 0\n").unwrap()), Ok(()));
    }

    #[test]
    fn zeros_that_mean_something_stay() {
        for text in [
            "[tables]\nmax_pending_per_face = 0\nmax_interests_per_second_per_face = 0\ninterest_burst_per_face = 0",
            "[content_store]\nmax_bytes = 0\nmax_entries = 0",
            "[node]\nbusy_poll_micros = 0\nanswer_poll_micros = 0\ncongestion_threshold_bytes = 0",
        ] {
            assert_eq!(check(&Config::read(text).unwrap()), Ok(()), "{text}");
        }
    }
}
