//! Where the keys of a link stand.

use crate::experiment::model;

/// What is said of a link itself, and of all.
#[derive(Clone, Copy)]
pub(super) struct LinkKeys<'a> {
    pub(super) own: Option<&'a model::Link>,
    pub(super) defaults: Option<&'a model::Link>,
}

impl LinkKeys<'_> {
    /// What is said of the link itself, or else of all.
    pub(super) fn of<T>(self, key: impl Fn(&model::Link) -> Option<T>) -> Option<T> {
        self.own.and_then(&key).or_else(|| self.defaults.and_then(&key))
    }
}
