//! The partial message store: messages of which fragments are missing (NDN-0006, section 2.2.2).

use std::collections::BTreeMap;

use packet::Buffer;
use packet::ccnx::ndnlp::LinkData;
use packet::time::{Duration, Instant};

use super::config::Config;
use crate::DropReason;
use crate::aged_map::{self, AgedMap};
use crate::drop_reason::DropCounters;

/// Incomplete messages by the sequence number of their first packet.
///
/// As soon as the length of one fragment other than the last is known, the message has a buffer, and
/// fragments are copied to their places; but only up to a limit, because the number of fragments is whatever
/// the peer claims.
#[derive(Debug)]
pub(crate) struct PartialMessages {
    limits: Limits,
    store: AgedMap<u64, Partial>,
}

#[derive(Clone, Copy, Debug)]
struct Limits {
    messages: usize,
    bytes: usize,
    message_bytes: usize,
    preallocated_bytes: usize,
    timeout: Duration,
}

#[derive(Debug)]
struct Partial {
    count: u16,
    arrived: u16,
    /// Length of every fragment but the last.
    fragment_len: Option<usize>,
    /// Length of the last fragment, once it has arrived.
    last_len: Option<usize>,
    storage: Storage,
}

#[derive(Debug)]
enum Storage {
    /// Fragments where they belong, and which of them have arrived, one bit each.
    InPlace { buffer: Vec<u8>, present: Vec<u64> },
    /// Fragments by index, with their total length.
    List { fragments: BTreeMap<u16, Box<[u8]>>, bytes: usize },
}

/// What an incomplete message is charged with, beside the bytes it holds.
const PARTIAL_COST: usize = aged_map::entry_cost::<Partial>();
/// What a fragment in a list is charged with, beside its bytes.
const LISTED_COST: usize = 64;

impl PartialMessages {
    pub(crate) fn new(config: &Config) -> Self {
        let limits = Limits {
            messages: config.max_partial_messages,
            bytes: config.max_partial_bytes,
            message_bytes: config.max_message_bytes,
            preallocated_bytes: config.max_preallocated_bytes,
            timeout: config.partial_timeout,
        };
        PartialMessages { limits, store: AgedMap::new() }
    }

    /// How many messages are incomplete.
    pub(crate) fn len(&self) -> usize {
        self.store.len()
    }

    /// Memory they take.
    pub(crate) fn bytes(&self) -> usize {
        self.store.bytes()
    }

    /// When the next one expires.
    pub(crate) fn next_deadline(&self) -> Instant {
        self.store.next_expiry(self.limits.timeout)
    }

    /// Discards messages that have waited too long.
    pub(crate) fn handle_timeout(&mut self, now: Instant, drops: &mut DropCounters) {
        while self.store.remove_expired(now, self.limits.timeout).is_some() {
            drops.count(DropReason::PartialExpired);
        }
    }

    /// Takes in one of several fragments. Gives the message if it was the last one missing.
    pub(crate) fn receive(
        &mut self,
        now: Instant,
        data: &LinkData<'_>,
        drops: &mut DropCounters,
    ) -> Result<Option<Buffer>, DropReason> {
        if !data.fragment.is_possible() {
            return Err(DropReason::FragIndexOutOfRange);
        }
        if data.payload.is_empty() {
            return Err(DropReason::MalformedPacket);
        }
        if usize::from(data.fragment.count) > self.limits.message_bytes {
            return Err(DropReason::PacketTooLarge);
        }
        let id = data.message().get();
        let limits = self.limits;
        let place = match self.store.find(&id) {
            Some(place) => place,
            None => {
                while self.store.len() >= limits.messages {
                    self.store.remove_oldest();
                    drops.count(DropReason::PartialEvicted);
                }
                self.store.insert(now, id, Partial::new(data.fragment.count))
            }
        };
        let partial = self.store.get_mut(place).ok_or(DropReason::PartialEvicted)?;
        match partial.add(data, &limits) {
            Ok(()) => {}
            Err(DropReason::PacketTooLarge) => {
                self.store.remove(place);
                return Err(DropReason::PacketTooLarge);
            }
            Err(reason) => return Err(reason),
        }
        if partial.arrived == partial.count {
            return Ok(self.store.remove(place).map(Partial::finish));
        }
        let charge = partial.charge();
        self.store.touch(now, place);
        self.store.charge(place, charge);
        self.store.make_room(place, self.limits.bytes, drops).map(|()| None)
    }
}

