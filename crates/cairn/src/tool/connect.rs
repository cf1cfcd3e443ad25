//! Which forwarder a tool talks to.

use clap::Args;
use client::{BackOffConfig, Client, Outage, Remote, WhenGone};

use super::ToolError;
use super::signing::SigningArguments;
use super::units::show_duration;

/// Where the forwarder is.
#[derive(Clone, Debug, Args)]
pub(crate) struct ConnectArguments {
    /// The forwarder: unix:///path, tcp://host:port or udp://host:port (the port may be left out). Without
    /// it, it is what NDN_CLIENT_TRANSPORT or client.conf say, or else the socket of the forwarder on
    /// this host.
    #[arg(long, value_name = "URI", global = true, help_heading = "Forwarder")]
    pub(crate) connect: Option<Remote>,
}

impl ConnectArguments {
    /// Connects. Should the forwarder go away later, the client connects again and says so.
    pub(crate) fn client(&self) -> Result<Client, ToolError> {
        let remote = match &self.connect {
            Some(remote) => remote.clone(),
            None => Remote::default_forwarder()?,
        };
        let mut client = Client::connect(&remote)?;
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
