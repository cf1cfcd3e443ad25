//! What survives a restart: routes that commands gave, in a file.
//!
//! The file is replaced as a whole, and the old one stays until the new one is safe on the disk: whoever
//! pulls the plug finds one or the other. Changes are collected for a second. Faces are kept by their
//! addresses, because numbers are given out anew at each start.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use formats::printable::printable_path;
use management::RouteOrigin;
use packet::time::{Duration, Instant};
use packet::{Name, Now};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use trust::whole_file;
use trust::{Certificate, text};

use super::command_times::{CommandTimesFile, writable};
use super::kept_files::{REPLACEMENT, set_aside};
use super::replay_guard::CommandTimes;
use super::rib::RibRoute;
use super::signer::RouteSigner;
use crate::control::{FaceSnapshot, FaceUri};

/// How long changes are collected before they are written.
const WRITE_DELAY: Duration = Duration::from_secs(1);
/// When it is tried again to write what could not be written.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);
/// The largest file that is read.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// The form of the file.
const VERSION: u32 = 1;

/// A route as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedRoute {
    pub(super) prefix: String,
    /// The remote end of its face.
    pub(super) remote: String,
    /// The local end, where there may be several faces to one remote end.
    pub(super) local: Option<String>,
    pub(super) permanent: bool,
    pub(super) cost: u64,
    pub(super) flags: u64,
    /// When it ends, in milliseconds since 1970.
    pub(super) expires_unix_ms: Option<u64>,
    /// The key that made it.
    #[serde(default)]
    pub(super) signer: Option<SavedSigner>,
}

/// The key that made a route.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedSigner {
    key: String,
    /// Base64.
    certificate: Option<String>,
}

impl SavedSigner {
    fn of(signer: &RouteSigner) -> Self {
        let text = |certificate: &Certificate| text::to_base64(certificate.data().wire());
        SavedSigner { key: signer.key.to_string(), certificate: signer.certificate.as_ref().map(text) }
    }

    /// As it was; `None` if somebody has spoilt it.
    pub(super) fn restore(&self) -> Option<RouteSigner> {
        let read = |text: &String| Certificate::decode(text::packets_in(text.as_bytes()).ok()?.first()?).ok();
        let certificate = match &self.certificate {
            Some(text) => Some(read(text)?),
            None => None,
        };
        Some(RouteSigner { key: self.key.parse().ok()?, certificate })
    }
}

/// The file.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    version: u32,
    /// How many routes follow: a file that was cut is noticed.
    routes: usize,
    /// All commands up to this time count as carried out.
    last_command_ms: u64,
    /// Times in commands that were carried out and ahead of the node's clock.
    #[serde(default)]
    command_times_ms: BTreeSet<u64>,
    #[serde(default)]
    route: Vec<SavedRoute>,
}

/// Which route it is.
type Key = (String, String, Option<String>);

/// Keeps routes in a file.
#[derive(Debug)]
pub(super) struct StateFile {
    path: PathBuf,
    times: CommandTimesFile,
    routes: BTreeMap<Key, SavedRoute>,
    carried_out: CommandTimes,
    max_routes: usize,
    /// When to write; [`Instant::NEVER`] if the file is as it should be.
    write_at: Instant,
    failing: bool,
}

impl StateFile {
    /// Reads the file, if there is one. One that makes no sense is set aside and said so.
    ///
    /// # Errors
    /// The file is there and cannot be read: it is not for us to replace it.
    pub(super) fn open(path: &Path, max_routes: usize) -> io::Result<Self> {
        let mut state = StateFile {
            path: path.to_owned(),
            times: CommandTimesFile::beside(path),
            routes: BTreeMap::new(),
            carried_out: CommandTimes::default(),
            max_routes,
            write_at: Instant::NEVER,
            failing: false,
        };
        state.times.read_into(&mut state.carried_out)?;
        let text = match whole_file::read(path, MAX_FILE_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(state),
            Err(error) => return Err(error),
        };
        match understand(&text) {
            Ok(saved) => {
                state.carried_out.until_ms = state.carried_out.until_ms.max(saved.last_command_ms);
                for time_ms in saved.command_times_ms {
                    state.carried_out.insert(time_ms);
                }
                state.routes =
                    saved.route.into_iter().take(max_routes).map(|route| (key(&route), route)).collect();
            }
            Err(problem) => {
                let aside = set_aside(path)?;
                tracing::error!(
                    "{} makes no sense: {problem}. It is now {}; routes given by commands are lost",
                    printable_path(path),
                    printable_path(&aside)
                );
            }
        }
        Ok(state)
    }

    /// The routes that were kept.
    pub(super) fn routes(&self) -> Vec<SavedRoute> {
        self.routes.values().cloned().collect()
    }

    /// The times in commands that were ahead of the node's clock.
    pub(super) fn carried_out(&self) -> &CommandTimes {
        &self.carried_out
    }

    /// Writes down at once that commands have said these times, so that they are not carried out again after
    /// a restart.
    pub(super) fn note_commands(&mut self, now: Now, times_ms: &[u64]) {
        let known = self.carried_out.clone();
        for time_ms in times_ms {
            self.carried_out.insert(*time_ms);
        }
        if self.carried_out != known && self.times.write(&self.carried_out).is_err() {
            // Here they stand, too, and it says why it cannot be written.
            self.write(now.instant);
        }
    }

