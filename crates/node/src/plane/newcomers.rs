//! Interfaces that appear while the node runs, and that the configuration means by a pattern.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;

use super::DataPlane;
use crate::start::{CONFIGURED, MeantInterfaces};
use crate::sys::interfaces::Interface;
use crate::transport::datagram::DatagramChannel;
use crate::transport::ethernet::EthernetChannel;

/// Sockets that are opened on newcomers while the node runs, at most. Those of interfaces that have gone
/// count, too, for one of the same name may come back.
const MAX_SOCKETS: usize = 256;

/// What newcomers are for, and which could not be used.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    meant: MeantInterfaces,
    sockets: usize,
    /// Names of interfaces there are that could not be used, so that it is told once.
    refused: BTreeSet<String>,
}

impl DataPlane {
    /// From now on interfaces that appear are used if they are meant.
    pub(crate) fn welcome_newcomers(&mut self, meant: MeantInterfaces) {
        let may_grow = meant.may_grow();
        self.newcomers.meant = meant;
        if may_grow {
            self.watch_interfaces();
        }
    }

    /// Opens sockets on those of all interfaces that are meant and have none.
    pub(super) fn take_in_newcomers(&mut self, all: &[Interface]) {
        let mut newcomers = std::mem::take(&mut self.newcomers);
        newcomers.refused.retain(|name| all.iter().any(|interface| interface.name == *name));
        for interface in all {
            if newcomers.refused.contains(&interface.name) {
                continue;
            }
            if let Err(error) = self.take_in(interface, &mut newcomers) {
                tracing::warn!(interface = interface.name, %error, "the interface cannot be used");
                newcomers.refused.insert(interface.name.clone());
            }
        }
        self.newcomers = newcomers;
    }

    fn take_in(&mut self, interface: &Interface, newcomers: &mut Newcomers) -> io::Result<()> {
        let meant = &newcomers.meant;
        let multicast = meant.ethernet_multicast;
        let is_there = |channel: &EthernetChannel| channel.place.name == interface.name;
        if meant.means_for_ethernet(interface) && !self.ethernet.iter().any(is_there) {
            newcomers.sockets = one_more(newcomers.sockets)?;
            self.add_ethernet(EthernetChannel::open(interface, CONFIGURED, multicast)?, multicast)?;
            tracing::info!("listening on dev://{}, which has appeared", interface.name);
        }
        let groups: Vec<SocketAddr> = meant.groups_on(interface).collect();
        let link_type = meant.group_link_type();
        for group in groups {
            let joined = |channel: &DatagramChannel| {
                channel.group_address() == Some(group)
                    && channel.place.as_ref().is_some_and(|place| place.name == interface.name)
            };
            if self.channels.position(joined).is_none() {
                newcomers.sockets = one_more(newcomers.sockets)?;
                let receive_bytes = newcomers.meant.group_receive_bytes();
                let channel = DatagramChannel::bind_group(group, CONFIGURED, interface, receive_bytes)?;
                self.add_group(channel, link_type)?;
                tracing::info!("multicast to {group} on {}, which has appeared", interface.name);
            }
        }
        Ok(())
    }
}

fn one_more(sockets: usize) -> io::Result<usize> {
    if sockets >= MAX_SOCKETS {
        return Err(io::Error::other("too many interfaces have appeared since the node was started"));
    }
    Ok(sockets + 1)
}
