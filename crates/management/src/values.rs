//! The enumerations and flags of the protocol.
//!
//! Numbers that are not known are kept, so that what a newer peer says can be shown and passed on. That is
//! why [`FaceScope`], [`LinkType`], [`FacePersistency`] and [`FaceEventKind`] are not those of the same names
//! by which a node works: a node has no face of a kind that it does not know.

use std::fmt;

/// An enumeration of known numbers with a word for each, and room for numbers that are not known.
macro_rules! numbered {
    ($(#[$about:meta])* $name:ident { $($(#[$variant_about:meta])* $variant:ident = $number:literal, $word:literal;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$variant_about])* $variant,)*
            /// A number that is not known.
            Unknown(u64),
        }

        impl $name {
            /// All that have a name.
            pub const KNOWN: &[$name] = &[$($name::$variant),*];

            /// What `number` on the wire means. Never gives [`Self::Unknown`] for a known number.
            pub const fn from_number(number: u64) -> Self {
                match number {
                    $($number => $name::$variant,)*
                    other => $name::Unknown(other),
                }
            }

            /// The number on the wire.
            pub const fn number(self) -> u64 {
                match self {
                    $($name::$variant => $number,)*
                    $name::Unknown(number) => number,
                }
            }

            /// The one that is called `word` in tables and options.
            pub fn from_word(word: &str) -> Option<Self> {
                match word {
                    $($word => Some($name::$variant),)*
                    _ => None,
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $($name::$variant => f.pad($word),)*
                    $name::Unknown(number) => f.pad(&number.to_string()),
                }
            }
        }
    };
}

numbered! {
    /// Whether a face's peer is on the same host.
    FaceScope {
        /// Another host.
        NonLocal = 0, "non-local";
        /// An application on this host.
        Local = 1, "local";
    }
}

numbered! {
    /// When a face goes away by itself.
    FacePersistency {
        /// When its transport fails.
        Persistent = 0, "persistent";
        /// When its transport fails, and when it is idle for long.
        OnDemand = 1, "on-demand";
        /// Never.
        Permanent = 2, "permanent";
    }
}

numbered! {
    /// How many peers a face reaches.
    LinkType {
        /// One.
        PointToPoint = 0, "point-to-point";
        /// All on a shared medium.
        MultiAccess = 1, "multi-access";
        /// Some on a wireless medium.
        AdHoc = 2, "adhoc";
    }
}

numbered! {
    /// What happened to a face.
    FaceEventKind {
        /// It was made.
        Created = 1, "created";
        /// It is gone.
        Destroyed = 2, "destroyed";
        /// It works again.
        Up = 3, "up";
        /// It does not work for the time being.
        Down = 4, "down";
    }
}

numbered! {
    /// Who made a route. One face may have a route for the same prefix from each.
    RouteOrigin {
        /// An application that serves the prefix.
        App = 0, "app";
        /// Automatic registration at a gateway.
        AutoReg = 64, "autoreg";
        /// A client of a gateway.
        Client = 65, "client";
        /// Automatic discovery of a hub.
        AutoConf = 66, "autoconf";
        /// The link-state routing daemon.
        Nlsr = 128, "nlsr";
        /// A prefix announcement.
        PrefixAnnouncement = 129, "prefixann";
        /// The operator.
        Static = 255, "static";
    }
}

numbered! {
    /// How a command went. The numbers are those of HTTP where there is one that fits.
    StatusCode {
        /// It was done.
        Ok = 200, "ok";
        /// Parameters are missing, forbidden or wrong.
        BadParameters = 400, "bad-parameters";
        /// The signer may not do this.
        Unauthorized = 403, "unauthorized";
        /// What the command is about does not exist.
        NotFound = 404, "not-found";
        /// No transport can do what is asked for.
        UnsupportedProtocol = 406, "unsupported-protocol";
        /// It is in conflict with what exists; the body says with what.
        Conflict = 409, "conflict";
        /// The face does not exist.
        FaceNotFound = 410, "face-not-found";
        /// The name has too many components.
        NameTooLong = 414, "name-too-long";
        /// The forwarder failed.
        InternalError = 500, "internal-error";
        /// The forwarder does not know this command.
        NotImplemented = 501, "not-implemented";
        /// The forwarder cannot do this now.
        Unavailable = 503, "unavailable";
        /// A socket could not be opened, or a peer did not answer in time.
        SocketError = 504, "socket-error";
    }
}

