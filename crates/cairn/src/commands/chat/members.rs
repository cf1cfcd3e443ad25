//! The members of a room that one member knows of. Anybody can name anybody in a state vector, so that a
//! member counts only when a message of theirs was fetched and found good. Others are remembered for as long
//! as there is room, and not told of.

use std::collections::{BTreeMap, VecDeque};

use packet::time::{Duration, Instant};
use packet::{Component, Name};

use super::names::{MAX_TOLD_BYTES, is_coming};
use super::vector::{MAX_MEMBERS, StateVector};

/// Members of one name that count, the last that came: each time somebody comes again it is as another
/// member.
const MAX_COMINGS: usize = 8;

/// How long somebody must have been silent to make room for somebody else who was heard.
const MAX_IDLE: Duration = Duration::from_secs(600);

/// Messages of one member that are asked for in one go, several of which may be under way.
const MAX_CLAIMS: usize = 4;

/// Messages of one member that are remembered because they were refused.
const MAX_REFUSED: usize = 64;

/// What is known of a member.
#[derive(Debug, Default)]
struct Member {
    /// The highest number of a message that was found good; 0 if there is none.
    heard: u64,
    /// Numbers of messages that came and were not good, the last of them: they are not asked for again.
    refused: VecDeque<u64>,
    /// The first and last numbers of what is asked for.
    claims: Vec<(u64, u64)>,
    /// The highest number named that is not asked for yet, until a message comes.
    named: u64,
    /// When a message was last found good, or the member was first named.
    at: Instant,
}

/// All members known of but oneself.
#[derive(Debug, Default)]
pub(super) struct Members(BTreeMap<Name, Member>);

impl Members {
    /// Somebody says that `member` has said so many messages. Gives what is to be asked for, at most `most`
    /// messages; of somebody who was never heard only one, to see whether they are there.
    pub(super) fn claim(
        &mut self,
        now: Instant,
        member: &Name,
        number: u64,
        most: u64,
    ) -> Option<(u64, u64)> {
        let known = self.0.get(member);
        let heard = known.map_or(0, |known| known.heard);
        let claims = known.map_or(&[][..], |known| &known.claims);
        let is_under_way = claims.iter().any(|(first, last)| (*first..=*last).contains(&number));
        let is_refused = |number: u64| known.is_some_and(|known| known.refused.contains(&number));
        if number <= heard || is_under_way || is_refused(number) {
            return None;
        }
        if claims.len() >= MAX_CLAIMS {
            if let Some(known) = self.0.get_mut(member) {
                known.named = known.named.max(number);
            }
            return None;
        }
        if known.is_none() && self.0.len() >= MAX_MEMBERS && !self.make_room(now, false) {
            return None;
        }
        let known = self.0.entry(member.clone()).or_insert_with(|| Member { at: now, ..Member::default() });
        let below = known.claims.iter().map(|(_, last)| *last).filter(|last| *last < number).max();
        let lowest = (heard + 1).max(number.saturating_sub(most - 1)).max(below.map_or(0, |last| last + 1));
        let first = (lowest..number).find(|first| !known.refused.contains(first)).unwrap_or(number);
        let last = if heard == 0 { first } else { number };
        if last < number {
            known.named = known.named.max(number);
        }
        known.claims.push((first, last));
        Some((first, last))
    }

    /// A message was found good. Whoever said it counts from now on. Gives the number up to which there is
    /// more to ask for.
    pub(super) fn confirm(&mut self, now: Instant, member: &Name, number: u64) -> Option<u64> {
        if !self.0.contains_key(member) && self.0.len() >= MAX_MEMBERS && !self.make_room(now, true) {
            return None;
        }
        let known = self.0.entry(member.clone()).or_default();
        (known.heard, known.at) = (known.heard.max(number), now);
        let heard = known.heard;
        known.claims.retain(|(_, last)| *last > heard);
        let named = std::mem::take(&mut known.named);
        self.forget_early_comings(member);
        (named > heard).then_some(named)
    }

