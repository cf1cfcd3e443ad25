//! Objects on their way to clients, for whoever follows them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use packet::Name;
use serde_json::{Value, json};

/// All that are under way: no more than may fetch at once.
#[derive(Debug, Default)]
pub(crate) struct Transfers {
    under_way: Mutex<UnderWay>,
}

#[derive(Debug, Default)]
struct UnderWay {
    next: u64,
    transfers: BTreeMap<u64, Arc<Transfer>>,
}

#[derive(Debug)]
struct Transfer {
    object: Name,
    /// Bytes of the whole response, if that is known.
    total_bytes: Option<u64>,
    sent_bytes: AtomicU64,
    begun: Instant,
}

/// One of them; it is over when this goes.
#[derive(Debug)]
pub(crate) struct TrackedTransfer {
    transfers: Arc<Transfers>,
    number: u64,
    transfer: Arc<Transfer>,
}

impl Transfers {
    pub(crate) fn begin(self: &Arc<Self>, object: Name, total_bytes: Option<u64>) -> TrackedTransfer {
        let (sent_bytes, begun) = (AtomicU64::new(0), Instant::now());
        let transfer = Arc::new(Transfer { object, total_bytes, sent_bytes, begun });
        let mut under_way = self.locked();
        let number = under_way.next;
        under_way.next += 1;
        under_way.transfers.insert(number, transfer.clone());
        drop(under_way);
        TrackedTransfer { transfers: self.clone(), number, transfer }
    }

    /// For the page at `/`, the oldest first.
    pub(crate) fn to_json(&self) -> Value {
        let under_way: Vec<_> =
            self.locked().transfers.iter().map(|(number, transfer)| (*number, transfer.clone())).collect();
        under_way
            .iter()
            .map(|(number, transfer)| {
                json!({
                    "number": number,
                    "name": transfer.object.to_string(),
                    "sent_bytes": transfer.sent_bytes.load(Ordering::Relaxed),
                    "total_bytes": transfer.total_bytes,
                    "seconds": transfer.begun.elapsed().as_secs_f64(),
                })
            })
            .collect()
    }

    fn locked(&self) -> MutexGuard<'_, UnderWay> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TrackedTransfer {
    pub(crate) fn sent(&self, bytes: usize) {
        self.transfer.sent_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Drop for TrackedTransfer {
    fn drop(&mut self) {
        self.transfers.locked().transfers.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_told_of_with_what_was_sent_until_it_is_over() {
        let transfers = Arc::new(Transfers::default());
        let first = transfers.begin("/lab/film".parse().unwrap(), Some(1000));
        let second = transfers.begin("/lab/stream".parse().unwrap(), None);
        first.sent(300);
        first.sent(200);
        let seen = transfers.to_json();
        assert_eq!((&seen[0]["name"], &seen[0]["sent_bytes"]), (&json!("/lab/film"), &json!(500)));
        assert_eq!((&seen[0]["total_bytes"], &seen[1]["total_bytes"]), (&json!(1000), &Value::Null));
        drop(first);
        let seen = transfers.to_json();
        assert_eq!((seen.as_array().unwrap().len(), &seen[0]["number"]), (1, &json!(1)));
        drop(second);
        assert_eq!(transfers.to_json(), json!([]));
    }
}
