//! `cairn get`: fetches an object.

mod arguments;
mod listing;
mod output;
mod refetch;
mod resume_point;
mod space_left;
mod writer;

use std::io::{self, BufWriter, Seek as _, SeekFrom};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use client::{Client, FetchFailure, FetchOptions};
use flow::source::folder::LISTING;
use flow::verify::VerificationError;
use flow::{Discovery, FetchConfig, FetchError, Fetcher, TransferConfig, Verification, VerifiedFetch};
use packet::AnyName;
use packet::name::name_in_dialect;
use packet::time::Duration;
use packet::{Dialect, Name};
use serde_json::json;
use trust::Revocations;

use arguments::{RequestArguments, TargetArguments};
use listing::ListingWriter;
use output::{standard_output, writer};
use refetch::{RefetchPlan, RefusedPackets};
use resume_point::{ResumePoint, beside, resume_point};
use space_left::SpaceLeft;
use writer::{Target, Writer};

use super::put::Naming;
use crate::tool::connect::ConnectArguments;
use crate::tool::files;
use crate::tool::interrupt::Interrupt;
use crate::tool::progress::Progress;
use crate::tool::trusting::{RevocationListArguments, TrustArguments};
use crate::tool::units::{show_duration, show_size};
use crate::tool::{ToolError, finish, output as print};

/// Fetch an object and write it to standard output or to a file.
#[derive(Debug, Args)]
#[command(after_help = "\
Without a version in the name the latest is found by metadata, or, if nobody answers that, by asking for the name as a prefix. Understands \
what `cairn put`, ndnserve (ndnputchunks), `ndnd put`, file servers and repositories publish.

What is checked: digests always. With --anchor or --rules every packet's signature, up to a trust anchor; with --manifest one signature \
and a hash for each segment. Without an anchor it says that it does not know who signed. No packet that is refused is written out.

The latest version of an object of CCNx is found by asking for later and later ones. Every signature is checked by its publisher's key, which comes with it or is fetched; --anchor names the key that counts.

Examples:
  cairn get /lab/file > file
  cairn get ccnx:/lab/file > file                 from a forwarder of CCNx
  cairn get /lab/file -o file --anchor root.cert
  cairn get /lab/file --anchor root.cert --revocations-from /lab/REVOKED
  cairn get /lab/file -o file --resume            goes on where an earlier run was broken off
  cairn get --list /lab/folder                    what is in a folder of `cairn serve`

Exit codes, as of ndnget: 0 complete; 1 failure; 2 wrong usage; 3 the producer refuses; 4 the output cannot be opened; 5 not trusted, \
or damaged; 130 interrupted.")]
pub(crate) struct GetArguments {
    /// The name, with its version or without; `ccnx:/…` for an object of CCNx.
    name: AnyName,
    #[command(flatten)]
    target: TargetArguments,
    #[command(flatten)]
    request: RequestArguments,
    /// How the version is found.
    #[arg(short = 'D', long, value_enum, default_value = "auto")]
    discovery: FindBy,
    /// How segment numbers are written, if the version does not tell.
    #[arg(short = 'N', long, value_enum)]
    naming: Option<Naming>,
    /// Check by the object's manifest instead of by each segment's signature.
    #[arg(long)]
    manifest: bool,
    /// No progress bar and no summary.
    #[arg(short, long)]
    quiet: bool,
    /// The summary as JSON, on standard error.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    trust: TrustArguments,
    #[command(flatten)]
    lists: RevocationListArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

/// How the version is found.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum FindBy {
    /// By metadata, then by prefix.
    Auto,
    /// By metadata only.
    Metadata,
    /// By prefix only.
    Prefix,
    /// Not at all: segments lie right under the name.
    None,
}

impl FindBy {
    fn discovery(self) -> Discovery {
        match self {
            FindBy::Auto => Discovery::MetadataThenPrefix,
            FindBy::Metadata => Discovery::Metadata,
            FindBy::Prefix => Discovery::Prefix,
            FindBy::None => Discovery::Unversioned,
        }
    }
}

/// What came of a fetch.
struct Fetched {
    outcome: Result<(), FetchFailure>,
    fetch: VerifiedFetch,
    refetch: RefetchPlan,
}

