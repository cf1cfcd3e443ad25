//! Objects of the protocols that manage ccnd and ndnld.
//!
//! A request is the Content of a signed ContentObject with an empty name, and that whole object is the last
//! component of the Interest `/ccnx/<CCNDID>/<verb>/<object>`. An answer is the Content of the ContentObject
//! with that name.

mod ccnd;
mod collection;
mod face_instance;
mod file_header;
mod forwarding_entry;
mod ndnld_connection;
mod repository_command;
mod repository_info;
mod repository_policy;
mod status_response;
mod strategy_selection;
mod verb;

pub use ccnd::{ccnd_key_prefix, ccnd_prefix, strategy_in_ccnd, strategy_of_ccnd};
pub use collection::{Collection, Link};
pub use face_instance::{FaceInstance, IpProtocol};
pub use file_header::FileHeader;
pub use forwarding_entry::{ForwardingEntry, ForwardingFlags};
pub use ndnld_connection::NdnldConnection;
pub use repository_command::RepositoryCommand;
pub use repository_info::RepositoryInfo;
pub use repository_policy::RepositoryPolicy;
pub use status_response::StatusResponse;
pub use strategy_selection::StrategySelection;
pub use verb::{NdnldVerb, Verb};

use crate::ccnx::block::{write_blob_element, write_decimal_element, write_text_element};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::reader::Reader;
use crate::error::DecodeError;

/// Reads the one element that fills `wire`.
fn decode_all<'a, T>(
    wire: &'a [u8],
    field: &'static str,
    read: impl FnOnce(&mut Reader<'a>) -> Result<T, DecodeError>,
) -> Result<T, DecodeError> {
    let mut reader = Reader::new(wire, field);
    let value = read(&mut reader)?;
    reader.finish()?;
    Ok(value)
}

/// Reads a decimal field of 32 bits, if it is next.
fn optional_u32(reader: &mut Reader<'_>, tag: Dtag, field: &'static str) -> Result<Option<u32>, DecodeError> {
    // The limit given to the reader is that of the type.
    Ok(reader.optional_decimal(tag, field, u32::MAX.into())?.map(|number| number as u32))
}

fn write_optional_text(out: &mut Vec<u8>, tag: Dtag, text: Option<&str>) {
    if let Some(text) = text {
        write_text_element(out, tag, text);
    }
}

fn write_optional_blob(out: &mut Vec<u8>, tag: Dtag, bytes: Option<&[u8]>) {
    if let Some(bytes) = bytes {
        write_blob_element(out, tag, bytes);
    }
}

fn write_optional_decimal(out: &mut Vec<u8>, tag: Dtag, number: Option<impl Into<u64>>) {
    if let Some(number) = number {
        write_decimal_element(out, tag, number.into());
    }
}
