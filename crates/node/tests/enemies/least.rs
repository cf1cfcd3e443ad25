//! The least of every limit that a configuration may give: a node with it is small, and still is one.

use cairn_node::config::Config;

use crate::victim::Victim;

/// A node with these lines in its configuration.
fn with(text: &str) -> Victim {
    let small = Config::read(text).unwrap();
    Victim::with(|config| {
        (config.node, config.tables) = (small.node, small.tables);
        (config.content_store, config.management) = (small.content_store, small.management);
        config.udp.receive_buffer_bytes = small.udp.receive_buffer_bytes;
    })
}

const MIN: [&str; 17] = [
    "[node]\nmax_faces = 3",
    "[node]\nmax_on_demand_faces = 3",
    "[node]\nmax_on_demand_faces_per_address = 1",
    "[node]\nmemory_bytes = 1",
    "[node]\nsend_queue_bytes = 8800\nall_send_queues_bytes = 8800\nreassembly_bytes = 8800",
    "[node]\nmax_remote_connections = 1",
    "[node]\nidle_timeout_secs = 1\ncrowded_idle_timeout_secs = 1\nstall_timeout_secs = 1",
    "[tables]\nmax_pending = 1",
    "[tables]\nmax_pending_bytes = 8800",
    "[tables]\nmax_pending_per_face = 1",
    "[tables]\nmax_prefixes = 16",
    "[tables]\nmax_dead_nonces = 1",
    "[tables]\nmax_interests_per_second_per_face = 1\ninterest_burst_per_face = 1",
    "[content_store]\nmax_bytes = 0\nmax_entries = 0",
    "[udp]\nreceive_buffer_bytes = 18432",
    "[management]\nmax_routes = 2",
    "[management]\nmax_route_bytes = 1024",
];

#[test]
fn with_the_least_of_any_limit_that_is_accepted_an_application_asks_another_and_is_answered() {
    for text in MIN {
        let victim = with(text);
        victim.assert_serves_at(&victim.unix);
    }
}
