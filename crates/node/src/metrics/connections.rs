//! All who are connected to the server of metrics: how many there may be, who gives way, and who has taken
//! too long. A newcomer always finds a place, so that whoever watches the node gets in: a page is short, and
//! a client that is cut off asks again. (The gateway, whose responses may take hours, turns newcomers away
//! where all are being answered.)

use std::io::{Read, Write};
use std::time::Instant;

use super::connection::{Connection, End, Page};
use crate::origin::Origin;

/// Connections at once.
pub(super) const MAX_CONNECTIONS: usize = 32;
/// Of these, those of one address.
pub(super) const MAX_CONNECTIONS_OF_AN_ADDRESS: usize = 8;
/// Pages that are kept for those who still read them.
const MAX_PAGES: usize = 4;

/// What has become of those who came.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct ConnectionCounters {
    /// Have been answered, if only that there is no such page.
    pub(super) answered: u64,
    /// Went by themselves.
    pub(super) left: u64,
    /// Took too long to ask or to read.
    pub(super) too_slow: u64,
    /// Asked at a length that no request has.
    pub(super) too_large: u64,
    /// Were closed so that somebody else gets their place.
    pub(super) gave_way: u64,
}

/// Those who are connected, in the order in which they came.
pub(super) struct Connections<S> {
    pub(super) all: Vec<Connection<S>>,
    pub(super) counters: ConnectionCounters,
}

impl<S: Read + Write> Connections<S> {
    pub(super) fn new() -> Self {
        Connections { all: Vec::new(), counters: ConnectionCounters::default() }
    }

    /// Somebody has connected, who always finds a place. Where there is none, one of his own address goes if
    /// that has its share, and else one of the address that holds most: first who has not asked yet, and of
    /// those who came first.
    pub(super) fn add(&mut self, now: Instant, stream: S, origin: Origin) {
        let of = |origin| self.all.iter().filter(|connection| connection.origin == origin).count();
        let own = of(origin);
        let crowded = if own >= MAX_CONNECTIONS_OF_AN_ADDRESS {
            Some(origin)
        } else if self.all.len() >= MAX_CONNECTIONS {
            let most = self.all.iter().map(|connection| connection.origin).max_by_key(|other| of(*other));
            most.map(|most| if of(most) > own { most } else { origin })
        } else {
            None
        };
        if let Some(crowded) = crowded {
            let those = self.all.iter().enumerate().filter(|(_, connection)| connection.origin == crowded);
            if let Some((place, _)) =
                those.min_by_key(|(place, connection)| (!connection.is_asking(), *place))
            {
                self.all.remove(place);
                self.counters.gave_way += 1;
            }
        }
        self.all.push(Connection::new(stream, origin, now));
    }

    /// The streams of which this is true can be read or written, in the order of [`Connections::all`].
    pub(super) fn handle_ready(&mut self, now: Instant, is_ready: impl IntoIterator<Item = bool>) {
        let mut is_ready = is_ready.into_iter();
        self.retain(|connection| match is_ready.next() {
            Some(true) => connection.handle_ready(now),
            _ => None,
        });
    }

    /// Closes those who have taken too long.
    pub(super) fn handle_timeout(&mut self, now: Instant) {
        let before = self.all.len();
        self.all.retain(|connection| connection.deadline() > now);
        self.counters.too_slow += (before - self.all.len()) as u64;
    }

    /// The first time at which somebody has taken too long.
    pub(super) fn next_deadline(&self) -> Option<Instant> {
        self.all.iter().map(Connection::deadline).min()
    }

    pub(super) fn wait_for_page(&self) -> bool {
        self.all.iter().any(Connection::waits_for_page)
    }

    /// Gives all who wait the same page. Who still reads one so old that there would be too many of them has
    /// taken too long.
    pub(super) fn give(&mut self, now: Instant, page: &Page) {
        let mut kept: Vec<u64> = self.all.iter().filter_map(Connection::page_number).collect();
        kept.sort_unstable();
        kept.dedup();
        if let Some(last) = kept.len().checked_sub(MAX_PAGES).and_then(|place| kept.get(place)) {
            let before = self.all.len();
            self.all.retain(|connection| connection.page_number().is_none_or(|number| number > *last));
            self.counters.too_slow += (before - self.all.len()) as u64;
        }
        self.retain(|connection| connection.give(now, page));
    }

