//! Messages of NFD's management protocol. What decodes is written in canonical order, decodes again to the
//! same, and is written alike; what is sent in segments comes back whole.

#![no_main]

use management::{
    ChannelStatus, CommandSignature, ControlParameters, ControlResponse, CsInfo, DatasetFetch, DatasetItem,
    FaceEventNotification, FaceQueryFilter, FaceStatus, FibEntry, GeneralStatus, PrefixAnnouncement,
    RequestName, RibEntry, StrategyChoice, decode_list, encode_list, segments,
};
use packet::error::DecodeError;
use packet::{Buffer, Data, Interest, Name};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    check(bytes, ControlParameters::decode, ControlParameters::encode);
    check(bytes, ControlResponse::decode, ControlResponse::encode);
    check(bytes, FaceQueryFilter::decode, FaceQueryFilter::encode);
    check(bytes, FaceEventNotification::decode, FaceEventNotification::encode);
    check(bytes, GeneralStatus::decode, GeneralStatus::encode);
    check_list::<FaceStatus>(bytes);
    check_list::<ChannelStatus>(bytes);
    check_list::<FibEntry>(bytes);
    check_list::<RibEntry>(bytes);
    check_list::<CsInfo>(bytes);
    check_list::<StrategyChoice>(bytes);
    if let Some(parameters) =
        ControlResponse::decode(bytes).ok().and_then(|response| response.parameters().ok())
    {
        let _ = parameters;
    }
    if let Ok(interest) = Interest::decode_ndn(Buffer::copy_from(bytes)) {
        let request = RequestName::parse(interest.name());
        assert!(request.is_none_or(|request| request.last() == interest.name().last()));
        if let Ok(signature) = CommandSignature::of(&interest) {
            assert!(!signature.signed.is_empty());
        }
    }
    if let Ok(data) = Data::decode_ndn(Buffer::copy_from(bytes)) {
        if let Ok(announcement) = PrefixAnnouncement::decode(&data) {
            check_announcement(&announcement);
        }
        let _ = DatasetFetch::new(Name::root()).receive(&data);
    }
    check_segments(bytes);
});

fn check<T: PartialEq + std::fmt::Debug>(
    bytes: &[u8],
    decode: impl Fn(&[u8]) -> Result<T, DecodeError>,
    encode: impl Fn(&T) -> Vec<u8>,
) {
    match decode(bytes) {
        Ok(message) => {
            let once = encode(&message);
            let again = decode(&once).expect("what was written can be read");
            assert_eq!(again, message);
            assert_eq!(encode(&again), once);
        }
        Err(error) => assert!(error.offset <= bytes.len(), "{error}"),
    }
}

fn check_list<T: DatasetItem + PartialEq + std::fmt::Debug>(bytes: &[u8]) {
    check(bytes, decode_list::<T>, |list| encode_list(list));
}

fn check_announcement(announcement: &PrefixAnnouncement) {
    let Ok(data) = announcement.to_data() else { return };
    // The same fields fit, for they came from a packet, unless numbers or dates were written longer than need
    // be.
    let Ok(data) = data.build_with_digest() else { return };
    assert_eq!(PrefixAnnouncement::decode(&data).as_ref(), Ok(announcement));
}

fn check_segments(content: &[u8]) {
    let name: Name = "/d".parse().expect("a name");
    let served = segments(&name, 7, content).expect("short names");
    let mut fetch = DatasetFetch::new(name);
    let mut received = None;
    for segment in &served {
        assert_eq!(received, None, "whole before the last");
        let data = segment.build_with_digest().expect("a segment fits");
        received = fetch.receive(&data).expect("a segment of the dataset");
    }
    assert_eq!(received.as_deref(), Some(content));
}
