//! The RIB against a slow model that keeps a list of routes and works everything out from scratch.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Routes as a plain list.
#[derive(Default)]
struct Model {
    routes: Vec<(Name, RibRoute)>,
}

impl Model {
    fn register(&mut self, prefix: &Name, route: RibRoute) {
        self.remove(|known, other| {
            known == prefix && (other.face, other.origin) == (route.face, route.origin)
        });
        self.routes.push((prefix.clone(), route));
    }

    fn remove(&mut self, which: impl Fn(&Name, &RibRoute) -> bool) {
        self.routes.retain(|(prefix, route)| !which(prefix, route));
    }

    fn at<'a>(&'a self, prefix: &'a Name) -> impl Iterator<Item = &'a RibRoute> {
        self.routes.iter().filter(move |(known, _)| known == prefix).map(|(_, route)| route)
    }

    /// Next hops of every prefix, by the words of the specification: look at the prefix itself and then at
    /// one ancestor after the other. Each level's costs go behind those of the levels before, but routes of
    /// strangers go behind applications of this host.
    fn next_hops(&self) -> BTreeMap<(Name, FaceId), u64> {
        let mut hops = BTreeMap::new();
        for (prefix, _) in &self.routes {
            for (face, hop) in self.of(prefix, true) {
                hops.insert((prefix.clone(), face), hop.cost);
            }
        }
        hops
    }

    /// What a prefix has, or, unless `own`, what it passes on.
    fn of(&self, prefix: &Name, own: bool) -> BTreeMap<FaceId, ModelHop> {
        let mut hops: BTreeMap<FaceId, ModelHop> = BTreeMap::new();
        for route in self.at(prefix) {
            if own || route.flags.contains(RouteFlags::CHILD_INHERIT) {
                let new = ModelHop {
                    cost: route.cost,
                    is_behind_applications: route.precedence == Precedence::BehindApplications,
                    is_applications: route.holder == Holder::Host && route.origin == RouteOrigin::App,
                };
                let old = hops.entry(route.face).or_insert(new);
                if (new.is_behind_applications, new.cost) < (old.is_behind_applications, old.cost) {
                    *old = ModelHop { is_applications: old.is_applications, ..new };
                }
                old.is_applications |= new.is_applications;
            }
        }
        let has_application = hops.values().any(|hop| hop.is_applications && !hop.is_behind_applications);
        if has_application {
            let behind = take(&mut hops, |hop| hop.is_behind_applications);
            put_behind(&mut hops, behind);
        }
        let len = prefix.as_ref().component_count();
        let captures = self.at(prefix).any(|route| route.flags.contains(RouteFlags::CAPTURE));
        if captures || len == 0 {
            return hops;
        }
        let mut above = self.of(&prefix.prefix(len - 1), false);
        above.retain(|face, _| !hops.contains_key(face));
        let applications = take(&mut above, |hop| hop.is_applications);
        let behind = take(&mut hops, |hop| hop.is_behind_applications);
        if behind.is_empty() || (applications.is_empty() && !has_application) {
            hops.extend(behind);
            above.extend(applications);
        } else {
            put_behind(&mut hops, applications);
            // Those of this very prefix, as they were asked for.
            put_behind(&mut hops, behind);
        }
        put_behind(&mut hops, above);
        hops
    }
}

#[derive(Clone, Copy)]
struct ModelHop {
    cost: u64,
    is_behind_applications: bool,
    is_applications: bool,
}

fn take(
    hops: &mut BTreeMap<FaceId, ModelHop>,
    which: impl Fn(&ModelHop) -> bool,
) -> BTreeMap<FaceId, ModelHop> {
    let (taken, left) = std::mem::take(hops).into_iter().partition(|(_, hop)| which(hop));
    *hops = left;
    taken
}

fn put_behind(hops: &mut BTreeMap<FaceId, ModelHop>, more: BTreeMap<FaceId, ModelHop>) {
    let least = more.values().map(|hop| hop.cost).min().unwrap_or(0);
    let most = hops.values().map(|hop| hop.cost).max();
    let shift = most.map_or(0, |most| (most + 1).saturating_sub(least));
    hops.extend(more.into_iter().map(|(face, hop)| (face, ModelHop { cost: hop.cost + shift, ..hop })));
}

#[derive(Clone, Debug)]
enum Operation {
    Register { prefix: usize, face: u32, origin: u64, cost: u64, flags: u64, expires_s: u64, who: u8 },
    Unregister { prefix: usize, face: u32, origin: u64 },
    RemoveFace { face: u32 },
    LetTimePass { seconds: u64 },
    SettleHeirs { budget: usize },
}

