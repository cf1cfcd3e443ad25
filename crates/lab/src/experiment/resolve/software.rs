//! What only our own forwarder does, refused where another is under test.

use packet::Dialect;

use crate::experiment::model::Forwarder;
use crate::experiment::plan::{Change, LinkKind, Plan, Software};
use crate::experiment::read::findings::Findings;

/// Finds what other software than our own cannot do.
pub(super) fn check(plan: &Plan, f: &mut Findings) {
    let name = match plan.software {
        Software::Ndnd => "ndnd",
        Software::Nfd => "nfd",
        Software::Cairn | Software::None => return,
    };
    let hint = || Some("write cairn".to_owned());
    if plan.dialect == Dialect::Ccnx {
        f.add("software", format!("{name} does not speak CCNx"), hint());
    }
    if plan.links.iter().any(|link| link.simulated.reliable) {
        f.add("software", format!("{name} does not send again what a link has lost"), hint());
    }
    if plan.events.iter().any(|event| matches!(event.change, Change::Restart(_))) {
        let message = format!("{name} is told its routes once it runs: after a `restart` it would have none");
        f.add("software", message, hint());
    }
    if plan.software != Software::Nfd {
        return;
    }
    if plan.links.iter().any(|link| link.kind == LinkKind::Ether) {
        f.add("software", "the lab makes no Ethernet faces of nfd", Some("write kind = \"udp\"".to_owned()));
    }
    for node in &plan.nodes {
        for (key, why) in refused_of_nfd(&node.forwarder) {
            let hint = Some("leave it out, or write software = \"cairn\"".to_owned());
            f.add(format!("node.{}.forwarder.{key}", node.name), why, hint);
        }
    }
}

/// Settings of a node that NFD has not, each with the reason.
fn refused_of_nfd(said: &Forwarder) -> impl Iterator<Item = (&'static str, &'static str)> {
    const LIMIT: &str = "nfd has no such limit";
    let is_said = [
        (
            "content_store_bytes",
            said.content_store_bytes.is_some(),
            "nfd counts packets: say `content_store`",
        ),
        ("max_pending", said.max_pending.is_some(), LIMIT),
        ("max_pending_per_face", said.max_pending_per_face.is_some(), LIMIT),
        ("max_interests_per_second_per_face", said.max_interests_per_second_per_face.is_some(), LIMIT),
        ("eviction", said.eviction.is_some(), "nfd has policies of its own, and begins with `lru`"),
        ("placement", said.placement.is_some(), "nfd caches all Data that was asked for"),
        ("registrations", said.registrations.is_some(), "the lab gives nfd no keys of neighbours"),
        ("settings", said.settings.is_some(), "the lab writes the whole configuration of nfd"),
    ];
    is_said.into_iter().filter(|(_, is_there, _)| *is_there).map(|(key, _, why)| (key, why))
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    #[test]
    fn what_other_software_cannot_do_is_told_with_the_reason_and_our_own_does_it() {
        let told = |software: &str, node: &str, rest: &str| {
            let text = format!(
                "title = 't'\nduration = '9 s'\nsoftware = '{software}'\n{}[node]\na = {{ {node} }}\nb = {{}}\n\
                 [link]\na-b = {{}}\n[[route]]\nprefix = '/b'\npath = ['a', 'b']\n\
                 [ping.p]\nat = 'a'\nto = 'b'\nprefix = '/b/ping'\n{}",
                if rest.starts_with("dialect") { rest } else { "" },
                if rest.starts_with("dialect") { "" } else { rest },
            );
            Experiment::parse("t", "t.toml", &text).map_or_else(|wrong| wrong.to_string(), |_| String::new())
        };
        let restart = "[[event]]\nat = '2 s'\naction = 'restart'\nnode = 'b'\n";
        for (software, node, rest, said) in [
            (
                "nfd",
                "forwarder = { max_pending = 7 }",
                "",
                "node.a.forwarder.max_pending: nfd has no such limit",
            ),
            ("nfd", "forwarder = { placement = 'leave-copy-down' }", "", "nfd caches all Data"),
            ("nfd", "", restart, "nfd is told its routes once it runs"),
            ("ndnd", "", restart, "ndnd is told its routes once it runs"),
            ("nfd", "", "dialect = 'ccnx'\n", "nfd does not speak CCNx"),
        ] {
            assert!(told(software, node, rest).contains(said), "{said}: {}", told(software, node, rest));
            assert_eq!(told("cairn", node, rest), "", "{said}");
        }
        assert_eq!(told("nfd", "forwarder = { content_store = 7, strategy = 'asf' }", ""), "");
    }
}
