//! `cairn peek`: one Interest, one answer.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use client::{Clock, Event};
use flow::verify::Verifier as _;
use packet::ccnx::{AnswerOriginKind, InterestFields, markers};
use packet::ndn::InterestBuilder;
use packet::random::Random;
use packet::time::Duration;
use packet::{Data, Interest, LinkHeader, NackReason, Name};
use serde_json::json;
use trust::validator::{CertificateFetchError, Subject};

use crate::tool::ccnx::{self, STALE_OR_NOT, ccnx_interest};
use crate::tool::connect::ConnectArguments;
use crate::tool::trusting::{RevocationListArguments, TrustArguments};
use crate::tool::units::{duration, show_duration};
use crate::tool::{ToolError, finish, input, output};
use packet::AnyName;
use packet::name::name_in_dialect;

/// Ask for one Data and print it.
#[derive(Debug, Args)]
#[command(after_help = "\
Prints the whole packet as it is on the wire, its content with --payload, what is in it with --json. A Nack is printed as NDNLPv2 Nack \
header, its reason as a word with --payload.

An object of CCNx (ccnx:/…) is printed only if its publisher has signed it; --anchor names the key that counts.

Examples:
  cairn peek -p /lab/hello                  the content
  cairn peek -p ccnx:/hello                 the same from a forwarder of CCNx
  cairn peek --prefix --fresh --json /lab   whatever there is under /lab, described
  cairn peek -p --anchor root.cert /lab/x   refused unless somebody trusted signed it

