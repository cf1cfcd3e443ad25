//! `cairn repo get`, `import` and `export`.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use packet::{AnyName, Dialect};
use repo::Object;
use repo::stream::DataStream;
use serde_json::json;

use super::folder::{FolderArguments, close, matching, not_committed, read, segments};
use super::pattern::NameGlob;
use super::put::insert;
use crate::tool::interrupt::Interrupt;
use crate::tool::progress::Progress;
use crate::tool::{ToolError, content, files, output};

/// Write an object of a repository to a file or standard output.
#[derive(Debug, Args)]
#[command(after_help = "\
Of several versions the last one is written. Signatures are not checked: to do that, serve the repository and use `cairn get`. A file \
is there as a whole or not at all.

Examples:
  cairn repo get store /lab/film -o film.mp4
  cairn repo get store ccnx:/lab/film -o film.mp4

Exit codes: 0 done; 1 failure, or the object is not there as a whole; 2 wrong usage.")]
pub(crate) struct GetArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// The name, with or without version; `ccnx:/…` is an object of CCNx.
    name: AnyName,
    /// The file; standard output if it is left out.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl GetArguments {
    /// Whether this is a version of the object, as a whole. Below a version of CCNx its header may be.
    fn is_it(&self, object: &Object) -> bool {
        let most = self.name.name.as_ref().component_count() + 1;
        let is_below = object
            .name()
            .is_some_and(|object| object.dialect == Dialect::Ccnx && object.name.component_count() > most);
        object.is_complete() && !is_below
    }

    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let mut store = self.folder.open_to_read()?;
        let found = matching(&store, &[NameGlob::from(&self.name)]);
        // Versions stand in order.
        let last = found
            .into_iter()
            .rev()
            .find(|&id| store.catalogue().get(id).is_some_and(|object| self.is_it(object)));
        let Some((id, object)) = last.and_then(|id| Some((id, store.catalogue().get(id)?))) else {
            return Err(ToolError::other(format!("{} is not there as a whole", self.name)));
        };
        let numbers: Vec<u32> = segments(object).collect();
        let interrupt = Interrupt::catch()?;
        let write = |out: &mut dyn Write| -> Result<(), ToolError> {
            let mut out = BufWriter::new(out);
            for segment in numbers {
                if interrupt.came() {
                    return Err(ToolError::other("interrupted before all was written"));
                }
                let data = read(&mut store, id, segment)?;
                let data =
                    data.ok_or_else(|| ToolError::other(format!("segment {segment} cannot be read")))?;
                out.write_all(data.content())?;
            }
            Ok(out.flush()?)
        };
        match self.output.as_deref().filter(|path| *path != Path::new("-")) {
            Some(path) => files::write_by(path, false, || interrupt.came(), |file| write(file))?,
            None => write(&mut content::standard_output()?)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Put packets into a repository, one behind the other in a file.
#[derive(Debug, Args)]
#[command(after_help = "\
The format is that of `cairn repo export` and of bulk insertion: Data packets of NDN as they are on the wire. Objects of CCNx may \
stand there as well, so that the repoFile1 of a ccnr can be imported. When the command ends, all of them would survive a power cut.

Examples:
  cairn repo import store packets
  cairn repo export other | cairn repo import store

Exit codes: 0 done; 1 failure: what stands before the place that it names is stored; 2 wrong usage.")]
pub(crate) struct ImportArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// The file; standard input if it is left out.
    file: Option<PathBuf>,
    /// Say as JSON how many packets were imported.
    #[arg(long)]
    json: bool,
}

impl ImportArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let (from, total): (Box<dyn Read>, _) = match &self.file {
            Some(path) => {
                let file = File::open(path).map_err(ToolError::file(path))?;
                let total = file.metadata().ok().map(|metadata| metadata.len());
                (Box::new(file), total)
            }
            None => (Box::new(io::stdin().lock()), None),
        };
        let mut store = self.folder.open_or_make(u64::MAX)?;
        let (mut stream, mut packets) = (DataStream::of_both_dialects(from), 0_u64);
        let mut progress = Progress::new(self.json, "importing");
        let ended = loop {
            match stream.next_data() {
                Ok(Some(data)) => insert(&mut store, &data)?,
                Ok(None) => break Ok(()),
                Err(error) => break Err(ToolError::other(error)),
            }
            packets += 1;
            progress.set(stream.position(), total);
        };
        store.commit().map_err(not_committed)?;
        progress.finish();
        close(store)?;
        if self.json {
            output::json(&json!({ "packets": packets, "bytes": stream.position() }))?;
        } else {
            tell!("imported {packets} packets");
        }
        ended.map(|()| ExitCode::SUCCESS)
    }
}

/// Write packets of a repository to a file or standard output, one behind the other.
#[derive(Debug, Args)]
#[command(after_help = "\
Objects of CCNx are written if a pattern means them, as a ccnr keeps them; bulk insertion does not take them.

Examples:
  cairn repo export store '/lab' -o packets
  cairn repo export store ccnx:/ -o repoFile1               what was stored for CCNx
  cairn repo export store | nc repository.example 7376      into a repository with bulk insertion

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct ExportArguments {
    #[command(flatten)]
    folder: FolderArguments,
    /// Which; all if left out.
    patterns: Vec<NameGlob>,
    /// The file; standard output if it is left out.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ExportArguments {
    pub(super) fn run(&self) -> Result<ExitCode, ToolError> {
        let mut store = self.folder.open_to_read()?;
        let mut out: Box<dyn Write> = match &self.output {
            Some(path) => Box::new(BufWriter::new(File::create(path).map_err(ToolError::file(path))?)),
            None => Box::new(BufWriter::new(io::stdout().lock())),
        };
        let mut progress = Progress::new(self.output.is_none(), "exporting");
        let (total, mut written) = (store.bytes(), 0);
        for id in matching(&store, &self.patterns) {
            let Some(object) = store.catalogue().get(id) else { continue };
            let is_ndn = object.name().is_some_and(|object| object.dialect == Dialect::Ndn);
            if self.patterns.is_empty() && !is_ndn {
                continue;
            }
            let numbers: Vec<u32> = segments(object).collect();
            for segment in numbers {
                if let Some(data) = read(&mut store, id, segment)? {
                    out.write_all(data.wire())?;
                    written += data.wire().len() as u64;
                    progress.set(written, Some(total));
                }
            }
        }
        out.flush()?;
        progress.finish();
        Ok(ExitCode::SUCCESS)
    }
}
