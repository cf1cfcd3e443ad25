//! One attack on a fresh node, from the first quiet second to the last look at what is left.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use packet::random::Random;
use serde_json::Value;

use crate::attack::{self, Attack, Field};
use crate::cage::{Cage, SMALL_BYTES};
use crate::control::{Control, ECHO_PORT, Echo, PORT};
use crate::ground::{self, Ground, NEIGHBOUR, OTHERS_CPU};
use crate::honest::{self, Book, Clock, Habits, LOCAL, Line, Numbers, Phase, Protocol, REMOTE};
use crate::measured::{AttackSent, LOOK_INTERVAL, Left, Measured, MemoryUse, Newcomer, Phases};
use crate::pace::Spent;
use crate::plan::Plan;
use crate::stop::Stop;
use crate::victim::{self, Requester, Victim};

/// The neighbour's port at which nobody answers.
const SILENT_PORT: u16 = 7100;
/// Entries that the traffic of honest people, and whoever asks for the status, may have at any moment.
const HONEST_PENDING: u64 = 64;
/// Faces that are no harm until they have been idle for long enough to go: those of newcomers, and a few of a
/// stranger.
const FEW_FACES: u64 = 64;
/// Bytes that may wait for a peer at any moment, all being well.
const HONEST_QUEUED: u64 = 64 << 10;

/// Where battles are fought.
pub(crate) struct Battlefield<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) plan: &'a Plan,
    pub(crate) cairn: &'a Path,
    pub(crate) folder: &'a Path,
    pub(crate) seed: u64,
    pub(crate) stop: &'a Stop,
    /// Sockets that the attacker may open.
    pub(crate) sockets: usize,
}

/// Threads of honest people, who end when this is dropped.
struct People {
    clock: Arc<Clock>,
    numbers: Arc<Numbers>,
    stop: Stop,
    threads: Vec<(&'static str, JoinHandle<io::Result<()>>)>,
}

impl Drop for People {
    fn drop(&mut self) {
        self.leave();
    }
}

impl People {
    fn new() -> People {
        let (clock, numbers) = (Arc::default(), Arc::default());
        People { clock, numbers, stop: Stop::default(), threads: Vec::new() }
    }

    /// Ends them; gives what went wrong with any.
    fn leave(&mut self) -> Vec<String> {
        self.stop.set();
        let ended = self.threads.drain(..).map(|(who, thread)| (who, ground::join(thread)));
        ended.filter_map(|(who, ended)| ended.err().map(|error| format!("{who}: {error}"))).collect()
    }

    /// Starts somebody who asks.
    fn consumer(
        &mut self,
        who: &'static str,
        place: &ground::Namespace,
        habits: Habits,
        open: impl FnOnce() -> io::Result<Line> + Send + 'static,
    ) -> Book {
        let book = Book::default();
        let (numbers, clock, stop) = (self.numbers.clone(), self.clock.clone(), self.stop.clone());
        let own = book.clone();
        let work = move || honest::consume(open(), habits, &numbers, &clock, &own, &stop);
        self.threads.push((who, place.spawn(OTHERS_CPU, work)));
        book
    }

    /// Starts a producer and waits until its prefix is registered.
    fn producer(
        &mut self,
        who: &'static str,
        place: &ground::Namespace,
        socket: PathBuf,
        produce: impl FnOnce(&Path, &Stop, Box<dyn FnOnce()>) -> io::Result<()> + Send + 'static,
    ) -> Result<(), String> {
        let (sender, receiver) = mpsc::channel();
        let stop = self.stop.clone();
        let ready = move || sender.send(()).unwrap_or_default();
        self.threads.push((who, place.spawn(OTHERS_CPU, move || produce(&socket, &stop, Box::new(ready)))));
        if receiver.recv_timeout(Duration::from_secs(10)).is_ok() {
            return Ok(());
        }
        let why = self.leave().join("; ");
        Err(format!("{who} could not register its prefix: {why}"))
    }
}

/// Looks at a node again and again: its memory ten times in a second, its status once.
struct Watch {
    stop: Stop,
    peak: Arc<AtomicU64>,
    status: Arc<Mutex<Vec<Option<Duration>>>>,
    threads: Vec<JoinHandle<()>>,
}

impl Watch {
    fn start(pid: u32, requester: Requester) -> Watch {
        let stop = Stop::default();
        let (peak, status) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Vec::new())));
        let memory = {
            let (stop, peak) = (stop.clone(), peak.clone());
            std::thread::spawn(move || {
                while stop.wait(Duration::from_millis(100)).is_ok() {
                    peak.fetch_max(victim::resident_bytes(pid), Ordering::Relaxed);
                }
            })
        };
        let questions = {
            let (stop, status) = (stop.clone(), status.clone());
            std::thread::spawn(move || {
                while stop.wait(Duration::from_millis(500)).is_ok() {
                    let answer = requester.ask().ok().filter(|status| status.told.is_some());
                    let mut answers = status.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    answers.push(answer.map(|status| status.took));
                    drop(answers);
                    let _ = stop.wait(Duration::from_millis(500));
                }
            })
        };
        Watch { stop, peak, status, threads: vec![memory, questions] }
    }

    fn end(mut self) -> (u64, Vec<Option<Duration>>) {
        self.stop.set();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        let status = self.status.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        (self.peak.load(Ordering::Relaxed), status)
    }
}

