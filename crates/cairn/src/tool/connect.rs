//! Which forwarder a tool talks to.

use std::str::FromStr;

use clap::Args;
use client::{BackOffConfig, Client, Connection, Outage, Remote, RemoteError, WhenGone};
use packet::Dialect;
use trust::ccnx::CcnxSigner;

use super::ToolError;
use super::signing::SigningArguments;
use super::units::show_duration;

/// Where the forwarder is.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConnectArguments {
    /// The forwarder: unix:///path, tcp://host:port or udp://host:port (the port may be left out). Without
    /// it, it is what NDN_CLIENT_TRANSPORT or client.conf say, or else the socket of the forwarder on
    /// this host; for names of CCNx, what CCN_LOCAL_TRANSPORT, CCN_LOCAL_SOCKNAME and CCN_LOCAL_PORT say.
    #[arg(long, value_name = "URI", global = true, help_heading = "Forwarder")]
    pub(crate) connect: Option<ForwarderAddress>,
}

/// A forwarder's address as it was given.
#[derive(Clone, Debug)]
pub(crate) struct ForwarderAddress {
    text: String,
    remote: Remote,
}

impl FromStr for ForwarderAddress {
    type Err = RemoteError;

    fn from_str(text: &str) -> Result<Self, RemoteError> {
        Ok(ForwarderAddress { text: text.to_owned(), remote: text.parse()? })
    }
}

impl ForwarderAddress {
    /// Where that is for a dialect, which decides about the port if none was given.
    fn in_dialect(&self, dialect: Dialect) -> Remote {
        self.remote.clone().or_port_of(dialect, &self.text)
    }
}

impl ConnectArguments {
    /// Connects. Should the forwarder go away later, the client connects again and says so.
    pub(crate) fn client(&self) -> Result<Client, ToolError> {
        self.client_in(Dialect::Ndn)
    }

    /// The same, to a forwarder of this dialect.
    pub(crate) fn client_in(&self, dialect: Dialect) -> Result<Client, ToolError> {
        let remote = match &self.connect {
            Some(place) => place.in_dialect(dialect),
            None => Remote::default_forwarder_in(dialect)?,
        };
        let mut client = Client::over(Connection::open_in(dialect, &remote)?);
        client.when_gone(WhenGone::Reconnect { back_off: BackOffConfig::default(), tell: tell_outage });
        Ok(client)
    }

    /// The same, giving commands with the key that `signing` names, and showing its certificates to a
    /// forwarder that asks for them.
    pub(crate) fn client_as(&self, signing: &SigningArguments) -> Result<Client, ToolError> {
        let mut client = self.client()?;
        if let Some(key) = signing.key()? {
            client.sign_commands_with(key.signer());
            client.show_credentials(signing.certificates(&key)?);
        }
        Ok(client)
    }
}

impl ConnectArguments {
    /// The same for an application that registers prefixes with a forwarder of CCNx.
    pub(crate) fn ccnx_client_as(&self, signer: &CcnxSigner) -> Result<Client, ToolError> {
        let mut client = self.client_in(Dialect::Ccnx)?;
        client.sign_requests_with(signer.clone());
        Ok(client)
    }
}

/// Says on standard error what becomes of the forwarder.
pub(crate) fn tell_outage(news: &Outage<'_>) {
    match news {
        Outage::Begun { why, .. } => tell!("cairn: {why}; waiting for it to come back"),
        Outage::Over { remote, lasted } => {
            tell!("cairn: connected to {remote} again, after {}", show_duration(*lasted));
        }
        Outage::NotRestored { what, why } => {
            tell!("cairn: the forwarder is there again, and refuses to {what}: {why}; asking it again");
        }
    }
}
