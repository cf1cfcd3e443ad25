//! Putting an object into CCNx.

use std::process::ExitCode;

use client::files::{Bytes, CcnxObjectSource};
use flow::CcnxPublication;
use flow::source::{Server, ServerConfig};
use packet::Dialect;
use packet::ccnx::Ticks;
use serde_json::json;

use super::PutArguments;
use crate::tool::ccnx::segment_bytes;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::serve_until;
use crate::tool::sized::Sized;
use crate::tool::units::show_size;
use crate::tool::{ToolError, output, sized};
use packet::name::name_in_dialect;

/// Bytes in a segment, as ccnseqwriter has them.
const SEGMENT_BYTES: u64 = 4096;

impl PutArguments {
    pub(super) fn put_in_ccnx(&self, interrupt: &Interrupt) -> Result<ExitCode, ToolError> {
        if self.manifest || self.repo.is_some() {
            return Err(ToolError::other("--manifest and --repo are not for objects of CCNx"));
        }
        let signer = self.signing.ccnx_signer()?;
        let mut client = self.connect.ccnx_client_as(&signer)?;
        let Sized { file, bytes } = sized::open(self.file.as_deref(), interrupt)?;
        let segment_bytes = self.size.map_or(Ok(SEGMENT_BYTES), segment_bytes)?;
        let now = Ticks::from(client.connection().clock().unix());
        let publication = CcnxPublication::new(self.name.name.clone(), now, bytes, segment_bytes, signer)?
            .with_freshness_seconds(Ticks::whole_seconds(self.freshness));
        // The version as well: who asks for its segments is not to be sent to who has another version, and
        // without Nacks would not learn of it.
        client.register(publication.name())?;
        client.register(publication.prefix())?;
        self.announce_in_ccnx(&publication, bytes, now)?;
        let config = ServerConfig { idle: self.idle, ..ServerConfig::default() };
        let source = CcnxObjectSource::new(publication, Bytes::File(file));
        let mut server = Server::new(source, config, client.now());
        serve_until(&mut client, &mut server, interrupt, |_, _| true)?;
        if !self.quiet && !self.json {
            let counters = server.counters();
            tell!("served {} packets, {}", counters.data, show_size(counters.content_bytes as f64));
        }
        Ok(ExitCode::SUCCESS)
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
