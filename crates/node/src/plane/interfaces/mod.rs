//! Interfaces that go down, come up, vanish and come back under their names, and what is bound to them:
//! packet sockets, and sockets for UDP multicast.
//!
//! The system tells by netlink that something about interfaces has changed, not least when an address
//! appears that a group needs. What it says in detail is not read, but that an interface has gone, for
//! another may have its name and number a moment later: all interfaces are looked at anew, a moment later,
//! so that a flood of changes costs one look.

pub(in crate::plane) mod appearing;
pub(in crate::plane) mod configured;
pub(in crate::plane) mod patterns;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use engine::FaceId;
use packet::DoublingWait;
use packet::time::{Duration, Instant};
use rustix::event::epoll;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, netlink};

use crate::control::{FaceEventKind, FaceState, FaceUri};
use crate::face::{DatagramPath, DatagramPort, Faces, Transport};
use crate::plane::interfaces::appearing::NewInterfaces;
use crate::plane::sockets::Sockets;
use crate::plane::{DataPlane, Token};
use crate::sys::interfaces::{self, Interface};
use crate::sys::netlink_messages;
use crate::transport::NamedInterface;
use crate::transport::datagram::DatagramChannel;
use crate::transport::ethernet::EthernetChannel;

/// How long changes are collected before interfaces are looked at.
const SETTLING: Duration = Duration::from_millis(20);
/// The pause before it is tried again to open a socket on an interface that is up; it doubles up to the
/// longest.
const FIRST_RETRY: Duration = Duration::from_millis(250);
const MAX_RETRY: Duration = Duration::from_secs(30);
/// How often interfaces are looked at where the system tells nothing about them.
const UNTOLD_INTERVAL: Duration = Duration::from_secs(5);
/// Messages of the system read in one turn.
const MESSAGES_PER_TURN: usize = 64;

/// The number that no interface has.
const NO_INTERFACE: u32 = 0;

/// Groups of netlink: links, and addresses of both families.
const GROUPS: u32 = 0x1 | 0x10 | 0x100;

/// When interfaces are looked at next, and who says that something changed there.
#[derive(Debug)]
pub(in crate::plane) struct InterfaceWatch {
    monitor: Option<OwnedFd>,
    is_needed: bool,
    check_at: Instant,
    retry: DoublingWait,
    /// What is to become of interfaces that appear.
    pub(in crate::plane) new: NewInterfaces,
}

impl Default for InterfaceWatch {
    fn default() -> Self {
        InterfaceWatch {
            monitor: None,
            is_needed: false,
            check_at: Instant::NEVER,
            retry: DoublingWait::new(FIRST_RETRY, MAX_RETRY),
            new: NewInterfaces::default(),
        }
    }
}

impl InterfaceWatch {
    pub(in crate::plane) fn next_deadline(&self) -> Instant {
        self.check_at
    }

    pub(in crate::plane) fn monitor(&self) -> Option<BorrowedFd<'_>> {
        self.monitor.as_ref().map(AsFd::as_fd)
    }

    fn check_soon(&mut self, now: Instant) {
        self.check_at = self.check_at.min(now + SETTLING);
    }

    fn retry_later(&mut self, now: Instant) {
        let retry_at = now + self.retry.take();
        self.check_at = self.check_at.min(retry_at);
    }
}

/// What is bound to an interface.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Ethernet(usize),
    Group(usize),
}

fn open_monitor() -> std::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    // The protocol for routes, links and addresses is number 0.
    let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None)?;
    rustix::net::bind(&socket, &netlink::SocketAddrNetlink::new(0, GROUPS))?;
    Ok(socket)
}

impl Sockets {
    /// The interface of this number has gone: what was bound to it hears nothing any more, even if there is
    /// another of its number soon.
    fn lose_places(&mut self, index: u32) {
        let groups = self.channels.numbers().map(Bound::Group);
        let bound: Vec<Bound> = (0..self.ethernet.len()).map(Bound::Ethernet).chain(groups).collect();
        for bound in bound {
            if let Some(place) = self.place_of(bound).filter(|place| place.index == index) {
                place.is_lost = true;
                place.index = NO_INTERFACE;
            }
        }
    }

