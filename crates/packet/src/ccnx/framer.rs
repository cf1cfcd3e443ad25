//! Cutting a stream of bytes into ccnb messages.

use crate::ccnx::block::{BlockKind, MAX_DEPTH, read_header};
use crate::error::{DecodeError, Rule};

const FIELD: &str = "message";

/// Length of the message at the start of `bytes`, in bytes; `None` when the bytes end before it does.
///
/// A message is one whole element. For a stream that arrives in pieces use a [`Framer`], which does not start
/// over with every piece.
///
/// # Errors
/// What no further bytes can mend: see [`Framer::scan`].
pub fn message_len(bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
    Framer::new(usize::MAX).scan(bytes)
}

/// Finds the end of a message in bytes that arrive a few at a time.
///
/// Each byte of the stream is looked at once (a block header up to nine times), however small the pieces are.
/// The framer keeps no bytes: the owner appends what arrives to a buffer, calls [`scan`](Framer::scan) with
/// all that the buffer holds, and on `Some(len)` removes the first `len` bytes and scans again, for the
/// framer has started on the next message by then. After an error the stream cannot be followed any more and
/// must be closed.
///
/// ```
/// use cairn_packet::ccnx::Framer;
/// let wire = [0x01, 0xd2, 0xf2, 0xfa, 0x8d, b'a', 0, 0, 0, 0x01]; // an Interest, and the start of another
/// let mut framer = Framer::new(65_535);
/// assert_eq!(framer.scan(&wire[..5]), Ok(None));
/// assert_eq!(framer.scan(&wire), Ok(Some(9)));
/// assert_eq!(framer.scan(&wire[9..]), Ok(None));
/// ```
#[derive(Clone, Debug)]
pub struct Framer {
    /// Start of the first block that was not read yet; beyond the buffer while a long BLOB is still
    /// arriving.
    position: usize,
    depth: u32,
    expect: Expect,
    limit_bytes: usize,
    limit_depth: u32,
}

/// What may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// The start of a message.
    Message,
    /// An attribute, or anything that may stand in an element.
    Attribute,
    /// The value of an attribute.
    AttributeValue,
    /// Anything that may stand in an element.
    Content,
}

impl Framer {
    /// A framer at the start of a message, which refuses messages of more than `limit_bytes`.
    pub fn new(limit_bytes: usize) -> Self {
        Framer { position: 0, depth: 0, expect: Expect::Message, limit_bytes, limit_depth: MAX_DEPTH }
    }

    /// A framer for an element that stands in `outer` others: together they may be no more than
    /// [`MAX_DEPTH`].
    pub(crate) fn inside(outer: u32) -> Self {
        Framer { limit_depth: MAX_DEPTH.saturating_sub(outer), ..Framer::new(usize::MAX) }
    }

    /// Continues with `bytes`, all that has arrived since the start of the current message. Gives its length
    /// once it is complete, and turns to the next message.
    ///
    /// # Errors
    /// A block kind that does not exist, a number out of range, a block where it may not stand, elements
    /// nested more than [`MAX_DEPTH`] deep, or a message longer than the limit, as soon as that is known.
    pub fn scan(&mut self, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        while let Some(rest) = bytes.get(self.position..).filter(|rest| !rest.is_empty()) {
            let at = self.position;
            let error = |rule| DecodeError::new(FIELD, at, rule);
            let Some(header) = read_header(rest).map_err(error)? else {
                return Ok(None);
            };
            self.step(header.kind).map_err(error)?;
            let end = header.body_len().and_then(|body| at.checked_add(header.len)?.checked_add(body));
            match end {
                Some(end) if end <= self.limit_bytes => self.position = end,
                _ => {
                    let size = end.unwrap_or(usize::MAX);
                    return Err(error(Rule::TooLarge { size, limit: self.limit_bytes }));
                }
            }
            if self.depth == 0 {
                let len = self.position;
                *self = Framer { limit_depth: self.limit_depth, ..Framer::new(self.limit_bytes) };
                return Ok(Some(len));
            }
        }
        Ok(None)
    }

    /// How many bytes the current message has at least, as far as is known.
    pub fn known_bytes(&self) -> usize {
        // Every open element still needs its close.
        self.position.saturating_add(self.depth.max(1) as usize)
    }