Exit codes, as of ndnpeek: 0 Data; 1 failure; 2 wrong usage; 3 timeout; 4 Nack; 5 Data that is not trusted.")]
pub(crate) struct PeekArguments {
    /// The name to ask for; `ccnx:/…` for an object of CCNx.
    name: AnyName,
    /// Data with a longer name may answer (CanBePrefix).
    #[arg(short = 'P', long)]
    prefix: bool,
    /// Caches must not answer with what is no longer fresh (MustBeFresh).
    #[arg(short, long)]
    fresh: bool,
    /// A name under which the network may look (ForwardingHint); may be given several times.
    #[arg(short = 'F', long, value_name = "NAME")]
    hint: Vec<Name>,
    /// InterestLifetime.
    #[arg(short, long, value_name = "TIME", value_parser = duration, default_value = "4s")]
    lifetime: Duration,
    /// How many hops the Interest may take.
    #[arg(short = 'H', long, value_name = "HOPS")]
    hop_limit: Option<u8>,
    /// ApplicationParameters, in base64.
    #[arg(short = 'A', long, value_name = "BASE64", conflicts_with = "app_params_file")]
    app_params: Option<String>,
    /// ApplicationParameters from a file; - for standard input.
    #[arg(long, value_name = "FILE")]
    app_params_file: Option<PathBuf>,
    /// How long to wait; as long as the Interest lives if it is left out.
    #[arg(short = 'w', long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// Print only the content.
    #[arg(short, long)]
    payload: bool,
    /// Print what is in the packet, as JSON.
    #[arg(long, conflicts_with = "payload")]
    json: bool,
    /// Tell on standard error what happens.
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    trust: TrustArguments,
    #[command(flatten)]
    lists: RevocationListArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

impl PeekArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.peek())
    }

    fn peek(&self) -> Result<ExitCode, ToolError> {
        let mut client = self.connect.client_in(self.name.dialect)?;
        let interest = if self.name.is_of_ccnx() { self.ccnx_interest()? } else { self.ndn_interest()? };
        let wanted = client.express_as_is(interest, self.timeout.unwrap_or(self.lifetime))?;
        loop {
            match client.next(None)? {
                Some(Event::Data { id, data, round_trip, .. }) if id == wanted => {
                    if self.verbose {
                        tell!("DATA, RTT: {}", show_duration(round_trip));
                    }
                    return match self.validate(&mut client, &data)? {
                        Ok(signer) => self.print(&data, signer.as_deref()),
                        Err(refusal) => {
                            tell!("cairn: refused: {refusal}");
                            Ok(ExitCode::from(5))
                        }
                    };
                }
                Some(Event::Nack { id, reason, .. }) if id == wanted => return self.print_nack(reason),
                Some(Event::Timeout { id }) if id == wanted => {
                    if self.verbose {
                        tell!("TIMEOUT");
                    }
                    return Ok(ExitCode::from(3));
                }
                Some(_) => {}
                None => return Err(ToolError::other("interrupted")),
            }
        }
    }

    fn ndn_interest(&self) -> Result<Interest, ToolError> {
        let mut interest = InterestBuilder::new(self.name.name.clone())
            .can_be_prefix(self.prefix)
            .must_be_fresh(self.fresh)
            .forwarding_hint(self.hint.clone())
            .lifetime(self.lifetime)
            .nonce(Random::from_seed(Clock::seed()).next_u32());
        if let Some(hops) = self.hop_limit {
            interest = interest.hop_limit(hops);
        }
        if let Some(text) = &self.app_params {
            let bytes = trust::text::from_base64(text)
                .map_err(|error| ToolError::other(format!("--app-params: {error}")))?;
            interest = interest.application_parameters(bytes);
        } else if let Some(path) = &self.app_params_file {
            interest = interest.application_parameters(input(Some(path))?);
        }
        Ok(interest.build()?)
    }

    /// What is not of this dialect is refused, so that nobody believes that it was heeded.
    fn ccnx_interest(&self) -> Result<Interest, ToolError> {
        let of_ndn = [
            ("--hint", !self.hint.is_empty()),
            ("--hop-limit", self.hop_limit.is_some()),
            ("--app-params", self.app_params.is_some() || self.app_params_file.is_some()),
            ("--revocations-from", !self.lists.revocations_from.is_empty()),
        ];
        if let Some((option, _)) = of_ndn.iter().find(|(_, is_given)| *is_given) {
            return Err(ToolError::other(format!("{option}: an Interest of CCNx has no such field")));
        }
        let fields = InterestFields {
            // The object's digest is a component behind its name.
            max_suffix_components: (!self.prefix).then_some(1),
            answer_origin_kind: AnswerOriginKind::new(STALE_OR_NOT).filter(|_| !self.fresh),
            ..InterestFields::default()
        };
        ccnx_interest(&self.name.name, fields, self.lifetime)
    }

    /// Who signed, if anybody is trusted; why the Data is refused.
    fn validate(
        &self,
        client: &mut client::Client,
        data: &Data,
    ) -> Result<Result<Option<String>, String>, ToolError> {
        if data.ccnx().is_some() {
            let mut verifier = self.trust.publisher_verifier()?;
            let refusal = ccnx::verify(client, &mut verifier, data)?;
            let summary = verifier.summary();
            let signer = summary.signers.into_iter().next().filter(|_| summary.trusted);
            return Ok(refusal.map_or(Ok(signer), |refusal| Err(refusal.to_string())));
        }
        let revoked = match self.lists.records(client, &self.trust)? {
            Ok(revoked) => revoked,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let Some(mut validator) = self.trust.validator_that_knows(revoked)? else { return Ok(Ok(None)) };
        validator.validate(client.connection().clock().unix(), Subject::Data(data.clone()));
        loop {
            if let Some(outcome) = validator.poll_outcome() {
                let verdict = outcome.verdict.map(|signer| Some(signer.name().to_string()));
                return Ok(verdict.map_err(|refusal| refusal.to_string()));
            }
            let Some(asked) = validator.poll_interest() else {
                return Err(ToolError::other("interrupted"));
            };
            let lifetime = asked.lifetime();
            let name = asked.name().to_name();
            let wanted = client.express_as_is(asked, lifetime)?;
            loop {
                match client.next(None)? {
                    Some(Event::Data { id, data, .. }) if id == wanted => {
                        validator.handle_data(client.connection().clock().unix(), &data);
                        break;
                    }
                    Some(Event::Nack { id, reason, .. }) if id == wanted => {
                        validator.handle_failure(name.as_ref(), CertificateFetchError::Nack(reason));
                        break;
                    }
                    Some(Event::Timeout { id }) if id == wanted => {
                        validator.handle_failure(name.as_ref(), CertificateFetchError::Timeout);
                        break;
                    }
                    Some(_) => {}
                    None => return Err(ToolError::other("interrupted")),
                }
            }
        }
    }

    fn print(&self, data: &Data, signer: Option<&str>) -> Result<ExitCode, ToolError> {
        if let Some(object) = data.ccnx().filter(|_| self.json) {
            output::json(&json!({
                "name": name_in_dialect(data.dialect(), data.name()),
                "type": format!("{:?}", object.kind()).to_lowercase(),
                "freshness_s": object.freshness_seconds(),
                "final_block": object.final_block_id().and_then(markers::parse_segment),
                "content_bytes": data.content().len(),
                "packet_bytes": data.wire().len(),
                "publisher": packet::hex::encode(object.publisher()),
                "trusted_signer": signer,
            }))?;
        } else if self.json {
            let view = data.ndn();
            let info = view.and_then(|view| view.signature_info());
            let locator = info.and_then(|info| info.key_locator).map(|locator| match locator {
                packet::ndn::KeyLocator::Name(name) => name.to_string(),
                packet::ndn::KeyLocator::Digest(digest) => packet::hex::encode(digest),
            });
            output::json(&json!({
                "name": data.name().to_string(),
                "content_type": view.map(|view| view.content_type().0),
                "freshness_ms": data.freshness().as_millis(),
                "final_block": view.and_then(|view| view.final_block()).and_then(|component| component.number()),
                "content_bytes": data.content().len(),
                "packet_bytes": data.wire().len(),
                "signature_type": info.map(|info| info.signature_type.0),
                "key_locator": locator,
                "trusted_signer": signer,
            }))?;
        } else if self.payload {
            output::bytes(data.content())?;
        } else {
            output::bytes(data.wire())?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn print_nack(&self, reason: NackReason) -> Result<ExitCode, ToolError> {
        if self.verbose {
            tell!("NACK, reason {reason}");
        }
        if self.payload {
            output::line(reason)?;
        } else if self.json {
            output::json(&json!({ "nack": reason.as_str() }))?;
        } else {
            let header = LinkHeader::default();
            let fields = packet::ndn::lp::LpPacketView {
                nack: Some(reason),
                ..packet::ndn::lp::LpPacketView::with_header(&header)
            };
            let mut bytes = Vec::new();
            fields.encode(&mut bytes);
            // Only what is inside the LpPacket: the Nack header.
            let mut reader = packet::ndn::tlv::Reader::new(&bytes, "LpPacket");
            output::bytes(reader.element()?.map(|element| element.value).unwrap_or_default())?;
        }
        Ok(ExitCode::from(4))
    }
}
