//! What a forwarder is told or asked, by the two words of its name.

/// An enumeration of which each stands for `/<module>/<verb>`.
macro_rules! by_words {
    (
        $(#[$about:meta])*
        $name:ident { $($(#[$variant_about:meta])* $variant:ident = $module:literal / $verb:literal;)* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_about])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[$name] = &[$($name::$variant),*];

            /// The two components of its name.
            pub const fn words(self) -> (&'static str, &'static str) {
                match self {
                    $($name::$variant => ($module, $verb),)*
                }
            }

            /// The one with this module and verb.
            pub fn from_words(module: &[u8], verb: &[u8]) -> Option<Self> {
                $name::ALL.iter().copied().find(|one| {
                    let words = one.words();
                    words.0.as_bytes() == module && words.1.as_bytes() == verb
                })
            }
        }
    };
}

pub(crate) use by_words;
