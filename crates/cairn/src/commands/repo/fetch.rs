//! Fetching the segments of an object for a repository: as ndn-python-repo does, ten at a time, each asked
//! for a second, and for so many times.

use std::collections::BTreeMap;

use client::{Client, Event};
use packet::Data;
use packet::time::Duration;
use repo::protocol::ObjectCommand;

use super::commands::segment_interest;

const WINDOW: usize = 10;
const TRIES: u32 = 15;
const TIMEOUT: Duration = Duration::from_secs(1);

/// Fetches segments from `start` to `end`, or to the one that a packet says is the last, and hands each to
/// `store`, which says whether to go on. Whether all have come; a segment that does not ends it.
pub(super) fn fetch_segments(
    client: &mut Client,
    object: &ObjectCommand,
    start: u64,
    end: Option<u64>,
    mut store: impl FnMut(Data) -> bool,
) -> bool {
    let (mut next, mut last, mut has_failed) = (start, end, false);
    let mut under_way = BTreeMap::new();
    let ask = |client: &mut Client, segment: u64| {
        let interest = segment_interest(object, segment)?;
        client.express(&interest, TIMEOUT).ok()
    };
    loop {
        while !has_failed && under_way.len() < WINDOW && last.is_none_or(|last| next <= last) {
            match ask(client, next) {
                Some(id) => drop(under_way.insert(id, (next, 1))),
                None => has_failed = true,
            }
            next += 1;
        }
        if under_way.is_empty() {
            return !has_failed;
        }
        match client.next(None) {
            Ok(Some(Event::Data { id, data, .. })) => {
                if under_way.remove(&id).is_none() {
                    continue;
                }
                let told = data.final_block().and_then(flow::naming::segment_number);
                if let Some(told) = told {
                    last = Some(last.map_or(told, |last| last.min(told)));
                }
                has_failed |= !store(data);
            }
            Ok(Some(Event::Nack { id, .. } | Event::Timeout { id })) => {
                let Some((segment, tries)) = under_way.remove(&id) else { continue };
                // What lies behind the last segment was asked for before that was known.
                if last.is_some_and(|last| segment > last) {
                    continue;
                }
                let may_try = tries < TRIES && !has_failed;
                match may_try.then(|| ask(client, segment)).flatten() {
                    Some(id) => drop(under_way.insert(id, (segment, tries + 1))),
                    None => has_failed = true,
                }
            }
            Ok(Some(_)) => {}
            Ok(None) | Err(_) => return false,
        }
    }
}
