//! Whether who came by WebSocket counts as an application of this host.
//!
//! A connection from this host to this host is not enough to say so: any web page that a user looks at can
//! have the browser make one, and a proxy on this host makes them for strangers. What local applications may
//! do, such as commands, is therefore for those who name no page and no proxy, and for pages that the
//! configuration names. The others get a face like any neighbour's.

use engine::{FaceId, FaceScope};

use crate::control::FaceEventKind;
use crate::face::{StreamPort, Transport};
use crate::origin::scope_of;
use crate::plane::DataPlane;
use crate::transport::websocket::UpgradeRequest;

/// Whether `upgrade` is what it seems to be from its address.
fn is_believed(upgrade: &UpgradeRequest, local_origins: &[String]) -> bool {
    let is_named = |origin: &String| local_origins.iter().any(|named| named.eq_ignore_ascii_case(origin));
    !upgrade.is_forwarded && upgrade.origin.as_ref().is_none_or(is_named)
}

impl DataPlane {
    /// A WebSocket is open: answers the peer, says whether its face is local, and tells the world of it.
    pub(in crate::plane) fn admit_upgrade(&mut self, id: FaceId, answer: &[u8], upgrade: &UpgradeRequest) {
        let now = self.now;
        let Some(face) = self.faces.get_mut(&id) else { return };
        if let Transport::Stream(StreamPort { stream: Some(stream), .. }) = &mut face.transport {
            stream.queue().push_raw(answer);
        }
        if is_believed(upgrade, &self.settings.local_origins) {
            face.scope = scope_of(&face.local, &face.remote);
        }
        let is_local = face.scope == FaceScope::Local;
        tracing::debug!(face = id.0, origin = upgrade.origin.as_deref(), is_local, "WebSocket open");
        let config = self.settings.faces.limited(face.engine_config());
        self.engine.configure_face(now, id, config);
        self.announce(id, FaceEventKind::Created);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_proxies_are_not_believed_unless_the_page_is_named() {
        let upgrade = |origin: Option<&str>, is_forwarded| UpgradeRequest {
            origin: origin.map(str::to_owned),
            is_forwarded,
        };
        let named = ["http://localhost:8080".to_owned()];
        assert!(is_believed(&upgrade(None, false), &[]));
        assert!(is_believed(&upgrade(Some("http://localhost:8080"), false), &named));
        for (origin, is_forwarded, named) in [
            (Some("https://example.net"), false, &named[..]),
            (Some("http://localhost:8080"), false, &[]),
            (Some("http://localhost:8080"), true, &named),
            (Some("http://localhost:80801"), false, &named),
            (Some("null"), false, &named),
            (Some(""), false, &named),
            (None, true, &named),
        ] {
            assert!(!is_believed(&upgrade(origin, is_forwarded), named), "{origin:?} {is_forwarded}");
        }
    }
}
