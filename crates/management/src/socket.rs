//! Where a forwarder has its socket for applications of this host, when nobody says otherwise. Forwarder and
//! applications look here, so that they meet.

use std::path::{Path, PathBuf};

/// The system's forwarder: where NFD has its socket, and NDN applications look first.
pub const SYSTEM_SOCKET: &str = "/run/nfd/nfd.sock";

/// Where older forwarders have theirs.
pub const OLDER_SOCKETS: [&str; 2] = ["/run/nfd.sock", "/var/run/nfd/nfd.sock"];

/// The socket of a forwarder that is not root's, in the folder for what one user's programs need while they
/// run (XDG_RUNTIME_DIR).
pub fn socket_in(runtime: &Path) -> PathBuf {
    runtime.join("nfd.sock")
}

/// That folder where the system has none for the user: one of the user's own in the folder for temporary
/// files, in which anybody may make a folder of any name.
pub fn runtime_folder_in(temporary: &Path, user: u32) -> PathBuf {
    temporary.join(format!("cairn-{user}"))
}
