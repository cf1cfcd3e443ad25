use std::sync::mpsc::{SyncSender, sync_channel};

use packet::ndn::InterestBuilder;

use super::*;
use crate::transport::inner::{InnerPort, inner_face};
use crate::transport::ring::{RingLimits, RingReceiver, RingSender, Signal, ring};

const TIMEOUT: std::time::Duration = std::time::Duration::from_secs(20);

#[derive(Debug, PartialEq)]
enum ServiceEvent {
    Packet,
    Other,
    Deadline,
}

/// Says what it sees. Its one deadline is ten milliseconds after the start.
struct Witness<const OUTLIVES_FACE: bool> {
    clock: Clock,
    deadline: Instant,
    others: RingReceiver<()>,
    seen: SyncSender<ServiceEvent>,
}

impl<const OUTLIVES: bool> InnerService for Witness<OUTLIVES> {
    const OUTLIVES_FACE: bool = OUTLIVES;

    fn handle_packet(&mut self, _: &mut InnerFace, _: InnerPacket) {
        self.seen.send(ServiceEvent::Packet).unwrap();
    }

    fn take_other(&mut self) -> Result<bool, RingEnded> {
        let Some(_) = self.others.pop()? else { return Ok(false) };
        self.seen.send(ServiceEvent::Other).unwrap();
        Ok(true)
    }

    fn proceed(&mut self, _: &mut InnerFace) {
        if self.deadline <= self.clock.now() {
            self.deadline = Instant::NEVER;
            self.seen.send(ServiceEvent::Deadline).unwrap();
        }
    }

    fn other(&self) -> Option<BorrowedFd<'_>> {
        Some(self.others.as_fd())
    }

    fn next_deadline(&self, _: Instant) -> Instant {
        self.deadline
    }
}

struct Ends {
    port: InnerPort,
    others: RingSender<()>,
    seen: std::sync::mpsc::Receiver<ServiceEvent>,
    thread: ServiceThread,
}

fn start<const OUTLIVES_FACE: bool>() -> Ends {
    let clock = Clock::start();
    let (face, port) = inner_face(Dialect::Ndn, InnerLimits::default()).unwrap();
    let limits = RingLimits { items: 4, bytes: usize::MAX };
    let (others, taken) = ring(limits, Signal::new().unwrap(), Signal::new().unwrap());
    let (saw, seen) = sync_channel(4);
    let deadline = clock.now() + Duration::from_millis(10);
    let witness = Witness::<OUTLIVES_FACE> { clock, deadline, others: taken, seen: saw };
    let thread = ServiceThread::start("witness", clock, face, witness).unwrap();
    Ends { port, others, seen, thread }
}

#[test]
fn a_service_wakes_for_its_deadline_for_packets_and_for_what_comes_otherwise_and_ends_with_its_face() {
    let Ends { mut port, mut others, seen, thread } = start::<false>();
    assert_eq!(seen.recv_timeout(TIMEOUT), Ok(ServiceEvent::Deadline));
    others.push((), 1).unwrap();
    others.wake();
    assert_eq!(seen.recv_timeout(TIMEOUT), Ok(ServiceEvent::Other));
    let interest = InterestBuilder::new("/a".parse().unwrap()).nonce(1).build().unwrap();
    port.send(InnerPacket::interest(interest)).unwrap();
    port.wake();
    assert_eq!(seen.recv_timeout(TIMEOUT), Ok(ServiceEvent::Packet));
    drop(port);
    drop(thread);
    assert!(seen.recv().is_err());
}

#[test]
fn a_service_that_outlives_its_face_goes_on_until_nothing_comes_otherwise_any_more() {
    let Ends { port, mut others, seen, thread } = start::<true>();
    assert_eq!(seen.recv_timeout(TIMEOUT), Ok(ServiceEvent::Deadline));
    drop(port);
    others.push((), 1).unwrap();
    others.wake();
    assert_eq!(seen.recv_timeout(TIMEOUT), Ok(ServiceEvent::Other));
    drop(others);
    drop(thread);
    assert!(seen.recv().is_err());
}
