//! Packets that are there.

use packet::{Data, Interest};

use super::{Reply, Source, SourceError};

/// Packets in memory, such as certificates: each Interest gets the last one that it matches, which is the
/// latest version where they are in their order.
///
/// They are looked through one by one: it is for dozens, not for thousands.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    packets: Vec<Data>,
}

impl Packets {
    /// These, older ones first.
    pub fn new(packets: impl IntoIterator<Item = Data>) -> Self {
        Packets { packets: packets.into_iter().collect() }
    }
}

impl Source for Packets {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        let found = self.packets.iter().rev().find(|data| interest.matches(data));
        Ok(found.map_or(Reply::NotMine, |data| Reply::Data(data.clone())))
    }
}
