//! What a person sees while a run goes on.

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use lab::analysis::ReadProgress;
use lab::run::progress::Progress;

use super::terminal::is_terminal;
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
    /// The virtual time of repeats that go on beside each other.
    virtual_time: VirtualTime,
    sampled: Option<Instant>,
    /// In virtual time there is little to wait for: only a terminal is told of every step.
    pub(super) brief: bool,
}

/// Repeats of all cases.
struct Repeats {
    /// Those before the one that runs.
    before: u64,
    all: u64,
}

/// How much of the virtual time of all repeats is done.
#[derive(Default)]
struct VirtualTime {
    /// When this run began, or went on.
    before: Option<f64>,
    share: f64,
    /// Repeats that are done, and all, once one is.
    repeats: Option<(usize, usize)>,
}

impl VirtualTime {
    fn pass(&mut self, share: f64) {
        self.before.get_or_insert(share);
        self.share = share;
    }

    /// How much is done after so many seconds, and how long the rest will take at this pace.
    fn words(&self, passed: f64) -> String {
        let before = self.before.unwrap_or(0.0);
        let of_rest = if before < 1.0 { (self.share - before) / (1.0 - before) } else { 0.0 };
        let left = (of_rest > 0.0).then(|| passed / of_rest - passed);
        let left = left.map_or_else(String::new, |left| format!(", {} left", span(left)));
        let repeats =
            self.repeats.map_or_else(String::new, |(done, all)| format!("; {done} of {all} repeats"));
        format!("  {:.0} %{left}{repeats}", self.share * 100.0)
    }
}

impl Screen {
    pub(super) fn new(in_virtual_time: bool, form: Form) -> Result<Self, ToolError> {
        let terminal = is_terminal(&std::io::stderr());
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
            virtual_time: VirtualTime::default(),
            sampled: None,
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
            Progress::Repeat { .. }
            | Progress::Step(_)
            | Progress::Count { .. }
            | Progress::Share(_)
            | Progress::Skipped
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
                self.virtual_time.repeats = Some((*done, *all));
                self.show_virtual_time();
            }
            Progress::Share(share) => {
                self.virtual_time.pass(*share);
                self.show_virtual_time();
            }
            Progress::Skipped => self.line("  done before"),
        }
    }

    fn show_virtual_time(&mut self) {
        let words = self.virtual_time.words(self.began.elapsed().as_secs_f64());
        self.status(&words);
    }

    fn sample(&mut self, event: &lab::order::Event) {
        let lab::order::Event::Sample { node, seconds, pending, cpu_percent, .. } = event else {
            return;
        };
        // In virtual time there are more than anybody reads.
        if self.sampled.is_some_and(|sampled| sampled.elapsed() < REFRESH) {
            return;
        }
        self.sampled = Some(Instant::now());
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
        ReadingLine { terminal: is_terminal(&std::io::stderr()), began: Instant::now(), shown: None }
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
    output::printable(text).chars().take(terminal_width().saturating_sub(1).max(1)).collect()
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
    format!("{:.0} %, {} left", share * 100.0, span(passed / share - passed))
}

/// So many seconds, as people say it.
fn span(seconds: f64) -> String {
    match seconds {
        seconds if seconds < 90.0 => format!("{seconds:.0} s"),
        seconds if seconds < 5400.0 => format!("{:.0} min", seconds / 60.0),
        seconds => format!("{:.1} h", seconds / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_virtual_time_is_told_of_its_share_and_of_the_time_left_of_this_session() {
        let mut time = VirtualTime::default();
        assert_eq!(time.words(1.0), "  0 %");
        time.pass(0.5);
        assert_eq!(time.words(1.0), "  50 %", "that was done before");
        time.pass(0.75);
        time.repeats = Some((3, 8));
        assert_eq!(time.words(10.0), "  75 %, 10 s left; 3 of 8 repeats");
        let mut time = VirtualTime::default();
        time.pass(1.0);
        assert_eq!(time.words(10.0), "  100 %");
    }

    #[test]
    fn who_waits_for_a_run_to_be_read_is_told_of_its_repeats_and_of_the_time_left() {
        let read = ReadProgress { repeats: 369, of_repeats: 1475, share: 0.25 };
        assert_eq!(reading(read, 20.0), "  25 %, 60 s left; reading, 369 of 1475 repeats");
        let begun = ReadProgress { repeats: 0, of_repeats: 1475, share: 0.0 };
        assert_eq!(reading(begun, 1.0), "  0 %; reading, 0 of 1475 repeats");
    }
}
