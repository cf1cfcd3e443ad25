//! Keeps all members of a room at the same state: State Vector Sync, without sockets.

use std::collections::VecDeque;

use packet::Name;
use packet::random::Random;
use packet::time::{Duration, Instant};

use super::members::Members;
use super::vector::StateVector;

/// Time between two vectors when nothing happens, within a tenth.
const PERIOD: Duration = Duration::from_secs(30);

/// How long a member that knows more waits at most, so that not all who know more speak at once.
const SUPPRESSION: Duration = Duration::from_millis(200);

/// Messages of a member that one vector may announce at once; of more only the last are fetched.
const MAX_NEW: u64 = 20;

/// Members whose new messages wait to be asked for, and how many of them may be such as were never heard. Of
/// others a later vector will tell again.
const MAX_NEW_MESSAGES: usize = 64;
const MAX_NEW_MESSAGES_OF_UNHEARD: usize = 32;

/// The largest number that others may say our last message had: whoever invents a larger one would leave us
/// none to go on with.
const MAX_OWN_FROM_OTHERS: u64 = 1 << 48;

/// New messages of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NewMessages {
    pub(super) member: Name,
    /// The first new one.
    pub(super) first: u64,
    /// The last new one.
    pub(super) last: u64,
}

/// One member's view of the room.
///
/// Hand in what comes with [`Sync::handle_vector`] and what oneself says with [`Sync::publish`]; after each,
/// and at [`Sync::next_deadline`], drain [`Sync::poll_vector`] and [`Sync::poll_new_messages`]. What became
/// of each message that was news is told with [`Sync::confirm`], [`Sync::refuse`] and [`Sync::give_up`]:
/// others are told only of what was confirmed.
#[derive(Debug)]
pub(super) struct Sync {
    me: Name,
    /// The number of our last message.
    own: u64,
    members: Members,
    next_send: Instant,
    /// What others were heard to know while we wait to speak.
    heard: Option<StateVector>,
    news: VecDeque<NewMessages>,
    /// Whether we have said something ourselves, so that nobody else knows our number better.
    is_known_to_us: bool,
    random: Random,
}

impl Sync {
    /// A member that has said nothing yet. It speaks at once, to hear what the others know.
    pub(super) fn new(me: Name, now: Instant, random: Random) -> Self {
        Sync {
            me,
            own: 0,
            members: Members::default(),
            next_send: now,
            heard: None,
            news: VecDeque::new(),
            is_known_to_us: false,
            random,
        }
    }

    /// The number of our last message.
    pub(super) fn last_own(&self) -> u64 {
        self.own
    }

    /// We say something; gives its number.
    pub(super) fn publish(&mut self, now: Instant) -> u64 {
        self.is_known_to_us = true;
        let number = self.last_own().saturating_add(1);
        self.own = number;
        (self.next_send, self.heard) = (now, None);
        number
    }

    /// Somebody says what they know.
    pub(super) fn handle_vector(&mut self, now: Instant, theirs: &StateVector) {
        for (member, number) in theirs.iter() {
            if *member != self.me {
                self.ask_for(now, member, number);
            } else if !self.is_known_to_us && number <= MAX_OWN_FROM_OTHERS {
                // Anybody can send a vector: only before we have said anything may others know better what we
                // said.
                self.own = self.own.max(number);
            }
        }
        if let Some(heard) = &mut self.heard {
            for (member, number) in theirs.iter() {
                heard.raise(member, number);
            }
        } else if self.told().is_ahead_of(theirs) {
            self.heard = Some(theirs.clone());
            self.next_send = now + Duration::from_nanos(self.random.below(SUPPRESSION.as_nanos()));
        } else {
            self.next_send = now + self.period();
        }
    }

    /// What to tell the others now.
    pub(super) fn poll_vector(&mut self, now: Instant) -> Option<StateVector> {
        if self.next_send > now {
            return None;
        }
        self.next_send = now + self.period();
        let told = self.told();
        match self.heard.take() {
            // Somebody said it already.
            Some(heard) if !told.is_ahead_of(&heard) => None,
            _ => Some(told),
        }
    }

    /// A message came, and is good.
    pub(super) fn confirm(&mut self, now: Instant, member: &Name, number: u64) {
        if let Some(more) = self.members.confirm(now, member, number) {
            self.ask_for(now, member, more);
        }
    }

    /// A message came, and is not good.
    pub(super) fn refuse(&mut self, now: Instant, member: &Name, number: u64) {
        if let Some(more) = self.members.refuse(member, number) {
            self.ask_for(now, member, more);
        }
    }

    /// A message will not come.
    pub(super) fn give_up(&mut self, member: &Name, number: u64) {
        self.members.give_up(member, number);
    }

    /// What we tell others: what we said, and what we heard of others.
    fn told(&self) -> StateVector {
        let mut told = self.members.told();
        told.raise(&self.me, self.own);
        told
    }

    fn ask_for(&mut self, now: Instant, member: &Name, number: u64) {
        let most =
            if self.members.was_heard(member) { MAX_NEW_MESSAGES } else { MAX_NEW_MESSAGES_OF_UNHEARD };
        if self.news.len() < most
            && let Some((first, last)) = self.members.claim(now, member, number, MAX_NEW)
        {
            self.news.push_back(NewMessages { member: member.clone(), first, last });
        }
    }

    /// Messages to be fetched.
    pub(super) fn poll_new_messages(&mut self) -> Option<NewMessages> {
        self.news.pop_front()
    }

    /// When to call [`Sync::poll_vector`].
    pub(super) fn next_deadline(&self) -> Instant {
        self.next_send
    }

