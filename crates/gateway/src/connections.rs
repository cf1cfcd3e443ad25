//! Who is connected, and who gives way where there is no room.
//!
//! Whoever comes finds a place as long as somebody else holds more and does nothing with some of it: one
//! address can neither lock out the others, nor the applications of this host. Who is being answered gives no
//! way, for a response may be a film and take hours: where all are, a newcomer is turned away. (A node's
//! server of metrics, whose pages are short and read at once, closes one of them instead.)

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use system::AddressPrefix;
use tokio::sync::Notify;

use crate::counters::Counters;

/// One part of so many is for this host alone.
const RESERVED_PART: usize = 32;
/// Another address has no more than one part of so many.
const ADDRESS_PART: usize = 2;

/// Where connections come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ConnectionOrigin {
    ThisHost,
    Address(AddressPrefix),
}

impl ConnectionOrigin {
    fn of(address: IpAddr) -> Self {
        match address.to_canonical().is_loopback() {
            true => ConnectionOrigin::ThisHost,
            false => ConnectionOrigin::Address(AddressPrefix::of(address)),
        }
    }
}

/// What the table and the task of a connection both know.
#[derive(Debug, Default)]
struct Shared {
    /// Requests of which the response has not gone yet.
    under_way: AtomicUsize,
    /// Its place is given to another.
    gives_way: Notify,
}

/// All who are connected.
#[derive(Debug)]
pub(crate) struct Connections {
    limit: usize,
    counters: Arc<Counters>,
    table: Mutex<Table>,
}

/// By origin, in the order in which they came.
#[derive(Debug, Default)]
struct Table {
    held: HashMap<ConnectionOrigin, VecDeque<Arc<Shared>>>,
    total: usize,
}

impl Connections {
    pub(crate) fn new(limit: usize, counters: Arc<Counters>) -> Arc<Self> {
        Arc::new(Connections { limit, counters, table: Mutex::default() })
    }

    /// A place for somebody who has connected from `from`. `None` if all who could give way are at work.
    pub(crate) fn admit(self: &Arc<Self>, from: IpAddr) -> Option<ConnectionSlot> {
        let origin = ConnectionOrigin::of(from);
        let mut table = self.table();
        if let Some(crowded) = self.crowded(&table, origin) {
            if !table.make_room(crowded) {
                return None;
            }
            self.counters.connections_gave_way_total.add(1);
        }
        let shared = Arc::new(Shared::default());
        table.held.entry(origin).or_default().push_back(shared.clone());
        table.total += 1;
        self.counters.connections.add(1);
        Some(ConnectionSlot { connections: self.clone(), origin, shared })
    }

    /// The origin that must give a place up for a newcomer from `origin`, if any must.
    fn crowded(&self, table: &Table, origin: ConnectionOrigin) -> Option<ConnectionOrigin> {
        let is_here = origin == ConnectionOrigin::ThisHost;
        let own = table.held_by(origin);
        let reserved = if is_here { 0 } else { self.limit / RESERVED_PART };
        if !is_here && own >= (self.limit / ADDRESS_PART).max(1) {
            return Some(origin);
        }
        if table.total < self.limit - reserved {
            return None;
        }
        let most = table.held.iter().max_by_key(|(_, held)| held.len());
        Some(most.filter(|(_, held)| held.len() > own).map_or(origin, |(most, _)| *most))
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn held_by(&self, origin: ConnectionOrigin) -> usize {
        self.held.get(&origin).map_or(0, VecDeque::len)
    }

    /// Closes the oldest connection of `origin` that nothing is under way on; false if there is none.
    fn make_room(&mut self, origin: ConnectionOrigin) -> bool {
        let Some(held) = self.held.get_mut(&origin) else { return false };
        let is_idle = |shared: &Arc<Shared>| shared.under_way.load(Ordering::Relaxed) == 0;
        let Some(shared) = held.iter().position(is_idle).and_then(|place| held.remove(place)) else {
            return false;
        };
        self.total -= 1;
        shared.gives_way.notify_one();
        true
    }

    fn remove(&mut self, origin: ConnectionOrigin, shared: &Arc<Shared>) {
        let Some(held) = self.held.get_mut(&origin) else { return };
        if let Some(place) = held.iter().position(|other| Arc::ptr_eq(other, shared)) {
            held.remove(place);
            self.total -= 1;
        }
        if held.is_empty() {
            self.held.remove(&origin);
        }
    }
}

/// A connection's place, which is free when this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionSlot {
    connections: Arc<Connections>,
    origin: ConnectionOrigin,
    shared: Arc<Shared>,
}

