//! The two languages that packets are written in, and what differs between them for whoever speaks either.

use std::fmt;
use std::str::FromStr;

use crate::build_interest::BuildInterest as _;
use crate::ccnx::{self, InterestFields};
use crate::error::EncodeError;
use crate::interest::Interest;
use crate::name::{Name, UriError};
use crate::ndn::{self, InterestBuilder};
use crate::registry::UnknownWord;
use crate::time::Duration;

/// The two languages that packets are written in. A face speaks one of them; tables never mix them.
///
/// ```
/// use cairn_packet::Dialect;
/// let dialect: Dialect = "ccnx".parse()?;
/// assert_eq!(dialect.parse_name("ccnx:/lab/=00")?.to_string(), "/lab/%00");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// NDN packet format v0.3 over NDNLPv2.
    Ndn = 0,
    /// ccnb of CCNx 0.8 over NDNLP v1.
    Ccnx = 1,
}

impl Dialect {
    /// Both of them.
    pub const ALL: [Dialect; 2] = [Dialect::Ndn, Dialect::Ccnx];

    /// The word for it in configurations, which is also the scheme of its names.
    pub const fn as_str(self) -> &'static str {
        match self {
            Dialect::Ndn => "ndn",
            Dialect::Ccnx => "ccnx",
        }
    }

    /// The port of its forwarders over UDP and TCP.
    pub const fn port(self) -> u16 {
        match self {
            Dialect::Ndn => ndn::PORT,
            Dialect::Ccnx => ccnx::PORT,
        }
    }

    /// The largest packet that is written in it; CCNx [reads](ccnx::MAX_MESSAGE_BYTES) larger ones.
    pub const fn max_packet_bytes(self) -> usize {
        match self {
            Dialect::Ndn => ndn::tlv::MAX_PACKET_BYTES,
            Dialect::Ccnx => ccnx::MAX_ENCODED_BYTES,
        }
    }

    /// The dialect with this number, which is its discriminant. Files of a repository hold it.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Dialect::Ndn),
            1 => Some(Dialect::Ccnx),
            _ => None,
        }
    }

    /// The dialect of the Data that begins like this; `None` if none does. Only where nothing but Data can
    /// come is the first byte enough: an NDN Data begins with its type, 6, and a ContentObject with the first
    /// half of its number, 64, as a block of ccnb. Other packets of the two share first bytes.
    pub fn of_data(wire: &[u8]) -> Option<Self> {
        match wire.first()? {
            0x06 => Some(Dialect::Ndn),
            0x04 => Some(Dialect::Ccnx),
            _ => None,
        }
    }

    /// Whether an Interest can be sent back with a reason. Where it cannot, it is refused by silence.
    pub const fn has_nacks(self) -> bool {
        matches!(self, Dialect::Ndn)
    }

    /// Whether every Interest asks for all names that begin with its own, and not only those that say so.
    pub const fn always_asks_by_prefix(self) -> bool {
        matches!(self, Dialect::Ccnx)
    }

    /// Reads a name as people write it in this dialect, with or without its scheme;
    /// [`AnyName`](crate::AnyName) finds the dialect by that.
    ///
    /// # Errors
    /// The text is no name of this dialect.
    pub fn parse_name(self, text: &str) -> Result<Name, UriError> {
        match self {
            Dialect::Ndn => text.parse(),
            Dialect::Ccnx => Ok(ccnx::uri::parse(text)?),
        }
    }

    /// An Interest for `name` that asks for nothing else.
    ///
    /// # Errors
    /// It cannot be written in this dialect.
    pub fn interest(self, name: Name, nonce: u32, lifetime: Duration) -> Result<Interest, EncodeError> {
        match self {
            Dialect::Ndn => InterestBuilder::new(name).build_with(nonce, lifetime),
            Dialect::Ccnx => (name, InterestFields::default()).build_with(nonce, lifetime),
        }
    }
}

impl FromStr for Dialect {
    type Err = UnknownWord;

    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let found = Dialect::ALL.into_iter().find(|dialect| dialect.as_str() == text);
        found.ok_or_else(|| UnknownWord::new("dialect", text, Dialect::ALL.map(Dialect::as_str)))
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dialect::Ndn => "NDN",
            Dialect::Ccnx => "CCNx",
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::ccnx::{ContentObjectFields, SignedInfo, Ticks};
    use crate::ndn::DataBuilder;

    use super::*;

    #[test]
    fn a_dialect_is_read_by_the_word_it_is_written_with() {
        for dialect in Dialect::ALL {
            assert_eq!(dialect.as_str().parse(), Ok(dialect));
        }
        assert_eq!((0..=u8::MAX).filter_map(Dialect::from_number).collect::<Vec<_>>(), Dialect::ALL);
        assert!(Dialect::ALL.iter().all(|dialect| Dialect::from_number(*dialect as u8) == Some(*dialect)));
        let error = "NDN".parse::<Dialect>().unwrap_err();
        assert_eq!(error.to_string(), "there is no dialect NDN; there are ndn, ccnx");
    }

    #[test]
    fn data_of_either_dialect_is_told_by_its_first_byte() {
        let ndn = DataBuilder::new("/a".parse().unwrap()).build_with_digest().unwrap();
        assert_eq!(Dialect::of_data(ndn.wire()), Some(Dialect::Ndn));
        let name: Name = "/a".parse().unwrap();
        let signed_info = SignedInfo::new(&[1; 32], Ticks::from_unix(1, 0));
        let fields = ContentObjectFields { name: (&name).into(), signed_info, content: b"b" };
        let ccnx = fields.encode(None, |_| Ok::<_, EncodeError>([2; 16])).unwrap();
        assert_eq!(Dialect::of_data(&ccnx), Some(Dialect::Ccnx));
        for other in [&b""[..], b"\x05", b"\x01\xd2", b"text"] {
            assert_eq!(Dialect::of_data(other), None);
        }
    }

    #[test]
    fn a_name_of_one_dialect_is_none_of_the_other() {
        for (text, other) in [("ndn:/a", Dialect::Ccnx), ("ccnx:/a", Dialect::Ndn)] {
            for dialect in Dialect::ALL {
                assert_eq!(dialect.parse_name(text).is_ok(), dialect != other, "{text}");
                assert_eq!(dialect.parse_name("/a").unwrap().to_string(), "/a");
            }
        }
    }

    #[test]
    fn an_interest_of_either_dialect_says_what_it_was_given() {
        for dialect in Dialect::ALL {
            let name: Name = "/a/b".parse().unwrap();
            let made = dialect.interest(name.clone(), 7, Duration::from_secs(3)).unwrap();
            assert_eq!((made.dialect(), made.name()), (dialect, name.as_ref()));
            assert_eq!(made.lifetime(), Duration::from_secs(3));
        }
    }
}
