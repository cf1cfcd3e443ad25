//! Two network interfaces of this host with a cable between them, for tests of links without IP and of
//! multicast. By the program `ip`, since this crate uses no other of ours: the lab makes its pairs itself.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::needs::needed;
use crate::own_network::ip;

/// Both ends of a cable (a veth pair); gone when dropped.
#[derive(Debug)]
pub struct Cable {
    name: String,
}

impl Cable {
    /// Plugs one in; `None` where this user may not make interfaces or the program `ip` is missing, and that
    /// [is all right](crate::needs::WITHOUT_RIGHTS).
    pub fn plug() -> Option<Cable> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Names of interfaces have at most 15 letters.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ct{}x{number}", std::process::id() % 1_000_000);
        needed("right to make network interfaces", Cable::make(name))
    }

    fn make(name: String) -> Result<Cable, String> {
        let (a, b) = (format!("{name}a"), format!("{name}b"));
        ip(&format!("link add {a} type veth peer name {b}"))?;
        // From here on it is removed if something fails.
        let cable = Cable { name };
        ip(&format!("link set {a} up"))?;
        ip(&format!("link set {b} up"))?;
        Ok(cable)
    }

    /// The names of both ends.
    pub fn ends(&self) -> [String; 2] {
        [format!("{}a", self.name), format!("{}b", self.name)]
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        let [a, _] = self.ends();
        // The other end goes with it.
        let _ = ip(&format!("link del {a}"));
    }
}
