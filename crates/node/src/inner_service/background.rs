//! When the thread of a service does work that nobody waits for.
//!
//! Whoever asks for something comes first. But who never stops asking must not keep that work from being done
//! for ever, or routes that others have changed would never reach the prefixes below them.

/// So many things are done for others until a piece of the background work is done between two of them.
const MAX_OTHERS_BETWEEN: u32 = 16;

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// A piece of the work that nobody waits for.
    Background,
    /// Nothing, until something happens.
    Wait,
    /// See what others want.
    LookAgain,
}

/// Counts what is done for others.
#[derive(Debug, Default)]
pub(super) struct BackgroundShare {
    others: u32,
}

impl BackgroundShare {
    /// What to do after a look at what others want: whether something was done for them, and whether there
    /// is background work.
    pub(super) fn next(&mut self, has_worked: bool, has_background_work: bool) -> Next {
        self.others += u32::from(has_worked);
        match (has_worked, has_background_work) {
            (false, false) => Next::Wait,
            (true, false) => Next::LookAgain,
            (true, true) if self.others < MAX_OTHERS_BETWEEN => Next::LookAgain,
            (_, true) => {
                self.others = 0;
                Next::Background
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is done of work that never ends, and for others, in `turns` turns.
    fn share(has_others: bool, turns: u32) -> u32 {
        let mut background = BackgroundShare::default();
        let pieces = (0..turns).filter(|_| background.next(has_others, true) == Next::Background);
        pieces.count() as u32
    }

    #[test]
    fn who_asks_comes_first_and_who_never_stops_asking_does_not_keep_the_rest_from_being_done() {
        assert_eq!(share(false, 100), 100);
        assert_eq!(share(true, 16 * 100), 100);
    }

    #[test]
    fn without_background_work_the_thread_sleeps_when_nobody_wants_anything() {
        let mut background = BackgroundShare::default();
        assert_eq!(background.next(true, false), Next::LookAgain);
        assert_eq!(background.next(false, false), Next::Wait);
    }
}
