//! This repository's own forwarder: everything it needs stands in its configuration.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;

use ::management::{Command, ControlParameters};
use packet::Dialect;
use packet::ccnx::PORT as CCNX_PORT;
use packet::ndn::PORT;
use toml::{Table, Value};

use super::{Driver, DriverError, Launch, Manager, Setup, version_of};
use crate::backend::interface::Interface;
use crate::experiment::plan::{
    EarlierKey, LinkKind, LinkPlan, NodePlan, Plan, Registrations, application_socket,
};

/// Starts `cairn node run`.
#[derive(Debug)]
pub struct Cairn {
    program: PathBuf,
}

impl Cairn {
    /// With this program.
    #[must_use]
    pub fn new(program: PathBuf) -> Self {
        Cairn { program }
    }
}

/// Bytes that may wait for one slow reader, on every machine.
const SEND_QUEUE_BYTES: u64 = 4 << 20;

/// What each of so many nodes may take: together half of what is `at_hand`.
fn memory_bytes(at_hand: u64, nodes: usize) -> u64 {
    (at_hand / 2 / nodes.max(1) as u64).clamp(32 << 20, 2 << 30)
}

/// Writes what a forwarder among so many may take for itself and for its content store.
fn write_memory(text: &mut String, node: &NodePlan, nodes: usize) {
    let forwarder = &node.forwarder;
    // The machine's memory is for all nodes of the experiment; what changes results must not depend on the
    // machine.
    let limit = node.memory_bytes.map_or(u64::MAX, |limit| limit / 2);
    // Where the lab runs in a control group with a limit, so do its nodes.
    let at_hand = node::memory_at_hand_bytes().unwrap_or(2 << 30);
    let share = memory_bytes(at_hand, nodes).min(limit);
    let _ = writeln!(text, "[node]\nmemory_bytes = {share}\nsend_queue_bytes = {SEND_QUEUE_BYTES}");
    let _ = writeln!(text, "[content_store]\nmax_bytes = {}", forwarder.store_bytes());
    let _ = match forwarder.store_entries() {
        0 => writeln!(text, "admit = false\nserve = false"),
        entries => writeln!(text, "max_entries = {entries}"),
    };
    if let Some(eviction) = &forwarder.eviction {
        let _ = writeln!(text, "eviction = {eviction:?}");
    }
    if let Some(placement) = &forwarder.placement {
        let _ = writeln!(text, "placement = {placement:?}");
    }
}

/// What an experiment's `settings` say goes before what the lab says; lists have both.
fn with_settings(text: &str, settings: &str) -> Result<String, DriverError> {
    let unreadable = |error: &dyn std::fmt::Display| DriverError::Unable {
        software: "cairn",
        what: format!("read the forwarder's settings: {error}"),
        instead: "write `settings` as lines of a node's configuration".to_owned(),
    };
    let mut all: Table = text.parse().map_err(|error: toml::de::Error| unreadable(&error.message()))?;
    let settings: Table = settings.parse().map_err(|error: toml::de::Error| unreadable(&error.message()))?;
    merge(&mut all, settings);
    toml::to_string(&all).map_err(|error| unreadable(&error))
}

fn merge(into: &mut Table, from: Table) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (Some(Value::Table(into)), Value::Table(from)) => merge(into, from),
            (Some(Value::Array(into)), Value::Array(from)) if from.iter().all(Value::is_table) => {
                into.extend(from);
            }
            (_, value) => drop(into.insert(key, value)),
        }
    }
}

