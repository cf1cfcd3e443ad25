//! Routes of keys that have been revoked: what a thief has registered until then goes with the key, and so
//! does what the content store keeps below these prefixes. Some of it is the thief's.

use std::sync::Arc;

use engine::FaceId;
use management::{CommandScope, CommandSignature, RouteOrigin};
use packet::Name;
use packet::ndn::KeyLocator;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, Now};
use trust::Certificate;

use super::rib::RibRoute;
use super::signer::RouteSigner;
use super::{CommandAuthority, ERASE_LIMIT, MANAGED, NfdManagement};
use crate::control::NodeControl;

/// How often the records of revoked keys are looked at while there are routes of keys.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

impl NfdManagement {
    /// Who signed a command that is carried out; `None` where no keys are asked for.
    pub(super) fn signer_of_command(
        &mut self,
        scope: CommandScope,
        interest: &Interest,
        certificate: Option<&Certificate>,
    ) -> Option<Arc<RouteSigner>> {
        let signature = CommandSignature::of(interest).ok()?;
        self.signer(scope, signature.info.key_locator?, certificate)
    }

    /// Who signed an announcement that is believed; `None` where no keys are asked for.
    pub(super) fn signer_of_announcement(
        &mut self,
        scope: CommandScope,
        announcement: &Data,
    ) -> Option<Arc<RouteSigner>> {
        let info = announcement.ndn()?.signature_info()?;
        self.signer(scope, info.key_locator?, None)
    }

    fn signer(
        &mut self,
        scope: CommandScope,
        locator: KeyLocator<'_>,
        certificate: Option<&Certificate>,
    ) -> Option<Arc<RouteSigner>> {
        let asks_for_keys = matches!(self.authority(scope), Some(CommandAuthority::Keys(..)));
        match locator {
            KeyLocator::Name(key) if asks_for_keys => {
                Some(Arc::new(RouteSigner { key: key.to_name(), certificate: certificate.cloned() }))
            }
            _ => None,
        }
    }

    /// There is a route of a key: whether that is revoked is to be seen in time.
    pub(super) fn watch_revocations(&mut self, now: Now) {
        if self.look_at_revocations == Instant::NEVER
            && self.revocations.may_change()
            && self.rib.signed_count() > 0
        {
            self.look_at_revocations = now.instant + CHECK_INTERVAL;
        }
    }

    /// Removes the routes of keys that are revoked by now, if it is time to look.
    pub(super) fn apply_revocations(&mut self, now: Now, node: &mut dyn NodeControl) {
        if now.instant < self.look_at_revocations {
            return;
        }
        self.look_at_revocations = Instant::NEVER;
        self.erase_some(now, node);
        let current = self.revocations.current();
        if !Arc::ptr_eq(&current, &self.applied_revocations) {
            self.applied_revocations = current;
            self.remove_routes_of_revoked_keys(now, node);
        }
        self.watch_revocations(now);
    }

    /// Erases a part of what is cached below prefixes of routes that have gone, and comes back for the rest.
    fn erase_some(&mut self, now: Now, node: &mut dyn NodeControl) {
        let Some(prefix) = self.prefixes_of_revoked_keys.last() else { return };
        if node.erase_cached(MANAGED, prefix, ERASE_LIMIT) < ERASE_LIMIT {
            self.prefixes_of_revoked_keys.pop();
        }
        if !self.prefixes_of_revoked_keys.is_empty() {
            self.look_at_revocations = now.instant;
        }
    }

    fn remove_routes_of_revoked_keys(&mut self, now: Now, node: &mut dyn NodeControl) {
        let is_revoked = |route: &RibRoute| {
            let authorities = [Some(&self.localhost), self.localhop.as_ref()];
            let signer = route.signer.as_deref();
            signer.is_some_and(|signer| authorities.into_iter().flatten().any(|it| it.has_revoked(signer)))
        };
        let gone: Vec<(Name, FaceId, RouteOrigin)> = self
            .rib
            .entries()
            .flat_map(|(prefix, routes)| routes.map(move |route| (prefix, route)))
            .filter(|(_, route)| is_revoked(route))
            .map(|(prefix, route)| (prefix.clone(), route.face, route.origin))
            .collect();
        for (prefix, face, origin) in &gone {
            if let (Some(state), Some(face)) = (&mut self.state, node.face(*face)) {
                state.drop_route(now, prefix, *origin, &face);
            }
            self.rib.unregister(prefix, *face, *origin);
            // Routes of one prefix stand side by side; to look at all would take a square of them.
            if self.prefixes_of_revoked_keys.last() != Some(prefix) {
                self.prefixes_of_revoked_keys.push(prefix.clone());
            }
        }
        if !gone.is_empty() {
            tracing::warn!(routes = gone.len(), "routes of revoked keys were removed");
            self.counters.routes_of_revoked_keys += gone.len() as u64;
            self.forget_how_things_were();
            self.update_table(node);
            self.erase_some(now, node);
        }
    }
}