impl ConnectionSlot {
    /// Waits until this place is given to another.
    pub(crate) async fn given_away(&self) {
        self.shared.gives_way.notified().await;
    }

    /// A request has come: the connection gives no way until what is returned is dropped.
    pub(crate) fn begin_request(&self) -> RequestGuard {
        self.shared.under_way.fetch_add(1, Ordering::Relaxed);
        RequestGuard(self.shared.clone())
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.table().remove(self.origin, &self.shared);
        self.connections.counters.connections.take(1);
    }
}

/// A request of which the response has not gone yet.
#[derive(Debug)]
pub(crate) struct RequestGuard(Arc<Shared>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: usize = 64;

    fn connections() -> Arc<Connections> {
        Connections::new(LIMIT, Arc::default())
    }

    fn fill(connections: &Arc<Connections>, from: &str, count: usize) -> Vec<ConnectionSlot> {
        (0..count).filter_map(|_| connections.admit(from.parse().unwrap())).collect()
    }

    fn gave_way(connections: &Connections) -> u64 {
        connections.counters.connections_gave_way_total.get()
    }

    #[test]
    fn one_address_takes_the_places_of_its_own_and_of_nobody_else() {
        let connections = connections();
        let _crowd = fill(&connections, "192.0.2.1", 10 * LIMIT);
        assert_eq!(
            connections.table().held_by(ConnectionOrigin::of("192.0.2.1".parse().unwrap())),
            LIMIT / 2
        );
        let _other = fill(&connections, "192.0.2.2", 1);
        assert_eq!(gave_way(&connections), (10 * LIMIT - LIMIT / 2) as u64);
    }

    #[test]
    fn two_crowded_addresses_give_way_to_a_third_and_this_host_has_room_kept() {
        let connections = connections();
        let crowds = [fill(&connections, "192.0.2.1", LIMIT), fill(&connections, "2001:db8::1", LIMIT)];
        assert_eq!(connections.table().total, LIMIT - LIMIT / RESERVED_PART);
        let before = gave_way(&connections);
        let third = fill(&connections, "192.0.2.3", 5);
        assert_eq!((third.len(), gave_way(&connections)), (5, before + 5));
        let here = fill(&connections, "127.0.0.1", LIMIT / RESERVED_PART);
        assert_eq!((here.len(), gave_way(&connections)), (LIMIT / RESERVED_PART, before + 5));
        drop((crowds, third, here));
        let table = connections.table();
        assert_eq!((table.total, table.held.len()), (0, 0));
    }

    #[test]
    fn addresses_of_one_network_of_ipv6_share() {
        let connections = connections();
        let places = ["2001:db8::1", "2001:db8::2"].map(|from| fill(&connections, from, LIMIT));
        assert_eq!(connections.table().total, LIMIT / 2);
        drop(places);
    }

    #[test]
    fn who_is_being_answered_gives_no_way() {
        let connections = connections();
        let crowd = fill(&connections, "192.0.2.1", LIMIT / 2);
        let working: Vec<_> = crowd.iter().map(ConnectionSlot::begin_request).collect();
        assert!(connections.admit("192.0.2.1".parse().unwrap()).is_none());
        drop(working);
        assert!(connections.admit("192.0.2.1".parse().unwrap()).is_some());
    }
}
