//! Many packets at once: what makes the engine fast.
//!
//! An engine with a million entries touches some dozen places of memory for a packet, which follow from the
//! hash of its name and lie in no cache. Read one after the other, each costs a hundred nanoseconds of
//! waiting; the work itself takes a few hundred in all. So what can be known before a packet's turn comes is
//! used before it comes. All of it is a hint or a guess that is checked: without it the engine would do the
//! same, later. The folder has seven such parts, and `decode`, which reads packets with their help.
//!
//! **[`Arrivals`] of a batch.** A node reads dozens of packets with one system call. It has them all decoded
//! into `Arrivals` (`decode`, where what follows here is used), which then hands them over in groups of 32:
//! for each group the memory that its packets will touch is asked for, and then they are received one by one.
//! An owner that keeps its packets elsewhere, as the simulator does, calls [`prefetch`] with what is coming
//! instead.
//!
//! **Prefetching** (`ahead`) goes in three steps, each of which can look only where the one before has been:
//! when some packets are decoded, the bucket of the index, and the place among the dead nonces or in the
//! memory of the eviction policy; when their group is prepared, the entries that the bucket names, the
//! routes, and the Data that will have to leave the content store; last, the names that these entries are
//! compared with. The first step waits itself, for addresses: the tables have more pages than the processor
//! knows. So it is made for up to sixteen packets at a time, with nothing in between: then these waits are at
//! the same time, too. Each step is asked for in one place: `Engine::expect`, and the two halves of
//! `Engine::prepare`. Where the memory is, only the table that owns it knows. So each has `prefetch…`
//! functions, which are called from there:
//!
//! | table | what it is asked to fetch |
//! |---|---|
//! | `hash_index` | the bucket of a hash |
//! | `dead_nonces` | the lines of a name with a nonce |
//! | `fib` | the nodes of a name's prefixes; the longest match; its name |
//! | `pending` | an entry and its timer; its name |
//! | `content_store` | an entry; a place for a new one; its name; who leaves for it, and what they hold |
//! | eviction policies | the hints of [`Eviction`](crate::Eviction), for the content store and for studies of eviction alone |
//! | `chunked`, `timer_wheel` | an element, for the tables above that are made of them |
//!
//! Four things are asked for elsewhere, because they follow from no packet that is coming, or from one that
//! is not read: `answers_due` fetches the Interests that Data will be compared with; `Engine::due_answer`
//! what expecting that Data would have fetched; `spare_buffers` the buffer that is taken next; a queue of the
//! eviction policies the entry that leaves some turns later. Studies of eviction, which have no packets, call
//! the policies' hints themselves.
//!
//! The instruction itself, and one that compares the eight words of a bucket at once, are in `processor`.
//!
//! **Route hints** (`route_hints`) keep the longest match that the second step has searched, so that the
//! packet itself does not search it again.
//!
//! **Answers due** (`answers_due`). Most producers answer in the order in which they are asked. A face
//! remembers what it was asked, and Data that arrives is first compared with the oldest of that: if the bytes
//! of the names are equal, the Data's name need not be read nor hashed. The pending Interest gives a *ticket*
//! then: it can be answered, and its number given to another, before the Data's turn comes. In CCNx only
//! Interests without selectors are recognised by the name, for these alone are answered by every object that
//! has it. What the content store must know of the name's prefixes is noted with the Interest.
//!
//! **Siblings**: packets that come together mostly have names that differ in the last component. What a name
//! has in common with the one before it is not hashed again, nor, in CCNx, where each component has to be
//! read to find its end, read (`Arrivals::last_ccnx_parent`).
//!
//! **Spare buffers** (`spare_buffers`): the memory of Data that leaves the content store is warm, of the
//! right size, and [taken](spare_buffer) for the next that comes.
//!
//! **Departures**: what one face gets often comes in one piece, and [`poll_transmit_to`] gives it without a
//! look at where it goes. Where one packet that came in mostly makes one that goes out, that is taken with
//! [`poll_only_transmit`], without being moved to where it is looked at. [`unpack`] writes what travels with
//! a packet into a header that is there.
//!
//! What strategies have no say in goes a short way in the pipelines, for the same reason: a new Interest
//! whose strategy sends it to the first next hop (`Strategy::sends_new_to_first`) is sent without the
//! strategy's being called (`pipeline::strategy_calls`), and Data whose strategy does not watch it goes to
//! the consumers in one pass (`pipeline::data`).

mod ahead;
pub(crate) mod answers_due;
mod arrivals;
mod decode;
pub(crate) mod processor;
pub(crate) mod route_hints;
pub(crate) mod spare_buffers;

pub use ahead::{Upcoming, prefetch};
pub use arrivals::Arrivals;
pub use decode::Acceptance;
pub use spare_buffers::spare_buffer;

use packet::{LinkHeader, Packet};

use crate::engine::Engine;
use crate::face_id::FaceId;
use crate::transmit::Transmit;

/// The next packet to send, if no other waits and it `is_it`.
#[inline(always)]
pub fn poll_only_transmit(
    engine: &mut Engine,
    is_it: impl FnOnce(&mut Transmit) -> bool,
) -> Option<Transmit> {
    engine.transmits.pop_alone_if(is_it)
}

/// The packet; all that travels with it takes the place of what `header` says. Who has a header already
/// spares the moves of [`Transmit::into_parts`].
#[inline(always)]
pub fn unpack(transmit: Transmit, header: &mut LinkHeader) -> Packet {
    transmit.unpack(header)
}

/// The next packet to send, if it goes to `face`.
#[inline]
pub fn poll_transmit_to(engine: &mut Engine, face: FaceId) -> Option<Transmit> {
    engine.transmits.pop_to(face)
}
