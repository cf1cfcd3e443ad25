//! A bar on standard error, if that is a terminal and it takes longer than a moment.

use std::io::IsTerminal as _;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shows how far something is.
pub(crate) struct Progress {
    bar: ProgressBar,
    total: Option<u64>,
}

impl Progress {
    /// A bar that is not shown if `quiet`, or if nobody would see it.
    pub(crate) fn new(quiet: bool, message: &str) -> Self {
        let shown = !quiet && std::io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr_with_hz(5) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_message(message.to_owned());
        style(&bar, "{spinner} {msg} {bytes} {binary_bytes_per_sec}");
        Progress { bar, total: None }
    }

    /// How far it is now, in bytes, and how far it has to go as soon as that is known.
    pub(crate) fn set(&mut self, done: u64, total: Option<u64>) {
        if total != self.total
            && let Some(total) = total
        {
            self.bar.set_length(total);
            style(&self.bar, "{msg} [{wide_bar}] {percent}% {bytes}/{total_bytes} {bytes_per_sec} {eta}");
            self.total = Some(total);
        }
        self.bar.set_position(done);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn style(bar: &ProgressBar, template: &str) {
    // The templates are ours; one with a mistake shows the default bar.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}