    /// The interface that something is bound to.
    fn place_of(&mut self, bound: Bound) -> Option<&mut NamedInterface> {
        match bound {
            Bound::Ethernet(number) => self.ethernet.get_mut(number).map(|channel| &mut channel.place),
            Bound::Group(number) => self.channels.get_mut(number)?.place.as_mut(),
        }
    }

    /// Whether there is such a socket for an interface of this name already, which waited for it.
    fn is_taken(&self, bound: Bound, name: &str) -> bool {
        match bound {
            Bound::Ethernet(number) => {
                let dialect = self.ethernet.get(number).map(|channel| channel.dialect);
                let mut all = self.ethernet.iter();
                all.any(|channel| Some(channel.dialect) == dialect && channel.place.name == name)
            }
            Bound::Group(number) => {
                let Some(ours) = self.channels.get(number) else { return false };
                let (group, dialect) = (ours.group_address(), ours.dialect);
                let is_such = |channel: &DatagramChannel| {
                    channel.group_address() == group
                        && channel.dialect == dialect
                        && channel.place.as_ref().is_some_and(|place| place.name == name)
                };
                self.channels.position(is_such).is_some()
            }
        }
    }
}

impl Faces {
    /// Those at a socket that is bound to an interface.
    fn bound_to(&self, bound: Bound) -> Vec<FaceId> {
        let is_it = |transport: &Transport| {
            let Transport::Datagram(port) = transport else { return false };
            match (&port.path, bound) {
                (DatagramPath::Ethernet { channel, .. }, Bound::Ethernet(number)) => *channel == number,
                (DatagramPath::Udp { channel, .. }, Bound::Group(number)) => *channel == number,
                _ => false,
            }
        };
        self.values().filter(|face| is_it(&face.transport)).map(|face| face.id).collect()
    }
}

impl DataPlane {
    /// Something depends on an interface: from now on its state is followed.
    pub(in crate::plane) fn watch_interfaces(&mut self) {
        if self.interfaces.is_needed {
            return;
        }
        self.interfaces.is_needed = true;
        let opened = open_monitor().and_then(|monitor| {
            self.sockets.watch(&monitor, Token::Interfaces, epoll::EventFlags::IN)?;
            Ok(monitor)
        });
        match opened {
            Ok(monitor) => self.interfaces.monitor = Some(monitor),
            Err(error) => {
                tracing::info!(%error, "the system does not tell of changes to interfaces; they are looked for");
            }
        }
        // One that is down already would say so by an error, but a group would not.
        self.interfaces.check_soon(self.now);
    }

    /// The system says that something about interfaces has changed.
    pub(in crate::plane) fn handle_interfaces(&mut self) -> bool {
        let mut message = [0; 4096];
        let mut count = 0;
        while count < MESSAGES_PER_TURN {
            let Some(monitor) = &self.interfaces.monitor else { return false };
            match rustix::net::recv(monitor, &mut message, RecvFlags::DONTWAIT) {
                Err(rustix::io::Errno::AGAIN) => break,
                // An error says that messages were lost; then something has changed, too.
                Err(_) => {}
                Ok((_, len)) => {
                    for index in netlink_messages::removed_interfaces(message.get(..len).unwrap_or(&message))
                    {
                        self.sockets.lose_places(index);
                    }
                }
            }
            count += 1;
        }
        self.interfaces.check_soon(self.now);
        count > 0
    }

    /// A packet socket has an error, which is how it says that its interface is down or gone.
    #[cold]
    pub(in crate::plane) fn handle_ethernet_error(&mut self, number: usize) {
        let Some(channel) = self.sockets.ethernet.get_mut(number) else { return };
        // Reading it clears it: otherwise the socket would stay ready for ever.
        let error = channel.ring.take_error();
        tracing::debug!(interface = channel.place.name, ?error, "a packet socket has an error");
        channel.place.is_lost = true;
        self.interfaces.check_soon(self.now);
    }

