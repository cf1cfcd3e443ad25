//! Interests of either dialect, made when they are sent.

use crate::ccnx::{InterestFields, Ticks};
use crate::error::EncodeError;
use crate::interest::Interest;
use crate::name::Name;
use crate::ndn::InterestBuilder;
use crate::time::Duration;

/// What an Interest is made of, but for its nonce and lifetime, which whoever sends it chooses.
///
/// ```
/// use cairn_packet::ccnx::InterestFields;
/// use cairn_packet::ndn::InterestBuilder;
/// use cairn_packet::time::Duration;
/// use cairn_packet::{BuildInterest, Dialect, Name};
///
/// let name: Name = "/lab/hello".parse()?;
/// let (nonce, lifetime) = (7, Duration::from_secs(2));
/// let of_ndn = InterestBuilder::new(name.clone()).build_with(nonce, lifetime)?;
/// let of_ccnx = (name, InterestFields::default()).build_with(nonce, lifetime)?;
/// assert_eq!((of_ndn.dialect(), of_ccnx.dialect()), (Dialect::Ndn, Dialect::Ccnx));
/// assert_eq!(of_ndn.lifetime(), of_ccnx.lifetime());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait BuildInterest {
    /// The Interest with this nonce and this lifetime.
    ///
    /// # Errors
    /// It cannot be written.
    fn build_with(&self, nonce: u32, lifetime: Duration) -> Result<Interest, EncodeError>;
}

impl BuildInterest for InterestBuilder {
    fn build_with(&self, nonce: u32, lifetime: Duration) -> Result<Interest, EncodeError> {
        self.clone().nonce(nonce).lifetime(lifetime).build()
    }
}

/// An Interest of CCNx for that name with these fields.
impl BuildInterest for (Name, InterestFields<'_>) {
    fn build_with(&self, nonce: u32, lifetime: Duration) -> Result<Interest, EncodeError> {
        let (name, fields) = self;
        let nonce = nonce.to_be_bytes();
        let lifetime = Some(Ticks::from_duration(lifetime));
        InterestFields { nonce: Some(&nonce), lifetime, ..*fields }.build(name)
    }
}
