//! Serving a window of Interests: the repository's threads look for the answers to all of them at once, and
//! each is sent when it is found.

use std::collections::BTreeMap;
use std::ops::Add;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration as StdDuration;

use client::Client;
use flow::source::AppFace;
use packet::time::{Duration, Instant};
use packet::{Data, Interest, LinkHeader, Packet, SpareBuffer};
use repo::service::{Answered, Busy, ServiceHandle};
use system::unix_now;

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

/// Who has the answers.
pub(super) trait Answerer {
    /// The answer, if it can be had without waiting. Its memory is taken from `spare` if it fits.
    fn answer_at_once(&mut self, interest: &Interest, spare: &mut Option<SpareBuffer>) -> Option<Data>;

    /// Asks for the answer, which comes with this number.
    fn ask(&mut self, question: u64, interest: Interest) -> Result<(), Busy>;
}

/// A service that is asked by a window for NDN. What is in memory the window reads by itself: so nobody has
/// to be woken for it, and it goes where the last packet was.
pub(super) struct NdnService(pub(super) ServiceHandle);

impl Answerer for NdnService {
    fn answer_at_once(&mut self, interest: &Interest, spare: &mut Option<SpareBuffer>) -> Option<Data> {
        let hashes = self.0.hashes(interest);
        let found = self.0.read_in_memory(unix_now(), interest, &hashes, |_| spare.take())?;
        Some(found.data)
    }

    fn ask(&mut self, question: u64, interest: Interest) -> Result<(), Busy> {
        self.0.ask(question, interest)
    }
}

/// A service that is asked by a window for CCNx.
pub(super) struct CcnxService(pub(super) ServiceHandle);

impl Answerer for CcnxService {
    fn answer_at_once(&mut self, _interest: &Interest, _spare: &mut Option<SpareBuffer>) -> Option<Data> {
        None
    }

    fn ask(&mut self, question: u64, interest: Interest) -> Result<(), Busy> {
        self.0.ask(question | OF_CCNX, interest)
    }
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
    answerer: A,
    answers: Answers,
    waiting: BTreeMap<u64, PendingInterest>,
    next: u64,
    served: Served,
    /// The memory of the packet that was sent last.
    spare: Option<SpareBuffer>,
}

struct PendingInterest {
    interest: Interest,
    asked: LinkHeader,
    expires: Instant,
}

impl<A: Answerer> Window<A> {
    /// With who is asked, and what brings the answers that do not come at once.
    pub(super) fn new(answerer: A, answers: Answers) -> Self {
        let served = Served::default();
        Window { answerer, answers, waiting: BTreeMap::new(), next: 0, served, spare: None }
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
        // Whoever asks without end for what is in memory keeps no other from his answers.
        let mut left = WINDOW;
        while left > 0
            && self.has_room(face.now())
            && let Some((interest, asked)) = face.next_interest(until)?
        {
            left -= 1;
            match self.answerer.answer_at_once(&interest, &mut self.spare) {
                Some(data) => self.send(face, data, &asked)?,
                None => self.ask(face.now(), interest, asked),
            }
            until = face.now();
        }
        if self.waiting.is_empty() {
            return face.flush();
        }
        let mut next = self.answers.recv_timeout(PAUSE).ok();
        while let Some((question, data)) = next {
            match (self.waiting.remove(&question), data) {
                (Some(waiting), Some(data)) => self.send(face, data, &waiting.asked)?,
                (Some(waiting), None) => face.handle_not_found(&waiting.interest)?,
                (None, _) => {}
            }
            next = self.answers.try_recv().ok();
        }
        face.flush()
    }

    fn send<F: WindowFace>(&mut self, face: &mut F, data: Data, asked: &LinkHeader) -> Result<(), F::Error> {
        self.served.packets += 1;
        self.served.content_bytes += data.content().len() as u64;
        face.send(Packet::Data(data.clone()), asked)?;
        // Who has sent it by now needs it no more.
        self.spare = data.into_wire().reclaim().or(self.spare.take());
        Ok(())
    }

    fn has_room(&mut self, now: Instant) -> bool {
        if self.waiting.len() >= WINDOW {
            self.waiting.retain(|_, waiting| waiting.expires > now);
        }
        self.waiting.len() < WINDOW
    }

