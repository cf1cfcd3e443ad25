//! `cairn link run`: links of NDNLP v1 beside a forwarder that has none.

#[cfg(test)]
mod tests;

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use clap::Args;
use client::{Event, Remote};
use flow::source::{CcnxDataSigner, DataSigner as _};
use node::ndnld::adaptor::{self, Adaptor, Forwarder};
use packet::time::Duration;
use trust::ccnx::ndnld_control_prefix;

use crate::tool::ToolError;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::leave;
use crate::tool::signing::SigningArguments;

/// How long an answer counts as fresh, as with ndnld.
const FRESHNESS: Duration = Duration::from_secs(5);
/// How long a connection to the forwarder may take.
const CONNECT_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(3);
/// How often it is looked whether somebody wants the adaptor to end.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
#[command(after_help = "\
For a forwarder without links of its own, such as ccnd; a Cairn node has them itself. Each link is a face of the forwarder. Nothing is kept \
when the adaptor ends: make the links again. Links over IP alone (protocol 150) and over Ethernet need CAP_NET_RAW.

Examples:
  cairn link run &
  cairn link connect udp 192.0.2.1            or ndnldc -c -p udp -h 192.0.2.1
  ccndc add ccnx:/far face 11

Exit codes: 0 stopped by Ctrl-C; 1 failure; 2 wrong usage.")]
pub(super) struct RunArguments {
    /// The UDP socket of all links over UDP. Neighbours expect port 29695. Links over IP alone have its
    /// address, if that is of their version.
    #[arg(long, value_name = "ADDRESS", default_value = "[::]:29695")]
    udp: SocketAddr,
}

impl RunArguments {
    pub(super) fn run(
        &self,
        signing: &SigningArguments,
        connect: &ConnectArguments,
    ) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let signer = signing.ccnx_signer()?;
        let mut client = connect.ccnx_client_as(&signer)?;
        let ccnd_id = client.ccnd_id()?.ok_or_else(|| ToolError::other("there is no key to sign with"))?;
        let forwarder = client.connection().remote().clone();
        let connect = Box::new(move || connection(&forwarder));
        let beside = Forwarder { ccnd_id, signer: signer.clone(), connect };
        let mut adaptor = Adaptor::start(self.udp, beside, |notice| match notice {
            adaptor::Event::Link(text) => tell!("{text}"),
            adaptor::Event::Failure(text) => tell!("cairn: {text}"),
        })?;
        let clock = client.connection().clock();
        let mut answers = CcnxDataSigner::new(signer, move || clock.unix());
        client.register(&ndnld_control_prefix(&ccnd_id)?)?;
        tell!(
            "links of {}; ask for them with cairn link connect, or ndnldc -c",
            client.connection().remote()
        );
        while !interrupt.came() {
            let until = client.now() + CHECK_INTERVAL;
            let Some(Event::Interest { interest, header }) = client.next(Some(until))? else { continue };
            if let Some(content) = adaptor.handle_interest(&interest, clock.unix().into()) {
                // The asker's name may leave no room for an answer, and no link is to end for that.
                match answers.sign_content(interest.name(), &content, Some(FRESHNESS)) {
                    Ok(data) => client.reply(&data, &header)?,
                    Err(error) => tell!("cairn: a request for links cannot be answered: {error}"),
                }
                client.flush()?;
            }
        }
        leave(&mut client);
        Ok(ExitCode::SUCCESS)
    }
}

/// Another connection to the forwarder, for a link.
fn connection(forwarder: &Remote) -> io::Result<OwnedFd> {
    match forwarder {
        Remote::Unix(path) => Ok(UnixStream::connect(path)?.into()),
        Remote::Tcp(host) => {
            let address = host.addresses()?.next().ok_or_else(|| io::Error::other("no such host"))?;
            let stream = TcpStream::connect_timeout(&address, CONNECT_TIMEOUT)?;
            stream.set_nodelay(true)?;
            Ok(stream.into())
        }
        Remote::Udp(_) => {
            Err(io::Error::other("links need a forwarder that is reached over unix:// or tcp://"))
        }
    }
}