const PREFIXES: [&str; 9] = ["/", "/a", "/a/b", "/a/b/c", "/a/b/c/d", "/a/x", "/a/x/y", "/b", "/b/a/b"];

fn operation() -> impl Strategy<Value = Operation> {
    let place = || (0..PREFIXES.len(), 256..260u32, 0..3u64);
    prop_oneof![
        6 => (place(), 0..4u64, 0..4u64, 0..30u64, 0..3u8).prop_map(
            |((prefix, face, origin), cost, flags, expires_s, who)| Operation::Register {
                prefix, face, origin, cost, flags, expires_s, who,
            }
        ),
        3 => place().prop_map(|(prefix, face, origin)| Operation::Unregister { prefix, face, origin }),
        1 => (256..260u32).prop_map(|face| Operation::RemoveFace { face }),
        1 => (0..12u64).prop_map(|seconds| Operation::LetTimePass { seconds }),
        4 => (0..4usize).prop_map(|budget| Operation::SettleHeirs { budget }),
    ]
}

/// The RIB, the model, and a forwarding table that only knows what the RIB told it.
struct Pair {
    now: Instant,
    rib: Rib,
    model: Model,
    table: BTreeMap<(Name, FaceId), u64>,
}

impl Pair {
    fn new() -> Self {
        let (rib, model) = (Rib::new(1000), Model::default());
        Pair { now: Instant::from_secs(1), rib, model, table: BTreeMap::new() }
    }

    fn apply(&mut self, operation: &Operation) {
        let name = |index: usize| -> Name { PREFIXES[index].parse().unwrap() };
        match *operation {
            Operation::Register { prefix, face, origin, cost, flags, expires_s, who } => {
                let expires = match expires_s {
                    // A third of the routes live for ever.
                    0..10 => Instant::NEVER,
                    seconds => self.now + packet::time::Duration::from_secs(seconds),
                };
                let origin = RouteOrigin::from_number(origin);
                let (face, flags) = (FaceId(face), RouteFlags(flags));
                let neighbour = Holder::Neighbour("ip-1".into());
                let (holder, precedence) = match who {
                    0 => (Holder::Host, Precedence::LongestMatch),
                    1 => (neighbour, Precedence::LongestMatch),
                    _ => (neighbour, Precedence::BehindApplications),
                };
                let announcement = None;
                let signer = None;
                let route =
                    RibRoute { face, origin, cost, flags, expires, announcement, holder, precedence, signer };
                self.rib.register(&name(prefix), route.clone()).unwrap();
                self.model.register(&name(prefix), route);
            }
            Operation::Unregister { prefix, face, origin } => {
                let (prefix, face, origin) = (name(prefix), FaceId(face), RouteOrigin::from_number(origin));
                let known = self.model.at(&prefix).any(|route| (route.face, route.origin) == (face, origin));
                assert_eq!(self.rib.unregister(&prefix, face, origin), known);
                self.model
                    .remove(|other, route| *other == prefix && (route.face, route.origin) == (face, origin));
            }
            Operation::RemoveFace { face } => {
                let count = self.model.routes.iter().filter(|(_, route)| route.face == FaceId(face)).count();
                assert_eq!(self.rib.remove_face(FaceId(face)), count);
                self.model.remove(|_, route| route.face == FaceId(face));
            }
            Operation::LetTimePass { seconds } => {
                self.now += packet::time::Duration::from_secs(seconds);
                let now = self.now;
                let due = self.model.routes.iter().filter(|(_, route)| route.expires <= now).count();
                assert_eq!(self.rib.expire(now), due);
                self.model.remove(|_, route| route.expires <= now);
            }
            Operation::SettleHeirs { budget } => {
                assert!(self.rib.settle_inheriting(budget) <= budget);
            }
        }
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(update) = self.rib.poll_update() {
            match update {
                FibUpdate::Add { prefix, face, cost, .. } => {
                    let before = self.table.insert((prefix, face), cost);
                    assert_ne!(before, Some(cost), "an update that changes nothing");
                }
                FibUpdate::Remove { prefix, face } => {
                    assert!(self.table.remove(&(prefix, face)).is_some(), "removes what is not there");
                }
            }
        }
    }

