//! Settings that are on or off, and the flags and masks in which commands carry them.

use clap::ValueEnum;

/// What is said of a setting that is to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// Flags, and the mask that says which of them count; neither if nothing was said of any setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MaskedFlags {
    pub(crate) flags: Option<u64>,
    pub(crate) mask: Option<u64>,
}

/// The flags of those settings that something was said of; each setting is given with its bit.
pub(crate) fn masked_flags(settings: &[(Option<Switch>, u64)]) -> MaskedFlags {
    let given = || settings.iter().filter_map(|(switch, bit)| switch.map(|switch| (switch, bit)));
    let mask = given().fold(0, |mask, (_, bit)| mask | bit);
    let flags = given().filter(|(switch, _)| *switch == Switch::On).fold(0, |flags, (_, bit)| flags | bit);
    if mask == 0 { MaskedFlags::default() } else { MaskedFlags { flags: Some(flags), mask: Some(mask) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_is_in_the_mask() {
        assert_eq!(
            masked_flags(&[(Some(Switch::On), 2), (Some(Switch::Off), 4), (None, 1)]),
            MaskedFlags { flags: Some(2), mask: Some(6) }
        );
        assert_eq!(masked_flags(&[(None, 2)]), MaskedFlags::default());
    }
}
