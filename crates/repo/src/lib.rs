//! A persistent store of named objects that deletes while it serves.
//!
//! A store keeps or drops whole objects, not packets. The packets of an object, as they came on the wire, are
//! records in large append-only files, the volumes. Memory holds where they are, as runs of segments, with a
//! few bytes for each segment. A deletion is a short record that says that an object is gone; when that
//! record is durable, holes are punched into the volume where the object was, so nothing is copied and no
//! request waits. The volumes are also the log of what happened: an insertion is acknowledged when the sync
//! that covers its record has returned. An index on disk is written from time to time, so that opening a
//! store reads only the end of the log again.
//!
//! ```
//! use std::sync::Arc;
//!
//! use packet::ndn::{DataBuilder, InterestBuilder};
//! use packet::{Dialect, NameHasher};
//! use cairn_repo::disk::SimulatedDisk;
//! use cairn_repo::{Answer, Selection, Store, StoreConfig, StoreKeys, UnixTime};
//!
//! let disk = SimulatedDisk::new(1);
//! let keys = StoreKeys { records: [1, 2], names: NameHasher::new([3, 4]) };
//! let open = || Store::open(Arc::new(disk.clone()), StoreConfig::default(), keys.clone());
//! let now = UnixTime::from_millis(1_700_000_000_000);
//!
//! let (mut store, _) = open()?;
//! let data = DataBuilder::new("/film/v=1/seg=0".parse()?)
//!     .content(b"once upon a time".to_vec())
//!     .build_with_digest()?;
//! let ticket = store.insert(now, &data)?;
//! assert_eq!(store.commit()?, Some(ticket)); // now it may be acknowledged
//!
//! disk.crash();
//! drop(store);
//! let (mut store, _) = open()?;
//! let interest = InterestBuilder::new("/film".parse()?).can_be_prefix(true).build()?;
//! let Some(Answer::Data(answer)) = store.answer(now, &interest) else { panic!("it was acknowledged") };
//! assert_eq!(answer.wire(), data.wire());
//!
//! store.delete(now, &Selection::Prefix(Dialect::Ndn, "/film".parse()?))?;
//! assert!(store.answer(now, &interest).is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where things are
//! - Without I/O: [`key`] (names of objects), [`extent`] (runs of segments), [`space`] (what is dead in a
//!   volume), [`record`], [`catalogue`], [`filter`](mod@filter), [`limits`], [`eviction`].
//! - [`disk`]: I/O on files, a folder that is only read, and a disk that fails from a seed.
//! - [`cold`]: sealed volumes that live on the network, or in a folder that many share.
//! - [`store`]: all of that put together. [`service`]: the same with threads, for those who must not wait.
//! - [`reclaim`]: other layouts of payload, for comparison.
//! - [`protocol`]: the messages by which others insert and delete; [`ccnr`]: those of CCNx, and what follows
//!   from them; [`fetch`]: which segments are asked for when an object is fetched.
//! - [`stream`]: packets one behind the other, as exported and as other repositories take them by TCP.
//! - [`evaluation`]: a paper's requests and what it measured with them; [`trace`]: requests that others
//!   recorded; [`replay`]: what policies make of requests, without a disk.

pub mod catalogue;
pub mod ccnr;
pub mod cold;
pub mod disk;
pub mod evaluation;
pub mod eviction;
pub mod extent;
pub mod fetch;
pub mod filter;
mod index;
pub mod key;
mod layout;
pub mod limits;
mod located;
mod memory_objects;
mod object;
pub mod protocol;
pub mod reclaim;
pub mod record;
pub mod replay;
pub mod service;
pub mod space;
pub mod store;
pub mod stream;
#[cfg(test)]
mod testing;
pub mod trace;
mod volume;

pub use catalogue::Catalogue;
pub use filter::Filter;
pub use index::IndexError;
pub use key::{ObjectName, SegmentForm};
pub use limits::{Limits, Rejection, RejectionCounters};
pub use object::{Object, ObjectId};
pub use packet::UnixTime;
pub use store::{
    Answer, Children, CommitError, Deleted, Event, InsertionId, Located, OpenError, PendingMaintenance,
    Preference, ReadError, Recovery, Selection, Store, StoreConfig, StoreCounters, StoreKeys, StoreStats,
};
