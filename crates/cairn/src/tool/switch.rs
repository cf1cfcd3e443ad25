//! Settings that are on or off, and the flags and masks in which commands carry them.

use clap::ValueEnum;

/// What is said of a setting that is to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// The flags, and the mask that says which of them count, for those settings that something was said of;
/// neither if nothing was.
pub(crate) fn flags_and_mask(settings: &[(Option<Switch>, u64)]) -> (Option<u64>, Option<u64>) {
    let given = || settings.iter().filter_map(|(switch, bit)| switch.map(|switch| (switch, bit)));
    let mask = given().fold(0, |mask, (_, bit)| mask | bit);
    let flags = given().filter(|(switch, _)| *switch == Switch::On).fold(0, |flags, (_, bit)| flags | bit);
    if mask == 0 { (None, None) } else { (Some(flags), Some(mask)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_is_in_the_mask() {
        assert_eq!(
            flags_and_mask(&[(Some(Switch::On), 2), (Some(Switch::Off), 4), (None, 1)]),
            (Some(2), Some(6))
        );
        assert_eq!(flags_and_mask(&[(None, 2)]), (None, None));
    }
}
