//! A forwarder's management, for the lab: commands, and the counters that are sampled.

use std::path::Path;
use std::time::{Duration, Instant};

use ::management::{
    Command, ControlParameters, CsInfo, Dataset, FaceStatus, GeneralStatus, RibEntry, StatusCode, decode_list,
};
use client::{Client, ClientError, ManagementRequest, Remote, RetryPolicy, WhenGone};

use packet::name::UriError;
use packet::{DecodeError, Dialect, Rule};

const STATUS: &str = "status/general";
const STORE: &str = "cs/info";
const FACES: &str = "faces/list";

/// How long one question to a forwarder may take that has just started: it may have been lost.
const FIRST_ANSWER: Duration = Duration::from_secs(1);

/// Why a forwarder could not be managed.
#[derive(Debug, thiserror::Error)]
pub enum ManagementError {
    /// It is not there, does not answer, or refuses.
    #[error(transparent)]
    Client(Box<ClientError>),
    /// The answer made no sense.
    #[error("the forwarder's answer to `{what}` makes no sense: {error}")]
    Malformed {
        /// What was asked.
        what: &'static str,
        /// What is wrong with the answer.
        error: DecodeError,
    },
    /// The experiment names what is no name.
    #[error("`{name}` is no name: {error}")]
    Name {
        /// What it says.
        name: String,
        /// What is wrong with it.
        error: UriError,
    },
}

impl From<ClientError> for ManagementError {
    fn from(error: ClientError) -> Self {
        ManagementError::Client(Box::new(error))
    }
}

impl ManagementError {
    /// Whether the forwarder answered, and said no.
    pub fn is_refusal(&self) -> bool {
        matches!(self, ManagementError::Client(error) if matches!(**error, ClientError::Refused { .. }))
    }
}

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
    pub fn open(socket: &Path, timeout: Duration) -> Result<Self, ManagementError> {
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
    /// When it does not within `patience`.
    pub fn answering(socket: &Path, patience: Duration) -> Result<Self, ManagementError> {
        let deadline = Instant::now() + patience;
        loop {
            let answering = Manager::open(socket, FIRST_ANSWER.min(patience))
                .and_then(|mut manager| manager.status().map(|_| manager));
            match answering {
                Ok(mut manager) => {
                    manager.client.set_retry_policy(once(patience));
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
    ) -> Result<ControlParameters, ManagementError> {
        let response = self.client.command(command, parameters)?;
        // A conflict names a face that is there already, which is as good.
        if !response.is_ok() && response.code != StatusCode::Conflict {
            let what = ManagementRequest::of(command, parameters, Dialect::Ndn);
            return Err(ClientError::Refused { what, why: response.into() }.into());
        }
        let malformed = |error| ManagementError::Malformed { what: command.words().1, error };
        response.expect_parameters().map_err(malformed)
    }

    /// Takes earlier answers about the forwarder's counters out of its content store, which would otherwise
    /// answer for a second.
    ///
    /// # Errors
    ///
    /// When it does not answer, or cannot erase.
    pub fn forget_status(&mut self) -> Result<(), ManagementError> {
        let name = Some(status_name()?);
        let parameters = ControlParameters { name, count: Some(64), ..ControlParameters::default() };
        self.command(Command::CsErase, &parameters).map(drop)
    }

    /// Has it routes for all of these prefixes?
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub fn has_routes(&mut self, prefixes: &[String]) -> Result<bool, ManagementError> {
        const LIST: &str = "rib/list";
        let malformed = |error| ManagementError::Malformed { what: LIST, error };
        let content = self.client.dataset(Dataset::RibList.name().map_err(malformed)?)?;
        let routes: Vec<RibEntry> = decode_list(&content).map_err(malformed)?;
        let is_there = |prefix: &String| routes.iter().any(|route| route.prefix.to_string() == *prefix);
        Ok(prefixes.iter().all(is_there))
    }

    /// The forwarder's counters.
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub fn status(&mut self) -> Result<GeneralStatus, ManagementError> {
        let content = self.client.dataset(status_name()?)?;
        GeneralStatus::decode(&content).map_err(|error| ManagementError::Malformed { what: STATUS, error })
    }
}

/// Questions about the content store and the faces.
impl Manager {
    /// What the forwarder's content store has done.
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub fn content_store(&mut self) -> Result<CsInfo, ManagementError> {
        let malformed = |error| ManagementError::Malformed { what: STORE, error };
        let content = self.client.dataset(Dataset::CsInfo.name().map_err(malformed)?)?;
        let items: Vec<CsInfo> = ::management::decode_list(&content).map_err(malformed)?;
        items.first().copied().ok_or_else(|| malformed(DecodeError::new("CsInfo", 0, Rule::Missing)))
    }

    /// The forwarder's faces, and what each has carried.
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub fn faces(&mut self) -> Result<Vec<FaceStatus>, ManagementError> {
        let malformed = |error| ManagementError::Malformed { what: FACES, error };
        let content = self.client.dataset(Dataset::FacesList.name().map_err(malformed)?)?;
        decode_list(&content).map_err(malformed)
    }
}

fn status_name() -> Result<packet::Name, ManagementError> {
    Dataset::StatusGeneral.name().map_err(|error| ManagementError::Malformed { what: STATUS, error })
}

fn once(timeout: Duration) -> RetryPolicy {
    let nanos = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
    RetryPolicy { timeout: packet::time::Duration::from_nanos(nanos), attempts: 1 }
}
