//! A forwarder's management, for the lab: commands, and the counters that are sampled.

use std::path::Path;
use std::time::{Duration, Instant};

use ::management::{
    Command, ControlParameters, CsInfo, Dataset, FaceStatus, GeneralStatus, RibEntry, RouteOrigin,
    StatusCode, decode_list,
};
use client::{Client, ClientError, ManagementRequest, Remote, RetryPolicy, Unsendable, WhenGone, accepted};
use packet::{DecodeError, Dialect, Name, Rule};

/// How long one question to a forwarder may take that has just started: it may have been lost.
const FIRST_ANSWER: Duration = Duration::from_secs(1);

/// A client of the management protocol with a connection of its own. It asks once for each thing: how long
/// the lab waits depends on the moment.
#[derive(Debug)]
pub struct Manager {
    client: Client,
}

impl Manager {
    /// Connects to the forwarder at `socket`, which may take `timeout` for each answer.
    ///
    /// # Errors
    ///
    /// When nobody is there.
    pub fn open(socket: &Path, timeout: Duration) -> Result<Self, ClientError> {
        let mut client = Client::connect(&Remote::Unix(socket.to_owned()))?;
        client.when_gone(WhenGone::Fail);
        client.set_retry_policy(once(timeout));
        Ok(Manager { client })
    }

    /// Connects, and waits until the forwarder answers, too: its management comes a little later than its
    /// socket.
    ///
    /// # Errors
    ///
    /// When it does not within `timeout`.
    pub fn answering(socket: &Path, timeout: Duration) -> Result<Self, ClientError> {
        let deadline = Instant::now() + timeout;
        loop {
            let answering = Manager::open(socket, FIRST_ANSWER.min(timeout))
                .and_then(|mut manager| manager.status().map(|_| manager));
            match answering {
                Ok(mut manager) => {
                    manager.client.set_retry_policy(once(timeout));
                    return Ok(manager);
                }
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Does something with the forwarder, and says what it made of the parameters.
    ///
    /// # Errors
    ///
    /// When it does not answer, or refuses.
    pub fn command(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<ControlParameters, ClientError> {
        let mut response = self.client.command(command, parameters)?;
        // A conflict names a face that is there already, which is as good.
        if response.code == StatusCode::Conflict {
            response.code = StatusCode::Ok;
        }
        accepted(ManagementRequest::of(command, parameters, Dialect::Ndn), response)
    }

    /// Takes earlier answers about the forwarder's counters out of its content store, which would otherwise
    /// answer for a second.
    ///
    /// # Errors
    ///
    /// When it does not answer, or cannot erase.
    pub fn forget_status(&mut self) -> Result<(), ClientError> {
        let name = Some(name_of(Dataset::StatusGeneral)?);
        let parameters = ControlParameters { name, count: Some(64), ..ControlParameters::default() };
        self.command(Command::CsErase, &parameters).map(drop)
    }

    /// Has it routes for all of these prefixes?
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub fn has_routes(&mut self, prefixes: &[String]) -> Result<bool, ClientError> {
        let routes: Vec<RibEntry> = self.client.list(Dataset::RibList)?;
        let is_there = |prefix: &String| routes.iter().any(|route| route.prefix.to_string() == *prefix);
        Ok(prefixes.iter().all(is_there))
    }

    /// The forwarder's counters.
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub fn status(&mut self) -> Result<GeneralStatus, ClientError> {
        self.client.decoded_dataset(name_of(Dataset::StatusGeneral)?, GeneralStatus::decode)
    }
}

/// Routes that change while a forwarder runs.
impl Manager {
    /// Gives it a route by the face to a remote address, which is made if there is none, or another cost to
    /// the one that it has.
    ///
    /// # Errors
    ///
    /// When it does not answer, or refuses.
    pub fn add_route(&mut self, uri: &str, prefix: &Name, cost: u32) -> Result<(), ClientError> {
        let face = match self.face(uri)? {
            Some(face) => Some(face),
            None => {
                let wanted = ControlParameters { uri: Some(uri.to_owned()), ..ControlParameters::default() };
                self.command(Command::FacesCreate, &wanted)?.face_id
            }
        };
        let route = ControlParameters {
            name: Some(prefix.clone()),
            face_id: face,
            origin: Some(RouteOrigin::Static),
            cost: Some(u64::from(cost)),
            ..ControlParameters::default()
        };
        self.command(Command::RibRegister, &route)?;
        // A route of another origin would stand beside it, and the cheaper one count.
        self.withdraw(prefix, face, RouteOrigin::App)
    }

    /// Takes its route by the face to a remote address from it, whoever has made it.
    ///
    /// # Errors
    ///
    /// When it does not answer, or refuses.
    pub fn remove_route(&mut self, uri: &str, prefix: &Name) -> Result<(), ClientError> {
        let Some(face) = self.face(uri)? else { return Ok(()) };
        self.withdraw(prefix, Some(face), RouteOrigin::Static)?;
        self.withdraw(prefix, Some(face), RouteOrigin::App)
    }

    /// That there is no such route is fine.
    fn withdraw(&mut self, prefix: &Name, face: Option<u64>, origin: RouteOrigin) -> Result<(), ClientError> {
        let route = ControlParameters {
            name: Some(prefix.clone()),
            face_id: face,
            origin: Some(origin),
            ..ControlParameters::default()
        };
        self.command(Command::RibUnregister, &route).map(drop)
    }

    fn face(&mut self, uri: &str) -> Result<Option<u64>, ClientError> {
        Ok(self.faces()?.into_iter().find(|face| face.uri == uri).map(|face| face.face_id))
    }
}

/// Questions about the content store and the faces.
impl Manager {
    /// What the forwarder's content store has done.
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub fn content_store(&mut self) -> Result<CsInfo, ClientError> {
        self.client.decoded_dataset(name_of(Dataset::CsInfo)?, |content| {
            let items: Vec<CsInfo> = decode_list(content)?;
            items.first().copied().ok_or_else(|| DecodeError::new("CsInfo", 0, Rule::Missing))
        })
    }

    /// The forwarder's faces, and what each has carried.
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub fn faces(&mut self) -> Result<Vec<FaceStatus>, ClientError> {
        self.client.list(Dataset::FacesList)
    }
}

fn name_of(dataset: Dataset) -> Result<Name, ClientError> {
    Ok(dataset.name().map_err(Unsendable::from)?)
}

fn once(timeout: Duration) -> RetryPolicy {
    let nanos = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    RetryPolicy { timeout: packet::time::Duration::from_nanos(nanos), attempts: 1 }
}
