//! Commands for the forwarding table, the content store and strategies.

use engine::{FaceId, NextHop, StrategyError};
use management::{CommandScope, ControlParameters, ControlResponse, StatusCode};

use super::parameters::{face_or_self, prefix};
use super::routes::may_route;
use super::{ERASE_LIMIT, MANAGED, convert};
use crate::control::strategy_name::strategy_called;
use crate::control::{AddNextHopError, NodeControl, SetStrategyError};

/// `fib/add-nexthop`.
pub(super) fn add_next_hop(
    node: &mut dyn NodeControl,
    from: FaceId,
    parameters: ControlParameters,
) -> ControlResponse {
    let prefix = match prefix(&parameters) {
        Ok(prefix) => prefix,
        Err(response) => return response,
    };
    let hop = NextHop { face: face_or_self(&parameters, from), cost: parameters.cost.unwrap_or(0) };
    if let Err(response) = may_route(&prefix, hop.face, CommandScope::Localhost) {
        return response;
    }
    match node.add_next_hop(MANAGED, &prefix, hop, None) {
        Ok(()) => ControlResponse::ok(&ControlParameters {
            face_id: Some(hop.face.0.into()),
            cost: Some(hop.cost),
            ..parameters
        }),
        Err(AddNextHopError::NoFace(_)) => ControlResponse::error(StatusCode::FaceNotFound, "Face not found"),
        Err(error) => ControlResponse::error(StatusCode::Unavailable, error.to_string()),
    }
}

/// `fib/remove-nexthop`. That there is no such next hop is fine: it is gone.
pub(super) fn remove_next_hop(
    node: &mut dyn NodeControl,
    from: FaceId,
    parameters: ControlParameters,
) -> ControlResponse {
    let face = face_or_self(&parameters, from);
    if let Some(prefix) = &parameters.name {
        if let Err(response) = may_route(prefix, face, CommandScope::Localhost) {
            return response;
        }
        node.remove_next_hop(MANAGED, prefix, face);
    }
    ControlResponse::ok(&ControlParameters { face_id: Some(face.0.into()), ..parameters })
}

/// `cs/config`.
pub(super) fn configure_store(node: &mut dyn NodeControl, parameters: &ControlParameters) -> ControlResponse {
    let store = node.configure_content_store(convert::content_store_changes(parameters));
    ControlResponse::ok(&ControlParameters {
        capacity: Some(store.max_entries.into()),
        flags: Some(convert::content_store_flags(&store).0),
        ..Default::default()
    })
}

/// `cs/erase`. What is left after the most that one command erases, another command must erase; the answer
/// says so by holding that limit.
pub(super) fn erase(node: &mut dyn NodeControl, parameters: ControlParameters) -> ControlResponse {
    let wanted = parameters.count.map_or(usize::MAX, |count| usize::try_from(count).unwrap_or(usize::MAX));
    let erased = match &parameters.name {
        Some(prefix) => node.erase_cached(MANAGED, prefix, wanted.min(ERASE_LIMIT)),
        None => 0,
    };
    let may_be_more = erased >= ERASE_LIMIT && wanted > ERASE_LIMIT;
    ControlResponse::ok(&ControlParameters {
        count: Some(erased as u64),
        capacity: may_be_more.then_some(ERASE_LIMIT as u64),
        ..parameters
    })
}

/// `strategy-choice/set`.
pub(super) fn set_strategy(node: &mut dyn NodeControl, parameters: ControlParameters) -> ControlResponse {
    let prefix = match prefix(&parameters) {
        Ok(prefix) => prefix,
        Err(response) => return response,
    };
    let strategy = parameters.strategy.as_ref().map(strategy_called);
    let strategy = match strategy {
        Some(Ok(strategy)) => strategy,
        Some(Err(error)) => return strategy_refusal(&error),
        None => return ControlResponse::error(StatusCode::BadParameters, "no strategy is named"),
    };
    match node.set_strategy(MANAGED, &prefix, &strategy) {
        Ok(()) => {
            ControlResponse::ok(&ControlParameters { strategy: Some(strategy.name().clone()), ..parameters })
        }
        Err(SetStrategyError::Engine(engine::SetStrategyError::Strategy(error))) => strategy_refusal(&error),
        Err(error) => ControlResponse::error(StatusCode::Unavailable, error.to_string()),
    }
}

/// NFD takes the next newer version for an older one and then finds that this is not what was asked for; of a
/// newer one it knows nothing.
fn strategy_refusal(error: &StrategyError) -> ControlResponse {
    let code = match error {
        StrategyError::Unknown(_) => StatusCode::NotFound,
        StrategyError::Version { available, wanted, .. } if wanted > available => StatusCode::NotFound,
        StrategyError::Version { .. } | StrategyError::Parameter(_) => StatusCode::Conflict,
    };
    ControlResponse::error(code, error.to_string())
}

/// `strategy-choice/unset`.
pub(super) fn unset_strategy(node: &mut dyn NodeControl, parameters: &ControlParameters) -> ControlResponse {
    if let Some(prefix) = &parameters.name {
        node.unset_strategy(MANAGED, prefix);
    }
    ControlResponse::ok(parameters)
}
