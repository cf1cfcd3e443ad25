//! The interfaces that Ethernet and multicast are to use: of those there are, and of those to come.

use std::net::SocketAddr;

use packet::{Dialect, LinkType};

use crate::config::{Config, ConfigError};
use crate::plane::interfaces::patterns::Selection;
use crate::sys::interfaces::Interface;

/// What the configuration says of interfaces; nothing by default.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConfiguredInterfaces {
    ethernet: Option<Selection>,
    /// Whether the Ethernet group is joined.
    pub(crate) ethernet_multicast: bool,
    groups: Option<ConfiguredGroups>,
}

/// Groups of UDP multicast, and where.
#[derive(Clone, Debug)]
struct ConfiguredGroups {
    selection: Selection,
    addresses: [SocketAddr; 2],
    link_type: LinkType,
    receive_bytes: usize,
}

impl ConfiguredInterfaces {
    /// Understands the lists of a configuration. Receive buffers of groups hold so many bytes.
    pub(crate) fn read(config: &Config, receive_bytes: usize) -> Result<Self, ConfigError> {
        let (ethernet, multicast) = (&config.ethernet, &config.multicast);
        let link_type = if multicast.ad_hoc { LinkType::AdHoc } else { LinkType::MultiAccess };
        let addresses = [multicast.group_v4, multicast.group_v6];
        let groups = Selection::read("multicast", &multicast.interfaces, &multicast.exclude)?;
        let selection = Selection::read("ethernet", &ethernet.interfaces, &ethernet.exclude)?;
        Ok(ConfiguredInterfaces {
            ethernet: (!ethernet.interfaces.is_empty()).then_some(selection),
            ethernet_multicast: ethernet.multicast,
            groups: (!multicast.interfaces.is_empty()).then_some(ConfiguredGroups {
                selection: groups,
                addresses,
                link_type,
                receive_bytes,
            }),
        })
    }

    /// What is spoken there.
    pub(crate) fn dialect(&self) -> Dialect {
        Config::DIALECT
    }

    /// The interfaces of Ethernet.
    pub(crate) fn ethernet(&self) -> Option<&Selection> {
        self.ethernet.as_ref()
    }

    /// Those of UDP multicast.
    pub(crate) fn groups(&self) -> Option<&Selection> {
        self.groups.as_ref().map(|groups| &groups.selection)
    }

    /// What faces to the groups are.
    pub(crate) fn group_link_type(&self) -> LinkType {
        self.groups.as_ref().map_or(LinkType::MultiAccess, |groups| groups.link_type)
    }

    /// What the receive buffer of a group holds.
    pub(crate) fn group_receive_bytes(&self) -> usize {
        self.groups.as_ref().map_or(0, |groups| groups.receive_bytes)
    }

    /// Whether interfaces that are not there yet may be among them.
    pub(crate) fn may_grow(&self) -> bool {
        self.ethernet().into_iter().chain(self.groups()).any(Selection::may_grow)
    }

    /// Whether Ethernet is to use the interface as it is now.
    pub(crate) fn are_for_ethernet(&self, interface: &Interface) -> bool {
        let suits = interface.is_up && !interface.is_loopback && interface.mac.is_some();
        self.ethernet()
            .is_some_and(|selection| selection.names(interface) || (suits && selection.matches(interface)))
    }

    /// The groups of UDP multicast that are to be joined on the interface as it is now.
    pub(crate) fn groups_on(&self, interface: &Interface) -> impl Iterator<Item = SocketAddr> {
        let suits = interface.is_up && interface.can_multicast && !interface.is_loopback;
        let chosen = self.groups.as_ref().filter(|groups| {
            groups.selection.names(interface) || (suits && groups.selection.matches(interface))
        });
        let (has_v4, has_v6) = (!interface.v4.is_empty(), !interface.v6.is_empty());
        let addresses = chosen.into_iter().flat_map(|groups| groups.addresses);
        addresses.filter(move |group| if group.is_ipv4() { has_v4 } else { has_v6 })
    }
}
