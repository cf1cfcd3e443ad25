//! Routes that survive a restart: kept when commands give them, and given again at the start.

use std::sync::Arc;

use engine::FaceId;
use formats::printable::printable_path;
use management::{CommandScope, RouteFlags, RouteOrigin};
use packet::time::{Duration, Instant};
use packet::{Name, Now};
use thiserror::Error;

use super::rib::{Holder, Precedence, RibRoute};
use super::state::{SavedRoute, StateFile, address};
use super::{CommandAuthority, MANAGED, NfdManagement, Request};
use crate::control::{
    CreateFace, CreateFaceError, FaceChanges, FacePersistency, FaceUri, FaceUriError, NodeControl,
};

impl NfdManagement {
    /// Reads what is to survive.
    pub(super) fn open_state(&mut self) {
        let Some((path, max_routes)) = &self.state_path else { return };
        match StateFile::open(path, *max_routes) {
            Ok(state) => self.state = Some(state),
            Err(error) => {
                tracing::error!(
                    "{} cannot be read: {error}; routes will not survive a restart",
                    printable_path(path)
                );
            }
        }
    }

    /// A command that says a time ahead of now must not be carried out again after a restart: it is written
    /// down at once. Those of a clock that was put back lie ahead of now, too.
    pub(super) fn note_times_ahead(&mut self, now: Now) {
        let Some(state) = &mut self.state else { return };
        for authority in [Some(&mut self.localhost), self.localhop.as_mut()].into_iter().flatten() {
            state.note_commands(now, &authority.times_ahead(now));
            authority.note_look(now);
        }
    }

    /// When to look for them though no command comes.
    pub(super) fn look_at_clock(&self) -> Instant {
        let localhop = self.localhop.as_ref().map_or(Instant::NEVER, CommandAuthority::look_at);
        self.state.as_ref().map_or(Instant::NEVER, |_| self.localhost.look_at().min(localhop))
    }

    /// Keeps a route that a command of this host has made.
    pub(super) fn keep_route(
        &mut self,
        request: Request<'_>,
        node: &mut dyn NodeControl,
        prefix: &Name,
        route: &RibRoute,
    ) {
        let Some(state) = &mut self.state else { return };
        if let (CommandScope::Localhost, Some(face)) = (request.scope, node.face(route.face)) {
            state.keep(request.now, prefix, route, &face);
        }
    }

    /// Gives the routes again that were kept, and makes the faces that they lead by.
    pub(super) fn restore_routes(&mut self, now: Now, node: &mut dyn NodeControl) {
        let saved = self.state.as_ref().map(StateFile::routes).unwrap_or_default();
        let mut restored = 0;
        let mut faces = std::collections::BTreeMap::new();
        for route in &saved {
            let left_ms = route.expires_unix_ms.map(|end| end.saturating_sub(now.unix.as_millis()));
            if left_ms == Some(0) {
                continue;
            }
            let end = (route.remote.clone(), route.local.clone());
            let face = faces.entry(end).or_insert_with(|| find_or_make_face(node, route));
            let (Ok(prefix), Ok(face)) = (route.prefix.parse::<Name>(), &face) else { continue };
            let again = RibRoute {
                face: *face,
                origin: RouteOrigin::Static,
                cost: route.cost,
                flags: RouteFlags(route.flags),
                expires: left_ms.map_or(Instant::NEVER, |left| now.instant + Duration::from_millis(left)),
                announcement: None,
                holder: Holder::Host,
                precedence: Precedence::LongestMatch,
                signer: match &route.signer {
                    None => None,
                    // A route of which it cannot be known whether its key counts is not given again.
                    Some(saved) => match saved.restore() {
                        Some(signer) => Some(Arc::new(signer)),
                        None => {
                            tracing::warn!(%prefix, "it cannot be read whose key made a route; it is left out");
                            continue;
                        }
                    },
                },
            };
            // A full RIB has counted it.
            restored += u64::from(self.rib.register(&prefix, again).is_ok());
        }
        self.watch_revocations(now);
        for ((remote, _), error) in faces.iter().filter_map(|(end, face)| Some((end, face.as_ref().err()?))) {
            tracing::warn!("no face to {remote}: {error}; the routes by it are kept for the next start");
        }
        if !saved.is_empty() {
            tracing::info!("{restored} of {} routes given by commands are back", saved.len());
            self.update_table(node);
        }
    }
}

/// Why a kept route has no face.
#[derive(Debug, Error)]
enum NoFace {
    #[error(transparent)]
    Address(#[from] FaceUriError),
    #[error(transparent)]
    Create(#[from] CreateFaceError),
}

/// The face that a kept route leads by.
fn find_or_make_face(node: &mut dyn NodeControl, route: &SavedRoute) -> Result<FaceId, NoFace> {
    let wanted = (route.remote.clone(), route.local.clone());
    if let Some(face) = node.faces().iter().find(|face| address(face).as_ref() == Some(&wanted)) {
        return Ok(face.id);
    }
    let remote: FaceUri = route.remote.parse()?;
    // A neighbour over TCP may start later than this node.
    let permanent = route.permanent || matches!(remote, FaceUri::Tcp(_));
    let request = CreateFace {
        local: route.local.as_deref().map(str::parse).transpose()?,
        remote,
        persistency: if permanent { FacePersistency::Permanent } else { FacePersistency::Persistent },
        changes: FaceChanges::default(),
        dialect: MANAGED,
    };
    match node.create_face(request) {
        Ok(face) => Ok(face.id),
        Err(CreateFaceError::Exists(face)) => Ok(face.id),
        Err(error) => Err(error.into()),
    }
}
