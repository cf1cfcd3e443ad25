//! What happens at a time: idle faces close, links send again, connections are tried anew.

use engine::FaceId;
use packet::time::{Duration, Instant};
use rustix::event::epoll;

use crate::control::{FacePersistency, FaceState};
use crate::drop_reason::DropReason;
use crate::face::{Face, PING_INTERVAL, Transport};
use crate::plane::{DataPlane, Token};
use crate::settings::Timeouts;
use crate::transport::websocket::ping;

/// Faces that an address may have and still leave as long as anybody.
const FEW_FACES_PER_ADDRESS: usize = 32;
/// Time between two lines of the log about what paths carry. A neighbour that answers some probes and not
/// others has its face's MTU change several times a second.
const PATH_MTU_LOG_INTERVAL: Duration = Duration::from_secs(1);
/// Faces looked after in one turn.
const ALARMS_PER_TURN: usize = 256;

impl DataPlane {
    /// Has a face looked after no later than `when`.
    pub(in crate::plane) fn set_alarm(&mut self, id: FaceId, when: Instant) {
        let Some(face) = self.faces.get_mut(&id) else { return };
        if when < face.activity.alarm {
            self.schedule.alarms.remove(&(face.activity.alarm, id));
            face.activity.alarm = when;
            self.schedule.alarms.insert((when, id));
        }
    }

    pub(in crate::plane) fn ring_alarms(&mut self) {
        for _ in 0..ALARMS_PER_TURN {
            let Some(&(when, id)) = self.schedule.alarms.first().filter(|(when, _)| *when <= self.now) else {
                return;
            };
            self.schedule.alarms.remove(&(when, id));
            if let Some(face) = self.faces.get_mut(&id) {
                face.activity.alarm = Instant::NEVER;
                self.look_after(id);
            }
        }
    }

    /// Does what is due for a face, and sets its next alarm.
    fn look_after(&mut self, id: FaceId) {
        let now = self.now;
        let stall_timeout = self.settings.timeouts.stall;
        let Some(face) = self.faces.get(&id) else { return };
        if self.idle_deadline(face) <= now {
            return self.destroy_face(id, "idle");
        }
        if face.codec.next_deadline() <= now {
            self.handle_link_timeout(id);
            self.tell_path_mtu(id);
        }
        let Some(face) = self.faces.get_mut(&id) else { return };
        if let Transport::Stream(port) = &mut face.transport {
            if let Some(stream) = port.stream.as_mut()
                && stream.give_up_holding(now)
            {
                let token = Token::Face(id).to_data();
                let _ = epoll::modify(&self.sockets.epoll, &stream.socket, token, stream.flags());
            }
            if port.incomplete_since.is_some_and(|since| since + stall_timeout <= now) {
                face.counters.drops.count(DropReason::StalledStream);
                return self.handle_stream_end(id, "stopped in the middle of a frame");
            }
            if let Some(websocket) = port.websocket.as_mut().filter(|websocket| websocket.ping_at <= now) {
                if websocket.last_heard + PING_INTERVAL * 2 <= now {
                    return self.handle_stream_end(id, "the WebSocket's peer does not answer");
                }
                websocket.ping_at = now + PING_INTERVAL;
                if let Some(stream) = port.stream.as_mut().filter(|_| websocket.protocol.is_open()) {
                    stream.queue().push_raw(&ping());
                    self.batch.touch(face);
                }
                return self.renew_alarm(id);
            }
            if port.attempt_at <= now {
                match (face.state, port.stream.is_some()) {
                    (FaceState::Down, true) => return self.handle_stream_end(id, "no connection in time"),
                    (FaceState::Down, false) => {
                        // What went wrong has been dealt with: there will be another attempt, or the face is
                        // gone.
                        let _ = self.connect(id);
                        return self.renew_alarm(id);
                    }
                    (FaceState::Up, _) => port.attempt_at = Instant::NEVER,
                }
            }
        }
        self.renew_alarm(id);
    }

    /// Says in the log what the path of a face carries, if that has changed; later, if something was said of
    /// another face just now.
    fn tell_path_mtu(&mut self, id: FaceId) {
        if self.now < self.schedule.next_path_mtu_told {
            return;
        }
        let Some(face) = self.faces.get_mut(&id) else { return };
        let Some(bytes) = face.codec.poll_path_mtu() else { return };
        self.schedule.next_path_mtu_told = self.now + PATH_MTU_LOG_INTERVAL;
        tracing::info!(
            face = id.0,
            remote = %face.remote,
            bytes,
            "the path carries frames of another size than before; packets are cut to it"
        );
    }

    /// Sets the next alarm of a face by all that it may wait for.
    pub(in crate::plane) fn renew_alarm(&mut self, id: FaceId) {
        let Some(face) = self.faces.get(&id) else { return };
        let when = face
            .next_deadline(self.settings.timeouts.stall)
            .min(self.settings.timeouts.next_look(self.now, face));
        // What is overdue, such as acknowledgements that find no room, is not tried again at once.
        let first = if when > self.now { Duration::from_micros(100) } else { Duration::from_millis(1) };
        self.set_alarm(id, when.max(self.now + first));
    }

    /// When a face closes for being idle: earlier if its address has many.
    fn idle_deadline(&self, face: &Face) -> Instant {
        if !closes_when_idle(face) {
            return Instant::NEVER;
        }
        let is_crowd = face.probation.origin.is_some_and(|origin| {
            self.occupancy.population.on_demand_datagrams.count(origin) > FEW_FACES_PER_ADDRESS
        });
        let crowd_timeout = if is_crowd { self.settings.timeouts.crowd_idle } else { Duration::MAX };
        face.activity.last_used + self.settings.timeouts.idle.min(crowd_timeout)
    }
}

impl Timeouts {
    /// When it is next seen whether a face is idle: whether its address has many is only known then.
    fn next_look(&self, now: Instant, face: &Face) -> Instant {
        if !closes_when_idle(face) {
            return Instant::NEVER;
        }
        let early = face.activity.last_used + self.idle.min(self.crowd_idle);
        if early > now { early } else { face.activity.last_used + self.idle }
    }
}

/// Connections end when the peer closes them; an application may well be silent for hours.
fn closes_when_idle(face: &Face) -> bool {
    matches!(face.transport, Transport::Datagram(_)) && face.persistency == FacePersistency::OnDemand
}
