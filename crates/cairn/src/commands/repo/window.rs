//! Serving a window of Interests: the repository's threads look for the answers to all of them at once, and
//! each is sent when it is found.

use std::collections::BTreeMap;
use std::ops::Add;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration as StdDuration;

use client::Client;
use flow::source::AppFace;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, Packet};
use repo::service::{Answered, Busy, ServiceHandle};

/// Interests that wait for the repository at once. More wait in the connection.
const WINDOW: usize = 256;
/// How long nobody may ask before it is looked what else there is to do.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How long no answer may come before it is looked who asks.
const PAUSE: StdDuration = StdDuration::from_millis(1);

/// An answer by the number of its question; nothing if there is none.
pub(super) type QuestionAnswer = (u64, Option<Data>);

/// Set in the numbers of questions of a window for CCNx: one service answers both.
const OF_CCNX: u64 = 1 << 63;

/// What was served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Served {
    pub(super) packets: u64,
    /// Bytes of content in them.
    pub(super) content_bytes: u64,
}

impl Add for Served {
    type Output = Served;

    fn add(self, other: Served) -> Served {
        let content_bytes = self.content_bytes + other.content_bytes;
        Served { packets: self.packets + other.packets, content_bytes }
    }
}

/// Takes a service's answers to [`Window`]s, one for each dialect.
pub(super) struct AnswerSender {
    ndn: Sender<QuestionAnswer>,
    ccnx: Sender<QuestionAnswer>,
}

/// Where a window takes its answers from.
pub(super) type Answers = Receiver<QuestionAnswer>;

/// Where the answers in a dialect come from.
pub(super) struct AnswersByDialect {
    pub(super) ndn: Answers,
    pub(super) ccnx: Answers,
}

/// Where answers go, and where they come from.
pub(super) fn answer_box() -> (AnswerSender, AnswersByDialect) {
    let ((ndn, from_ndn), (ccnx, from_ccnx)) = (channel(), channel());
    (AnswerSender { ndn, ccnx }, AnswersByDialect { ndn: from_ndn, ccnx: from_ccnx })
}

impl AnswerSender {
    /// What the service calls. There are never more answers than questions that wait.
    pub(super) fn answered(self) -> Answered {
        // Nobody listens any more when it ends.
        std::sync::Arc::new(move |replies| {
            for reply in replies.drain(..) {
                let to = if reply.question & OF_CCNX == 0 { &self.ndn } else { &self.ccnx };
                let _ = to.send((reply.question & !OF_CCNX, reply.found.map(|found| found.data)));
            }
        })
    }
}

/// Asks a service for a window of CCNx.
pub(super) fn ask_for_ccnx(service: ServiceHandle) -> impl FnMut(u64, Interest) -> Result<(), Busy> {
    move |question, interest| service.ask(question | OF_CCNX, interest)
}

/// Who asks, and is answered.
pub(super) trait WindowFace: AppFace {
    /// The repository has no answer to `interest`.
    fn handle_not_found(&mut self, interest: &Interest) -> Result<(), Self::Error> {
        let _ = interest;
        Ok(())
    }
}

/// Silence tells it.
impl WindowFace for Client {}

/// Interests that wait for their answers.
pub(super) struct Window<A> {
    ask: A,
    answers: Answers,
    waiting: BTreeMap<u64, PendingInterest>,
    next: u64,
    served: Served,
}

struct PendingInterest {
    interest: Interest,
    asked: LinkHeader,
    expires: Instant,
}

impl<A: FnMut(u64, Interest) -> Result<(), Busy>> Window<A> {
    /// With what asks the repository, and what brings its answers.
    pub(super) fn new(ask: A, answers: Answers) -> Self {
        Window { ask, answers, waiting: BTreeMap::new(), next: 0, served: Served::default() }
    }

    /// What was sent.
    pub(super) fn served(&self) -> Served {
        self.served
    }

    /// Takes the Interests there are, as far as there is room, and sends the answers there are; the face
    /// is told where there is none. Waits a moment where there is nothing to do.
    pub(super) fn turn<F: WindowFace>(&mut self, face: &mut F) -> Result<(), F::Error> {
        let now = face.now();
        let mut until = if self.waiting.is_empty() { now + CHECK_INTERVAL } else { now };
        while self.has_room(face.now())
            && let Some((interest, asked)) = face.next_interest(until)?
        {
            self.take(face.now(), interest, asked);
            until = face.now();
        }
        if self.waiting.is_empty() {
            return Ok(());
        }
        let mut next = self.answers.recv_timeout(PAUSE).ok();
        while let Some((question, data)) = next {
            match (self.waiting.remove(&question), data) {
                (Some(waiting), Some(data)) => {
                    self.served.packets += 1;
                    self.served.content_bytes += data.content().len() as u64;
                    face.send(Packet::Data(data), &waiting.asked)?;
                }
                (Some(waiting), None) => face.handle_not_found(&waiting.interest)?,
                (None, _) => {}
            }
            next = self.answers.try_recv().ok();
        }
        face.flush()
    }

