//! The memory of a packet ring: slots that the kernel fills and we empty, in turn. Apart from the socket, so
//! that the memory that both sides share can be checked by an interpreter that knows no sockets.
#![allow(unsafe_code, reason = "the slots are memory that the kernel writes, too")]

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::face_uri::MacAddress;

/// Bytes of the header of a frame: both addresses and the type.
pub(super) const HEADER_BYTES: usize = 14;

/// A frame that arrived.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ReceivedFrame<'a> {
    pub(crate) from: MacAddress,
    pub(crate) to: MacAddress,
    /// What follows the header, padding included.
    pub(crate) payload: &'a [u8],
}

/// Slots one behind the other, each with a header of the kernel and a frame.
pub(super) struct RingSlots {
    memory: NonNull<u8>,
    slot_bytes: usize,
    slots: usize,
    next: usize,
    losses: Losses,
}

/// Frames that did not come through, by what the kernel says about those that did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Losses {
    /// Frames that were cut because they are larger than a slot.
    pub(crate) truncated: u64,
    /// Frames with the tag of a network other than ours.
    pub(crate) tagged: u64,
    /// Frames after which others found no slot.
    pub(crate) overruns: u64,
}

impl RingSlots {
    /// Slots in this memory.
    ///
    /// # Safety
    /// `memory` holds `slots` times `slot_bytes` initialised bytes for as long as this value is used, aligned
    /// like a `tpacket2_hdr`, and so is `slot_bytes`, which is at least the size of one. Who writes to it
    /// keeps to the protocol of TPACKET_V2: a slot belongs to the kernel until its status has the bit of
    /// the user, and to the user until the status is given back.
    pub(super) unsafe fn new(memory: NonNull<u8>, slot_bytes: usize, slots: usize) -> Self {
        RingSlots { memory, slot_bytes, slots, next: 0, losses: Losses::default() }
    }

    pub(super) fn as_ptr(&self) -> *mut u8 {
        self.memory.as_ptr()
    }

    /// What was lost since this was last asked.
    pub(super) fn take_losses(&mut self) -> Losses {
        std::mem::take(&mut self.losses)
    }

    /// Whether a frame is as it was sent, and for us; counts what is not.
    fn is_whole(&mut self, flags: u32, header: &libc::tpacket2_hdr) -> bool {
        self.losses.overruns += u64::from(flags & libc::TP_STATUS_LOSING != 0);
        let is_truncated = header.tp_snaplen < header.tp_len;
        self.losses.truncated += u64::from(is_truncated);
        // The kernel has taken the tag out of the frame; number 0 only gives a priority.
        let is_tagged = flags & libc::TP_STATUS_VLAN_VALID != 0 && header.tp_vlan_tci & 0xfff != 0;
        self.losses.tagged += u64::from(is_tagged);
        !is_truncated && !is_tagged
    }