    /// Compares what is bound to interfaces with the interfaces there are, if that is due.
    pub(in crate::plane) fn check_interfaces(&mut self) {
        if self.interfaces.check_at > self.now {
            return;
        }
        self.interfaces.check_at = if self.interfaces.monitor.is_some() || !self.interfaces.is_needed {
            Instant::NEVER
        } else {
            self.now + UNTOLD_INTERVAL
        };
        let all = match interfaces::all() {
            Ok(all) => all,
            Err(error) => {
                tracing::warn!(%error, "interfaces cannot be listed");
                return self.interfaces.retry_later(self.now);
            }
        };
        let groups = self.sockets.channels.numbers().map(Bound::Group);
        let bound: Vec<Bound> = (0..self.sockets.ethernet.len()).map(Bound::Ethernet).chain(groups).collect();
        self.check_own_sockets(&all);
        let mut has_failed = false;
        for bound in bound {
            has_failed |= !self.check_bound(bound, &all);
        }
        self.open_on_new_interfaces(&all);
        if has_failed {
            self.interfaces.retry_later(self.now);
        } else {
            self.interfaces.retry.begin_anew();
        }
    }

    /// Brings what is bound to an interface in line with it. False if that has failed and is to be tried
    /// again.
    fn check_bound(&mut self, bound: Bound, all: &[Interface]) -> bool {
        self.follow_new_name(bound, all);
        let listens = match bound {
            Bound::Ethernet(_) => "Ethernet".to_owned(),
            Bound::Group(number) => self
                .sockets
                .channels
                .get_mut(number)
                .map_or_else(String::new, |channel| format!("the UDP group {}", channel.local)),
        };
        let Some(place) = self.sockets.place_of(bound) else { return true };
        let interface = all.iter().find(|interface| interface.name == place.name);
        let Some(interface) = interface.filter(|interface| interface.is_up) else {
            if !place.is_down() {
                tracing::warn!(
                    interface = place.name,
                    "the interface is down: {listens} does not work there"
                );
                place.goes_down();
                self.set_states(bound, FaceState::Down);
            }
            return true;
        };
        if !place.differs_from(interface) {
            return true;
        }
        let outcome = match bound {
            Bound::Ethernet(number) => self.reopen_ethernet(number, interface),
            Bound::Group(number) => self.reopen_group(number, interface),
        };
        let Some(place) = self.sockets.place_of(bound) else { return true };
        let was_down = place.is_down();
        match outcome {
            Ok(()) => {
                place.comes_up(interface);
                tracing::info!(
                    interface = place.name,
                    index = place.index,
                    "listening again on the interface: {listens}"
                );
                self.set_states(bound, FaceState::Up);
                true
            }
            // An address that a group needs is yet to come: the system will tell.
            Err(error) if error.kind() == std::io::ErrorKind::AddrNotAvailable => true,
            Err(error) => {
                if !was_down || !place.has_failed {
                    tracing::warn!(interface = place.name, %error, "the interface cannot be listened on yet");
                }
                place.has_failed = true;
                if !was_down {
                    place.goes_down();
                    self.set_states(bound, FaceState::Down);
                }
                false
            }
        }
    }

    /// Where the interface has another name now that the configuration means, too, its faces stay as they
    /// are, under that name. Otherwise one waits for an interface of the old name.
    fn follow_new_name(&mut self, bound: Bound, all: &[Interface]) {
        let Some(place) = self.sockets.place_of(bound) else { return };
        let (old, index) = (place.name.clone(), place.index);
        if all.iter().any(|interface| interface.name == old) {
            return;
        }
        let Some(renamed) = all.iter().find(|interface| interface.index == index) else { return };
        // Where the system's messages were lost, another interface may have got the number.
        if self.sockets.place_of(bound).is_none_or(|place| !place.has_mac_of(renamed)) {
            return;
        }
        if !self.is_meant(bound, renamed) || self.sockets.is_taken(bound, &renamed.name) {
            return;
        }
        tracing::info!(interface = old, "the interface is called {} now", renamed.name);
        if let Some(place) = self.sockets.place_of(bound) {
            place.name.clone_from(&renamed.name);
        }
        if let Bound::Ethernet(_) = bound {
            for id in self.faces.bound_to(bound) {
                let Some(face) = self.faces.get_mut(&id) else { continue };
                face.local = FaceUri::Device(renamed.name.clone());
            }
        }
    }

