//! A network namespace for the forwarder, and a veth pair as the cable to it. Made by the program `ip`, and
//! not as the lab makes its pairs: those carry single frames, as captures and queues need them, and here the
//! kernel may hand over trains of them. By its own call of `ip`: a command that is shipped may not use
//! `testkit`, which has one for tests.

use std::net::Ipv4Addr;
use std::process::Command;

/// Addresses at both ends, of the range for benchmarks (RFC 2544).
pub(super) const LOAD: Ipv4Addr = Ipv4Addr::new(198, 18, 77, 1);
pub(super) const FORWARDER: Ipv4Addr = Ipv4Addr::new(198, 18, 77, 2);

/// The namespace and its cable; gone when dropped.
pub(super) struct Cable {
    pub(super) namespace: String,
}

impl Cable {
    /// Makes them; `None` where this user may not, or without the program `ip`.
    pub(super) fn plug() -> Option<Cable> {
        let namespace = format!("cairn{}", std::process::id());
        if !ip(&format!("netns add {namespace}")) {
            return None;
        }
        // From here on everything is removed if something fails.
        let cable = Cable { namespace };
        let (near, far) = cable.ends();
        let namespace = &cable.namespace;
        let steps = [
            format!("link add {near} type veth peer name {far} netns {namespace}"),
            format!("addr add {LOAD}/24 dev {near}"),
            format!("link set {near} up"),
            format!("-n {namespace} addr add {FORWARDER}/24 dev {far}"),
            format!("-n {namespace} link set {far} up"),
            format!("-n {namespace} link set lo up"),
        ];
        steps.iter().all(|step| ip(step)).then_some(cable)
    }

    fn ends(&self) -> (String, String) {
        let number = std::process::id() % 1_000_000;
        (format!("cb{number}a"), format!("cb{number}b"))
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        ip(&format!("link del {}", self.ends().0));
        ip(&format!("netns del {}", self.namespace));
    }
}

fn ip(arguments: &str) -> bool {
    Command::new("ip").args(arguments.split(' ')).output().is_ok_and(|output| output.status.success())
}
