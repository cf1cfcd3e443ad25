//! Mistakes of an experiment, each at its key.

use super::origin::KeyPath;
use crate::experiment::plan::{LinkIndex, NodeIndex};
use crate::experiment::problem::suggest;

/// A mistake and the key it is at; its line is looked up by the caller.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finding {
    /// The key, such as `link.a-b.kind`.
    pub key: String,
    /// The way to where its value was said, key by key; nothing where it stands at the key itself.
    pub(in crate::experiment) place: KeyPath,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub suggestion: Option<String>,
}

/// Collects mistakes while a plan is made.
#[derive(Debug, Default)]
pub(crate) struct Findings(pub(in crate::experiment) Vec<Finding>);

impl Findings {
    pub(crate) fn add(
        &mut self,
        key: impl Into<String>,
        message: impl Into<String>,
        suggestion: Option<String>,
    ) {
        self.0.push(Finding { key: key.into(), message: message.into(), suggestion, place: KeyPath::new() });
    }

    /// One of a few words, or a mistake that names them.
    pub(crate) fn word<T: Clone>(&mut self, key: &str, given: &str, known: &[(&str, T)]) -> Option<T> {
        let found = known.iter().find(|(word, _)| *word == given).map(|(_, value)| value.clone());
        if found.is_none() {
            let words: Vec<&str> = known.iter().map(|(word, _)| *word).collect();
            self.add(key, format!("`{given}` is not known here"), Some(suggest(given, &words)));
        }
        found
    }

    /// The place of a name among others, or a mistake that names them.
    pub(in crate::experiment) fn place(
        &mut self,
        key: &str,
        what: &str,
        given: &str,
        known: &[&str],
    ) -> Option<usize> {
        let found = known.iter().position(|name| *name == given);
        if found.is_none() {
            self.add(key, format!("there is no {what} called `{given}`"), Some(suggest(given, known)));
        }
        found
    }

    /// The node of a name, or a mistake that names those that there are.
    pub(in crate::experiment) fn node(
        &mut self,
        key: &str,
        given: &str,
        nodes: &[&str],
    ) -> Option<NodeIndex> {
        self.place(key, "node", given, nodes).map(NodeIndex)
    }

    /// The link of a name, or a mistake that names those that there are.
    pub(in crate::experiment) fn link(
        &mut self,
        key: &str,
        given: &str,
        links: &[&str],
    ) -> Option<LinkIndex> {
        self.place(key, "link", given, links).map(LinkIndex)
    }

    /// A controller that there is, with its parameters as in `pcon/beta~0.8`, or a mistake that says why not.
    pub(in crate::experiment) fn controller<'a>(&mut self, key: &str, given: &'a str) -> Option<&'a str> {
        let Err(error) = given.parse::<flow::ControllerSpec>() else { return Some(given) };
        let words: Vec<&str> = flow::controller_names().collect();
        let name = given.split('/').next().unwrap_or(given);
        self.add(key, error.to_string(), Some(suggest(name, &words)));
        None
    }

    /// A name of the file's own that can be part of a file's name, an address and a measure.
    pub(in crate::experiment) fn name(&mut self, key: &str, what: &str, given: &str) {
        let good = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
        if given.is_empty() || given.len() > 24 || !given.chars().all(good) {
            let hint = Some("use up to 24 letters, digits, `-` and `_`".to_owned());
            self.add(key, format!("`{given}` cannot be the name of {what}"), hint);
        }
    }

    /// A name in URI form that packets can carry.
    pub(in crate::experiment) fn prefix(&mut self, key: &str, given: &str) {
        if let Err(error) = given.parse::<packet::Name>() {
            self.add(
                key,
                format!("`{given}` is not a name: {error}"),
                Some("write it as /like/this".to_owned()),
            );
        } else if !given.starts_with('/') {
            self.add(key, format!("`{given}` is not a name"), Some(format!("write /{given}")));
        }
    }
}
