//! The few sentences of rtnetlink that a network of namespaces needs: make a pair, name it, shape it, bring
//! it up.
//!
//! Requests are built and answers read by byte order, without a line of another tool's output. See
//! rtnetlink(7).

use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};

use formats::netlink::{Request, messages};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recv, send, socket,
};

const RTM_NEWLINK: u16 = 16;
const RTM_SETLINK: u16 = 19;
const RTM_NEWADDR: u16 = 20;
const RTM_NEWROUTE: u16 = 24;
const RTM_NEWNEIGH: u16 = 28;
const RTM_NEWQDISC: u16 = 36;

const NLM_F_REPLACE: u16 = 0x100;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;

const IFLA_ADDRESS: u16 = 1;
const IFLA_IFNAME: u16 = 3;
const IFLA_MTU: u16 = 4;
const IFLA_LINKINFO: u16 = 18;
const IFLA_NET_NS_FD: u16 = 28;
const IFLA_GSO_MAX_SEGS: u16 = 40;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const VETH_INFO_PEER: u16 = 1;
const NESTED: u16 = 0x8000;

const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const NDA_DST: u16 = 1;
const NDA_LLADDR: u16 = 2;
const NUD_PERMANENT: u16 = 0x80;
const RTA_DST: u16 = 1;
const RTA_OIF: u16 = 4;
const RTA_GATEWAY: u16 = 5;
const RT_TABLE_MAIN: u8 = 254;
const RTPROT_STATIC: u8 = 4;
const RTN_UNICAST: u8 = 1;
const AF_INET: u8 = 2;
const IFF_UP: u32 = 1;

const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TCA_NETEM_LATENCY64: u16 = 10;
const TC_H_ROOT: u32 = 0xFFFF_FFFF;
const LINK_LAYER_ETHERNET: u8 = 1;

/// A request that the kernel refused.
#[derive(Debug, thiserror::Error)]
#[error("the kernel refused to {what}: {source}")]
pub struct NetlinkError {
    what: String,
    source: Errno,
}

impl NetlinkError {
    /// Is the thing that was asked for not part of this kernel?
    #[must_use]
    pub fn is_missing_feature(&self) -> bool {
        matches!(self.source, Errno::ENOENT | Errno::EOPNOTSUPP)
    }
}

/// One end of a pair.
#[derive(Debug, Clone, Copy)]
pub struct End<'a> {
    /// The interface's name in its namespace.
    pub name: &'a str,
    /// Its Ethernet address.
    pub address: [u8; 6],
}

/// Appends `struct ifinfomsg`.
fn put_interface(message: &mut Request, index: u32, flags: u32) {
    message.put(&[0; 4]);
    message.put(&index.to_ne_bytes());
    message.put(&flags.to_ne_bytes());
    message.put(&flags.to_ne_bytes());
}

/// A conversation with the kernel about the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Netlink {
    socket: OwnedFd,
}

