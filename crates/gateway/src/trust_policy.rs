//! Whom the gateway believes, for every request anew.

use std::fmt;
use std::sync::Arc;

use client::Trust;

/// Makes a [`Trust`] for each fetch.
#[derive(Clone)]
pub struct TrustPolicy {
    make: Arc<dyn Fn() -> Trust + Send + Sync>,
    by_manifest: bool,
}

impl TrustPolicy {
    /// Believes whom `make` names.
    pub fn new(make: impl Fn() -> Trust + Send + Sync + 'static) -> Self {
        TrustPolicy { make: Arc::new(make), by_manifest: false }
    }

    /// Objects have a signed manifest, by which their segments are checked.
    #[must_use]
    pub fn by_manifest(self) -> Self {
        TrustPolicy { by_manifest: true, ..self }
    }

    /// For a packet by itself, such as metadata.
    pub(crate) fn packet(&self) -> Trust {
        (self.make)()
    }

    /// For the segments of an object.
    pub(crate) fn object(&self) -> Trust {
        let trust = (self.make)();
        if self.by_manifest { trust.with_manifest() } else { trust }
    }
}

impl fmt::Debug for TrustPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TrustPolicy").field("by_manifest", &self.by_manifest).finish_non_exhaustive()
    }
}
