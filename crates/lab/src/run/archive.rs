//! Raw data is kept, compressed.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use trust::whole_file;

use crate::memory_files;

/// Compresses a file and takes the plain one away. Returns the new one's path.
///
/// # Errors
///
/// When it cannot be read or written; the plain file is still there then.
pub fn compress(path: &Path) -> io::Result<PathBuf> {
    let mut name = path.as_os_str().to_owned();
    name.push(".gz");
    let packed = PathBuf::from(name);
    let mut input = BufReader::with_capacity(1 << 16, whole_file::open(path)?);
    let mut output = GzEncoder::new(BufWriter::new(File::create(&packed)?), Compression::fast());
    io::copy(&mut input, &mut output)?;
    output.finish()?.flush()?;
    fs::remove_file(path)?;
    Ok(packed)
}

/// Opens a file that may have been compressed since.
///
/// # Errors
///
/// When neither is there.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    if let Some(bytes) = memory_files::read(path) {
        return Ok(Box::new(io::Cursor::new(bytes?)));
    }
    match whole_file::open(path) {
        Ok(file) => Ok(Box::new(BufReader::with_capacity(1 << 16, file))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut name = path.as_os_str().to_owned();
            name.push(".gz");
            let file = whole_file::open(&PathBuf::from(name)).map_err(|_| error)?;
            Ok(Box::new(MultiGzDecoder::new(BufReader::with_capacity(1 << 16, file))))
        }
        Err(error) => Err(error),
    }
}

/// Bytes of a table of a run, unpacked.
const MAX_BYTES_OF_A_TABLE: u64 = 1 << 30;

/// Opens a table that may have been compressed since. One that never ends, or is small only while it is
/// compressed, does not fill the memory.
///
/// # Errors
///
/// When neither is there.
pub(crate) fn open_table(path: &Path) -> io::Result<Box<dyn Read>> {
    Ok(Box::new(whole_file::AtMost::new(open(path)?, MAX_BYTES_OF_A_TABLE)))
}
