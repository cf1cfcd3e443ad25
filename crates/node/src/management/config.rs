//! What management is made with, and what it counts.

use std::path::PathBuf;
use std::sync::Arc;

use super::authority::CommandAuthority;
use super::delegation::Delegation;
use super::revocations::RevocationList;

/// What management is made with.
#[derive(Debug)]
pub struct ManagementConfig {
    /// Whose commands are carried out that come from this host.
    pub localhost: CommandAuthority,
    /// Whose route registrations are accepted from neighbours; `None` for nobody's. Announced routes are
    /// learned only where this is set.
    pub localhop: Option<CommandAuthority>,
    /// Which keys have been certified by those whose commands are carried out, and count as theirs.
    pub delegation: Delegation,
    /// Which keys are revoked: their routes go.
    pub revocations: Arc<RevocationList>,
    /// Most routes in the RIB.
    pub max_routes: usize,
    /// Most bytes of names, announcements and signers of these routes.
    pub max_route_bytes: usize,
    /// Most prefixes in the forwarding table, of which neighbours may have their share.
    pub max_prefixes: usize,
    /// Where routes of origin static are kept over a restart.
    pub state_file: Option<PathBuf>,
    /// Segments of datasets, and as many notifications, kept for those who ask again.
    pub max_stored_packets: usize,
}

impl Default for ManagementConfig {
    /// What NFD does by default: applications on this host may do anything, neighbours nothing.
    fn default() -> Self {
        ManagementConfig {
            localhost: CommandAuthority::Anyone,
            localhop: None,
            delegation: Delegation::default(),
            revocations: Arc::default(),
            max_routes: 65_536,
            max_route_bytes: 64 << 20,
            max_prefixes: 1 << 21,
            state_file: None,
            max_stored_packets: 256,
        }
    }
}

/// What management has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManagementCounters {
    /// Commands that succeeded.
    pub commands_done: u64,
    /// Commands that failed, whatever the reason.
    pub commands_failed: u64,
    /// Commands of which the signer was refused; counted among the failed too if they were answered.
    pub unauthorized: u64,
    /// Requests that were not answered.
    pub unanswered: u64,
    /// Datasets made.
    pub datasets: u64,
    /// Notifications sent.
    pub notifications: u64,
    /// Next hops that the forwarding table did not take.
    pub next_hops_refused: u64,
    /// Routes that were removed because the key that made them was revoked.
    pub routes_of_revoked_keys: u64,
}