    fn has_room(&mut self, now: Instant) -> bool {
        if self.waiting.len() >= WINDOW {
            self.waiting.retain(|_, waiting| waiting.expires > now);
        }
        self.waiting.len() < WINDOW
    }

    fn take(&mut self, now: Instant, interest: Interest, asked: LinkHeader) {
        let question = self.next;
        self.next += 1;
        // Who finds it busy is answered by nobody, and asks again.
        if (self.ask)(question, interest.clone()).is_ok() {
            let expires = now + interest.lifetime();
            self.waiting.insert(question, PendingInterest { interest, asked, expires });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use packet::ndn::{DataBuilder, InterestBuilder};
    use std::cell::RefCell;
    use std::collections::VecDeque;
    use std::convert::Infallible;

    /// Brings Interests that came all at once, and keeps what is sent.
    struct Crowd {
        now: Instant,
        coming: VecDeque<u64>,
        sent: Vec<(u64, String)>,
    }

    fn crowd(count: u64) -> Crowd {
        Crowd { now: Instant::ZERO, coming: (0..count).collect(), sent: Vec::new() }
    }

    fn data(number: u64) -> Data {
        DataBuilder::new(format!("/a/{number}").parse().unwrap()).build_with_digest().unwrap()
    }

    impl AppFace for Crowd {
        type Error = Infallible;

        fn now(&self) -> Instant {
            self.now
        }

        fn next_interest(&mut self, until: Instant) -> Result<Option<(Interest, LinkHeader)>, Infallible> {
            let Some(number) = self.coming.pop_front() else {
                self.now = until;
                return Ok(None);
            };
            let name = format!("/a/{number}").parse().unwrap();
            let interest = InterestBuilder::new(name).lifetime(Duration::from_secs(1)).build().unwrap();
            Ok(Some((interest, LinkHeader { congestion_mark: number, ..LinkHeader::NONE })))
        }

        fn send(&mut self, answer: Packet, asked: &LinkHeader) -> Result<(), Infallible> {
            self.sent.push((asked.congestion_mark, answer.name().to_string()));
            Ok(())
        }

        fn flush(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    impl WindowFace for Crowd {}

    #[test]
    fn as_many_interests_wait_at_once_as_the_window_has_and_each_gets_its_own_answer() {
        let count = 3 * WINDOW as u64 + 7;
        let (mut crowd, asked) = (crowd(count), RefCell::new(Vec::new()));
        let (told, answers) = channel();
        let ask = |question, _| {
            asked.borrow_mut().push(question);
            Ok(())
        };
        let mut window = Window::new(ask, answers);
        let mut most = 0;
        while crowd.sent.len() < count as usize {
            window.turn(&mut crowd).unwrap();
            let open = asked.take();
            most = most.max(open.len());
            // The last that was asked is found first.
            for &question in open.iter().rev() {
                told.send((question, Some(data(question)))).unwrap();
            }
        }
        assert_eq!(most, WINDOW);
        assert_eq!((crowd.sent[0].0, window.served().packets), (WINDOW as u64 - 1, count));
        assert!(crowd.sent.iter().all(|(number, name)| *name == format!("/a/{number}")));
    }

    #[test]
    fn who_gets_no_answer_leaves_the_window_when_he_waits_no_more() {
        let mut crowd = crowd(2 * WINDOW as u64);
        let (told, answers) = channel();
        let asked = RefCell::new(0);
        let ask = |_, _| {
            *asked.borrow_mut() += 1;
            Ok(())
        };
        let mut window = Window::new(ask, answers);
        window.turn(&mut crowd).unwrap();
        window.turn(&mut crowd).unwrap();
        assert_eq!(*asked.borrow(), WINDOW);
        // Half of them are told that there is nothing; the others just grow old.
        for question in 0..WINDOW as u64 / 2 {
            told.send((question, None)).unwrap();
        }
        window.turn(&mut crowd).unwrap();
        window.turn(&mut crowd).unwrap();
        assert_eq!(*asked.borrow(), WINDOW + WINDOW / 2);
        crowd.now = Instant::from_millis(1001);
        window.turn(&mut crowd).unwrap();
        assert_eq!((*asked.borrow(), crowd.sent.len()), (2 * WINDOW, 0));
        // An answer that comes too late is nobody's.
        told.send((WINDOW as u64 - 1, Some(data(1)))).unwrap();
        window.turn(&mut crowd).unwrap();
        assert!(crowd.sent.is_empty());
    }
}