    fn period(&mut self) -> Duration {
        let tenth = PERIOD.as_nanos() / 10;
        Duration::from_nanos(PERIOD.as_nanos() - tenth + self.random.below(2 * tenth))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs members on a network that takes 10 ms, and gives how many vectors were sent.
    fn run(members: &mut [Sync], from: Instant, until: Instant) -> usize {
        let (mut now, mut sent) = (from, 0);
        let mut under_way: VecDeque<(Instant, usize, StateVector)> = VecDeque::new();
        loop {
            for (index, member) in members.iter_mut().enumerate() {
                if let Some(vector) = member.poll_vector(now) {
                    sent += 1;
                    under_way.push_back((now + Duration::from_millis(10), index, vector));
                }
            }
            let next = members
                .iter()
                .map(Sync::next_deadline)
                .chain(under_way.front().map(|(at, ..)| *at))
                .min()
                .unwrap();
            if next > until {
                return sent;
            }
            now = now.max(next);
            while under_way.front().is_some_and(|(at, ..)| *at <= now) {
                let (_, from, vector) = under_way.pop_front().unwrap();
                for (_, member) in members.iter_mut().enumerate().filter(|(index, _)| *index != from) {
                    member.handle_vector(now, &vector);
                }
            }
        }
    }

    fn member(number: u64) -> Sync {
        Sync::new(format!("/{number}").parse().unwrap(), Instant::from_secs(1), Random::from_seed(number))
    }

    #[test]
    fn everybody_hears_of_every_message_once() {
        let mut members: Vec<Sync> = (0..6).map(member).collect();
        run(&mut members, Instant::from_secs(1), Instant::from_secs(2));
        let mut heard: Vec<Vec<NewMessages>> = vec![Vec::new(); members.len()];
        for round in 0..5 {
            let now = Instant::from_secs(2 + round);
            assert_eq!(members[3].publish(now), round + 1);
            run(&mut members, now, now + Duration::from_millis(900));
            for (member, heard) in members.iter_mut().zip(&mut heard) {
                while let Some(news) = member.poll_new_messages() {
                    member.confirm(now, &news.member, news.last);
                    heard.push(news);
                }
            }
        }
        for (index, news) in heard.iter().enumerate().filter(|(index, _)| *index != 3) {
            let expected =
                |number| NewMessages { member: "/3".parse().unwrap(), first: number, last: number };
            assert_eq!(*news, (1..=5).map(expected).collect::<Vec<_>>(), "member {index}");
        }
    }

    #[test]
    fn whoever_comes_later_is_told_by_few_and_goes_on_from_its_old_number() {
        let mut members: Vec<Sync> = (0..20).map(member).collect();
        members[7].publish(Instant::from_secs(1));
        run(&mut members, Instant::from_secs(1), Instant::from_secs(3));
        for member in &mut members {
            while let Some(news) = member.poll_new_messages() {
                member.confirm(Instant::from_secs(3), &news.member, news.last);
            }
        }
        members[7] = Sync::new("/7".parse().unwrap(), Instant::from_secs(4), Random::from_seed(70));
        let sent = run(&mut members, Instant::from_secs(4), Instant::from_secs(5));
        assert_eq!(members[7].last_own(), 1);
        assert_eq!(members[7].poll_new_messages(), None);
        assert!(sent < 10, "{sent} vectors for one newcomer among twenty");
    }

    #[test]
    fn a_forged_vector_neither_ends_the_room_nor_takes_our_number_away() {
        let mut sync = member(1);
        let mut forged = StateVector::default();
        forged.raise(&"/1".parse().unwrap(), u64::MAX);
        forged.raise(&"/2".parse().unwrap(), u64::MAX);
        sync.handle_vector(Instant::from_secs(1), &forged);
        let news = sync.poll_new_messages().unwrap();
        assert_eq!((news.first, news.last), (u64::MAX - (MAX_NEW - 1), u64::MAX - (MAX_NEW - 1)));
        // Nobody is told of what nobody has said.
        assert_eq!(sync.poll_vector(Instant::from_secs(40)).unwrap(), StateVector::default());
        assert_eq!(sync.publish(Instant::from_secs(2)), 1);
        let mut later = StateVector::default();
        later.raise(&"/1".parse().unwrap(), 900);
        sync.handle_vector(Instant::from_secs(3), &later);
        assert_eq!(sync.publish(Instant::from_secs(4)), 2);
    }

    #[test]
    fn strangers_cannot_have_us_ask_without_end() {
        let mut sync = member(1);
        for round in 1..50 {
            let mut forged = StateVector::default();
            for other in 100..300 {
                forged.raise(&format!("/{other}").parse().unwrap(), round * 1000);
            }
            sync.handle_vector(Instant::from_secs(round), &forged);
        }
        assert_eq!(std::iter::from_fn(|| sync.poll_new_messages()).count(), MAX_NEW_MESSAGES_OF_UNHEARD);
    }

    #[test]
    fn of_a_long_absence_only_the_last_messages_are_news() {
        let mut sync = member(1);
        let mut theirs = StateVector::default();
        theirs.raise(&"/2".parse().unwrap(), 1000);
        sync.handle_vector(Instant::from_secs(1), &theirs);
        let bob: Name = "/2".parse().unwrap();
        assert_eq!(
            sync.poll_new_messages(),
            Some(NewMessages { member: bob.clone(), first: 981, last: 981 })
        );
        sync.confirm(Instant::from_secs(1), &bob, 981);
        assert_eq!(sync.poll_new_messages(), Some(NewMessages { member: bob, first: 982, last: 1000 }));
    }
}
