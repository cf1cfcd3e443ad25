//! Where the networks of a user are found.

use std::fs::{self, DirBuilder};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::reply::{MAX_LINE_BYTES, Reply};
use super::{LIVE_NETWORK_FILE, LiveError, LiveNetwork};
use crate::order::{Request, read_json};

/// How long a holder may take to answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// The path of a socket has room for 108 bytes.
const MAX_NAME: usize = 40;

/// The folder of a network, by the network's name.
#[derive(Debug, Clone)]
pub struct NetworkFolder {
    name: String,
    folder: PathBuf,
}

impl NetworkFolder {
    /// The place of a network of that name, whether it is up or not.
    ///
    /// # Errors
    ///
    /// A name that cannot be one, or no folder for the networks of this user.
    pub fn of(name: &str) -> Result<Self, LiveError> {
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if name.is_empty() || name.len() > MAX_NAME || name.starts_with('.') || !name.chars().all(is_plain) {
            return Err(LiveError::Name(name.to_owned()));
        }
        let holder = |source| LiveError::Holder { network: name.to_owned(), source };
        Ok(NetworkFolder { name: name.to_owned(), folder: base().map_err(holder)?.join(name) })
    }

    /// The network of that name that is up, or without a name the only one.
    ///
    /// # Errors
    ///
    /// There is none, or more than one.
    pub fn find(name: Option<&str>) -> Result<Self, LiveError> {
        let mut up = NetworkFolder::all_up();
        let names = || NetworkFolder::all_up().into_iter().map(|place| place.name).collect::<Vec<_>>();
        match (name, up.len()) {
            (_, 0) => Err(LiveError::NoneUp),
            (Some(name), _) => {
                let known = names();
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                let found = up.into_iter().find(|place| place.name == name);
                found.ok_or_else(|| super::unknown("network", name, known.into_iter()))
            }
            (None, 1) => Ok(up.remove(0)),
            (None, _) => Err(LiveError::Several(names())),
        }
    }

    /// All networks of this user that are up.
    #[must_use]
    pub fn all_up() -> Vec<Self> {
        let entries = base().and_then(fs::read_dir).into_iter().flatten().flatten();
        let places = entries.filter_map(|entry| NetworkFolder::of(entry.file_name().to_str()?).ok());
        let mut up: Vec<NetworkFolder> = places.filter(NetworkFolder::is_up).collect();
        up.sort_by(|a, b| a.name.cmp(&b.name));
        up
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its order, its logs and its nodes' folders are.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where its holder listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join("control")
    }

    /// Does somebody hold it?
    #[must_use]
    pub fn is_up(&self) -> bool {
        UnixStream::connect(self.socket()).is_ok()
    }

    /// Takes away what an earlier network of that name has left, and makes the folder.
    ///
    /// # Errors
    ///
    /// One of that name is up.
    pub fn clear(&self) -> Result<(), LiveError> {
        if self.is_up() {
            return Err(LiveError::IsUp(self.name.clone()));
        }
        let holder = |source| LiveError::Holder { network: self.name.clone(), source };
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(holder(error)),
            _ => {}
        }
        fs::create_dir(&self.folder).map_err(holder)
    }

    /// What it consists of.
    ///
    /// # Errors
    ///
    /// It is not up yet.
    pub fn network(&self) -> Result<LiveNetwork, LiveError> {
        let holder = |source| LiveError::Holder { network: self.name.clone(), source };
        read_json(&self.folder.join(LIVE_NETWORK_FILE)).map_err(holder)
    }

    /// Asks its holder for something, and waits until that is done.
    ///
    /// # Errors
    ///
    /// It was refused, or the holder does not answer.
    pub fn ask(&self, request: &Request) -> Result<(), LiveError> {
        match self.exchange(request) {
            Ok(Reply { refused: None }) => Ok(()),
            Ok(Reply { refused: Some(why) }) => Err(LiveError::Refused(why)),
            Err(source) => Err(LiveError::Holder { network: self.name.clone(), source }),
        }
    }

    fn exchange(&self, request: &Request) -> io::Result<Reply> {
        let mut stream = UnixStream::connect(self.socket())?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        writeln!(stream, "{}", serde_json::to_string(request)?)?;
        let mut line = String::new();
        BufReader::new(stream.take(MAX_LINE_BYTES)).read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

/// The folder of all networks of this user, which nobody else can look into.
fn base() -> io::Result<PathBuf> {
    let user = nix::unistd::geteuid();
    let folder = match std::env::var_os("XDG_RUNTIME_DIR") {
        _ if user.is_root() => PathBuf::from("/run/cairn-lab"),
        Some(folder) => PathBuf::from(folder).join("cairn-lab"),
        None => std::env::temp_dir().join(format!("cairn-lab-{user}")),
    };
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    // In a folder that others can write to, another may have been there first.
    let found = fs::symlink_metadata(&folder)?;
    if !found.is_dir() || found.uid() != user.as_raw() || found.mode() & 0o077 != 0 {
        let what = format!("{} is not a folder of this user alone; take it away", folder.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_lead_out_of_the_folder() {
        for name in ["", ".", "..", "a/b", "../x", ".hidden", "a b", &"n".repeat(41)] {
            assert!(matches!(NetworkFolder::of(name), Err(LiveError::Name(_))), "{name}");
        }
        let place = NetworkFolder::of("two-paths_1.b").unwrap();
        assert!(
            place.folder().ends_with("cairn-lab/two-paths_1.b") || place.folder().ends_with("two-paths_1.b")
        );
    }
}
