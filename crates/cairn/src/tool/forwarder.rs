//! Managing a forwarder: commands, what it knows about itself, and finding faces.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use client::{Client, ClientError, ManagementRequest, WhenGone};
use management::{
    Command, ControlParameters, ControlResponse, Dataset, DatasetItem, FaceQueryFilter, FaceStatus,
    decode_list,
};
use packet::{DecodeError, Name};
use rustix::event::{Timespec, poll};

use super::connect::ConnectArguments;
use super::interrupt::Interrupt;
use super::signing::SigningArguments;
use super::{ToolError, finish};

/// How long to wait until a forwarder that went away is looked for again.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// Which forwarder to manage, and as whom.
#[derive(Clone, Debug, Args)]
pub(crate) struct ForwarderArguments {
    #[command(flatten)]
    pub(crate) connect: ConnectArguments,
    #[command(flatten)]
    pub(crate) signing: SigningArguments,
    /// Print JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// A forwarder that is being managed.
#[derive(Debug)]
pub(crate) struct Forwarder {
    pub(crate) client: Client,
    /// Whether what is printed is JSON.
    pub(crate) json: bool,
}

impl ForwarderArguments {
    /// Connects.
    pub(crate) fn forwarder(&self) -> Result<Forwarder, ToolError> {
        let mut client = self.connect.client_as(&self.signing)?;
        // What was asked before is of no interest to the next forwarder, nor what it said to whoever asks
        // that one.
        client.when_gone(WhenGone::Fail);
        Ok(Forwarder { client, json: self.json })
    }

    /// Connects, and does something with the forwarder.
    pub(crate) fn manage(&self, act: impl FnOnce(&mut Forwarder) -> Result<(), ToolError>) -> ExitCode {
        finish(self.forwarder().and_then(|mut forwarder| act(&mut forwarder)).map(|()| ExitCode::SUCCESS))
    }

    /// Whether anything was said that concerns the connection.
    pub(crate) fn names_a_forwarder(&self) -> bool {
        self.connect.connect.is_some() || self.signing.sign != "digest"
    }
}

impl Forwarder {
    /// Gives a command; gives its answer, a refusal too.
    pub(crate) fn try_command(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<ControlResponse, ToolError> {
        let (module, _) = command.words();
        if module != "rib" {
            self.must_be_here()?;
        }
        Ok(self.client.command(command, parameters)?)
    }

    /// Forwarders take only routes from other hosts; whatever else would be dropped without an answer.
    fn must_be_here(&self) -> Result<(), ToolError> {
        let remote = self.client.connection().remote();
        if remote.is_local() {
            return Ok(());
        }
        let problem = "is on another host, from where only routes to this one can be added and removed, if it allows that";
        Err(ToolError::other(format!("the forwarder at {remote} {problem}; run this on its host")))
    }

    /// Gives a command that must succeed; gives the values that are in force now.
    pub(crate) fn command(
        &mut self,
        command: Command,
        parameters: &ControlParameters,
    ) -> Result<ControlParameters, ToolError> {
        let response = self.try_command(command, parameters)?;
        accepted(command, response)
    }

    /// If what happened is what happens when a forwarder ends, or hangs: connects anew as soon as that is
    /// possible, and says so; returns at a signal, too.
    ///
    /// # Errors
    /// Anything else that happened.
    pub(crate) fn await_return(&mut self, why: ToolError, interrupt: &Interrupt) -> Result<(), ToolError> {
        match &why {
            ToolError::Client(
                error @ (ClientError::Closed(_) | ClientError::Socket(..) | ClientError::NoAnswer { .. }),
            ) => tell!("cairn: {error}; waiting for it to come back"),
            _ => return Err(why),
        }
        let pause = Timespec { tv_sec: 0, tv_nsec: LOOK_AGAIN.subsec_nanos().into() };
        while !interrupt.came() {
            if self.client.reconnect().is_ok() {
                tell!("cairn: connected to {} again", self.client.connection().remote());
                break;
            }
            // Waits for nothing but time, and for signals.
            let _ = poll(&mut [], Some(&pause));
        }
        Ok(())
    }

    /// What a dataset says, as `decode` reads it.
    pub(crate) fn dataset<T>(
        &mut self,
        name: Name,
        decode: impl FnOnce(&[u8]) -> Result<T, DecodeError>,
    ) -> Result<T, ToolError> {
        self.must_be_here()?;
        Ok(self.client.decoded_dataset(name, decode)?)
    }

    /// The items of a dataset.
    pub(crate) fn list<T: DatasetItem>(&mut self, dataset: Dataset) -> Result<Vec<T>, ToolError> {
        self.must_be_here()?;
        Ok(self.client.list(dataset)?)
    }

    /// The faces that a filter selects.
    pub(crate) fn faces(&mut self, filter: &FaceQueryFilter) -> Result<Vec<FaceStatus>, ToolError> {
        if *filter == FaceQueryFilter::default() {
            return self.list(Dataset::FacesList);
        }
        self.dataset(Dataset::faces_query(filter)?, decode_list)
    }
}

/// The parameters in the answer to a command, if it succeeded.
pub(crate) fn accepted(command: Command, response: ControlResponse) -> Result<ControlParameters, ToolError> {
    Ok(client::accepted(ManagementRequest::Command { command, name: None }, response)?)
}