    /// A command has made this route.
    pub(super) fn keep(&mut self, now: Now, prefix: &Name, route: &RibRoute, face: &FaceSnapshot) {
        let (Some((remote, local)), RouteOrigin::Static) = (address(face), route.origin) else { return };
        let left_ms =
            (route.expires < Instant::NEVER).then(|| route.expires.saturating_since(now.instant).as_millis());
        let saved = SavedRoute {
            prefix: prefix.as_ref().to_string(),
            remote,
            local,
            permanent: face.persistency == crate::control::FacePersistency::Permanent,
            cost: route.cost,
            flags: route.flags.0,
            expires_unix_ms: left_ms.map(|left| now.unix.as_millis().saturating_add(left)),
            signer: route.signer.as_deref().map(SavedSigner::of),
        };
        let is_new = !self.routes.contains_key(&key(&saved));
        // As many as the RIB takes; it says no first.
        if !is_new || self.routes.len() < self.max_routes {
            self.routes.insert(key(&saved), saved);
            self.changed(now);
        }
    }

    /// A command has removed this route.
    pub(super) fn drop_route(&mut self, now: Now, prefix: &Name, origin: RouteOrigin, face: &FaceSnapshot) {
        let (Some((remote, local)), RouteOrigin::Static) = (address(face), origin) else { return };
        if self.routes.remove(&(prefix.as_ref().to_string(), remote, local)).is_some() {
            self.changed(now);
        }
    }

    /// A command has removed this face.
    pub(super) fn drop_face(&mut self, now: Now, face: &FaceSnapshot) {
        let Some((remote, local)) = address(face) else { return };
        let before = self.routes.len();
        self.routes.retain(|(_, other, other_local), _| (other, other_local) != (&remote, &local));
        if self.routes.len() < before {
            self.changed(now);
        }
    }

    fn changed(&mut self, now: Now) {
        self.write_at = self.write_at.min(now.instant + WRITE_DELAY);
    }

    /// When [`StateFile::handle_timeout`] is to be called.
    pub(super) fn next_deadline(&self) -> Instant {
        self.write_at
    }

    /// Writes what has changed, when its time has come.
    pub(super) fn handle_timeout(&mut self, now: Now) {
        if self.write_at <= now.instant {
            let unix_ms = now.unix.as_millis();
            self.routes.retain(|_, route| route.expires_unix_ms.is_none_or(|end| end > unix_ms));
            self.write(now.instant);
        }
    }

    fn write(&mut self, now: Instant) {
        let (last_command_ms, command_times_ms) = writable(&self.carried_out);
        let route = self.routes();
        let saved = Saved { version: VERSION, routes: route.len(), last_command_ms, command_times_ms, route };
        let text = toml::to_string(&saved).map_err(io::Error::other);
        match text.and_then(|text| REPLACEMENT.write(&self.path, format!("{HEAD}{text}").as_bytes())) {
            Ok(()) => (self.write_at, self.failing) = (Instant::NEVER, false),
            Err(error) => {
                self.write_at = now + RETRY_INTERVAL;
                if !self.failing {
                    let path = printable_path(&self.path);
                    tracing::error!(
                        "routes cannot be kept in {path}: {error}; what stood there before stays"
                    );
                }
                self.failing = true;
            }
        }
    }
}

const HEAD: &str =
    "# Routes that commands gave to a Cairn node, for its next start. The node writes this file.\n";

impl Drop for StateFile {
    fn drop(&mut self) {
        if self.write_at < Instant::NEVER {
            self.write(Instant::ZERO);
        }
    }
}

fn key(route: &SavedRoute) -> Key {
    (route.prefix.clone(), route.remote.clone(), route.local.clone())
}

/// The ends of a face by which it is found again; `None` of those that cannot be made again.
pub(super) fn address(face: &FaceSnapshot) -> Option<(String, Option<String>)> {
    let remote = face.remote.to_string();
    match &face.remote {
        FaceUri::Udp(address) if address.ip().is_multicast() => Some((remote, Some(face.local.to_string()))),
        FaceUri::Ethernet(_) => Some((remote, Some(face.local.to_string()))),
        FaceUri::Udp(_) => Some((remote, None)),
        FaceUri::Tcp(_) if face.persistency != crate::control::FacePersistency::OnDemand => {
            Some((remote, None))
        }
        _ => None,
    }
}