    fn step(&mut self, kind: BlockKind) -> Result<(), Rule> {
        let unexpected = Err(Rule::UnexpectedBlock(kind.as_str()));
        self.expect = match (self.expect, kind) {
            (Expect::AttributeValue, BlockKind::Udata) => Expect::Attribute,
            (Expect::AttributeValue, _) => return unexpected,
            (_, BlockKind::Tag | BlockKind::Dtag | BlockKind::Ext) => {
                if self.depth >= self.limit_depth {
                    return Err(Rule::TooDeep);
                }
                self.depth += 1;
                if kind == BlockKind::Ext { Expect::Content } else { Expect::Attribute }
            }
            (Expect::Message, _) => return unexpected,
            (_, BlockKind::Close) => {
                self.depth -= 1;
                Expect::Content
            }
            (Expect::Attribute, BlockKind::Attr | BlockKind::Dattr) => Expect::AttributeValue,
            (Expect::Content, BlockKind::Attr | BlockKind::Dattr) => return unexpected,
            (_, BlockKind::Blob | BlockKind::Udata) => Expect::Content,
        };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An element with every kind of block in it.
    const ALL_KINDS: &[u8] = &[
        0x82, // DTAG 0
        0x8b, b'a', b'b', 0x8e, b'v', // ATTR ab="v"
        0x94, 0x86, // DATTR 2=""
        0x89, b'T', b'U', 0x00, // TAG TU
        0x80, 0x9e, b'x', b'y', b'z', 0x00, // EXT 0 with text
        0x95, 0x00, 0x87, // BLOB of two bytes that look like something else
        0x00,
    ];

    #[test]
    fn every_kind_of_block_is_stepped_over_wherever_the_pieces_are_cut() {
        assert_eq!(message_len(ALL_KINDS), Ok(Some(ALL_KINDS.len())));
        for cut in 0..ALL_KINDS.len() {
            assert_eq!(message_len(&ALL_KINDS[..cut]), Ok(None), "cut at {cut}");
            for second in cut..ALL_KINDS.len() {
                let mut framer = Framer::new(ALL_KINDS.len());
                assert_eq!(framer.scan(&ALL_KINDS[..cut]), Ok(None));
                assert_eq!(framer.scan(&ALL_KINDS[..second]), Ok(None));
                assert!(framer.known_bytes() <= ALL_KINDS.len());
                assert_eq!(framer.scan(ALL_KINDS), Ok(Some(ALL_KINDS.len())));
            }
        }
    }

    #[test]
    fn blocks_that_may_not_stand_where_they_do_are_refused() {
        let refused = |bytes: &[u8]| message_len(bytes).unwrap_err();
        let block = |offset, kind| DecodeError::new("message", offset, Rule::UnexpectedBlock(kind));
        assert_eq!(refused(&[0x00]), block(0, "CLOSE"));
        assert_eq!(refused(&[0x8d, 1]), block(0, "BLOB"));
        assert_eq!(refused(&[0x8e, b'a']), block(0, "UDATA"));
        assert_eq!(refused(&[0x84]), block(0, "DATTR"));
        assert_eq!(refused(&[0xf2, 0x84, 0x00]), block(2, "CLOSE"));
        assert_eq!(refused(&[0xf2, 0x8d, 1, 0x84]), block(3, "DATTR"));
        assert_eq!(refused(&[0xf2, 0x83, b'a', 0x8d, 1]), block(3, "BLOB"));
        assert_eq!(refused(&[0xf2, 0x87]).rule, Rule::TypeOutOfRange(7));
    }

    #[test]
    fn nesting_is_bounded_and_so_is_the_length() {
        let nested = |depth: usize| [vec![0xf2; depth], vec![0x00; depth]].concat();
        let deepest = nested(MAX_DEPTH as usize);
        assert_eq!(message_len(&deepest), Ok(Some(deepest.len())));
        let error = message_len(&nested(MAX_DEPTH as usize + 1)).unwrap_err();
        assert_eq!(error, DecodeError::new("message", MAX_DEPTH as usize, Rule::TooDeep));

        assert_eq!(Framer::new(deepest.len()).scan(&deepest), Ok(Some(deepest.len())));
        let limit = deepest.len() - 1;
        let error = Framer::new(limit).scan(&deepest).unwrap_err();
        assert_eq!(error.rule, Rule::TooLarge { size: limit + 1, limit });
        // A length that can never be reached is refused before the bytes arrive.
        assert!(Framer::new(1000).scan(&[0xf2, 0x7f, 0x7f, 0x85]).is_err());
    }
}
