//! CCNx's repository protocol: what ccnr does for its clients, as a state machine without I/O.
//!
//! A client asks by an Interest that an object be stored (start-write), perhaps only if one of its packets is
//! not there yet (checked start-write). The repository answers at once, and then fetches the object by
//! Interests of its own. That the object is there a client learns by a checked start-write that names its
//! packets: a packet counts as stored when it would survive a power cut. Others ask which names are stored
//! below a prefix (name enumeration). What the repository is called, and below which names it takes objects,
//! stands in its policy, an object like others: a later version that is stored takes its place.
//!
//! Whose objects are stored says the [`Authority`]. There is no command to delete.
//!
//! [`Ccnr`] decides. [`CcnrDriver`] has the store of a service do what it wants, for those who have an
//! application's face.

mod authority;
mod driver;
mod job;
mod listing;
mod objects;
mod policy;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use packet::ccnx::management::RepositoryCommand;
use packet::ccnx::{
    AnswerOriginKind, ChildSelector, InterestFields, InterestView, Scope, Ticks, markers, matches,
};
use packet::time::Instant;
use packet::{Component, Data, DecodeError, Interest, Name, NameRef, Now};
use trust::SignError;
use trust::ccnx::CcnxSigner;

use crate::limits::Rejection;
use crate::store::Children;
pub use authority::{Authority, InterestOrigin};
pub use driver::{CcnrDriver, Outgoing, Wake};
use job::{Job, Target};
use listing::{Listings, PageId, is_excluded};
use objects::Objects;
use policy::{Policy, TooManyNamespaces};

/// Objects that are fetched at once; commands beyond them get no answer.
const MAX_JOBS: usize = 16;
/// Questions to the store that wait at once; what would ask another gets no answer.
const MAX_QUESTIONS: usize = 64;
/// The bit of AnswerOriginKind that takes what is stale, too.
const STALE: u32 = 4;
/// Where ccnr keeps what is its own, if nobody says otherwise.
pub const GLOBAL_PREFIX: &str = "ccnx:/parc.com/csl/ccn/Repos";
/// What it calls itself.
const LOCAL_NAME: &str = "Repository";

/// How a repository begins.
#[derive(Clone, Debug)]
pub struct CcnrConfig {
    /// The name below which its policy is.
    pub global_prefix: Name,
    /// Objects are taken below these names, unless a policy that is stored says otherwise.
    pub namespaces: Vec<Name>,
    /// Whose objects are stored.
    pub authority: Authority,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Send this Interest.
    Send(Interest),
    /// Answer with this.
    Answer(Data),
    /// Store this, and tell [`Ccnr::handle_stored`] what became of it.
    Store {
        /// For which fetch.
        fetch: u64,
        /// The packet.
        data: Data,
    },
    /// Ask the store, and give the answer to [`Ccnr::handle_answer`].
    Ask {
        /// The question's number.
        number: u64,
        /// The question.
        question: StoreQuery,
    },
    /// Objects are taken below other names now.
    Namespaces(NamespaceChange),
    /// A fetch has ended.
    Fetched {
        /// The object.
        object: Name,
        /// Packets stored.
        stored: u64,
        /// Whether these are all.
        is_complete: bool,
    },
}

/// Below which names objects are taken, compared with before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamespaceChange {
    /// Names that are new.
    pub added: Vec<Name>,
    /// Names that were there and are not any more.
    pub removed: Vec<Name>,
    /// How many there are now.
    pub count: usize,
}

impl NamespaceChange {
    fn between(old: &[Name], new: &[Name]) -> Self {
        let only = |these: &[Name], others: &[Name]| {
            these.iter().filter(|name| !others.contains(name)).cloned().collect()
        };
        NamespaceChange { added: only(new, old), removed: only(old, new), count: new.len() }
    }
}

/// What the store is asked.
#[derive(Clone, Debug)]
pub enum StoreQuery {
    /// Is there a packet that answers this?
    Packet(Interest),
    /// What stands behind this prefix in the names of packets?
    Children(Name),
}

/// What the store says.
#[derive(Clone, Debug)]
pub enum StoreAnswer {
    /// The packet, if there is one.
    Packet(Option<Data>),
    /// What stands behind the prefix.
    Children(Children),
}

