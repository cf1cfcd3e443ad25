//! What nodes without data plane do alike: that of these tests, and that of the fuzz target `ccnd_requests`.

use std::collections::BTreeMap;

use cairn_node::control::{
    AddNextHopError, CongestionSettings, FacePersistency, FaceSnapshot, FaceState, FaceTraffic, FaceUri,
    NextHopChange, NodeControl, RouteStatus,
};
use engine::{FaceId, FaceScope, NamespaceRules, NextHop};
use management::StrategyChoice;
use packet::time::Duration;
use packet::{Dialect, LinkType, Name};

/// A face to another host that is up.
pub(crate) fn face(id: FaceId, remote: FaceUri, local: FaceUri) -> FaceSnapshot {
    FaceSnapshot {
        id,
        scope: FaceScope::NonLocal,
        remote,
        local,
        dialect: Dialect::Ndn,
        persistency: FacePersistency::Persistent,
        link_type: LinkType::PointToPoint,
        state: FaceState::Up,
        expires_in: None,
        congestion: CongestionSettings { interval: Duration::from_millis(100), threshold_bytes: 65_536 },
        mtu_bytes: None,
        local_fields: false,
        reliability: false,
        congestion_marking: true,
        traffic: FaceTraffic::default(),
    }
}

/// Makes changes to next hops one after the other, and hands out the rules among them.
pub(crate) fn change_one_by_one<N: NodeControl>(
    node: &mut N,
    dialect: Dialect,
    changes: Vec<NextHopChange>,
    set_rules: impl Fn(&mut N, &Name, &NamespaceRules),
) -> Vec<(NextHopChange, AddNextHopError)> {
    let mut failed = Vec::new();
    for change in changes {
        let outcome = match &change {
            NextHopChange::Add { prefix, hop, announcement } => {
                node.add_next_hop(dialect, prefix, *hop, announcement.clone())
            }
            NextHopChange::Remove { prefix, face } => {
                node.remove_next_hop(dialect, prefix, *face);
                Ok(())
            }
            NextHopChange::SetRules { prefix, rules } => {
                set_rules(node, prefix, rules);
                Ok(())
            }
        };
        failed.extend(outcome.err().map(|error| (change, error)));
    }
    failed
}

/// Next hops by their prefixes, in no particular order.
pub(crate) fn routes(hops: &BTreeMap<(Name, FaceId), u64>) -> Vec<RouteStatus> {
    let mut routes: BTreeMap<Name, Vec<NextHop>> = BTreeMap::new();
    for ((prefix, face), cost) in hops {
        routes.entry(prefix.clone()).or_default().push(NextHop { face: *face, cost: *cost });
    }
    routes.into_iter().rev().map(|(prefix, next_hops)| RouteStatus { prefix, next_hops }).collect()
}

/// Strategies by their prefixes, in no particular order.
pub(crate) fn strategies(chosen: &BTreeMap<Name, Name>) -> Vec<StrategyChoice> {
    let choice = |(prefix, strategy): (&Name, &Name)| StrategyChoice {
        prefix: prefix.clone(),
        strategy: strategy.clone(),
    };
    chosen.iter().rev().map(choice).collect()
}
