//! The command that a run was begun with: its file, a key that it was run over, and options, as its record
//! has noted them.

use super::anew::pasted;
use super::folder::RunRecord;
use crate::experiment::added_sweep;

/// The options with a value that a run may have been begun with.
const WITH_VALUES: [&str; 5] = ["--repeats", "--seed", ONLY, SHARD, "--format"];

/// The one that says of which share of the cases it is.
const SHARD: &str = "--shard";

/// The one that chooses cases by their names.
const ONLY: &str = "--only";

/// The one that leaves controls out.
const NO_CONTROLS: &str = "--no-controls";

/// What earlier versions noted of a sweep behind the name of its file.
const SWEPT: &str = " with --key and --values";

/// The sweep that was said beside a file.
#[derive(Debug, PartialEq, Eq)]
enum Sweep {
    /// None was.
    None,
    /// Of this key over these values.
    Over(String, Vec<String>),
    /// One that nobody knows any more.
    Lost,
}

/// The command that a run was begun with.
#[derive(Debug)]
pub(crate) struct StartCommand {
    file: String,
    sweep: Sweep,
    /// From `--on` on, each with a blank before it.
    pub(super) options: String,
}

/// The command that runs a file over values of a key.
pub(super) fn begun_over(file: &str, key: &str, values: &[String]) -> String {
    let words = [file, key, &values.join(",")].map(pasted);
    let [file, key, values] = words;
    format!("cairn lab sweep {file} --key {key} --values {values}")
}

/// Which cases of its experiment a run does not have, whatever its share.
#[derive(Debug)]
pub(super) struct LeftOut {
    controls: bool,
    /// All but those with this in their names.
    only: Option<String>,
}

impl LeftOut {
    /// By the command that a run was begun with.
    pub(super) fn by(command: &str) -> Self {
        let words = words_of(command);
        let only = words.iter().skip_while(|word| *word != ONLY).nth(1).cloned();
        LeftOut { controls: words.iter().any(|word| word == NO_CONTROLS), only }
    }

    /// Whether that case is left out.
    pub(super) fn concerns(&self, case: &str, is_control: bool) -> bool {
        is_control && self.controls || self.only.as_deref().is_some_and(|only| !case.contains(only))
    }
}

/// The words of a command as [`pasted`] has written them.
fn words_of(command: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => word.extend(letters.next()),
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            letter => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// A command without the option that says of which share of the cases it is.
pub(super) fn of_all_shares(command: &str) -> String {
    let mut words = words_of(command).into_iter();
    let mut kept = Vec::new();
    while let Some(word) = words.next() {
        if word == SHARD {
            words.next();
        } else {
            kept.push(pasted(&word));
        }
    }
    kept.join(" ")
}

impl StartCommand {
    /// As a record has it: the options that there are, for it may have been changed by anybody, and whoever
    /// pastes an advice runs it. `text` is the experiment as the run's folder has it, at whose end is the
    /// sweep that earlier versions have not noted. Nothing of those that have noted no command.
    pub(crate) fn of(record: &RunRecord, text: &str) -> Option<Self> {
        let words = words_of(&record.command);
        let begin = words.iter().position(|word| word == "--on")?;
        let (file, sweep) = match words.get(2..begin)? {
            [what, file, key, name, values, of]
                if what == "sweep" && key == "--key" && values == "--values" =>
            {
                (file.clone(), Sweep::Over(name.clone(), of.split(',').map(str::to_owned).collect()))
            }
            [_, file @ ..] => {
                let file = file.join(" ");
                match file.strip_suffix(SWEPT) {
                    Some(file) => {
                        let added = added_sweep(text);
                        (file.to_owned(), added.map_or(Sweep::Lost, |(key, values)| Sweep::Over(key, values)))
                    }
                    None => (file, Sweep::None),
                }
            }
            [] => return None,
        };
        let mut options = format!(" --on {}", pasted(&record.backend));
        let mut rest = words.get(begin + 2..)?.iter();
        while let Some(word) = rest.next() {
            if WITH_VALUES.contains(&word.as_str()) {
                options += &format!(" {word} {}", pasted(rest.next()?));
            } else if word == NO_CONTROLS {
                options += " --no-controls";
            }
        }
        Some(StartCommand { file, sweep, options })
    }

    /// The same with the file called otherwise.
    pub(crate) fn of_file(self, called: impl Fn(&str) -> String) -> Self {
        StartCommand { file: called(&self.file), ..self }
    }

    /// The command that it was begun with; nothing where a part of that is not known any more.
    pub(crate) fn command(&self) -> Option<String> {
        let StartCommand { file, sweep, options } = self;
        match sweep {
            Sweep::None => Some(format!("cairn lab run {}{options}", pasted(file))),
            Sweep::Over(key, values) => Some(begun_over(file, key, values) + options),
            Sweep::Lost => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_of_all_shares_has_every_other_option() {
        let command = |shard: &str| {
            format!("cairn lab run 'my files/x.toml' --on sim --only 'a b'{shard} --no-controls")
        };
        assert_eq!(of_all_shares(&command(" --shard 2/3")), command(""));
        assert_eq!((of_all_shares(&command("")), of_all_shares("")), (command(""), String::new()));
    }

    #[test]
    fn words_are_read_back_as_they_were_quoted() {
        for word in ["runs/a-1.toml", "my runs/it's", "a;b", "\\"] {
            assert_eq!(words_of(&format!("x {} y", pasted(word))), ["x", word, "y"]);
        }
    }
}
