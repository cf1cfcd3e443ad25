//! `cairn link run`: links of NDNLP v1 beside a forwarder that has none.

use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Args;
use client::Event;
use flow::source::{CcnxDataSigner, DataSigner as _};
use packet::time::Duration;

use crate::link_adaptor::control::Control;
use crate::link_adaptor::worker::Worker;
use crate::link_adaptor::{Links, Sockets};
use crate::tool::ToolError;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::leave;
use crate::tool::signing::SigningArguments;

/// How long an answer counts as fresh, as with ndnld.
const FRESHNESS: Duration = Duration::from_secs(5);
/// How often it is looked whether somebody wants the adaptor to end.
const GLANCE: Duration = Duration::from_millis(100);

#[derive(Debug, Args)]
#[command(after_help = "\
For a forwarder without links of its own, such as ccnd; a Cairn node has them itself. Each link is a face of the forwarder. Nothing is kept \
when the adaptor ends: make the links again. Links over Ethernet need CAP_NET_RAW.

Examples:
  cairn link run &
  cairn link connect udp 192.0.2.1            or ndnldc -c -p udp -h 192.0.2.1
  ccndc add ccnx:/far face 11

Exit codes: 0 stopped by Ctrl-C; 1 failure; 2 wrong usage.")]
pub(super) struct RunArguments {
    /// The UDP socket of all links over UDP. Neighbours expect port 29695.
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
        let worker = Worker::start(Links::new(Sockets::new(self.udp)))?;
        let mut control = Control { forwarder, ccnd_id, signer: signer.clone(), worker };
        let clock = client.connection().clock();
        let mut answers = CcnxDataSigner::new(signer, move || clock.unix());
        client.register(&control.prefix()?)?;
        tell!(
            "links of {}; ask for them with cairn link connect, or ndnldc -c",
            client.connection().remote()
        );
        while !interrupt.came() {
            let glance = client.now() + GLANCE;
            let Some(Event::Interest { interest, header }) = client.next(Some(glance))? else { continue };
            if let Some(content) = control.handle_interest(&interest, clock.unix().into()) {
                client.reply(&answers.sign_content(interest.name(), &content, Some(FRESHNESS))?, &header)?;
                client.flush()?;
            }
        }
        leave(&mut client);
        Ok(ExitCode::SUCCESS)
    }
}
