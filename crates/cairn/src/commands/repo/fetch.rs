//! Fetching the segments of an object for a repository, as ndn-python-repo does.

use std::collections::BTreeMap;

use client::{Client, Event, RequestId};
use packet::ndn::InterestBuilder;
use packet::{ComponentKind, Data};
use repo::fetch::{SegmentFetch, SegmentFetchConfig};
use repo::protocol::ObjectCommand;

/// Fetches segments from `start` to `end`, or to the one that a packet says is the last, and hands each to
/// `store`, which says whether to go on. Whether all have come; a segment that does not ends it.
pub(super) fn fetch_segments(
    client: &mut Client,
    object: &ObjectCommand,
    start: u64,
    end: Option<u64>,
    mut store: impl FnMut(Data) -> bool,
) -> bool {
    let mut fetch = SegmentFetch::new(SegmentFetchConfig::NDN, start, end);
    let mut asked = BTreeMap::new();
    loop {
        while let Some(segment) = fetch.poll_request(client.now()) {
            match ask(client, object, segment) {
                Some(id) => drop(asked.insert(id, segment)),
                None => {
                    fetch.stop();
                    fetch.handle_failure(segment);
                }
            }
        }
        if let Some(are_all) = fetch.outcome() {
            return are_all;
        }
        let deadline = fetch.next_deadline();
        match client.next(Some(deadline)) {
            Ok(Some(Event::Data { id, data, .. })) => {
                let last = data.final_block().and_then(flow::naming::segment_number);
                let is_awaited = asked.remove(&id).is_some_and(|segment| fetch.handle_segment(segment, last));
                if is_awaited && !store(data) {
                    fetch.stop();
                }
            }
            Ok(Some(Event::Nack { id, .. })) => {
                if let Some(segment) = asked.remove(&id) {
                    fetch.handle_failure(segment);
                }
            }
            // The fetch has deadlines of its own.
            Ok(Some(Event::Timeout { id })) => drop(asked.remove(&id)),
            Ok(Some(_)) => {}
            // A signal.
            Ok(None) if client.now() < deadline => return false,
            Ok(None) => {}
            Err(_) => return false,
        }
        fetch.handle_timeout(client.now());
    }
}

fn ask(client: &mut Client, object: &ObjectCommand, segment: u64) -> Option<RequestId> {
    client.express(&segment_interest(object, segment)?, SegmentFetchConfig::NDN.timeout).ok()
}

/// The name of a segment, which is never too long where that of its object is not.
fn segment_interest(object: &ObjectCommand, segment: u64) -> Option<InterestBuilder> {
    let name = object.name.with_number(ComponentKind::SEGMENT, segment).ok()?;
    Some(InterestBuilder::new(name).forwarding_hint(object.hint.clone()))
}