impl Netlink {
    /// Opens a conversation in the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// When the kernel gives no netlink socket.
    pub fn open() -> Result<Self, NetlinkError> {
        let failed = |source| NetlinkError { what: "open a netlink socket".to_owned(), source };
        let kind = SockType::Raw;
        let socket = socket(AddressFamily::Netlink, kind, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute);
        let socket = socket.map_err(failed)?;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0)).map_err(failed)?;
        Ok(Netlink { socket })
    }

    /// Makes a veth pair: one end here, the other in the namespace of `there`.
    ///
    /// Segmentation is left to this side of the wire (`gso_max_segs` 1), so that captures and queues see
    /// frames of the size that a cable would carry.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn add_pair(
        &self,
        here: End<'_>,
        far: End<'_>,
        there: BorrowedFd<'_>,
        mtu: u32,
    ) -> Result<(), NetlinkError> {
        let one_end = |message: &mut Request, end: End<'_>, namespace: Option<RawFd>| {
            message.attribute(IFLA_IFNAME, &text(end.name));
            message.attribute(IFLA_ADDRESS, &end.address);
            message.attribute(IFLA_MTU, &mtu.to_ne_bytes());
            message.attribute(IFLA_GSO_MAX_SEGS, &1u32.to_ne_bytes());
            if let Some(namespace) = namespace {
                message.attribute(IFLA_NET_NS_FD, &namespace.to_ne_bytes());
            }
        };
        let mut message = Request::new(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
        put_interface(&mut message, 0, 0);
        one_end(&mut message, here, None);
        message.nested(IFLA_LINKINFO | NESTED, |message| {
            message.attribute(IFLA_INFO_KIND, &text("veth"));
            message.nested(IFLA_INFO_DATA | NESTED, |message| {
                message.nested(VETH_INFO_PEER | NESTED, |message| {
                    put_interface(message, 0, 0);
                    one_end(message, far, Some(there.as_raw_fd()));
                });
            });
        });
        self.ask(message, || format!("make the pair {} and {}", here.name, far.name))
    }

    /// Brings an interface up.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn up(&self, index: u32) -> Result<(), NetlinkError> {
        let mut message = Request::new(RTM_SETLINK, 0);
        put_interface(&mut message, index, IFF_UP);
        self.ask(message, || format!("bring interface {index} up"))
    }

    /// Takes an interface down. The kernel forgets its neighbours and its routes, and keeps its address.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn down(&self, index: u32) -> Result<(), NetlinkError> {
        let mut message = Request::new(RTM_SETLINK, 0);
        // No flags, of those that the change is about.
        message.put(&[0; 4]);
        message.put(&index.to_ne_bytes());
        message.put(&0u32.to_ne_bytes());
        message.put(&IFF_UP.to_ne_bytes());
        self.ask(message, || format!("take interface {index} down"))
    }

    /// Limits how many segments one send may carry; 1 makes every frame a frame.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn limit_segments(&self, index: u32) -> Result<(), NetlinkError> {
        let mut message = Request::new(RTM_SETLINK, 0);
        message.put(&[0; 4]);
        message.put(&index.to_ne_bytes());
        message.put(&[0; 8]);
        message.attribute(IFLA_GSO_MAX_SEGS, &1u32.to_ne_bytes());
        self.ask(message, || format!("limit the segments of interface {index}"))
    }

    /// Gives an interface an address in a network of two.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn add_address(&self, index: u32, address: Ipv4Addr, prefix: u8) -> Result<(), NetlinkError> {
        let mut message = Request::new(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
        message.put(&[AF_INET, prefix, 0, 0]);
        message.put(&index.to_ne_bytes());
        message.attribute(IFA_LOCAL, &address.octets());
        message.attribute(IFA_ADDRESS, &address.octets());
        self.ask(message, || format!("give interface {index} the address {address}"))
    }

    /// Tells the kernel a neighbour's Ethernet address, so that it need not ask on the measured link.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn add_neighbour(&self, index: u32, address: Ipv4Addr, ether: [u8; 6]) -> Result<(), NetlinkError> {
        let mut message = Request::new(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
        message.put(&[AF_INET, 0, 0, 0]);
        message.put(&index.to_ne_bytes());
        message.put(&NUD_PERMANENT.to_ne_bytes());
        message.put(&[0, 0]);
        message.attribute(NDA_DST, &address.octets());
        message.attribute(NDA_LLADDR, &ether);
        self.ask(message, || format!("note the neighbour {address}"))
    }

    /// Sends packets for one address to a neighbour.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub fn add_route(&self, index: u32, to: Ipv4Addr, gateway: Ipv4Addr) -> Result<(), NetlinkError> {
        let mut message = Request::new(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
        // struct rtmsg: family, lengths of destination and source, tos, table, protocol, scope, type, flags.
        message.put(&[AF_INET, 32, 0, 0, RT_TABLE_MAIN, RTPROT_STATIC, 0, RTN_UNICAST, 0, 0, 0, 0]);
        message.attribute(RTA_DST, &to.octets());
        message.attribute(RTA_GATEWAY, &gateway.octets());
        message.attribute(RTA_OIF, &index.to_ne_bytes());
        self.ask(message, || format!("send packets for {to} to {gateway}"))
    }

    /// Limits an interface's sending rate with a token bucket; more than `queue_bytes` waiting is dropped.
    ///
    /// # Errors
    ///
    /// When the kernel refuses, or has no `tbf`.
    pub fn limit_rate(
        &self,
        index: u32,
        parent: Option<u32>,
        rate_bps: u64,
        burst_bytes: u32,
        queue_bytes: u32,
    ) -> Result<(), NetlinkError> {
        let bytes_per_second = rate_bps / 8;
        let mut parameters = Vec::with_capacity(36);
        for rate in [u32::try_from(bytes_per_second).unwrap_or(u32::MAX), 0] {
            // struct tc_ratespec: cell_log, linklayer, overhead, cell_align, mpu, rate.
            parameters.extend_from_slice(&[0, LINK_LAYER_ETHERNET, 0, 0, 0, 0, 0, 0]);
            parameters.extend_from_slice(&rate.to_ne_bytes());
        }
        for value in [queue_bytes, 0, 0] {
            parameters.extend_from_slice(&value.to_ne_bytes());
        }
        let mut message = queueing(index, parent.unwrap_or(TC_H_ROOT), 0x0020_0000, "tbf");
        message.nested(TCA_OPTIONS, |message| {
            message.attribute(TCA_TBF_PARMS, &parameters);
            message.attribute(TCA_TBF_BURST, &burst_bytes.to_ne_bytes());
            if bytes_per_second > u64::from(u32::MAX) {
                message.attribute(TCA_TBF_RATE64, &bytes_per_second.to_ne_bytes());
            }
        });
        self.ask(message, || format!("limit interface {index} to {rate_bps} bit/s"))
    }

    /// Delays and loses what an interface sends. Its handle is 1:, for a rate limit below it.
    ///
    /// # Errors
    ///
    /// When the kernel refuses, or has no `netem`; see [`NetlinkError::is_missing_feature`].
    pub fn impair(&self, index: u32, delay_ns: u64, loss: f64, queue: u32) -> Result<(), NetlinkError> {
        let loss = (loss.clamp(0.0, 1.0) * f64::from(u32::MAX)).round() as u32;
        // struct tc_netem_qopt: latency, limit, loss, gap, duplicate, jitter. One tick is 64 ns.
        let latency = u32::try_from(delay_ns / 64).unwrap_or(u32::MAX);
        let mut options = Vec::with_capacity(24);
        for value in [latency, queue, loss, 0, 0, 0] {
            options.extend_from_slice(&value.to_ne_bytes());
        }
        let mut message = queueing(index, TC_H_ROOT, 0x0001_0000, "netem");
        message.nested(TCA_OPTIONS, |message| {
            message.put(&options);
            message
                .attribute(TCA_NETEM_LATENCY64, &i64::try_from(delay_ns).unwrap_or(i64::MAX).to_ne_bytes());
        });
        self.ask(message, || format!("delay interface {index} by netem"))
    }

    /// Sends a message and waits for its acknowledgement.
    fn ask(&self, message: Request, what: impl Fn() -> String) -> Result<(), NetlinkError> {
        let failed = |source| NetlinkError { what: what(), source };
        let bytes = message.finish();
        send(self.socket.as_raw_fd(), &bytes, MsgFlags::empty()).map_err(failed)?;
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let length = recv(self.socket.as_raw_fd(), &mut buffer, MsgFlags::empty()).map_err(failed)?;
            let answer = buffer.get(..length).unwrap_or_default();
            if let Some(code) = messages(answer).find_map(|message| message.acknowledgement()) {
                return if code == 0 { Ok(()) } else { Err(failed(Errno::from_raw(-code))) };
            }
        }
    }
}

/// The head of a message about queueing.
fn queueing(index: u32, parent: u32, handle: u32, kind: &str) -> Request {
    let mut message = Request::new(RTM_NEWQDISC, NLM_F_CREATE | NLM_F_REPLACE);
    message.put(&[0; 4]);
    message.put(&index.to_ne_bytes());
    message.put(&handle.to_ne_bytes());
    message.put(&parent.to_ne_bytes());
    message.put(&[0; 4]);
    message.attribute(TCA_KIND, &text(kind));
    message
}

fn text(value: &str) -> Vec<u8> {
    let mut bytes = value.as_bytes().to_vec();
    bytes.push(0);
    bytes
}