    /// Shows the next frame to `visit`; false if there is none.
    pub(super) fn receive(&mut self, visit: impl FnOnce(ReceivedFrame<'_>)) -> bool {
        // SAFETY: `next` is less than `slots`, so the slot lies within the memory.
        let slot = unsafe { self.memory.as_ptr().add(self.next * self.slot_bytes) };
        // SAFETY: each slot begins with a header whose first word is the status. Kernel and process hand the
        // slot to each other by this word, so it is read and written atomically.
        let status = unsafe { AtomicU32::from_ptr(slot.cast()) };
        let flags = status.load(Ordering::Acquire);
        if flags & libc::TP_STATUS_USER == 0 {
            return false;
        }
        // SAFETY: the status says that the kernel has filled in the header and leaves the slot alone.
        let header = unsafe { slot.cast::<libc::tpacket2_hdr>().read() };
        let start = usize::from(header.tp_mac).min(self.slot_bytes);
        let length = (header.tp_snaplen as usize).min(self.slot_bytes - start);
        // SAFETY: within the slot by the two lines above, and not changed until the status is given back.
        let frame = unsafe { std::slice::from_raw_parts(slot.add(start), length) };
        if let (Some(to), Some(from), Some(payload)) =
            (frame.first_chunk::<6>(), frame.get(6..12), frame.get(HEADER_BYTES..))
            && let Ok(from) = from.try_into()
            && self.is_whole(flags, &header)
        {
            visit(ReceivedFrame { from: MacAddress(from), to: MacAddress(*to), payload });
        }
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.slots;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOT_BYTES: usize = 256;
    const SLOTS: usize = 4;
    /// Where the kernel puts frames.
    const OFFSET: u16 = 66;

    /// Memory as the kernel gives it, and the kernel's part played by the test.
    struct Kernel {
        /// Words, for the alignment.
        memory: Box<[u64]>,
    }

    impl Kernel {
        fn new() -> Self {
            Kernel { memory: vec![0; SLOT_BYTES * SLOTS / 8].into() }
        }

        fn place(&mut self) -> NonNull<u8> {
            NonNull::new(self.memory.as_mut_ptr()).unwrap().cast()
        }

        fn status(place: NonNull<u8>, slot: usize) -> u32 {
            // SAFETY: within the memory; the first word of a slot is only used atomically.
            unsafe { AtomicU32::from_ptr(place.as_ptr().add(slot * SLOT_BYTES).cast()) }
                .load(Ordering::Acquire)
        }

        /// Fills a slot: the header says what `start` and `length` say, true or not.
        fn fill(place: NonNull<u8>, slot: usize, start: u16, length: u32, frame: &[u8]) {
            assert_eq!(Kernel::status(place, slot), libc::TP_STATUS_KERNEL);
            // SAFETY: within the memory, and the slot is the kernel's, as was just seen.
            unsafe {
                let slot = place.as_ptr().add(slot * SLOT_BYTES);
                let header = slot.cast::<libc::tpacket2_hdr>();
                (*header).tp_mac = start;
                (*header).tp_snaplen = length;
                let bytes = std::slice::from_raw_parts_mut(slot.add(OFFSET.into()), frame.len());
                bytes.copy_from_slice(frame);
                AtomicU32::from_ptr(slot.cast()).store(libc::TP_STATUS_USER, Ordering::Release);
            }
        }
    }

    fn frame(payload: &[u8]) -> Vec<u8> {
        [&[1; 6][..], &[2; 6], &[0x86, 0x24], payload].concat()
    }

    fn receive(slots: &mut RingSlots) -> Option<Vec<u8>> {
        let mut received = None;
        let any = slots.receive(|frame| {
            assert_eq!((frame.to, frame.from), (MacAddress([1; 6]), MacAddress([2; 6])));
            received = Some(frame.payload.to_vec());
        });
        received.filter(|_| any)
    }

    #[test]
    fn slots_are_read_in_turn_and_given_back() {
        let mut kernel = Kernel::new();
        let place = kernel.place();
        // SAFETY: the memory has this size and is zero, aligned to eight bytes, and lives to the end of the
        // test.
        let mut slots = unsafe { RingSlots::new(place, SLOT_BYTES, SLOTS) };
        assert_eq!(receive(&mut slots), None);
        for number in 0..10u8 {
            let frame = frame(&[number; 100]);
            Kernel::fill(place, usize::from(number) % SLOTS, OFFSET, frame.len() as u32, &frame);
            assert_eq!(receive(&mut slots), Some(vec![number; 100]));
            assert_eq!(Kernel::status(place, usize::from(number) % SLOTS), libc::TP_STATUS_KERNEL);
            assert_eq!(receive(&mut slots), None);
        }
    }

    #[test]
    fn frames_that_were_cut_or_belong_to_another_network_are_not_shown_and_are_counted() {
        let mut kernel = Kernel::new();
        let place = kernel.place();
        // SAFETY: as above.
        let mut slots = unsafe { RingSlots::new(place, SLOT_BYTES, SLOTS) };
        let frame = frame(&[7; 20]);
        let cases = [
            (0, frame.len() as u32, 0, true),
            (0, 9000, 0, false),
            (libc::TP_STATUS_VLAN_VALID, frame.len() as u32, 5, false),
            (libc::TP_STATUS_VLAN_VALID | libc::TP_STATUS_LOSING, frame.len() as u32, 0x2000, true),
        ];
        for (slot, (flags, original, tag, is_shown)) in cases.into_iter().enumerate() {
            Kernel::fill(place, slot, OFFSET, frame.len() as u32, &frame);
            // SAFETY: within the memory; nobody reads the slot meanwhile.
            unsafe {
                let header = place.as_ptr().add(slot * SLOT_BYTES).cast::<libc::tpacket2_hdr>();
                (*header).tp_status |= flags;
                (*header).tp_len = original;
                (*header).tp_vlan_tci = tag;
            }
            let mut shown = false;
            assert!(slots.receive(|_| shown = true));
            assert_eq!(shown, is_shown, "{slot}");
        }
        assert_eq!(slots.take_losses(), Losses { truncated: 1, tagged: 1, overruns: 1 });
        assert_eq!(slots.take_losses(), Losses::default());
    }

    #[test]
    fn a_header_that_points_beyond_its_slot_shows_nothing_beyond_it() {
        let mut kernel = Kernel::new();
        let place = kernel.place();
        // SAFETY: as above.
        let mut slots = unsafe { RingSlots::new(place, SLOT_BYTES, SLOTS) };
        let frame = frame(&[7; 20]);
        let all = SLOT_BYTES - usize::from(OFFSET) - HEADER_BYTES;
        Kernel::fill(place, 0, OFFSET, u32::MAX, &frame);
        assert_eq!(receive(&mut slots).map(|payload| payload.len()), Some(all));
        for (slot, start) in [(1, u16::MAX), (2, SLOT_BYTES as u16), (3, SLOT_BYTES as u16 - 5)] {
            Kernel::fill(place, slot, start, u32::MAX, &frame);
            // Too short to be a frame: taken, and not shown.
            assert!(slots.receive(|frame| panic!("{frame:?}")));
        }
    }
}
