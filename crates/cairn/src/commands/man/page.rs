//! One manual page.

use std::fmt::Write as _;

use clap::Command;

/// The page of one command.
#[derive(Clone)]
pub(super) struct Page {
    command: Command,
    help: Help,
    /// Names of pages to look at next.
    see_also: Vec<String>,
}

/// What stands behind the options in the help of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Help {
    notes: Vec<String>,
    examples: Vec<String>,
    exit: Option<ExitCodes>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ExitCodes {
    /// Where they are from, if that is said.
    origin: String,
    /// Each with its meaning.
    codes: Vec<(u8, String)>,
    /// What is said of others.
    note: Option<String>,
}

/// Exit codes of commands that say nothing of them.
const USUAL_EXIT: &str = "Exit codes: 0 done; 1 failure; 2 wrong usage.";

/// Variables of the environment, and the option of a command that makes them matter.
const VARIABLES: &[(&str, &str, &str)] = &[
    (
        "connect",
        "NDN_CLIENT_TRANSPORT",
        "The forwarder, if --connect does not say it: a URI such as unix:///run/nfd/nfd.sock.",
    ),
    (
        "socket",
        "NDN_CLIENT_TRANSPORT",
        "The forwarder beside whose unix socket that of captures is looked for, if --socket does not say it.",
    ),
    ("connect", "XDG_RUNTIME_DIR", "The folder where the socket of a forwarder is that this user runs."),
    ("keys", "CAIRN_KEYS", "The folder with the keys, if --keys does not say it."),
    ("passphrase_file", "CAIRN_PASSPHRASE", "The passphrase of an exported key, if no file has it."),
    (
        "config",
        "CAIRN_LOG",
        "Levels of the log by module, before what the configuration says: info,cairn_node::plane=debug.",
    ),
    ("config", "XDG_RUNTIME_DIR", "Where the socket is made if /run/nfd cannot be."),
];

/// Files, and the option of a command that makes them matter.
const FILES: &[(&str, &str, &str)] = &[
    ("connect", "/run/nfd/nfd.sock", "The forwarder of this host, where NDN applications look for it."),
    ("connect", "~/.ndn/client.conf, /etc/ndn/client.conf", "The line transport= names another forwarder."),
    ("keys", "~/.cairn/keys", "Identities, keys and certificates; only their owner may look into it."),
    ("config", "/run/nfd/nfd.sock", "The socket for applications on this host."),
    ("config", "/run/nfd/nfd.capture", "The socket for cairn capture."),
    ("config", "/etc/cairn/cairn.toml", "The configuration, in the systemd unit that comes with Cairn."),
    ("socket", "/run/nfd/nfd.capture", "The capture socket of the node of this host."),
];

impl Page {
    pub(super) fn new(command: &Command, above: Option<&Page>) -> Self {
        let after = command.get_after_long_help().or_else(|| command.get_after_help());
        let mut help = Help::read(&after.map(ToString::to_string).unwrap_or_default());
        let mut see_also = Vec::new();
        if let Some(above) = above {
            help.inherit(&above.help, command.get_bin_name().unwrap_or_default());
            see_also.push(above.name().to_owned());
            let beside =
                above.command.get_subcommands().filter(|other| other.get_name() != command.get_name());
            // Of the many commands of the first level those beside are no more akin than others.
            let beside =
                beside.filter(|other| !other.is_hide_set() && above.command.get_bin_name() != Some("cairn"));
            see_also.extend(beside.filter_map(|other| other.get_display_name().map(str::to_owned)));
        }
        let below = command.get_subcommands().filter(|below| !below.is_hide_set());
        see_also.extend(below.filter_map(|below| below.get_display_name().map(str::to_owned)));
        Page { command: command.clone(), help, see_also }
    }

    /// The name of the page, as `cairn-face-create`.
    pub(super) fn name(&self) -> &str {
        self.command.get_display_name().unwrap_or_else(|| self.command.get_name())
    }

    #[cfg(test)]
    pub(super) fn see_also(&self) -> &[String] {
        &self.see_also
    }

