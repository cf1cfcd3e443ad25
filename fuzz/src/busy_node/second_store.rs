//! A store behind the content store that answers whatever it likes, late, twice, or not at all.

use std::sync::Arc;

use arbitrary::Arbitrary;
use engine::{LookupId, SecondStore, SecondStoreConfig, SecondStoreRequest};
use packet::time::{Duration, Instant};
use packet::{Data, Interest, PrefixHashes};

use super::{AnyData, Node};

/// Lookups that are remembered: answers may come to old ones, too.
const MAX_REMEMBERED: usize = 64;

/// What happens around the store.
#[derive(Debug, Arbitrary)]
pub enum StoreOperation {
    /// It comes, changes, or goes.
    Set { config: Option<AnyStore> },
    /// It answers one of its lookups with this Data.
    Find { which: u8, data: AnyData, is_reply: bool, is_stale: bool },
    /// It answers one of its lookups with nothing.
    Lack { which: u8 },
    /// It answers a lookup that nobody has asked.
    Invent { number: u64, data: AnyData },
}

/// A store: which lengths of names it has, stands in for, and wants, by bits.
#[derive(Clone, Copy, Debug, Arbitrary)]
pub struct AnyStore {
    max_waiting: u8,
    timeout_millis: u8,
    has: u8,
    stands_in: u8,
    wants: u8,
}

fn says(bits: u8, components: usize) -> bool {
    bits & (1 << components.min(7)) != 0
}

impl SecondStore for AnyStore {
    fn may_have(&self, interest: &Interest, _: &PrefixHashes) -> bool {
        says(self.has, interest.name().component_count())
    }

    fn stands_in(&self, interest: &Interest) -> bool {
        says(self.stands_in, interest.name().component_count())
    }

    fn wants(&self, data: &Data) -> bool {
        says(self.wants, data.name().component_count())
    }
}

/// The store that the node has now, and what it was asked.
#[derive(Debug, Default)]
pub(super) struct Store {
    config: Option<AnyStore>,
    asked: Vec<(LookupId, Interest)>,
}

impl Node {
    pub(super) fn operate_store(&mut self, operation: &StoreOperation) {
        let pick = |node: &Node, which: u8| {
            let index = usize::from(which).checked_rem(node.store.asked.len())?;
            node.store.asked.get(index).cloned()
        };
        match operation {
            StoreOperation::Set { config } => {
                self.store.config = *config;
                let store = config.map(|config| {
                    let limits = SecondStoreConfig {
                        max_waiting: config.max_waiting.into(),
                        timeout: Duration::from_millis(u64::from(config.timeout_millis) + 1),
                    };
                    (Arc::new(config) as Arc<dyn SecondStore>, limits)
                });
                self.engine.set_second_store(self.now, store);
            }
            StoreOperation::Find { which, data, is_reply, is_stale } => {
                let Some((lookup, interest)) = pick(self, *which) else { return };
                let Some(data) = data.build(interest.dialect(), is_reply.then_some(&interest)) else {
                    return;
                };
                let fresh_until = if *is_stale { Instant::ZERO } else { self.now + data.freshness() };
                self.engine.receive_found(self.now, lookup, data, fresh_until);
            }
            StoreOperation::Lack { which } => {
                let Some((lookup, _)) = pick(self, *which) else { return };
                self.engine.receive_absent(self.now, lookup);
            }
            StoreOperation::Invent { number, data } => {
                let Some(data) = data.build(packet::Dialect::Ndn, None) else { return };
                self.engine.receive_found(self.now, LookupId(*number), data, self.now);
            }
        }
    }

    /// Takes what is meant for the store.
    pub(super) fn settle_store(&mut self) {
        while let Some(effect) = self.engine.poll_second_store() {
            let config = self.store.config.expect("nothing is for a store that is not there");
            match effect {
                SecondStoreRequest::LookUp(lookup, interest) => {
                    assert!(says(config.has, interest.name().component_count()), "it certainly has nothing");
                    let is_asked = |asked: &Interest| asked.name() == interest.name();
                    let by_faces = self.faces.values().flat_map(|seen| &seen.asked).map(|(asked, _)| asked);
                    assert!(by_faces.chain(&self.departed).any(is_asked), "nobody asked for this");
                    if self.store.asked.len() == MAX_REMEMBERED {
                        self.store.asked.remove(0);
                    }
                    self.store.asked.push((lookup, interest));
                }
                SecondStoreRequest::Offer(data) => {
                    assert!(says(config.wants, data.name().component_count()), "it does not want this");
                }
            }
        }
        if let Some(counters) = self.engine.second_store_counters() {
            // Data that nobody asked the store for may be found as well.
            assert!(counters.absent + counters.overdue <= counters.asked, "{counters:?}");
        }
    }
}
