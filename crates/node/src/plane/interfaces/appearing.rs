//! Interfaces that appear while the node runs, and that a pattern of the configuration matches.

use std::collections::BTreeSet;
use std::io;
use std::net::SocketAddr;

use crate::plane::DataPlane;
use crate::plane::interfaces::configured::ConfiguredInterfaces;
use crate::sys::interfaces::Interface;
use crate::transport::datagram::DatagramChannel;
use crate::transport::ethernet::EthernetChannel;

/// Sockets that are opened on such interfaces while the node runs, at most. Those of interfaces that have
/// gone count, too, for one of the same name may come back.
const MAX_SOCKETS: usize = 256;

/// Which interfaces are to be used when they appear, and which could not be.
#[derive(Debug, Default)]
pub(in crate::plane) struct NewInterfaces {
    configured: ConfiguredInterfaces,
    sockets: usize,
    /// Names of interfaces there are that could not be used, so that it is told once.
    refused: BTreeSet<String>,
}

impl NewInterfaces {
    /// What the configuration says of interfaces.
    pub(in crate::plane) fn configured(&self) -> &ConfiguredInterfaces {
        &self.configured
    }
}

impl DataPlane {
    /// From now on interfaces that appear are used if the configuration says so.
    pub(crate) fn follow_interfaces(&mut self, configured: ConfiguredInterfaces) {
        let may_grow = configured.may_grow();
        self.interfaces.new.configured = configured;
        if may_grow {
            self.watch_interfaces();
        }
    }

    /// Opens sockets on those of all interfaces that are to be used and have none.
    pub(in crate::plane) fn open_on_new_interfaces(&mut self, all: &[Interface]) {
        let mut new = std::mem::take(&mut self.interfaces.new);
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
        self.interfaces.new = new;
    }

    fn open_on(&mut self, interface: &Interface, new: &mut NewInterfaces) -> io::Result<()> {
        let configured = &new.configured;
        let multicast = configured.ethernet_multicast;
        let is_there = |channel: &EthernetChannel| channel.place.name == interface.name;
        if configured.are_for_ethernet(interface) && !self.sockets.ethernet.iter().any(is_there) {
            must_have_place(new.sockets)?;
            self.add_ethernet(EthernetChannel::open(interface, configured.dialect(), multicast)?, multicast)?;
            new.sockets += 1;
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
                must_have_place(new.sockets)?;
                let receive_bytes = new.configured.group_receive_bytes();
                let channel =
                    DatagramChannel::bind_group(group, new.configured.dialect(), interface, receive_bytes)?;
                self.add_group(channel, link_type)?;
                new.sockets += 1;
                tracing::info!("multicast to {group} on {}, which has appeared", interface.name);
            }
        }
        Ok(())
    }
}

fn must_have_place(sockets: usize) -> io::Result<()> {
    if sockets >= MAX_SOCKETS {
        return Err(io::Error::other("too many interfaces have appeared since the node was started"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::config::Config;
    use crate::plane::bench::bench;

    /// An interface by another name, which is the loopback interface for the system, or none.
    fn interface(number: u32, index: u32) -> Interface {
        Interface {
            name: format!("new{number}"),
            index,
            is_up: true,
            is_loopback: false,
            can_multicast: true,
            mac: None,
            v4: vec![Ipv4Addr::LOCALHOST],
            v6: Vec::new(),
            mtu_bytes: 1500,
        }
    }

    #[test]
    fn of_interfaces_that_appear_256_get_sockets_and_those_that_cannot_be_used_take_no_place() {
        let mut config = Config::default();
        config.multicast.interfaces = vec!["new*".to_owned()];
        config.multicast.group_v4.set_port(0);
        let mut bench = bench();
        bench.plane.interfaces.new.configured = ConfiguredInterfaces::read(&config, 4096).unwrap();
        let before = bench.plane.faces.len();
        let broken: Vec<Interface> = (0..300).map(|number| interface(number, 999_999)).collect();
        bench.plane.open_on_new_interfaces(&broken);
        assert_eq!(bench.plane.interfaces.new.refused.len(), 300);
        let whole: Vec<Interface> = (300..600).map(|number| interface(number, 1)).collect();
        bench.plane.open_on_new_interfaces(&whole);
        assert_eq!(bench.plane.faces.len() - before, MAX_SOCKETS);
        assert_eq!(bench.plane.interfaces.new.refused.len(), 300 - MAX_SOCKETS);
    }
}
