//! What is expected, and runs in which it must fail.

use std::collections::BTreeMap;

use super::is_empty;
use crate::experiment::bounds::About;
use crate::experiment::reference::describe::tables;
use crate::experiment::units::Share;

tables! {
    /// What the result is held against: a bound, another measure, or a paper's number with a tolerance.
    Expect as "expect" {
        /// A name, by which controls refer to it.
        name: Option<String> = "no control can name it",
        /// What is expected, in a sentence.
        say: String,
        /// The measure, such as `n2.pending.max`; ` @ name` behind it names a case.
        value: String,
        /// The measure or number that it must at least be. A number may have its unit, such as
        /// `"14.4 Mbit/s"` or `"20 ms"`; without one it is in that of the measure. All of the 95 % interval
        /// must fulfil it; the same holds for the keys below.
        at_least: Option<toml::Value> = "no lower bound",
        /// The measure or number that it must at most be.
        at_most: Option<toml::Value> = "no upper bound",
        /// The measure or number it must be greater than. What is equal is not greater.
        more_than: Option<toml::Value> = "no such bound",
        /// The measure or number it must be less than.
        less_than: Option<toml::Value> = "no such bound",
        /// The measure it must be equal to, within `margin`, in both directions: by two one-sided tests.
        same_as: Option<String> = "no such measure",
        /// How far from `same_as` it may be, as a part of it.
        margin: Option<Share> = "5 %",
        /// Measures that follow it, such as those of the next nodes: each must be less than the one before.
        falls: Vec<String> = "none",
        /// Measures that follow it, each greater than the one before.
        rises: Vec<String> = "none",
        /// A factor for the bound, as in "at least twice".
        times: Option<f64> = "1",
        /// The number it must be near, with its unit or in that of the measure.
        about: Option<About> = "no such number",
        /// How far from that number it may be, as a part of it.
        within: Option<Share> = "20 %",
        /// What the paper says, for the table in the report.
        paper: Option<String> = "nothing",
        /// Why it is so in this setting, whatever the forwarder does, with the key of a setting of what is
        /// measured or lies on its way, such as `link.*.rate`. Then it is no finding, and is not called
        /// confirmed: reports show the reason as said by the file, with the values of its keys.
        by_construction: Option<String> = "nothing does",
        /// Why nothing here can tell whether it is so. Then it is listed as not testable, `value` is what is
        /// nearest to it, and it needs no bound.
        not_testable: Option<String> = "it is judged",
        /// The backends for which it is stated. On others it is listed as not testable.
        on: Vec<String> = "all",
    }

    /// A run without the cause that is named for something expected. There it must fail; where it holds as
    /// well, it says nothing.
    Control as "control" {
        /// Its name; it follows the case's.
        name: String,
        /// What is taken away: the cause that the paper names, and nothing else. What was tested is what
        /// `set` changes; reports show that first.
        removes: String,
        /// Keys and their values, as in a case.
        set: BTreeMap<String, toml::Value> = "nothing is changed",
        /// Which part of the cause each key of `set` is, in a sentence. It must be said of each where there
        /// are several, or where one is a whole table; `duration` is none, where a run ends with its work.
        parts: BTreeMap<String, String> = "not needed of a single key",
        /// The names of the expectations that must fail.
        fails: Vec<String>,
    }
}
