//! Whether what is written is looked at, and through what.

use std::ffi::OsStr;
use std::io::IsTerminal;

/// Does somebody look at it through a terminal that can do more than write one line after the other?
pub(super) fn is_terminal(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && has_commands(std::env::var_os("TERM").as_deref())
}

/// Whether a terminal of that name takes commands, for colours and for a line that is written anew.
fn has_commands(name: Option<&OsStr>) -> bool {
    name.is_none_or(|name| name != "dumb")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_that_can_only_write_lines_is_told_nothing_else() {
        assert!(has_commands(None) && has_commands(Some(OsStr::new("xterm"))));
        assert!(!has_commands(Some(OsStr::new("dumb"))));
    }
}
