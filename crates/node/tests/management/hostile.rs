//! Whatever is asked, however often, in whatever order: management answers at most once, keeps its limits,
//! counts everything, and the forwarding table has next hops by faces that exist only.

use cairn_node::control::{
    ControlApplication as _, CreateFaceError, FaceEvent, FaceEventKind, FaceState, MANAGEMENT_FACE,
};
use cairn_node::management::ManagementConfig;
use engine::FaceId;
use management::{Command, CommandScope, ControlParameters, Dataset, FacePersistency, RouteOrigin};
use packet::ndn::InterestBuilder;
use packet::time::Duration;
use packet::{Component, ComponentKind, Name};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::manager::{Manager, name};

const MAX_ROUTES: usize = 12;

#[derive(Clone, Debug)]
enum Operation {
    Command { command: usize, scope: CommandScope, parameters: Box<ControlParameters>, from: u32 },
    Nonsense { components: Vec<(u16, Vec<u8>)> },
    Dataset { dataset: usize, version: Option<u64>, segment: Option<u64> },
    FaceEvent { kind: usize, face: usize },
    LetTimePass { millis: u64 },
    FacesFail { fail: bool },
    FacesConnect { slowly: bool },
    TableIsFull { full: bool },
}

fn small() -> impl Strategy<Value = u64> {
    prop_oneof![4 => 0..4u64, 2 => 299..302u64, 1 => 399..404u64, 1 => any::<u64>()]
}

fn a_name() -> impl Strategy<Value = Name> {
    let short = prop::sample::select(vec!["/", "/a", "/a/b", "/a/b/c", "/b", "/localhost/nfd"]);
    prop_oneof![9 => short.prop_map(name), 1 => (30..35usize).prop_map(|count| name(&"/x".repeat(count)))]
}

fn parameters() -> impl Strategy<Value = ControlParameters> {
    let uris =
        prop::sample::select(vec!["udp4://192.0.2.1:6363", "tcp4://192.0.2.9:6363", "quic://x", "nonsense"]);
    let strategies = vec!["/localhost/nfd/strategy/asf", "/localhost/nfd/strategy/multicast/v=4", "/x"];
    let names = (option::weighted(0.8, a_name()), option::weighted(0.3, prop::sample::select(strategies)));
    let uris = (option::weighted(0.3, uris.clone()), option::weighted(0.1, uris));
    (names, uris, vec(option::weighted(0.3, small()), 11)).prop_map(
        |((name, strategy), (uri, local), numbers)| ControlParameters {
            name,
            face_id: numbers[0],
            uri: uri.map(str::to_owned),
            local_uri: local.map(str::to_owned),
            origin: numbers[1].map(RouteOrigin::from_number),
            cost: numbers[2],
            capacity: numbers[3],
            count: numbers[4],
            flags: numbers[5],
            mask: numbers[6],
            strategy: strategy.map(crate::manager::name),
            expiration_period_ms: numbers[7],
            face_persistency: numbers[8].map(FacePersistency::from_number),
            base_congestion_marking_interval_ns: numbers[9],
            default_congestion_threshold_bytes: None,
            mtu_bytes: numbers[10],
        },
    )
}

/// Parameters of which a command takes as many as it may: few random sets are ever valid.
fn fitting(command: Command, parameters: ControlParameters) -> ControlParameters {
    let ControlParameters {
        name, face_id, origin, cost, flags, expiration_period_ms, strategy, count, ..
    } = parameters.clone();
    let empty = ControlParameters::default();
    match command {
        Command::RibRegister => {
            ControlParameters { name, face_id, origin, cost, flags, expiration_period_ms, ..empty }
        }
        Command::RibUnregister => ControlParameters { name, face_id, origin, ..empty },
        Command::FibAddNextHop => ControlParameters { name, face_id, cost, ..empty },
        Command::FibRemoveNextHop => ControlParameters { name, face_id, ..empty },
        Command::FacesDestroy => ControlParameters { face_id, ..empty },
        Command::StrategySet => ControlParameters { name, strategy, ..empty },
        Command::StrategyUnset => ControlParameters { name, ..empty },
        Command::CsErase => ControlParameters { name, count, ..empty },
        Command::FacesCreate => ControlParameters { uri: parameters.uri, ..empty },
        _ => parameters,
    }
}

fn operation() -> impl Strategy<Value = Operation> {
    let scope = prop_oneof![4 => Just(CommandScope::Localhost), 1 => Just(CommandScope::Localhop)];
    let command = (0..Command::ALL.len(), scope, parameters(), any::<bool>(), 299..303u32).prop_map(
        |(command, scope, parameters, fit, from)| {
            let parameters = if fit { fitting(Command::ALL[command], parameters) } else { parameters };
            Operation::Command { command, scope, parameters: Box::new(parameters), from }
        },
    );
    let words = prop::sample::select(vec![
        "localhost",
        "localhop",
        "nfd",
        "rib",
        "register",
        "faces",
        "list",
        "events",
    ]);
    let component = prop_oneof![
        4 => words.prop_map(|word| (8u16, word.as_bytes().to_vec())),
        1 => (3..60u16, vec(any::<u8>(), 0..9)),
    ];
    prop_oneof![
        12 => command,
        2 => vec(component, 1..7).prop_map(|components| Operation::Nonsense { components }),
        3 => (0..Dataset::ALL.len(), option::of(any::<u64>()), option::of(0..3u64))
            .prop_map(|(dataset, version, segment)| Operation::Dataset { dataset, version, segment }),
        2 => (0..4usize, 0..8usize).prop_map(|(kind, face)| Operation::FaceEvent { kind, face }),
        2 => (0..5000u64).prop_map(|millis| Operation::LetTimePass { millis }),
        1 => any::<bool>().prop_map(|fail| Operation::FacesFail { fail }),
        1 => any::<bool>().prop_map(|slowly| Operation::FacesConnect { slowly }),
        1 => any::<bool>().prop_map(|full| Operation::TableIsFull { full }),
    ]
}