/// What a question was asked for.
#[derive(Debug)]
enum Pending {
    /// Whether the packet of a checked start-write is there.
    Check { asked: Name, target: Target },
    /// What is below a prefix.
    Listing { asked: Interest, prefix: Name },
    /// The latest policy.
    Policy,
    /// A packet that may be stale.
    Stale,
}

packet::counters! {
    /// What clients have asked for.
    pub struct CcnrCounters {
        /// Start-writes that were taken.
        pub start_writes = "ccnr-start-writes",
        /// Checked start-writes that were taken.
        pub checked_start_writes = "ccnr-checked-start-writes",
        /// Those of them whose packet was there.
        pub found = "ccnr-found",
        /// Segments of listings sent.
        pub listings = "ccnr-listings",
        /// Listings that did not hold all there was.
        pub cut_listings = "ccnr-cut-listings",
        /// Commands of those who may not have anything stored.
        pub unauthorized = "ccnr-unauthorized",
        /// Commands about names that are not taken.
        pub outside = "ccnr-outside",
        /// Commands and listings that were not answered because too much was under way, or who asks had had
        /// a share of the time.
        pub overloaded = "ccnr-overloaded",
        /// Interests for which there is no answer.
        pub unanswered = "ccnr-unanswered",
        /// Packets fetched whose publisher is not one of those that count.
        pub untrusted = "ccnr-untrusted",
        /// Fetches of which all is stored.
        pub complete = "ccnr-complete",
        /// Other fetches that have ended.
        pub incomplete = "ccnr-incomplete",
        /// Policies that were taken over.
        pub policies = "ccnr-policies",
        /// Later policies that have too many prefixes and were not.
        pub large_policies = "ccnr-large-policies",
        /// Listings that made room for others while they were being read.
        pub replaced_listings = "ccnr-replaced-listings",
        /// Times that a fetch waited because too many of its packets waited for the disk.
        pub held_fetches = "ccnr-held-fetches",
    }
}

/// A repository for clients of CCNx.
///
/// # Calling order
/// Its owner gives it each Interest below [`prefixes`](Self::prefixes) that the store has no answer for, the
/// Data that comes, and what the store says. After each, and at [`next_deadline`](Self::next_deadline), carry
/// out what [`poll_effect`](Self::poll_effect) gives until it gives nothing.
#[derive(Debug)]
pub struct Ccnr {
    objects: Objects,
    authority: Authority,
    policy: Policy,
    /// The policy's object and the link to it.
    told: [Data; 2],
    jobs: BTreeMap<u64, Job>,
    questions: BTreeMap<u64, Pending>,
    listings: Listings,
    next_number: u64,
    effects: VecDeque<Effect>,
    counters: CcnrCounters,
}

impl Ccnr {
    /// A repository that signs with this key. It asks the store for its policy first of all.
    ///
    /// # Errors
    /// Names that become too long; a failure of the library.
    pub fn new(now: Now, signer: CcnxSigner, config: CcnrConfig) -> Result<Self, SignError> {
        let CcnrConfig { global_prefix, namespaces, authority } = config;
        // Any policy that was ever stored is later.
        let version = Ticks::from_bytes(&[0; 6]).unwrap_or(Ticks::from_count(0));
        let policy = Policy { local_name: LOCAL_NAME.to_owned(), global_prefix, namespaces, version };
        let objects = Objects::new(signer);
        let told = objects.policy(now, &policy)?;
        let mut ccnr = Ccnr {
            objects,
            authority,
            policy,
            told,
            jobs: BTreeMap::new(),
            questions: BTreeMap::new(),
            listings: Listings::default(),
            next_number: 0,
            effects: VecDeque::new(),
            counters: CcnrCounters::default(),
        };
        ccnr.ask_for_policy();
        Ok(ccnr)
    }

    /// The prefixes whose Interests it is to be given.
    ///
    /// # Errors
    /// Names that become too long.
    pub fn prefixes(&self) -> Result<Vec<Name>, DecodeError> {
        let own = [self.policy.global_prefix.clone(), objects::service_prefix()?];
        Ok(own.into_iter().chain(self.policy.namespaces.iter().cloned()).collect())
    }

