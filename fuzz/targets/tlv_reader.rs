//! TLV elements: they tile their input without gaps, are in shortest form, and errors point inside the input.

#![no_main]

use packet::ndn::tlv::{self, Element, Reader};

/// Deeper than any known message.
const MAX_DEPTH: usize = 6;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    walk(bytes, Reader::new(bytes, "whole"), 0);
});

fn walk(bytes: &[u8], mut reader: Reader<'_>, depth: usize) {
    let mut expected_start = reader.position();
    loop {
        match reader.element() {
            Ok(Some(element)) => {
                assert_eq!(element.start, expected_start, "elements tile their input");
                expected_start = element.end();
                assert_eq!(reader.position(), expected_start);
                check_element(bytes, element);
                if depth < MAX_DEPTH {
                    walk(bytes, reader.inside(element, "inside"), depth + 1);
                }
            }
            Ok(None) => {
                reader.finish().expect("nothing is left after the last element");
                break;
            }
            Err(error) => {
                assert!(error.offset <= bytes.len(), "{error}");
                assert!(error.offset >= expected_start, "{error}");
                break;
            }
        }
    }
}

fn check_element(bytes: &[u8], element: Element<'_>) {
    let mut again = Vec::new();
    tlv::write_element(&mut again, element.kind, element.value);
    assert_eq!(again, bytes[element.start..element.end()], "there is one encoding of an element");
    assert_eq!(again.len(), tlv::element_len(element.kind, element.value.len()));
    if let Ok(number) = tlv::read_nni(element, "number") {
        let mut digits = Vec::new();
        tlv::write_nni(&mut digits, number);
        assert!(digits.len() <= element.value.len(), "the shortest form is not longer");
        assert!(element.value.ends_with(&digits));
    }
}
