//! What differs between the dialects in a fetch: how the latest version is found, how Interests are written,
//! and what packets say of the object that they are part of.

mod ccnx;
mod ndn;

use packet::time::Instant;
use packet::{Component, Data, Dialect, Interest, Name};

use super::{FetchConfig, Fetcher};
use crate::naming::NamingConvention;
pub(super) use ndn::Part;

impl Fetcher {
    /// The next Interest to send now, as the dialect writes it.
    pub(super) fn poll_interest(&mut self, now: Instant) -> Option<Interest> {
        match self.config.dialect {
            Dialect::Ndn => self.poll_ndn(now),
            Dialect::Ccnx => self.poll_ccnx(now),
        }
    }

    /// Takes up what discovery found.
    pub(super) fn begin(&mut self, now: Instant, data: Data) {
        match data.dialect() {
            Dialect::Ndn => self.begin_ndn(now, data),
            Dialect::Ccnx => self.begin_ccnx(now, data),
        }
    }
}

/// The last segment's number, as FinalBlockId says.
pub(super) fn final_segment(data: &Data) -> Option<u64> {
    match data.ccnx() {
        Some(object) => ccnx::final_segment(object),
        None => ndn::final_segment(data),
    }
}

/// Whether the producer says by this packet that it has no such object.
pub(super) fn is_application_nack(data: &Data) -> bool {
    match data.ccnx() {
        Some(object) => ccnx::is_application_nack(object),
        None => ndn::is_application_nack(data),
    }
}

/// The segment that a packet's last component names, and how.
pub(super) fn numbered(last: Component<'_>, dialect: Dialect) -> Option<(u64, NamingConvention)> {
    let convention = match dialect {
        Dialect::Ndn => ndn::convention_of(last),
        Dialect::Ccnx => NamingConvention::Ccnx,
    };
    Some((convention.segment_of(last)?, convention))
}

/// Whether a name ends in a version.
pub(super) fn is_versioned(name: &Name, dialect: Dialect) -> bool {
    let last = name.as_ref().last();
    last.is_some_and(|last| match dialect {
        Dialect::Ndn => ndn::is_version(last),
        Dialect::Ccnx => ccnx::is_version(last),
    })
}

/// How segments are written below the name of an object.
pub(super) fn convention_below(name: &Name, config: &FetchConfig) -> NamingConvention {
    match config.dialect {
        Dialect::Ndn => ndn::convention_below(name, config.convention),
        Dialect::Ccnx => NamingConvention::Ccnx,
    }
}