impl Battlefield<'_> {
    /// What an echo loses beside a sink that takes the attack.
    pub(crate) fn control(&self, attack: Box<dyn Attack>) -> Result<Phases, String> {
        let _control = Control::start(self.ground).map_err(|error| format!("the control: {error}"))?;
        let mut people = People::new();
        let book = self.echoed(&mut people);
        self.stop.wait(Duration::from_millis(200))?;
        people.clock.set(Phase::Quiet);
        self.stop.wait(self.plan.control.min(self.plan.quiet))?;
        people.clock.set(Phase::Attack);
        let attacker = self.attacker(attack, people.numbers.clone(), self.plan.control);
        ground::join(attacker).map_err(|error| format!("the attacker: {error}"))?;
        people.clock.set(Phase::Pause);
        self.stop.wait(self.plan.patience)?;
        Ok(phases(&book))
    }

    /// The attack itself.
    pub(crate) fn fight(&self, attack: Box<dyn Attack>) -> Result<Measured, String> {
        let small = attack.name() == attack::SMALL_MEMORY;
        let cage = if small { Some(Cage::make()?) } else { None };
        let mut measured = Measured {
            attack: AttackSent::of(attack.as_ref()),
            memory: MemoryUse { cage_bytes: cage.as_ref().map(|_| SMALL_BYTES), ..MemoryUse::default() },
            ..Measured::default()
        };
        let mut victim = Victim::start(self.cairn, self.ground, self.folder, cage.as_ref())?;
        let mut people = People::new();
        let silent = self.silent_neighbour()?;
        let upstream = format!("udp4://{}", SocketAddr::from((NEIGHBOUR, SILENT_PORT)));
        victim.tell(&["route", "add", honest::SILENT, &upstream])?;
        let place = &self.ground.victim;
        people.producer("the producer", place, victim.socket(), |socket, stop, ready| {
            honest::produce(socket, stop, ready)
        })?;
        if attack.wants_store() {
            people.producer("the producer of much", place, victim.socket(), |socket, stop, ready| {
                honest::produce_store(socket, stop, ready)
            })?;
        }
        let socket = victim.socket();
        let local =
            people.consumer("the local consumer", place, self.habits(LOCAL), move || Line::unix(&socket));
        let remote = people.consumer("the neighbour", &self.ground.neighbour, self.habits(REMOTE), || {
            Line::udp((NEIGHBOUR, 0).into(), (ground::SEEN_BY_NEIGHBOUR, PORT).into())
        });
        let echo = Echo::start(self.ground).map_err(|error| format!("the echo: {error}"))?;
        let beside = self.echoed(&mut people);
        self.phases(&victim, attack, &people, &mut measured)?;
        measured.ended = victim.end();
        measured.trouble.extend(people.leave());
        measured.trouble.extend(echo.end().err().map(|error| format!("the echo: {error}")));
        measured.pairs.beside = phases(&beside);
        measured.pairs.local = phases(&local);
        measured.pairs.remote = phases(&remote);
        drop((victim, silent, cage));
        Ok(measured)
    }

    /// Quiet, attack, quiet again, and what is left.
    fn phases(
        &self,
        victim: &Victim,
        attack: Box<dyn Attack>,
        people: &People,
        measured: &mut Measured,
    ) -> Result<(), String> {
        let (plan, clock, requester) = (self.plan, &people.clock, victim.requester(self.ground));
        self.stop.wait(Duration::from_millis(300))?;
        let before = requester.ask().map_err(|error| error.to_string())?.told.unwrap_or_default();
        measured.memory.resident_before = victim::resident_bytes(victim.pid());
        measured.memory.budget_told = budget(&before);
        clock.set(Phase::Quiet);
        self.stop.wait(plan.quiet)?;
        let watch = Watch::start(victim.pid(), requester.clone());
        let (cpu, started) = (victim::cpu_time(victim.pid()), Instant::now());
        clock.set(Phase::Attack);
        let attacker = self.attacker(attack, people.numbers.clone(), plan.attack);
        let waited = self.stop.wait(plan.attack / 4);
        let newcomers = self.newcomers(0);
        measured.attack.sent = match ground::join(attacker) {
            Ok(sent) => sent,
            Err(error) => {
                measured.trouble.push(format!("the attacker: {error}"));
                Spent::default()
            }
        };
        let left_at = Instant::now();
        clock.set(Phase::Pause);
        measured.attack.seconds = started.elapsed().as_secs_f64();
        let share = victim::cpu_time(victim.pid())
            .into_iter()
            .zip(cpu)
            .map(|(now, before)| now.saturating_sub(before).as_secs_f64() / measured.attack.seconds);
        [measured.processor.cpu_share, measured.processor.waited_share] =
            share.collect::<Vec<_>>().try_into().unwrap_or([0.0; 2]);
        measured.newcomers.during = answers(newcomers);
        waited?;
        self.stop.wait(plan.leave.saturating_sub(left_at.elapsed()))?;
        clock.set(Phase::After);
        let newcomers = self.newcomers(2);
        self.stop.wait(plan.after)?;
        measured.newcomers.after = answers(newcomers);
        clock.set(Phase::Pause);
        self.stop.wait(plan.patience + Duration::from_millis(50))?;
        (measured.memory.resident_peak, measured.status) = watch.end();
        let now = requester.ask().ok().and_then(|status| status.told).unwrap_or_default();
        measured.drops = drops(&before, &now);
        if let Some(limit) = plan.demands.gone {
            measured.left = self.left(&requester, &before, left_at, limit)?;
        }
        Ok(())
    }

    /// Somebody who asks the echo.
    fn echoed(&self, people: &mut People) -> Book {
        people.consumer("the echo's peer", &self.ground.neighbour, self.habits(REMOTE), || {
            Line::udp((NEIGHBOUR, 0).into(), (ground::SEEN_BY_NEIGHBOUR, ECHO_PORT).into())
        })
    }

    fn habits(&self, prefix: &'static str) -> Habits {
        Habits { prefix, rate: self.plan.honest_rate, patience: self.plan.patience }
    }

    /// A neighbour's socket that nobody reads.
    fn silent_neighbour(&self) -> Result<std::net::UdpSocket, String> {
        let bind = || std::net::UdpSocket::bind((NEIGHBOUR, SILENT_PORT));
        self.ground.neighbour.run(OTHERS_CPU, bind).map_err(|error| format!("the silent neighbour: {error}"))
    }

    fn attacker(
        &self,
        mut attack: Box<dyn Attack>,
        honest: Arc<Numbers>,
        time: Duration,
    ) -> JoinHandle<io::Result<Spent>> {
        let mut field = Field {
            node: (ground::SEEN_BY_ATTACKER, PORT).into(),
            web: (ground::SEEN_BY_ATTACKER, 9696).into(),
            honest,
            descriptors: self.sockets,
            random: Random::derive(self.seed, 1),
        };
        let (stop, packets, bits) =
            (self.stop.clone(), self.plan.packets_per_second, self.plan.bits_per_second);
        self.ground.attacker.spawn(OTHERS_CPU, move || {
            attack::carry_out(attack.as_mut(), &mut field, time, packets, bits, &stop)
        })
    }

    /// Two newcomers at once, one by datagrams and one by a connection, each with an address nobody has
    /// used on this node.
    fn newcomers(&self, first: u8) -> Vec<Awaited> {
        let node = SocketAddr::from((ground::SEEN_BY_NEWCOMERS, PORT));
        let patience = self.plan.newcomer_patience;
        let come = |(way, own): (Protocol, Ipv4Addr)| {
            let work = move || honest::first_answer(way, own, node, patience);
            (way, self.ground.newcomer.spawn(OTHERS_CPU, work))
        };
        let both = [(Protocol::Udp, ground::newcomer(first)), (Protocol::Tcp, ground::newcomer(first + 1))];
        both.into_iter().map(come).collect()
    }

    /// Looks until nothing of the attacker is left, at most a little longer than that may take; `None` if the
    /// node never told.
    fn left(
        &self,
        requester: &Requester,
        before: &Value,
        left_at: Instant,
        limit: Duration,
    ) -> Result<Option<Left>, String> {
        let number = |status: &Value, path: &str| status.pointer(path).and_then(Value::as_u64);
        let (mut left, mut seen) = (Left::default(), false);
        loop {
            if let Some(now) = requester.ask().ok().and_then(|status| status.told) {
                seen = true;
                let of = |path| number(&now, path).unwrap_or(u64::MAX);
                let over = |path, margin| of(path).saturating_sub(number(before, path).unwrap_or(0) + margin);
                left.pending = over("/pit_entries", HONEST_PENDING);
                left.faces = over("/totals/faces", FEW_FACES);
                left.reassembly_bytes = of("/totals/reassembly_bytes");
                left.queued_bytes = of("/totals/queued_bytes").saturating_sub(HONEST_QUEUED);
                let nothing = left.pending + left.reassembly_bytes + left.queued_bytes == 0;
                if nothing && left.gone_after.is_none() {
                    left.gone_after = Some(left_at.elapsed());
                }
                if nothing && left.faces == 0 {
                    return Ok(Some(left));
                }
            }
            if left_at.elapsed() > limit + Duration::from_secs(1) {
                return Ok(seen.then_some(left));
            }
            self.stop.wait(LOOK_INTERVAL)?;
        }
    }
}

