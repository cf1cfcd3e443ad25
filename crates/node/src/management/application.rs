//! What the node tells management, and asks it.

use engine::{FaceId, NextHop};
use management::{CommandScope, RequestName, Target};
use packet::time::Instant;
use packet::{Data, Interest, NackReason, Name, Now};

use super::state::StateFile;
use super::{NfdManagement, Request};
use crate::control::{ControlApplication, FaceEvent, NodeControl, OutgoingInterest};

impl ControlApplication for NfdManagement {
    fn start(&mut self, now: Now, node: &mut dyn NodeControl) {
        self.open_state();
        let before = self.state.as_ref().map(|state| state.carried_out().clone()).unwrap_or_default();
        self.localhost.start(now, &before);
        if let Some(localhop) = &mut self.localhop {
            localhop.start(now, &before);
        }
        let mut scopes = vec![CommandScope::Localhost];
        scopes.extend(self.localhop.as_ref().map(|_| CommandScope::Localhop));
        for scope in scopes {
            if let Ok(prefix) = scope.prefix() {
                self.register_own_prefix(now, node, &prefix);
            }
        }
        self.restore_routes(now, node);
    }

    fn handle_interest(&mut self, now: Now, node: &mut dyn NodeControl, interest: &Interest, from: FaceId) {
        let Some(name) = RequestName::parse(interest.name()) else {
            self.counters.unanswered += 1;
            return;
        };
        // Neighbours may register routes and see what became of them, nothing else.
        let is_about_routes = interest.name().component(2).is_some_and(|module| module.value == b"rib");
        if name.scope == CommandScope::Localhop && (self.localhop.is_none() || !is_about_routes) {
            self.counters.unanswered += 1;
            return;
        }
        match name.target {
            Target::Command(command) => {
                let scope = name.scope;
                let request = Request { now, command, interest, from, scope, certificate: None };
                let outcome = self.handle_command(node, request);
                self.conclude(request, outcome);
                // What is known of a key from earlier is known at once.
                self.conclude_delegates(now, node);
            }
            Target::Dataset(dataset) => self.handle_dataset(now, node, interest, name.scope, dataset),
            // Whoever asks for what is still to come waits in the table of pending Interests.
            Target::FaceEvents => {
                if let Some(data) = self.notifications.find(now.instant, interest).cloned() {
                    self.outgoing.push_back(data);
                }
            }
        }
    }

    fn handle_face_event(&mut self, now: Now, node: &mut dyn NodeControl, event: &FaceEvent) {
        self.forget_how_things_were();
        self.notify(now, event);
        self.conclude_connecting(node, event);
        if event.kind == crate::control::FaceEventKind::Destroyed {
            self.rib.remove_face(event.face.id);
            self.update_table(node);
        }
    }

    fn handle_engine_event(&mut self, now: Now, node: &mut dyn NodeControl, event: &engine::Event) {
        match event {
            engine::Event::RouteAnnounced { face, announcement } => {
                self.learn_route(now, node, *face, announcement);
            }
            engine::Event::RouteFailed { face, name } => self.forget_route(node, *face, name),
        }
    }

    fn handle_timeout(&mut self, now: Now, node: &mut dyn NodeControl) {
        if self.rib.expire(now.instant) > 0 {
            self.forget_how_things_were();
        }
        self.apply_revocations(now, node);
        self.update_table(node);
        if self.look_at_clock() <= now.instant {
            self.note_times_ahead(now);
        }
        if let Some(state) = &mut self.state {
            state.handle_timeout(now);
        }
        self.give_up_connecting(now, node);
        self.delegation.handle_timeout(now);
        self.conclude_delegates(now, node);
    }

    fn handle_configured_routes(&mut self, now: Now, node: &mut dyn NodeControl, routes: &[(Name, NextHop)]) {
        self.adopt_routes(now, node, routes);
        self.forget_how_things_were();
    }

    fn handle_data(&mut self, now: Now, node: &mut dyn NodeControl, data: &Data) {
        self.delegation.handle_data(now, data);
        self.conclude_delegates(now, node);
    }

    fn handle_nack(&mut self, now: Now, node: &mut dyn NodeControl, interest: &Interest, reason: NackReason) {
        self.delegation.handle_nack(now, interest.name(), reason);
        self.conclude_delegates(now, node);
    }

    fn poll_interest(&mut self) -> Option<OutgoingInterest> {
        self.delegation.poll_interest()
    }

    fn poll_data(&mut self) -> Option<Data> {
        self.outgoing.pop_front()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let counters = &self.counters;
        vec![
            ("commands-done", counters.commands_done),
            ("commands-failed", counters.commands_failed),
            ("unauthorized", counters.unauthorized),
            ("unanswered", counters.unanswered),
            ("datasets", counters.datasets),
            ("notifications", counters.notifications),
            ("routes-refused", self.rib.refused()),
            ("routes-refused-to-neighbours", self.rib.refused_for_share()),
            ("routes-of-revoked-keys", counters.routes_of_revoked_keys),
            ("next-hops-refused", counters.next_hops_refused + self.rib.hops_left_out()),
        ]
    }

    fn has_background_work(&self) -> bool {
        self.rib.is_behind()
    }

    fn do_background_work(&mut self, _now: Now, node: &mut dyn NodeControl) {
        self.settle_some_heirs(node);
    }

    fn next_deadline(&self) -> Instant {
        let connecting = self.connecting.values().map(|pending| pending.deadline).min();
        let connecting = connecting.unwrap_or(Instant::NEVER);
        let state = self.state.as_ref().map_or(Instant::NEVER, StateFile::next_deadline);
        let revocations = self.look_at_revocations;
        self.rib
            .next_deadline()
            .min(connecting)
            .min(state)
            .min(revocations)
            .min(self.look_at_clock())
            .min(self.delegation.next_deadline())
    }
}
