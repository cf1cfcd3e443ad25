//! The section `face_system`.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use toml::Value;

use super::info::Entry;
use super::{Target, number, wrong, yes};
use crate::config::ConfigError;

/// Where a transport listens.
struct Listening {
    port: u16,
    v4: bool,
    v6: bool,
    listen: bool,
}

impl Listening {
    fn at(port: u16) -> Self {
        Listening { port, v4: true, v6: true, listen: true }
    }

    /// Takes an entry that all transports over IP have; false if it is another.
    fn take(&mut self, entry: &Entry) -> Result<bool, ConfigError> {
        match entry.key.as_str() {
            "listen" => self.listen = yes(entry)?,
            "port" => self.port = port(entry)?,
            "enable_v4" => self.v4 = yes(entry)?,
            "enable_v6" => self.v6 = yes(entry)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn addresses(&self) -> Value {
        let all =
            [(self.v4, IpAddr::from(Ipv4Addr::UNSPECIFIED)), (self.v6, IpAddr::from(Ipv6Addr::UNSPECIFIED))];
        let wanted = all.into_iter().filter(|(wanted, _)| *wanted);
        Value::Array(wanted.map(|(_, ip)| SocketAddr::new(ip, self.port).to_string().into()).collect())
    }
}

fn port(entry: &Entry) -> Result<u16, ConfigError> {
    Ok(u16::try_from(number(entry, 1, u16::MAX.into())?).unwrap_or(u16::MAX))
}

impl Target<'_> {
    pub(super) fn face_system(&mut self, section: &Entry) -> Result<(), ConfigError> {
        for entry in &section.entries {
            match entry.key.as_str() {
                "general" => self.face_general(entry)?,
                "unix" | "tcp" | "udp" | "ether" | "websocket" => {}
                "netdev_bound" if entry.entries.is_empty() => {}
                "netdev_bound" => {
                    self.note(
                        entry,
                        "face_system.netdev_bound has no counterpart; NFD does nothing with it either",
                    );
                }
                _ => self.unknown("face_system.", entry),
            }
        }
        match section.find("unix") {
            Some(unix) => self.unix(unix),
            None => self.set("unix", "listen", Value::Array(Vec::new())),
        }
        match section.find("tcp") {
            Some(tcp) => self.tcp(tcp)?,
            None => self.set("tcp", "listen", Value::Array(Vec::new())),
        }
        match section.find("udp") {
            Some(udp) => self.udp(udp)?,
            None => self.set("udp", "listen", Value::Array(Vec::new())),
        }
        match section.find("websocket") {
            Some(websocket) => self.websocket(websocket)?,
            None => self.set("websocket", "listen", Value::Array(Vec::new())),
        }
        section.find("ether").map_or(Ok(()), |ether| self.ethernet(ether))
    }

    fn face_general(&mut self, section: &Entry) -> Result<(), ConfigError> {
        for entry in &section.entries {
            match entry.key.as_str() {
                "enable_congestion_marking" => self.set("node", "congestion_marking", yes(entry)?),
                _ => self.unknown("face_system.general.", entry),
            }
        }
        Ok(())
    }

    fn unix(&mut self, section: &Entry) {
        for entry in &section.entries {
            match entry.key.as_str() {
                "path" => {
                    let path = Value::from(entry.value.as_str());
                    self.set("unix", "listen", Value::Array(vec![path]));
                }
                _ => self.unknown("face_system.unix.", entry),
            }
        }
    }

    fn tcp(&mut self, section: &Entry) -> Result<(), ConfigError> {
        let mut listening = Listening::at(packet::ndn::PORT);
        for entry in &section.entries {
            match entry.key.as_str() {
                "local" => self.note(
                    entry,
                    "tcp.local has no counterpart: faces between loopback addresses are local, and no others",
                ),
                _ if listening.take(entry)? => {}
                _ => self.unknown("face_system.tcp.", entry),
            }
        }
        // Faces to others need no listener.
        let addresses = if listening.listen { listening.addresses() } else { Value::Array(Vec::new()) };
        self.set("tcp", "listen", addresses);
        Ok(())
    }

    fn udp(&mut self, section: &Entry) -> Result<(), ConfigError> {
        let mut listening = Listening::at(packet::ndn::PORT);
        let mut multicast = true;
        let (mut group_v4, mut group_v6) =
            (Ipv4Addr::new(224, 0, 23, 170), Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 0x1234));
        let (mut port_v4, mut port_v6) = (56_363, 56_363);
        for entry in &section.entries {
            match entry.key.as_str() {
                "idle_timeout" => {
                    self.set("node", "idle_timeout_secs", number(entry, 1, u32::MAX.into())?);
                }
                "unicast_mtu" => self.set("udp", "mtu_bytes", number(entry, 64, 8800)?),
                "keep_alive_interval" => {}
                "mcast" => multicast = yes(entry)?,
                "mcast_group" => group_v4 = address(entry, Ipv4Addr::is_multicast)?,
                "mcast_group_v6" => group_v6 = address(entry, Ipv6Addr::is_multicast)?,
                "mcast_port" => port_v4 = port(entry)?,
                "mcast_port_v6" => port_v6 = port(entry)?,
                "mcast_ad_hoc" => self.set("multicast", "ad_hoc", yes(entry)?),
                "whitelist" | "blacklist" => {}
                _ if listening.take(entry)? => {}
                _ => self.unknown("face_system.udp.", entry),
            }
        }
        self.set("udp", "listen", listening.addresses());
        self.set("udp", "accept", listening.listen);
        self.set("multicast", "group_v4", SocketAddr::from((group_v4, port_v4)).to_string());
        self.set("multicast", "group_v6", SocketAddr::from((group_v6, port_v6)).to_string());
        if multicast {
            self.interfaces("multicast", section)?;
        }
        Ok(())
    }

