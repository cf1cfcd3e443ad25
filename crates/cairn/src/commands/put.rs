//! `cairn put`: publishes a file, and answers for it until Ctrl-C.

mod ccnx;

use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use client::files::FileObject;
use flow::source::{Packets, Server, ServerConfig};
use flow::{Authenticity, NamingConvention, Publication, PublicationConfig, SegmentSize};
use packet::Name;
use packet::time::Duration;
use serde_json::json;
use trust::Certificate;

use super::repo::Insertion;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::progress::Progress;
use crate::tool::regular_file::RegularFile;
use crate::tool::serving::{leave, serve_until};
use crate::tool::signing::SigningArguments;
use crate::tool::units::{content_size, duration, show_size};
use crate::tool::{ToolError, finish, output, regular_file};
use packet::AnyName;

/// Publish a file (or standard input) in segments, and answer for it until Ctrl-C.
#[derive(Debug, Args)]
#[command(after_help = "\
Names are /<name>/v=<version>/seg=<number>, with metadata at /<name>/32=metadata, as ndnserve (ndnputchunks) and `ndnd put` write them; \
`cairn get`, ndnget (ndncatchunks) and `ndnd cat` fetch them. A name that ends in a version is used as it is. The certificate of the \
key that signs is published beside it; those above it in the chain with `cairn cert serve`.

Objects of CCNx (ccnx:/…) are named and cut as ccnseqwriter does it: a version, then segments of 4096 bytes unless --size says otherwise. Each segment carries the key that signs it, an RSA key of the store or one of this tool's own. With --header and --merkle the object is what ccnputfile makes of a file.

Examples:
  cairn put /lab/file < file
  cairn put ccnx:/lab/file < file                     for ccncat, ccncatchunks2 -s, ccngetfile and `cairn get`
  cairn put /lab/file -f file -S /lab/alice           every segment signed by a key of /lab/alice
  cairn put /lab/file -f file -S /lab/alice --manifest  one signature for all; fast to make and to check
  cairn put /lab/file -f file -S /lab/alice --repo /lab/repo  leave it there, and end
  cairn put ccnx:/lab/file -f file --repo ccnx:/lab   the same with a ccnr, of CCNx or of Cairn

Exit codes: 0 stopped by Ctrl-C or after --idle, or stored with --repo; 1 failure; 2 wrong usage.")]
pub(crate) struct PutArguments {
    /// The name to publish under; `ccnx:/…` publishes an object of CCNx.
    name: AnyName,
    /// The file; standard input if it is left out. Of a pipe a copy lies among the temporary files meanwhile.
    #[arg(short, long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Bytes of content in a segment, or `packet` for as many as fit into a packet; 8000 if it is left out,
    /// 4096 in CCNx.
    #[arg(short, long, value_parser = segment_size, hide_default_value = true)]
    size: Option<SegmentSize>,
    /// How long segments count as fresh.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    freshness: Duration,
    /// How versions and segment numbers are written.
    #[arg(short = 'N', long, value_enum, default_value = "typed")]
    naming: Naming,
    /// Print the version once it is published.
    #[arg(short, long)]
    print_version: bool,
    /// Sign one manifest instead of every segment. Consumers that do not know manifests can fetch the
    /// segments, but not check who published them.
    #[arg(long, conflicts_with = "naming")]
    manifest: bool,
    /// In CCNx: sign up to 128 segments at once, by a Merkle tree, as Java's file streams do. Each carries
    /// its way to the root that is signed.
    #[arg(long, conflicts_with = "manifest")]
    merkle: bool,
    /// In CCNx: publish a header, too, as ccnputfile does: number and size of the segments, and the file's
    /// digest.
    #[arg(long, conflicts_with = "manifest")]
    header: bool,
    /// Hand the object over to the repository of this name, and end when it is stored there. In CCNx it is
    /// the prefix below which the repository takes objects (`ccnx:/` for any).
    #[arg(long, value_name = "NAME", conflicts_with_all = ["idle", "manifest"])]
    repo: Option<AnyName>,
    /// Stop when nobody has asked for so long.
    #[arg(long, value_name = "TIME", value_parser = duration)]
    idle: Option<Duration>,
    /// Say nothing.
    #[arg(short, long)]
    quiet: bool,
    /// Say as JSON what is published.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    signing: SigningArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

/// How numbers in names are written.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Naming {
    /// Typed components (current).
    Typed,
    /// A marker byte in a generic component (older applications).
    Marker,
}

impl Naming {
    pub(crate) fn convention(self) -> NamingConvention {
        match self {
            Naming::Typed => NamingConvention::Typed,
            Naming::Marker => NamingConvention::Marker,
        }
    }
}

fn segment_size(text: &str) -> Result<SegmentSize, String> {
    if text == "packet" {
        return Ok(SegmentSize::Largest);
    }
    content_size(text)
}

