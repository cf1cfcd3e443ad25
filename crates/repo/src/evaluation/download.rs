//! How long a download takes of whose segments some are near and others far.

use std::collections::VecDeque;

use packet::time::Duration;

/// The path from a consumer to a router with a cache, and from there upstream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DownloadPath {
    /// Segments that are asked for beyond the last one that was delivered in order, at most.
    pub window: u32,
    /// Bytes of a segment.
    pub segment_bytes: u32,
    /// To the router and back.
    pub near: Duration,
    /// From the router upstream and back.
    pub far: Duration,
    /// Of the link to the consumer, in bits a second.
    pub near_rate: u64,
    /// Of the link from upstream, in bits a second.
    pub far_rate: u64,
}

/// Downloads, one after the other, each over idle links.
///
/// A consumer asks for the next segments when the oldest one has come that it waits for. What has to come
/// from upstream takes the far link first; then everything takes the near link, in the order in which it is
/// there. Both are queues without end, so nothing is lost and nobody asks twice.
#[derive(Debug)]
pub(super) struct Download {
    path: DownloadPath,
    /// Seconds that a segment takes on either link.
    near_seconds: f64,
    far_seconds: f64,
    /// When segments are there for the near link, and which they are; each queue is in order by itself.
    from_near: VecDeque<(f64, u32)>,
    from_far: VecDeque<(f64, u32)>,
    /// Which segments have come, from the first that is missing on.
    come: VecDeque<bool>,
}

impl Download {
    pub(super) fn new(path: DownloadPath) -> Self {
        let seconds = |rate: u64| f64::from(path.segment_bytes) * 8.0 / rate.max(1) as f64;
        Download {
            path,
            near_seconds: seconds(path.near_rate),
            far_seconds: seconds(path.far_rate),
            from_near: VecDeque::new(),
            from_far: VecDeque::new(),
            come: VecDeque::new(),
        }
    }

    /// Seconds until the last of the segments is there; `is_near` says which of them the router has.
    pub(super) fn seconds(&mut self, is_near: &[bool]) -> f64 {
        let half = self.path.near.as_secs_f64() / 2.0;
        let (mut now, mut near_free, mut far_free) = (0.0f64, 0.0f64, 0.0f64);
        let (mut asked, mut missing) = (0usize, 0usize);
        self.come.clear();
        loop {
            let end = is_near.len().min(missing + self.path.window.max(1) as usize);
            for (segment, &is_near) in is_near.iter().enumerate().take(end).skip(asked) {
                if is_near {
                    self.from_near.push_back((now + half, segment as u32));
                } else {
                    far_free = far_free.max(now + half + self.path.far.as_secs_f64()) + self.far_seconds;
                    self.from_far.push_back((far_free, segment as u32));
                }
                self.come.push_back(false);
            }
            asked = end;
            let Some((ready, segment)) = self.next() else { return now };
            near_free = near_free.max(ready) + self.near_seconds;
            now = near_free + half;
            if let Some(come) = self.come.get_mut(segment as usize - missing) {
                *come = true;
            }
            while self.come.front() == Some(&true) {
                self.come.pop_front();
                missing += 1;
            }
        }
    }

    /// What is there for the near link first.
    fn next(&mut self) -> Option<(f64, u32)> {
        match (self.from_near.front(), self.from_far.front()) {
            (Some((near, _)), Some((far, _))) if far < near => self.from_far.pop_front(),
            (None, _) => self.from_far.pop_front(),
            _ => self.from_near.pop_front(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 8,000 bytes are a millisecond on the near link and ten on the far one.
    const PATH: DownloadPath = DownloadPath {
        window: 4,
        segment_bytes: 8000,
        near: Duration::from_millis(20),
        far: Duration::from_millis(100),
        near_rate: 64_000_000,
        far_rate: 6_400_000,
    };

    fn milliseconds(path: DownloadPath, is_near: &[bool]) -> f64 {
        Download::new(path).seconds(is_near) * 1000.0
    }

    fn assert_near(measured: f64, reckoned: f64) {
        assert!((measured - reckoned).abs() < 1e-6, "{measured} instead of {reckoned}");
    }

    #[test]
    fn a_window_goes_out_for_each_round_trip() {
        assert_near(milliseconds(PATH, &[]), 0.0);
        assert_near(milliseconds(PATH, &[true]), 21.0);
        // Four come one behind the other; the fifth was asked for when the first had come.
        assert_near(milliseconds(PATH, &[true; 4]), 24.0);
        assert_near(milliseconds(PATH, &[true; 5]), 42.0);
        assert_near(milliseconds(PATH, &[false]), 131.0);
        // With the window open the slower link is all that counts.
        assert_near(milliseconds(DownloadPath { window: 100, ..PATH }, &[false; 100]), 120.0 + 1000.0 + 1.0);
    }

    #[test]
    fn a_far_segment_holds_up_the_near_ones_behind_it() {
        let far_first = milliseconds(PATH, &[false, true, true, true, true, true, true, true]);
        // Three near ones come beside it; the other four are asked for when it has come.
        assert_near(far_first, 131.0 + 24.0);
        // All of a kind together cost less than the same segments in turn.
        let mixed: Vec<bool> = (0..64).map(|segment| segment % 8 != 0).collect();
        let mut sorted = mixed.clone();
        sorted.sort_unstable();
        assert!(milliseconds(PATH, &mixed) > 2.0 * milliseconds(PATH, &sorted));
    }
}
