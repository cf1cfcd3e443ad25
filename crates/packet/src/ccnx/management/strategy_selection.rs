use super::{decode_all, optional_u32, write_optional_blob, write_optional_decimal, write_optional_text};
use crate::ccnx::block::{write_close, write_open};
use crate::ccnx::dtag::Dtag;
use crate::ccnx::name::{CcnxNameRef, NameSource};
use crate::ccnx::reader::Reader;
use crate::error::DecodeError;
use crate::name::NameRef;

/// StrategySelection: chooses or reports the forwarding strategy of ccnd under a prefix.
#[derive(Clone, Copy, Debug)]
pub struct StrategySelection<'a> {
    /// The verb: `setstrategy`, `getstrategy` or `removestrategy`; absent from answers.
    pub action: Option<&'a str>,
    /// The prefix.
    pub name: NameSource<'a>,
    /// CCNDID: the digest of ccnd's public key.
    pub ccnd_id: Option<&'a [u8; 32]>,
    /// The strategy's name, at most 15 characters.
    pub strategy: Option<&'a str>,
    /// What the strategy makes of it is its own affair.
    pub parameters: Option<&'a str>,
    /// How long the choice shall hold, in seconds.
    pub freshness_seconds: Option<u32>,
}

impl<'a> StrategySelection<'a> {
    /// A selection for `name` with nothing else in it.
    pub fn new(name: impl Into<NameSource<'a>>) -> Self {
        StrategySelection {
            action: None,
            name: name.into(),
            ccnd_id: None,
            strategy: None,
            parameters: None,
            freshness_seconds: None,
        }
    }

    /// Reads the element that fills `wire`.
    ///
    /// # Errors
    /// Any element but those above in their order, or a value outside its range.
    pub fn decode(wire: &'a [u8]) -> Result<Self, DecodeError> {
        decode_all(wire, "StrategySelection", |reader| Self::read(reader, true))
    }

    /// Whether `wire` is a request with a verb and without a name. ccnd refuses it, and gives no answer to
    /// other requests that it cannot read.
    pub fn lacks_name(wire: &'a [u8]) -> bool {
        let nameless = decode_all(wire, "StrategySelection", |reader| Self::read(reader, false));
        nameless.is_ok_and(|selection| selection.action.is_some())
    }

    fn read(reader: &mut Reader<'a>, has_name: bool) -> Result<Self, DecodeError> {
        reader.open(Dtag::STRATEGY_SELECTION, "StrategySelection")?;
        let selection = StrategySelection {
            action: reader.optional_text(Dtag::ACTION, "Action")?,
            name: if has_name { CcnxNameRef::read(reader)?.into() } else { NameRef::ROOT.into() },
            ccnd_id: reader.optional_array(Dtag::PUBLISHER_PUBLIC_KEY_DIGEST, "PublisherPublicKeyDigest")?,
            strategy: reader.optional_text(Dtag::STRATEGY_ID, "StrategyID")?,
            parameters: reader.optional_text(Dtag::STRATEGY_PARAMETERS, "StrategyParameters")?,
            freshness_seconds: optional_u32(reader, Dtag::FRESHNESS_SECONDS, "FreshnessSeconds")?,
        };
        reader.close("StrategySelection")?;
        Ok(selection)
    }

    /// The element's bytes.
    ///
    /// # Errors
    /// A name that CCNx cannot express.
    pub fn encode(&self) -> Result<Vec<u8>, DecodeError> {
        let mut out = Vec::new();
        write_open(&mut out, Dtag::STRATEGY_SELECTION);
        write_optional_text(&mut out, Dtag::ACTION, self.action);
        self.name.encode_into(&mut out)?;
        write_optional_blob(&mut out, Dtag::PUBLISHER_PUBLIC_KEY_DIGEST, self.ccnd_id.map(|id| &id[..]));
        write_optional_text(&mut out, Dtag::STRATEGY_ID, self.strategy);
        write_optional_text(&mut out, Dtag::STRATEGY_PARAMETERS, self.parameters);
        write_optional_decimal(&mut out, Dtag::FRESHNESS_SECONDS, self.freshness_seconds);
        write_close(&mut out);
        Ok(out)
    }
}
