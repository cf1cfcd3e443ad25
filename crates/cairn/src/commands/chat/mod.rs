//! `cairn chat`: a room to talk in, without a server.

mod duplicate_names;
mod members;
mod names;
mod publishers;
mod sync;
mod vector;
mod wire;

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use clap::Args;
use client::{Client, Clock, Event, RequestId};
use flow::Unverified;
use flow::source::{Reply, answer_with};
use flow::verify::{AnchoredVerifier, IntegrityVerifier, Verifier};
use management::{Command, ControlParameters};
use packet::random::Random;
use packet::time::{Duration, Instant};
use packet::{AnyName, Component, Data, Dialect, Name, NameRef, Now};
use trust::InterestSigner;

use crate::tool::connect::ConnectArguments;
use crate::tool::interrupt::Interrupt;
use crate::tool::serving::leave;
use crate::tool::signing::SigningArguments;
use crate::tool::trusting::TrustArguments;
use crate::tool::{ToolError, finish, output};
use duplicate_names::DuplicateNames;
use publishers::MemberVerifier;
use sync::{NewMessages, Sync};
use wire::RoomWire;

/// Own messages that are kept for others to fetch.
const MAX_KEPT: usize = 1000;

/// Bytes of a message.
const MAX_MESSAGE_BYTES: usize = 4000;

/// How often standard input is looked at.
const CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// How long to wait for a message of somebody else, and how often to ask for it.
const TIMEOUT: Duration = Duration::from_secs(2);
const ATTEMPTS: u32 = 3;

/// Questions under way, and messages that wait for a verdict; what there is to ask beyond that waits.
const MAX_ASKED: usize = 256;

/// How long we listen before we speak, to hear which number our last message had.
const LISTEN: Duration = Duration::from_millis(600);

/// Talk in a room: lines from standard input go to everybody, what others say is printed.
#[derive(Debug, Args)]
#[command(after_help = "\
There is no server: members use State Vector Sync (version 2, under /<room>/v=2) to tell each other how many messages each has written, and fetch \
each message from its author, at /<member>/t=<when the member joined>/<room>/seq=<number>. New members also fetch the latest messages of members that are \
still there. Names under the room must reach all members, so the strategy for them on this host is set to multicast.

A room in CCNx (ccnx:/…): the vector is a component, in the Interest <room>/%C1.svs/<vector>/%C1.N%00<nonce>; messages are at \
<member>/<version: when the member joined>/<room>/<segment: the number>, signed as `put` signs. --anchor names the keys of publishers; without it, a \
member's publisher is whoever signed the first of its messages.

Examples:
  cairn chat /room/lab --nick ann
  cairn chat ccnx:/room/lab --nick ann                   in CCNx
  cairn chat /room/lab -S /lab/ann --anchor root.cert    messages of strangers are marked

Ends at the end of input, or at Ctrl-C.

Exit codes: 0 done; 1 failure; 2 wrong usage.")]
pub(crate) struct ChatArguments {
    /// The room; `ccnx:/…` for one in CCNx.
    room: AnyName,
    /// Your name in the room, if you sign with no key; without it, you have none.
    #[arg(long)]
    nick: Option<String>,
    /// Stay when standard input ends.
    #[arg(long)]
    stay: bool,
    /// Leave the strategy as it is.
    #[arg(long)]
    keep_strategy: bool,
    #[command(flatten)]
    signing: SigningArguments,
    #[command(flatten)]
    trust: TrustArguments,
    #[command(flatten)]
    connect: ConnectArguments,
}

/// Own messages by their numbers: what is served, and added to while it is.
type OwnMessages = Arc<Mutex<BTreeMap<u64, Data>>>;

struct Room<'a> {
    arguments: &'a ChatArguments,
    client: Client,
    sync: Sync,
    sync_prefix: Name,
    own_prefix: Name,
    wire: RoomWire,
    said: OwnMessages,
    asked: BTreeMap<RequestId, PendingFetch>,
    verifier: Box<dyn Verifier>,
    /// Messages that wait for a verdict, by the number under which the verifier has them.
    unread: BTreeMap<u64, Unread>,
    next_unread: u64,
    waiting_lines: Vec<String>,
    listen_until: Instant,
    duplicate_names: DuplicateNames,
}

