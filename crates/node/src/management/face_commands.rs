//! Commands that make, change and remove faces.

use std::collections::btree_map::Entry;

use engine::FaceId;
use management::{ControlParameters, ControlResponse, StatusCode};
use packet::time::{Duration, Instant};
use packet::{Name, Now};

use super::parameters::{face_id, face_or_self};
use super::{NfdManagement, Outcome, Request, convert};
use crate::control::{
    CreateFace, CreateFaceError, FaceChanges, FaceEvent, FaceEventKind, FacePersistency, FaceSnapshot,
    FaceState, FaceUri, NodeControl, UpdateFaceError,
};

/// How long a face may take to connect until the command that asked for it fails: `nfdc` waits four seconds
/// for an answer.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Faces that may be connecting at once while somebody waits; further commands are answered at once.
const MAX_CONNECTING: usize = 256;

/// Commands that may wait for one face.
const MAX_WAITING: usize = 8;

/// A face that is being connected.
#[derive(Debug)]
pub(super) struct PendingFace {
    /// Names of the commands that asked for it: a client may ask again.
    requests: Vec<Name>,
    /// When the command fails.
    pub(super) deadline: Instant,
    /// What it is to be once it has connected. Until then it is persistent: one that never connects goes.
    becomes: FacePersistency,
}

impl NfdManagement {
    /// `faces/create`. A face that has to connect is answered for when it has.
    pub(super) fn create_face(
        &mut self,
        node: &mut dyn NodeControl,
        request: Request<'_>,
        parameters: &ControlParameters,
    ) -> Outcome {
        let wanted = match read_request(parameters) {
            Ok(wanted) => wanted,
            Err(response) => return response.into(),
        };
        if matches!(wanted.remote, FaceUri::Tcp(_)) && parameters.mtu_bytes.is_some() {
            let text = "a face over TCP has no MTU that could be set";
            return ControlResponse::error(StatusCode::UnsupportedProtocol, text).into();
        }
        let becomes = wanted.persistency;
        let connects = matches!(wanted.remote, FaceUri::Tcp(_)) && becomes == FacePersistency::Permanent;
        let wanted = match connects {
            true => CreateFace { persistency: FacePersistency::Persistent, ..wanted },
            false => wanted,
        };
        match node.create_face(wanted) {
            Ok(face) if face.state == FaceState::Down && self.connecting.len() < MAX_CONNECTING => {
                let pending = PendingFace {
                    requests: vec![request.interest.name().to_name()],
                    deadline: request.now.instant + CONNECT_TIMEOUT,
                    becomes,
                };
                if let Entry::Vacant(place) = self.connecting.entry(face.id) {
                    place.insert(pending);
                }
                Outcome::Later
            }
            Ok(face) => {
                ControlResponse::ok(&convert::face_parameters(&made(node, face, becomes), true)).into()
            }
            Err(CreateFaceError::Exists(face)) => {
                // Whoever asks again for a face that is still connecting waits with the first.
                if let Some(pending) = self.connecting.get_mut(&face.id) {
                    let name = request.interest.name().to_name();
                    // The same question again is answered with the same answer.
                    if pending.requests.contains(&name) {
                        return Outcome::Later;
                    }
                    if pending.requests.len() < MAX_WAITING {
                        pending.requests.push(name);
                        return Outcome::Later;
                    }
                }
                ControlResponse::error(StatusCode::Conflict, "Face with remote URI already exists")
                    .with_body(&convert::face_parameters(&face, true))
                    .into()
            }
            Err(error) => {
                ControlResponse::error(convert::create_error_code(&error), error.to_string()).into()
            }
        }
    }

    /// `faces/destroy`: its routes do not come back with the next start either.
    pub(super) fn destroy_face(
        &mut self,
        node: &mut dyn NodeControl,
        now: Now,
        parameters: &ControlParameters,
    ) -> ControlResponse {
        let face = parameters.face_id.and_then(|number| node.face(face_id(number)));
        let response = destroy(node, parameters);
        if let (Some(state), Some(face), true) = (&mut self.state, face, response.is_ok()) {
            state.drop_face(now, &face);
        }
        response
    }