    fn ask(&mut self, now: Instant, interest: Interest, asked: LinkHeader) {
        let question = self.next;
        self.next += 1;
        // Who finds it busy is answered by nobody, and asks again.
        if self.answerer.ask(question, interest.clone()).is_ok() {
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
    use std::rc::Rc;

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

    /// What was asked, each with its number.
    type NotedQuestions = Rc<RefCell<Vec<(u64, Interest)>>>;

    /// Knows the answers to numbers below one at once, and notes what else it is asked.
    #[derive(Default)]
    struct Knowing {
        at_once: u64,
        asked: NotedQuestions,
    }

    impl Answerer for Knowing {
        fn answer_at_once(&mut self, interest: &Interest, _spare: &mut Option<SpareBuffer>) -> Option<Data> {
            (0..self.at_once).map(data).find(|data| interest.matches(data))
        }

        fn ask(&mut self, question: u64, interest: Interest) -> Result<(), Busy> {
            self.asked.borrow_mut().push((question, interest));
            Ok(())
        }
    }

    fn window(at_once: u64) -> (Window<Knowing>, NotedQuestions, Sender<QuestionAnswer>) {
        let (told, answers) = channel();
        let knowing = Knowing { at_once, ..Knowing::default() };
        let asked = Rc::clone(&knowing.asked);
        (Window::new(knowing, answers), asked, told)
    }

    #[test]
    fn as_many_interests_wait_at_once_as_the_window_has_and_each_gets_its_own_answer() {
        let count = 3 * WINDOW as u64 + 7;
        let mut crowd = crowd(count);
        let (mut window, asked, told) = window(0);
        let mut most = 0;
        while crowd.sent.len() < count as usize {
            window.turn(&mut crowd).unwrap();
            let open = asked.take();
            most = most.max(open.len());
            // The last that was asked is found first.
            for &(question, _) in open.iter().rev() {
                told.send((question, Some(data(question)))).unwrap();
            }
        }
        assert_eq!(most, WINDOW);
        assert_eq!((crowd.sent[0].0, window.served().packets), (WINDOW as u64 - 1, count));
        assert!(crowd.sent.iter().all(|(number, name)| *name == format!("/a/{number}")));
    }

    #[test]
    fn what_can_be_answered_at_once_is_asked_of_nobody_and_keeps_no_other_from_his_answer() {
        let mut crowd = crowd(0);
        crowd.coming =
            (0..3 * WINDOW as u64).map(|number| if number == 1 { 7 } else { number % 5 }).collect();
        let (mut window, asked, told) = window(5);
        window.turn(&mut crowd).unwrap();
        let open = asked.take();
        assert_eq!(open.len(), 1, "one packet is not known at once");
        assert_eq!(crowd.sent.len(), WINDOW - 1);
        told.send((open[0].0, Some(data(7)))).unwrap();
        window.turn(&mut crowd).unwrap();
        assert!(crowd.sent.contains(&(7, "/a/7".to_owned())), "there are still others who ask");
        assert!(!crowd.coming.is_empty());
        window.turn(&mut crowd).unwrap();
        assert_eq!((crowd.sent.len(), window.served().packets), (3 * WINDOW, 3 * WINDOW as u64));
        assert!(crowd.sent.iter().all(|(number, name)| *name == format!("/a/{number}")));
        assert!(asked.take().is_empty());
    }

    #[test]
    fn who_gets_no_answer_leaves_the_window_when_he_waits_no_more() {
        let mut crowd = crowd(2 * WINDOW as u64);
        let (mut window, asked, told) = window(0);
        window.turn(&mut crowd).unwrap();
        window.turn(&mut crowd).unwrap();
        assert_eq!(asked.borrow().len(), WINDOW);
        // Half of them are told that there is nothing; the others just grow old.
        for question in 0..WINDOW as u64 / 2 {
            told.send((question, None)).unwrap();
        }
        window.turn(&mut crowd).unwrap();
        window.turn(&mut crowd).unwrap();
        assert_eq!(asked.borrow().len(), WINDOW + WINDOW / 2);
        crowd.now = Instant::from_millis(1001);
        window.turn(&mut crowd).unwrap();
        assert_eq!((asked.borrow().len(), crowd.sent.len()), (2 * WINDOW, 0));
        // An answer that comes too late is nobody's.
        told.send((WINDOW as u64 - 1, Some(data(1)))).unwrap();
        window.turn(&mut crowd).unwrap();
        assert!(crowd.sent.is_empty());
    }
}
