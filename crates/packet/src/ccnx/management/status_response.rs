use super::{decode_all, optional_u32, write_optional_text};
use crate::ccnx::block::{write_close, write_decimal_element, write_open};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::reader::Reader;
use crate::ccnx::{ContentKind, ContentObjectView};
use crate::error::{DecodeError, Rule};

/// StatusResponse: why a request was refused, the Content of a ContentObject of type NACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusResponse<'a> {
    /// What kind of failure it is.
    pub code: u32,
    /// The same in words.
    pub text: Option<&'a str>,
}

impl<'a> StatusResponse<'a> {
    /// The request failed for now.
    pub const TEMPORARY: u32 = 450;
    /// The face would be a multicast face of a kind that is not possible.
    pub const MULTICAST: u32 = 453;
    /// An address is not a numeric one.
    pub const ADDRESS: u32 = 501;
    /// A parameter is missing or impossible.
    pub const PARAMETER: u32 = 504;
    /// The CCNDID is that of another ccnd.
    pub const CCND_ID: u32 = 531;

    /// Reads the element that fills `wire`.
    ///
    /// # Errors
    /// Anything but a StatusCode and perhaps a StatusText in it.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        decode_all(wire, "StatusResponse", Self::read)
    }

    /// Why a request was refused, by its answer; `None` if it was carried out.
    pub fn of_refused(answer: &ContentObjectView<'a>) -> Option<Result<Self, DecodeError>> {
        (answer.kind() == ContentKind::Nack).then(|| Self::decode(answer.content()))
    }

    fn read(reader: &mut Reader<'a>) -> Result<Self, DecodeError> {
        reader.open(Dtag::STATUS_RESPONSE, "StatusResponse")?;
        let at = reader.position();
        let code = optional_u32(reader, Dtag::STATUS_CODE, "StatusCode")?;
        let text = reader.optional_text(Dtag::STATUS_TEXT, "StatusText")?;
        reader.close("StatusResponse")?;
        let code = code.ok_or(DecodeError::new("StatusCode", at, Rule::Missing))?;
        Ok(StatusResponse { code, text })
    }

    /// The element's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        write_open(&mut out, Dtag::STATUS_RESPONSE);
        write_decimal_element(&mut out, Dtag::STATUS_CODE, self.code.into());
        write_optional_text(&mut out, Dtag::STATUS_TEXT, self.text);
        write_close(&mut out);
        out
    }
}
