/// What a request to ccnd asks for: the component of its name, and the Action of the object in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Makes a face ([`FaceInstance`](super::FaceInstance)).
    NewFace,
    /// Destroys one.
    DestroyFace,
    /// Has a prefix lead to a face ([`ForwardingEntry`](super::ForwardingEntry)).
    PrefixReg,
    /// Has a prefix lead to whoever asks.
    SelfReg,
    /// Has it lead there no more.
    Unreg,
    /// Has a prefix forwarded by a strategy ([`StrategySelection`](super::StrategySelection)).
    SetStrategy,
    /// Asks for that strategy.
    GetStrategy,
    /// Takes the choice back.
    RemoveStrategy,
}

/// What a request to ndnld asks for, with an [`NdnldConnection`](super::NdnldConnection) in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NdnldVerb {
    /// Makes a link.
    Connect,
    /// Destroys one.
    Disconnect,
    /// Lists all.
    ListConnections,
}

impl Verb {
    const ALL: [Verb; 8] = [
        Verb::NewFace,
        Verb::DestroyFace,
        Verb::PrefixReg,
        Verb::SelfReg,
        Verb::Unreg,
        Verb::SetStrategy,
        Verb::GetStrategy,
        Verb::RemoveStrategy,
    ];

    /// The one that a component says.
    pub fn of(component: &[u8]) -> Option<Self> {
        Verb::ALL.into_iter().find(|verb| verb.as_str().as_bytes() == component)
    }

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Verb::NewFace => "newface",
            Verb::DestroyFace => "destroyface",
            Verb::PrefixReg => "prefixreg",
            Verb::SelfReg => "selfreg",
            Verb::Unreg => "unreg",
            Verb::SetStrategy => "setstrategy",
            Verb::GetStrategy => "getstrategy",
            Verb::RemoveStrategy => "removestrategy",
        }
    }
}

impl NdnldVerb {
    const ALL: [NdnldVerb; 3] = [NdnldVerb::Connect, NdnldVerb::Disconnect, NdnldVerb::ListConnections];

    /// The one that a component says.
    pub fn of(component: &[u8]) -> Option<Self> {
        NdnldVerb::ALL.into_iter().find(|verb| verb.as_str().as_bytes() == component)
    }

    /// Its word.
    pub const fn as_str(self) -> &'static str {
        match self {
            NdnldVerb::Connect => "connect",
            NdnldVerb::Disconnect => "disconnect",
            NdnldVerb::ListConnections => "listconnections",
        }
    }
}