    /// What clients have asked for.
    pub fn counters(&self) -> &CcnrCounters {
        &self.counters
    }

    /// Objects that are being fetched.
    pub fn fetches(&self) -> usize {
        self.jobs.len()
    }

    /// What is to be done next.
    pub fn poll_effect(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub fn next_deadline(&self) -> Instant {
        self.jobs.values().map(Job::next_deadline).min().unwrap_or(Instant::NEVER)
    }

    /// Somebody asks for what is not stored.
    pub fn handle_interest(&mut self, now: Now, interest: &Interest, origin: InterestOrigin) {
        let is_answered =
            interest.ccnx().is_some_and(|view| self.try_interest(now, interest, &view, origin).is_some());
        self.counters.unanswered += u64::from(!is_answered);
        self.go_on(now);
    }

    /// Somebody asks who has had as much as is for him.
    pub fn refuse_interest(&mut self) {
        self.counters.overloaded += 1;
        self.counters.unanswered += 1;
    }

    fn try_interest(
        &mut self,
        now: Now,
        interest: &Interest,
        view: &InterestView<'_>,
        origin: InterestOrigin,
    ) -> Option<()> {
        let told = self.told.iter().find(|data| data.ccnx().is_some_and(|object| matches(view, &object)));
        if let Some(told) = told {
            self.effects.push_back(Effect::Answer(told.clone()));
            return Some(());
        }
        if !view.answer_origin_kind().generated() {
            return None;
        }
        let Some(command) = RepositoryCommand::from_name(view.name(), self.objects.key()) else {
            return self.ask_whatever_its_age(view);
        };
        match command {
            RepositoryCommand::StartWrite { object } => {
                let object = object.to_name().ok()?;
                self.admit(object.as_ref(), origin, view.scope())?;
                self.counters.start_writes += 1;
                self.begin(now, &interest.name().to_name(), Target::Object(object))
            }
            RepositoryCommand::CheckedStartWrite { object, segment, digest } => {
                let packet = object.to_name().ok()?.with(Component::generic(segment)).ok()?;
                self.admit(packet.as_ref(), origin, view.scope())?;
                self.counters.checked_start_writes += 1;
                let exact = exact_interest(&packet, digest)?;
                let asked = interest.name().to_name();
                let target = Target::Packet(packet, *digest);
                self.ask(StoreQuery::Packet(exact), Pending::Check { asked, target })
            }
            RepositoryCommand::BeginEnumeration { prefix } => {
                let prefix = prefix.to_name().ok()?;
                let question = StoreQuery::Children(prefix.clone());
                self.ask(question, Pending::Listing { asked: interest.clone(), prefix })
            }
            RepositoryCommand::ContinueEnumeration { prefix, version, segment } => {
                self.answer_page(now, view, &PageId { prefix: prefix.to_name().ok()?, version, segment })
            }
        }
    }

    /// The store answers as a cache does, with what is fresh. Of what a repository was given it is the
    /// producer: it answers with that as long as it has it.
    fn ask_whatever_its_age(&mut self, view: &InterestView<'_>) -> Option<()> {
        let kind = view.answer_origin_kind();
        let with_stale = AnswerOriginKind::new(u64::from(kind.bits() | STALE))?;
        if kind.stale() || kind.marks_stale() {
            return None;
        }
        let fields = InterestFields { answer_origin_kind: Some(with_stale), ..view.fields() };
        let interest = fields.build(view.name()).ok()?;
        self.ask(StoreQuery::Packet(interest), Pending::Stale)
    }

    /// Whether a command about this name is carried out.
    fn admit(&mut self, name: NameRef<'_>, origin: InterestOrigin, scope: Option<Scope>) -> Option<()> {
        if !self.authority.may_command(origin, scope) {
            self.counters.unauthorized += 1;
            return None;
        }
        let is_taken = self.policy.accepts(name);
        self.counters.outside += u64::from(!is_taken);
        is_taken.then_some(())
    }

    /// Begins a fetch, unless the same is under way, and says so.
    fn begin(&mut self, now: Now, asked: &Name, target: Target) -> Option<()> {
        let is_under_way = self.jobs.values().any(|job| job.target == target);
        if !is_under_way && self.jobs.len() >= MAX_JOBS {
            self.counters.overloaded += 1;
            return None;
        }
        let info = self.objects.info(now, asked, &self.policy, None).ok()?;
        self.effects.push_back(Effect::Answer(info));
        if !is_under_way {
            let number = self.number();
            self.jobs.insert(number, Job::new(target, self.authority.scope()));
        }
        Some(())
    }

    fn ask(&mut self, question: StoreQuery, pending: Pending) -> Option<()> {
        if self.questions.len() >= MAX_QUESTIONS {
            self.counters.overloaded += 1;
            return None;
        }
        let number = self.number();
        self.questions.insert(number, pending);
        self.effects.push_back(Effect::Ask { number, question });
        Some(())
    }

    fn ask_for_policy(&mut self) {
        let place = self.policy.place().ok();
        if let Some(interest) = place.and_then(|place| latest_interest(&place)) {
            self.ask(StoreQuery::Packet(interest), Pending::Policy);
        }
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    fn answer_page(&mut self, now: Now, asked: &InterestView<'_>, id: &PageId) -> Option<()> {
        let page = self.listings.page(now.instant, self.objects.key(), id)?;
        if is_excluded(asked, &page.name) {
            return None;
        }
        let data = self.objects.listing(now, &page.name, page.content, page.last.as_deref()).ok()?;
        self.counters.listings += 1;
        self.effects.push_back(Effect::Answer(data));
        Some(())
    }

    /// The store answers.
    pub fn handle_answer(&mut self, now: Now, number: u64, answer: StoreAnswer) {
        match (self.questions.remove(&number), answer) {
            (Some(Pending::Check { asked, target }), StoreAnswer::Packet(found)) => {
                let is_answered = match (found, &target) {
                    (Some(_), Target::Packet(name, digest)) => self.tell_stored(now, &asked, name, digest),
                    _ => self.begin(now, &asked, target),
                };
                self.counters.unanswered += u64::from(is_answered.is_none());
            }
            (Some(Pending::Listing { asked, prefix }), StoreAnswer::Children(children)) => {
                let is_answered = self.list(now, &asked, &prefix, &children);
                self.counters.unanswered += u64::from(is_answered.is_none());
            }
            (Some(Pending::Policy), StoreAnswer::Packet(Some(data))) => self.take_policy(now, &data),
            (Some(Pending::Stale), StoreAnswer::Packet(Some(data))) => {
                self.effects.push_back(Effect::Answer(data));
            }
            (Some(Pending::Stale), StoreAnswer::Packet(None)) => self.counters.unanswered += 1,
            // An answer to another question.
            _ => {}
        }
        self.go_on(now);
    }

    fn tell_stored(&mut self, now: Now, asked: &Name, packet: &Name, digest: &[u8; 32]) -> Option<()> {
        let full = packet.with(Component::generic(digest)).ok()?;
        let info = self.objects.info(now, asked, &self.policy, Some(&full)).ok()?;
        self.counters.found += 1;
        self.effects.push_back(Effect::Answer(info));
        Some(())
    }

    fn list(&mut self, now: Now, asked: &Interest, prefix: &Name, children: &Children) -> Option<()> {
        // As ccnr: who asks what is below a name learns nothing of whoever has nothing there.
        if children.components.is_empty() {
            return None;
        }
        self.counters.cut_listings += u64::from(children.is_cut);
        let version = self.listings.begin(now.instant, now.unix.into(), prefix, children).ok()?;
        self.counters.replaced_listings = self.listings.replaced;
        let first = PageId { prefix: prefix.clone(), version, segment: 0 };
        self.answer_page(now, &asked.ccnx()?, &first)
    }

    /// What is stored may be a later policy.
    fn take_policy(&mut self, now: Now, data: &Data) {
        let next = match self.policy.successor(data) {
            Some(Ok(next)) => next,
            Some(Err(TooManyNamespaces)) => {
                self.counters.large_policies += 1;
                return;
            }
            None => return,
        };
        let Ok(told) = self.objects.policy(now, &next) else { return };
        self.counters.policies += 1;
        if next.namespaces != self.policy.namespaces {
            let change = NamespaceChange::between(&self.policy.namespaces, &next.namespaces);
            self.effects.push_back(Effect::Namespaces(change));
        }
        (self.policy, self.told) = (next, told);
    }

    /// Data has come that one of its Interests asked for.
    pub fn handle_data(&mut self, now: Now, data: &Data) {
        for (&fetch, job) in &mut self.jobs {
            let Some(segment) = job.awaited(data) else { continue };
            if self.authority.may_store(data) {
                job.handle_data(segment, data);
                self.effects.push_back(Effect::Store { fetch, data: data.clone() });
            } else {
                self.counters.untrusted += 1;
                job.handle_refused(segment);
            }
        }
        self.go_on(now);
    }

    /// A packet would survive a power cut now, or was refused.
    pub fn handle_stored(&mut self, now: Now, fetch: u64, result: Result<(), Rejection>) {
        if let Some(job) = self.jobs.get_mut(&fetch) {
            job.handle_stored(result.is_ok());
        }
        self.go_on(now);
    }

    /// Asks again for what has not come.
    pub fn handle_timeout(&mut self, now: Now) {
        self.jobs.values_mut().for_each(|job| job.handle_timeout(now.instant));
        self.go_on(now);
    }

    /// Asks for what is to be asked for, and ends what is over.
    fn go_on(&mut self, now: Now) {
        for job in self.jobs.values_mut() {
            while let Some(interest) = job.poll_interest(now.instant) {
                match interest {
                    Ok(interest) => self.effects.push_back(Effect::Send(interest)),
                    // A name that is too long with a segment.
                    Err(_) => job.give_up(),
                }
            }
            self.counters.held_fetches += job.take_holds();
        }
        let over = self.jobs.iter().filter(|(_, job)| job.outcome().is_some());
        let over: Vec<u64> = over.map(|(&number, _)| number).collect();
        for job in over.into_iter().filter_map(|number| self.jobs.remove(&number)).collect::<Vec<_>>() {
            self.end(job);
        }
    }

    fn end(&mut self, job: Job) {
        let is_complete = job.outcome() == Some(true);
        self.counters.complete += u64::from(is_complete);
        self.counters.incomplete += u64::from(!is_complete);
        if self.policy.is_policy(job.object.as_ref()) {
            self.ask_for_policy();
        }
        self.effects.push_back(Effect::Fetched { object: job.object, stored: job.stored, is_complete });
    }
}

/// The Interest for the packet of this name and digest alone.
fn exact_interest(packet: &Name, digest: &[u8; 32]) -> Option<Interest> {
    let name = packet.with(Component::generic(digest)).ok()?;
    let fields = InterestFields { max_suffix_components: Some(0), ..Default::default() };
    fields.build(&name).ok()
}

/// The Interest for the first segment of the latest version.
fn latest_interest(name: &Name) -> Option<Interest> {
    let fields = InterestFields {
        min_suffix_components: Some(3),
        max_suffix_components: Some(3),
        child_selector: Some(ChildSelector::RIGHTMOST),
        ..Default::default()
    };
    fields.build(name).ok()
}

/// The name of the Interest that asks whether the packet of this name and digest is stored, and has it stored
/// if it is not.
///
/// # Errors
/// A name that becomes too long.
pub fn checked_start_write(packet: &Name, digest: &[u8; 32], nonce: &[u8]) -> Result<Name, DecodeError> {
    let count = packet.as_ref().component_count().saturating_sub(1);
    let last = packet.as_ref().last().unwrap_or(Component::generic(&[]));
    let nonce = [markers::NONCE, nonce].concat();
    let parts = [markers::CHECKED_START_WRITE, &nonce, last.value, digest];
    parts.into_iter().try_fold(packet.prefix(count), |name, part| name.with(Component::generic(part)))
}

/// The name of the Interest that has an object stored, which is named without a segment.
///
/// # Errors
/// A name that becomes too long.
pub fn start_write(object: &Name, nonce: &[u8]) -> Result<Name, DecodeError> {
    let nonce = [markers::NONCE, nonce].concat();
    object.with(Component::generic(markers::START_WRITE))?.with(Component::generic(&nonce))
}