/// Why a file makes no sense.
#[derive(Debug, Error)]
enum StateFileError {
    #[error(transparent)]
    Text(#[from] std::str::Utf8Error),
    #[error("{}", .0.message())]
    Toml(#[from] toml::de::Error),
    #[error("it has form {found}, and {VERSION} is known")]
    Version { found: u32 },
    #[error("it has {found} routes and says {said}")]
    RouteCount { found: usize, said: usize },
}

fn understand(text: &[u8]) -> Result<Saved, StateFileError> {
    let saved: Saved = toml::from_str(std::str::from_utf8(text)?)?;
    if saved.version != VERSION {
        return Err(StateFileError::Version { found: saved.version });
    }
    if saved.routes != saved.route.len() {
        return Err(StateFileError::RouteCount { found: saved.route.len(), said: saved.routes });
    }
    Ok(saved)
}

#[cfg(test)]
mod tests {
    use testkit::folder::TestFolder;

    use super::*;

    fn route(prefix: &str) -> SavedRoute {
        SavedRoute {
            prefix: prefix.to_owned(),
            remote: "udp4://192.0.2.1:6363".to_owned(),
            local: None,
            permanent: true,
            cost: 7,
            flags: 1,
            expires_unix_ms: None,
            signer: None,
        }
    }

    fn with(path: &Path, prefixes: &[&str]) -> StateFile {
        let mut state = StateFile::open(path, 100).unwrap();
        state.routes = prefixes.iter().map(|prefix| (key(&route(prefix)), route(prefix))).collect();
        state
    }

    #[test]
    fn what_is_written_is_read_and_a_file_left_over_from_a_kill_does_no_harm() {
        let folder = TestFolder::new("state-1");
        let path = folder.join("routes.toml");
        std::fs::write(folder.join("routes.toml.new"), "half of a fi").unwrap();
        let mut state = with(&path, &["/a", "/%00/b"]);
        state.carried_out = CommandTimes { until_ms: 17, times_ms: BTreeSet::from([18, 30]) };
        state.write(Instant::ZERO);
        assert!(!folder.join("routes.toml.new").exists());
        let again = StateFile::open(&path, 100).unwrap();
        assert_eq!((again.routes(), again.carried_out()), (state.routes(), state.carried_out()));
    }

    #[test]
    fn a_file_that_was_cut_anywhere_is_set_aside_and_none_is_overwritten() {
        let folder = TestFolder::new("state-2");
        let path = folder.join("routes.toml");
        with(&path, &["/a", "/b", "/c"]).write(Instant::ZERO);
        let whole = std::fs::read(&path).unwrap();
        for (broken, len) in (1..whole.len() - 1).step_by(37).enumerate() {
            std::fs::write(&path, &whole[..len]).unwrap();
            let state = StateFile::open(&path, 100).unwrap();
            assert!(state.routes().is_empty(), "cut after {len} bytes");
            let aside = folder.join(format!("routes.toml.broken-{broken}"));
            assert_eq!(std::fs::read(aside).unwrap(), &whole[..len]);
            assert!(!path.exists());
        }
        for nonsense in [&b"\xff\xfe"[..], b"version = 2\nroutes = 0\nlast_command_ms = 0\n", b"x", b"\0\0\0"]
        {
            std::fs::write(&path, nonsense).unwrap();
            assert!(StateFile::open(&path, 100).unwrap().routes().is_empty());
            assert!(!path.exists());
        }
    }

    #[test]
    fn when_it_cannot_be_written_the_old_file_stays_and_it_is_tried_again() {
        let folder = TestFolder::new("state-3");
        let path = folder.join("routes.toml");
        with(&path, &["/a"]).write(Instant::ZERO);
        // Nobody can make a file of this name: there is a folder with something in it.
        std::fs::create_dir_all(folder.join("routes.toml.new/x")).unwrap();
        let mut state = with(&path, &["/a", "/b"]);
        state.write(Instant::from_secs(1));
        assert_eq!(StateFile::open(&path, 100).unwrap().routes(), [route("/a")]);
        assert_eq!(state.next_deadline(), Instant::from_secs(1) + RETRY_INTERVAL);
        std::fs::remove_dir_all(folder.join("routes.toml.new")).unwrap();
        state.handle_timeout(Now { instant: Instant::from_secs(31), unix: packet::UnixTime::ZERO });
        assert_eq!(StateFile::open(&path, 100).unwrap().routes().len(), 2);
        assert_eq!(state.next_deadline(), Instant::NEVER);
    }

    #[test]
    fn a_time_ahead_of_the_clock_is_safe_at_once_and_costs_the_same_however_many_routes_are_kept() {
        let folder = TestFolder::new("state-5");
        let path = folder.join("routes.toml");
        let mut state = with(&path, &["/a", "/b"]);
        state.write(Instant::ZERO);
        let marked = [&std::fs::read(&path).unwrap()[..], b"# as it was\n"].concat();
        std::fs::write(&path, &marked).unwrap();
        let now = Now { instant: Instant::from_secs(1), unix: packet::UnixTime::from_secs(1) };
        for time_ms in 1..=200 {
            state.note_commands(now, &[2000 + time_ms]);
        }
        assert!(std::fs::read(&path).unwrap() == marked, "the routes are not written again");
        let again = StateFile::open(&path, 100).unwrap();
        assert_eq!((again.routes(), again.carried_out()), (state.routes(), state.carried_out()));
        assert!(again.carried_out().until_ms > 2100 && again.carried_out().times_ms.contains(&2200));
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let folder = TestFolder::new("state-4");
        assert!(StateFile::open(&folder, 100).is_err());
        assert!(StateFile::open(Path::new("/dev/zero"), 100).is_err());
    }
}