struct PendingFetch {
    name: Name,
    attempts_left: u32,
    /// Which message it is; `None` for a certificate for the verifier.
    message: Option<Message>,
}

/// A message, by who said it and its number.
#[derive(Clone)]
struct Message {
    member: Name,
    number: u64,
}

/// A message that waits for a verdict.
struct Unread {
    message: Message,
    data: Data,
}

impl ChatArguments {
    pub(crate) fn run(&self) -> ExitCode {
        finish(self.chat())
    }

    fn chat(&self) -> Result<ExitCode, ToolError> {
        let interrupt = Interrupt::catch()?;
        let mut room = self.enter()?;
        let you = room.duplicate_names.word_for(room.member_of(room.own_prefix.as_ref(), 0));
        tell!("you are {you} in {}", self.room);
        let (send, lines) = mpsc::sync_channel(16);
        // Standard input cannot be waited for together with the socket everywhere, so a thread of its own
        // reads it.
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().split(b'\n').map_while(Result::ok) {
                // Somebody who writes in another encoding is still heard.
                if send.send(String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned()).is_err() {
                    return;
                }
            }
        });
        let mut ended_at: Option<Instant> = None;
        while !interrupt.came() {
            let now = room.client.now();
            loop {
                match lines.try_recv() {
                    Ok(line) => room.waiting_lines.push(line),
                    Err(mpsc::TryRecvError::Empty) => break,
                    Err(mpsc::TryRecvError::Disconnected) => {
                        ended_at.get_or_insert(now);
                        break;
                    }
                }
            }
            room.turn(now)?;
            // Those who hear of the last line need a moment to fetch it.
            let enough = |ended: Instant| now > ended.max(room.listen_until) + Duration::from_secs(2);
            if !self.stay && room.waiting_lines.is_empty() && ended_at.is_some_and(enough) {
                break;
            }
            let until = room.sync.next_deadline().min(now + CHECK_INTERVAL);
            if let Some(event) = room.client.next(Some(until))? {
                room.take(event)?;
            }
        }
        leave(&mut room.client);
        Ok(ExitCode::SUCCESS)
    }

    fn enter(&self) -> Result<Room<'_>, ToolError> {
        let mut random = Random::from_seed(Clock::seed());
        let (key, dialect) = (self.signing.key()?, self.room.dialect);
        let member = match &key {
            Some(key) => trust::certificate::names::identity_of(key.name.as_ref()).map(|name| name.to_name()),
            None => None,
        };
        let member = match member {
            Some(member) => member,
            None => {
                let nobody = format!("somebody-{:04x}", random.next_u32() & 0xffff);
                let nick = self.nick.clone().unwrap_or(nobody);
                Name::root().with(Component::generic(nick.as_bytes()))?
            }
        };
        let unix = Clock::start().unix();
        let mut own_prefix = names::with_coming(dialect, &member, unix, &mut random)?;
        for component in self.room.name.components() {
            own_prefix = own_prefix.with(component)?;
        }
        let sync_prefix = names::vector_prefix(dialect, &self.room.name)?;
        let (wire, mut client) = self.connect_in(dialect, &mut random)?;
        if !self.keep_strategy {
            set_multicast(&mut client, &sync_prefix)?;
        }
        client.register(&sync_prefix)?;
        let said: OwnMessages = Arc::default();
        let kept = Arc::clone(&said);
        client.serve(
            &own_prefix,
            answer_with(move |interest| {
                let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                let wanted = kept.values().find(|data| interest.matches(data));
                Ok(wanted.map_or(Reply::NoReply, |data| Reply::Data(data.clone())))
            }),
        )?;
        let now = client.now();
        let verifier = self.verifier_in(dialect)?;
        Ok(Room {
            arguments: self,
            sync: Sync::new(own_prefix.clone(), now, Random::from_seed(random.next_u64())),
            client,
            sync_prefix,
            own_prefix,
            wire,
            said,
            asked: BTreeMap::new(),
            verifier,
            unread: BTreeMap::new(),
            next_unread: 0,
            waiting_lines: Vec::new(),
            listen_until: now + LISTEN,
            duplicate_names: DuplicateNames::new(dialect),
        })
    }

    fn connect_in(&self, dialect: Dialect, random: &mut Random) -> Result<(RoomWire, Client), ToolError> {
        let random = Random::from_seed(random.next_u64());
        Ok(match dialect {
            Dialect::Ndn => {
                let signer = self.signing.signer()?;
                let interests = InterestSigner::new(signer.clone(), random);
                (RoomWire::Ndn { signer, interests }, self.connect.client_as(&self.signing)?)
            }
            Dialect::Ccnx => {
                let signer = self.signing.ccnx_signer()?;
                let client = self.connect.ccnx_client_as(&signer)?;
                (RoomWire::Ccnx { signer, random }, client)
            }
        })
    }

    fn verifier_in(&self, dialect: Dialect) -> Result<Box<dyn Verifier>, ToolError> {
        if dialect == Dialect::Ccnx {
            return Ok(Box::new(MemberVerifier::new(self.trust.publishers()?, Clock::seed())));
        }
        Ok(match self.trust.validator()? {
            Some(validator) => Box::new(AnchoredVerifier::new(validator)),
            None => Box::new(IntegrityVerifier::new()),
        })
    }
}