    fn retain(&mut self, mut step: impl FnMut(&mut Connection<S>) -> Option<End>) {
        let counters = &mut self.counters;
        self.all.retain_mut(|connection| {
            let end = step(connection);
            match end {
                Some(End::Answered) => counters.answered += 1,
                Some(End::TooLarge) => counters.too_large += 1,
                Some(End::Left) => counters.left += 1,
                None => {}
            }
            end.is_none()
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::time::Duration;

    use super::super::connection::{MAX_REQUEST_BYTES, TIMEOUT};
    use super::*;

    /// A connection whose other side has said something, and reads nothing.
    struct StalledPeer(&'static [u8]);

    impl Read for StalledPeer {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            match self.0.read(into)? {
                0 => Err(io::ErrorKind::WouldBlock.into()),
                read => Ok(read),
            }
        }
    }

    impl Write for StalledPeer {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::WouldBlock.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn page(number: u64) -> Page {
        Page { number, text: "metrics".into() }
    }

    fn address(number: u32) -> Origin {
        Origin::Address(system::AddressPrefix::V4(number))
    }

    #[test]
    fn who_has_not_asked_gives_way_and_of_those_who_came_first() {
        let (now, mut connections) = (Instant::now(), Connections::new());
        connections.add(now, StalledPeer(b"GET / HTTP/1.1\r\n\r\n"), address(1));
        for _ in 1..MAX_CONNECTIONS_OF_AN_ADDRESS {
            connections.add(now, StalledPeer(b""), address(1));
        }
        connections.handle_ready(now, [true]);
        for _ in 0..100 {
            connections.add(now, StalledPeer(b""), address(1));
        }
        assert_eq!(connections.all.len(), MAX_CONNECTIONS_OF_AN_ADDRESS);
        assert!(connections.all[0].waits_for_page(), "who has asked keeps the place");
        assert_eq!(connections.counters.gave_way, 100);
    }

    #[test]
    fn where_there_is_no_place_the_address_with_most_gives_way() {
        let (now, mut connections) = (Instant::now(), Connections::new());
        for number in 0..MAX_CONNECTIONS as u32 {
            connections.add(now, StalledPeer(b""), address(number / 5));
        }
        connections.add(now, StalledPeer(b""), address(1000));
        let of =
            |number| connections.all.iter().filter(|connection| connection.origin == address(number)).count();
        assert_eq!((connections.all.len(), of(1000)), (MAX_CONNECTIONS, 1));
        assert_eq!((0..7).map(of).sum::<usize>(), MAX_CONNECTIONS - 1);
        assert_eq!(of(6), 2, "an address with few keeps what it has");
    }

    #[test]
    fn who_drips_a_byte_now_and_then_is_closed_all_the_same() {
        let (begin, mut connections) = (Instant::now(), Connections::new());
        connections.add(begin, StalledPeer(b"GET"), address(1));
        let late = begin + TIMEOUT - Duration::from_millis(1);
        connections.handle_ready(late, [true]);
        connections.handle_timeout(late);
        assert_eq!(connections.all.len(), 1);
        connections.handle_timeout(begin + TIMEOUT);
        assert_eq!((connections.all.len(), connections.counters.too_slow), (0, 1));
    }

    #[test]
    fn a_request_without_an_end_is_read_no_further_than_to_its_limit() {
        static ENDLESS: [u8; 1 << 20] = [b'a'; 1 << 20];
        let (now, mut connections) = (Instant::now(), Connections::new());
        connections.add(now, StalledPeer(&ENDLESS), address(1));
        for _ in 0..100 {
            connections.handle_ready(now, [true]);
        }
        assert_eq!(connections.all[0].stream.0.len(), ENDLESS.len() - MAX_REQUEST_BYTES);
    }

    #[test]
    fn slow_readers_keep_few_pages_in_memory() {
        let (now, mut connections) = (Instant::now(), Connections::new());
        for number in 0..20 {
            connections.add(now, StalledPeer(b"GET / HTTP/1.1\r\n\r\n"), address(number));
            connections.handle_ready(now, (0..=connections.all.len()).map(|_| true));
            connections.give(now, &page(u64::from(number)));
            let mut kept: Vec<_> = connections.all.iter().filter_map(Connection::page_number).collect();
            kept.dedup();
            assert!(kept.len() <= MAX_PAGES && kept.last() == Some(&u64::from(number)), "{kept:?}");
        }
        assert_eq!(connections.counters.too_slow, 20 - MAX_PAGES as u64);
    }
}
