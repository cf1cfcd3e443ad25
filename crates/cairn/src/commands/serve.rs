//! `cairn serve`: a folder as names.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use client::Client;
use client::files::Folder;
use flow::SegmentSize;
use flow::source::folder::FolderConfig;
use flow::source::{CcnxFolderSource, FolderSource, Reply, Server, ServerConfig, Source};
use formats::printable::printable_path;
use packet::ccnx::Ticks;
use packet::time::Duration;

use crate::tool::ccnx;
use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::serve_until;
use crate::tool::signing::SigningArguments;
use crate::tool::units::{content_size, duration, show_size};
use crate::tool::{ToolError, finish, output};
use packet::AnyName;
use packet::name::name_in_dialect;

/// Serve a folder: every file below it as an object, every folder with a listing.
#[derive(Debug, Args)]
#[command(after_help = "\
A file <folder>/a/b is the object /<prefix>/a/b, its version the time of its last change in nanoseconds. Metadata is at \
/<prefix>/a/b/32=metadata, a listing at /<prefix>/a/32=ls (names that end in a zero byte; those of folders end in / before it): the protocol of \
ndn6-file-server. A file is found by prefix too, without metadata. Nothing outside the folder is served, whatever links point there; \
names with `.`, `..`, slashes or zero bytes in a component are not answered.

Examples:
  cairn serve . /lab/files
  cairn get /lab/files/report.pdf -o report.pdf       elsewhere
  cairn get --list /lab/files

Exit codes: 0 stopped by Ctrl-C; 1 failure; 2 wrong usage.")]
pub(crate) struct ServeArguments {
    /// The folder.
    folder: PathBuf,
    /// The prefix it is served under; `ccnx:/…` serves objects of CCNx, and no listings.
    prefix: AnyName,
    /// Bytes of content in a segment.
    #[arg(short, long, value_name = "BYTES", value_parser = content_size, default_value = "8000")]
    size: SegmentSize,
    /// How long segments count as fresh.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    freshness: Duration,
    /// How long metadata counts as fresh.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10ms")]
    metadata_freshness: Duration,
    /// Tell every packet that is served.
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    signing: SigningArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

impl ServeArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.serve())
    }

    fn serve(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let folder = Folder::open(&self.folder).map_err(ToolError::file(&self.folder))?;
        let (source, mut client) = self.prepare(folder)?;
        client.register(&self.prefix.name)?;
        tell!("serving {} as {}", printable_path(&self.folder), self.prefix);
        let mut server = Server::new(source, ServerConfig::default(), client.now());
        let mut printed = Ok(());
        serve_until(&mut client, &mut server, &interrupt, |_, reply| {
            if let Reply::Data(data) = reply
                && self.verbose
            {
                printed = output::line(name_in_dialect(data.dialect(), data.name()));
            }
            printed.is_ok()
        })?;
        printed?;
        let (packets, bytes) = (server.counters().data, server.counters().content_bytes);
        tell!("served {packets} packets, {}", show_size(bytes as f64));
        Ok(ExitCode::SUCCESS)
    }

    /// What answers, and a client to answer with.
    fn prepare(&self, files: Folder) -> Result<(Box<dyn Source>, Client), ToolError> {
        let prefix = self.prefix.name.clone();
        if self.prefix.is_of_ccnx() {
            let signer = self.signing.ccnx_signer()?;
            let client = self.connect.ccnx_client_as(&signer)?;
            let segment_bytes = ccnx::segment_bytes(self.size)?;
            let freshness_seconds = Some(Ticks::whole_seconds(self.freshness));
            let source = CcnxFolderSource { prefix, segment_bytes, freshness_seconds, signer, files };
            return Ok((Box::new(source), client));
        }
        let config = FolderConfig {
            prefix,
            segment_size: self.size,
            freshness: self.freshness,
            metadata_freshness: self.metadata_freshness,
            signer: self.signing.signer()?,
        };
        Ok((Box::new(FolderSource::new(config, files)), self.connect.client_as(&self.signing)?))
    }
}