/// A set of bits with a word for each.
macro_rules! flags {
    ($(#[$about:meta])* $name:ident { $($(#[$flag_about:meta])* $flag:ident = $bit:literal, $word:literal;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub struct $name(pub u64);

        impl $name {
            /// None of them.
            pub const NONE: $name = $name(0);
            $($(#[$flag_about])* pub const $flag: $name = $name($bit);)*

            /// Whether all of `flags` are set.
            pub const fn contains(self, flags: $name) -> bool {
                self.0 & flags.0 == flags.0
            }

            /// These and those of `flags`.
            #[must_use]
            pub const fn with(self, flags: $name) -> Self {
                $name(self.0 | flags.0)
            }

            /// These, but bits that are in `mask` taken from `flags`.
            #[must_use]
            pub const fn masked(self, flags: u64, mask: u64) -> Self {
                $name(self.0 & !mask | flags & mask)
            }

            /// Words of the flags that are set; bits that are not known have none.
            pub fn words(self) -> impl Iterator<Item = &'static str> {
                [$(($name::$flag, $word)),*].into_iter().filter(move |(flag, _)| self.contains(*flag)).map(|(_, word)| word)
            }
        }
    };
}

flags! {
    /// What a face does beside carrying packets.
    FaceFlags {
        /// Tells the peer, an application, by which face packets came, and lets it choose one.
        LOCAL_FIELDS = 1, "local-fields";
        /// Repairs losses on the link.
        LP_RELIABILITY = 2, "lp-reliability";
        /// Marks packets when its send queue is long.
        CONGESTION_MARKING = 4, "congestion-marking";
        /// The peer speaks CCNx. Ours alone: NFD has no such faces, and other tools pass over it.
        CCNX = 0x1_0000, "ccnx";
    }
}

flags! {
    /// How a route is inherited by longer prefixes.
    RouteFlags {
        /// The route is also a next hop of longer prefixes in the RIB.
        CHILD_INHERIT = 1, "child-inherit";
        /// Routes of shorter prefixes are not inherited past this prefix.
        CAPTURE = 2, "capture";
    }
}

flags! {
    /// What the content store does.
    CsFlags {
        /// Keeps Data.
        ENABLE_ADMIT = 1, "admit";
        /// Answers Interests.
        ENABLE_SERVE = 2, "serve";
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_lead_back_to_what_they_stand_for() {
        for &origin in RouteOrigin::KNOWN {
            assert_eq!(RouteOrigin::from_number(origin.number()), origin);
            assert_eq!(RouteOrigin::from_word(&origin.to_string()), Some(origin));
        }
        assert_eq!(RouteOrigin::from_number(7), RouteOrigin::Unknown(7));
        assert_eq!(RouteOrigin::Unknown(7).to_string(), "7");
        assert_eq!(RouteOrigin::from_word("7"), None);
        assert_eq!(StatusCode::from_number(409), StatusCode::Conflict);
    }

    #[test]
    fn a_mask_chooses_the_bits_that_change() {
        let before = FaceFlags::LOCAL_FIELDS.with(FaceFlags::CONGESTION_MARKING);
        assert_eq!(before.masked(2, 3), FaceFlags(6));
        assert_eq!(before.masked(0xff, 0), before);
        assert_eq!(before.words().collect::<Vec<_>>(), ["local-fields", "congestion-marking"]);
    }
}