    /// Whether the configuration means this interface for what is bound.
    fn is_meant(&self, bound: Bound, interface: &Interface) -> bool {
        let configured = self.interfaces.new.configured();
        match bound {
            Bound::Ethernet(number) => self.sockets.ethernet.get(number).is_some_and(|channel| {
                channel.dialect == configured.dialect() && configured.are_for_ethernet(interface)
            }),
            Bound::Group(number) => self.sockets.channels.get(number).is_some_and(|channel| {
                channel.dialect == configured.dialect()
                    && configured.groups_on(interface).any(|meant| channel.group_address() == Some(meant))
            }),
        }
    }

    fn reopen_ethernet(&mut self, number: usize, interface: &Interface) -> std::io::Result<()> {
        let Some(channel) = self.sockets.ethernet.get_mut(number) else { return Ok(()) };
        let anew = EthernetChannel::open(interface, channel.dialect, channel.is_in_group())?;
        epoll::add(
            &self.sockets.epoll,
            &anew.ring,
            Token::Ethernet(number).to_data(),
            epoll::EventFlags::IN,
        )?;
        channel.replace(anew);
        let mtu_bytes = channel.mtu_bytes;
        self.schedule.watchdog.trust_anew(Token::Ethernet(number));
        for id in self.faces.bound_to(Bound::Ethernet(number)) {
            let Some(face) = self.faces.get_mut(&id) else { continue };
            let mut settings = *face.codec.settings();
            settings.transport_mtu_bytes = Some(mtu_bytes);
            if settings != *face.codec.settings() && !face.codec.set_settings(settings) {
                tracing::warn!(face = id.0, mtu_bytes, "the face cannot have the interface's new MTU");
            }
        }
        Ok(())
    }

    fn reopen_group(&mut self, number: usize, interface: &Interface) -> std::io::Result<()> {
        let Some(channel) = self.sockets.channels.get_mut(number) else { return Ok(()) };
        let Some(group) = channel.group_address() else { return Ok(()) };
        let has_address = if group.is_ipv4() { !interface.v4.is_empty() } else { !interface.v6.is_empty() };
        if !has_address {
            return Err(std::io::ErrorKind::AddrNotAvailable.into());
        }
        channel.leave_group();
        let anew =
            DatagramChannel::bind_group(group, channel.dialect, interface, channel.receive_buffer_bytes)?;
        epoll::add(
            &self.sockets.epoll,
            &anew.socket,
            Token::Datagrams(number).to_data(),
            epoll::EventFlags::IN,
        )?;
        channel.replace_socket(anew);
        let group = channel.local;
        self.schedule.watchdog.trust_anew(Token::Datagrams(number));
        // The address names the interface by its number, which may be another now.
        for id in self.faces.bound_to(Bound::Group(number)) {
            let Some(face) = self.faces.get_mut(&id) else { continue };
            face.remote = FaceUri::Udp(group);
            face.local = FaceUri::Udp(group);
            if let Transport::Datagram(DatagramPort { path: DatagramPath::Udp { peer, .. }, .. }) =
                &mut face.transport
            {
                *peer = group;
            }
        }
        Ok(())
    }

    fn set_states(&mut self, bound: Bound, state: FaceState) {
        for id in self.faces.bound_to(bound) {
            let Some(face) = self.faces.get_mut(&id).filter(|face| face.state != state) else { continue };
            face.state = state;
            let kind = if state == FaceState::Up { FaceEventKind::Up } else { FaceEventKind::Down };
            self.announce(id, kind);
        }
    }
}
