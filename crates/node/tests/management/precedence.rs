//! Who is asked first: a default route, an application of this host, a neighbour. The same table, in words,
//! is in docs/management.md.

use cairn_node::control::{ControlApplication as _, FaceEventKind};
use cairn_node::management::{CommandAuthority, ManagementConfig};
use management::{Command, CommandScope, ControlParameters, ControlResponse, RouteOrigin};
use packet::time::Duration;

use crate::fake_node::{NEIGHBOUR, face};
use crate::manager::{Manager, about, command, name};

/// A gateway or another neighbour; its number is below that of every application.
const GATEWAY: u32 = 299;
/// The application: applications come later, and their faces have larger numbers.
const APPLICATION: u32 = 300;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The operator's route to the gateway: prefix and cost.
    Operator(&'static str, u64),
    /// The same by the configuration, which says no cost.
    Configured(&'static str),
    /// An application of this host registers a prefix, as all client libraries do: cost 0, inherited.
    Application(&'static str),
    /// The same with a cost.
    Dear(&'static str, u64),
    /// A neighbour without a key registers a prefix; whether he may.
    Neighbour(&'static str, bool),
}

struct Scenario {
    what: &'static str,
    steps: &'static [Step],
    /// What is asked for.
    asked: &'static str,
    /// Who is asked first, by all strategies that ask the cheapest first.
    first: u32,
    /// Whom NFD 24.07 asks first with the same commands. Its RIB hands every inherited route down with the
    /// cost it has, its forwarding table sorts by cost, and of equal costs whoever was added first stays
    /// first.
    in_nfd: &'static str,
}

use Step::*;

const SCENARIOS: &[Scenario] = &[
    Scenario {
        what: "a default route, then a producer",
        steps: &[Operator("/", 0), Application("/app")],
        asked: "/app/1",
        first: APPLICATION,
        in_nfd: "the producer: its own next hop is added before what it inherits",
    },
    Scenario {
        what: "a producer, then a default route",
        steps: &[Application("/app"), Operator("/", 0)],
        asked: "/app/1",
        first: APPLICATION,
        in_nfd: "the producer, for the same reason",
    },
    Scenario {
        what: "a default route of the configuration without a cost, then a producer",
        steps: &[Configured("/"), Application("/app")],
        asked: "/app/1",
        first: APPLICATION,
        in_nfd: "has no routes in its configuration",
    },
    Scenario {
        what: "a producer that wants to be a last resort, below a free default route",
        steps: &[Operator("/", 0), Dear("/app", 50)],
        asked: "/app/1",
        first: APPLICATION,
        in_nfd: "the gateway: 0 is less than 50",
    },
    Scenario {
        what: "a default route and a longer one to the same gateway, with a producer below both",
        steps: &[Operator("/", 0), Operator("/app", 7), Application("/app/sub")],
        asked: "/app/sub/1",
        first: APPLICATION,
        in_nfd: "the producer: 0 is less than 7",
    },
    Scenario {
        what: "what no producer has registered",
        steps: &[Operator("/", 0), Application("/app")],
        asked: "/other",
        first: GATEWAY,
        in_nfd: "the gateway",
    },
    Scenario {
        what: "the operator's route of the configuration and a producer for the very same prefix",
        steps: &[Configured("/app"), Application("/app")],
        asked: "/app/1",
        first: APPLICATION,
        in_nfd: "whoever came first: costs are equal",
    },
    Scenario {
        what: "a neighbour registers what a producer has registered",
        steps: &[Neighbour("/app", true), Application("/app")],
        asked: "/app/1",
        first: APPLICATION,
        in_nfd: "the neighbour: costs are equal and he came first",
    },
    Scenario {
        what: "a neighbour registers a shorter prefix",
        steps: &[Application("/app"), Neighbour("/", false), Neighbour("/ap", true)],
        asked: "/app/1",
        first: APPLICATION,
        in_nfd: "the producer; but the neighbour has / of everybody else",
    },
    Scenario {
        what: "a neighbour registers a longer prefix",
        steps: &[Application("/app"), Neighbour("/app/sub", true)],
        asked: "/app/sub/1",
        first: APPLICATION,
        in_nfd: "whoever's cost is smaller, so the neighbour if it came first",
    },
    Scenario {
        what: "a neighbour registers what a producer comes to have registered above",
        steps: &[Neighbour("/app/sub", true), Application("/app")],
        asked: "/app/sub/1",
        first: APPLICATION,
        in_nfd: "the neighbour: costs are equal and it came first",
    },
    Scenario {
        what: "a neighbour registers a prefix that only a default route leads to",
        steps: &[Configured("/"), Neighbour("/neighbour", true)],
        asked: "/neighbour/1",
        first: GATEWAY,
        in_nfd: "the neighbour",
    },
    Scenario {
        what: "a neighbour registers what a producer has registered as a last resort",
        steps: &[Dear("/app", 5000), Neighbour("/app", true)],
        asked: "/app/1",
        first: APPLICATION,
        in_nfd: "the neighbour: it costs less",
    },
    Scenario {
        what: "a neighbour wants the default route",
        steps: &[Configured("/"), Neighbour("/", false)],
        asked: "/other",
        first: GATEWAY,
        in_nfd: "the neighbour, if his cost is smaller",
    },
    Scenario {
        what: "a neighbour wants what belongs to this host",
        steps: &[
            Neighbour("/localhost", false),
            Neighbour("/localhost/x", false),
            Application("/localhost/x"),
        ],
        asked: "/localhost/x/1",
        first: APPLICATION,
        in_nfd: "accepts the routes; its forwarder sends nothing below /localhost to neighbours",
    },
    Scenario {
        what: "a neighbour wants what belongs to this link",
        steps: &[Neighbour("/localhop", false), Neighbour("/localhop/x", false), Application("/localhop/x")],
        asked: "/localhop/x/1",
        first: APPLICATION,
        in_nfd: "accepts the routes, and asks the neighbour first",
    },
];

fn take(manager: &mut Manager, step: Step) {
    let local = |prefix, face: u32, cost, origin| ControlParameters {
        face_id: Some(face.into()),
        cost: Some(cost),
        origin: Some(origin),
        ..about(prefix)
    };
    match step {
        Operator(prefix, cost) => {
            manager.done(Command::RibRegister, &local(prefix, GATEWAY, cost, RouteOrigin::Static));
        }
        Configured(prefix) => {
            let text = format!("[[face]]\nremote = 'udp4://192.0.2.7:6363'\nroutes = ['{prefix}']\n");
            let section = cairn_node::config::Config::read(&text).unwrap().faces.remove(0);
            let hop = engine::NextHop { face: engine::FaceId(GATEWAY), cost: section.cost };
            let (now, routes) = (manager.now, [(name(prefix), hop)]);
            manager.management.handle_configured_routes(now, &mut manager.node, &routes);
        }
        Application(prefix) => {
            manager.done(Command::RibRegister, &local(prefix, APPLICATION, 0, RouteOrigin::App));
        }
        Dear(prefix, cost) => {
            manager.done(Command::RibRegister, &local(prefix, APPLICATION, cost, RouteOrigin::App));
        }
        Neighbour(prefix, may) => {
            let interest = command(CommandScope::Localhop, Command::RibRegister, &about(prefix));
            let answer = manager.ask_from(engine::FaceId(GATEWAY), &interest).unwrap();
            let response = ControlResponse::decode(answer.content()).unwrap();
            assert_eq!(response.code.number(), if may { 200 } else { 403 }, "{prefix}: {}", response.text);
        }
    }
}

/// Who is asked first for a name, by the next hops of the longest prefix.
fn first_asked(manager: &Manager, asked: &str) -> u32 {
    let asked = name(asked);
    let longest = (0..=asked.as_ref().component_count())
        .rev()
        .map(|len| asked.prefix(len))
        .find(|prefix| manager.node.hops.keys().any(|(known, _)| known == prefix))
        .unwrap();
    let hops = manager.node.next_hops(&longest.as_ref().to_string());
    hops.into_iter().min_by_key(|(face, cost)| (*cost, *face)).unwrap().0
}

fn open() -> Manager {
    let config = ManagementConfig { localhop: Some(CommandAuthority::Anyone), ..Default::default() };
    let mut manager = Manager::with(config);
    let id = engine::FaceId(GATEWAY);
    manager.node.faces.insert(id, face(id, "udp4://192.0.2.7:6363", "udp4://192.0.2.2:6363"));
    manager
}

#[test]
fn the_longest_match_and_who_is_on_this_host_come_first_whatever_else_is_routed() {
    for Scenario { what, steps, asked, first, in_nfd } in SCENARIOS {
        let mut manager = open();
        for step in *steps {
            take(&mut manager, *step);
        }
        while manager.management.has_background_work() {
            manager.management.do_background_work(manager.now, &mut manager.node);
        }
        assert_eq!(first_asked(&manager, asked), *first, "{what}; in NFD: {in_nfd}");
    }
}

#[test]
fn a_neighbour_without_a_key_captures_nothing() {
    let mut manager = open();
    take(&mut manager, Application("/o/y"));
    let longer = ControlParameters { flags: Some(3), ..about("/o/y/v=1") };
    let interest = command(CommandScope::Localhop, Command::RibRegister, &longer);
    let answer = manager.ask_from(engine::FaceId(GATEWAY), &interest).unwrap();
    let response = ControlResponse::decode(answer.content()).unwrap();
    assert_eq!(response.expect_parameters().unwrap().flags, Some(1), "what became of it is told");
    let asked = manager.node.next_hops("/o/y/v=1");
    assert!(asked.iter().any(|(face, _)| *face == APPLICATION), "the producer is asked as well: {asked:?}");
}

#[test]
fn a_neighbour_without_a_key_that_announces_a_longer_prefix_comes_behind_the_application() {
    let mut manager = open();
    take(&mut manager, Application("/app"));
    let data = crate::routes::announcement("/app/sub", 3_600_000, None);
    let event = engine::Event::RouteAnnounced { face: NEIGHBOUR, announcement: data.wire().clone() };
    manager.management.handle_engine_event(manager.now, &mut manager.node, &event);
    assert_eq!(first_asked(&manager, "/app/sub/1"), APPLICATION);
    assert_eq!(manager.node.next_hops("/app/sub").len(), 2, "the neighbour is asked, too");
}

#[test]
fn an_announcement_gives_a_neighbour_no_more_than_a_command() {
    let mut manager = open();
    for prefix in ["/", "/localhost/x", "/localhop/x"] {
        let data = crate::routes::announcement(prefix, 3_600_000, None);
        let event = engine::Event::RouteAnnounced { face: NEIGHBOUR, announcement: data.wire().clone() };
        manager.management.handle_engine_event(manager.now, &mut manager.node, &event);
        assert_eq!(manager.node.next_hops(prefix), [], "{prefix}");
    }
}

#[test]
fn nobody_takes_the_node_s_own_management_away() {
    let mut manager = open();
    let by = |face: u64, prefix: &str| ControlParameters { face_id: Some(face), ..about(prefix) };
    let soon = ControlParameters { expiration_period_ms: Some(1), ..by(1, "/localhost/nfd") };
    for (what, parameters) in [
        (Command::RibUnregister, by(1, "/localhost/nfd")),
        (Command::RibUnregister, by(1, "/localhop/nfd")),
        (Command::FibRemoveNextHop, by(1, "/localhost/nfd")),
        (Command::FibRemoveNextHop, by(1, "/localhop/nfd")),
        // Another route, or one that ends, instead of the one that is there.
        (Command::RibRegister, soon),
        (Command::RibRegister, by(300, "/localhost/nfd/rib")),
        (Command::FibAddNextHop, by(300, "/localhost/nfd/faces")),
    ] {
        assert_eq!(manager.fails(what, &parameters), 403, "{what:?} {parameters:?}");
    }
    manager.let_time_pass(Duration::from_secs(1));
    assert_eq!(manager.node.next_hops("/localhost/nfd"), [(1, 0)]);
    // A hub's management is reached by a route, as ndn-autoconfig makes it.
    manager.done(Command::RibRegister, &by(GATEWAY.into(), "/localhop/nfd"));
}

#[test]
fn commands_for_the_node_do_not_follow_a_default_route() {
    let mut manager = open();
    take(&mut manager, Operator("/", 0));
    assert_eq!(manager.node.next_hops("/localhost/nfd"), [(1, 0)]);
}

#[test]
fn others_are_answered_while_a_change_at_the_root_reaches_all_prefixes_below() {
    const PREFIXES: usize = 20_000;
    let mut manager = open();
    for number in 0..PREFIXES {
        manager.done(Command::RibRegister, &about(&format!("/p/{number}")));
    }
    manager.node.batches.clear();
    manager.is_busy = true;
    for _ in 0..150 {
        let before: usize = manager.node.batches.iter().sum();
        take(&mut manager, Operator("/", 0));
        let gone = ControlParameters {
            face_id: Some(GATEWAY.into()),
            origin: Some(RouteOrigin::Static),
            ..about("/")
        };
        manager.done(Command::RibUnregister, &gone);
        // A command changes its own prefix and nothing else, so whoever asks next does not wait.
        assert!(manager.discover("/localhost/nfd/status/general").is_some());
        let changes = manager.node.batches.iter().sum::<usize>() - before;
        assert!(changes <= 2, "{changes}");
    }
    assert_eq!(manager.management.rib().inheriting_settled(), 0);
    take(&mut manager, Operator("/", 0));
    let mut turns = 0;
    while manager.management.rib().is_behind() {
        let before: usize = manager.node.batches.iter().sum();
        manager.management.do_background_work(manager.now, &mut manager.node);
        let changes = manager.node.batches.iter().sum::<usize>() - before;
        assert!(changes <= 64, "{changes}");
        turns += 1;
        assert!(turns < 2 * PREFIXES, "it comes to an end");
    }
    assert_eq!(first_asked(&manager, "/p/77/x"), APPLICATION);
    assert_eq!(manager.node.next_hops("/p/77"), [(GATEWAY, 1), (APPLICATION, 0)]);
    manager.face_event(FaceEventKind::Destroyed, engine::FaceId(GATEWAY));
}

#[test]
fn a_neighbour_without_a_key_fills_his_share_of_the_rib_and_nobody_else_s() {
    const MAX_ROUTES: usize = 80;
    let localhop = Some(CommandAuthority::Anyone);
    let config = ManagementConfig { localhop, max_routes: MAX_ROUTES, ..Default::default() };
    let mut manager = Manager::with(config);
    let mut codes = std::collections::BTreeMap::new();
    for number in 0..2 * MAX_ROUTES {
        let interest =
            command(CommandScope::Localhop, Command::RibRegister, &about(&format!("/nb/{number}")));
        let data = manager.ask_from(NEIGHBOUR, &interest).unwrap();
        let code = ControlResponse::decode(data.content()).unwrap().code.number();
        *codes.entry(code).or_insert(0) += 1;
    }
    assert_eq!(codes, [(200, MAX_ROUTES / 8), (503, MAX_ROUTES * 2 - MAX_ROUTES / 8)].into());
    let counted = manager.management.counters();
    assert_eq!(counted.commands_failed, (MAX_ROUTES * 2 - MAX_ROUTES / 8) as u64);
    let refused = manager.management.rib().refused_for_share();
    assert_eq!(refused, (MAX_ROUTES * 2 - MAX_ROUTES / 8) as u64);
    for number in 0..MAX_ROUTES / 2 {
        manager.done(Command::RibRegister, &about(&format!("/mine/{number}")));
    }
    manager.face_event(FaceEventKind::Destroyed, NEIGHBOUR);
    for number in 0..MAX_ROUTES / 8 {
        manager.done(Command::RibRegister, &about(&format!("/later/{number}")));
    }
}

#[test]
fn a_neighbour_who_changes_something_each_time_does_not_have_the_list_of_routes_made_each_time() {
    let mut manager = open();
    let list = || {
        let name = name("/localhop/nfd/rib/list");
        packet::ndn::InterestBuilder::new(name).can_be_prefix(true).must_be_fresh(true).build().unwrap()
    };
    for number in 0..10 {
        let interest =
            command(CommandScope::Localhop, Command::RibRegister, &about(&format!("/nb/{number}")));
        assert!(manager.ask_from(NEIGHBOUR, &interest).is_some());
        assert!(manager.ask_from(NEIGHBOUR, &list()).is_some());
    }
    assert_eq!(manager.management.counters().datasets, 1);
    manager.let_time_pass(Duration::from_secs(1));
    assert!(manager.ask_from(NEIGHBOUR, &list()).is_some());
    assert_eq!(manager.management.counters().datasets, 2);
}
