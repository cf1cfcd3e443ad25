//! Whether segments are signed by their owner, as consumers find out.

use std::sync::Arc;

use packet::Data;
use packet::random::Random;
use packet::time::Instant;
use trust::validator::{CertificateFetchError, Subject};
use trust::{Policy, Revocations, UnixTime, Validator, ValidatorLimits};

use super::revocations::KnownRecords;
use crate::experiment::plan::{ContentPlan, EarlierKey};
use crate::keys::{self, IdentityKeyError};

/// Checks signatures against what is believed of one owner. Consumers have the owner's certificates, and the
/// record where it has revoked one; where it publishes that, they have what others have fetched.
#[derive(Debug)]
pub(super) struct Signatures {
    validator: Validator,
    epoch_ns: u64,
    fetched: KnownRecords,
    /// Those of them that the validator has.
    applied: Arc<Revocations>,
}

impl Signatures {
    pub(super) fn of(
        content: &ContentPlan,
        seed: u64,
        epoch_ns: u64,
        fetched: KnownRecords,
    ) -> Result<Self, IdentityKeyError> {
        let anchors = keys::certificates(seed, &content.prefix, content.signed)?;
        let random = Random::from_seed(seed);
        let mut validator = Validator::new(Policy::Hierarchical, anchors, ValidatorLimits::default(), random);
        if content.signed == Some(EarlierKey::Revoked) {
            let mut records = Revocations::default();
            records.add(keys::revocation(seed, &content.prefix)?);
            validator.set_revocations(Arc::new(records));
        }
        Ok(Signatures { validator, epoch_ns, applied: fetched.current(), fetched })
    }

    /// Whether the owner has signed the Data.
    pub(super) fn accept(&mut self, now: Instant, data: &Data) -> bool {
        let fetched = self.fetched.current();
        if !Arc::ptr_eq(&fetched, &self.applied) {
            self.validator.set_revocations(Arc::clone(&fetched));
            self.applied = fetched;
        }
        let now = UnixTime::from_millis(self.epoch_ns.saturating_add(now.as_nanos()) / 1_000_000);
        self.validator.validate(now, Subject::Data(data.clone()));
        while let Some(asked) = self.validator.poll_interest() {
            self.validator.handle_failure(asked.name(), CertificateFetchError::Unsendable);
        }
        self.validator.poll_outcome().is_some_and(|outcome| outcome.verdict.is_ok())
    }
}
