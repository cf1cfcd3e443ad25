//! `cairn link`: links of NDNLP v1 between forwarders of CCNx.

mod run;

use std::process::ExitCode;

use clap::{Args, Subcommand};
use link::v1::Timings;
use packet::ccnx::management::{Collection, NdnldConnection, NdnldVerb};
use packet::ccnx::ndnlp::Flags;
use packet::time::Duration;
use serde_json::json;

use crate::tool::connect::ConnectArguments;
use crate::tool::ndnld::{LinkControl, line, usual};
use crate::tool::output;
use crate::tool::signing::SigningArguments;
use crate::tool::units::positive_duration;
use crate::tool::{ToolError, finish};

/// Make, list and destroy links of NDNLP v1 (CCNx).
#[derive(Debug, Args)]
#[command(after_help = "\
Speaks ndnld's control protocol, to a Cairn node, or beside ccnd to `cairn link run` or ndnld, at the socket of the forwarder of CCNx. Both ends must make the \
link. What cannot be done gets no answer there, so it fails after 5 s: an address or interface that does not exist, a face that is no \
link. A binary or link of the name `ndnldc` takes the options of that program instead.

Examples:
  cairn link connect udp 192.0.2.1
  cairn link connect ether 08:00:27:01:01:01 --interface eth1 --acknowledged
  cairn link list
  cairn link disconnect 11

Exit codes: 0 done; 1 not done; 2 wrong usage.")]
pub(crate) struct LinkArguments {
    #[command(subcommand)]
    command: LinkCommand,
    #[command(flatten)]
    signing: SigningArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

#[derive(Debug, Subcommand)]
enum LinkCommand {
    /// Carry the links of a forwarder that has none of its own, as ndnld does for ccnd.
    Run(run::RunArguments),
    /// Make a link, and print the number of its face.
    Connect(ConnectLink),
    /// Destroy a link.
    Disconnect {
        /// The number of its face.
        face: u32,
    },
    /// List the links.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// The shortest time that a request can say.
const MILLISECOND: Duration = Duration::from_millis(1);

#[derive(Debug, Args)]
struct ConnectLink {
    /// What carries the link; ip is IP without UDP (protocol 150), which ndnld does not have.
    #[arg(value_parser = ["udp", "ip", "ether"])]
    over: String,
    /// The other end: an address of IPv4 or IPv6, or of Ethernet.
    host: String,
    /// The interface, for Ethernet.
    #[arg(short, long, value_name = "NAME", required_if_eq("over", "ether"))]
    interface: Option<String>,
    /// Have every packet acknowledged, and send it again if it is not.
    #[arg(short, long)]
    acknowledged: bool,
    /// Packets that are kept to be sent again.
    #[arg(long, value_name = "PACKETS", default_value_t = Timings::PAPER.sent_packets_capacity)]
    sent_packets: u32,
    /// How often a packet is sent again.
    #[arg(long, value_name = "COUNT", default_value_t = Timings::PAPER.retry_count)]
    retries: u32,
    /// How long to wait for an acknowledgement.
    #[arg(long, value_name = "TIME", value_parser = positive_duration, default_value = "1s")]
    retransmit: Duration,
    /// How long an acknowledgement may wait for others.
    #[arg(long, value_name = "TIME", value_parser = positive_duration, default_value = "300ms")]
    acknowledge: Duration,
}

impl LinkArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.manage())
    }

    fn manage(&self) -> Result<ExitCode, ToolError> {
        if let LinkCommand::Run(run) = &self.command {
            return run.run(&self.signing, &self.connect);
        }
        let signer = self.signing.ccnx_signer()?;
        let client = self.connect.ccnx_client_as(&signer)?;
        let mut control = LinkControl::new(client, signer)?;
        match &self.command {
            LinkCommand::Run(_) => {}
            LinkCommand::Connect(wanted) => {
                let content = ask(&mut control, NdnldVerb::Connect, &wanted.request())?;
                output::line(NdnldConnection::decode(&content)?.face_id.unwrap_or_default())?;
            }
            LinkCommand::Disconnect { face } => {
                let request = NdnldConnection { face_id: Some(*face), ..usual() };
                ask(&mut control, NdnldVerb::Disconnect, &request)?;
            }
            LinkCommand::List { json } => {
                show(&ask(&mut control, NdnldVerb::ListConnections, &usual())?, *json)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl ConnectLink {
    fn request(&self) -> NdnldConnection<'_> {
        let timings = Timings {
            sent_packets_capacity: self.sent_packets,
            retry_count: self.retries,
            retransmit_time: self.retransmit.max(MILLISECOND),
            acknowledge_time: self.acknowledge.max(MILLISECOND),
        };
        NdnldConnection {
            lower_protocol: Some(&self.over),
            host: Some(&self.host),
            local_interface: self.interface.as_deref(),
            flags: Some(if self.acknowledged { Flags::ACK_REQUESTED } else { Flags::NONE }),
            face_id: Some(0),
            ..timings.message()
        }
    }
}

fn ask(
    control: &mut LinkControl,
    verb: NdnldVerb,
    request: &NdnldConnection<'_>,
) -> Result<Vec<u8>, ToolError> {
    match control.ask(verb, request)? {
        Some(data) => Ok(data.content().to_vec()),
        None => Err(ToolError::other(
            "no answer within 5 s: there is no ndnld, or it cannot do that (an address, interface or face that does not exist)",
        )),
    }
}

fn show(content: &[u8], as_json: bool) -> Result<(), ToolError> {
    let mut list = Vec::new();
    for item in Collection::decode(content)?.items() {
        let connection = NdnldConnection::decode(item)?;
        if as_json {
            list.push(json!({
                "face": connection.face_id,
                "over": connection.lower_protocol,
                "host": connection.host,
                "interface": connection.local_interface,
                "acknowledged": connection.flags.is_some_and(|flags| flags.ack_requested()),
                "sent_packets": connection.sent_packets_capacity,
                "retries": connection.retransmit_count,
                "retransmit_ms": connection.retransmit_millis,
                "acknowledge_ms": connection.acknowledge_millis,
                "status": connection.status,
            }));
        } else {
            output::line(output::printable(&line(&connection)))?;
        }
    }
    if as_json {
        output::json(&json!(list))?;
    }
    Ok(())
}
