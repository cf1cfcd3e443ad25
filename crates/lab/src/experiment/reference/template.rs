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

    #[test]
    fn what_it_offers_in_comments_passes_every_check_too() {
        let text = template("mine");
        let offered =
            text.replace("# [[sweep]]", "[[sweep]]").replace("# key", "key").replace("# values", "values");
        assert_eq!(offered.matches("[[sweep]]").count(), 1);
        Experiment::parse("new", "new.toml", &offered).unwrap_or_else(|problems| panic!("{problems}"));
    }
}
