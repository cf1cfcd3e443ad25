//! Where a fetch goes on that was broken off.

use std::path::{Path, PathBuf};

use formats::printable::printable_path;
use packet::{AnyName, Name};

use crate::tool::{ToolError, files};

/// Bytes of the notes of a fetch: a name, and a number.
const MAX_NOTES_BYTES: u64 = 64 << 10;

/// Where a file stands that belongs to the one at `path`.
pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// From where on an object is fetched.
pub(super) struct ResumePoint {
    /// With its version, if an earlier run noted it.
    pub(super) name: Name,
    /// The first segment that is not here.
    pub(super) segment: u64,
    /// Bytes of those before it.
    pub(super) bytes: u64,
}

impl ResumePoint {
    pub(super) fn beginning(name: Name) -> Self {
        ResumePoint { name, segment: 0, bytes: 0 }
    }
}

/// What an earlier run noted.
pub(super) fn resume_point(
    name: &AnyName,
    part: &Path,
    notes: &Path,
) -> Result<Option<ResumePoint>, ToolError> {
    let notes_file = files::open_own(notes, false).map_err(ToolError::file(notes))?;
    let part_file = files::open_own(part, false).map_err(ToolError::file(part))?;
    let (Some(notes_file), Some(part_file)) = (notes_file, part_file) else { return Ok(None) };
    let text =
        trust::whole_file::read_at_most(notes_file, MAX_NOTES_BYTES).map_err(ToolError::file(notes))?;
    let text = String::from_utf8_lossy(&text);
    let metadata = part_file.metadata().map_err(ToolError::file(part))?;
    let mut words = text.split_whitespace();
    let noted: Option<Name> = words.next().and_then(|word| word.parse().ok());
    let segment_bytes: Option<u64> = words.next().and_then(|word| word.parse().ok());
    match (noted, segment_bytes) {
        (Some(noted), Some(segment_bytes)) if segment_bytes > 0 => {
            if !name.name.as_ref().is_prefix_of(noted.as_ref()) {
                let noted = AnyName::new(name.dialect, noted);
                let text = format!("{} is part of {noted}: delete it, or fetch that", printable_path(part));
                return Err(ToolError::Other(text));
            }
            let segments = metadata.len() / segment_bytes;
            Ok(Some(ResumePoint { name: noted, segment: segments, bytes: segments * segment_bytes }))
        }
        _ => Ok(None),
    }
}
