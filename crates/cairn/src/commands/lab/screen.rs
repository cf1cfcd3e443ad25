//! What a person sees while a run goes on.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lab::analysis::ReadProgress;
use lab::run::progress::Progress;

use super::verdicts::Form;
use crate::tool::interrupt::Interrupt;
use crate::tool::{ToolError, output};

/// The exit code of who was interrupted by a signal.
const INTERRUPTED: i32 = 130;

/// What a person sees while a run goes on.
pub(super) struct Screen {
    terminal: bool,
    began: Instant,
    step: String,
    seconds: f64,
    open: bool,
    interrupt: Interrupt,
    /// How whoever called is told that it was interrupted.
    form: Form,
    folder: Option<PathBuf>,
    repeats: Repeats,
    /// In virtual time there is little to wait for: only a terminal is told of every step.
    pub(super) brief: bool,
}

/// Repeats of all cases.
struct Repeats {
    /// Those before the one that runs.
    before: u64,
    all: u64,
}

impl Screen {
    pub(super) fn new(in_virtual_time: bool, form: Form) -> Result<Self, ToolError> {
        let terminal = std::io::stderr().is_terminal();
        Ok(Screen {
            terminal,
            brief: in_virtual_time && !terminal,
            began: Instant::now(),
            step: String::new(),
            seconds: 0.0,
            open: false,
            interrupt: Interrupt::catch()?,
            form,
            folder: None,
            repeats: Repeats { before: 0, all: 1 },
        })
    }

    /// Ends at Ctrl-C, and says how to go on. Whoever was started ends with this process.
    fn heed(&mut self) {
        if !self.interrupt.came() {
            return;
        }
        let how =
            self.folder.take().map(|folder| format!("; go on with: cairn lab resume {}", folder.display()));
        let why = format!("interrupted{}", how.unwrap_or_default());
        self.line(&why);
        if self.form == Form::Json {
            // Where that cannot be printed, the exit code says it.
            let _ = output::json(&serde_json::json!({ "error": why, "exit_code": INTERRUPTED }));
        }
        std::process::exit(INTERRUPTED);
    }

    /// How much of the whole is done, and how long the rest will take at this pace.
    fn overall(&self, part: f64) -> String {
        let share = ((self.repeats.before as f64 + part) / self.repeats.all.max(1) as f64).clamp(0.0, 1.0);
        time_left(share, self.began.elapsed().as_secs_f64())
    }

    /// A line that stays.
    pub(super) fn line(&mut self, text: &str) {
        let clear = if self.open { "\r\x1b[K" } else { "" };
        self.open = false;
        put(&format!("{clear}{}\n", output::harmless(text)));
    }

    /// A line that the next one replaces.
    pub(super) fn status(&mut self, text: &str) {
        if self.terminal {
            put(&format!("\r\x1b[K{}", one_line(text)));
            self.open = true;
        }
    }

    pub(super) fn show(&mut self, progress: &Progress) {
        self.heed();
        let is_wrong = |invalid: &[String]| !invalid.is_empty();
        match progress {
            Progress::Folder(path) if self.brief => self.folder = Some(path.clone()),
            Progress::Repeat { .. } | Progress::Step(_) | Progress::Count { .. } | Progress::Skipped
                if self.brief => {}
            Progress::Done { invalid } if self.brief && !is_wrong(invalid) => {}
            Progress::Folder(path) => {
                self.folder = Some(path.clone());
                self.line(&format!("run folder: {}", path.display()));
            }
            Progress::Repeat { case, name, repeat, seconds } => {
                self.seconds = *seconds;
                let before = (case.0 as u64 - 1) * u64::from(repeat.1) + u64::from(repeat.0) - 1;
                self.repeats = Repeats { before, all: case.1 as u64 * u64::from(repeat.1) };
                let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
                let text = format!("case {}/{}{name}, repeat {}/{}", case.0, case.1, repeat.0, repeat.1);
                self.line(&text);
            }
            Progress::Step(name) => {
                self.step.clone_from(name);
                self.status(&format!("  {name} …"));
                if !self.terminal {
                    self.line(&format!("  {:>6.1} s  {name}", self.began.elapsed().as_secs_f64()));
                }
            }
            Progress::Note(text) => self.line(&format!("  note: {text}")),
            Progress::Sample(event) => self.sample(event),
            Progress::Done { invalid } if invalid.is_empty() => self.line("  valid"),
            Progress::Done { invalid } => {
                self.line(&format!("  NOT VALID, and not used in means: {}", invalid.join("; ")));
            }
            Progress::Count { done, all } => {
                self.status(&format!("  {done} of {all} repeats"));
            }
            Progress::Skipped => self.line("  done before"),
        }
    }