impl Partial {
    fn new(count: u16) -> Self {
        let storage = Storage::List { fragments: BTreeMap::new(), bytes: 0 };
        Partial { count, arrived: 0, fragment_len: None, last_len: None, storage }
    }

    /// Memory this takes.
    fn charge(&self) -> usize {
        PARTIAL_COST
            + match &self.storage {
                Storage::InPlace { buffer, present } => buffer.len() + present.len() * 8,
                Storage::List { fragments, bytes } => bytes + fragments.len() * LISTED_COST,
            }
    }

    /// Adds a fragment, unless it contradicts or repeats those before.
    fn add(&mut self, data: &LinkData<'_>, limits: &Limits) -> Result<(), DropReason> {
        let (index, len) = (data.fragment.index, data.payload.len());
        if data.fragment.count != self.count {
            return Err(DropReason::FragCountMismatch);
        }
        if self.storage.has(index) {
            return Err(DropReason::DuplicateFragment);
        }
        if data.fragment.is_last() {
            if self.fragment_len.is_some_and(|fragment_len| len > fragment_len) {
                return Err(DropReason::FragmentSizeMismatch);
            }
            self.last_len = Some(len);
        } else {
            match self.fragment_len {
                Some(fragment_len) if fragment_len != len => return Err(DropReason::FragmentSizeMismatch),
                Some(_) => {}
                None => self.learn_fragment_len(len, limits)?,
            }
        }
        self.storage.put(index, self.fragment_len.unwrap_or(0), data.payload);
        self.arrived += 1;
        let min_len = self.message_len(self.last_len.unwrap_or(1));
        if min_len > limits.message_bytes { Err(DropReason::PacketTooLarge) } else { Ok(()) }
    }

    /// Now that the length of all fragments but the last is known, sets up the buffer if it may be allocated.
    fn learn_fragment_len(&mut self, len: usize, limits: &Limits) -> Result<(), DropReason> {
        if self.last_len.is_some_and(|last_len| last_len > len) {
            return Err(DropReason::FragmentSizeMismatch);
        }
        self.fragment_len = Some(len);
        let buffer_len = len * usize::from(self.count);
        if buffer_len > limits.preallocated_bytes {
            return Ok(());
        }
        let mut in_place = Storage::InPlace {
            buffer: vec![0; buffer_len],
            present: vec![0; usize::from(self.count).div_ceil(64)],
        };
        if let Storage::List { fragments, .. } = &self.storage {
            for (&index, bytes) in fragments {
                in_place.put(index, len, bytes);
            }
        }
        self.storage = in_place;
        Ok(())
    }

    fn message_len(&self, last_len: usize) -> usize {
        self.fragment_len.unwrap_or(0) * (usize::from(self.count) - 1) + last_len
    }

    fn finish(self) -> Buffer {
        let len = self.message_len(self.last_len.unwrap_or(0));
        match self.storage {
            Storage::InPlace { mut buffer, .. } => {
                buffer.truncate(len);
                Buffer::from(buffer)
            }
            Storage::List { fragments, bytes } => {
                let mut message = Vec::with_capacity(bytes);
                for fragment in fragments.values() {
                    message.extend_from_slice(fragment);
                }
                Buffer::from(message)
            }
        }
    }
}

impl Storage {
    fn has(&self, index: u16) -> bool {
        match self {
            Storage::InPlace { present, .. } => {
                present.get(usize::from(index / 64)).is_some_and(|word| word >> (index % 64) & 1 == 1)
            }
            Storage::List { fragments, .. } => fragments.contains_key(&index),
        }
    }