/// Where the forwarder listens, in the dialect of the experiment. The unix socket of NDN is there in any
/// case: the lab asks it for counters.
fn write_listeners(text: &mut String, setup: &Setup<'_>) {
    let plan = setup.plan;
    let socket = setup.socket.display();
    // Who is sent again what was lost must not be taken for a stranger before the face is made.
    let strangers = !setup.interfaces.iter().any(|interface| is_repaired(plan, interface));
    let _ = write!(
        text,
        "[unix]\nlisten = [\"{socket}\"]\n[websocket]\nlisten = []\n[udp]\nlisten = [\"0.0.0.0:{PORT}\"]\n"
    );
    if !strangers {
        text.push_str("accept = false\n");
    }
    let _ = writeln!(text, "[tcp]\nlisten = [\"0.0.0.0:{PORT}\"]");
    let ether: Vec<String> = setup
        .interfaces
        .iter()
        .filter(|interface| plan.links.get(interface.link).is_some_and(|link| link.kind == LinkKind::Ether))
        .map(|interface| format!("\"{}\"", interface.name))
        .collect();
    let interfaces = ether.join(", ");
    match plan.dialect {
        Dialect::Ndn if ether.is_empty() => {}
        Dialect::Ndn => {
            let _ = writeln!(text, "[ethernet]\ninterfaces = [{interfaces}]\nmulticast = false");
            if !strangers {
                text.push_str("accept = false\n");
            }
        }
        Dialect::Ccnx => {
            let socket = application_socket(plan.dialect, setup.socket);
            let key = setup.folder.join(trust::ccnx::DEFAULT_KEY_FILE);
            let _ = writeln!(
                text,
                "[ccnx]\nenabled = true\nudp = [\"0.0.0.0:{CCNX_PORT}\"]\ntcp = [\"0.0.0.0:{CCNX_PORT}\"]\n\
                 unix = [{:?}]\nkey_file = {:?}\nethernet = [{interfaces}]",
                socket.display().to_string(),
                key.display().to_string(),
            );
            let over_udp = setup.interfaces.iter().filter_map(|interface| plan.links.get(interface.link));
            let over_udp = over_udp.filter(|link| link.kind == LinkKind::Udp);
            if let Some(mtu) = over_udp.filter_map(|link| link.ndnlp1).map(|plan| plan.mtu_bytes).min() {
                let _ = writeln!(text, "ndnlp_mtu_bytes = {mtu}");
            }
        }
    }
}

/// Does NDNLPv2 send again what the link at an interface has lost?
fn is_repaired(plan: &Plan, interface: &Interface) -> bool {
    plan.dialect == Dialect::Ndn && plan.links.get(interface.link).is_some_and(|link| link.simulated.reliable)
}

fn configuration(setup: &Setup<'_>) -> Result<String, DriverError> {
    let plan = setup.plan;
    let mut text = String::new();
    write_listeners(&mut text, setup);
    if let Some(node) = plan.nodes.get(setup.node) {
        let forwarder = &node.forwarder;
        write_memory(&mut text, node, plan.nodes.len());
        text.push_str("[tables]\n");
        if let Some(limit) = forwarder.max_pending {
            let _ = writeln!(text, "max_pending = {limit}");
        }
        if let Some(limit) = forwarder.max_pending_per_face {
            let _ = writeln!(text, "max_pending_per_face = {limit}");
        }
        if let Some(rate) = forwarder.max_interests_per_second_per_face {
            let per_second = (rate.0.round() as u32).max(1);
            let _ = writeln!(text, "max_interests_per_second_per_face = {per_second}");
        }
        if let Some(strategy) = &forwarder.strategy {
            let _ = writeln!(text, "default_strategy = \"{strategy}\"");
        }
    }
    for interface in setup.interfaces {
        let Some(link) = plan.links.get(interface.link) else { continue };
        let hops =
            plan.routing.hops.iter().filter(|hop| hop.node == setup.node && hop.link == interface.link);
        let mut routes: BTreeMap<(u32, Ipv4Addr), Vec<String>> = BTreeMap::new();
        for hop in hops {
            let remote = setup.towards(interface, hop).remote;
            routes.entry((hop.cost, remote)).or_default().push(format!("\"{}\"", hop.prefix));
        }
        let has_datagrams = link.kind == LinkKind::Udp
            && (impairs(setup, interface, link) || link.ndnlp1.is_some() || is_repaired(plan, interface));
        // A face is made here with all that belongs to it, also where its first route comes later.
        for hop in plan.later_routes(setup.node).filter(|hop| hop.link == interface.link) {
            let remote = setup.towards(interface, hop).remote;
            if !routes.keys().any(|(_, other)| *other == remote) {
                routes.insert((hop.cost, remote), Vec::new());
            }
        }
        let is_needed = link.kind == LinkKind::Ether || has_datagrams;
        if routes.is_empty() && !is_needed {
            continue;
        }
        if routes.is_empty() {
            routes.insert((1, interface.remote), Vec::new());
        }
        // Whoever says a face again gives it more routes; all else must be said as before.
        for ((cost, remote), routes) in routes {
            let interface = Interface { remote, ..interface.clone() };
            write_face(&mut text, setup, &interface, link, cost, &routes.join(", "));
        }
    }
    write_registrations(&mut text, setup)?;
    match plan.nodes.get(setup.node).and_then(|node| node.forwarder.settings.as_deref()) {
        Some(settings) => with_settings(&text, settings),
        None => Ok(text),
    }
}

