//! Self-learning: routes are found by flooding, as a bridge learns where its stations are (NFD's strategy of
//! that name, version 1, after Shi et al., "On broadcast-based self-learning in named data networking",
//! 2017).
//!
//! An Interest for which there is no route is a discovery Interest: it goes to everybody. Data that answers
//! one brings an announcement of the producer's prefix, and the owner is told to make a route of it.
//! Interests that follow a route are marked as no discovery, so that nobody further on floods them.
//!
//! Data that answers such a marked Interest has no announcement, but somebody who asked by discovery needs
//! one to learn the route. It then gets the announcement that is stored with the route, and where there is
//! none, no Data either: Data without an announcement would leave all nodes on its way flooding for ever.

use packet::{Data, NackReason};

use super::{Strategy, StrategyContext, nacks};
use crate::drop_reason::DropReason;
use crate::face_id::FaceId;
use crate::transmit::Event;
use packet::parameters::{ParameterError, Parameters};

#[derive(Debug)]
struct SelfLearning;

pub(super) fn start(_: &mut Parameters) -> Result<Box<dyn Strategy>, ParameterError> {
    Ok(Box::new(SelfLearning))
}

impl Strategy for SelfLearning {
    fn after_interest(&mut self, context: &mut StrategyContext<'_>) {
        let faces: Vec<FaceId> = if !context.next_hops().is_empty() {
            context.eligible_next_hops().map(|hop| hop.face).collect()
        } else if context.is_non_discovery() {
            return nacks::refuse(context, NackReason::NoRoute, DropReason::NoNextHop);
        } else {
            context.all_faces().filter(|&face| !context.is_local(face) && context.may_send(face)).collect()
        };
        let follows_route = !context.next_hops().is_empty();
        if faces.is_empty() {
            context.drop_arrival(DropReason::NoNextHop);
        }
        for face in faces {
            context.send_marked(face, follows_route);
        }
    }

    fn after_data(&mut self, context: &mut StrategyContext<'_>, from: FaceId, _: &Data) {
        let followed_route = context.out_record(from).is_some_and(|record| record.non_discovery);
        if !followed_route {
            if let Some(announcement) = context.incoming_announcement().cloned() {
                context.emit(Event::RouteAnnounced { face: from, announcement: announcement.clone() });
                context.announce(announcement);
            }
        } else if somebody_must_learn(context) {
            match context.stored_announcement().cloned() {
                Some(announcement) => context.announce(announcement),
                None => context.hold_data(),
            }
        }
    }

    /// Without a route further on, the one that led there is of no use. Other reasons pass.
    fn after_nack(&mut self, context: &mut StrategyContext<'_>, from: FaceId, reason: NackReason) {
        if reason == NackReason::NoRoute {
            let name = context.name().to_name();
            context.emit(Event::RouteFailed { face: from, name });
            context.nack_all(reason, DropReason::NoNextHop);
        }
    }
}

/// Whether somebody who waits asked by discovery, unless all who wait are applications of this host, which
/// learn no routes.
fn somebody_must_learn(context: &StrategyContext<'_>) -> bool {
    let waiting = || context.in_records().iter().filter(|record| record.expires > context.now());
    waiting().any(|record| !record.non_discovery) && waiting().any(|record| !context.is_local(record.face))
}
