//! The engine's second store, as the data plane serves it: lookups go out to the repositories, answers come
//! in, nothing waits. The repositories themselves, and the handles by which they are reached from here, are
//! in `crate::repository`.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::batch::spare_buffer;
use engine::{LookupId, SecondStoreConfig, SecondStoreRequest};
use packet::time::{Duration, Instant};
use packet::{Interest, UnixTime};
use repo::service::FoundData;

use crate::plane::DataPlane;
use crate::repository::handles::{Answers, Reply, RepositoryHandles};

/// What the data plane reaches the repositories by.
pub(crate) struct RepositoryEnd {
    pub(crate) handles: Arc<RepositoryHandles>,
    pub(crate) answers: Arc<Answers>,
    /// Interests that another repository may have the answer to if the one that was asked has not.
    asked: BTreeMap<u64, Interest>,
    /// Has room for answers, so that none is made each time.
    replies: Vec<Reply>,
}

impl DataPlane {
    /// Puts repositories behind the content store.
    pub(crate) fn attach_repositories(
        &mut self,
        handles: RepositoryHandles,
        answers: Arc<Answers>,
        config: SecondStoreConfig,
    ) {
        let handles = Arc::new(handles);
        let store = Arc::clone(&handles) as Arc<dyn engine::SecondStore>;
        self.engine.set_second_store(self.now, Some((store, config)));
        self.services.repository =
            Some(Box::new(RepositoryEnd { handles, answers, asked: BTreeMap::new(), replies: Vec::new() }));
    }

    /// Passes on what the engine has for the repositories; whether some of it was answered at once or went
    /// upstream instead, so that there is more to send.
    #[inline]
    pub(in crate::plane) fn turn_to_repositories(&mut self) -> bool {
        self.services.repository.is_some() && self.pass_on_lookups()
    }

    #[inline(never)]
    fn pass_on_lookups(&mut self) -> bool {
        let Some(end) = self.services.repository.as_mut() else { return false };
        let mut has_more_to_send = false;
        let mut unix = None;
        while let Some(effect) = self.engine.poll_second_store() {
            match effect {
                SecondStoreRequest::LookUp(LookupId(number), interest) => {
                    let hashes = end.handles.hashes(&interest);
                    let unix = *unix.get_or_insert_with(system::unix_now);
                    let mut spare = |len| spare_buffer(&mut self.engine, len);
                    if let Some(found) = end.handles.read_in_memory(unix, &interest, &hashes, &mut spare) {
                        let fresh_until = fresh_until(self.now, unix, &found);
                        self.engine.receive_found(self.now, LookupId(number), found.data, fresh_until);
                        has_more_to_send = true;
                    } else if !end.handles.ask(0, number, &interest, &hashes) {
                        self.engine.receive_absent(self.now, LookupId(number));
                        has_more_to_send = true;
                    } else if end.handles.has_more_behind(0) {
                        end.asked.insert(number, interest);
                    }
                }
                SecondStoreRequest::Offer(data) => {
                    // Where it has no room it is not kept, and the repository counts that.
                    let _ = end.handles.offer(data);
                }
            }
        }
        has_more_to_send
    }

    /// Takes the answers that have come; whether there were any.
    pub(in crate::plane) fn take_repository_answers(&mut self) -> bool {
        let Some(end) = self.services.repository.as_mut() else { return false };
        let mut replies = std::mem::take(&mut end.replies);
        end.answers.take(&mut replies);
        if replies.is_empty() {
            end.replies = replies;
            return false;
        }
        let unix = system::unix_now();
        for Reply { lookup, number, found } in replies.drain(..) {
            let Some(end) = self.services.repository.as_mut() else { break };
            let interest = end.asked.remove(&lookup);
            match found {
                Some(found) => {
                    let fresh_until = fresh_until(self.now, unix, &found);
                    self.engine.receive_found(self.now, LookupId(lookup), found.data, fresh_until);
                }
                None => {
                    let others = interest.filter(|interest| {
                        end.handles.ask(number + 1, lookup, interest, &end.handles.hashes(interest))
                    });
                    match others {
                        Some(interest) => drop(end.asked.insert(lookup, interest)),
                        None => self.engine.receive_absent(self.now, LookupId(lookup)),
                    }
                }
            }
        }
        if let Some(end) = self.services.repository.as_mut() {
            end.replies = replies;
        }
        self.send_all();
        true
    }
}

/// When what was found stops being fresh, by the clock of the data plane.
fn fresh_until(now: Instant, unix: UnixTime, found: &FoundData) -> Instant {
    let left = found.fresh_until.as_millis().saturating_sub(unix.as_millis()).max(1);
    if found.is_fresh { now + Duration::from_millis(left) } else { Instant::ZERO }
}