    /// A message came and is not good. Gives the number up to which there is more to ask for.
    pub(super) fn refuse(&mut self, member: &Name, number: u64) -> Option<u64> {
        self.give_up(member, number);
        let known = self.0.get_mut(member)?;
        known.refused.push_back(number);
        if known.refused.len() > MAX_REFUSED {
            known.refused.pop_front();
        }
        let named = std::mem::take(&mut known.named);
        (named > number).then_some(named)
    }

    /// A message will not come: nothing is known of later ones that were asked for with it.
    pub(super) fn give_up(&mut self, member: &Name, number: u64) {
        if let Some(known) = self.0.get_mut(member) {
            known.claims.retain(|(_, last)| *last != number);
        }
    }

    /// Whether a message of `member` was found good.
    pub(super) fn was_heard(&self, member: &Name) -> bool {
        self.0.get(member).is_some_and(|known| known.heard > 0)
    }

    /// The highest number of a message of `member` that was found good.
    #[cfg(test)]
    pub(super) fn heard(&self, member: &Name) -> u64 {
        self.0.get(member).map_or(0, |known| known.heard)
    }

    /// How many are known of.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Those who were heard, the last first, as far as a vector may tell of them.
    pub(super) fn told(&self) -> StateVector {
        let mut heard: Vec<(&Name, &Member)> = self.0.iter().filter(|(_, known)| known.heard > 0).collect();
        heard.sort_by_key(|(_, known)| std::cmp::Reverse(known.at));
        let (mut vector, mut bytes) = (StateVector::default(), 0);
        for (name, known) in heard {
            bytes += name.canonical().len() + ENTRY_BYTES;
            if bytes > MAX_TOLD_BYTES {
                break;
            }
            vector.raise(name, known.heard);
        }
        vector
    }

    /// Forgets somebody who was never heard; if there is none, and it is for somebody who was, whoever has
    /// been silent longest. Says whether there is room now.
    fn make_room(&mut self, now: Instant, is_for_heard: bool) -> bool {
        let is_free = |known: &Member| match known.heard {
            0 => true,
            _ => is_for_heard && now.saturating_since(known.at) >= MAX_IDLE,
        };
        let gives_way = self.0.iter().filter(|(_, known)| is_free(known));
        let gives_way = gives_way.min_by_key(|(_, known)| (known.heard > 0, known.at));
        let Some(name) = gives_way.map(|(name, _)| name.clone()) else { return false };
        self.0.remove(&name);
        true
    }

    /// Of members that differ only in when they came, those that came last are kept.
    fn forget_early_comings(&mut self, member: &Name) {
        let Some((person, ..)) = parts(member) else { return };
        let mut comings: Vec<(Vec<u8>, Name)> = self
            .0
            .iter()
            .filter(|(_, known)| known.heard > 0)
            .filter_map(|(name, _)| {
                let (other, came) = parts(name)?;
                (other == person).then(|| (came, name.clone()))
            })
            .collect();
        // Numbers are written without leading zeros: of two the longer one is larger.
        comings.sort_by_key(|(came, _)| std::cmp::Reverse((came.len(), came.clone())));
        for (_, name) in comings.into_iter().skip(MAX_COMINGS) {
            self.0.remove(&name);
        }
    }
}

/// Bytes of an entry beside its name: three headers and a number.
const ENTRY_BYTES: usize = 24;

/// A member's name without the time of coming, and that time.
fn parts(member: &Name) -> Option<(Vec<Component<'_>>, Vec<u8>)> {
    let came = member.components().find(is_coming)?.value.to_vec();
    Some((member.components().filter(|component| !is_coming(component)).collect(), came))
}

#[cfg(test)]
mod tests {
    use packet::ComponentKind;

    use super::*;

    const NOW: Instant = Instant::from_secs(5000);

    fn name(uri: &str) -> Name {
        uri.parse().unwrap()
    }

