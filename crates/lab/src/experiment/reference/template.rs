//! A file to begin with.

/// A small experiment with comments, for `cairn lab new`.
#[must_use]
pub fn template(title: &str) -> String {
    include_str!("template.toml").replace("TITLE", &title.replace(['"', '\\'], "'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    #[test]
    fn what_a_newcomer_gets_passes_every_check() {
        let text = template("My \"first\" experiment");
        Experiment::parse("new", "new.toml", &text).unwrap_or_else(|problems| panic!("{problems}"));
    }
}
