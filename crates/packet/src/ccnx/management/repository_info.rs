use super::{decode_all, write_optional_text};
use crate::ccnx::block::{write_close, write_open, write_text_element};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::name::{CcnxNameRef, NameSource};
use crate::ccnx::reader::Reader;
use crate::error::DecodeError;

/// RepositoryInfo: what a repository answers to a command (CCNx 0.8, "Repository protocols").
#[derive(Clone, Copy, Debug)]
pub struct RepositoryInfo<'a> {
    /// Version of this format, `1.1`.
    pub version: &'a str,
    /// `INFO`, or `DATA` when the object that was asked about is already stored.
    pub kind: &'a str,
    /// Version of the repository, `2.0`.
    pub repository_version: &'a str,
    /// The name under which the repository keeps what is its own.
    pub global_prefix: NameSource<'a>,
    /// What the repository calls itself.
    pub local_name: &'a str,
    /// The stored object's name.
    pub name: Option<NameSource<'a>>,
    /// How the command went, in words.
    pub info: Option<&'a str>,
}

impl<'a> RepositoryInfo<'a> {
    /// Reads the element that fills `wire`.
    ///
    /// # Errors
    /// Any element but those above in their order.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        decode_all(wire, "RepositoryInfo", Self::read)
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::REPOSITORY_INFO, "RepositoryInfo")?;
        let info = RepositoryInfo {
            version: reader.text_element(Dtag::VERSION, "Version")?,
            kind: reader.text_element(Dtag::TYPE, "Type")?,
            repository_version: reader.text_element(Dtag::REPOSITORY_VERSION, "RepositoryVersion")?,
            global_prefix: CcnxNameRef::read_as(reader, Dtag::GLOBAL_PREFIX_NAME, "GlobalPrefixName")?.into(),
            local_name: reader.text_element(Dtag::LOCAL_NAME, "LocalName")?,
            name: match reader.next_is(Dtag::NAME) {
                true => Some(CcnxNameRef::read(reader)?.into()),
                false => None,
            },
            info: reader.optional_text(Dtag::INFO_STRING, "InfoString")?,
        };
        reader.close("RepositoryInfo")?;
        Ok(info)
    }

    /// The element's bytes.
    ///
    /// # Errors
    /// A name that CCNx cannot express.
    pub fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let mut out = Vec::new();
        write_open(&mut out, Dtag::REPOSITORY_INFO);
        write_text_element(&mut out, Dtag::VERSION, self.version);
        write_text_element(&mut out, Dtag::TYPE, self.kind);
        write_text_element(&mut out, Dtag::REPOSITORY_VERSION, self.repository_version);
        self.global_prefix.encode_as(Dtag::GLOBAL_PREFIX_NAME, &mut out)?;
        write_text_element(&mut out, Dtag::LOCAL_NAME, self.local_name);
        if let Some(name) = self.name {
            name.encode_into(&mut out)?;
        }
        write_optional_text(&mut out, Dtag::INFO_STRING, self.info);
        write_close(&mut out);
        Ok(out)
    }
}
