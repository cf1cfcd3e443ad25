//! What is told of the engine's tables, and how its content store is configured.

use engine::{Engine, NextHop};
use management::StrategyChoice;
use packet::{Dialect, Name};

use crate::control::{ContentStoreChanges, ContentStoreStatus, RouteStatus};

/// Part of the list of routes, from number `from` on, and where the next part begins.
pub(crate) fn route_page(engine: &Engine, dialect: Dialect, from: u32) -> (Vec<RouteStatus>, Option<u32>) {
    let (routes, next) = engine.routes(dialect, from);
    let status = |(prefix, hops): (&Name, &[NextHop])| RouteStatus {
        prefix: prefix.clone(),
        next_hops: hops.to_vec(),
    };
    (routes.map(status).collect(), next)
}

/// Part of the list of strategy choices, likewise.
pub(crate) fn strategy_page(
    engine: &Engine,
    dialect: Dialect,
    from: u32,
) -> (Vec<StrategyChoice>, Option<u32>) {
    let (choices, next) = engine.strategies(dialect, from);
    let choice = |(prefix, strategy): (&Name, &Name)| StrategyChoice {
        prefix: prefix.clone(),
        strategy: strategy.clone(),
    };
    (choices.map(choice).collect(), next)
}

pub(crate) fn configure_content_store(
    engine: &mut Engine,
    changes: ContentStoreChanges,
) -> ContentStoreStatus {
    let old = *engine.content_store_config();
    let config = engine::ContentStoreConfig {
        max_bytes: changes.max_bytes.unwrap_or(old.max_bytes),
        max_entries: changes.max_entries.unwrap_or(old.max_entries),
        eviction: changes.eviction.unwrap_or(old.eviction),
        admit: changes.admit.unwrap_or(old.admit),
        placement: changes.placement.unwrap_or(old.placement),
        serve: changes.serve.unwrap_or(old.serve),
        unsolicited: changes.unsolicited.unwrap_or(old.unsolicited),
    };
    if config != old {
        engine.configure_content_store(config);
    }
    content_store(engine)
}

pub(crate) fn content_store(engine: &Engine) -> ContentStoreStatus {
    let (config, sizes) = (engine.content_store_config(), engine.table_sizes());
    let counters = engine.content_store_counters();
    ContentStoreStatus {
        max_entries: config.max_entries,
        max_bytes: config.max_bytes,
        admit: config.admit,
        serve: config.serve,
        entries: sizes.cached,
        bytes: sizes.cached_bytes,
        hits: counters.hits,
        misses: counters.misses,
    }
}