    /// Answers who waits for a face that is connected now, or gone.
    pub(super) fn conclude_connecting(&mut self, node: &mut dyn NodeControl, event: &FaceEvent) {
        let Some(pending) = self.connecting.get(&event.face.id) else { return };
        let response = match event.kind {
            FaceEventKind::Up => {
                let face = made(node, event.face.clone(), pending.becomes);
                ControlResponse::ok(&convert::face_parameters(&face, true))
            }
            FaceEventKind::Destroyed => {
                let why = event.why.as_deref().unwrap_or("the face is gone");
                let text = format!("the connection to {} failed: {why}", event.face.remote);
                ControlResponse::error(StatusCode::SocketError, text)
            }
            FaceEventKind::Created | FaceEventKind::Down => return,
        };
        for request in self.connecting.remove(&event.face.id).into_iter().flat_map(|pending| pending.requests)
        {
            self.respond(request, &response);
        }
    }

    /// Removes faces that take too long to connect, and says so to those who asked for them.
    pub(super) fn give_up_connecting(&mut self, now: Now, node: &mut dyn NodeControl) {
        let late: Vec<FaceId> = self
            .connecting
            .iter()
            .filter(|(_, pending)| pending.deadline <= now.instant)
            .map(|(face, _)| *face)
            .collect();
        for face in late {
            if let Some(pending) = self.connecting.remove(&face) {
                node.destroy_face(face);
                let text = format!("no connection within {} s", CONNECT_TIMEOUT.as_millis() / 1000);
                let response = ControlResponse::error(StatusCode::SocketError, text);
                for request in pending.requests {
                    self.respond(request, &response);
                }
            }
        }
    }
}

/// A face that has been made, with the persistency that was asked for.
fn made(node: &mut dyn NodeControl, face: FaceSnapshot, becomes: FacePersistency) -> FaceSnapshot {
    if face.persistency == becomes {
        return face;
    }
    let changes = FaceChanges { persistency: Some(becomes), ..Default::default() };
    node.update_face(face.id, changes).unwrap_or(face)
}

/// What the parameters of `faces/create` ask for.
fn read_request(parameters: &ControlParameters) -> Result<CreateFace, ControlResponse> {
    let uri = |text: &str| {
        text.parse::<FaceUri>()
            .map_err(|error| ControlResponse::error(StatusCode::BadParameters, error.to_string()))
    };
    let unsupported = || ControlResponse::error(StatusCode::UnsupportedProtocol, "Unsupported protocol");
    let text = parameters.uri.as_deref().unwrap_or_default();
    let remote = match uri(text) {
        // As in NFD. Whoever may ask for faces could otherwise have the node open, as its own user, any
        // socket that has a path.
        Ok(FaceUri::Unix(_)) => return Err(unsupported()),
        Ok(remote) => remote,
        // A scheme that is not known is another thing than an address that is wrong.
        Err(_) if is_of_unknown_scheme(text) => return Err(unsupported()),
        Err(response) => return Err(response),
    };
    let local = parameters.local_uri.as_deref().map(uri).transpose()?;
    let mut changes = convert::face_changes(parameters);
    // Taken out: the node makes the face with it, and would apply it again as a change.
    let persistency = changes.persistency.take().unwrap_or(FacePersistency::Persistent);
    let dialect = convert::dialect(parameters, &remote);
    Ok(CreateFace { remote, local, persistency, changes, dialect })
}

fn is_of_unknown_scheme(uri: &str) -> bool {
    uri.parse::<FaceUri>().is_err_and(|error| error.is_of_unknown_scheme())
}

/// `faces/update`: all of the changes or none.
pub(super) fn update(
    node: &mut dyn NodeControl,
    from: FaceId,
    parameters: &ControlParameters,
) -> ControlResponse {
    let changes = convert::face_changes(parameters);
    match node.update_face(face_or_self(parameters, from), changes) {
        Ok(face) => ControlResponse::ok(&convert::face_parameters(&face, false)),
        Err(UpdateFaceError::NoFace(_)) => {
            ControlResponse::error(StatusCode::NotFound, "Specified face does not exist")
        }
        Err(UpdateFaceError::Conflict { conflicts, .. }) => {
            ControlResponse::error(StatusCode::Conflict, "Invalid properties specified")
                .with_body(&convert::conflicts(parameters, &conflicts))
        }
        Err(error @ UpdateFaceError::ShuttingDown) => {
            ControlResponse::error(StatusCode::Unavailable, error.to_string())
        }
    }
}

/// `faces/destroy`. That there is no such face is fine: it is gone.
fn destroy(node: &mut dyn NodeControl, parameters: &ControlParameters) -> ControlResponse {
    if let Some(number) = parameters.face_id {
        if convert::is_own_face(number) {
            let text = format!("face {number} is the node's own and cannot be destroyed");
            return ControlResponse::error(StatusCode::Conflict, text);
        }
        node.destroy_face(face_id(number));
    }
    ControlResponse::ok(&ControlParameters { face_id: parameters.face_id, ..Default::default() })
}