    fn put(&mut self, index: u16, fragment_len: usize, payload: &[u8]) {
        match self {
            Storage::InPlace { buffer, present } => {
                let start = usize::from(index) * fragment_len;
                if let Some(target) = buffer.get_mut(start..start + payload.len()) {
                    target.copy_from_slice(payload);
                }
                if let Some(word) = present.get_mut(usize::from(index / 64)) {
                    *word |= 1 << (index % 64);
                }
            }
            Storage::List { fragments, bytes } => {
                *bytes += payload.len();
                fragments.insert(index, Box::from(payload));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use packet::ccnx::ndnlp::{Flags, Fragment, Sequence};

    use super::*;

    const NOW: Instant = Instant::ZERO;

    fn store(config: &Config) -> (PartialMessages, DropCounters) {
        (PartialMessages::new(config), DropCounters::default())
    }

    fn data(sequence: u64, index: u16, count: u16, payload: &[u8]) -> LinkData<'_> {
        let fragment = Fragment { index, count };
        LinkData { sequence: Sequence::new(sequence), flags: Flags::NONE, fragment, payload }
    }

    fn message(len: usize) -> Vec<u8> {
        (0..len).map(|at| (at * 7 % 251) as u8).collect()
    }

    /// Section 2.2.2: packets 601, 600, 601 and 602 of the message of 2500 octets, step by step.
    #[test]
    fn the_papers_example_out_of_order_goes_as_the_paper_tells() {
        let message = message(2500);
        let (mut store, mut drops) = store(&Config::default());
        let mut receive = |store: &mut PartialMessages, sequence: u64| {
            let index = (sequence - 600) as usize;
            let payload = &message[index * 1000..2500.min(index * 1000 + 1000)];
            store.receive(NOW, &data(sequence, index as u16, 3, payload), &mut drops)
        };
        let buffer = |store: &mut PartialMessages| {
            let place = store.store.find(&600).expect("message identifier 600");
            match &store.store.get_mut(place).unwrap().storage {
                Storage::InPlace { buffer, .. } => buffer.clone(),
                list => panic!("{list:?}"),
            }
        };

        assert_eq!(receive(&mut store, 601), Ok(None));
        let after_601 = buffer(&mut store);
        assert_eq!(after_601.len(), 3000);
        assert_eq!(after_601[1000..2000], message[1000..2000]);
        assert!(after_601[..1000].iter().chain(&after_601[2000..]).all(|&byte| byte == 0));

        assert_eq!(receive(&mut store, 600), Ok(None));
        let after_600 = buffer(&mut store);
        assert_eq!(after_600[..2000], message[..2000]);

        assert_eq!(receive(&mut store, 601), Err(DropReason::DuplicateFragment));
        assert_eq!(buffer(&mut store), after_600);

        let delivered = receive(&mut store, 602).unwrap().expect("all fragments are there");
        assert_eq!(*delivered, message);
        assert_eq!((store.len(), store.bytes()), (0, 0));
    }

    #[test]
    fn every_order_of_five_fragments_gives_the_message_in_place_or_as_a_list() {
        let message = message(4321);
        for max_preallocated_bytes in [0, 1 << 20] {
            let config = Config { max_preallocated_bytes, ..Config::default() };
            for order in orders(5) {
                let (mut store, mut drops) = store(&config);
                let first = u64::MAX - 2;
                let mut delivered = None;
                for index in order {
                    let payload = &message[index * 1000..4321.min(index * 1000 + 1000)];
                    let sequence = first.wrapping_add(index as u64);
                    delivered =
                        store.receive(NOW, &data(sequence, index as u16, 5, payload), &mut drops).unwrap();
                }
                assert_eq!(delivered.as_deref(), Some(&message[..]));
                assert_eq!((store.len(), store.bytes()), (0, 0));
            }
        }
    }

    /// All orders of `0..n`.
    fn orders(n: usize) -> Vec<Vec<usize>> {
        if n == 0 {
            return vec![Vec::new()];
        }
        let shorter = orders(n - 1);
        let insert = |place: usize| {
            shorter.iter().map(move |order| {
                let mut order = order.clone();
                order.insert(place, n - 1);
                order
            })
        };
        (0..n).flat_map(insert).collect()
    }

    #[test]
    fn a_fragment_that_contradicts_those_before_is_dropped_alone() {
        let (mut store, mut drops) = store(&Config::default());
        let mut receive = |index: u16, count: u16, len: usize| {
            store.receive(NOW, &data(100 + u64::from(index), index, count, &vec![1; len]), &mut drops)
        };
        assert_eq!(receive(1, 4, 10), Ok(None));
        assert_eq!(receive(2, 5, 10), Err(DropReason::FragCountMismatch));
        assert_eq!(receive(2, 4, 9), Err(DropReason::FragmentSizeMismatch));
        assert_eq!(receive(3, 4, 11), Err(DropReason::FragmentSizeMismatch));
        assert_eq!(receive(2, 4, 0), Err(DropReason::MalformedPacket));
        assert_eq!(receive(4, 4, 10), Err(DropReason::FragIndexOutOfRange));
        assert_eq!(receive(0, 0, 10), Err(DropReason::FragIndexOutOfRange));
        assert_eq!(receive(0, 4, 10), Ok(None));
        assert_eq!(receive(2, 4, 10), Ok(None));
        assert_eq!(receive(3, 4, 3).unwrap().map(|message| message.len()), Some(33));
        // A last fragment that came first may turn out to be too long.
        assert_eq!(receive(3, 4, 11), Ok(None));
        assert_eq!(receive(1, 4, 10), Err(DropReason::FragmentSizeMismatch));
    }

    #[test]
    fn a_claim_of_many_fragments_allocates_no_more_than_what_was_sent() {
        let (mut store, mut drops) = store(&Config { max_message_bytes: usize::MAX, ..Config::default() });
        assert_eq!(store.receive(NOW, &data(0, 0, 65_535, &[1; 1400]), &mut drops), Ok(None));
        assert!(store.bytes() < 1400 + 400, "{}", store.bytes());
        // At the limit of pre-allocation: 16 fragments of 1 KiB have a buffer, 17 are listed.
        assert_eq!(store.receive(NOW, &data(1 << 20, 0, 16, &[1; 1024]), &mut drops), Ok(None));
        assert!((16_384..17_000).contains(&(store.bytes() - 1400)), "{}", store.bytes());
        assert_eq!(store.receive(NOW, &data(1 << 30, 0, 17, &[1; 1024]), &mut drops), Ok(None));
        assert!(store.bytes() < 1400 + 16_384 + 1024 + 1000, "{}", store.bytes());
    }

    #[test]
    fn a_message_that_would_be_too_large_is_given_up_as_soon_as_that_is_known() {
        let config = Config { max_message_bytes: 3000, ..Config::default() };
        let (mut store, mut drops) = store(&config);
        let too_large = Err(DropReason::PacketTooLarge);
        assert_eq!(store.receive(NOW, &data(0, 0, 3001, &[1]), &mut drops), too_large);
        assert_eq!(store.receive(NOW, &data(0, 0, 4, &[1; 1000]), &mut drops), too_large);
        assert_eq!(store.len(), 0);
        assert_eq!(store.receive(NOW, &data(0, 0, 3, &[1; 1001]), &mut drops), Ok(None));
        assert_eq!(store.receive(NOW, &data(2, 2, 3, &[1; 999]), &mut drops), too_large);
        assert_eq!(store.len(), 0);
        assert_eq!(store.receive(NOW, &data(1, 1, 3, &[1; 1000]), &mut drops), Ok(None));
        assert_eq!(store.receive(NOW, &data(2, 2, 3, &[1; 1000]), &mut drops), Ok(None));
        let message = store.receive(NOW, &data(0, 0, 3, &[1; 1000]), &mut drops).unwrap();
        assert_eq!(message.map(|message| message.len()), Some(3000));
    }

    #[test]
    fn the_oldest_messages_make_room_and_stale_ones_expire() {
        let config = Config { max_partial_messages: 3, ..Config::default() };
        let (mut store, mut drops) = store(&config);
        for step in 0..5 {
            let now = Instant::from_secs(step);
            assert_eq!(store.receive(now, &data(step * 100, 0, 2, &[1]), &mut drops), Ok(None));
        }
        assert_eq!((store.len(), drops.get(DropReason::PartialEvicted)), (3, 2));
        assert_eq!(store.next_deadline(), Instant::from_secs(2 + 6));
        store.handle_timeout(Instant::from_secs(9), &mut drops);
        assert_eq!((store.len(), drops.get(DropReason::PartialExpired)), (1, 2));
        let last = store.receive(Instant::from_secs(9), &data(401, 1, 2, &[2]), &mut drops).unwrap();
        assert_eq!(last.as_deref(), Some(&[1, 2][..]));
    }

    #[test]
    fn memory_stays_within_its_limit_and_the_largest_single_message_too() {
        let config = Config { max_partial_bytes: 5000, ..Config::default() };
        let (mut store, mut drops) = store(&config);
        for number in 0..100u64 {
            let outcome = store.receive(NOW, &data(number * 100, 0, 4, &[1; 500]), &mut drops);
            assert_eq!(outcome, Ok(None));
            assert!(store.bytes() <= 5000);
        }
        let alone = store.receive(NOW, &data(1 << 40, 0, 9, &[1; 1400]), &mut drops);
        assert_eq!(alone, Err(DropReason::PartialEvicted));
        assert_eq!((store.len(), store.bytes()), (0, 0));
    }
}