    pub(super) fn to_roff(&self) -> String {
        let page = clap_mangen::Man::new(self.command.clone());
        let page = page.source(concat!("cairn ", env!("CARGO_PKG_VERSION"))).manual("Cairn");
        let generated = |render: fn(&clap_mangen::Man, &mut dyn std::io::Write) -> std::io::Result<()>| {
            let mut bytes = Vec::new();
            // Writing to memory does not fail.
            let _ = render(&page, &mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        };
        let mut roff = Roff(generated(clap_mangen::Man::render_title));
        roff.0.push_str(&generated(clap_mangen::Man::render_name_section));
        roff.section("SYNOPSIS");
        let usage = self.command.clone().render_usage().to_string();
        for line in usage.trim_start_matches("Usage:").lines().map(str::trim).filter(|line| !line.is_empty())
        {
            roff.bold(line);
        }
        roff.section("DESCRIPTION");
        let about = self.command.get_long_about().or_else(|| self.command.get_about());
        let about = about.map(|about| format!("{}.", about.to_string().trim_end_matches('.')));
        for paragraph in about.iter().flat_map(|about| about.split("\n\n")).chain(self.help.notes()) {
            roff.paragraph(paragraph);
        }
        roff.0.push_str(&generated(clap_mangen::Man::render_options_section));
        if self.command.has_subcommands() {
            roff.0.push_str(&generated(clap_mangen::Man::render_subcommands_section));
        }
        self.conclude(&mut roff);
        roff.0
    }

    /// What stands behind the options.
    fn conclude(&self, roff: &mut Roff) {
        if !self.help.examples.is_empty() {
            roff.section("EXAMPLES");
            roff.verbatim(self.help.examples.iter().map(String::as_str));
        }
        let usual = Help::read(USUAL_EXIT).exit;
        if let Some(ExitCodes { origin, codes, note }) = self.help.exit.as_ref().or(usual.as_ref()) {
            roff.section("EXIT STATUS");
            if !origin.is_empty() {
                roff.text(&format!("The codes are {origin}."));
            }
            codes.iter().for_each(|(code, meaning)| roff.item(&code.to_string(), meaning));
            note.iter().for_each(|note| roff.text(&format!("{note}.")));
        }
        self.facts(roff, "ENVIRONMENT", VARIABLES);
        self.facts(roff, "FILES", FILES);
        roff.section("SEE ALSO");
        let others: Vec<String> = self.see_also.iter().map(|name| format!("{name}(1)")).collect();
        roff.text(&others.join(", "));
    }

    /// Those facts that an option of this command makes matter.
    fn facts(&self, roff: &mut Roff, title: &str, facts: &[(&str, &str, &str)]) {
        let has = |id: &str| self.command.get_arguments().any(|argument| argument.get_id() == id);
        let facts: Vec<_> = facts.iter().filter(|(option, ..)| has(option)).collect();
        if !facts.is_empty() {
            roff.section(title);
            facts.iter().for_each(|(_, name, meaning)| roff.item(name, meaning));
        }
    }
}

impl Help {
    fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str)
    }

    /// Takes the text behind the options apart: paragraphs, examples, exit codes.
    fn read(text: &str) -> Self {
        let mut help = Help::default();
        for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
            let (head, rest) = paragraph.split_once(':').unwrap_or((paragraph, ""));
            if head == "Examples" {
                help.examples.extend(rest.lines().filter(|line| !line.is_empty()).map(str::to_owned));
            } else if let Some(origin) = head.strip_prefix("Exit codes") {
                let origin = origin.trim_start_matches([',', ' ']).to_owned();
                help.exit = Some(ExitCodes { origin, ..ExitCodes::read(rest) });
            } else {
                help.notes.push(paragraph.to_owned());
            }
        }
        help
    }

    /// What the command above says holds for this one too: its exit codes, and those of its examples that are
    /// about it.
    fn inherit(&mut self, above: &Help, command: &str) {
        if self.examples.is_empty() {
            let is_mine = |line: &&String| {
                let line = line.trim_start();
                line.strip_prefix(command).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            };
            self.examples.extend(above.examples.iter().filter(is_mine).cloned());
        }
        // What all commands have in common says nothing about this one.
        let is_of_first_level = command.matches(' ').count() < 2;
        if self.exit.is_none() && !is_of_first_level {
            self.exit.clone_from(&above.exit);
        }
    }
}

