//! Putting an object into CCNx.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::process::ExitCode;

use client::files::CcnxFileObject;
use flow::CcnxPublication;
use flow::source::{Packets, Reply, Server, ServerConfig, Source, SourceError};
use packet::ccnx::management::FileHeader;
use packet::ccnx::{Ticks, markers};
use packet::{Dialect, Interest, Name};
use serde_json::json;
use trust::Sha256;

use super::PutArguments;
use crate::commands::repo::CcnxInsertion;
use crate::tool::ccnx::{SEGMENT_BYTES, segment_bytes};
use crate::tool::interrupt::Interrupt;
use crate::tool::regular_file::RegularFile;
use crate::tool::serving::{leave, serve_until};
use crate::tool::units::show_size;
use crate::tool::{ToolError, output, regular_file};
use packet::name::name_in_dialect;

/// The header of a file, an object of its own with a version. It is small, so all its packets are signed at
/// once.
struct Header {
    name: Name,
    last_segment: u64,
    packets: Packets,
}

/// An object, and its header where that is asked for. Who asks for a prefix of both gets the object.
struct WithHeader {
    object: CcnxFileObject,
    header: Option<Packets>,
}

impl Source for WithHeader {
    fn answer(&mut self, interest: &Interest) -> Result<Reply, SourceError> {
        let object = self.object.publication().name();
        let asks_for_header = object.as_ref().is_prefix_of(interest.name())
            && interest
                .name()
                .components()
                .nth(object.as_ref().component_count())
                .is_some_and(|below| below.value == markers::METADATA);
        match &mut self.header {
            Some(header) if asks_for_header => header.answer(interest),
            _ => self.object.answer(interest),
        }
    }
}

impl PutArguments {
    pub(super) fn put_in_ccnx(&self, interrupt: &Interrupt) -> Result<ExitCode, ToolError> {
        if self.manifest {
            return Err(ToolError::other("--manifest is not for objects of CCNx"));
        }
        self.check_repository()?;
        let signer = self.signing.ccnx_signer()?;
        let mut client = self.connect.ccnx_client_as(&signer)?;
        let RegularFile { file, bytes } = regular_file::open(self.file.as_deref(), interrupt)?;
        let segment_bytes = self.size.map_or(Ok(SEGMENT_BYTES), segment_bytes)?;
        let now = Ticks::from(client.connection().clock().unix());
        let publication = CcnxPublication::new(self.name.name.clone(), now, bytes, segment_bytes, signer)?
            .with_freshness_seconds(Ticks::whole_seconds(self.freshness));
        let publication = if self.merkle { publication.with_trees() } else { publication };
        let header = match self.header {
            true => Some(self.header_of(&publication, &file, now, interrupt)?),
            false => None,
        };
        // The version as well: who asks for its segments is not to be sent to who has another version, and
        // without Nacks would not learn of it.
        client.register(publication.name())?;
        client.register(publication.prefix())?;
        self.announce_in_ccnx(&publication, bytes, now)?;
        if let Some(repository) = &self.repo {
            let (object, last_segment) = (publication.name().clone(), publication.last_segment());
            let source = CcnxFileObject::new(publication, file);
            let mut stored = CcnxInsertion { object, last_segment, interrupt }.run(&mut client, source);
            if let (Ok(segments), Some(header)) = (&mut stored, header) {
                // It is below what was registered, and the longest name that is served answers.
                let Header { name: object, last_segment, packets } = header;
                match (CcnxInsertion { object, last_segment, interrupt }).run(&mut client, packets) {
                    Ok(more) => *segments += more,
                    Err(error) => stored = Err(error),
                }
            }
            leave(&mut client);
            let segments = stored?;
            if !self.quiet && !self.json {
                tell!("the repository of {repository} has stored {segments} packets");
            }
            return Ok(ExitCode::SUCCESS);
        }
        let config = ServerConfig { idle: self.idle, ..ServerConfig::default() };
        let header = header.map(|header| header.packets);
        let source = WithHeader { object: CcnxFileObject::new(publication, file), header };
        let mut server = Server::new(source, config, client.now());
        serve_until(&mut client, &mut server, interrupt, |_, _| true)?;
        if !self.quiet && !self.json {
            let counters = server.counters();
            tell!("served {} packets, {}", counters.data, show_size(counters.content_bytes as f64));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// The header of a file, an object of its own below it. The whole file is read for its digest.
    fn header_of(
        &self,
        publication: &CcnxPublication,
        file: &File,
        now: Ticks,
        interrupt: &Interrupt,
    ) -> Result<Header, ToolError> {
        let (mut digest, mut length) = (Sha256::new(), 0u64);
        let mut piece = vec![0; 1 << 16];
        loop {
            let count = file.read_at(&mut piece, length).map_err(ToolError::other)?;
            if interrupt.came() {
                return Err(ToolError::other("interrupted before the file's digest was known"));
            }
            if count == 0 {
                break;
            }
            digest.update(piece.get(..count).unwrap_or_default());
            length += count as u64;
        }
        let header = FileHeader {
            start: 0,
            count: publication.last_segment() + 1,
            block_size: publication.segment_bytes(),
            length,
            content_digest: Some(&digest.finish()),
            root_digest: None,
        };
        let bytes = header.encode();
        let size = bytes.len() as u64;
        let signer = self.signing.ccnx_signer()?;
        let header = CcnxPublication::new(publication.header_name()?, now, size, SEGMENT_BYTES, signer)?
            .with_freshness_seconds(Ticks::whole_seconds(self.freshness));
        let (name, last_segment) = (header.name().clone(), header.last_segment());
        let segments = bytes.chunks(usize::try_from(SEGMENT_BYTES).unwrap_or(usize::MAX)).zip(0..);
        let packets: Result<Vec<_>, _> =
            segments.map(|(content, segment)| header.segment(segment, content)).collect();
        Ok(Header { name, last_segment, packets: Packets::new(packets?) })
    }

    /// A repository of CCNx has no name to call it by: it takes what lies below a prefix.
    fn check_repository(&self) -> Result<(), ToolError> {
        let Some(repository) = &self.repo else { return Ok(()) };
        let takes_it =
            repository.is_of_ccnx() && repository.name.as_ref().is_prefix_of(self.name.name.as_ref());
        if takes_it {
            return Ok(());
        }
        let why =
            format!("--repo: {repository} is no prefix of {}, and a repository of CCNx is one", self.name);
        Err(ToolError::other(why))
    }

    fn announce_in_ccnx(
        &self,
        publication: &CcnxPublication,
        bytes: u64,
        version: Ticks,
    ) -> Result<(), ToolError> {
        let name = name_in_dialect(Dialect::Ccnx, publication.name().as_ref());
        let segments = publication.last_segment() + 1;
        if self.json {
            output::json(&json!({ "name": name, "bytes": bytes, "segments": segments }))?;
        } else if !self.quiet {
            tell!("published {} in {segments} segment(s) as {name}", show_size(bytes as f64));
        }
        if self.print_version {
            output::line(version.count())?;
        }
        Ok(())
    }
}
