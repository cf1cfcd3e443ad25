//! The forwarder's management protocol, from a client that waits for each answer.

use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ::management::{
    Command, ControlParameters, ControlResponse, Dataset, DatasetFetch, GeneralStatus, Reach,
};
use packet::ndn::{SignatureInfoBuilder, SignatureType};
use packet::random::Random;
use packet::{Interest, Packet};
use sha2::{Digest as _, Sha256};

use super::connection::Connection;

/// Why a forwarder could not be managed.
#[derive(Debug, thiserror::Error)]
pub enum ManagementError {
    /// The connection failed.
    #[error("the forwarder cannot be reached: {0}")]
    Connection(#[from] io::Error),
    /// No answer in time.
    #[error("the forwarder did not answer `{0}` in time")]
    Timeout(String),
    /// It said no.
    #[error("the forwarder refused `{what}`: {code} {text}")]
    Refused {
        /// What was asked.
        what: String,
        /// Its code.
        code: u64,
        /// Its words.
        text: String,
    },
    /// The answer made no sense.
    #[error("the answer to `{0}` makes no sense: {1}")]
    Malformed(String, String),
}

/// A client of the management protocol with a connection of its own.
#[derive(Debug)]
pub struct Manager {
    connection: Connection,
    random: Random,
    patience: Duration,
}

impl Manager {
    /// Connects to the forwarder at `socket`, waiting until `deadline` for it to be there.
    ///
    /// # Errors
    ///
    /// When it is not.
    pub fn open(
        socket: &Path,
        deadline: Instant,
        patience: Duration,
        seed: u64,
    ) -> Result<Self, ManagementError> {
        let connection = Connection::open(socket, deadline)?;
        Ok(Manager { connection, random: Random::from_seed(seed), patience })
    }

    /// Connects, and waits until the forwarder answers, too: its management comes a little later than its
    /// socket.
    ///
    /// # Errors
    ///
    /// When it does not within `patience`.
    pub fn answering(socket: &Path, patience: Duration, seed: u64) -> Result<Self, ManagementError> {
        let deadline = Instant::now() + patience;
        let mut manager = Manager::open(socket, deadline, patience, seed)?;
        loop {
            match manager.status() {
                Ok(_) => return Ok(manager),
                Err(error) if Instant::now() > deadline => return Err(error),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Does something with the forwarder.
    ///
    /// # Errors
    ///
    /// When it does not answer, or refuses.
    pub fn command(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<ControlParameters, ManagementError> {
        let what = format!("{command:?}");
        let interest = command_interest(command, parameters, &mut self.random)
            .map_err(|error| ManagementError::Malformed(what.clone(), error))?;
        let data = self.exchange(&interest, &what)?;
        let response = ControlResponse::decode(data.content());
        let response =
            response.map_err(|error| ManagementError::Malformed(what.clone(), error.to_string()))?;
        // 409 names a face that is there already, which is as good.
        if !response.is_ok() && response.code != ::management::StatusCode::Conflict {
            return Err(ManagementError::Refused { what, code: response.code.number(), text: response.text });
        }
        response.expect_parameters().map_err(|error| ManagementError::Malformed(what, error.to_string()))
    }

    /// Takes earlier answers about the forwarder's counters out of its content store, which would otherwise
    /// answer for a second.
    ///
    /// # Errors
    ///
    /// When it does not answer, or cannot erase.
    pub fn forget_status(&mut self) -> Result<(), ManagementError> {
        let name = Dataset::StatusGeneral.name();
        let name =
            name.map_err(|error| ManagementError::Malformed("cs/erase".to_owned(), error.to_string()))?;
        let parameters =
            ControlParameters { name: Some(name), count: Some(64), ..ControlParameters::default() };
        self.command(Command::CsErase, &parameters).map(drop)
    }

    /// The forwarder's counters.
    ///
    /// # Errors
    ///
    /// When it does not answer in time.
    pub fn status(&mut self) -> Result<GeneralStatus, ManagementError> {
        let what = "status/general";
        let malformed = |error: String| ManagementError::Malformed(what.to_owned(), error);
        let name = Dataset::StatusGeneral.name().map_err(|error| malformed(error.to_string()))?;
        let mut fetch = DatasetFetch::new(name);
        loop {
            let interest = fetch.interest().map_err(|error| malformed(error.to_string()))?;
            let interest = interest.nonce(self.random.next_u32());
            let interest = interest.build().map_err(|error| malformed(error.to_string()))?;
            let data = self.exchange(&interest, what)?;
            if let Some(content) = fetch.receive(&data).map_err(|error| malformed(error.to_string()))? {
                return GeneralStatus::decode(&content).map_err(|error| malformed(error.to_string()));
            }
        }
    }

    /// Sends an Interest and waits for its Data.
    fn exchange(&mut self, interest: &Interest, what: &str) -> Result<packet::Data, ManagementError> {
        let deadline = Instant::now() + self.patience;
        self.connection.send_interest(interest);
        while Instant::now() < deadline {
            self.connection.flush()?;
            self.connection.wait(deadline)?;
            self.connection.receive()?;
            while let Some((packet, _)) = self.connection.next_packet()? {
                match packet {
                    Packet::Data(data) if interest.name().is_prefix_of(data.name()) => return Ok(data),
                    Packet::Nack(nacked, reason) if nacked.name() == interest.name() => {
                        let text = reason.to_string();
                        return Err(ManagementError::Refused { what: what.to_owned(), code: 0, text });
                    }
                    _ => {}
                }
            }
        }
        Err(ManagementError::Timeout(what.to_owned()))
    }
}

/// A signed command Interest.
pub(super) fn command_interest(
    command: Command,
    parameters: &ControlParameters,
    random: &mut Random,
) -> Result<Interest, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
    let info = SignatureInfoBuilder::new(SignatureType::DIGEST_SHA256)
        .nonce(random.next_u64())
        .time_ms(u64::try_from(now).unwrap_or(u64::MAX));
    command
        .interest(Reach::Localhost, parameters)
        .map_err(|error| error.to_string())?
        .nonce(random.next_u32())
        .build_signed(&info, |signed| Sha256::digest(signed).to_vec())
        .map_err(|error| error.to_string())
}
