//! Whose key a route was made with, as long as the route lasts: when the key is revoked, the route goes.

use packet::Name;
use trust::Certificate;

/// The key that signed a command, or an announcement, that made a route.
#[derive(Clone, Debug)]
pub struct RouteSigner {
    /// The name by which the signature gives the key: its own, or that of its certificate.
    pub key: Name,
    /// The certificate, unless the configuration names it: that of a key which an operator's has certified.
    pub certificate: Option<Certificate>,
}

impl RouteSigner {
    /// Bytes that are kept of it.
    pub(super) fn cost_bytes(&self) -> usize {
        let certificate = self.certificate.as_ref();
        self.key.canonical().len() + certificate.map_or(0, |certificate| certificate.data().wire().len())
    }
}

impl PartialEq for RouteSigner {
    fn eq(&self, other: &Self) -> bool {
        let wire = |signer: &RouteSigner| signer.certificate.as_ref().map(|it| it.data().wire().clone());
        self.key == other.key && wire(self) == wire(other)
    }
}

impl Eq for RouteSigner {}