/// A newcomer on his way.
type Awaited = (Protocol, JoinHandle<io::Result<Option<Duration>>>);

/// Waits for what newcomers have to tell.
fn answers(coming: Vec<Awaited>) -> Vec<Newcomer> {
    coming.into_iter().map(|(way, thread)| (way, ground::join(thread).ok().flatten())).collect()
}

fn phases(book: &Book) -> Phases {
    let [quiet, attack, after] = [Phase::Quiet, Phase::Attack, Phase::After].map(|phase| book.read(phase));
    Phases { quiet, attack, after }
}

/// The first number in a status whose key speaks of a budget.
fn budget(status: &Value) -> Option<u64> {
    let fields = status.as_object()?;
    let own = fields.iter().find(|(key, value)| key.contains("budget") && value.is_u64());
    own.and_then(|(_, value)| value.as_u64()).or_else(|| fields.values().find_map(budget))
}

/// What was dropped between two looks, by layer and reason.
fn drops(before: &Value, now: &Value) -> BTreeMap<String, u64> {
    let all = |status: &Value| -> BTreeMap<String, u64> {
        let drops = status.pointer("/totals/drops").and_then(Value::as_array).cloned().unwrap_or_default();
        let entry = |drop: &Value| {
            let word = |key| drop.get(key).and_then(Value::as_str).map(str::to_owned);
            Some((format!("{} {}", word("layer")?, word("reason")?), drop.get("count")?.as_u64()?))
        };
        drops.iter().filter_map(entry).collect()
    };
    let before = all(before);
    let grown = all(now).into_iter().map(|(reason, count)| {
        let grown = count.saturating_sub(before.get(&reason).copied().unwrap_or(0));
        (reason, grown)
    });
    grown.filter(|(_, grown)| *grown > 0).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_budget_is_found_wherever_the_node_tells_it() {
        assert_eq!(budget(&json!({ "a": 1, "totals": { "memory_budget_bytes": 7 } })), Some(7));
        assert_eq!(budget(&json!({ "a": 1, "totals": { "budget": "unknown" } })), None);
    }

    #[test]
    fn only_what_grew_is_told() {
        let status = |count: u64| {
            let drops = [json!({ "layer": "node", "reason": "x", "count": count })];
            json!({ "totals": { "drops": drops } })
        };
        assert_eq!(drops(&status(3), &status(10)), BTreeMap::from([("node x".to_owned(), 7)]));
        assert_eq!(drops(&status(3), &status(3)), BTreeMap::new());
    }
}