    fn ethernet(&mut self, section: &Entry) -> Result<(), ConfigError> {
        for entry in &section.entries {
            match entry.key.as_str() {
                "listen" => self.set("ethernet", "accept", yes(entry)?),
                "mcast" => self.set("ethernet", "multicast", yes(entry)?),
                "mcast_group" if entry.value.eq_ignore_ascii_case("01:00:5e:00:17:aa") => {}
                "mcast_group" => self.note(entry, "ether.mcast_group is always 01:00:5e:00:17:aa here"),
                "mcast_ad_hoc" if !yes(entry)? => {}
                "mcast_ad_hoc" => self.note(entry, "ether.mcast_ad_hoc has no counterpart"),
                "idle_timeout" => {
                    let text = "ether.idle_timeout: node.idle_timeout_secs holds for UDP and Ethernet alike";
                    self.note(entry, text);
                }
                "whitelist" | "blacklist" => {}
                _ => self.unknown("face_system.ether.", entry),
            }
        }
        self.interfaces("ethernet", section)
    }

    fn websocket(&mut self, section: &Entry) -> Result<(), ConfigError> {
        let mut listening = Listening::at(packet::ndn::WEBSOCKET_PORT);
        for entry in &section.entries {
            if !listening.take(entry)? {
                self.unknown("face_system.websocket.", entry);
            }
        }
        let addresses = if listening.listen { listening.addresses() } else { Value::Array(Vec::new()) };
        self.set("websocket", "listen", addresses);
        if listening.listen {
            let text = "websocket: listens at all addresses, as NFD does; the default here is this host alone. Pages in a \
                        browser are neighbours unless websocket.local_origins names them";
            self.note(section, text);
        }
        Ok(())
    }

    /// Which interfaces: those of the whitelist, all if there is none, but not those of the blacklist.
    fn interfaces(&mut self, into: &str, section: &Entry) -> Result<(), ConfigError> {
        let wanted = match section.find("whitelist") {
            Some(list) => patterns(list)?,
            None => vec!["*".into()],
        };
        self.set(into, "interfaces", Value::Array(wanted));
        if let Some(list) = section.find("blacklist").filter(|list| !list.entries.is_empty()) {
            self.set(into, "exclude", Value::Array(patterns(list)?));
        }
        Ok(())
    }
}

fn patterns(list: &Entry) -> Result<Vec<Value>, ConfigError> {
    let pattern = |entry: &Entry| match entry.key.as_str() {
        "*" => Ok("*".into()),
        "ifname" | "ether" | "subnet" if !entry.value.is_empty() => Ok(entry.value.as_str().into()),
        other => Err(wrong(entry, format!("{other:?} is no rule; there are ifname, ether, subnet and *"))),
    };
    list.entries.iter().map(pattern).collect()
}

fn address<A: std::str::FromStr>(entry: &Entry, is_group: impl Fn(&A) -> bool) -> Result<A, ConfigError> {
    let address = entry.value.parse().ok().filter(is_group);
    address.ok_or_else(|| {
        wrong(entry, format!("{} is {:?}; it is the address of a group", entry.key, entry.value))
    })
}
