//! The lab's own questions to a forwarder, which counts them like those of anybody else.
//!
//! Each is one Interest, which no content store answers: management's Data is not kept. It is received, goes
//! on to management, and its answer comes from there and is sent. So each adds one to Interests received and
//! sent on and to misses, and when it has its answer one to Data received and sent and to what is satisfied.
//! The question after counters is among them itself, and its answer is not.

use ::management::{CsInfo, GeneralStatus};

/// Questions that one forwarder was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct QuestionCounts {
    questions: u64,
    answers: u64,
}

impl QuestionCounts {
    fn with(self, further: QuestionCounts) -> Self {
        QuestionCounts {
            questions: self.questions + further.questions,
            answers: self.answers + further.answers,
        }
    }
}

/// What the lab has asked a forwarder since that was started, over one connection after another.
#[derive(Debug, Default)]
pub(super) struct OwnQuestions {
    /// By connections before the one that is open.
    earlier: QuestionCounts,
    here: QuestionCounts,
    /// When the forwarder was started, as it says: one that was started anew counts from nothing.
    started_ms: Option<u64>,
    /// What its content store had done when it had got the first question.
    store_before: Option<CsInfo>,
}

impl OwnQuestions {
    /// There is a new connection, perhaps to a forwarder that was started anew.
    pub(super) fn connected(&mut self) {
        self.earlier = self.earlier.with(self.here);
        self.here = QuestionCounts::default();
    }

    /// A question goes out.
    pub(super) fn ask(&mut self) {
        self.here.questions += 1;
    }

    /// Its answer came. One that comes too late is not known of, and stays among the Data.
    pub(super) fn got_answer(&mut self) {
        self.here.answers += 1;
    }

    /// What the content store had done when nothing but this was asked: what came before was no workload.
    pub(super) fn begin_with(&mut self, store: CsInfo) {
        self.store_before = Some(store);
    }

    /// What a forwarder has counted without all that it was asked, the question after this with it, whose
    /// answer is not noted yet.
    pub(super) fn taken_off(&mut self, status: &GeneralStatus) -> GeneralStatus {
        let started_ms = status.start_timestamp_ms;
        if self.started_ms.replace(started_ms).is_some_and(|before| before != started_ms) {
            self.earlier = QuestionCounts::default();
            self.store_before = None;
        }
        let QuestionCounts { questions, answers } = self.earlier.with(self.here);
        let mut packets = status.packets;
        for count in [&mut packets.in_interests, &mut packets.out_interests] {
            *count = count.saturating_sub(questions);
        }
        for count in [&mut packets.in_data, &mut packets.out_data] {
            *count = count.saturating_sub(answers);
        }
        GeneralStatus {
            packets,
            satisfied_interests: status.satisfied_interests.saturating_sub(answers),
            // Until it has its answer this question is pending.
            pit_entries: status.pit_entries.saturating_sub(1),
            name_tree_entries: status.name_tree_entries.saturating_sub(1),
            ..status.clone()
        }
    }

    /// Hits and misses of a content store since the first question, without what it was asked.
    pub(super) fn taken_off_store(&self, store: CsInfo) -> (u64, u64) {
        let asked = self.earlier.with(self.here).questions;
        match self.store_before {
            // The first question is in both.
            Some(before) => (
                store.hits.saturating_sub(before.hits),
                store.misses.saturating_sub(before.misses + asked.saturating_sub(1)),
            ),
            None => (store.hits, store.misses.saturating_sub(asked)),
        }
    }
}

#[cfg(test)]
mod tests {
    use packet::PacketCounts;

    use super::*;

    /// A forwarder that got so many Interests of workloads, all answered by the next hop, and these
    /// questions, of which the last has no answer yet.
    fn counted(started_ms: u64, of_workloads: u64, questions: u64) -> GeneralStatus {
        let answers = questions - 1;
        GeneralStatus {
            start_timestamp_ms: started_ms,
            pit_entries: 1,
            name_tree_entries: 4,
            packets: PacketCounts {
                in_interests: of_workloads + questions,
                out_interests: of_workloads + questions,
                in_data: of_workloads + answers,
                out_data: of_workloads + answers,
                ..PacketCounts::default()
            },
            satisfied_interests: of_workloads + answers,
            ..GeneralStatus::default()
        }
    }

    fn store(hits: u64, misses: u64) -> CsInfo {
        CsInfo { capacity: 0, flags: Default::default(), entries: 0, hits, misses }
    }

    #[test]
    fn what_the_lab_asks_is_in_no_counter_and_not_pending() {
        let mut own = OwnQuestions::default();
        own.connected();
        for sample in 1..=5 {
            // One to forget the last answer, and one after the counters.
            own.ask();
            own.got_answer();
            own.ask();
            let found = own.taken_off(&counted(1, 10 * sample, 2 * sample));
            own.got_answer();
            let packets = found.packets;
            let counts = [packets.in_interests, packets.out_interests, packets.in_data, packets.out_data];
            assert_eq!(counts, [10 * sample; 4], "sample {sample}");
            assert_eq!((found.satisfied_interests, found.pit_entries), (10 * sample, 0));
            assert_eq!(found.name_tree_entries, 3);
        }
    }

    #[test]
    fn a_new_connection_forgets_no_question_and_a_new_forwarder_had_none() {
        let mut own = OwnQuestions::default();
        let mut ask = |started_ms, of_workloads, questions, is_answered: bool| {
            own.connected();
            own.ask();
            let found = own.taken_off(&counted(started_ms, of_workloads, questions)).packets.in_interests;
            if is_answered {
                own.got_answer();
            }
            found
        };
        assert_eq!(ask(1, 5, 1, true), 5);
        assert_eq!(ask(1, 6, 2, true), 6, "the same forwarder");
        assert_eq!(ask(2, 3, 1, true), 3, "it was started anew");
        assert_eq!(ask(2, 4, 2, true), 4);
        let nothing = OwnQuestions::default().taken_off(&GeneralStatus::default());
        assert_eq!((nothing.pit_entries, nothing.packets.in_interests), (0, 0));
    }

    #[test]
    fn a_content_store_misses_neither_what_the_lab_asks_nor_what_was_registered_before() {
        let mut own = OwnQuestions::default();
        own.connected();
        own.ask();
        // Three registrations came before, and this question.
        own.begin_with(store(0, 4));
        own.got_answer();
        for _ in 0..20 {
            own.ask();
            own.got_answer();
        }
        // 37 Interests of workloads, 34 more that it had; and 21 questions since.
        assert_eq!(own.taken_off_store(store(34, 4 + 37 + 20)), (34, 37));
        let _ = own.taken_off(&counted(1, 0, 1));
        let _ = own.taken_off(&counted(2, 0, 1));
        own.connected();
        own.ask();
        let anew = own.taken_off_store(store(1, 9));
        assert_eq!(anew.0, 1, "of a forwarder that was started anew all that it did");
    }
}
