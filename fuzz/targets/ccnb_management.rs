//! What ccnd, ndnld and repositories are managed with. What decodes is written in a form that decodes again
//! and is written alike.

#![no_main]

use packet::ccnx::management::{
    Collection, FaceInstance, ForwardingEntry, Link, NdnldConnection, RepositoryInfo, RepositoryPolicy,
    StatusResponse, StrategySelection,
};
use packet::error::DecodeError;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check(bytes, |wire| FaceInstance::decode(wire).map(|object| object.encode()));
    check(bytes, |wire| ForwardingEntry::decode(wire).map(|object| written(object.encode())));
    check(bytes, |wire| Link::decode(wire).map(|object| written(object.encode())));
    check(bytes, |wire| NdnldConnection::decode(wire).map(|object| object.encode()));
    check(bytes, |wire| RepositoryInfo::decode(wire).map(|object| written(object.encode())));
    check(bytes, |wire| RepositoryPolicy::decode(wire).map(|object| object.encode()));
    check(bytes, |wire| StatusResponse::decode(wire).map(|object| object.encode()));
    check(bytes, |wire| StrategySelection::decode(wire).map(|object| written(object.encode())));
    check(bytes, |wire| Collection::decode(wire).map(|object| Collection::encode(object.items())));
    if let Ok(collection) = Collection::decode(bytes) {
        let links = collection.links().count();
        assert_eq!(links, collection.items().count());
    }
});

fn written(outcome: Result<Vec<u8>, DecodeError>) -> Vec<u8> {
    outcome.expect("what was read can be written")
}

fn check(bytes: &[u8], decode_and_encode: impl Fn(&[u8]) -> Result<Vec<u8>, DecodeError>) {
    match decode_and_encode(bytes) {
        Ok(once) => assert_eq!(decode_and_encode(&once).expect("what was written can be read"), once),
        Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
    }
}
