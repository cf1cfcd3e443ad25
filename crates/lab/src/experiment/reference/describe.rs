//! Types that know their own documentation, so that the reference and the suggestions cannot differ from the
//! code.

use std::collections::BTreeMap;

/// How the kind of a table of names begins.
const NAMED: &str = "name = ";
/// How the kind of a list begins.
const LIST: &str = "list of ";

/// What the reference says of one table of an experiment file.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// The table's name in the reference, such as `link`.
    pub title: &'static str,
    /// What the table is for.
    pub about: &'static [&'static str],
    /// Its keys, in order.
    pub fields: &'static [Field],
}

/// What the reference says of one key.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The key as it is written.
    pub key: &'static str,
    /// How it was written in earlier versions, which is still read.
    pub earlier: Option<&'static str>,
    /// What it means.
    pub about: &'static [&'static str],
    /// What is written there, in words.
    pub kind: fn() -> String,
    /// The table that is written there, when it is one.
    pub table: fn() -> Option<&'static Table>,
    /// What holds when the key is missing; `None` when it must be there.
    pub default: Option<&'static str>,
}

impl Field {
    /// Is it a table of entries by their names, such as `node`?
    pub(in crate::experiment) fn is_named(&self) -> bool {
        (self.kind)().starts_with(NAMED)
    }

    /// Is it a list of entries by their numbers, such as `route`?
    pub(in crate::experiment) fn is_list(&self) -> bool {
        (self.kind)().starts_with(LIST)
    }
}

impl Table {
    /// The documented key of that name, or that had it in earlier versions.
    #[must_use]
    pub fn field(&self, key: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.key == key || field.earlier == Some(key))
    }
}

/// A type that an experiment file can hold.
pub trait Described {
    /// What is written for it, in words, for the reference.
    fn kind() -> String;

    /// Its keys, when it is a table.
    fn table() -> Option<&'static Table> {
        None
    }
}

impl<T: Described> Described for Option<T> {
    fn kind() -> String {
        T::kind()
    }

    fn table() -> Option<&'static Table> {
        T::table()
    }
}

impl<T: Described> Described for Vec<T> {
    fn kind() -> String {
        format!("{LIST}{}", T::kind())
    }

    fn table() -> Option<&'static Table> {
        T::table()
    }
}

impl<T: Described> Described for BTreeMap<String, T> {
    fn kind() -> String {
        format!("{NAMED}{}", T::kind())
    }

    fn table() -> Option<&'static Table> {
        T::table()
    }
}

macro_rules! described_words {
    ($($type:ty = $words:literal),* $(,)?) => {
        $(impl Described for $type {
            fn kind() -> String {
                $words.to_owned()
            }
        })*
    };
}

described_words! {
    String = "text",
    bool = "true or false",
    u32 = "whole number",
    u64 = "whole number",
    f64 = "number",
    toml::Value = "any value",
}

/// Declares tables of the experiment file together with their documentation.
///
/// A field is `key: Type = "what holds without it"`, or without the default when the key must be given. One
/// that had another name in earlier versions is `key or "earlier": Type`.
macro_rules! tables {
    ($(
        $(#[doc = $about:literal])*
        $name:ident as $title:literal {
            $(
                $(#[doc = $doc:literal])*
                $field:ident $(or $earlier:literal)?: $type:ty $(= $default:literal)?
            ),* $(,)?
        }
    )*) => {
        $(
            $(#[doc = $about])*
            #[derive(Debug, Clone, PartialEq, serde::Deserialize, serde::Serialize)]
            #[serde(deny_unknown_fields)]
            pub struct $name {
                $(
                    $(#[doc = $doc])*
                    $(
                        #[doc = concat!("Without it: ", $default, ".")]
                        #[serde(default, skip_serializing_if = "is_empty")]
                    )?
                    $(#[serde(alias = $earlier)])?
                    pub $field: $type,
                )*
            }

            impl $crate::experiment::reference::describe::Described for $name {
                fn kind() -> String {
                    concat!("table ", $title).to_owned()
                }

                fn table() -> Option<&'static $crate::experiment::reference::describe::Table> {
                    use $crate::experiment::reference::describe::{Described, Field, Table};
                    static TABLE: Table = Table {
                        title: $title,
                        about: &[$($about),*],
                        fields: &[$(Field {
                            key: stringify!($field),
                            earlier: tables!(@default $($earlier)?),
                            about: &[$($doc),*],
                            kind: <$type as Described>::kind,
                            table: <$type as Described>::table,
                            default: tables!(@default $($default)?),
                        }),*],
                    };
                    Some(&TABLE)
                }
            }
        )*
    };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
}

pub(in crate::experiment) use tables;