fn apply(manager: &mut Manager, operation: &Operation) {
    match operation {
        Operation::Command { command, scope, parameters, from } => {
            let command = Command::ALL[*command];
            let interest = crate::manager::command(*scope, command, parameters);
            let before = *manager.management.counters();
            let answer = manager.ask_from(FaceId(*from), &interest);
            let after = *manager.management.counters();
            // Which may answer for others, who wait for such a face to connect.
            tell_of_destroyed(manager);
            let counted = after.commands_done + after.commands_failed + after.unanswered
                - before.commands_done
                - before.commands_failed
                - before.unanswered;
            let waits = answer.is_none() && counted == 0;
            assert!(counted == 1 || waits && command == Command::FacesCreate, "{command:?}: {counted}");
            assert!(answer.is_none_or(|answer| answer.name() == interest.name()));
        }
        Operation::Nonsense { components } => {
            let components = components
                .iter()
                .map(|(kind, value)| Component::new(ComponentKind::new(*kind).unwrap(), value));
            let nonsense = Name::from_components(components).unwrap();
            let interest = InterestBuilder::new(nonsense).can_be_prefix(true).build().unwrap();
            manager.ask(&interest);
        }
        Operation::Dataset { dataset, version, segment } => {
            let mut wanted = Dataset::ALL[*dataset].name().unwrap();
            for (kind, number) in [(ComponentKind::VERSION, version), (ComponentKind::SEGMENT, segment)] {
                if let Some(number) = number {
                    wanted = wanted.with_number(kind, *number).unwrap();
                }
            }
            let interest =
                InterestBuilder::new(wanted).can_be_prefix(true).must_be_fresh(true).build().unwrap();
            let answer = manager.ask(&interest);
            assert_eq!(answer.is_some(), version.is_none() && segment.is_none(), "{}", interest.name());
        }
        Operation::FaceEvent { kind, face } => {
            let kinds =
                [FaceEventKind::Created, FaceEventKind::Destroyed, FaceEventKind::Up, FaceEventKind::Down];
            let faces: Vec<FaceId> = manager.node.faces.keys().copied().collect();
            let face = faces[face % faces.len()];
            // The node's own face stays as it is.
            if face != MANAGEMENT_FACE {
                manager.face_event(kinds[*kind], face);
            }
        }
        Operation::LetTimePass { millis } => {
            manager.let_time_pass(Duration::from_millis(*millis));
            while manager.next_data().is_some() {}
            tell_of_destroyed(manager);
        }
        Operation::FacesFail { fail } => {
            manager.node.create_error = fail.then(|| CreateFaceError::FailedAtOnce);
        }
        Operation::FacesConnect { slowly } => {
            manager.node.new_faces_are = if *slowly { FaceState::Down } else { FaceState::Up };
        }
        Operation::TableIsFull { full } => manager.node.table_is_full = *full,
    }
    check(manager);
}

/// What the real node does by itself: tells of faces that a command has destroyed.
fn tell_of_destroyed(manager: &mut Manager) {
    for face in std::mem::take(&mut manager.node.destroyed) {
        manager.node.hops.retain(|(_, hop), _| *hop != face.id);
        let event = FaceEvent { kind: FaceEventKind::Destroyed, face, why: None };
        manager.management.handle_face_event(manager.now, &mut manager.node, &event);
        while manager.next_data().is_some() {}
    }
}

fn check(manager: &Manager) {
    let rib = manager.management.rib();
    assert!(rib.route_count() <= MAX_ROUTES);
    let exists = |face: &FaceId| manager.node.faces.contains_key(face);
    for (prefix, mut routes) in rib.entries() {
        assert!(routes.all(|route| exists(&route.face)), "a route of {prefix:?} leads nowhere");
    }
    assert!(manager.node.hops.keys().all(|(_, face)| exists(face)), "a next hop leads nowhere");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn nothing_that_is_asked_breaks_management(operations in vec(operation(), 1..80)) {
        let config = ManagementConfig {
            localhop: Some(cairn_node::management::CommandAuthority::Anyone),
            max_routes: MAX_ROUTES,
            max_stored_packets: 4,
            ..Default::default()
        };
        let mut manager = Manager::with(config);
        for operation in &operations {
            apply(&mut manager, operation);
        }
        // In the end all faces go, and all routes with them.
        manager.node.table_is_full = false;
        let faces: Vec<FaceId> = manager.node.faces.keys().copied().filter(|face| *face != MANAGEMENT_FACE).collect();
        for face in faces {
            manager.face_event(FaceEventKind::Destroyed, face);
        }
        check(&manager);
        let mut routes = manager.management.rib().entries().flat_map(|(_, routes)| routes);
        prop_assert!(routes.all(|route| route.face == MANAGEMENT_FACE));
        prop_assert!(manager.node.hops.keys().all(|(_, face)| *face == MANAGEMENT_FACE));
    }
}
