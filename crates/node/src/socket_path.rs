//! Paths of unix sockets: what lies there already, and whose folder it is.

use std::io;
use std::os::unix::fs::{DirBuilderExt as _, FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use formats::printable::printable_path;

/// Makes room for a socket: one that a dead process left behind is removed. One that answers is not, nor is
/// anything that is no socket.
pub(crate) fn clear(path: &Path) -> io::Result<()> {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "what lies there is no socket"));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "somebody is listening there")),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        // Whoever binds is told better what is the matter.
        Err(_) => Ok(()),
    }
}

/// Makes a folder of this user's in a place where anybody may make one, such as `/tmp`. Who owns the folder
/// can put a socket of his own where applications look for ours.
pub(crate) fn own_folder(folder: &Path) -> io::Result<()> {
    match std::fs::DirBuilder::new().mode(0o755).create(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let metadata = std::fs::symlink_metadata(folder)?;
    let is_ours = metadata.is_dir()
        && metadata.uid() == rustix::process::geteuid().as_raw()
        && metadata.mode() & 0o022 == 0;
    if is_ours {
        return Ok(());
    }
    let problem = format!("{} is not a folder that only this user may change", printable_path(folder));
    Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::UnixListener;

    use testkit::folder::TestFolder;

    use super::*;

    #[test]
    fn only_a_socket_that_nobody_listens_at_is_removed() {
        let folder = TestFolder::new("socket-path");
        let file = folder.join("file");
        std::fs::write(&file, "precious").unwrap();
        assert_eq!(clear(&file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read(&file).unwrap(), b"precious");
        let link = folder.join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert!(clear(&link).is_err() && link.exists());
        let socket = folder.join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        assert_eq!(clear(&socket).unwrap_err().kind(), io::ErrorKind::AddrInUse);
        drop(listener);
        clear(&socket).unwrap();
        assert!(!socket.exists());
        clear(&socket).unwrap();
    }

    #[test]
    fn a_folder_that_others_may_change_is_not_ours() {
        let folder = TestFolder::new("own-folder");
        let own = folder.join("own");
        own_folder(&own).unwrap();
        own_folder(&own).unwrap();
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(own_folder(&own).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let link = folder.join("link");
        std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::symlink(&own, &link).unwrap();
        assert!(own_folder(&link).is_err(), "a link may lead elsewhere later");
    }
}