    fn sample(&mut self, event: &lab::order::Event) {
        let lab::order::Event::Sample { node, seconds, pending, cpu_percent, .. } = event else {
            return;
        };
        let part = (seconds / self.seconds.max(0.1)).clamp(0.0, 1.0);
        let marks = (0..24).map(|mark| if f64::from(mark) < part * 24.0 { '█' } else { '·' });
        let bar: String = marks.collect();
        let pending = pending.map_or_else(|| "no answer".to_owned(), |pending| format!("{pending} pending"));
        let text = format!(
            "  {}; {} {bar} {seconds:4.0} of {:.0} s   {node}: {cpu_percent:3.0} % processor, {pending}",
            self.overall(part),
            self.step,
            self.seconds
        );
        self.status(&text);
    }
}

/// What a person sees while a run is read: nothing in the first second, and then on a terminal how far it is,
/// on one line that is gone in the end.
pub(super) struct ReadingLine {
    terminal: bool,
    began: Instant,
    shown: Option<Instant>,
}

impl ReadingLine {
    pub(super) fn new() -> Self {
        ReadingLine { terminal: std::io::stderr().is_terminal(), began: Instant::now(), shown: None }
    }

    pub(super) fn show(&mut self, read: ReadProgress) {
        let last = self.shown.unwrap_or(self.began);
        let pause = if self.shown.is_some() { REFRESH } else { SILENT_FOR };
        if self.terminal && last.elapsed() >= pause {
            self.shown = Some(Instant::now());
            put(&format!("\r\x1b[K{}", one_line(&reading(read, self.began.elapsed().as_secs_f64()))));
        }
    }
}

/// How much of a run was read in so many seconds.
fn reading(ReadProgress { repeats, of_repeats, share }: ReadProgress, passed: f64) -> String {
    format!("  {}; reading, {repeats} of {of_repeats} repeats", time_left(share, passed))
}

impl Drop for ReadingLine {
    fn drop(&mut self) {
        if self.shown.is_some() {
            put("\r\x1b[K");
        }
    }
}

/// So long nobody is told anything …
const SILENT_FOR: Duration = Duration::from_secs(1);
/// … and then so often.
const REFRESH: Duration = Duration::from_millis(200);

/// As much of a text as a line of the terminal holds: one that wraps could not be replaced.
fn one_line(text: &str) -> String {
    output::printable(text).chars().take(terminal_width().saturating_sub(1).max(20)).collect()
}

/// Shows something on standard error. A screen that is gone shows nothing, and the run goes on.
fn put(text: &str) {
    let mut screen = std::io::stderr().lock();
    let _ = screen.write_all(text.as_bytes()).and_then(|()| screen.flush());
}

/// How many columns the terminal has.
fn terminal_width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let asked = || rustix::termios::tcgetwinsize(std::io::stderr()).ok().map(|size| usize::from(size.ws_col));
    said.or_else(asked).filter(|width| *width > 0).unwrap_or(80)
}

/// How much of the whole is done after so many seconds, and how long the rest will take at this pace.
pub(super) fn time_left(share: f64, passed: f64) -> String {
    if share <= 0.0 {
        return "0 %".to_owned();
    }
    let left = passed / share - passed;
    let words = match left {
        left if left < 90.0 => format!("{left:.0} s"),
        left if left < 5400.0 => format!("{:.0} min", left / 60.0),
        left => format!("{:.1} h", left / 3600.0),
    };
    format!("{:.0} %, {words} left", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_run_to_be_read_is_told_of_its_repeats_and_of_the_time_left() {
        let read = ReadProgress { repeats: 369, of_repeats: 1475, share: 0.25 };
        assert_eq!(reading(read, 20.0), "  25 %, 60 s left; reading, 369 of 1475 repeats");
        let begun = ReadProgress { repeats: 0, of_repeats: 1475, share: 0.0 };
        assert_eq!(reading(begun, 1.0), "  0 %; reading, 0 of 1475 repeats");
    }
}
