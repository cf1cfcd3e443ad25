//! Puts the repositories of a configuration, which are opened in `crate::repository`, behind a node's content
//! store.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use engine::SecondStoreConfig;

use crate::config::RepositorySection;
use crate::remote_control::RemoteControl;
use crate::repository::Repositories;
use crate::repository::handles::Answers;
use crate::start_error::StartError;

/// Opens the repositories and puts them behind the content store of a node, whose data plane `waker` wakes.
///
/// # Errors
/// One of them cannot be opened, or the node has ended.
pub(crate) fn attach(
    sections: &[RepositorySection],
    remote: &RemoteControl,
    waker: Arc<OwnedFd>,
) -> Result<Repositories, StartError> {
    let Some(first) = sections.first() else { return Ok(Repositories::default()) };
    let hasher = remote.call(|plane| plane.engine.hasher().clone());
    let hasher = hasher.ok_or_else(|| std::io::Error::other("the data plane has ended"))?;
    let answers = Arc::new(Answers::new(waker));
    let (repositories, handles) = crate::repository::open(sections, &hasher, &answers)?;
    // The engine waits for all of them alike.
    let (mut max_waiting, mut timeout) = (first.max_waiting, first.timeout_millis);
    for other in sections {
        (max_waiting, timeout) = (max_waiting.max(other.max_waiting), timeout.max(other.timeout_millis));
    }
    let timeout = packet::time::Duration::from_millis(timeout);
    if let Some(handles) = handles {
        let config = SecondStoreConfig { max_waiting, timeout };
        remote.call(move |plane| plane.attach_repositories(handles, answers, config));
    }
    Ok(repositories)
}