/// Has the forwarder send what goes to the room to everybody in it.
fn set_multicast(client: &mut Client, prefix: &Name) -> Result<(), ToolError> {
    let strategy = "/localhost/nfd/strategy/multicast".parse().map_err(ToolError::other)?;
    let wanted =
        ControlParameters { name: Some(prefix.clone()), strategy: Some(strategy), ..Default::default() };
    // Given again after the forwarder was away: its new process knows nothing of the room.
    if let Err(error) = client.keep_commanding(Command::StrategySet, &wanted) {
        tell!("cairn: the strategy stays as it is: {error}");
    }
    Ok(())
}

impl Room<'_> {
    /// Says what is to be said, and asks for what is to be asked for.
    fn turn(&mut self, now: Instant) -> Result<(), ToolError> {
        if now >= self.listen_until {
            for line in std::mem::take(&mut self.waiting_lines) {
                self.say(now, &line)?;
            }
        }
        while let Some(vector) = self.sync.poll_vector(now) {
            let unix = self.client.connection().clock().unix();
            let interest = self.wire.vector_interest(&self.sync_prefix, &vector, now, unix)?;
            // Nobody answers these, so nobody waits for them.
            self.client.send_only(&interest)?;
        }
        while self.asked.len() + self.unread.len() < MAX_ASKED
            && let Some(NewMessages { member, first, last }) = self.sync.poll_new_messages()
        {
            for number in first..=last {
                let name = names::with_number(self.arguments.room.dialect, &member, number)?;
                let message = Some(Message { member: member.clone(), number });
                self.ask(PendingFetch { name, attempts_left: ATTEMPTS, message })?;
            }
        }
        let clocks = self.clocks();
        self.verifier.handle_timeout(clocks);
        while let Some(interest) = self.verifier.poll_interest(clocks) {
            let name = interest.name().to_name();
            let id = self.client.express_as_is(interest, TIMEOUT)?;
            self.asked.insert(id, PendingFetch { name, attempts_left: 0, message: None });
        }
        self.print_unread()
    }

    fn say(&mut self, now: Instant, line: &str) -> Result<(), ToolError> {
        if line.is_empty() {
            return Ok(());
        }
        let mut end = line.len().min(MAX_MESSAGE_BYTES);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let number = self.sync.publish(now);
        let text = line.get(..end).unwrap_or(line);
        let name = names::with_number(self.arguments.room.dialect, &self.own_prefix, number)?;
        let data = self.wire.message(name, text, self.client.connection().clock().unix())?;
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        said.insert(number, data);
        while said.len() > MAX_KEPT {
            said.pop_first();
        }
        Ok(())
    }

    fn take(&mut self, event: Event) -> Result<(), ToolError> {
        match event {
            Event::Interest { interest, .. } if self.sync_prefix.as_ref().is_prefix_of(interest.name()) => {
                let now = self.client.now();
                if let Some(theirs) = wire::vector_in(&interest, &self.sync_prefix) {
                    self.sync.handle_vector(now, &theirs);
                }
            }
            // Our messages are served by their source, and nothing else is ours.
            Event::Interest { .. } => {}
            Event::Data { id, data, .. } => match self.asked.remove(&id) {
                Some(PendingFetch { message: None, .. }) => {
                    self.verifier.handle_data(self.clocks(), &data);
                }
                Some(PendingFetch { message: Some(message), .. }) => {
                    let number = self.next_unread;
                    self.next_unread += 1;
                    self.unread.insert(number, Unread { message, data: data.clone() });
                    self.verifier.handle_packet(
                        self.clocks(),
                        Unverified { subject: flow::UnverifiedKind::Segment(number), data },
                    );
                }
                None => {}
            },
            Event::Nack { id, reason, .. } => {
                if let Some(asked) = self.asked.remove(&id) {
                    self.failed(asked, Some(reason))?;
                }
            }
            Event::Timeout { id } => {
                if let Some(asked) = self.asked.remove(&id) {
                    self.failed(asked, None)?;
                }
            }
            // That of our messages does not fail.
            Event::SourceFailed { .. } => {}
        }
        Ok(())
    }

    fn failed(&mut self, asked: PendingFetch, reason: Option<packet::NackReason>) -> Result<(), ToolError> {
        let Some(Message { member, number }) = &asked.message else {
            if let Some(reason) = reason {
                self.verifier.handle_nack(self.clocks(), asked.name.as_ref(), reason);
            }
            return Ok(());
        };
        if asked.attempts_left > 0 && reason.is_none() {
            return self.ask(asked);
        }
        // Who said it may have left: then it is lost.
        self.sync.give_up(member, *number);
        Ok(())
    }

    fn ask(&mut self, asked: PendingFetch) -> Result<(), ToolError> {
        let id = self.wire.ask(&mut self.client, &asked.name, TIMEOUT)?;
        let attempts_left = asked.attempts_left.saturating_sub(1);
        self.asked.insert(id, PendingFetch { attempts_left, ..asked });
        Ok(())
    }

    fn print_unread(&mut self) -> Result<(), ToolError> {
        while let Some(verdict) = self.verifier.poll_outcome() {
            let flow::UnverifiedKind::Segment(number) = verdict.subject else { continue };
            let Some(Unread { message, data }) = self.unread.remove(&number) else { continue };
            let now = self.client.now();
            match &verdict.refused {
                None => self.sync.confirm(now, &message.member, message.number),
                Some(_) => self.sync.refuse(now, &message.member, message.number),
            }
            let who = self.duplicate_names.word_for(self.member_of(data.name(), 1));
            let text = output::printable(&String::from_utf8_lossy(data.content()));
            match verdict.refused {
                None => output::line(format_args!("{who}: {text}"))?,
                Some(problem) if self.arguments.trust.is_given() => {
                    output::line(format_args!("{who} (not trusted): {text}"))?;
                    tell!("cairn: {problem}");
                }
                Some(problem) => tell!("cairn: a message of {who} is damaged: {problem}"),
            }
        }
        Ok(())
    }

    /// Whose name it is: without the room, and without so many components behind it.
    fn member_of(&self, name: NameRef<'_>, behind: usize) -> Name {
        let room = self.arguments.room.name.as_ref().component_count();
        name.prefix(name.component_count().saturating_sub(room + behind)).to_name()
    }

    fn clocks(&self) -> Now {
        Now { instant: self.client.now(), unix: self.client.connection().clock().unix() }
    }
}
