//! `cairn serve`: a folder as names.

mod folder;
mod request;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use client::Happening;
use flow::{Publication, PublicationConfig, SegmentSize};
use packet::ndn::{DataBuilder, tlv};
use packet::time::Duration;
use packet::{Component, ComponentKind, ContentType, Data, Interest, Name};
use trust::Signer;

use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::signing::SigningArguments;
use crate::tool::units::{duration, show_size, size};
use crate::tool::{ToolError, finish, output};
use folder::{Entry, Folder, Kind};
use request::{Request, parse};

/// Elements of file-server metadata beside those of every object.
const MODE: u32 = 0xf504;
const ACCESSED: u32 = 0xf506;
const CREATED: u32 = 0xf508;
const CHANGED: u32 = 0xf50a;
const MODIFIED: u32 = 0xf50c;

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
    /// The prefix it is served under.
    prefix: Name,
    /// Bytes of content in a segment.
    #[arg(short, long, value_name = "BYTES", value_parser = size, default_value = "8000")]
    size: u64,
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

struct Server<'a> {
    arguments: &'a ServeArguments,
    folder: Folder,
    signer: Signer,
}

impl ServeArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.serve())
    }

    fn serve(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let folder = Folder::open(&self.folder).map_err(ToolError::file(&self.folder))?;
        let server = Server { arguments: self, folder, signer: self.signing.signer()? };
        let mut client = self.connect.client_as(&self.signing)?;
        client.register(&self.prefix)?;
        tell!("serving {} as {}", self.folder.display(), self.prefix);
        let (mut packets, mut bytes) = (0u64, 0u64);
        while !interrupt.came() {
            let Some(Happening::Interest { interest, header }) = client.next(None)? else { continue };
            if let Some(data) = server.answer(&interest)? {
                packets += 1;
                bytes += data.content().len() as u64;
                if self.verbose {
                    output::line(data.name())?;
                }
                client.reply(&data, &header)?;
            }
        }
        tell!("served {packets} packets, {}", show_size(bytes as f64));
        Ok(ExitCode::SUCCESS)
    }
}

impl Server<'_> {
    /// The answer to an Interest; `None` for what must not be answered, or cannot be right.
    fn answer(&self, interest: &Interest) -> Result<Option<Data>, ToolError> {
        let Some(request) = parse(&self.arguments.prefix, interest) else { return Ok(None) };
        let data = match &request {
            Request::Metadata { path, listing } => Some(self.metadata(path, *listing)?),
            Request::Segment { path, listing, version, segment } => {
                self.segment(path, *listing, Some(*version), *segment)?
            }
            Request::Latest { path } => self.segment(path, false, None, 0)?,
        };
        Ok(data.filter(|data| interest.matches(data)))
    }

    fn metadata(&self, path: &[&[u8]], listing: bool) -> Result<Data, ToolError> {
        let discovery = self.name_of(path, listing)?.with(flow::naming::METADATA)?;
        let entry = self.folder.look_up(path).filter(|entry| !listing || entry.kind == Kind::Folder);
        let Some(entry) = entry else {
            // Named like metadata of now, and short-lived: the file may appear.
            let version = client::Clock::start().unix().as_millis();
            let refusal = DataBuilder::new(numbered(
                &numbered(&discovery, ComponentKind::VERSION, version)?,
                ComponentKind::SEGMENT,
                0,
            )?)
            .content_type(ContentType::NACK)
            .freshness(self.arguments.metadata_freshness);
            return Ok(self.signer.sign_data(&refusal)?);
        };
        let as_listing = entry.kind == Kind::Folder;
        let content_size = if as_listing { self.folder.listing(path).len() as u64 } else { entry.size };
        let publication = self.publication(path, as_listing, &entry, content_size)?;
        let mut content = Vec::new();
        flow::Metadata {
            name: publication.name().clone(),
            last_segment: Some(publication.last_segment()),
            segment_bytes: Some(publication.segment_bytes()),
            size_bytes: Some(content_size),
        }
        .encode(&mut content);
        let numbers = [
            (MODE, u64::from(entry.mode)),
            (ACCESSED, entry.accessed),
            (CREATED, entry.created),
            (CHANGED, entry.changed),
            (MODIFIED, entry.modified),
        ];
        for (kind, number) in numbers {
            tlv::write_nni_element(&mut content, kind, number);
        }
        let name = numbered(
            &numbered(&discovery, ComponentKind::VERSION, entry.modified)?,
            ComponentKind::SEGMENT,
            0,
        )?;
        let mut data =
            DataBuilder::new(name.clone()).freshness(self.arguments.metadata_freshness).content(content);
        if let Some(last) = name.as_ref().last() {
            data = data.final_block(last);
        }
        Ok(self.signer.sign_data(&data)?)
    }

    /// A segment of a file or listing, if it has the version asked for.
    fn segment(
        &self,
        path: &[&[u8]],
        listing: bool,
        version: Option<u64>,
        segment: u64,
    ) -> Result<Option<Data>, ToolError> {
        let wanted = if listing { Kind::Folder } else { Kind::File };
        let Some(entry) = self.folder.look_up(path).filter(|entry| entry.kind == wanted) else {
            return Ok(None);
        };
        if version.is_some_and(|version| version != entry.modified) {
            return Ok(None);
        }
        let listed = if listing { self.folder.listing(path) } else { Vec::new() };
        let size = if listing { listed.len() as u64 } else { entry.size };
        let publication = self.publication(path, listing, &entry, size)?;
        let Some(range) = publication.range(segment) else { return Ok(None) };
        let content = if listing {
            let start = usize::try_from(range.offset_bytes).unwrap_or(usize::MAX);
            let end = start.saturating_add(usize::try_from(range.len_bytes).unwrap_or(0));
            listed.get(start..end).unwrap_or_default().to_vec()
        } else {
            match entry.read(range.offset_bytes, range.len_bytes) {
                Ok(content) => content,
                // It shrank meanwhile; the next question finds the new version.
                Err(_) => return Ok(None),
            }
        };
        Ok(Some(publication.segment(segment, &content)?))
    }

    fn publication(
        &self,
        path: &[&[u8]],
        listing: bool,
        entry: &Entry,
        size: u64,
    ) -> Result<Publication, ToolError> {
        let name = self.name_of(path, listing)?;
        let mut config = PublicationConfig::new(name, entry.modified, size, self.signer.clone());
        let wanted = u32::try_from(self.arguments.size.clamp(1, 8800)).unwrap_or(8000);
        config.segment_size = SegmentSize::Content(wanted);
        config.freshness = self.arguments.freshness;
        Ok(Publication::new(config)?)
    }

    fn name_of(&self, path: &[&[u8]], listing: bool) -> Result<Name, ToolError> {
        let mut name = self.arguments.prefix.clone();
        for component in path {
            name = name.with(Component::generic(component))?;
        }
        Ok(if listing { name.with(request::LISTING)? } else { name })
    }
}

fn numbered(name: &Name, kind: ComponentKind, number: u64) -> Result<Name, ToolError> {
    let mut digits = Vec::new();
    tlv::write_nni(&mut digits, number);
    Ok(name.with(Component::new(kind, &digits))?)
}
