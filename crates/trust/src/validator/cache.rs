//! Certificates that were verified before.

use std::collections::{BTreeMap, VecDeque};

use packet::{Name, NameRef};

use crate::certificate::{Certificate, UnixTime};

/// Verified certificates by the name of their key. At the limit the one that was verified first goes.
#[derive(Debug)]
pub(super) struct CertificateCache {
    limit: usize,
    /// A map whose order is that of names: nothing about it depends on a hash that somebody could aim at.
    by_key: BTreeMap<Name, Entry>,
    oldest_first: VecDeque<Name>,
    evicted: u64,
}

#[derive(Debug)]
struct Entry {
    certificate: Certificate,
    until: UnixTime,
}

impl CertificateCache {
    pub(super) fn new(limit: usize) -> Self {
        CertificateCache { limit, by_key: BTreeMap::new(), oldest_first: VecDeque::new(), evicted: 0 }
    }

    /// How many had to go before their time.
    pub(super) fn evicted(&self) -> u64 {
        self.evicted
    }

    /// Forgets them all.
    pub(super) fn clear(&mut self) {
        self.by_key.clear();
        self.oldest_first.clear();
    }

    /// Keeps a verified certificate until `until`.
    pub(super) fn insert(&mut self, certificate: Certificate, until: UnixTime) {
        let key = certificate.to_key_name();
        if self.by_key.insert(key.clone(), Entry { certificate, until }).is_none() {
            self.oldest_first.push_back(key);
        }
        while self.by_key.len() > self.limit {
            let Some(oldest) = self.oldest_first.pop_front() else { return };
            self.by_key.remove(&oldest);
            self.evicted += 1;
        }
    }

    /// The certificate of the key with this name, if it still counts, and until when.
    pub(super) fn find(&self, now: UnixTime, key: NameRef<'_>) -> Option<(&Certificate, UnixTime)> {
        let entry = self.by_key.get(&key.to_name())?;
        let counts = now <= entry.until && entry.certificate.validity().contains(now);
        counts.then_some((&entry.certificate, entry.until))
    }
}
