//! Routes that nodes ask their neighbours for.

use super::is_empty;
use crate::experiment::reference::describe::tables;
use crate::experiment::units::Span;

tables! {
    /// A route that a node asks a neighbour's forwarder for, to itself, by a signed command of NFD's
    /// management protocol. Whether it gets it is up to `registrations` of that neighbour's `forwarder`. With
    /// a prefix of somebody else this is an attack: path and name infiltration.
    Registration as "registration" {
        /// The node that asks.
        at: String,
        /// The neighbour that is asked.
        to: String,
        /// The prefix.
        prefix: String,
        /// The cost of the route. A neighbour that asks for no key makes it 100 at least.
        cost: Option<u32> = "0",
        /// What signs the command: `none`, a digest; `own`, the key of the node, whose identity is `/` and
        /// the node's name; `owner`, that of the prefix; `forged`, another key by the name of that one;
        /// `stolen`, the one that the prefix's owner had before, see `earlier_key` of `content`; `replayed`,
        /// that of the prefix, in a command from the time when the owner asked, whom it is heard from.
        /// Neighbours that ask for keys believe those of `own` and `owner`, and of `stolen` unless it has run
        /// out or is revoked.
        key: Option<String> = "none",
        /// What the node does with Interests for the prefix: `content`, serves its own content; `nothing`,
        /// lets them vanish (a black hole); `forged`, answers in the name of content below the prefix with
        /// bytes of its own, signed with the key that signs the command.
        answers: Option<String> = "content",
        /// How often it asks until it is answered; with 0 it does nothing at all.
        attempts: Option<u32> = "3",
        /// When it asks first; then every 500 ms.
        start: Option<Span> = "0.5 s",
    }
}
