//! Thrift's compact protocol, writing only.

/// A struct that is being written, and those around it.
#[derive(Debug, Default)]
pub(super) struct Compact {
    out: Vec<u8>,
    /// The number of the last field of each open struct but the innermost.
    outer: Vec<i16>,
    last: i16,
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

impl Compact {
    fn field(&mut self, number: i16, kind: u8) {
        // Fields come in order and close together here, so the step always fits into four bits.
        self.out.push(((number - self.last) as u8) << 4 | kind);
        self.last = number;
    }

    fn unsigned(&mut self, number: u64) {
        unsigned(&mut self.out, number);
    }

    fn zigzag(&mut self, number: i64) {
        self.unsigned((number << 1 ^ number >> 63) as u64);
    }

    pub(super) fn integer(&mut self, field: i16, number: i64) {
        self.field(field, I32);
        self.zigzag(number);
    }

    pub(super) fn long(&mut self, field: i16, number: i64) {
        self.field(field, I64);
        self.zigzag(number);
    }

    fn bytes(&mut self, text: &str) {
        self.unsigned(text.len() as u64);
        self.out.extend_from_slice(text.as_bytes());
    }

    pub(super) fn text(&mut self, field: i16, text: &str) {
        self.field(field, BINARY);
        self.bytes(text);
    }

    fn list_header(&mut self, field: i16, len: usize, kind: u8) {
        self.field(field, LIST);
        if len < 15 {
            self.out.push((len as u8) << 4 | kind);
        } else {
            self.out.push(0xf0 | kind);
            self.unsigned(len as u64);
        }
    }

    /// A list of structs, each between `element` and `end`.
    pub(super) fn list(&mut self, field: i16, len: usize) {
        self.list_header(field, len, STRUCT);
    }

    pub(super) fn integers(&mut self, field: i16, numbers: &[i64]) {
        self.list_header(field, numbers.len(), I32);
        for &number in numbers {
            self.zigzag(number);
        }
    }

    pub(super) fn texts(&mut self, field: i16, texts: &[&str]) {
        self.list_header(field, texts.len(), BINARY);
        for text in texts {
            self.bytes(text);
        }
    }

    pub(super) fn begin(&mut self, field: i16) {
        self.field(field, STRUCT);
        self.element();
    }

    pub(super) fn element(&mut self) {
        self.outer.push(self.last);
        self.last = 0;
    }

    pub(super) fn end(&mut self) {
        self.out.push(0);
        self.last = self.outer.pop().unwrap_or(0);
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.out.push(0);
        self.out
    }
}

/// A number in groups of seven bits, the lowest first.
pub(super) fn unsigned(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_as_thrift_does() {
        // Examples of the compact protocol's description: 50399 is df 89 03, zigzag of -1 is 1.
        let mut out = Vec::new();
        unsigned(&mut out, 50_399);
        assert_eq!(out, [0xdf, 0x89, 0x03]);
        let mut written = Compact::default();
        written.integer(1, 1);
        written.integer(3, -1);
        assert_eq!(written.finish(), [0x15, 2, 0x25, 1, 0]);
    }
}
