//! Packets for tests.

use packet::ccnx::{ContentObjectFields, SignedInfo, Ticks, markers, uri};
use packet::{Data, EncodeError, Name};

/// An object of CCNx whose signature is none, perhaps saying which segment is the last.
pub(crate) fn ccnx_data(name: &str, content: &[u8], last: Option<u64>) -> Data {
    ccnx_data_of(&uri::parse(name).unwrap(), content, last)
}

/// The same for a name.
pub(crate) fn ccnx_data_of(name: &Name, content: &[u8], last: Option<u64>) -> Data {
    let last = last.map(markers::segment);
    let info = SignedInfo::new(&[0x11; 32], Ticks::from_unix(1_234_567_890, 0));
    let signed_info = SignedInfo { final_block_id: last.as_deref(), ..info };
    let object = ContentObjectFields { name: name.into(), signed_info, content };
    Data::decode_ccnx(object.encode(None, |_| Ok::<_, EncodeError>([0; 16])).unwrap().into()).unwrap()
}
