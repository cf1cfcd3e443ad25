//! The threads of the node: which comes first, and that one has ended.

use std::sync::mpsc::SyncSender;

/// Keeps the calling thread on one processor, if one is named.
pub(crate) fn pin_to_cpu(cpu: Option<usize>) {
    let Some(cpu) = cpu else { return };
    if let Err(error) = system::processors::stay_on(&[cpu]) {
        tracing::warn!(cpu, %error, "the data plane cannot be kept on this processor");
    }
}

/// Has the kernel wake the calling thread as soon as its timers are due. By its own habit it puts that off by
/// up to 50 us, so that timers come together: frames that a link delays would all leave so much later.
pub(crate) fn be_woken_on_time() {
    let shortest = Some(std::num::NonZeroU64::MIN);
    if let Err(error) = rustix::thread::set_current_timer_slack(shortest) {
        tracing::debug!(%error, "timers of this thread are as late as the kernel likes");
    }
}

/// How far the other threads stand behind the data plane, in steps of `nice`: where they share a processor
/// with it, it gets three times as much as one of them.
const BEHIND: i32 = 5;

/// Lets the data plane go first where the calling thread shares a processor with it. What a stranger makes
/// this thread do then delays nobody's packets.
pub(crate) fn go_behind_the_data_plane() {
    if let Err(error) = rustix::process::nice(BEHIND) {
        tracing::debug!(%error, "this thread is as urgent as the data plane");
    }
}

/// Says that a thread has ended, whatever the reason: also when it panics.
pub(crate) struct EndNotifier(pub(crate) SyncSender<()>);

impl Drop for EndNotifier {
    fn drop(&mut self) {
        // The end of the other one may have been told already.
        let _ = self.0.try_send(());
    }
}
