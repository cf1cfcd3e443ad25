//! The key by which clients know a node, kept on disk: CCNDID is its digest.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use formats::printable::printable_path;
use management::runtime_folder_in;
use trust::ccnx::{CcnxSigner, DEFAULT_KEY_FILE};
use trust::whole_file::{Durability, Readers, Replacement, Writers};
use trust::{KeyKind, PrivateKey};

/// Bytes of a file that holds one key, as in a key store.
const MAX_KEY_BYTES: u64 = 1 << 20;

/// The signer with the key in `path`, or at the usual place; a key is made if there is none yet.
///
/// # Errors
/// The key cannot be read or written, or is no RSA key. The text names the file.
pub(crate) fn load_or_make_key(path: Option<&Path>) -> io::Result<CcnxSigner> {
    if let Some(path) = path {
        return load_or_make(path).map_err(|error| about(path, &error));
    }
    let [system, own] = usual_places();
    load_or_make_in(&system, &own)
}

/// The signer with the key in the system's place, or in this user's where the first is not for this user.
fn load_or_make_in(system: &Path, own: &Path) -> io::Result<CcnxSigner> {
    use io::ErrorKind::{FileTooLarge, InvalidData, Other};
    match load_or_make(system) {
        // What is there and no key is not replaced by another one: neighbours know the node by its key.
        Err(error) if [FileTooLarge, InvalidData, Other].contains(&error.kind()) => {
            Err(about(system, &error))
        }
        Err(_) => load_or_make(own).map_err(|error| about(own, &error)),
        made => made,
    }
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("the key of CCNx in {}: {error}", printable_path(path)))
}

/// The system's own place, and this user's.
fn usual_places() -> [PathBuf; 2] {
    let own = match (std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME")) {
        (Some(folder), _) if !folder.is_empty() => PathBuf::from(folder).join("cairn"),
        (_, Some(home)) => PathBuf::from(home).join(".local/state/cairn"),
        _ => runtime_folder_in(&std::env::temp_dir(), rustix::process::getuid().as_raw()),
    };
    [Path::new("/var/lib/cairn").join(DEFAULT_KEY_FILE), own.join(DEFAULT_KEY_FILE)]
}

/// The signer with the key of CCNx in `path`; a key is made, for nobody else to read, if there is none yet.
///
/// # Errors
/// The key cannot be read or written, or is no RSA key.
pub fn load_or_make(path: &Path) -> io::Result<CcnxSigner> {
    let bytes = match trust::whole_file::read(path, MAX_KEY_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => make(path)?,
        Err(error) => return Err(error),
    };
    PrivateKey::from_der(&bytes).and_then(CcnxSigner::new).map_err(|error| {
        let problem = format!(
            "{error}. Put back a copy of the file, or remove it, and the next start makes a new key, by which \
             nobody knows the node yet"
        );
        io::Error::new(io::ErrorKind::InvalidData, problem)
    })
}

/// Makes a key that nobody else may read. It is complete under its name or not there.
fn make(path: &Path) -> io::Result<Vec<u8>> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let key = PrivateKey::generate(KeyKind::Rsa).map_err(io::Error::other)?;
    let bytes = key.to_pkcs8().map_err(io::Error::other)?;
    let replacement =
        Replacement { readers: Readers::Owner, writers: Writers::Many, durability: Durability::PowerCut };
    replacement.write(path, &bytes)?;
    tracing::info!("a new key of CCNx is in {}", printable_path(path));
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_nobody_else_may_read_it_or_enter_its_folder() {
        let folder = TestFolder::absent("ccnx-key");
        let path = folder.join("below").join(DEFAULT_KEY_FILE);
        let first = load_or_make_key(Some(&path)).unwrap();
        let again = load_or_make_key(Some(&path)).unwrap();
        assert_eq!(first.publisher(), again.publisher());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let folder_mode = std::fs::metadata(path.parent().unwrap()).unwrap().permissions().mode();
        assert_eq!(folder_mode & 0o777, 0o700);
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        std::fs::write(&path, b"no key").unwrap();
        let error = load_or_make_key(Some(&path)).unwrap_err();
        assert!(error.to_string().contains("ccnx.key: "), "{error}");
        assert!(error.to_string().contains("remove it"), "{error}");
        // Nothing that does not end is read to its end.
        let endless = load_or_make_key(Some(Path::new("/dev/zero"))).unwrap_err();
        assert!(endless.to_string().contains("no file"), "{endless}");
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(MAX_KEY_BYTES + 1).unwrap();
        assert!(load_or_make_key(Some(&path)).is_err());
    }

    #[test]
    fn a_key_that_was_cut_anywhere_is_an_error_and_no_new_key_takes_its_place_anywhere() {
        let folder = TestFolder::new("ccnx-key-cut");
        let (system, own) = (folder.join("system.key"), folder.join("own.key"));
        load_or_make(&system).unwrap();
        let whole = std::fs::read(&system).unwrap();
        for length in (0..whole.len()).step_by(53) {
            std::fs::write(&system, &whole[..length]).unwrap();
            let error = load_or_make_in(&system, &own).unwrap_err().to_string();
            assert!(error.contains("system.key"), "cut after {length} bytes: {error}");
            assert_eq!(std::fs::read(&system).unwrap(), &whole[..length]);
            assert!(!own.exists(), "cut after {length} bytes");
        }
        // Where the system's place is none for this user, his own is.
        std::fs::remove_file(&system).unwrap();
        std::fs::write(folder.join("file"), b"").unwrap();
        load_or_make_in(&folder.join("file/system.key"), &own).unwrap();
        assert!(own.exists());
    }
}