    #[test]
    fn whoever_is_only_named_takes_nobodys_place() {
        let mut members = Members::default();
        members.confirm(NOW, &name("/ann/t=1/room"), 3);
        for number in 0..10 * MAX_MEMBERS {
            assert!(members.claim(NOW, &name(&format!("/forged/{number}")), 7, 20).is_some());
        }
        assert_eq!(members.len(), MAX_MEMBERS);
        assert_eq!(members.heard(&name("/ann/t=1/room")), 3);
        // Nor does it keep a newcomer out.
        assert_eq!(members.claim(NOW, &name("/bob/t=2/room"), 1, 20), Some((1, 1)));
        members.confirm(NOW, &name("/bob/t=2/room"), 1);
        let told = members.told();
        assert_eq!(told.iter().count(), 2, "{told:?}");
    }

    #[test]
    fn an_invented_number_silences_nobody() {
        let mut members = Members::default();
        let bob = name("/bob/t=2/room");
        members.confirm(NOW, &bob, 4);
        let forged = members.claim(NOW, &bob, u64::MAX, 20).unwrap();
        assert_eq!(forged, (u64::MAX - 19, u64::MAX));
        // While that is asked for, what he says is news, and once.
        assert_eq!(members.claim(NOW, &bob, 5, 20), Some((5, 5)));
        assert_eq!(members.claim(NOW, &bob, 5, 20), None);
        members.give_up(&bob, u64::MAX);
        members.confirm(NOW, &bob, 5);
        assert_eq!(members.claim(NOW, &bob, 7, 20), Some((6, 7)));
        assert_eq!(members.told().get(&bob), 5);
    }

    #[test]
    fn somebody_unheard_is_asked_for_one_message_and_then_for_the_others() {
        let mut members = Members::default();
        let bob = name("/bob/t=2/room");
        assert_eq!(members.claim(NOW, &bob, 30, 20), Some((11, 11)));
        assert_eq!(members.confirm(NOW, &bob, 11), Some(30));
        assert_eq!(members.claim(NOW, &bob, 30, 20), Some((12, 30)));
    }

    #[test]
    fn what_was_refused_is_not_asked_for_again_and_what_follows_it_is() {
        let mut members = Members::default();
        let bob = name("/bob/t=2/room");
        assert_eq!(members.claim(NOW, &bob, 2, 20), Some((1, 1)));
        assert_eq!(members.refuse(&bob, 1), Some(2));
        assert_eq!(members.claim(NOW, &bob, 2, 20), Some((2, 2)));
        assert_eq!(members.refuse(&bob, 2), None);
        assert_eq!(members.claim(NOW, &bob, 2, 20), None);
        assert_eq!(members.claim(NOW, &bob, 3, 20), Some((3, 3)));
        assert_eq!(members.told().iter().count(), 0);
    }

    #[test]
    fn of_somebody_who_comes_again_and_again_the_last_times_count() {
        let mut members = Members::default();
        for time in 250..270u64 {
            let came = name("/ann").with_number(ComponentKind::TIMESTAMP, time).unwrap();
            members.confirm(NOW, &came, 1);
        }
        assert_eq!(members.len(), MAX_COMINGS);
        let last = name("/ann").with(Component::new(ComponentKind::TIMESTAMP, &[1, 13])).unwrap();
        assert_eq!(members.heard(&last), 1);
    }

    #[test]
    fn when_all_were_heard_whoever_is_silent_for_long_makes_room() {
        let mut members = Members::default();
        for number in 0..MAX_MEMBERS {
            members.confirm(NOW, &name(&format!("/{number}")), 1);
        }
        let bob = name("/bob");
        members.confirm(NOW + Duration::from_secs(1), &bob, 1);
        assert_eq!(members.heard(&bob), 0);
        members.confirm(NOW + Duration::from_secs(700), &bob, 1);
        assert_eq!((members.heard(&bob), members.len()), (1, MAX_MEMBERS));
    }

    #[test]
    fn a_vector_fits_into_a_packet_however_long_the_names_are() {
        let mut members = Members::default();
        for number in 0..100 {
            members.confirm(NOW, &name(&format!("/{}/{number}", "x".repeat(200))), u64::MAX);
        }
        let bytes = members.told().encode().len();
        assert!(bytes > MAX_TOLD_BYTES / 2 && bytes < 2 * MAX_TOLD_BYTES, "{bytes}");
    }
}
