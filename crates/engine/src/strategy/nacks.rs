//! What most strategies do with a Nack.

use packet::NackReason;

use super::StrategyContext;
use crate::drop_reason::DropReason;

/// What most strategies do with an Interest that they can send to nobody: it goes back. While a copy of it is
/// still under way for somebody else, or for the same consumer, it waits for that one's answer instead.
pub(super) fn refuse(context: &mut StrategyContext<'_>, reason: NackReason, drop: DropReason) {
    if context.has_pending_out_records() {
        context.drop_arrival(drop);
    } else {
        context.nack_all(reason, drop);
    }
}

/// Waits until everybody the Interest was sent to has sent it back, then passes the least severe reason on to
/// all who wait. A face that is gone, or whose time is over, is not waited for.
///
/// One special case, as in NFD: if the only one who has not answered is also waiting for the Interest, it
/// waits for us as we wait for it, so it is told.
pub(super) fn pass_on_when_all_nacked(context: &mut StrategyContext<'_>) {
    if context.in_records().is_empty() {
        return;
    }
    let mut least_severe = NackReason::Unspecified;
    let mut silent = None;
    let mut silent_count = 0;
    for record in context.out_records() {
        match record.nacked {
            Some(reason) => least_severe = least_severe.min(reason),
            None if record.expires <= context.now() || !context.has_face(record.face) => {}
            None => {
                silent = Some(record.face);
                silent_count += 1;
            }
        }
    }
    match silent {
        None => context.nack_all(least_severe, DropReason::NoNextHop),
        Some(face) if silent_count == 1 && context.in_records().iter().any(|record| record.face == face) => {
            context.nack_to(face, least_severe);
        }
        Some(_) => {}
    }
}
