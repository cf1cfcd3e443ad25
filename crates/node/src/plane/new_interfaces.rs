//! Interfaces that appear while the node runs, and that a pattern of the configuration matches.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;

use super::DataPlane;
use crate::start::{CONFIGURED, ConfiguredInterfaces};
use crate::sys::interfaces::Interface;
use crate::transport::datagram::DatagramChannel;
use crate::transport::ethernet::EthernetChannel;

/// Sockets that are opened on such interfaces while the node runs, at most. Those of interfaces that have
/// gone count, too, for one of the same name may come back.
const MAX_SOCKETS: usize = 256;

/// Which interfaces are to be used when they appear, and which could not be.
#[derive(Debug, Default)]
pub(super) struct NewInterfaces {
    configured: ConfiguredInterfaces,
    sockets: usize,
    /// Names of interfaces there are that could not be used, so that it is told once.
    refused: BTreeSet<String>,
}

impl DataPlane {
    /// From now on interfaces that appear are used if the configuration says so.
    pub(crate) fn follow_interfaces(&mut self, configured: ConfiguredInterfaces) {
        let may_grow = configured.may_grow();
        self.new_interfaces.configured = configured;
        if may_grow {
            self.watch_interfaces();
        }
    }

    /// Opens sockets on those of all interfaces that are to be used and have none.
    pub(super) fn open_on_new_interfaces(&mut self, all: &[Interface]) {
        let mut new = std::mem::take(&mut self.new_interfaces);
        new.refused.retain(|name| all.iter().any(|interface| interface.name == *name));
        for interface in all {
            if new.refused.contains(&interface.name) {
                continue;
            }
            if let Err(error) = self.open_on(interface, &mut new) {
                tracing::warn!(interface = interface.name, %error, "the interface cannot be used");
                new.refused.insert(interface.name.clone());
            }
        }
        self.new_interfaces = new;
    }

    fn open_on(&mut self, interface: &Interface, new: &mut NewInterfaces) -> io::Result<()> {
        let configured = &new.configured;
        let multicast = configured.ethernet_multicast;
        let is_there = |channel: &EthernetChannel| channel.place.name == interface.name;
        if configured.are_for_ethernet(interface) && !self.sockets.ethernet.iter().any(is_there) {
            new.sockets = one_more(new.sockets)?;
            self.add_ethernet(EthernetChannel::open(interface, CONFIGURED, multicast)?, multicast)?;
            tracing::info!("listening on dev://{}, which has appeared", interface.name);
        }
        let groups: Vec<SocketAddr> = configured.groups_on(interface).collect();
        let link_type = configured.group_link_type();
        for group in groups {
            let joined = |channel: &DatagramChannel| {
                channel.group_address() == Some(group)
                    && channel.place.as_ref().is_some_and(|place| place.name == interface.name)
            };
            if self.sockets.channels.position(joined).is_none() {
                new.sockets = one_more(new.sockets)?;
                let receive_bytes = new.configured.group_receive_bytes();
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
