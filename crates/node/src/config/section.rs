//! Sections of the configuration that document themselves.

/// One key of a section.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) doc: &'static [&'static str],
}

/// Makes a struct with defaults, and the list of its keys with their documentation, from one table.
macro_rules! section {
    ($(#[doc = $about:literal])+ $name:ident { $($(#[doc = $doc:literal])+ $field:ident: $type:ty = $default:expr,)+ }) => {
        $(#[doc = $about])+
        #[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct $name {
            $($(#[doc = $doc])+ pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)+ }
            }
        }

        impl $name {
            pub(in crate::config) const ABOUT: &'static [&'static str] = &[$($about,)+];
            pub(in crate::config) const KEYS: &'static [$crate::config::section::Key] =
                &[$($crate::config::section::Key { name: stringify!($field), doc: &[$($doc,)+] },)+];
        }
    };
}

pub(super) use section;