impl GetArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.get())
    }

    fn get(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        if let Some(option) = self.other_dialect() {
            return Err(ToolError::other(format!("{option} is not for objects of CCNx")));
        }
        let mut client = self.connect.client_in(self.name.dialect)?;
        let revoked = match self.lists.records(&mut client, &self.trust)? {
            Ok(revoked) => revoked,
            Err(refusal) => {
                tell!("cairn: {refusal}");
                return Ok(ExitCode::from(5));
            }
        };
        let (target, point) = match self.open(self.wanted()?, &interrupt) {
            Ok(opened) => opened,
            Err(error) => {
                tell!("cairn: {error}");
                return Ok(ExitCode::from(4));
            }
        };
        let (now, clock) = (client.now(), client.connection().clock());
        let message = self.name.to_string();
        let progress = Progress::new(self.quiet || self.target.list, &message);
        let refusals = RefusedPackets::default();
        let room = SpaceLeft::new(self.target.max_size, target.file(), point.bytes);
        let mut writer = Writer {
            target,
            room,
            progress,
            interrupt,
            bytes: 0,
            refusals,
            skipped_bytes: point.bytes,
            last_shown: now,
            clock,
        };
        let Fetched { outcome, fetch, refetch } = self.fetch(&mut client, &mut writer, &point, &revoked)?;
        writer.progress.finish();
        writer.close(outcome.is_ok())?;
        let elapsed = client.now().saturating_since(now);
        let failure = match outcome {
            Ok(()) => {
                self.report(&client, fetch.fetcher(), &writer, &fetch.verifier().summary(), elapsed);
                return Ok(ExitCode::SUCCESS);
            }
            Err(failure) => failure,
        };
        if let FetchFailure::Output(error) = failure {
            if writer.can_go_on() {
                tell!("cairn: what came so far is kept; go on with --resume");
            }
            return Err(writer.output_error(error));
        }
        tell!("cairn: {failure}");
        if let Some(advice) = refetch.advice(&writer.refusals) {
            tell!("cairn: {advice}");
        }
        if self.trust.is_given() && !self.manifest && is_not_signed(&failure) {
            tell!("cairn: if it is published with a manifest, say --manifest");
        }
        if writer.can_go_on() {
            tell!("cairn: what came so far is kept; go on with --resume");
        }
        Ok(code_of(&failure))
    }

    /// What is fetched: the object, or the listing of a folder.
    fn wanted(&self) -> Result<Name, ToolError> {
        let name = self.name.name.clone();
        let is_whole = !self.target.list || name.as_ref().last() == Some(LISTING);
        Ok(if is_whole { name } else { name.with(LISTING)? })
    }

    /// Fetches, and if something is refused, by other ways.
    fn fetch(
        &self,
        client: &mut Client,
        writer: &mut Writer,
        point: &ResumePoint,
        revoked: &Arc<Revocations>,
    ) -> Result<Fetched, ToolError> {
        let mut refetch = RefetchPlan::default();
        let name = &point.name;
        let (mut wanted, mut from, mut first_failure) = (name.clone(), point.segment, None);
        loop {
            let config = self.config(from, &refetch);
            let fetcher = Fetcher::new(wanted, config, client.now(), client::Clock::seed());
            let verifier = match self.name.dialect {
                Dialect::Ndn => self.trust.verifier(self.manifest, revoked)?,
                Dialect::Ccnx => Box::new(self.trust.publisher_verifier()?),
            };
            let options = FetchOptions {
                max_outage: self.request.max_outage(),
                next_hop_face: refetch.next_hop_face(),
                proof_next_hop_face: refetch.proof_next_hop_face(),
            };
            let (fetch, outcome) = client.fetch(VerifiedFetch::new(fetcher, verifier), writer, &options);
            let failure = match outcome {
                Err(FetchFailure::Fetch(failure)) => failure,
                outcome => return Ok(Fetched { outcome, fetch, refetch }),
            };
            // Where that leads nowhere, what is to be told is still why it was made.
            let failure = first_failure.get_or_insert(failure).clone();
            if !refetch.prepare(client, name, &writer.refusals) {
                return Ok(Fetched { outcome: Err(failure.into()), fetch, refetch });
            }
            // What was written is good, and of one version.
            from = fetch.fetcher().next_segment();
            wanted = fetch.fetcher().object_name().filter(|_| from > 0).unwrap_or(name).clone();
        }
    }

    /// What was asked for that objects of CCNx do not have.
    fn other_dialect(&self) -> Option<&'static str> {
        let of_ndn = [
            ("--list", self.target.list),
            ("--manifest", self.manifest),
            ("--naming", self.naming.is_some()),
            ("--hint", !self.request.hint.is_empty()),
            ("--fresh", self.request.fresh),
            ("--revocations-from", !self.lists.revocations_from.is_empty()),
        ];
        let given = of_ndn.iter().find(|(_, is_given)| *is_given && self.name.is_of_ccnx());
        given.map(|(option, _)| *option)
    }

    fn config(&self, first_segment: u64, refetch: &RefetchPlan) -> FetchConfig {
        let max_attempts = self.request.max_attempts();
        let defaults = FetchConfig::default();
        FetchConfig {
            dialect: self.name.dialect,
            // Not every next hop leads anywhere.
            discovery_attempts: if refetch.next_hop_face().is_some() {
                2
            } else {
                defaults.discovery_attempts
            },
            transfer: TransferConfig {
                controller: self.request.controller.clone(),
                max_attempts,
                ..TransferConfig::default()
            },
            discovery: self.discovery.discovery(),
            verification: Verification::Owner,
            lifetime: self.request.lifetime,
            must_be_fresh: self.request.fresh,
            forwarding_hint: self.request.hint.clone(),
            first_segment,
            convention: self.naming.map(Naming::convention),
            ..defaults
        }
    }

    /// Where to write, and what is still to be fetched.
    fn open(&self, name: Name, interrupt: &Interrupt) -> Result<(Target, ResumePoint), ToolError> {
        let Some(path) = &self.target.output else {
            let target = match self.target.list {
                true => Target::List(ListingWriter::new(BufWriter::new(io::stdout()))),
                false => Target::Output(writer(standard_output()?)),
            };
            return Ok((target, ResumePoint::beginning(name)));
        };
        let path = files::destination(path).map_err(ToolError::file(path))?;
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            // Nothing can take its place by being renamed, and nobody would want that.
            let file = files::open_special(&path, || interrupt.came()).map_err(ToolError::file(&path))?;
            return Ok((Target::Special(writer(file), path), ResumePoint::beginning(name)));
        }
        let (part, notes) = (beside(&path, ".part"), beside(&path, ".part.name"));
        let resumed = if self.target.resume {
            resume_point(&AnyName::new(self.name.dialect, name.clone()), &part, &notes)?
        } else {
            None
        };
        // In a folder where others may write, what stands there need not be ours.
        let file = match &resumed {
            Some(_) => {
                files::open_own(&part, true).and_then(|file| file.ok_or(io::ErrorKind::NotFound.into()))
            }
            None => files::create(&part, false),
        };
        let mut file = file.map_err(ToolError::file(&part))?;
        let noted = resumed.is_some();
        if !noted {
            // Notes of an earlier run would be wrong about this one, should it end before it makes its own.
            let _ = std::fs::remove_file(&notes);
        }
        let point = resumed.unwrap_or_else(|| ResumePoint::beginning(name));
        file.set_len(point.bytes).map_err(ToolError::file(&part))?;
        file.seek(SeekFrom::Start(point.bytes)).map_err(ToolError::file(&part))?;
        let out = writer(file);
        Ok((Target::File { out, part, notes, path, noted }, point))
    }

    fn report(
        &self,
        client: &Client,
        fetcher: &Fetcher,
        writer: &Writer,
        summary: &flow::verify::Summary,
        elapsed: Duration,
    ) {
        let counters = fetcher.transfer().counters();
        let rate = writer.bytes as f64 / elapsed.as_secs_f64().max(1e-9);
        let round_trip = fetcher.transfer().round_trip().smoothed();
        if self.json {
            let report = json!({
                "name": fetcher.object_name().map(|name| name_in_dialect(self.name.dialect, name.as_ref())),
                "bytes": writer.bytes,
                "segments": fetcher.progress().segments,
                "elapsed_s": elapsed.as_secs_f64(),
                "bytes_per_s": rate,
                "round_trip_ms": round_trip.map(|trip| trip.as_secs_f64() * 1e3),
                "interests": counters.sent,
                "repeated": counters.repeated,
                "timeouts": counters.timeouts,
                "congestion_marks": counters.marks,
                "packets_in": client.connection().counters().packets_in,
                "trusted": summary.trusted,
                "signers": summary.signers,
                "refused": writer.refusals.count,
                "trust": summary.text,
            });
            print::tell_json(&report);
        } else if !self.quiet && !self.target.list {
            tell!(
                "fetched {} in {}, {}/s{}",
                show_size(writer.bytes as f64),
                show_duration(elapsed),
                show_size(rate),
                round_trip.map(|trip| format!(", round trip {}", show_duration(trip))).unwrap_or_default()
            );
            tell!("{}: {}", whole_and(summary.trusted), summary.text);
        } else if !summary.trusted && !self.quiet {
            tell!("{}: {}", whole_and(false), summary.text);
        }
    }
}

/// The exit code of a fetch that failed.
fn code_of(failure: &FetchFailure) -> ExitCode {
    match failure {
        FetchFailure::Fetch(FetchError::Refused { .. }) => ExitCode::from(3),
        FetchFailure::Fetch(FetchError::NotAccepted { .. } | FetchError::NoneAccepted { .. }) => {
            ExitCode::from(5)
        }
        FetchFailure::Interrupted => ExitCode::from(130),
        _ => ExitCode::FAILURE,
    }
}

/// What a line about an object that is there begins with.
fn whole_and(trusted: bool) -> &'static str {
    match trusted {
        true => "the object is complete, its signer trusted",
        false => "the object is complete, its signer not verified",
    }
}

/// Whether packets came that nobody has signed.
fn is_not_signed(failure: &FetchFailure) -> bool {
    let FetchFailure::Fetch(FetchError::NotAccepted { error, .. } | FetchError::NoneAccepted { error, .. }) =
        failure
    else {
        return false;
    };
    matches!(error, VerificationError::NotTrusted(trust::validator::ValidationError::NotSigned(_)))
}