impl PutArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.put())
    }

    fn put(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        if self.name.is_of_ccnx() {
            return self.put_in_ccnx(&interrupt);
        }
        if self.merkle || self.header {
            return Err(ToolError::other("--merkle and --header are for objects of CCNx"));
        }
        let mut client = self.connect.client_as(&self.signing)?;
        let RegularFile { file, bytes: size_bytes } = regular_file::open(self.file.as_deref(), &interrupt)?;
        let version = client.connection().clock().unix().as_millis();
        let (object, certificate) = self.prepare(file, size_bytes, version)?;
        client.register(object.publication().prefix())?;
        if let Some(certificate) = &certificate {
            // Others may publish it too; without it here consumers may still find it elsewhere.
            if let Err(error) = client.register(&certificate.to_key_name()) {
                tell!("cairn: the certificate is not published: {error}");
            }
        }
        self.announce(object.publication(), size_bytes)?;
        if let Some(repository) = &self.repo {
            if repository.is_of_ccnx() {
                let why = format!("--repo: {repository} is of CCNx, and {} is not", self.name);
                return Err(ToolError::other(why));
            }
            let publisher = publisher(&object, certificate.as_ref())?;
            client.register(&publisher)?;
            let insertion = Insertion {
                repository: &repository.name,
                publisher,
                object: object.publication().name().clone(),
                last_segment: object.publication().last_segment(),
                signer: self.signing.signer()?,
            };
            // The repository asks for it if it does not know the key.
            if let Some(certificate) = &certificate {
                let packet = Packets::new([certificate.data().clone()]);
                client.attach(&certificate.to_key_name(), packet);
            }
            let prefix = object.publication().prefix().clone();
            client.attach(&prefix, object);
            let segments = insertion.run(&mut client, &interrupt);
            leave(&mut client);
            let segments = segments?;
            if !self.quiet && !self.json {
                tell!("{repository} has stored {segments} packets");
            }
            return Ok(ExitCode::SUCCESS);
        }
        // The certificate of the key that signs is published beside the object.
        let source = (Packets::new(certificate.map(|certificate| certificate.data().clone())), object);
        let config = ServerConfig { idle: self.idle, ..ServerConfig::default() };
        let mut server = Server::new(source, config, client.now());
        serve_until(&mut client, &mut server, &interrupt, |_, _| true)?;
        let (segments, bytes) = (server.counters().data, server.counters().content_bytes);
        if !self.quiet && !self.json {
            tell!("served {segments} packets, {}", show_size(bytes as f64));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// What is published, and the certificate of the key that signs it.
    fn prepare(
        &self,
        file: File,
        size_bytes: u64,
        version: u64,
    ) -> Result<(FileObject, Option<Certificate>), ToolError> {
        let key = self.signing.key()?;
        let signer = key.as_ref().map_or_else(|| self.signing.signer(), |key| Ok(key.signer()))?;
        let mut config = PublicationConfig::new(self.name.name.clone(), version, size_bytes, signer);
        config.segment_size = self.size.unwrap_or_default();
        config.freshness = self.freshness;
        config.convention = self.naming.convention();
        if self.manifest {
            config.authenticity = Authenticity::Manifest;
        }
        let are_dear = key.is_some() && !self.manifest;
        let mut object = FileObject::new(Publication::new(config)?, file, are_dear);
        let mut progress = Progress::new(self.quiet || !self.manifest, "hashing");
        object.list(|bytes| progress.set(bytes, Some(size_bytes)))?;
        progress.finish();
        Ok((object, key.and_then(|key| key.default_certificate)))
    }

    fn announce(&self, publication: &Publication, size_bytes: u64) -> Result<(), ToolError> {
        let name = publication.name();
        if self.json {
            output::json(&json!({
                "name": name.to_string(),
                "bytes": size_bytes,
                "segments": publication.last_segment() + 1,
                "segment_bytes": publication.segment_bytes(),
                "manifest_packets": publication.manifest().len(),
            }))?;
        } else if !self.quiet {
            let segments = match publication.last_segment() {
                0 => "1 segment".to_owned(),
                last => format!("{} segments", last + 1),
            };
            tell!("published {} in {segments} as {name}", show_size(size_bytes as f64));
        }
        if self.print_version
            && let Some(version) = name.as_ref().last().and_then(flow::naming::version_number)
        {
            output::line(version)?;
        }
        Ok(())
    }
}

/// Where the command to a repository is: under the name of who signs it. It must not lie below that of the
/// object, where who asks by prefix would find it in a cache.
fn publisher(object: &FileObject, certificate: Option<&Certificate>) -> Result<Name, ToolError> {
    let (name, above) = match certificate {
        // The identity stands before KEY and the key's number.
        Some(certificate) => (certificate.to_key_name(), 2),
        None => (object.publication().prefix().clone(), 1),
    };
    let above = name.prefix(name.as_ref().component_count().saturating_sub(above));
    let word = format!("handover-{:016x}", client::Clock::seed());
    Ok(above.with(packet::Component::generic(word.as_bytes()))?)
}
