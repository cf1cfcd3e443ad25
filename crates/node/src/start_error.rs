//! What keeps a node from running.

use formats::printable::printable_path;
use thiserror::Error;

use crate::config::ConfigError;

/// Why a node did not start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A socket could not be had.
    #[error("cannot listen at {address}: {source}{}", hint(.source))]
    Listen {
        /// Where.
        address: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// This user may not do that.
    #[error(
        "{what} needs the capability {capability}: run as root, or grant it with `setcap {}+ep` on the program, or with \
         AmbientCapabilities= in the systemd unit",
        .capability.to_lowercase()
    )]
    Capability {
        /// What was asked for.
        what: String,
        /// What it needs.
        capability: &'static str,
    },
    /// A repository cannot be opened.
    #[error("the repository at {}: {source}", printable_path(.path))]
    Repository {
        /// Its folder.
        path: std::path::PathBuf,
        /// Why.
        source: RepositoryError,
    },
    /// The system refused something else that a node needs.
    #[error("cannot start: {0}")]
    System(#[from] std::io::Error),
}

/// Why a repository cannot be opened.
#[derive(Debug, Error)]
pub enum RepositoryError {
    /// Its folder, or what lies in it.
    #[error(transparent)]
    Store(#[from] repo::OpenError),
    /// What is to keep its sealed volumes.
    #[error(transparent)]
    ColdTier(Box<dyn std::error::Error + Send + Sync>),
}

fn hint(error: &std::io::Error) -> &'static str {
    match error.kind() {
        std::io::ErrorKind::AddrInUse => "; is another forwarder running? Stop it, or change the address",
        std::io::ErrorKind::PermissionDenied => {
            "; choose an address that this user may use, or give the program the capability it needs (see docs/node.md)"
        }
        _ => "",
    }
}