    fn check(&self) {
        if !self.rib.is_behind() {
            assert_eq!(self.table, self.model.next_hops());
        }
        assert_eq!(self.rib.route_count(), self.model.routes.len());
        let listed = self.rib.entries().flat_map(|(prefix, routes)| routes.map(move |route| (prefix, route)));
        assert_eq!(listed.count(), self.model.routes.len());
        for (prefix, route) in &self.model.routes {
            assert_eq!(self.rib.route(prefix, route.face, route.origin), Some(route));
        }
        let deadline = self.model.routes.iter().map(|(_, route)| route.expires).min();
        assert_eq!(self.rib.next_deadline(), deadline.unwrap_or(Instant::NEVER));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn the_forwarding_table_has_the_next_hops_that_the_model_works_out(operations in vec(operation(), 1..60)) {
        let mut pair = Pair::new();
        for operation in &operations {
            pair.apply(operation);
            pair.check();
        }
        pair.apply(&Operation::SettleHeirs { budget: 1000 });
        prop_assert!(!pair.rib.is_behind());
        pair.check();
        for face in 256..260 {
            pair.apply(&Operation::RemoveFace { face });
        }
        pair.apply(&Operation::SettleHeirs { budget: 1000 });
        prop_assert!(pair.table.is_empty());
        prop_assert_eq!(pair.rib.entries().count(), 0);
        prop_assert_eq!(pair.rib.next_deadline(), Instant::NEVER);
        prop_assert!(pair.rib.by_face.is_empty());
    }
}

/// A route of an application on this host.
fn app_route(face: u32, cost: u64) -> RibRoute {
    RibRoute {
        face: FaceId(face),
        origin: RouteOrigin::App,
        cost,
        flags: RouteFlags::NONE,
        expires: Instant::NEVER,
        announcement: None,
        holder: Holder::Host,
        precedence: Precedence::LongestMatch,
        signer: None,
    }
}

#[test]
fn a_full_rib_refuses_new_routes_and_still_replaces_old_ones() {
    let mut rib = Rib::new(2);
    let prefix: Name = "/a".parse().unwrap();
    rib.register(&prefix, app_route(256, 1)).unwrap();
    rib.register(&prefix, app_route(257, 1)).unwrap();
    assert_eq!(rib.register(&prefix, app_route(258, 1)), Err(RibFull::Routes { limit: 2 }));
    assert_eq!(rib.refused(), 1);
    rib.register(&prefix, app_route(257, 9)).unwrap();
    assert_eq!(rib.route(&prefix, FaceId(257), RouteOrigin::App).map(|route| route.cost), Some(9));
    assert!(rib.unregister(&prefix, FaceId(256), RouteOrigin::App));
    rib.register(&prefix, app_route(258, 1)).unwrap();
}

#[test]
fn however_often_a_prefix_changes_its_heirs_are_gone_through_twice_at_most() {
    const INHERITING: usize = 6000;
    const BUDGET: usize = 256;
    let route = |face| RibRoute { flags: RouteFlags::CHILD_INHERIT, ..app_route(face, 0) };
    let mut rib = Rib::new(INHERITING + 2);
    for number in 0..INHERITING {
        rib.register(&format!("/heirs/{number}").parse().unwrap(), route(300)).unwrap();
    }
    while rib.poll_update().is_some() {}
    let root: Name = "/".parse().unwrap();
    for _ in 0..300 {
        rib.register(&root, route(256)).unwrap();
        rib.unregister(&root, FaceId(256), RouteOrigin::App);
    }
    assert_eq!(rib.inheriting_settled(), 0, "nobody waits for the heirs");
    rib.register(&root, route(256)).unwrap();
    let mut turns = 0;
    while rib.is_behind() {
        assert!(rib.settle_inheriting(BUDGET) <= BUDGET);
        while rib.poll_update().is_some() {}
        turns += 1;
        // One more change in the middle: those before it are looked at again.
        if turns == 10 {
            rib.register(&root, route(257)).unwrap();
        }
    }
    assert!(rib.inheriting_settled() <= 2 * INHERITING as u64, "{}", rib.inheriting_settled());
    for entry in rib.entries.values() {
        assert!(entry.installed.contains_key(&FaceId(256)) && entry.installed.contains_key(&FaceId(257)));
    }
}

#[test]
fn costs_near_the_largest_number_keep_their_order() {
    let mut rib = Rib::new(10);
    let route = |face, cost| RibRoute { flags: RouteFlags::CHILD_INHERIT, ..app_route(face, cost) };
    rib.register(&"/".parse().unwrap(), route(256, u64::MAX)).unwrap();
    rib.register(&"/a".parse().unwrap(), route(257, u64::MAX)).unwrap();
    rib.register(&"/a/b".parse().unwrap(), route(258, u64::MAX)).unwrap();
    let heir = &rib.entries[&"/a/b".parse::<Name>().unwrap()];
    let mut faces: Vec<_> = heir.installed.iter().map(|(face, hop)| (hop.cost, face.0)).collect();
    faces.sort_unstable();
    assert_eq!(faces.iter().map(|(_, face)| *face).collect::<Vec<_>>(), [258, 257, 256]);
    assert!(faces.windows(2).all(|pair| pair[0].0 < pair[1].0), "{faces:?}");
}

#[test]
fn a_refused_next_hop_is_offered_again_when_something_changes_around_it() {
    let mut rib = Rib::new(10);
    let prefix: Name = "/a".parse().unwrap();
    rib.register(&prefix, app_route(256, 1)).unwrap();
    assert!(rib.poll_update().is_some());
    rib.handle_refusal(&prefix, FaceId(256));
    rib.register(&prefix, app_route(257, 1)).unwrap();
    let offered: Vec<_> = std::iter::from_fn(|| rib.poll_update()).collect();
    assert_eq!(offered.len(), 2, "{offered:?}");
}

#[test]
fn the_longest_prefix_that_a_face_has_a_route_for_is_found() {
    let mut rib = Rib::new(10);
    let route = |face| RibRoute { origin: RouteOrigin::PrefixAnnouncement, ..app_route(face, 0) };
    for (prefix, face) in [("/", 256), ("/a/b", 256), ("/a/b/c", 257)] {
        rib.register(&prefix.parse().unwrap(), route(face)).unwrap();
    }
    let longest = |name: &str, face| {
        let name: Name = name.parse().unwrap();
        rib.longest_prefix(name.as_ref(), FaceId(face), RouteOrigin::PrefixAnnouncement)
            .map(|prefix| prefix.as_ref().to_string())
    };
    assert_eq!(longest("/a/b/c/d", 256).as_deref(), Some("/a/b"));
    assert_eq!(longest("/a", 256).as_deref(), Some("/"));
    assert_eq!(longest("/a/b/c", 257).as_deref(), Some("/a/b/c"));
    assert_eq!(longest("/a/b", 257), None);
}

#[test]
fn of_routes_that_end_together_1024_go_in_one_step_and_the_deadline_asks_for_the_rest() {
    let mut rib = Rib::new(10_000);
    let end = Instant::from_nanos(7);
    for number in 0..2500 {
        let route = RibRoute { expires: end, ..app_route(256, 0) };
        rib.register(&format!("/ends/{number}").parse().unwrap(), route).unwrap();
    }
    let steps = std::iter::from_fn(|| (rib.next_deadline() <= end).then(|| rib.expire(end)));
    assert_eq!(steps.take(10).collect::<Vec<_>>(), [1024, 1024, 452]);
    assert_eq!(rib.route_count(), 0);
}

#[test]
fn a_strangers_longer_prefix_comes_behind_the_application_however_many_faces_the_stranger_has() {
    let mut rib = Rib::new(1000);
    let route = |face, holder, precedence| RibRoute {
        face: FaceId(face),
        origin: RouteOrigin::App,
        cost: 100,
        flags: RouteFlags::CHILD_INHERIT,
        expires: Instant::NEVER,
        announcement: None,
        holder,
        precedence,
        signer: None,
    };
    let strangers = || Holder::Neighbour("ip-1".into());
    let (app, below): (Name, Name) = ("/app".parse().unwrap(), "/app/x".parse().unwrap());
    for face in 0..MAX_NEXT_HOPS as u32 + 1 {
        rib.register(&below, route(300 + face, strangers(), Precedence::BehindApplications)).unwrap();
    }
    rib.register(&app, route(256, Holder::Host, Precedence::LongestMatch)).unwrap();
    rib.register(&below, route(257, strangers(), Precedence::LongestMatch)).unwrap();
    rib.settle_inheriting(100);
    let mut order: Vec<_> =
        rib.entries[&below].installed.iter().map(|(face, hop)| (hop.cost, face.0)).collect();
    order.sort_unstable();
    let faces: Vec<u32> = order.iter().map(|(_, face)| *face).collect();
    assert_eq!(faces.len(), MAX_NEXT_HOPS);
    assert_eq!(faces[..3], [257, 256, 300], "who has shown a key, then the application, then the others");
}