/// Writes who of its neighbours may register routes, and the certificates of those whose keys count.
fn write_registrations(text: &mut String, setup: &Setup<'_>) -> Result<(), DriverError> {
    let Some(node) = setup.plan.nodes.get(setup.node) else { return Ok(()) };
    let accepts = Registrations::of(&node.forwarder);
    if accepts != Registrations::Nobody {
        text.push_str("[management]\nlocalhop = true\n");
    }
    let Registrations::Keys(own_names) = accepts else { return Ok(()) };
    let failed = |source| DriverError::Configuration { node: node.name.clone(), source };
    let believed = setup.plan.believed_identities();
    let mut records = Vec::new();
    for (identity, _) in believed.iter().filter(|(_, earlier)| *earlier == Some(EarlierKey::Revoked)) {
        let record = crate::keys::revocation(setup.seed, identity).map_err(io::Error::other);
        records.extend_from_slice(record.map_err(failed)?.data().wire());
    }
    let lists: Vec<_> = setup.plan.publishing_owners().map(|owner| owner.prefix.as_str()).collect();
    if !records.is_empty() || !lists.is_empty() {
        let file = setup.folder.join("revoked.records");
        std::fs::write(&file, records).map_err(failed)?;
        let _ = writeln!(text, "revocations = {:?}", file.display().to_string());
    }
    let mut certificates = Vec::new();
    if !lists.is_empty() {
        let names: BTreeSet<_> = lists.iter().map(|prefix| crate::keys::list_name(prefix)).collect();
        let names: Vec<_> = names.into_iter().collect();
        let _ = writeln!(text, "revocations_from = {names:?}\nrevocations_every_secs = 1");
        let authorities: BTreeSet<_> =
            lists.iter().map(|prefix| crate::keys::list_authority(prefix)).collect();
        for authority in authorities {
            let above = crate::keys::certificate(setup.seed, authority).map_err(io::Error::other);
            certificates.push(above.map_err(failed)?);
        }
    }
    for (identity, earlier) in believed {
        let of_identity = crate::keys::certificates(setup.seed, identity, earlier).map_err(io::Error::other);
        certificates.extend(of_identity.map_err(failed)?);
    }
    for (number, certificate) in certificates.into_iter().enumerate() {
        let file = setup.folder.join(format!("believed-{number}.cert"));
        std::fs::write(&file, certificate.data().wire()).map_err(failed)?;
        let _ = writeln!(
            text,
            "[[authorize]]\ncertificate = {:?}\nmodules = [\"localhop\"]\nown_names = {own_names}",
            file.display().to_string()
        );
    }
    Ok(())
}

/// Writes a face to a neighbour with routes of one cost.
fn write_face(
    text: &mut String,
    setup: &Setup<'_>,
    interface: &Interface,
    link: &LinkPlan,
    cost: u32,
    routes: &str,
) {
    let remote = interface.face_uri(link.kind, setup.plan.dialect);
    let local = (link.kind == LinkKind::Ether).then(|| format!("dev://{}", interface.name));
    let _ = writeln!(text, "[[face]]\nremote = \"{remote}\"\nroutes = [{routes}]\ncost = {cost}");
    if let Some(local) = local {
        let _ = writeln!(text, "local = \"{local}\"");
    }
    if is_repaired(setup.plan, interface) {
        text.push_str("reliable = true\n");
    }
    if setup.plan.dialect == Dialect::Ccnx {
        text.push_str("dialect = \"ccnx\"\n");
    }
    if let Some(ndnlp) = link.ndnlp1 {
        let word = if ndnlp.acknowledged { "acknowledged" } else { "plain" };
        let _ = writeln!(
            text,
            "ndnlp = \"{word}\"\n[face.ndnlp_timings]\nsent_packets = {}\nretries = {}\n\
             retransmit_millis = {}\nacknowledge_millis = {}",
            ndnlp.sent_packets,
            ndnlp.retries,
            ndnlp.retransmit_ns.div_ceil(1_000_000),
            ndnlp.acknowledge_ns.div_ceil(1_000_000),
        );
    }
    if impairs(setup, interface, link) {
        text.push_str(&impairment(link, setup.shapes_rates, setup.seed ^ interface.link.0 as u64));
    }
}

