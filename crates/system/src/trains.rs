//! Datagrams that leave in one system call: a train, which the kernel cuts into its datagrams when it has
//! walked its stack once for all of them. Who sends one fills the control message; what a train may be stands
//! here.

use std::io;

use rustix::io::Errno;

/// The most datagrams in one train that every kernel with segmentation offload takes.
pub const MAX_TRAIN_DATAGRAMS: usize = 64;
/// The most bytes in one train: what fits into one IP packet, which a train is until it is cut.
pub const MAX_TRAIN_BYTES: usize = 65_000;

/// What limits a train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainLimits {
    /// Datagrams in one.
    pub datagrams: usize,
    /// Bytes in one.
    pub bytes: usize,
    /// Datagrams of more bytes go alone: a path need not take trains of them, and none takes a train of
    /// datagrams that IP has to break up.
    pub largest_datagram: usize,
}

/// The first of some datagrams, which may leave as one train.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrainSize {
    /// How many there are, at least one.
    pub datagrams: usize,
    /// Bytes of each but the last, which may be smaller.
    pub segment: usize,
    /// Bytes in all.
    pub len_bytes: usize,
}

impl TrainLimits {
    /// What every kernel takes; how large datagrams may be is found out by trying, see
    /// [`refuses_segments`].
    pub const KERNEL: TrainLimits = TrainLimits {
        datagrams: MAX_TRAIN_DATAGRAMS,
        bytes: MAX_TRAIN_BYTES,
        largest_datagram: MAX_TRAIN_BYTES,
    };

    /// How many of the datagrams of these lengths can leave together: those of one length, and one shorter
    /// behind them. `None` if there are none.
    ///
    /// ```
    /// use cairn_system::trains::TrainLimits;
    /// let train = TrainLimits::KERNEL.train_of([1200, 1200, 700, 1200]).unwrap();
    /// assert_eq!((train.datagrams, train.segment, train.len_bytes), (3, 1200, 3100));
    /// ```
    #[inline]
    pub fn train_of(self, lengths: impl IntoIterator<Item = usize>) -> Option<TrainSize> {
        let mut lengths = lengths.into_iter();
        let segment = lengths.next()?;
        let mut train = TrainSize { datagrams: 1, segment, len_bytes: segment };
        if segment <= self.largest_datagram {
            for length in lengths {
                let is_full = train.datagrams >= self.datagrams || train.len_bytes + length > self.bytes;
                if length > segment || is_full {
                    break;
                }
                train.datagrams += 1;
                train.len_bytes += length;
                if length < segment {
                    break;
                }
            }
        }
        Some(train)
    }
}

/// Whether a train was refused for being one, so that its datagrams may leave one by one. From then on those
/// as large as its segments should.
pub fn refuses_segments(error: &io::Error) -> bool {
    let refusals = [Errno::INVAL, Errno::IO, Errno::MSGSIZE, Errno::OPNOTSUPP];
    Errno::from_io_error(error).is_some_and(|errno| refusals.contains(&errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(limits: TrainLimits, lengths: &[usize]) -> Option<usize> {
        let train = limits.train_of(lengths.iter().copied())?;
        assert_eq!(train.segment, lengths[0]);
        assert_eq!(train.len_bytes, lengths[..train.datagrams].iter().sum::<usize>());
        Some(train.datagrams)
    }

    #[test]
    fn a_train_has_one_length_but_for_its_end_and_fits_into_a_packet_of_ip() {
        for (lengths, expected) in [
            (&[][..], None),
            (&[100], Some(1)),
            (&[100, 100, 100], Some(3)),
            (&[100, 100, 50, 50], Some(3)),
            (&[50, 100], Some(1)),
            (&[8800; 9], Some(7)),
            (&[10; 100], Some(MAX_TRAIN_DATAGRAMS)),
        ] {
            assert_eq!(count(TrainLimits::KERNEL, lengths), expected, "{lengths:?}");
        }
    }

    #[test]
    fn a_datagram_over_the_limit_goes_alone() {
        let limits = TrainLimits { largest_datagram: 1399, ..TrainLimits::KERNEL };
        assert_eq!(count(limits, &[1400, 1400]), Some(1));
        assert_eq!(count(limits, &[1399, 1399]), Some(2));
        assert_eq!(count(TrainLimits::KERNEL, &[70_000, 10]), Some(1));
    }

    #[test]
    fn a_full_queue_is_not_about_segments() {
        for refusal in [Errno::INVAL, Errno::IO, Errno::MSGSIZE, Errno::OPNOTSUPP] {
            assert!(refuses_segments(&refusal.into()), "{refusal}");
        }
        for other in [Errno::NOBUFS, Errno::CONNREFUSED, Errno::AGAIN] {
            assert!(!refuses_segments(&other.into()), "{other}");
        }
        assert!(!refuses_segments(&io::Error::other("no number")));
    }
}