impl ExitCodes {
    /// `0 done; 1 failure; others as this or that says.`: what begins with no number is a note.
    fn read(text: &str) -> Self {
        let mut exit = ExitCodes::default();
        for part in
            text.trim().trim_end_matches('.').split(';').map(str::trim).filter(|part| !part.is_empty())
        {
            let code = part.split_once(' ').and_then(|(code, meaning)| Some((code.parse().ok()?, meaning)));
            match (code, &mut exit.note) {
                (Some((code, meaning)), _) => exit.codes.push((code, meaning.to_owned())),
                (None, Some(note)) => note.push_str(&format!("; {part}")),
                (None, note) => *note = Some(part.to_owned()),
            }
        }
        exit
    }
}

/// Text in the language of manual pages.
struct Roff(String);

impl Roff {
    fn section(&mut self, title: &str) {
        let _ = writeln!(self.0, ".SH \"{title}\"");
    }

    /// Text that is filled.
    fn text(&mut self, text: &str) {
        for line in text.lines() {
            let _ = writeln!(self.0, "{}", escaped(line.trim()));
        }
    }

    fn bold(&mut self, line: &str) {
        let _ = writeln!(self.0, "\\fB{}\\fR\n.br", escaped(line));
    }

    /// A paragraph; one with lines that are set off keeps its lines.
    fn paragraph(&mut self, text: &str) {
        let _ = writeln!(self.0, ".PP");
        if text.lines().any(|line| line.starts_with("  ")) {
            self.verbatim(text.lines());
        } else {
            self.text(text);
        }
    }

    fn verbatim<'a>(&mut self, lines: impl Iterator<Item = &'a str>) {
        let _ = writeln!(self.0, ".nf");
        for line in lines {
            let _ = writeln!(self.0, "{}", escaped(line));
        }
        let _ = writeln!(self.0, ".fi");
    }

    fn item(&mut self, name: &str, meaning: &str) {
        let _ = writeln!(self.0, ".TP\n\\fB{}\\fR", escaped(name.trim()));
        self.text(meaning);
    }
}

/// What would mean something to the formatter no longer does.
fn escaped(line: &str) -> String {
    let escaped = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if escaped.starts_with('.') { format!("\\&{escaped}") } else { escaped }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_taken_apart() {
        let text = "A word.\n\nExamples:\n  cairn a b   first\n  cairn a c\n\nExit codes, as of ndnget: 0 good; 3 not so good.";
        let help = Help::read(text);
        assert_eq!(help.notes, ["A word."]);
        assert_eq!(help.examples, ["  cairn a b   first", "  cairn a c"]);
        let codes = vec![(0, "good".to_owned()), (3, "not so good".to_owned())];
        assert_eq!(help.exit, Some(ExitCodes { origin: "as of ndnget".to_owned(), codes, note: None }));
        let mut below = Help::default();
        below.inherit(&help, "cairn a b");
        assert_eq!((below.examples.len(), below.exit), (1, help.exit));
    }

    #[test]
    fn an_exit_code_is_a_number_and_other_words_are_a_note() {
        let exit =
            Help::read("Exit codes: 0 done; others as their pages say; 256 none; 2 wrong.").exit.unwrap();
        assert_eq!(exit.codes, [(0, "done".to_owned()), (2, "wrong".to_owned())]);
        assert_eq!(exit.note.as_deref(), Some("others as their pages say; 256 none"));
    }

    #[test]
    fn no_line_of_text_is_taken_for_a_request() {
        let mut roff = Roff(String::new());
        roff.text(".start\n'quoted' \\back");
        assert_eq!(roff.0, "\\&.start\n\\(aqquoted\\(aq \\eback\n");
    }
}
