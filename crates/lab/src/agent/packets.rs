//! Packets of an agent in the dialect of its experiment.

use flow::NamingConvention;
use flow::source::{DataSigner, SourceError};
use packet::ccnx::{ContentObjectFields, KeyLocator, SignedInfo, Ticks, markers};
use packet::ndn::DataBuilder;
use packet::time::Duration;
use packet::{Component, Data, Dialect, EncodeError, Name, NameRef};
use trust::Signer;

/// Objects are as long as those of CCNx's own tools, whose keys have 1,024 bits, and are made at once: bytes
/// stand in place of the signature and of the key, which nobody looks at here.
const SIGNATURE: [u8; 128] = [0x5a; 128];
const KEY: [u8; 162] = [0x30; 162];
const PUBLISHER: [u8; 32] = [0x11; 32];
/// The same object is the same to the byte whenever it is made.
const TIMESTAMP: Ticks = Ticks::from_unix(1_300_000_000, 0);

/// What is published: everything but the dialect.
pub(super) struct Object<'a> {
    pub(super) name: &'a Name,
    pub(super) content: &'a [u8],
    /// How long it counts as fresh; nothing is said with zero.
    pub(super) freshness: Duration,
    /// The last component of the last segment's name.
    pub(super) last: Option<Component<'a>>,
}

/// Data, in NDN signed by `signer`, and otherwise without a signature that would say who made it.
pub(super) fn data(dialect: Dialect, object: &Object<'_>, signer: Option<&Signer>) -> Option<Data> {
    match dialect {
        Dialect::Ndn => {
            let builder = DataBuilder::new(object.name.clone()).content(object.content.to_vec());
            let builder = match object.freshness {
                Duration::ZERO => builder,
                freshness => builder.freshness(freshness),
            };
            let builder = match object.last {
                Some(component) => builder.final_block(component),
                None => builder,
            };
            match signer {
                Some(signer) => signer.sign_data(&builder).ok(),
                None => builder.build_with_digest().ok(),
            }
        }
        Dialect::Ccnx => ccnx_object(object).ok(),
    }
}

fn ccnx_object(object: &Object<'_>) -> Result<Data, SourceError> {
    let seconds = Ticks::whole_seconds(object.freshness);
    let info = SignedInfo {
        freshness_seconds: Some(seconds).filter(|seconds| *seconds > 0),
        final_block_id: object.last.map(|last| last.value),
        key_locator: Some(KeyLocator::Key(&KEY)),
        ..SignedInfo::new(&PUBLISHER, TIMESTAMP)
    };
    let fields = ContentObjectFields { name: object.name.into(), signed_info: info, content: object.content };
    let wire = fields.encode(None, |_| Ok::<_, EncodeError>(SIGNATURE))?;
    Ok(Data::decode_ccnx(wire.into())?)
}

/// Makes packets as [`data`] does.
#[derive(Debug)]
pub(super) struct AgentSigner(pub(super) Dialect);

impl DataSigner for AgentSigner {
    fn dialect(&self) -> Dialect {
        self.0
    }

    fn sign_content(
        &mut self,
        name: NameRef<'_>,
        content: &[u8],
        freshness: Option<Duration>,
    ) -> Result<Data, SourceError> {
        match self.0 {
            Dialect::Ndn => Signer::digest().sign_content(name, content, freshness),
            Dialect::Ccnx => {
                let (name, freshness) = (name.to_name(), freshness.unwrap_or_default());
                ccnx_object(&Object { name: &name, content, freshness, last: None })
            }
        }
    }
}

/// A name with a segment's number, as the dialect writes it.
pub(super) fn with_segment(dialect: Dialect, name: &Name, segment: u64) -> Result<Name, packet::DecodeError> {
    let convention = match dialect {
        Dialect::Ndn => NamingConvention::default(),
        Dialect::Ccnx => NamingConvention::Ccnx,
    };
    convention.with_segment(name, segment)
}

/// The number of a segment in a component that the dialect has written.
pub(super) fn segment(dialect: Dialect, component: Component<'_>) -> Option<u64> {
    match dialect {
        Dialect::Ndn => flow::naming::segment_number(component),
        Dialect::Ccnx => markers::parse_segment(component.value),
    }
}
