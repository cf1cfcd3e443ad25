//! Where frames go before they are sent.

/// Where a codec puts the frames it makes.
pub(crate) trait FrameSink {
    /// The bytes that the next frame is appended to.
    fn bytes(&mut self) -> &mut Vec<u8>;
    /// A frame is complete: all that was appended since the last one, and behind it `packet`, if there is
    /// one.
    fn end_frame(&mut self, packet: Option<packet::Buffer>);
}