/// Is the link between the two nodes made bad at this end, for both directions?
///
/// A connection is made bad by the node that calls, and each node with routes calls; what needs no
/// connection, by the link's first node.
fn impairs(setup: &Setup<'_>, interface: &Interface, link: &LinkPlan) -> bool {
    setup.impaired.contains(&interface.link)
        && (link.kind == LinkKind::Tcp || link.between.first() == Some(&setup.node))
}

/// What the kernel was asked for and could not do.
fn impairment(link: &LinkPlan, with_rate: bool, seed: u64) -> String {
    let mut text = format!(
        "[face.impairment]\ndelay_micros = {}\nloss = {:?}\nseed = {}\n",
        link.delay_ns / 1000,
        link.loss,
        // TOML has no larger numbers.
        seed & 0x7fff_ffff_ffff_ffff
    );
    if let Some(rate) = link.rate_bps.filter(|_| with_rate) {
        let queue = u64::from(link.queue) * u64::from(link.mtu);
        let _ = writeln!(text, "rate_bits_per_second = {rate}\nqueue_bytes = {queue}");
    }
    text
}

impl Driver for Cairn {
    fn name(&self) -> &'static str {
        "cairn"
    }

    fn version(&self) -> String {
        version_of(&self.program, "--version")
    }

    fn prepare(&self, setup: &Setup<'_>) -> Result<Launch, DriverError> {
        let file = setup.folder.join("forwarder.toml");
        std::fs::write(&file, configuration(setup)?).map_err(|source| DriverError::Configuration {
            node: setup.plan.node_name(setup.node).to_owned(),
            source,
        })?;
        let arguments = ["node".into(), "run".into(), "--config".into(), file.into_os_string()];
        Ok(Launch { program: self.program.clone(), arguments: arguments.to_vec(), environment: Vec::new() })
    }

    fn connect(&self, setup: &Setup<'_>, manager: &mut Manager) -> Result<(), DriverError> {
        // Routes stand in the configuration. What is asked for is only that management answers.
        let parameters = ControlParameters { flags: Some(0), mask: Some(0), ..ControlParameters::default() };
        manager.command(Command::CsConfig, &parameters).map(drop).map_err(|source| DriverError::Management {
            node: setup.plan.node_name(setup.node).to_owned(),
            source: Box::new(source),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    /// [`crate::backend::sim`] has the same test.
    #[test]
    fn a_content_store_is_as_large_as_in_virtual_time() {
        let experiment = Experiment::parse("t", "t.toml", &testkit::experiment::stores())
            .unwrap_or_else(|wrong| panic!("{wrong}"));
        let real = |node: &NodePlan| {
            let mut text = String::new();
            write_memory(&mut text, node, 3);
            let all: Table = text.parse().unwrap();
            let number = |key: &str| all["content_store"][key].as_integer();
            (number("max_entries"), number("max_bytes"))
        };
        let plan = experiment.plans("netns").unwrap().remove(0);
        let stores: Vec<_> = plan.nodes.iter().map(real).collect();
        let usual = (Some(1 << 20), Some(64 << 20));
        assert_eq!(stores, [usual, (Some(70), Some(3 << 20)), usual]);
    }

    #[test]
    fn nodes_may_take_half_of_what_is_at_hand_together() {
        assert_eq!(memory_bytes(1 << 30, 4), 128 << 20);
        assert_eq!(memory_bytes(1 << 40, 4), 2 << 30, "more than any needs");
        assert_eq!(memory_bytes(1 << 30, 1000), 32 << 20, "less, and none would work");
    }

    #[test]
    fn settings_go_before_what_the_lab_says_and_a_comment_is_none() {
        let text =
            "[content_store]\nmax_bytes = 5\nmax_entries = 7\n[[face]]\nremote = \"udp4://10.0.0.1:6363\"\n";
        let settings =
            "# [content_store]\n[content_store]\nmax_bytes = 6\n[[face]]\nremote = \"x\"\n[udp]\nmtu = 9\n";
        let all: Table = with_settings(text, settings).unwrap().parse().unwrap();
        assert_eq!(all["content_store"].to_string(), "{ max_bytes = 6, max_entries = 7 }");
        assert_eq!(all["face"].as_array().map(Vec::len), Some(2));
        assert_eq!(all["udp"]["mtu"].as_integer(), Some(9));
        assert_eq!(with_settings(text, "# [node]").unwrap().parse::<Table>().unwrap().get("node"), None);
        assert!(with_settings(text, "[node").unwrap_err().to_string().contains("the forwarder's settings"));
    }
}
